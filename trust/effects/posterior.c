#include "trust/effects/posterior.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "trust/effects/blup.h"
#include "trust/numbers/components.h"
#include "trust/numbers/gsl_errors.h"

static const double covered = 0.9;

struct work {
    double *numbers; /* all that follows */
    double *error, *weight, *times;
    double *at_mean, *at_covariance; /* [unknowns], [unknowns][unknowns] */
    double *slope,
        *across; /* [n_seen][unknowns]: of what kinds' own come to; times those covariances */
    double *expected, *rest; /* [wide]: what each comes to beside that, and its variance */
    double *first, *second;  /* [wide], [wide][wide]: mean and covariance at a node */
    double *mean;            /* [wide]: over all nodes */
    double *model_error;     /* [nodes][n_seen] */
    double given[FR_COMPONENTS_NODES]; /* ln of each node's weight, given what is held */
    int *groups,
        *place; /* place: [wide], coefficients and seen, among the unknowns; of kinds the kind */
    size_t n_fixed, *fixed; /* [wide]: what stays where it was left */
    gsl_matrix *known;      /* of those */
    gsl_vector *off, *solved;
    struct fr_components components;
};

static size_t wide_of(const struct fr_posterior_input *s) {
    return (size_t)(s->n_coefficients + s->n_seen);
}

static bool work_make(const struct fr_posterior_input *s, struct work *w) {
    size_t n = (size_t)s->n, wide = wide_of(s) + 1;
    w->numbers = fr_calloc(3 * n + 1, sizeof *w->numbers);
    w->groups = fr_calloc(FR_EFFECT_ROW * n + wide, sizeof *w->groups);
    w->fixed = fr_calloc(wide, sizeof *w->fixed);
    if (!w->numbers || !w->groups || !w->fixed) return false;
    w->error = w->numbers;
    w->weight = w->error + n;
    w->times = w->weight + n;
    w->place = w->groups + FR_EFFECT_ROW * n;
    gsl_error_handler_t *before = fr_gsl_errors();
    w->known = gsl_matrix_alloc(wide, wide);
    w->off = gsl_vector_alloc(wide);
    w->solved = gsl_vector_alloc(wide);
    gsl_set_error_handler(before);
    return w->known && w->off && w->solved;
}

static void work_free(struct work *w) {
    free(w->numbers);
    free(w->at_mean);
    free(w->groups);
    free(w->fixed);
    gsl_matrix_free(w->known);
    gsl_vector_free(w->off);
    gsl_vector_free(w->solved);
}

/* Errors of rows at the priors' values, if all were linear. */
static void fill(const struct fr_posterior_input *s, struct work *w) {
    for (int i = 0; i < s->n; i++) {
        w->error[i] = s->error[i];
        for (int k = 0; k < s->n_coefficients; k++)
            w->error[i] -= s->jacobian[(size_t)k * (size_t)s->n + (size_t)i] * s->moved[k];
    }
}

/* Where coefficients, and who is asked for, stand among all unknowns; kinds, which are none, among kinds. */
static bool find_places(const struct fr_posterior_input *s, size_t unknowns, struct work *w) {
    int models = 0;
    size_t n = (size_t)s->n, wide = wide_of(s);
    w->at_mean = fr_calloc(unknowns * (unknowns + 1 + 2 * (size_t)s->n_seen) +
                               wide * (wide + 4) + FR_COMPONENTS_NODES * (size_t)s->n_seen + 1,
                           sizeof *w->at_mean);
    if (!w->at_mean) return false;
    w->at_covariance = w->at_mean + unknowns;
    w->slope = w->at_covariance + unknowns * unknowns;
    w->across = w->slope + unknowns * (size_t)s->n_seen;
    w->expected = w->across + unknowns * (size_t)s->n_seen;
    w->rest = w->expected + wide;
    w->first = w->rest + wide;
    w->mean = w->first + wide;
    w->second = w->mean + wide;
    w->model_error = w->second + wide * wide;
    for (size_t i = 0; i < n; i++)
        if (w->groups[FR_EFFECT_MODEL * n + i] >= models)
            models = w->groups[FR_EFFECT_MODEL * n + i] + 1;
    for (int k = 0; k < s->n_coefficients; k++) w->place[k] = k;
    for (int k = 0; k < s->n_seen; k++) {
        const int before[] = {s->n_coefficients, s->n_coefficients + models, 0};
        fr_seen what = s->seen[k].what;
        size_t i = 0;
        while (!fr_run_is(s->runs[i], &s->seen[k])) i++;
        w->place[s->n_coefficients + k] =
            before[what] + w->groups[(size_t)fr_seen_effects[what] * n + i];
    }
    return true;
}

/* Variance of a row's error under coefficients known to @p covariance, about where they were left. */
static double row_variance(const struct fr_posterior_input *s, int i, const double *covariance,
                           size_t stride) {
    double sum = 0;
    for (int a = 0; a < s->n_coefficients; a++)
        for (int b = 0; b < s->n_coefficients; b++)
            sum += s->jacobian[(size_t)a * (size_t)s->n + (size_t)i] *
                   s->jacobian[(size_t)b * (size_t)s->n + (size_t)i] *
                   covariance[(size_t)a * stride + (size_t)b];
    return sum;
}

static bool is_kind(const struct fr_posterior_input *s, size_t k) {
    return k >= (size_t)s->n_coefficients &&
           s->seen[k - (size_t)s->n_coefficients].what == FR_SEEN_KIND;
}

/* Covariance of the wanted value k with unknown @p b. */
static double common(const struct fr_posterior_input *s, const struct work *w, size_t all,
                     size_t k, size_t b) {
    return is_kind(s, k) ? w->across[(k - (size_t)s->n_coefficients) * all + b]
                         : w->at_covariance[(size_t)w->place[k] * all + b];
}

/* Mean and covariance of all that is asked for at a node: kinds' own follow from what coefficients, models and plans
 * come to. */
static void express(const struct fr_posterior_input *s, const struct fr_effects *effects,
                    const double *sd, struct work *w) {
    size_t all = fr_effects_unknowns(effects), wide = wide_of(s), c = (size_t)s->n_coefficients;
    for (size_t k = 0; k < wide; k++) {
        if (!is_kind(s, k)) {
            w->first[k] = w->at_mean[w->place[k]];
            continue;
        }
        double *slope = w->slope + (k - c) * all, *across = w->across + (k - c) * all;
        fr_effects_kind(effects, sd, w->place[k], slope, &w->expected[k], &w->rest[k]);
        w->first[k] = w->expected[k];
        for (size_t a = 0; a < all; a++) across[a] = 0;
        for (size_t a = 0; a < all; a++) {
            if (slope[a] == 0) continue;
            w->first[k] += slope[a] * w->at_mean[a];
            for (size_t b = 0; b < all; b++)
                across[b] += slope[a] * w->at_covariance[a * all + b];
        }
    }
    for (size_t k = 0; k < wide; k++)
        for (size_t l = 0; l <= k; l++) {
            double sum = k == l ? w->rest[k] : 0;
            if (is_kind(s, k)) {
                const double *slope = w->slope + (k - c) * all;
                for (size_t a = 0; a < all; a++)
                    if (slope[a] != 0) sum += slope[a] * common(s, w, all, l, a);
            } else
                sum += common(s, w, all, l, (size_t)w->place[k]);
            w->second[k * wide + l] = w->second[l * wide + k] = sum;
        }
}

/* Find the fixed unknowns: coefficients, and models and plans that predict no others. */
static void find_fixed(const struct fr_posterior_input *s, struct work *w) {
    size_t n = (size_t)s->n, c = (size_t)s->n_coefficients, wide = wide_of(s);
    const struct fr_effects_rows rows = {
        .n = n,
        .error = s->error,
        .weight = w->weight,
        .times = w->times,
        .group = {w->groups, w->groups + n, w->groups + 2 * n, w->groups + 3 * n}};
    bool fixed[FR_SEEN_COUNT];
    fr_runs_blup(s->runs, &rows, w->components.mode, fixed);
    w->n_fixed = 0;
    for (size_t k = 0; k < wide; k++)
        if (k < c || fixed[s->seen[k - c].what]) w->fixed[w->n_fixed++] = k;
}

/* Mean model error of the groups among the rows, at a node and given the fixed unknowns.
 * @return ln of the density of the fixed unknowns at their values; NaN where nothing can be inverted */
static double given_fixed(const struct fr_posterior_input *s, struct work *w,
                          double *model_error) {
    size_t c = (size_t)s->n_coefficients, wide = wide_of(s), n = w->n_fixed;
    double density = 0, square = 0;
    int code = 0;
    for (size_t a = 0; a < n; a++) {
        size_t k = w->fixed[a];
        gsl_vector_set(w->off, a, (k < c ? s->moved[k] : 0) - w->first[k]);
        for (size_t b = 0; b < n; b++)
            gsl_matrix_set(w->known, a, b, w->second[k * wide + w->fixed[b]]);
    }
    gsl_error_handler_t *before = fr_gsl_errors();
    if (n > 0) {
        gsl_matrix_view known = gsl_matrix_submatrix(w->known, 0, 0, n, n);
        gsl_vector_view off = gsl_vector_subvector(w->off, 0, n),
                        solved = gsl_vector_subvector(w->solved, 0, n);
        code = gsl_linalg_cholesky_decomp1(&known.matrix);
        if (!code) code = gsl_linalg_cholesky_solve(&known.matrix, &off.vector, &solved.vector);
        if (!code) code = gsl_blas_ddot(&off.vector, &solved.vector, &square);
    }
    gsl_set_error_handler(before);
    if (code) return NAN;
    for (size_t a = 0; a < n; a++) density -= log(gsl_matrix_get(w->known, a, a));
    for (size_t k = c, h = 0; k < wide; k++) {
        while (h < n && w->fixed[h] < k) h++;
        bool is_fixed = h < n && w->fixed[h] == k;
        double sum = is_fixed ? 0 : w->first[k];
        for (size_t a = 0; a < n && !is_fixed; a++)
            sum += w->second[k * wide + w->fixed[a]] * gsl_vector_get(w->solved, a);
        model_error[k - c] = sum;
    }
    return density - square / 2;
}

/* The same over all nodes, by how likely each is given what is held. */
static void mix_model_error(const struct fr_posterior_input *s, const struct work *w,
                            double *model_error) {
    double highest = -INFINITY, sum = 0;
    size_t n = (size_t)s->n_seen;
    for (int node = 0; node < FR_COMPONENTS_NODES; node++)
        highest = fmax(highest, w->given[node]);
    for (size_t k = 0; k < n; k++) model_error[k] = 0;
    for (int node = 0; node < FR_COMPONENTS_NODES; node++) {
        double weight = exp(w->given[node] - highest);
        sum += weight;
        for (size_t k = 0; k < n; k++)
            model_error[k] += weight * w->model_error[(size_t)node * n + k];
    }
    for (size_t k = 0; k < n; k++) model_error[k] /= sum;
}

/* Sum over nodes of weight (C + m m'), of weight m and of the effects' squares.  Also the model error and the
 * variance of the middle row at each node, as for an unseen run, except its kind's. */
static fr_status mix(const struct fr_posterior_input *s, struct fr_effects *effects,
                     struct work *w, double *covariance, size_t stride, double sd[FR_EFFECTS],
                     double variance[FR_COMPONENTS_NODES], struct fr_error *err) {
    size_t c = (size_t)s->n_coefficients, wide = wide_of(s), all = fr_effects_unknowns(effects);
    const struct fr_components *of = &w->components;
    for (int node = 0; node < FR_COMPONENTS_NODES; node++) {
        double weight = of->weight[node];
        variance[node] = 0;
        w->given[node] = -INFINITY;
        if (!(weight > 0)) continue;
        double density = fr_effects_all(effects, of->sd[node], w->at_mean, w->at_covariance);
        if (isfinite(density)) {
            express(s, effects, of->sd[node], w);
            w->given[node] =
                log(weight) + given_fixed(s, w, w->model_error + node * (size_t)s->n_seen);
        }
        if (!isfinite(w->given[node]))
            return fr_fail(err, FR_ERR_NUMERIC, NULL, "the posterior has no covariance");
        for (size_t a = 0; a < wide; a++) {
            w->mean[a] += weight * w->first[a];
            for (size_t b = 0; b < wide; b++)
                covariance[a * stride + b] +=
                    weight * (w->second[a * wide + b] + w->first[a] * w->first[b]);
        }
        for (size_t a = 0; a < c; a++)
            for (size_t b = 0; b < c; b++)
                w->at_covariance[a * all + b] +=
                    (w->at_mean[a] - s->moved[a]) * (w->at_mean[b] - s->moved[b]);
        for (int k = 0; k < FR_EFFECTS; k++) sd[k] += weight * pow(of->sd[node][k], 2);
        for (int i = 0; i < s->n; i++)
            variance[node] += row_variance(s, i, w->at_covariance, all) / s->n;
        variance[node] +=
            pow(fr_effects_spread(of->sd[node], 1), 2) - pow(of->sd[node][FR_EFFECT_KIND], 2);
    }
    for (int k = 0; k < FR_EFFECTS; k++) sd[k] = sqrt(sd[k]);
    return FR_OK;
}

/* Move the covariance from about zero to about the final coefficients and the mean model error. */
static void about(const struct fr_posterior_input *s, const struct work *w,
                  const double *model_error, double *covariance, size_t stride) {
    size_t c = (size_t)s->n_coefficients, wide = wide_of(s);
    for (size_t a = 0; a < wide; a++)
        for (size_t b = 0; b < wide; b++) {
            double at_a = a < c ? s->moved[a] : model_error[a - c],
                   at_b = b < c ? s->moved[b] : model_error[b - c];
            covariance[a * stride + b] += at_a * at_b - at_a * w->mean[b] - at_b * w->mean[a];
        }
}

/* Half a 90 % interval of such a run over its standard deviation: at each node, its kind may be near or far off. */
static double stretch_of(const struct fr_components *of,
                         const double variance[FR_COMPONENTS_NODES]) {
    enum { ALL = FR_COMPONENTS_NODES * FR_COMPONENTS_WIDE };
    double wide[FR_COMPONENTS_WIDE], weight[ALL], each[ALL], mean = 0;
    fr_components_wide(wide);
    for (int i = 0; i < ALL; i++) {
        int node = i / FR_COMPONENTS_WIDE, k = i % FR_COMPONENTS_WIDE;
        double kind = pow(of->sd[node][FR_EFFECT_KIND], 2);
        weight[i] = of->weight[node] / FR_COMPONENTS_WIDE;
        each[i] = of->weight[node] > 0 ? variance[node] + kind * wide[k] : 0;
        if (k == 0 && weight[i] > 0) mean += of->weight[node] * (variance[node] + kind);
    }
    return fr_mixture_half(weight, each, ALL, covered) / sqrt(mean);
}

fr_status fr_runs_posterior(const struct fr_posterior_input *s, double *covariance,
                            size_t stride, double *model_error, double sd[FR_EFFECTS],
                            double *stretch, struct fr_error *err) {
    struct work w = {0};
    double scale[FR_EFFECTS], variance[FR_COMPONENTS_NODES];
    size_t wide = wide_of(s);
    fr_status status = fr_fail(err, FR_ERR_NOMEM, NULL, "the fit does not fit in memory");
    struct fr_effects *effects = NULL;
    if (!work_make(s, &w)) goto done;
    fill(s, &w);
    struct fr_effects_rows rows = {.n_coefficients = (size_t)s->n_coefficients,
                                   .jacobian = s->jacobian,
                                   .error = w.error,
                                   .sigma = s->sigma,
                                   .of = s->of,
                                   .stated = s->stated,
                                   .n_known = (size_t)s->n_known};
    bool releases = fr_runs_share(s->runs, s->n, w.weight, w.times, w.groups, &rows);
    fr_effect_scales(s->model_error, releases && !s->one_release, scale);
    effects = fr_effects_make(&rows);
    if (!effects || !find_places(s, fr_effects_unknowns(effects), &w)) goto done;
    for (size_t a = 0; a < wide; a++)
        memset(covariance + a * stride, 0, wide * sizeof *covariance);
    memset(sd, 0, FR_EFFECTS * sizeof *sd);
    status = fr_components_make(effects, scale, NULL, &w.components, err);
    if (status == FR_OK) find_fixed(s, &w);
    if (status == FR_OK) status = mix(s, effects, &w, covariance, stride, sd, variance, err);
    if (status == FR_OK) {
        mix_model_error(s, &w, model_error);
        about(s, &w, model_error, covariance, stride);
        *stretch = stretch_of(&w.components, variance);
    }
done:
    fr_effects_free(effects);
    work_free(&w);
    return status;
}
