#include "calibrate/runs/shared/posterior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "calibrate/numbers/components.h"

static const double covered = 0.9;

struct work {
    double *numbers; /* all that follows */
    double *error, *weight, *times, *mean, *at_mean, *at_covariance;
    int *groups;
    struct fr_components components;
};

static bool work_make(const struct fr_said *s, struct work *w) {
    size_t n = (size_t)s->n, c = (size_t)s->n_coefficients;
    w->numbers = fr_calloc(3 * n + 2 * c + c * c + 1, sizeof *w->numbers);
    w->groups = fr_calloc(FR_EFFECT_ROW * n + 1, sizeof *w->groups);
    if (!w->numbers || !w->groups) return false;
    w->error = w->numbers;
    w->weight = w->error + n;
    w->times = w->weight + n;
    w->mean = w->times + n;
    w->at_mean = w->mean + c;
    w->at_covariance = w->at_mean + c;
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
 * at each node, as of a run that was not seen. */
static fr_status mix(const struct fr_said *s, struct fr_effects *effects, struct work *w,
                     double *covariance, size_t stride, double sd[FR_EFFECTS],
                     double variance[FR_COMPONENTS_NODES], struct fr_error *err) {
    size_t c = (size_t)s->n_coefficients;
    const struct fr_components *of = &w->components;
    for (int node = 0; node < FR_COMPONENTS_NODES; node++) {
        double weight = of->weight[node];
        variance[node] = 0;
        if (!(weight > 0)) continue;
        double density = fr_effects_at(effects, of->sd[node], w->at_mean, w->at_covariance);
        if (!isfinite(density))
            return fr_fail(err, FR_ERR_NUMERIC, NULL, "the posterior has no covariance");
        for (size_t a = 0; a < c; a++)
            for (size_t b = 0; b < c; b++) {
                double off = (w->at_mean[a] - s->moved[a]) * (w->at_mean[b] - s->moved[b]);
                w->at_covariance[a * c + b] += off;
            }
        for (size_t a = 0; a < c; a++)
            for (size_t b = 0; b < c; b++)
                covariance[a * stride + b] += weight * w->at_covariance[a * c + b];
        for (int k = 0; k < FR_EFFECTS; k++) sd[k] += weight * pow(of->sd[node][k], 2);
        for (int i = 0; i < s->n; i++)
            variance[node] += row_variance(s, i, w->at_covariance, c) / s->n;
        variance[node] += pow(fr_effects_spread(of->sd[node], 1), 2);
    }
    for (int k = 0; k < FR_EFFECTS; k++) sd[k] = sqrt(sd[k]);
    return FR_OK;
}

fr_status fr_runs_posterior(const struct fr_said *s, double *covariance, size_t stride,
                            double sd[FR_EFFECTS], double *stretch, struct fr_error *err) {
    struct work w = {0};
    double scale[FR_EFFECTS], variance[FR_COMPONENTS_NODES], mean = 0;
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
    if (!effects) goto done;
    for (int a = 0; a < s->n_coefficients; a++)
        memset(covariance + (size_t)a * stride, 0,
               (size_t)s->n_coefficients * sizeof *covariance);
    memset(sd, 0, FR_EFFECTS * sizeof *sd);
    status = fr_components_make(effects, scale, &w.components, err);
    if (status == FR_OK) status = mix(s, effects, &w, covariance, stride, sd, variance, err);
    for (int i = 0; i < FR_COMPONENTS_NODES; i++) mean += w.components.weight[i] * variance[i];
    if (status == FR_OK)
        *stretch =
            fr_mixture_half(w.components.weight, variance, FR_COMPONENTS_NODES, covered) /
            sqrt(mean);
done:
    fr_effects_free(effects);
    free(w.numbers);
    free(w.groups);
    return status;
}
