/* Price a plan's stages: products, traffic, and collectives of one rank a stage. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/plan/key.h"
#include "models/plan/schedule_order.h"
#include "models/price/clock.h"
#include "models/price/codec_price.h"
#include "models/price/crossing.h"
#include "models/price/layers.h"
#include "models/price/lines.h"
#include "models/price/memo.h"
#include "models/price/offload.h"
#include "models/price/stage_price.h"
#include "models/price/stage_work.h"
#include "models/work/recompute.h"
#include "models/work/transformer.h"

enum { SLOTS_MAX = 1 << 25 };

/* A message of this share of its sender's shortest pass is put in line.  Below, messages held each other up by 1 % of an
 * iteration at most in 3,000 random pipelines over all schedules (tests/sim/test_lines.c); of GPipe, by nothing up to 1. */
#define QUEUES_FROM 0.4

/* Groups of zero_ranks make up all copies of each kind; one that the model has not has as many as the rest, or a
 * multiple of them, and asks for nothing more. */
static fr_reasons check_zero_ranks(const struct fr_plan *plan) {
    fr_reasons no = FR_BECAUSE(FR_REASON_ZERO_RANKS);
    if (plan->zero_ranks == 0) return 0;
    for (int k = 0; k < FR_COPIES; k++) {
        int64_t copies = fr_plan_copies(plan, (fr_copies)k);
        if (copies > 1 && copies % fr_plan_dividing(plan, (fr_copies)k) != 0) return no;
        if (k == FR_COPIES_REST && plan->zero_ranks > copies) return no;
    }
    return 0;
}

/* Every check adds its reason and none stops at the first, since a user who mends one wants to know of the next. */
static fr_reasons check_plan(const struct fr_job *job, const struct fr_plan *plan) {
    fr_reasons reasons = 0;
    const char *needs;
    int64_t ranks = fr_plan_ranks(plan);
    if (ranks > fr_levels_capacity_for(&job->cluster.levels, ranks, plan->placement.row->units))
        reasons |= FR_BECAUSE(FR_REASON_RANKS);
    if (job->workload.stages.listed && job->workload.stages.listed != plan->pp)
        reasons |= FR_BECAUSE(FR_REASON_STAGES);
    if (fr_plan_reduces(plan) && plan->compression.gradient_stages > plan->pp)
        reasons |= FR_BECAUSE(FR_REASON_STAGES);
    if (plan->gradient_ranks && plan->n_gradient_ranks != plan->compression.gradient_stages)
        reasons |= FR_BECAUSE(FR_REASON_STAGES);
    if (fr_plan_idle_key(&job->workload, plan, &needs))
        reasons |= FR_BECAUSE(FR_REASON_IDLE_KEY);
    /* A codec waits for all of a stage's gradients: where every stage has one, nothing is left. */
    bool coded = plan->compression.gradient_stages >= plan->pp;
    for (int64_t i = 0; coded && i < plan->pp; i++) coded = fr_plan_gradient_rank(plan, i) > 0;
    if (plan->overlap && (plan->zero == 3 || coded)) reasons |= FR_BECAUSE(FR_REASON_OVERLAP);
    if (plan->blocking && (plan->overlap || plan->overlap_tp || plan->overlap_experts))
        reasons |= FR_BECAUSE(FR_REASON_OVERLAP);
    if (fr_rank_map_refused(plan)) reasons |= FR_BECAUSE(FR_REASON_PLACEMENT);
    if (fr_codec_refused(job, plan)) reasons |= FR_BECAUSE(FR_REASON_COMPRESSION);
    return reasons | check_zero_ranks(plan) | fr_clock_check(job, plan) |
           fr_offload_check(job, plan);
}

/* B = dp m b: the global batch divides over the replicas, and a replica's share into m micro-batches of b samples. */
static fr_reasons check_batch(const struct fr_job *job, const struct fr_plan *plan) {
    int64_t batch = fr_job_batch(job, plan), micro = fr_job_pipeline_micro_batch(job, plan);
    if (batch % plan->dp != 0) return FR_BECAUSE(FR_REASON_BATCH);
    bool whole = micro > 0 && batch / plan->dp % micro == 0;
    return whole ? 0 : FR_BECAUSE(FR_REASON_MICRO_BATCH);
}

/* An order of passes is a list of P m v slots of up to three kinds. A plan whose list would not fit in memory is
 * refused before anybody makes it. */
static fr_reasons check_schedule(const struct fr_job *job, const struct fr_plan *plan) {
    fr_reasons reasons = 0;
    int64_t m = fr_pipeline_micro_batches(job, plan);
    if ((double)m * (double)plan->pp * (double)plan->chunks * 3 > SLOTS_MAX ||
        plan->pp > 1 << 20)
        return FR_BECAUSE(FR_REASON_SIZE);
    struct fr_schedule_args args = {(int32_t)plan->pp, (int32_t)m, (int32_t)plan->chunks,
                                    plan->order};
    if (plan->schedule->refuses(&args)) reasons |= FR_BECAUSE(FR_REASON_SCHEDULE);
    if ((plan->duplex || plan->blocking) && plan->chunks > 1)
        reasons |= FR_BECAUSE(FR_REASON_SCHEDULE);
    return reasons;
}

static fr_reasons check_model(const struct fr_job *job, const struct fr_plan *plan) {
    const struct fr_workload *w = &job->workload;
    const struct fr_work_part transformer = {.workload = w, .plan = plan};
    bool attends = w->transformer.layers > 0;
    fr_reasons reasons = 0;
    if (plan->recompute && (!attends || fr_recompute_refused(w, plan)))
        reasons |= FR_BECAUSE(FR_REASON_RECOMPUTE);
    if (!attends && !w->n_layers) return reasons;
    if (!job->cluster.device.gemm[w->dtype].form) reasons |= FR_BECAUSE(FR_REASON_DTYPE);
    if (!attends)
        return reasons |
               fr_layers_check(w, plan, fr_job_batch(job, plan), fr_job_is_pipeline(job, plan));
    if (w->transformer.lora_rank > 0 && !plan->method->megatron)
        reasons |= FR_BECAUSE(FR_REASON_METHOD);
    return reasons | plan->method->check(&transformer);
}

/* Methods whose values between products have the width of products' inputs would send four bits. */
static bool too_narrow(const struct fr_job *job, const struct fr_plan *plan) {
    bool by_products = job->workload.transformer.layers > 0 && plan->method->by_products;
    return job->workload.dtype == FR_FP4 && !by_products;
}

/* The model's own checks divide by micro-batches and layers a stage, so they are left out where these have no
 * meaning. */
fr_reasons fr_pipeline_check(const struct fr_job *job, const struct fr_plan *plan) {
    fr_reasons reasons = check_plan(job, plan), passes = check_batch(job, plan);
    bool ordered = fr_job_is_pipeline(job, plan);
    if (too_narrow(job, plan)) reasons |= FR_BECAUSE(FR_REASON_DTYPE);
    if (ordered && !passes) passes = check_schedule(job, plan);
    const fr_reasons uncounted = FR_BECAUSE(FR_REASON_BATCH) |
                                 FR_BECAUSE(FR_REASON_MICRO_BATCH) | FR_BECAUSE(FR_REASON_SIZE);
    reasons |= passes;
    return ordered && passes & uncounted ? reasons : reasons | check_model(job, plan);
}

/* ---- pricing stages ---------------------------------------------------------------------- */

static void add_reduced(const struct fr_stage *stage, struct fr_pipeline *p) {
    p->gradient_B += fr_stage_all_reduced_B(stage) + stage->lossy_B;
    p->lossy_B += stage->lossy_B;
}

/* Launches that block: a pass takes the message that it sends, which is there when the pass is over. */
static void send_in_turn(struct fr_pipeline *p) {
    for (int32_t i = 0; i + 1 < p->args.stages; i++) {
        double sent_s = p->stage[i].message_s;
        p->stage[i].forward.pp_s = sent_s;
        if (!p->forward) p->stage[i + 1].backward.pp_s = sent_s;
    }
    for (int32_t i = 0; i < p->args.stages; i++) {
        p->stage[i].message_s = 0;
        p->stage[i].repeats = false;
    }
}

/* The last of the stages from @p i to @p to whose gradients are compressed as those of stage @p i. */
static int32_t coded_alike(const struct fr_plan *plan, int32_t i, int32_t to) {
    const int64_t rank = fr_plan_gradient_rank(plan, i);
    if (!plan->gradient_ranks)
        return rank > 0 && to >= plan->compression.gradient_stages
                   ? (int32_t)plan->compression.gradient_stages - 1
                   : to;
    int32_t last = i;
    while (last < to && fr_plan_gradient_rank(plan, last + 1) == rank) last++;
    return last;
}

/* Copy @p priced to stage @p k; what is there already but for its messages is left. */
static void put_stage(const struct fr_priced_stage *priced, int32_t k, struct fr_pipeline *p) {
    const bool there = p->copied && priced->number > 0 && p->copied[k] == priced->number;
    if (there)
        memcpy(p->stage[k].sent_B, priced->stage.sent_B, sizeof priced->stage.sent_B);
    else
        p->stage[k] = priced->stage;
    if (p->copied) p->copied[k] = priced->number;
}

/* Durations of all stages in their placement. A stage that repeats the one below is copied and not priced. Then the
 * cost of a plan hardly grows with the depth of the pipeline. */
static void price_stages(const struct fr_job *job, const struct fr_plan *plan,
                         const struct fr_stage_places *placed, struct fr_pipeline *p,
                         uint32_t *extrapolated) {
    const struct fr_rank_map *rank_map = &placed->rank_map;
    int32_t last = p->args.stages - 1;
    int32_t like = 0, alike_to = 0;
    struct fr_priced_stage own;
    if (p->memo) fr_memo_ask(p->memo->stage, plan);
    if (p->memo && plan->compression.gradient_stages > 0) fr_memo_ask(p->memo->coded, plan);
    for (int32_t i = 0, to; i <= last; i = to + 1) {
        const bool alike = i > 0 && i <= alike_to;
        if (!alike || plan->gradient_ranks) like = i;
        const struct fr_priced_stage *priced =
            fr_stage_price(job, plan, rank_map, i, like, p->splits_backward, p->memo, &own);
        alike_to = priced->alike_to;
        to = coded_alike(plan, i, alike_to);
        for (int32_t k = i; k <= to; k++) {
            put_stage(priced, k, p);
            p->stage[k].repeats = k > i;
            p->stage[k].alike = alike || k > i;
            add_reduced(&p->stage[k], p);
        }
        if (i == 0) p->embedding_s = priced->embedding_s;
        *extrapolated |= priced->extrapolated;
        p->message_B = fmax(p->message_B, p->stage[i].message_B);
    }
    p->stage[last].sent_B[FR_SENT_EMBEDDING] = p->stage[0].sent_B[FR_SENT_EMBEDDING];
}

/* The forward passes of each stage, in its order. */
static void keep_forward(struct fr_pipeline *p) {
    int64_t all = p->n_slots, n = 0;
    for (int64_t k = 0; k < all * p->args.stages; k++)
        if (p->slots[k].kind == FR_SLOT_FORWARD) p->slots[n++] = p->slots[k];
    p->n_slots = (int64_t)p->args.micro_batches * p->args.chunks;
    p->splits_backward = false;
}

/* The order of slots is the schedule's whole contribution: durations do not depend on it, and both engines read it. */
void fr_pipeline_order(struct fr_pipeline *p, struct fr_slot *slots) {
    p->slots = slots;
    p->n_slots = fr_schedule_slots(p->schedule, &p->args);
    p->splits_backward = fr_schedule_splits(p->schedule, &p->args);
    for (int32_t i = 0; i < p->args.stages; i++)
        p->schedule->order(&p->args, i, slots + i * p->n_slots);
    if (p->forward) keep_forward(p);
}

/* A slot is a pass of one chunk, so it takes a v-th of the stage's pass. Where the schedule splits it, the backward
 * slot is the input gradient alone: B = whole - W. */
double fr_pipeline_pass_s(const struct fr_pipeline *p, int32_t i, uint8_t slot_kind, int with) {
    const struct fr_stage *stage = &p->stage[i];
    double chunks = p->args.chunks;
    if (slot_kind == FR_SLOT_FORWARD) return fr_pass_s(&stage->forward, with) / chunks;
    if (slot_kind == FR_SLOT_WEIGHT) return fr_pass_s(&stage->weight, with) / chunks;
    double whole_s = fr_pass_s(&stage->backward, with);
    return (p->splits_backward ? whole_s - fr_pass_s(&stage->weight, with) : whole_s) / chunks;
}

/* For plans that share this placement; without a cache, or without memory for these, each computes its pairs. */
static void map_pairs(const struct fr_plan *plan, struct fr_stage_places *placed) {
    placed->above = plan->pp > 1 ? fr_calloc((size_t)plan->pp, sizeof *placed->above) : NULL;
    placed->like = placed->above ? fr_malloc((size_t)plan->pp, sizeof *placed->like) : NULL;
    for (int32_t i = 0; placed->above && i < plan->pp; i++) {
        int32_t k = 0;
        placed->above[i] = fr_rank_map_pair(&placed->rank_map, i, (i + 1) % plan->pp);
        while (k < i && memcmp(&placed->above[k], &placed->above[i], sizeof *placed->above))
            k++;
        if (placed->like) placed->like[i] = k;
    }
}

/* A stage's sends are at least one of its passes apart. */
static double shortest_pass_s(const struct fr_pipeline *p, int32_t i) {
    double forward_s = fr_pipeline_pass_s(p, i, FR_SLOT_FORWARD, FR_WITH_ALL);
    return p->forward
               ? forward_s
               : fmin(forward_s, fr_pipeline_pass_s(p, i, FR_SLOT_BACKWARD, FR_WITH_ALL));
}

bool fr_pipeline_queues(const struct fr_pipeline *p) {
    int32_t stages = p->args.stages;
    if (stages == 1 || p->duplex) return false;
    bool ring = p->args.chunks > 1 && !p->schedule->folds;
    /* Two messages meet at once, or as many as there are lines. */
    double from = (p->schedule->phases ? 1 : QUEUES_FROM) / (p->regular ? 1 : stages / 2.0);
    double first_s = shortest_pass_s(p, 0), pass_s = first_s;
    for (int32_t i = 0; i < stages - !ring; i++) {
        double message_s = p->stage[i].message_s / from;
        int32_t above = (i + 1) % stages;
        if (message_s > pass_s) return true;
        if (above == 0)
            pass_s = first_s;
        else if (!p->stage[above].repeats)
            pass_s = shortest_pass_s(p, above);
        if (!p->forward && message_s > pass_s) return true;
    }
    return false;
}

static fr_status no_lines(struct fr_error *err) {
    return fr_fail(err, FR_ERR_NOMEM, NULL, "the pipeline does not fit in memory");
}

/* Who sits where, in @p placed: as plans of @p memo share it, else in what it points to. */
static fr_status place(const struct fr_job *job, const struct fr_plan *plan,
                       const struct fr_price_memo *memo, struct fr_stage_places **placed,
                       struct fr_error *err) {
    bool fresh = true;
    if (memo)
        *placed = fr_memo_find(memo->placed, plan, plan->schedule->folds, &fresh);
    else
        memset(*placed, 0, sizeof **placed);
    if (!fresh) return FR_OK;
    fr_status status = fr_rank_map_make(job, plan, &(*placed)->rank_map, err);
    if (status == FR_OK && memo) map_pairs(plan, *placed);
    if (status == FR_OK) return FR_OK;
    fr_rank_map_free(&(*placed)->rank_map);
    if (memo) fr_memo_forget(memo->placed, *placed);
    return status;
}

fr_status fr_pipeline_find_lines(const struct fr_job *job, const struct fr_plan *plan,
                                 struct fr_pipeline *p, struct fr_error *err) {
    struct fr_stage_places *placed;
    p->lines = NULL;
    FR_TRY(place(job, plan, p->memo, &placed, err));
    if (!placed->lines) placed->lines = fr_pair_lines_make(&placed->rank_map, p->args.stages);
    p->lines = placed->lines;
    return p->lines ? FR_OK : no_lines(err);
}

fr_status fr_pipeline_price(const struct fr_job *job, const struct fr_plan *plan,
                            struct fr_pipeline *p, uint32_t *extrapolated,
                            struct fr_error *err) {
    struct fr_stage_places alone, *placed = &alone; /* some kB: cleared where it is used */
    FR_TRY(place(job, plan, p->memo, &placed, err));
    price_stages(job, plan, placed, p, extrapolated);
    fr_status status = FR_OK;
    if (plan->pp > 1) status = fr_crossings_add(job, plan, placed, p, extrapolated, err);
    if (status == FR_OK && plan->blocking && plan->pp > 1) send_in_turn(p);
    p->regular = placed->rank_map.regular;
    for (int32_t i = 0; status == FR_OK && fr_plan_clocks(plan) && i < p->args.stages; i++)
        fr_clock_set(&job->cluster.device, fr_clock_of(&job->cluster.device, plan, i),
                     &p->stage[i]);
    if (status == FR_OK && !p->memo && fr_pipeline_queues(p)) {
        p->lines = p->own_lines = fr_pair_lines_make(&placed->rank_map, p->args.stages);
        if (!p->lines) status = no_lines(err);
    }
    if (!p->memo) fr_rank_map_free(&placed->rank_map);
    return status;
}

fr_status fr_pipeline_make(const struct fr_job *job, const struct fr_plan *plan,
                           struct fr_pipeline *p, uint32_t *extrapolated,
                           struct fr_error *err) {
    *p = (struct fr_pipeline){.schedule = plan->schedule,
                              .args = {(int32_t)plan->pp,
                                       (int32_t)fr_pipeline_micro_batches(job, plan),
                                       (int32_t)plan->chunks, plan->order},
                              .duplex = plan->duplex,
                              .forward = plan->forward,
                              .stage = fr_calloc((size_t)plan->pp, sizeof *p->stage)};
    size_t slots = (size_t)(plan->pp * fr_schedule_slots(plan->schedule, &p->args));
    p->slots = fr_malloc(slots, sizeof *p->slots);
    if (!p->stage || !p->slots)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the pipeline does not fit in memory");
    fr_pipeline_order(p, p->slots);
    FR_TRY(fr_pipeline_find_epilogue(p, plan->compression.scope, err));
    FR_TRY(fr_pipeline_price(job, plan, p, extrapolated, err));
    return plan->pass_clock ? fr_clock_set_ops(&job->cluster.device, plan->pass_clock, p, err)
                            : FR_OK;
}

/* The difference between the passes of a stage that repeats work and of one that does not. */
fr_status fr_pipeline_price_again(const struct fr_job *job, const struct fr_plan *plan,
                                  struct fr_pipeline *p, struct fr_error *err) {
    struct fr_plan once = *plan;
    struct fr_pipeline plain;
    uint32_t extrapolated = 0;
    once.recompute = FR_RECOMPUTE_NONE;
    if (plan->recompute == FR_RECOMPUTE_NONE) return FR_OK;
    fr_status status = fr_pipeline_make(job, &once, &plain, &extrapolated, err);
    for (int32_t i = 0; i < p->args.stages && status == FR_OK; i++)
        p->stage[i].again_s = fmax(0, fr_pass_s(&p->stage[i].backward, FR_WITH_ALL) -
                                          fr_pass_s(&plain.stage[i].backward, FR_WITH_ALL));
    fr_pipeline_free(&plain);
    return status;
}

void fr_pipeline_free(struct fr_pipeline *p) {
    free(p->stage);
    free(p->slots);
    free(p->cool_down);
    free(p->longer_s);
    fr_pair_lines_free(p->own_lines);
    *p = (struct fr_pipeline){0};
}
