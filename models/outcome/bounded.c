#include "models/outcome/bounded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "models/outcome/cost.h"
#include "models/outcome/iteration.h"
#include "models/outcome/lower_bound.h"
#include "models/outcome/recurrence.h"
#include "models/price/memo.h"

/* Passes whose activations each stage of an order holds. */
struct in_flight {
    const struct fr_schedule *schedule;
    struct fr_schedule_args args;
    struct fr_pipeline_in_flight *held; /* [P] */
};

enum { ORDERS = 512, RUNS = 2048 };

struct fr_pricer {
    const struct fr_job *job;
    struct fr_price_memo memo;
    struct fr_recurrence_cache *cache, *shared;
    struct in_flight in_flight[ORDERS];
    struct fr_stage *stage; /* capacity for n_stages */
    uint64_t *copied;       /* likewise */
    size_t n_stages;
    struct fr_slot *slots;
    size_t n_slots;
};

struct fr_pricer *fr_pricer_make(const struct fr_job *job) {
    struct fr_pricer *pricer = fr_calloc(1, sizeof *pricer);
    if (!pricer) return NULL;
    pricer->job = job;
    pricer->cache = fr_recurrence_cache_make(RUNS);
    pricer->shared = fr_recurrence_cache_make(RUNS);
    if (pricer->cache && pricer->shared && fr_price_memo_make(&pricer->memo, NULL) == FR_OK)
        return pricer;
    fr_pricer_free(pricer);
    return NULL;
}

/* Orders and runs of the recurrence are kept by all that they were computed from. */
void fr_pricer_take(struct fr_pricer *pricer, const struct fr_job *job) {
    pricer->job = job;
    fr_price_memo_clear(&pricer->memo);
}

void fr_pricer_free(struct fr_pricer *pricer) {
    if (!pricer) return;
    fr_price_memo_free(&pricer->memo);
    fr_recurrence_cache_free(pricer->cache);
    fr_recurrence_cache_free(pricer->shared);
    for (int i = 0; i < ORDERS; i++) free(pricer->in_flight[i].held);
    free(pricer->stage);
    free(pricer->copied);
    free(pricer->slots);
    free(pricer);
}

/* ---- scratch memory ---------------------------------------------------------------------------------------- */

static bool make_stages(struct fr_pricer *x, size_t n) {
    if (n <= x->n_stages) return true;
    free(x->stage);
    free(x->copied);
    x->stage = fr_malloc(n, sizeof *x->stage);
    x->copied = fr_calloc(n, sizeof *x->copied);
    x->n_stages = x->stage && x->copied ? n : 0;
    return x->n_stages > 0;
}

static bool make_slots(struct fr_pricer *x, size_t n) {
    if (n <= x->n_slots) return true;
    free(x->slots);
    x->slots = fr_malloc(n, sizeof *x->slots);
    x->n_slots = x->slots ? n : 0;
    return x->slots;
}

/* ---- what a stage holds -------------------------------------------------------------------------- */

static bool same_args(const struct fr_schedule_args *a, const struct fr_schedule_args *b) {
    return a->stages == b->stages && a->micro_batches == b->micro_batches &&
           a->chunks == b->chunks && a->order == b->order;
}

static struct in_flight *place_of(struct fr_pricer *x, const struct fr_pipeline *p) {
    const struct fr_schedule_args *a = &p->args;
    const uint64_t key[] = {(uint64_t)a->stages, (uint64_t)a->micro_batches,
                            (uint64_t)a->chunks};
    return &x->in_flight[fr_digest_place((uint64_t)(uintptr_t)p->schedule, key, 3) % ORDERS];
}

static struct fr_pipeline_in_flight held_of(struct fr_pricer *x, const struct fr_pipeline *p,
                                            int32_t i) {
    if (p->schedule->held)
        return (struct fr_pipeline_in_flight){
            (double)p->schedule->held(&p->args, i) / p->args.chunks, 0};
    p->schedule->order(&p->args, i, x->slots);
    return fr_pipeline_slots_hold(p, x->slots);
}

/* A stage's slots at a time: the order of all is written only where it is followed. */
static bool find_in_flight(struct fr_pricer *x, struct fr_pipeline *p) {
    struct in_flight *in_flight = place_of(x, p);
    p->in_flight = in_flight->held;
    if (in_flight->held && in_flight->schedule == p->schedule &&
        same_args(&in_flight->args, &p->args))
        return true;
    free(in_flight->held);
    *in_flight = (struct in_flight){p->schedule, p->args,
                                    fr_malloc((size_t)p->args.stages, sizeof *in_flight->held)};
    p->in_flight = in_flight->held;
    if (!in_flight->held || !make_slots(x, (size_t)p->n_slots)) return false;
    for (int32_t i = 0; i < p->args.stages; i++) in_flight->held[i] = held_of(x, p, i);
    return true;
}

/* ---- the price ----------------------------------------------------------------------------------- */

/* By more than sums may round. */
static void make_smaller(struct fr_outcome *out) {
    out->time_s *= FR_LOWER_BOUND_SURE;
    out->total_time_s *= FR_LOWER_BOUND_SURE;
    out->energy_J *= FR_LOWER_BOUND_SURE;
    out->total_energy_J *= FR_LOWER_BOUND_SURE;
}

/* As long as it takes at least, and the energy of that. */
static void fill_lower_bound(const struct fr_pricer *x, const struct fr_pipeline *p,
                             struct fr_outcome *out) {
    out->time_s = fr_pipeline_lower_bound_s(p) + x->job->cluster.device.fixed_s;
    fr_pipeline_fill_energy(x->job, p, p->args.micro_batches, out);
    make_smaller(out);
}

static fr_status write_order(struct fr_pricer *x, struct fr_pipeline *p) {
    if (!make_slots(x, (size_t)(p->n_slots * p->args.stages))) return FR_ERR_NOMEM;
    fr_pipeline_order(p, x->slots);
    return FR_OK;
}

/* @p bound: a lower bound will do, and is_bound says whether it is one. */
static fr_status run(struct fr_pricer *x, struct fr_pipeline *p, bool bound, bool *is_bound,
                     struct fr_outcome *out) {
    struct fr_pipeline_times times = {.cache = x->cache, .shared = x->shared, .bound = bound};
    if (!fr_pipeline_ran(p, FR_WITH_ALL, &times)) {
        if (fr_pipeline_needs_order(p, bound) && !p->slots) FR_TRY(write_order(x, p));
        FR_TRY(fr_pipeline_run(p, FR_WITH_ALL, &times, NULL));
    }
    *is_bound = times.is_bound;
    out->time_s = times.makespan_s + x->job->cluster.device.fixed_s;
    fr_pipeline_fill_energy(x->job, p, p->args.micro_batches, out);
    return FR_OK;
}

/* Messages that share links never make it faster: as if they shared none they bound it. */
static fr_status fill_exactly(struct fr_pricer *x, const struct fr_plan *plan,
                              struct fr_pipeline *p, fr_wanted_fn *wanted, const void *context,
                              struct fr_outcome *out, bool *priced) {
    bool is_bound;
    if (fr_pipeline_queues(p)) {
        FR_TRY(fr_pipeline_find_lines(x->job, plan, p, NULL));
        fr_pipeline_fill_messages(p, out);
    }
    FR_TRY(run(x, p, true, &is_bound, out));
    if (!is_bound) return FR_OK;
    make_smaller(out);
    *priced = wanted(context, out);
    return *priced ? run(x, p, false, &is_bound, out) : FR_OK;
}

/* Which messages are the epilogue's is asked of the order where a stage has several chunks. */
static fr_status price_stages(struct fr_pricer *x, const struct fr_plan *plan,
                              struct fr_pipeline *p, uint32_t *extrapolated) {
    if (!make_stages(x, (size_t)plan->pp) || !find_in_flight(x, p)) return FR_ERR_NOMEM;
    p->stage = x->stage;
    p->copied = x->copied;
    if (fr_plan_clocks(plan) || plan->blocking) { /* change more of a stage than messages do */
        memset(x->copied, 0, x->n_stages * sizeof *x->copied);
        p->copied = NULL;
    }
    if (plan->compression.scope == FR_SCOPE_EPILOGUE && plan->chunks > 1) {
        FR_TRY(write_order(x, p));
        FR_TRY(fr_pipeline_find_epilogue(p, plan->compression.scope, NULL));
    }
    return fr_pipeline_price(x->job, plan, p, extrapolated, NULL);
}

static struct fr_pipeline pipeline_of(const struct fr_pricer *x, const struct fr_plan *plan) {
    struct fr_pipeline p = {.schedule = plan->schedule,
                            .args = {(int32_t)plan->pp,
                                     (int32_t)fr_pipeline_micro_batches(x->job, plan),
                                     (int32_t)plan->chunks, plan->order},
                            .forward = plan->forward,
                            .memo = &x->memo};
    p.n_slots = fr_schedule_slots(p.schedule, &p.args);
    p.splits_backward = fr_schedule_splits(p.schedule, &p.args);
    return p;
}

static fr_status price(struct fr_pricer *x, const struct fr_plan *plan, fr_wanted_fn *wanted,
                       const void *context, struct fr_outcome *out, bool *priced) {
    struct fr_pipeline p = pipeline_of(x, plan);
    fr_status status = price_stages(x, plan, &p, &out->extrapolated);
    if (status == FR_OK) {
        fr_pipeline_fill_limits(x->job, &p, out);
        fill_lower_bound(x, &p, out);
        *priced = wanted(context, out);
        if (*priced) fr_pipeline_fill_still(&p, out);
        if (*priced) status = fill_exactly(x, plan, &p, wanted, context, out, priced);
    }
    free(p.cool_down);
    return status;
}

/* A priced pipeline, and where its runs are kept. */
struct timed {
    const struct fr_pricer *pricer;
    const struct fr_pipeline *pipeline;
};

static fr_status recurrence(const void *context, int with, struct fr_pipeline_times *times,
                            struct fr_error *err) {
    const struct timed *t = context;
    times->cache = t->pricer->cache;
    times->shared = t->pricer->shared;
    return fr_pipeline_run(t->pipeline, with, times, err);
}

/* With its parts: the recurrence runs once more without each. */
static fr_status price_parts(struct fr_pricer *x, const struct fr_plan *plan,
                             struct fr_outcome *out) {
    struct fr_pipeline p = pipeline_of(x, plan);
    const struct timed timed = {x, &p};
    fr_status status = price_stages(x, plan, &p, &out->extrapolated);
    if (status == FR_OK && fr_pipeline_queues(&p))
        status = fr_pipeline_find_lines(x->job, plan, &p, NULL);
    if (status == FR_OK && fr_pipeline_needs_order(&p, false) && !p.slots)
        status = write_order(x, &p);
    if (status == FR_OK)
        status = fr_pipeline_outcome(x->job, &p, recurrence, &timed, out, NULL);
    free(p.cool_down);
    return status;
}

/* Does the price depend on more than the plan itself (a warm-up depends on the plan without compression), or has it
 * no order of passes? */
static bool stands_alone(const struct fr_job *job, const struct fr_plan *plan) {
    return job->cluster.device.interruptions.every_s > 0 || plan->placement.row->searches ||
           !fr_job_is_pipeline(job, plan) || plan->compression.warm_up > 0 || plan->clock_slack;
}

/* The plan in full, and the reasons against it. */
static void begin(const struct fr_pricer *x, const struct fr_plan *plan, struct fr_plan *full,
                  struct fr_outcome *out) {
    *full = *plan;
    fr_job_fill(x->job, full);
    fr_pipeline_refuse(full, fr_pipeline_check(x->job, full), out);
    if (full->duplex) out->reasons |= FR_BECAUSE(FR_REASON_NO_CLOSED_FORM);
}

bool fr_cost_bounded(struct fr_pricer *x, const struct fr_plan *plan, fr_wanted_fn *wanted,
                     const void *context, struct fr_outcome *out) {
    struct fr_plan full;
    bool priced = true;
    if (stands_alone(x->job, plan)) {
        fr_cost(x->job, plan, out);
        wanted(context, out);
        return true;
    }
    begin(x, plan, &full, out);
    if (!out->reasons && price(x, &full, wanted, context, out, &priced) != FR_OK)
        out->reasons |= FR_BECAUSE(FR_REASON_SIZE);
    return priced;
}

void fr_cost_cached(struct fr_pricer *x, const struct fr_plan *plan, struct fr_outcome *out) {
    struct fr_plan full;
    if (stands_alone(x->job, plan) || fr_plan_clocks(plan)) {
        fr_cost(x->job, plan, out);
        return;
    }
    begin(x, plan, &full, out);
    if (!out->reasons && price_parts(x, &full, out) != FR_OK)
        out->reasons |= FR_BECAUSE(FR_REASON_SIZE);
}
