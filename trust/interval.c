#include "trust/interval.h"

#include <math.h>
#include <string.h>

#include "trust/numbers/statistics.h"

const double fr_spread_assumed = 0.1;
static const double normal_median = 0.6745;

double fr_spread_of(double median_error) { return log1p(median_error) / normal_median; }

double fr_spread_calibrated(double held_out, double variation) {
    return hypot(fmax(fr_spread_assumed, fr_spread_of(held_out)), variation);
}

double fr_spread_reach(double spread) { return exp(FR_NORMAL_90 * spread); }

/* Which row of the posterior coefficient @p j has, or -1. */
static int row_of(const struct fr_tuning *t, int j) {
    for (int i = 0; i < t->n; i++)
        if (strcmp(t->name[i], fr_coefficients[j].name) == 0) return i;
    return -1;
}

double fr_interval_stated(const struct fr_cluster *cluster, int j, fr_dtype dtype) {
    int row = row_of(&cluster->tuning, j);
    return row >= 0 ? sqrt(cluster->tuning.covariance[row * cluster->tuning.n + row])
                    : cluster->uncertainty.sigma[fr_coefficients[j].place][dtype];
}

/* ---- what is known of coefficients, one and together ---------------------------------------- */

struct joint {
    int n, index[FR_COEFFICIENT_MAX], row[FR_COEFFICIENT_MAX]; /* of the posterior, or -1 */
    double covariance[FR_COEFFICIENT_MAX][FR_COEFFICIENT_MAX];
};

/* The posterior has all on a tuned value. */
static bool is_tuned(const struct joint *of, const double *stated) {
    for (int a = 0; a < of->n; a++)
        if (of->row[a] >= 0 && stated[a] != 0) return true;
    return false;
}

/* A sum g z of what is unsure, known to a standard deviation of 1:  C - C g (C g)' / (g' C g + 1). */
static void tell(struct joint *of, const double *g) {
    double moved[FR_COEFFICIENT_MAX], variance = 1;
    for (int a = 0; a < of->n; a++) {
        moved[a] = 0;
        for (int b = 0; b < of->n; b++) moved[a] += of->covariance[a][b] * g[b];
        variance += moved[a] * g[a];
    }
    for (int a = 0; a < of->n; a++)
        for (int b = 0; b < of->n; b++) of->covariance[a][b] -= moved[a] * moved[b] / variance;
}

/* How wide one is by itself, by the file or its prior. */
static double alone(const struct fr_cluster *cluster, int j, fr_dtype dtype) {
    double stated = fr_interval_stated(cluster, j, dtype);
    return stated > 0 ? stated : fr_coefficients[j].sigma;
}

/* The posterior where there is one; elsewhere the width that is stated, else the prior's, and what is stated together. */
static void join(struct fr_cluster *cluster, fr_dtype dtype, struct joint *of) {
    const struct fr_tuning *t = &cluster->tuning;
    double stated[FR_CORRELATED_MAX * FR_COEFFICIENT_MAX];
    *of = (struct joint){0};
    for (int j = 0; j < fr_coefficient_count(); j++) {
        if (!fr_coefficient_at(j, cluster, dtype)) continue;
        double sigma = alone(cluster, j, dtype);
        of->covariance[of->n][of->n] = sigma * sigma;
        of->row[of->n] = row_of(t, j);
        of->index[of->n++] = j;
    }
    for (int a = 0; a < of->n; a++)
        for (int b = 0; b < of->n; b++)
            if (of->row[a] >= 0 && of->row[b] >= 0)
                of->covariance[a][b] = t->covariance[of->row[a] * t->n + of->row[b]];
    int n_known = fr_coefficients_stated(cluster, dtype, of->index, of->n, stated);
    for (int k = 0; k < n_known; k++)
        if (!is_tuned(of, stated + k * of->n)) tell(of, stated + k * of->n);
}

double fr_interval_width(const struct fr_cluster *cluster, int j, fr_dtype dtype) {
    struct fr_cluster own = *cluster;
    struct joint of;
    join(&own, dtype, &of);
    for (int a = 0; a < of.n; a++)
        if (of.index[a] == j) return sqrt(of.covariance[a][a]);
    return alone(cluster, j, dtype);
}

static void fill(const struct fr_tuning *t, struct fr_tune_result *r) {
    struct joint of;
    join(&r->cluster, r->dtype, &of);
    memcpy(r->index, of.index, sizeof of.index);
    r->n_known = of.n;
    int coefficients = r->n_known;
    r->n_seen = t->n_seen;
    memcpy(r->seen, t->seen, sizeof r->seen);
    for (int i = 0; i < t->n_seen; i++) r->index[r->n_known++] = FR_KNOWN_SEEN + i;
    int from = r->n_known;
    fr_tune_add_operations(r);
    for (int k = from; k < r->n_known; k++) r->covariance[k * r->n_known + k] = 1;
    for (int a = 0; a < coefficients; a++)
        for (int b = 0; b < coefficients; b++)
            r->covariance[a * r->n_known + b] = of.covariance[a][b];
    for (int i = 0; i < t->n_seen; i++) {
        const double *row_covariance =
            t->seen_covariance + (size_t)i * (size_t)(t->n + t->n_seen);
        double *own = r->covariance + (size_t)(coefficients + i) * (size_t)r->n_known;
        for (int a = 0; a < coefficients; a++)
            own[a] = r->covariance[a * r->n_known + coefficients + i] =
                of.row[a] >= 0 ? row_covariance[of.row[a]] : 0;
        for (int k = 0; k < t->n_seen; k++) own[coefficients + k] = row_covariance[t->n + k];
    }
}

/* Model error of any model, plan and release.  For a calibration it is the calibration's own error where that is
 * larger, one for each plan, and the machine's variation for each run. */
static void assume(const struct fr_calibration *c, double effect[FR_EFFECTS]) {
    fr_effect_scales(FR_TUNE_MODEL_ERROR, true, effect);
    double usual = fr_effects_spread(effect, 1), held_out = fr_spread_of(c->held_out);
    if (held_out > usual)
        effect[FR_EFFECT_KIND] =
            sqrt(pow(effect[FR_EFFECT_KIND], 2) + held_out * held_out - usual * usual);
    effect[FR_EFFECT_ROW] = hypot(effect[FR_EFFECT_ROW], c->variation);
}

void fr_interval_known(const struct fr_cluster *cluster, fr_dtype dtype,
                       struct fr_tune_result *known) {
    const struct fr_tuning *t = &cluster->tuning;
    const struct fr_calibration *c = &cluster->calibration;
    *known =
        (struct fr_tune_result){.cluster = *cluster,
                                .dtype = dtype,
                                .experts = t->present ? t->experts : true,
                                .sharded = t->present ? t->sharded : true,
                                .pipelined = t->present ? t->pipelined : true,
                                .model_error = FR_TUNE_MODEL_ERROR,
                                .unmoved = t->present && t->unmoved,
                                .distant = t->n == 0 && !fr_calibration_is_stated(c),
                                .stretch = t->present                    ? t->stretch
                                           : fr_calibration_is_stated(c) ? FR_NORMAL_90
                                                                         : FR_TUNE_STRETCH};
    if (t->present)
        memcpy(known->effect, t->effect, sizeof known->effect);
    else
        assume(c, known->effect);
    known->spread = fr_effects_spread(known->effect, 1);
    fill(t, known);
}

void fr_interval_plan(const struct fr_tune_result *known, const struct fr_workload *workload,
                      const struct fr_plan *plan, struct fr_interval *interval) {
    const struct fr_run run = {.workload = *workload, .plan = *plan};
    fr_tune_interval(known, &run, interval);
}

void fr_interval_state(const struct fr_tune_result *known, const struct fr_workload *workload,
                       struct fr_outcome *out) {
    struct fr_interval of;
    if (!isfinite(out->time_s)) return;
    fr_interval_plan(known, workload, &out->plan, &of);
    if (!(of.model_s > 0)) return;
    out->expected_s = out->time_s * of.expected_s / of.model_s;
    out->low_s = out->time_s * of.low_s / of.model_s;
    out->high_s = out->time_s * of.high_s / of.model_s;
}
