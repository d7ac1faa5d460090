#include "calibrate/interval.h"

#include <string.h>

static const double unknown_spread = 0.1, normal_90 = 1.645;

static void take_posterior(const struct fr_tuning *t, struct fr_tune_result *r) {
    for (int i = 0; i < t->n; i++) {
        int j = fr_coefficient_find(t->name[i]);
        if (j < 0 || !fr_coefficients[j].at(&r->cluster, r->dtype)) continue;
        r->tuned[j].fitted = true;
        r->index[r->n_fitted++] = j;
    }
    if (r->n_fitted == t->n) {
        memcpy(r->covariance, t->covariance,
               (size_t)t->n * (size_t)t->n * sizeof *t->covariance);
        return;
    }
    /* A coefficient that this cluster or dtype lacks: keep the variances of the others. */
    memset(r->covariance, 0, sizeof r->covariance);
    for (int k = 0; k < r->n_fitted; k++)
        for (int i = 0; i < t->n; i++)
            if (strcmp(t->name[i], fr_coefficients[r->index[k]].name) == 0)
                r->covariance[k * r->n_fitted + k] = t->covariance[i * t->n + i];
}

static void take_priors(struct fr_tune_result *r) {
    for (int j = 0; j < fr_coefficient_count(); j++)
        if (fr_coefficients[j].at(&r->cluster, r->dtype)) r->index[r->n_fitted++] = j;
    for (int k = 0; k < r->n_fitted; k++) {
        double sigma = fr_coefficients[r->index[k]].sigma;
        r->covariance[k * r->n_fitted + k] = sigma * sigma;
    }
}

void fr_interval_known(const struct fr_cluster *cluster, fr_dtype dtype,
                       struct fr_tune_result *known) {
    const struct fr_tuning *t = &cluster->tuning;
    *known = (struct fr_tune_result){.cluster = *cluster,
                                     .dtype = dtype,
                                     .spread = t->present ? t->spread : unknown_spread,
                                     .stretch = t->present ? t->stretch : normal_90};
    if (t->present)
        take_posterior(t, known);
    else
        take_priors(known);
}

void fr_interval_plan(const struct fr_tune_result *known, const struct fr_workload *workload,
                      const struct fr_plan *plan, double *predicted_s, double *low_s,
                      double *high_s) {
    const struct fr_run run = {.workload = *workload, .plan = *plan};
    fr_tune_interval(known, &run, predicted_s, low_s, high_s);
}
