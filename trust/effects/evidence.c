#include "trust/effects/evidence.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "trust/interval.h"

struct fr_evidence {
    struct fr_effects *effects;
    bool releases;
    int n, kinds;
    double rms, *off; /* off: [kinds] */
};

/* Errors and derivatives, runs side by side. */
struct rows {
    const struct fr_run **runs; /* that can be priced */
    int n, n_coefficients;
    double *error, *jacobian, *weight, *times, *away; /* jacobian: [n_coefficients][n] */
    int *groups;
};

static fr_status no_memory(struct fr_error *err) {
    return fr_fail(err, FR_ERR_NOMEM, NULL, "the runs do not fit in memory");
}

static bool rows_make(int n, struct rows *r) {
    size_t capacity = (size_t)n + 1;
    r->runs = fr_calloc(capacity, sizeof *r->runs);
    r->error = fr_calloc((4 + FR_COEFFICIENT_MAX) * capacity, sizeof *r->error);
    r->groups = fr_calloc(FR_EFFECT_ROW * capacity, sizeof *r->groups);
    if (!r->runs || !r->error || !r->groups) return false;
    r->weight = r->error + capacity;
    r->times = r->weight + capacity;
    r->away = r->times + capacity;
    r->jacobian = r->away + capacity;
    return true;
}

static void rows_free(struct rows *r) {
    free(r->runs);
    free(r->error);
    free(r->groups);
}

/* Coefficients come first among what is known of a cluster that nothing was fitted to. */
static void fill(const struct fr_tune_result *known, const struct fr_run *const *runs, int n,
                 struct rows *r) {
    double gradient[FR_KNOWN_MAX];
    for (int i = 0; i < n; i++)
        if (isfinite(fr_run_predict_s(&known->cluster, runs[i]))) r->runs[r->n++] = runs[i];
    while (r->n_coefficients < known->n_known &&
           known->index[r->n_coefficients] < fr_coefficient_count())
        r->n_coefficients++;
    for (int i = 0; i < r->n; i++) {
        double time_s = fr_tune_gradient(known, r->runs[i], gradient);
        r->error[i] = log(time_s / r->runs[i]->measured_s);
        r->away[i] = r->error[i] / hypot(fr_tune_deviation(known, gradient),
                                         fr_tune_spread(known, r->runs[i]));
        for (int k = 0; k < r->n_coefficients; k++) r->jacobian[k * r->n + i] = gradient[k];
    }
}

/* Means of kinds, and all runs' root mean square. */
static bool sum_up(const struct rows *r, const int *kind, struct fr_evidence *e) {
    double squares = 0;
    e->n = r->n;
    for (int i = 0; i < r->n; i++) {
        squares += r->error[i] * r->error[i];
        if (kind[i] >= e->kinds) e->kinds = kind[i] + 1;
    }
    e->rms = sqrt(squares / r->n);
    e->off = fr_calloc((size_t)e->kinds + 1, sizeof *e->off);
    int *count = fr_calloc((size_t)e->kinds + 1, sizeof *count);
    for (int i = 0; i < r->n && e->off && count; i++)
        e->off[kind[i]] += (r->away[i] - e->off[kind[i]]) / ++count[kind[i]];
    free(count);
    return e->off && count;
}

static bool effects_of(const struct fr_tune_result *known, const struct rows *r,
                       struct fr_evidence *e) {
    double sigma[FR_COEFFICIENT_MAX], stated[FR_CORRELATED_MAX * FR_COEFFICIENT_MAX];
    int of[FR_COEFFICIENT_MAX];
    for (int k = 0; k < r->n_coefficients; k++) {
        int j = known->index[k];
        sigma[k] = fr_coefficient_width(j, &known->cluster, known->dtype);
        of[k] = fr_coefficient_effect(j);
    }
    int n_known = fr_coefficients_stated(&known->cluster, known->dtype, known->index,
                                         r->n_coefficients, stated);
    struct fr_effects_rows rows = {.n_coefficients = (size_t)r->n_coefficients,
                                   .jacobian = r->jacobian,
                                   .error = r->error,
                                   .sigma = sigma,
                                   .of = of,
                                   .stated = stated,
                                   .n_known = (size_t)n_known};
    e->releases = fr_runs_share(r->runs, r->n, r->weight, r->times, r->groups, &rows);
    e->effects = fr_effects_make(&rows);
    return e->effects && sum_up(r, rows.group[FR_EFFECT_KIND], e);
}

fr_status fr_evidence_make(const struct fr_cluster *cluster, const struct fr_run *const *runs,
                           int n, struct fr_evidence **out, struct fr_error *err) {
    struct rows rows = {0};
    struct fr_tune_result *known = fr_calloc(1, sizeof *known);
    *out = fr_calloc(1, sizeof **out);
    fr_status status = known && *out && rows_make(n, &rows) ? FR_OK : no_memory(err);
    if (status == FR_OK && n > 0) {
        fr_interval_known(cluster, runs[0]->workload.dtype, known);
        fill(known, runs, n, &rows);
    }
    if (status == FR_OK && rows.n == 0)
        status = fr_fail(err, FR_ERR_INPUT, NULL,
                         "none of the %d runs can be predicted on this cluster", n);
    if (status == FR_OK && !effects_of(known, &rows, *out)) status = no_memory(err);
    rows_free(&rows);
    free(known);
    if (status != FR_OK) {
        fr_evidence_free(*out);
        *out = NULL;
    }
    return status;
}

void fr_evidence_free(struct fr_evidence *e) {
    if (!e) return;
    fr_effects_free(e->effects);
    free(e->off);
    free(e);
}

int fr_evidence_runs(const struct fr_evidence *e) { return e->n; }

int fr_evidence_kinds(const struct fr_evidence *e) { return e->kinds; }

double fr_evidence_rms(const struct fr_evidence *e) { return e->rms; }

double fr_evidence_off(const struct fr_evidence *e, int kind) { return e->off[kind]; }

fr_status fr_evidence_at(struct fr_evidence *e, struct fr_evidence_stated stated,
                         const struct fr_sizes *sizes, double *ln, struct fr_error *err) {
    double scale[FR_EFFECTS];
    struct fr_components *c = fr_calloc(1, sizeof *c);
    if (!c) return no_memory(err);
    fr_effect_scales(stated.model_error, e->releases, scale);
    scale[FR_EFFECT_ROW] = stated.run;
    fr_status status = fr_components_make(e->effects, scale, sizes, c, err);
    *ln = c->evidence;
    free(c);
    return status;
}
