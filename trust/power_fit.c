#include "trust/power_fit.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/job/runtime.h"
#include "models/outcome/clocks.h"
#include "models/outcome/cost.h"
#include "models/outcome/energy.h"
#include "models/outcome/resolve.h"
#include "trust/numbers/nlfit.h"
#include "trust/numbers/posterior.h"
#include "trust/tune.h"

static const struct fr_nlfit_limits limits = {
    .tolerance = 1e-6, .iterations_max = 100, .accept_last = true};

/* Error that counts as one; number of kinds of runs that it counts as before any is seen. */
static const double usual_scale = 0.05, usual_kinds = 3, knee = 2, step = 0.01;

/* ---- the terms --------------------------------------------------------------------------------- */

static struct fr_level_power *node_power(struct fr_cluster *c) {
    return &c->levels.level[fr_levels_node(&c->levels)].power;
}

static const struct fr_level_power *power_of_node(const struct fr_cluster *c) {
    return &c->levels.level[fr_levels_node(&c->levels)].power;
}

static double busy(const struct fr_cluster *c) { return c->device.power.busy_W; }
static double communicating(const struct fr_cluster *c) {
    return c->device.power.communicating_W;
}
static double hosts(const struct fr_cluster *c) { return power_of_node(c)->busy_W; }
static double supplies(const struct fr_cluster *c) {
    return power_of_node(c)->known ? 1 / power_of_node(c)->efficiency - 1 : 0;
}
static double switches(const struct fr_cluster *c) {
    double most_W = 0;
    for (int l = 0; l < c->levels.count; l++)
        most_W = fmax(most_W, c->levels.level[l].power.switches_W);
    return most_W;
}
static double building(const struct fr_cluster *c) { return c->pue - 1; }

static void scale_busy(struct fr_cluster *c, double factor) {
    c->device.power.busy_W = fmax(c->device.power.idle_W, c->device.power.busy_W * factor);
}
static void scale_communicating(struct fr_cluster *c, double factor) {
    c->device.power.communicating_W =
        fmax(c->device.power.idle_W, c->device.power.communicating_W * factor);
}
static void scale_hosts(struct fr_cluster *c, double factor) {
    node_power(c)->idle_W *= factor;
    node_power(c)->busy_W *= factor;
}
static void scale_supplies(struct fr_cluster *c, double factor) {
    node_power(c)->efficiency = 1 / (1 + factor * supplies(c));
}
static void scale_switches(struct fr_cluster *c, double factor) {
    for (int l = 0; l < c->levels.count; l++) c->levels.level[l].power.switches_W *= factor;
}
static void scale_building(struct fr_cluster *c, double factor) {
    c->pue = 1 + factor * (c->pue - 1);
}

const struct fr_power_term fr_power_terms[FR_POWER_TERMS] = {
    {"busy", "a device that computes", 0.25, false, busy, scale_busy},
    {"communicating", "that communicates or waits", 0.4, false, communicating,
     scale_communicating},
    {"hosts", "a node beside its devices", 0.3, false, hosts, scale_hosts},
    {"supplies", "lost in supplies, of what they give", 0.5, true, supplies, scale_supplies},
    {"switches", "of a node's share of the network", 0.7, false, switches, scale_switches},
    {"building", "of all that, around it", 0.5, true, building, scale_building}};

int fr_power_term_find(const char *name) {
    for (int j = 0; j < FR_POWER_TERMS; j++)
        if (strcmp(fr_power_terms[j].name, name) == 0) return j;
    return -1;
}

/* ---- a run ------------------------------------------------------------------------------------- */

/* Use of a run's ranks, from which its power follows. */
struct work {
    double ranks, time_s, busy_s; /* busy_s of all ranks together */
    double busy_at_clock_s;       /* each second as much of the busy power as its clock draws */
    double measured_W, weight;
    fr_run_meter meter;
    int kind;
};

struct problem {
    struct fr_cluster prior, at, bare; /* bare: `at` without supplies, switches and building */
    const struct work *work;           /* [n] */
    int n, n_fitted, without;          /* without: a kind that takes no part; -1: all do */
    int index[FR_POWER_TERMS];
    double *log_error; /* [n] */
};

/* Clocks that caps lead to do not move with the power that is fitted. */
static fr_status freeze_caps(const struct fr_job *job, struct fr_plan *plan, int64_t **clocks,
                             struct fr_error *err) {
    if (!plan->cap_W) return FR_OK;
    size_t n = (size_t)plan->pp;
    double *at = fr_calloc(n, sizeof *at);
    *clocks = fr_calloc(n, sizeof **clocks);
    fr_status status = at && *clocks ? fr_clocks_of(job, plan, at, err)
                                     : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (size_t i = 0; status == FR_OK && i < n; i++)
        (*clocks)[i] = llround(at[i] > 0 ? at[i] : job->cluster.device.clock.max_Hz);
    free(at);
    plan->cap_W = NULL;
    plan->n_cap_W = 0;
    plan->clock_Hz = *clocks;
    plan->n_clock_Hz = (int)n;
    return status;
}

/* Energy of the devices is linear in their powers: with 1 W of one and none of the other it is the
 * seconds. @return false where the plan cannot be */
static bool seconds_of(struct fr_job *job, const struct fr_plan *plan, struct work *w) {
    struct fr_outcome out;
    struct fr_power *power = &job->cluster.device.power;
    power->busy_W = 1, power->idle_W = power->communicating_W = 0;
    fr_cost(job, plan, &out);
    w->ranks = (double)out.ranks;
    w->time_s = out.time_s;
    w->busy_at_clock_s = out.energy_part_J[FR_ENERGY_DEVICE];
    power->busy_W = 0, power->communicating_W = 1;
    fr_cost(job, plan, &out);
    w->busy_s = w->ranks * w->time_s - out.energy_part_J[FR_ENERGY_DEVICE];
    return isfinite(w->time_s) && isfinite(w->busy_s);
}

static fr_status work_of(const struct fr_cluster *cluster, const struct fr_run *run,
                         struct work *w, bool *usable, struct fr_error *err) {
    struct fr_job job = {.cluster = *cluster, .workload = run->workload, .plan = run->plan};
    struct fr_resolved resolved; /* "slack" is chosen by what the cluster file draws */
    int64_t *clocks = NULL;
    if (run->cluster) fr_runtime_carry(run->cluster, &job.cluster);
    fr_status status = fr_resolve(&job, &run->plan, &resolved, err);
    if (status == FR_OK) status = freeze_caps(&job, &resolved.plan, &clocks, err);
    if (status == FR_OK) *usable = seconds_of(&job, &resolved.plan, w);
    w->measured_W = run->measured_J / run->measured_s;
    w->meter = run->meter;
    free(clocks);
    fr_resolved_free(&resolved);
    return status;
}

static double watts(const struct problem *p, const struct work *w) {
    bool bare = w->meter <= FR_METER_NODE;
    const struct fr_cluster *c = bare ? &p->bare : &p->at;
    const struct fr_power *power = &c->device.power;
    struct fr_outcome out = {0};
    double rest_s = w->ranks * w->time_s - w->busy_s, sum_J = 0;
    static const int last[] = {FR_ENERGY_DEVICE, FR_ENERGY_NODE, FR_ENERGY_NODE,
                               FR_ENERGY_NETWORK, FR_ENERGY_FACILITY};
    out.ranks = (int64_t)w->ranks;
    out.time_s = w->time_s;
    fr_outcome_add_energy(c,
                          power->busy_W * w->busy_at_clock_s + power->communicating_W * rest_s,
                          w->busy_s, &out);
    for (int part = 0; part <= last[w->meter]; part++) sum_J += out.energy_part_J[part];
    return sum_J / w->time_s;
}

static void make_bare(struct problem *p) {
    for (int l = 0; l < p->bare.levels.count; l++) p->bare.levels.level[l].power.efficiency = 1;
}

fr_status fr_run_predict_J(const struct fr_cluster *cluster, const struct fr_run *run,
                           double *energy_J, double *power_W, struct fr_error *err) {
    struct work w;
    bool usable = false;
    *energy_J = *power_W = NAN;
    if (run->meter == FR_METER_UNSAID || !cluster->device.power.known) return FR_OK;
    struct problem *p = fr_calloc(1, sizeof *p);
    if (!p) return fr_fail(err, FR_ERR_NOMEM, NULL, "the run does not fit in memory");
    fr_status status = work_of(cluster, run, &w, &usable, err);
    if (status == FR_OK && usable) {
        p->at = p->bare = *cluster;
        make_bare(p);
        *power_W = watts(p, &w);
        *energy_J = *power_W * w.time_s;
    }
    free(p);
    return status;
}

/* ---- the fit ----------------------------------------------------------------------------------- */

static void restore(struct fr_cluster *to, const struct fr_cluster *from) {
    to->device.power = from->device.power;
    to->levels = from->levels;
    to->pue = from->pue;
}

static void predict_all(struct problem *p, const double *factors) {
    restore(&p->at, &p->prior);
    for (int k = 0; k < p->n_fitted; k++) fr_power_terms[p->index[k]].scale(&p->at, factors[k]);
    restore(&p->bare, &p->at);
    make_bare(p);
    for (int i = 0; i < p->n; i++)
        p->log_error[i] = log(watts(p, &p->work[i]) / p->work[i].measured_W);
}

static double huber(double r) {
    double rho = 2 * knee * knee * (sqrt(1 + r * r / (knee * knee)) - 1);
    return copysign(sqrt(rho), r);
}

static double weight_of(const struct problem *p, int i) {
    return p->work[i].kind == p->without ? 0 : p->work[i].weight;
}

static void residuals(void *context, const double *factors, double *out) {
    struct problem *p = context;
    predict_all(p, factors);
    for (int i = 0; i < p->n; i++)
        out[i] = sqrt(weight_of(p, i)) * huber(p->log_error[i] / usual_scale);
    for (int k = 0; k < p->n_fitted; k++)
        out[p->n + k] = log(factors[k]) / fr_power_terms[p->index[k]].sigma;
}

static fr_status fit_factors(struct problem *p, double *factors, struct fr_error *err) {
    for (int k = 0; k < p->n_fitted; k++) factors[k] = 1;
    if (p->n_fitted == 0) return FR_OK;
    return fr_nlfit_within(&limits, residuals, p, (size_t)p->n_fitted,
                           (size_t)(p->n + p->n_fitted), factors, NULL, err);
}

/* Rows that feel each term; those that none feels are not fitted. */
static void choose_terms(struct problem *p, uint32_t fixed, double *base,
                         struct fr_power_fit *fit) {
    int chosen[FR_POWER_TERMS], n = 0;
    p->n_fitted = 0;
    predict_all(p, NULL);
    memcpy(base, p->log_error, (size_t)p->n * sizeof *base);
    for (int j = 0; j < FR_POWER_TERMS; j++) {
        static const double tenth = 1.1;
        struct fr_power_fitted *t = &fit->term[j];
        if (!t->present) continue;
        p->index[0] = j;
        p->n_fitted = 1;
        predict_all(p, &tenth);
        for (int i = 0; i < p->n; i++) t->rows += fabs(p->log_error[i] - base[i]) > 0.0005;
        if (t->rows > 0 && !(fixed >> j & 1)) chosen[n++] = j;
    }
    p->n_fitted = n;
    memcpy(p->index, chosen, (size_t)n * sizeof *chosen);
}

/* Each kind from the others. */
static fr_status hold_out(struct problem *p, struct fr_power_fit *fit, struct fr_error *err) {
    double factors[FR_POWER_TERMS], sum = 0, squares = 0;
    fr_status status = FR_OK;
    fit->held_out_error = NAN;
    if (fit->kinds < 2) return FR_OK;
    for (p->without = 0; p->without < fit->kinds && status == FR_OK; p->without++) {
        status = fit_factors(p, factors, err);
        if (status != FR_OK) break;
        predict_all(p, factors);
        for (int i = 0; i < p->n; i++) {
            if (p->work[i].kind != p->without) continue;
            sum += p->work[i].weight * fabs(expm1(p->log_error[i]));
            squares += p->work[i].weight * p->log_error[i] * p->log_error[i];
        }
    }
    p->without = -1;
    FR_TRY(status);
    fit->held_out_error = sum / fit->kinds;
    fit->uncertainty =
        expm1(gsl_cdf_tdist_Pinv(0.95, fit->kinds - 1) * sqrt(squares / fit->kinds));
    return FR_OK;
}

static void spread_of(const struct problem *p, struct fr_power_fit *fit) {
    double squares = usual_kinds * usual_scale * usual_scale;
    for (int i = 0; i < p->n; i++) {
        squares += p->work[i].weight * p->log_error[i] * p->log_error[i];
        fit->mean_error += fabs(expm1(p->log_error[i])) / p->n;
    }
    fit->spread = sqrt(squares / (usual_kinds + fit->kinds));
}

static fr_status posterior(struct problem *p, const double *factors, struct fr_power_fit *fit,
                           double *base, struct fr_error *err) {
    size_t n = (size_t)p->n, terms = (size_t)p->n_fitted;
    double covariance[FR_POWER_TERMS * FR_POWER_TERMS], sigma[FR_POWER_TERMS],
        moved[FR_POWER_TERMS];
    double *jacobian = fr_malloc(n * (terms + 1), sizeof *jacobian), *weight;
    if (!jacobian) return fr_fail(err, FR_ERR_NOMEM, NULL, "the fit does not fit in memory");
    weight = jacobian + n * terms;
    predict_all(p, factors);
    memcpy(base, p->log_error, n * sizeof *base);
    spread_of(p, fit);
    for (size_t i = 0; i < n; i++) weight[i] = p->work[i].weight;
    for (size_t k = 0; k < terms; k++) {
        memcpy(moved, factors, terms * sizeof *moved);
        moved[k] *= exp(step);
        predict_all(p, moved);
        sigma[k] = fr_power_terms[p->index[k]].sigma;
        for (size_t i = 0; i < n; i++) jacobian[k * n + i] = (p->log_error[i] - base[i]) / step;
    }
    predict_all(p, factors);
    const struct fr_posterior about = {jacobian, weight, sigma, n, terms, fit->spread};
    fr_status status = fr_posterior_covariance(&about, covariance, terms, err);
    for (size_t k = 0; k < terms && status == FR_OK; k++) {
        struct fr_power_fitted *t = &fit->term[p->index[k]];
        double variance = covariance[k * terms + k];
        t->fitted = true;
        t->value = fr_power_terms[p->index[k]].value(&p->at);
        t->sigma = sqrt(variance);
        t->learned = 1 - variance / (sigma[k] * sigma[k]);
    }
    free(jacobian);
    return status;
}

/* One kind alone does not show the error of another: take that of data sheets' files. */
static const double alone = 0.3;

static fr_status fit_work(struct problem *p, uint32_t fixed, struct fr_power_fit *fit,
                          struct fr_error *err) {
    double factors[FR_POWER_TERMS], *base = fr_calloc((size_t)p->n, 2 * sizeof *base);
    if (!base) return fr_fail(err, FR_ERR_NOMEM, NULL, "the fit does not fit in memory");
    p->log_error = base + p->n;
    p->without = -1;
    fit->uncertainty = alone;
    choose_terms(p, fixed, base, fit);
    fr_status status = hold_out(p, fit, err);
    if (status == FR_OK) status = fit_factors(p, factors, err);
    if (status == FR_OK) status = posterior(p, factors, fit, base, err);
    free(base);
    return status;
}

/* ---- the runs ---------------------------------------------------------------------------------- */

/* Rows of one kind share a weight of one, as their own say. */
static void weigh(struct work *work, const struct fr_run *const *of, struct fr_power_fit *fit) {
    for (int i = 0; i < fit->rows; i++) {
        int first = 0;
        double all = 0;
        while (work[first].meter != work[i].meter || !fr_run_one_kind(of[first], of[i]))
            first++;
        work[i].kind = first < i ? work[first].kind : fit->kinds++;
        for (int k = 0; k < fit->rows; k++)
            if (work[k].meter == work[i].meter && fr_run_one_kind(of[k], of[i]))
                all += of[k]->weight;
        work[i].weight = of[i]->weight / all;
    }
}

static fr_status gather(const struct fr_cluster *cluster, const struct fr_run *const *runs,
                        int n, struct work *work, const struct fr_run **of,
                        struct fr_power_fit *fit, struct fr_error *err) {
    for (int i = 0; i < n; i++) {
        bool usable = false;
        if (!(runs[i]->measured_J > 0) || !(runs[i]->weight > 0)) continue;
        if (runs[i]->meter == FR_METER_UNSAID) {
            fit->unsaid++;
            continue;
        }
        FR_TRY(work_of(cluster, runs[i], &work[fit->rows], &usable, err));
        if (!usable) continue;
        fit->metered[runs[i]->meter]++;
        of[fit->rows++] = runs[i];
    }
    weigh(work, of, fit);
    return FR_OK;
}

static void describe_prior(const struct fr_cluster *cluster, struct fr_power_fit *fit) {
    for (int j = 0; j < FR_POWER_TERMS; j++) {
        struct fr_power_fitted *t = &fit->term[j];
        double value = fr_power_terms[j].value(cluster);
        t->present = cluster->device.power.known && value > 0;
        t->prior = t->value = value;
        t->sigma_prior = t->sigma = fr_power_terms[j].sigma;
    }
}

fr_status fr_power_fit_runs(struct fr_cluster *cluster, const struct fr_run *const *runs, int n,
                            uint32_t fixed, struct fr_power_fit *fit, struct fr_error *err) {
    struct problem *p = fr_calloc(1, sizeof *p);
    struct work *work = fr_calloc((size_t)n + 1, sizeof *work);
    const struct fr_run **of = fr_calloc((size_t)n + 1, sizeof *of);
    fr_status status = p && work && of
                           ? FR_OK
                           : fr_fail(err, FR_ERR_NOMEM, NULL, "the fit does not fit in memory");
    *fit = (struct fr_power_fit){.held_out_error = NAN};
    describe_prior(cluster, fit);
    fit->known = cluster->device.power.known;
    for (int i = 0; i < n; i++) fit->joules += runs[i]->measured_J > 0;
    if (status == FR_OK && cluster->device.power.known)
        status = gather(cluster, runs, n, work, of, fit, err);
    if (status == FR_OK && fit->rows > 0) {
        p->prior = p->at = p->bare = *cluster;
        p->work = work;
        p->n = fit->rows;
        status = fit_work(p, fixed, fit, err);
        if (status == FR_OK) {
            restore(cluster, &p->at);
            cluster->device.power.uncertainty = fit->uncertainty;
        }
    }
    free(p);
    free(work);
    free(of);
    return status;
}
