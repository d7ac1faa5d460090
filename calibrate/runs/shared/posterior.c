#include "calibrate/runs/shared/posterior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "calibrate/numbers/components.h"

static const double covered = 0.9;

struct work {
    double *numbers; /* all that follows */
    double *error, *weight, *times;
    double *at_mean, *at_covariance; /* [unknowns], [unknowns][unknowns] */
    double *off;                     /* [unknowns]: of the mean from where things were left */
    int *groups, *place;             /* place: [n_coefficients + n_seen] among the unknowns */
    struct fr_components components;
};

static bool work_make(const struct fr_said *s, struct work *w) {
    size_t n = (size_t)s->n, wide = (size_t)(s->n_coefficients + s->n_seen);
    w->numbers = fr_calloc(3 * n + 1, sizeof *w->numbers);
    w->groups = fr_calloc(FR_EFFECT_ROW * n + wide + 1, sizeof *w->groups);
    if (!w->numbers || !w->groups) return false;
    w->error = w->numbers;
    w->weight = w->error + n;
    w->times = w->weight + n;
    w->place = w->groups + FR_EFFECT_ROW * n;
    return true;
}

/* What rows would be off at the priors' values, were all linear. */
static void fill(const struct fr_said *s, struct work *w) {
    for (int i = 0; i < s->n; i++) {
        w->error[i] = s->error[i];
        for (int k = 0; k < s->n_coefficients; k++)
            w->error[i] -= s->jacobian[(size_t)k * (size_t)s->n + (size_t)i] * s->moved[k];
        w->weight[i] = s->runs[i]->weight;
        w->times[i] = fr_run_missed_times(s->runs[i]);
    }
}

/* Where coefficients, and the models and plans asked for, stand among all unknowns. */
static bool find_places(const struct fr_said *s, size_t unknowns, struct work *w) {
    int models = 0;
    size_t n = (size_t)s->n;
    w->at_mean = fr_calloc(unknowns * (unknowns + 2) + 1, sizeof *w->at_mean);
    if (!w->at_mean) return false;
    w->off = w->at_mean + unknowns;
    w->at_covariance = w->off + unknowns;
    for (size_t i = 0; i < n; i++)
        if (w->groups[FR_EFFECT_MODEL * n + i] >= models)
            models = w->groups[FR_EFFECT_MODEL * n + i] + 1;
    for (int k = 0; k < s->n_coefficients; k++) w->place[k] = k;
    for (int k = 0; k < s->n_seen; k++) {
        bool plan = s->seen[k].plan;
        size_t i = 0;
        while (!fr_run_is(s->runs[i], &s->seen[k])) i++;
        w->place[s->n_coefficients + k] =
            s->n_coefficients + (plan ? models : 0) +
            w->groups[(size_t)(plan ? FR_EFFECT_PLAN : FR_EFFECT_MODEL) * n + i];
    }
    return true;
}

/* Variance of a row's error under coefficients known to @p covariance. */
static double row_variance(const struct fr_said *s, int i, const double *covariance,
                           size_t stride) {
    double sum = 0;
    for (int a = 0; a < s->n_coefficients; a++)
        for (int b = 0; b < s->n_coefficients; b++)
            sum += s->jacobian[(size_t)a * (size_t)s->n + (size_t)i] *
                   s->jacobian[(size_t)b * (size_t)s->n + (size_t)i] *
                   covariance[(size_t)a * stride + (size_t)b];
    return sum;
}

/* Sum over nodes of weight (C + (m - x) (m - x)'), and of the effects' squares; the variance of the middle row
 * at each node, as of a run that was not seen, but for its kind's. */
static fr_status mix(const struct fr_said *s, struct fr_effects *effects, struct work *w,
                     double *covariance, size_t stride, double sd[FR_EFFECTS],
                     double variance[FR_COMPONENTS_NODES], struct fr_error *err) {
    size_t c = (size_t)s->n_coefficients, wide = c + (size_t)s->n_seen,
           all = fr_effects_unknowns(effects);
    const struct fr_components *of = &w->components;
    for (int node = 0; node < FR_COMPONENTS_NODES; node++) {
        double weight = of->weight[node];
        variance[node] = 0;
        if (!(weight > 0)) continue;
        double density = fr_effects_all(effects, of->sd[node], w->at_mean, w->at_covariance);
        if (!isfinite(density))
            return fr_fail(err, FR_ERR_NUMERIC, NULL, "the posterior has no covariance");
        for (size_t a = 0; a < all; a++) w->off[a] = w->at_mean[a] - (a < c ? s->moved[a] : 0);
        for (size_t a = 0; a < all; a++)
            for (size_t b = 0; b < all; b++)
                w->at_covariance[a * all + b] += w->off[a] * w->off[b];
        for (size_t a = 0; a < wide; a++)
            for (size_t b = 0; b < wide; b++)
                covariance[a * stride + b] +=
                    weight * w->at_covariance[(size_t)w->place[a] * all + (size_t)w->place[b]];
        for (int k = 0; k < FR_EFFECTS; k++) sd[k] += weight * pow(of->sd[node][k], 2);
        for (int i = 0; i < s->n; i++)
            variance[node] += row_variance(s, i, w->at_covariance, all) / s->n;
        variance[node] +=
            pow(fr_effects_spread(of->sd[node], 1), 2) - pow(of->sd[node][FR_EFFECT_KIND], 2);
    }
    for (int k = 0; k < FR_EFFECTS; k++) sd[k] = sqrt(sd[k]);
    return FR_OK;
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

fr_status fr_runs_posterior(const struct fr_said *s, double *covariance, size_t stride,
                            double sd[FR_EFFECTS], double *stretch, struct fr_error *err) {
    struct work w = {0};
    double scale[FR_EFFECTS], variance[FR_COMPONENTS_NODES];
    size_t n = (size_t)s->n;
    fr_status status = fr_fail(err, FR_ERR_NOMEM, NULL, "the fit does not fit in memory");
    struct fr_effects *effects = NULL;
    if (!work_make(s, &w)) goto done;
    fill(s, &w);
    int *group[FR_EFFECT_ROW];
    for (int k = 0; k < FR_EFFECT_ROW; k++) group[k] = w.groups + (size_t)k * n;
    bool releases = fr_runs_alike(s->runs, s->n, group);
    fr_effect_scales(s->missed, releases, scale);
    const struct fr_effects_rows rows = {n,
                                         (size_t)s->n_coefficients,
                                         s->jacobian,
                                         w.error,
                                         w.weight,
                                         w.times,
                                         s->sigma,
                                         s->of,
                                         {group[0], group[1], group[2], group[3]}};
    effects = fr_effects_make(&rows);
    if (!effects || !find_places(s, fr_effects_unknowns(effects), &w)) goto done;
    size_t wide = (size_t)(s->n_coefficients + s->n_seen);
    for (size_t a = 0; a < wide; a++)
        memset(covariance + a * stride, 0, wide * sizeof *covariance);
    memset(sd, 0, FR_EFFECTS * sizeof *sd);
    status = fr_components_make(effects, scale, &w.components, err);
    if (status == FR_OK) status = mix(s, effects, &w, covariance, stride, sd, variance, err);
    if (status == FR_OK) *stretch = stretch_of(&w.components, variance);
done:
    fr_effects_free(effects);
    free(w.numbers);
    free(w.at_mean);
    free(w.groups);
    return status;
}
