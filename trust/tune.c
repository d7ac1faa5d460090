#include "trust/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "models/job/runtime.h"
#include "models/outcome/iteration.h"
#include "models/outcome/resolve.h"
#include "trust/effects/identifiable.h"
#include "trust/effects/posterior.h"
#include "trust/effects/rejected.h"
#include "trust/numbers/nlfit.h"

/* With fewer rows only the coefficient that needs one row is fitted: the efficiency of the products. */
enum { ROWS_FOR_MORE = 10 };

/* The model has kinks (the larger of host and device), at which a trust region can circle. */
static const struct fr_nlfit_limits limits = {
    .tolerance = 1e-4, .iterations_max = 40, .accept_last = true, .forward = true};
/* Limits of a fit that only finds the coefficients that the rows identify. */
static const struct fr_nlfit_limits rough = {
    .tolerance = 1e-3, .iterations_max = 10, .accept_last = true, .forward = true};
static const double knee = 2, step = FR_TUNE_STEP;

/* The recurrence alone, without the parts that an outcome has. */
static double makespan_s(const struct fr_job *job, const struct fr_plan *plan) {
    struct fr_pipeline pipeline = {0};
    struct fr_pipeline_times times = {0};
    uint32_t extrapolated = 0;
    if (plan->duplex || fr_pipeline_check(job, plan)) return NAN;
    fr_status status = fr_pipeline_make(job, plan, &pipeline, &extrapolated, NULL);
    if (status == FR_OK) status = fr_pipeline_run(&pipeline, FR_WITH_ALL, &times, NULL);
    fr_pipeline_free(&pipeline);
    return status == FR_OK ? times.makespan_s + job->cluster.device.fixed_s : NAN;
}

double fr_run_predict_s(const struct fr_cluster *cluster, const struct fr_run *run) {
    struct fr_job job = {.cluster = *cluster, .workload = run->workload, .plan = run->plan};
    struct fr_resolved s;
    struct fr_outcome out = {.time_s = NAN};
    if (run->cluster) fr_runtime_carry(run->cluster, &job.cluster);
    if (fr_resolve(&job, &job.plan, &s, NULL) == FR_OK) {
        if (fr_job_is_pipeline(s.job, &s.plan))
            out.time_s = makespan_s(s.job, &s.plan);
        else
            fr_pipeline_cost(s.job, &s.plan, &out);
    }
    fr_resolved_free(&s);
    return out.time_s;
}

/* ---- the fit ----------------------------------------------------------------------------- */

struct problem {
    struct fr_cluster prior;
    const struct fr_run *const *runs;
    int n, threads;
    double weight_scale, model_error, scale; /* scale: error that counts as one */
    const int *index;                        /* fitted coefficients */
    int n_fitted;
    fr_dtype dtype;
    double sigma[FR_COEFFICIENT_MAX];
    double *log_error;    /* [n] */
    struct fr_cluster at; /* where predictions are made */
    bool one_release;
};

static void apply(const struct problem *p, const double *factors, struct fr_cluster *out) {
    *out = p->prior;
    for (int k = 0; k < p->n_fitted; k++) {
        const struct fr_coefficient *c = &fr_coefficients[p->index[k]];
        double *at = c->at(out, p->dtype);
        *at = fmax(c->least, *at * factors[k]);
    }
}

static void predict_piece(void *context, int64_t piece) {
    struct problem *p = context;
    enum { PIECE = 16 };
    int last = (int)(piece + 1) * PIECE < p->n ? (int)(piece + 1) * PIECE : p->n;
    for (int i = (int)piece * PIECE; i < last; i++)
        p->log_error[i] = log(fr_run_predict_s(&p->at, p->runs[i]) / p->runs[i]->measured_s);
}

static void predict_here(struct problem *p) {
    fr_parallel_for(p->threads, (p->n + 15) / 16, predict_piece, p);
}

static void predict_all(struct problem *p, const double *factors) {
    apply(p, factors, &p->at);
    predict_here(p);
}

static double huber(double r) {
    double rho = 2 * knee * knee * (sqrt(1 + r * r / (knee * knee)) - 1);
    return copysign(sqrt(rho), r);
}

static void residuals(void *context, const double *factors, double *out) {
    struct problem *p = context;
    predict_all(p, factors);
    for (int i = 0; i < p->n; i++)
        out[i] = sqrt(p->runs[i]->weight * p->weight_scale) * huber(p->log_error[i] / p->scale);
    for (int k = 0; k < p->n_fitted; k++) out[p->n + k] = log(factors[k]) / p->sigma[k];
}

/* ---- what the rows feel ------------------------------------------------------------------ */

static fr_status count_feeling(struct problem *p, struct fr_tune_result *r,
                               struct fr_error *err) {
    double *base = fr_malloc((size_t)p->n, sizeof *base);
    if (!base) return fr_fail(err, FR_ERR_NOMEM, NULL, "the fit does not fit in memory");
    p->n_fitted = 0;
    predict_all(p, NULL);
    memcpy(base, p->log_error, (size_t)p->n * sizeof *base);
    for (int j = 0; j < fr_coefficient_count(); j++) {
        static const double tenth = 1.1;
        if (!r->tuned[j].present) continue;
        p->index = &j;
        p->n_fitted = 1;
        predict_all(p, &tenth);
        for (int i = 0; i < p->n; i++)
            r->tuned[j].rows += fabs(p->log_error[i] - base[i]) > 0.0005;
    }
    free(base);
    return FR_OK;
}

/* Do the errors of the cluster file as it is refute it? */
static bool refuted(struct problem *p) {
    p->n_fitted = 0;
    predict_all(p, NULL);
    return fr_runs_reject(p->runs, p->n, p->log_error, p->scale);
}

/* ---- how sure ---------------------------------------------------------------------------- */

/* Covariances that the file states for values that all stayed.  Sums with a value that the runs moved are left out,
 * since the file's machine is another. */
static int tell(const struct problem *p, const struct fr_tune_result *r, int coefficients,
                double *stated) {
    int n = fr_coefficients_stated(&p->prior, p->dtype, r->index, coefficients, stated),
        kept = 0;
    for (int t = 0; t < n; t++) {
        const double *row = stated + t * coefficients;
        bool stayed = true;
        for (int k = 0; k < r->n_fitted && !r->unmoved; k++) stayed &= row[k] == 0;
        if (stayed)
            memmove(stated + coefficients * kept++, row, (size_t)coefficients * sizeof *row);
    }
    return kept;
}

/* Errors and derivatives of all that is not certain, at the values that were left. */
static fr_status posterior(struct problem *p, struct fr_tune_result *r, int coefficients,
                           struct fr_error *err) {
    size_t n = (size_t)p->n, params = (size_t)coefficients;
    double *jacobian = fr_malloc(n * params + n, sizeof *jacobian),
           *base = jacobian + n * params;
    double moved[FR_COEFFICIENT_MAX], sigma[FR_COEFFICIENT_MAX],
        stated[FR_CORRELATED_MAX * FR_COEFFICIENT_MAX];
    int of[FR_COEFFICIENT_MAX];
    int n_known = tell(p, r, coefficients, stated);
    if (!jacobian) return fr_fail(err, FR_ERR_NOMEM, NULL, "the fit does not fit in memory");
    p->at = r->cluster;
    predict_here(p);
    memcpy(base, p->log_error, n * sizeof *base);
    for (size_t i = 0; i < n; i++) r->mean_error += fabs(exp(base[i]) - 1) / p->n;
    for (size_t k = 0; k < params; k++) {
        const struct fr_coefficient *c = &fr_coefficients[r->index[k]];
        p->at = r->cluster;
        *c->at(&p->at, p->dtype) *= exp(step);
        predict_here(p);
        for (size_t i = 0; i < n; i++) jacobian[k * n + i] = (p->log_error[i] - base[i]) / step;
        moved[k] = log(*c->at(&r->cluster, p->dtype) / r->tuned[r->index[k]].prior);
        sigma[k] = r->tuned[r->index[k]].sigma_prior;
        of[k] = fr_coefficient_effect(r->index[k]);
    }
    const struct fr_posterior_input input = {
        p->runs, p->n,    coefficients, base,           jacobian, moved,     sigma,
        stated,  n_known, of,           p->model_error, r->seen,  r->n_seen, p->one_release};
    double model_error[FR_TUNING_SEEN_MAX];
    fr_status status = fr_runs_posterior(&input, r->covariance, (size_t)r->n_known, model_error,
                                         r->effect, &r->stretch, err);
    for (int k = 0; k < r->n_seen && status == FR_OK; k++)
        r->seen[k].model_error = model_error[k];
    r->spread = fr_effects_spread(r->effect, 1);
    free(jacobian);
    return status;
}

static void describe(struct fr_tune_result *r, int uncertain) {
    for (int k = 0; k < uncertain; k++) {
        struct fr_tuned *t = &r->tuned[r->index[k]];
        double variance = r->covariance[k * r->n_known + k];
        t->fitted = k < r->n_fitted;
        t->known = true;
        t->value = *fr_coefficients[r->index[k]].at(&r->cluster, r->dtype);
        t->sigma = sqrt(variance);
        t->learned = fmax(0, 1 - variance / (t->sigma_prior * t->sigma_prior));
    }
}

/* Models, then plans, then plans of models, of the rows, in order of appearance; one beyond the capacity counts as
 * unseen. */
static void add_seen(const struct problem *p, struct fr_tune_result *r) {
    for (int what = 0; what < FR_SEEN_COUNT; what++)
        for (int i = 0; i < p->n; i++) {
            int k = fr_tune_seen_at(r, p->runs[i], what);
            if (k < r->n_seen || k == FR_TUNING_SEEN_MAX) continue;
            r->index[r->n_known++] = FR_KNOWN_SEEN + k;
            r->seen[r->n_seen++] = fr_run_seen(p->runs[i], what);
        }
}

/* A value that stays has the width that the file states, or its prior's.  A fixed value is taken as certain, unless a
 * width is given for it. */
static int add_unmoved(const struct problem *p, struct fr_tune_result *r,
                       const struct fr_tune_options *options) {
    bool moved[FR_COEFFICIENT_MAX] = {false};
    for (int k = 0; k < r->n_fitted; k++) moved[r->index[k]] = true;
    for (int j = 0; j < fr_coefficient_count(); j++)
        if ((r->unmoved || !moved[j]) && !(options->sigmas && options->sigmas[j] > 0))
            r->tuned[j].sigma_prior = fr_coefficient_width(j, &p->prior, p->dtype);
    r->n_known = r->n_fitted;
    for (int j = 0; j < fr_coefficient_count(); j++)
        if (r->tuned[j].present && !moved[j] &&
            (!(options->fixed >> j & 1) || (options->sigmas && options->sigmas[j] > 0)))
            r->index[r->n_known++] = j;
    int coefficients = r->n_known;
    if (!options->values_only) add_seen(p, r);
    int from = r->n_known;
    fr_tune_add_operations(r);
    for (int k = from; k < r->n_known; k++) r->covariance[k * r->n_known + k] = 1;
    return coefficients;
}

static fr_status fit(struct problem *p, const struct fr_nlfit_limits *until, double *factors,
                     struct fr_error *err) {
    return fr_nlfit_within(until, residuals, p, (size_t)p->n_fitted,
                           (size_t)(p->n + p->n_fitted), factors, NULL, err);
}

/* How much row @p i counts at its error, of what a fit makes least. */
static double counts(const struct problem *p, int i) {
    double ratio = p->log_error[i] / p->scale / knee;
    return p->runs[i]->weight * p->weight_scale / (p->scale * p->scale) / hypot(1, ratio);
}

/* Which of the fitted coefficients the rows resolve; of one kind of run the one that needs but one row. */
static fr_status resolve(struct problem *p, const double *factors, bool *resolved,
                         struct fr_error *err) {
    size_t n = (size_t)p->n, params = (size_t)p->n_fitted;
    double moved[FR_COEFFICIENT_MAX], nudged[FR_COEFFICIENT_MAX];
    double *scratch = fr_malloc(n * (params + 3), sizeof *scratch);
    double *before = scratch, *error = before + n, *weight = error + n, *jacobian = weight + n;
    int ways = 0;
    if (!scratch) return fr_fail(err, FR_ERR_NOMEM, NULL, "the fit does not fit in memory");
    p->at = p->prior;
    predict_here(p);
    memcpy(before, p->log_error, n * sizeof *before);
    predict_all(p, factors);
    memcpy(error, p->log_error, n * sizeof *error);
    for (int i = 0; i < p->n; i++) weight[i] = counts(p, i);
    for (size_t k = 0; k < params; k++) {
        memcpy(nudged, factors, params * sizeof *nudged);
        nudged[k] *= exp(step);
        moved[k] = log(factors[k]);
        predict_all(p, nudged);
        for (size_t i = 0; i < n; i++)
            jacobian[k * n + i] = (p->log_error[i] - error[i]) / step;
    }
    const struct fr_linear_fit fitted = {p->runs,  p->n,   p->n_fitted, before,  error,
                                         jacobian, weight, moved,       p->sigma};
    fr_status status = fr_identify(&fitted, resolved, &ways, err);
    for (int k = 0; k < p->n_fitted && ways == 0; k++)
        resolved[k] = fr_coefficients[p->index[k]].rows_needed == 1;
    free(scratch);
    return status;
}

/* Coefficients that the rows do not identify go back to the preset, and the rest is fitted without them. */
static fr_status fall_back(struct problem *p, struct fr_tune_result *r, double *factors,
                           struct fr_error *err) {
    bool resolved[FR_COEFFICIENT_MAX];
    int n = 0;
    FR_TRY(resolve(p, factors, resolved, err));
    for (int k = 0; k < r->n_fitted; k++) {
        if (!resolved[k]) continue;
        r->index[n] = r->index[k];
        p->sigma[n] = p->sigma[k];
        factors[n++] = factors[k];
    }
    p->n_fitted = r->n_fitted = n;
    r->unmoved = n == 0;
    return n > 0 ? fit(p, &limits, factors, err) : FR_OK;
}

/* Values stay in the ranges where they have a meaning. */
static void bound(const struct fr_tune_result *r, double *factors) {
    for (int k = 0; k < r->n_fitted; k++) {
        const struct fr_coefficient *c = &fr_coefficients[r->index[k]];
        double prior = r->tuned[r->index[k]].prior;
        if (c->most > 0 && prior <= c->most && factors[k] * prior > c->most)
            factors[k] = c->most / prior;
        if (factors[k] * prior < c->least) factors[k] = c->least / prior;
    }
}

static fr_status tune(struct problem *p, const struct fr_tune_options *options,
                      struct fr_tune_result *r, struct fr_error *err) {
    double factors[FR_COEFFICIENT_MAX], weights = 0;
    for (int j = 0; j < fr_coefficient_count(); j++) {
        double *at = fr_coefficient_at(j, &p->prior, p->dtype);
        struct fr_tuned *t = &r->tuned[j];
        t->present = at != NULL;
        t->prior = t->value = at ? *at : NAN;
        t->sigma_prior = options->sigmas && options->sigmas[j] > 0 ? options->sigmas[j]
                                                                   : fr_coefficients[j].sigma;
        t->sigma = t->sigma_prior;
    }
    FR_TRY(count_feeling(p, r, err));
    r->unmoved = options->keep_unrefuted && !refuted(p);
    for (int j = 0; j < fr_coefficient_count(); j++) {
        if (!r->tuned[j].present || options->fixed >> j & 1) continue;
        if (r->tuned[j].rows < fr_coefficients[j].rows_needed) continue;
        if (p->n < ROWS_FOR_MORE && fr_coefficients[j].rows_needed > 1) continue;
        p->sigma[r->n_fitted] = r->tuned[j].sigma_prior;
        factors[r->n_fitted] = !r->unmoved && options->start && options->start->tuned[j].fitted
                                   ? options->start->tuned[j].value / r->tuned[j].prior
                                   : 1;
        r->index[r->n_fitted++] = j;
    }
    p->index = r->index;
    p->n_fitted = r->n_fitted;
    for (int i = 0; i < p->n; i++) weights += p->runs[i]->weight;
    p->weight_scale =
        options->rows_max > 0 && weights > options->rows_max ? options->rows_max / weights : 1;
    if (r->n_fitted > 0 && !r->unmoved) {
        FR_TRY(fit(p, options->keep_unrefuted ? &rough : &limits, factors, err));
        if (options->keep_unrefuted) FR_TRY(fall_back(p, r, factors, err));
    }
    bound(r, factors);
    int uncertain = add_unmoved(p, r, options);
    apply(p, factors, &r->cluster);
    if (!options->values_only) FR_TRY(posterior(p, r, uncertain, err));
    describe(r, uncertain);
    return FR_OK;
}

fr_status fr_tune(const struct fr_cluster *prior, const struct fr_run *const *runs, int n,
                  const struct fr_tune_options *options, struct fr_tune_result *r,
                  struct fr_error *err) {
    struct problem p = {.prior = *prior,
                        .threads = options->threads ? options->threads : 1,
                        .model_error = options->model_error > 0 ? options->model_error
                                                                : FR_TUNE_MODEL_ERROR,
                        .one_release = options->one_release};
    const struct fr_run **usable = fr_calloc((size_t)n + 1, sizeof *usable);
    *r = (struct fr_tune_result){.cluster = *prior};
    p.scale = hypot(p.model_error, options->release);
    p.log_error = fr_calloc((size_t)n + 1, sizeof *p.log_error);
    fr_status status = FR_ERR_NOMEM;
    if (!usable || !p.log_error) {
        fr_fail(err, FR_ERR_NOMEM, NULL, "the fit does not fit in memory");
        goto done;
    }
    for (int i = 0; i < n; i++)
        if (isfinite(fr_run_predict_s(prior, runs[i])) && runs[i]->weight > 0)
            usable[p.n++] = runs[i];
    if (p.n == 0) {
        status = fr_fail(err, FR_ERR_INPUT, NULL,
                         "none of the %d runs can be predicted on this cluster", n);
        goto done;
    }
    p.runs = usable;
    for (int i = 0; i < p.n; i++) {
        r->experts |= usable[i]->workload.transformer.experts > 1;
        r->sharded |= usable[i]->plan.zero >= 2;
        r->pipelined |= usable[i]->plan.pp > 1;
    }
    p.dtype = r->dtype = usable[0]->workload.dtype;
    r->rows = p.n;
    r->model_error = p.model_error;
    status = tune(&p, options, r, err);
done:
    free(usable);
    free(p.log_error);
    return status;
}
