/* Price what one rank of a stage does: products, traffic and collectives, in passes and once an iteration. */
#include "models/price/stage_price.h"

#include <math.h>
#include <string.h>

#include "models/price/codec_price.h"
#include "models/price/footprint.h"
#include "models/price/layers.h"
#include "models/price/memo.h"
#include "models/price/offload.h"
#include "models/price/operation.h"
#include "models/price/stage_work.h"
#include "models/price/zero.h"
#include "models/work/transformer.h"

static double stage_value(const double *values, int listed, int32_t i) {
    return values[listed ? i : 0];
}

/* A model of measured stage times. Where only one backward time is known, half of it is the weight gradient: both
 * halves of a backward pass are products of as many flop. */
static void price_measured(const struct fr_stages *s, int32_t i, bool forward,
                           struct fr_stage *stage) {
    stage->forward.compute_s = stage_value(s->forward_s, s->listed, i);
    stage->parameters = stage->parameters_rank =
        NAN; /* times say nothing of what is in memory */
    if (forward) return;
    stage->backward.compute_s = stage_value(s->backward_s, s->listed, i);
    stage->weight.compute_s =
        s->weight_s ? stage_value(s->weight_s, s->listed, i) : stage->backward.compute_s / 2;
    stage->gradient_B = s->gradient_B ? stage_value(s->gradient_B, s->listed, i) : 0;
}

/* Ledger of the collectives that a stage's ranks run once an iteration. */
static struct fr_ledger ledger_of(const struct fr_job *job, struct fr_stage *stage,
                                  uint32_t *extrapolated) {
    return (struct fr_ledger){&job->cluster, stage->sent_B, 1, extrapolated};
}

/* In a transformer's stage the compressed part leaves gradient_B, expert_B and common_B, and travels in a collective
 * of its own for each of them. */
static void code_stage(const struct fr_job *job, const struct fr_plan *plan,
                       const struct fr_pricing *price, const struct fr_rank_work *work,
                       struct fr_stage *stage) {
    struct fr_coded coded = {0};
    const struct fr_ledger ledger = ledger_of(job, stage, price->extrapolated);
    fr_codec_code(job, plan, price, work, work->n_layer_ops, &coded);
    for (int axis = 0; axis < FR_AXES; axis++) {
        double coded_B = coded.coded_B[axis];
        stage->lossy_B += coded.whole_B[axis];
        stage->coded_B += coded_B;
        stage->coded_s += fr_ledger_comm_s(&ledger, FR_SENT_DP, plan->compression.codec->op,
                                           price->group[axis], coded_B, coded_B > 0);
    }
    stage->gradient_B -= coded.whole_B[FR_AXIS_DP];
    stage->expert_B -= coded.whole_B[FR_AXIS_EXPERT];
    stage->common_B -= coded.whole_B[FR_AXIS_COMMON];
    for (int g = 0; g < FR_GRIDS; g++)
        stage->grid_B[g] -= coded.whole_B[FR_AXIS_ATTENTION_COPIES + g];
    stage->gradient_codec_s = coded.time_s;
    stage->codec_B = coded.stored_B;
    stage->saved_B = coded.saved_B;
}

/* Share of the passes in which a stage's ranks wait for those that do common layers.  Waiting draws less power than
 * computing, so the energy of a pass needs it; its time does not. */
static double idle_share(const struct fr_rank_work *work, const struct fr_stage *stage) {
    return work->idle_ranks * stage->common_s /
           (fr_pass_s(&stage->forward, FR_WITH_LAUNCH) +
            fr_pass_s(&stage->backward, FR_WITH_LAUNCH));
}

/* Gradients of so many parameters into buckets and back. */
static double copied_s(const struct fr_job *job, const struct fr_plan *plan, double trained) {
    double moved_B = trained * job->cluster.device.framework.reduce_traffic_B;
    if (moved_B <= 0 || !fr_plan_reduces(plan)) return 0;
    return fr_cluster_traffic_s(&job->cluster, job->workload.dtype, FR_TRAFFIC_STREAM, moved_B,
                                moved_B);
}

/* A transformer's stage: take its work and its passes from the cache, then what happens once an iteration.
 *
 *     gradients of a rank = own (over dp) + experts (over their copies) + common (over tp too) + grids
 *
 * Each kind has another group of ranks that hold a copy, so each is all-reduced by a collective of its own. Frozen
 * parameters have no gradient. */
static void price_transformer(const struct fr_job *job, const struct fr_plan *plan,
                              const struct fr_rank_map *rank_map, int32_t i, bool splits,
                              const struct fr_price_memo *memo,
                              struct fr_priced_stage *priced) {
    struct fr_stage *stage = &priced->stage;
    uint32_t *extrapolated = &priced->extrapolated;
    struct fr_stage_work alone;
    const struct fr_stage_work *stage_work =
        fr_stage_work_find(job, plan, rank_map, i, memo, &alone);
    const struct fr_rank_work *work = &stage_work->work;
    *stage = stage_work->stage;
    if (splits) stage->backward = fr_pass_sum(&stage_work->input, &stage->weight);
    if (work->idle_ranks > 0) stage->idle_share = idle_share(work, stage);
    stage->sent_B[FR_SENT_EMBEDDING] = 0;
    *extrapolated |= stage_work->extrapolated;
    stage->parameters = work->parameters;
    stage->parameters_rank = work->parameters_rank;
    stage->frozen = work->frozen;
    stage->frozen_rank = work->frozen_rank;
    stage->expert_rank = work->expert_rank;
    stage->common_rank = work->common_rank;
    memcpy(stage->grid_rank, work->grid_rank, sizeof stage->grid_rank);
    double unfused = job->cluster.device.framework.unfused;
    stage->activation_B = work->activation_B + unfused * work->apart_B;
    stage->cache_B = work->cache_B;
    stage->ends_B = work->ends_B;
    stage->working_B = work->working_B;
    stage->moment = work->moment;
    stage->moment.again_B += unfused * work->apart_again_B;
    if (plan->forward) return; /* no gradients, no optimiser */
    /* Fused, the embedding is all-reduced once over 2 dp ranks, not in each end's gradients. */
    bool fused = plan->compression.fused_embedding && plan->pp > 1;
    double gradient_B = fr_dtype_size_B(job->workload.gradient_dtype);
    double apart = fused ? work->embedding_rank : 0, common = work->common_rank;
    bool frozen = work->frozen_rank > 0;
    double own = frozen ? work->parameters_rank - work->frozen_rank
                        : work->parameters_rank - work->expert_rank - common -
                              work->grid_rank[0] - work->grid_rank[1] - work->grid_rank[2];
    if (common > 0)
        common -= apart;
    else
        own -= apart;
    stage->gradient_B = fr_plan_replicas(plan) > 1 ? own * gradient_B : 0;
    double experts = frozen ? 0 : work->expert_rank;
    stage->expert_B = fr_plan_expert_copies(plan) > 1 ? experts * gradient_B : 0;
    stage->common_B = fr_plan_replicas(plan) * plan->tp > 1 ? common * gradient_B : 0;
    for (int g = 0; g < FR_GRIDS; g++)
        stage->grid_B[g] = fr_plan_copies(plan, (fr_copies)(FR_COPIES_ATTENTION + g)) > 1
                               ? work->grid_rank[g] * gradient_B
                               : 0;
    struct fr_footprint footprint = {0};
    fr_footprint_add(&footprint, job, work->parameters_rank, work->activation_B);
    fr_footprint_freeze(&footprint, &job->workload, work->frozen_rank);
    struct fr_pricing price = fr_pricing_make(job, plan, rank_map, 1);
    price.update_B = fr_footprint_update_B(&footprint);
    price.sent_B = stage->sent_B;
    price.extrapolated = extrapolated;
    struct fr_plan of_stage;
    if (fr_codec_codes(plan, i))
        code_stage(job, fr_codec_plan_of(plan, i, &of_stage), &price, work, stage);
    stage->narrowed_s =
        fr_narrow_weights_s(&price, work, fr_dtype_size_B(job->workload.weight_dtype));
    stage->optimizer_s = stage->narrowed_s +
                         fr_update_s(&price, &job->workload, fr_zero_trained(plan, stage, 1)) +
                         copied_s(job, plan, stage->parameters_rank - stage->frozen_rank);
    if (i > 0 || fr_plan_last_stage(plan) == 0 || work->embedding_rank <= 0) return;
    const struct fr_ledger ledger = ledger_of(job, stage, extrapolated);
    fr_copies kind = fr_plan_own_grid(plan, FR_GRID_ENDS) ? FR_COPIES_ENDS
                     : plan->method->branches             ? FR_COPIES_COMMON
                                                          : FR_COPIES_REST;
    double shares = plan->zero >= 2 ? (double)fr_plan_dividing(plan, kind) : 1;
    priced->embedding_s =
        fr_ledger_comm_s(&ledger, FR_SENT_EMBEDDING, FR_OP_ALL_REDUCE, &rank_map->ends,
                         work->embedding_rank * gradient_B / shares, 1);
}

/* Bytes across each boundary.  With tp > 1 each rank of a stage sends 1/t of a transformer's activation, and the
 * receivers gather it (Megatron's scatter-gather), unless the software sends all of it from each rank
 * (models/device/framework.h).  No gather is needed where the method divides it between layers
 * anyway.  cSub has all of it on one rank.  Inside a decoder the encoder's output travels too, and a rank stores the
 * part that it received.
 */
static void size_message(const struct fr_job *job, const struct fr_plan *plan, int32_t i,
                         struct fr_stage *stage) {
    const struct fr_transformer *t = &job->workload.transformer;
    bool one_rank = plan->common_subgrid;
    stage->message_B = job->workload.stages.message_B;
    if (!t->layers) return;
    double tokens = (double)(fr_plan_micro_batch(plan) * t->sequence) / (double)plan->cp,
           h = (double)t->hidden;
    bool stays = plan->method->divided || plan->sequence_parallel; /* in its part, on arrival */
    bool whole = !stays && job->cluster.device.framework.whole_messages > 0;
    double parts = one_rank || whole ? 1 : (double)plan->tp;
    double whole_B = tokens * h * fr_dtype_saved_B(job->workload.dtype);
    bool by_width = plan->method->uses_ghost; /* what flows between layers is divided so */
    int64_t rows = fr_plan_arriving(plan);
    double up = fr_transformer_carries(t, plan, i + 1) ? 2 : 1,
           gathered_B =
               stays || whole || rows <= 1 ? 0 : whole_B / (double)plan->tp * (double)rows;
    stage->message_rows = up * (by_width ? tokens : tokens / parts);
    stage->message_columns = by_width ? h / parts : h;
    stage->message_B = up * whole_B / parts;
    stage->gathered_B = up * gathered_B;
    if (!fr_transformer_carries(t, plan, i) || plan->forward) return;
    double stored_B = gathered_B > 0 ? gathered_B : whole_B / parts;
    stage->activation_B += stored_B;
    stage->ends_B += stored_B;
}

/* Buckets are of equal size, at most plan->bucket_size_B, or larger where that makes very many. */
enum { BUCKETS_MAX = 4096 };

/* Gradients over the replicas, once an iteration.  Overlapped, they travel in buckets while the last backward pass
 * still runs: a bucket that is full starts its all-reduce, and only the last one has nothing to hide behind.
 * Compressed tensors travel after the codec has seen all of them, apart from tensors that go whole. */
static void price_gradient(const struct fr_job *job, const struct fr_plan *plan,
                           const struct fr_rank_map *rank_map, bool splits,
                           struct fr_stage *stage, uint32_t *extrapolated) {
    const struct fr_ledger ledger = ledger_of(job, stage, extrapolated);
    double chunks = (double)plan->chunks, parts = 1;
    double chunk_B = fr_stage_all_reduced_B(stage) / chunks;
    if (chunk_B + stage->coded_B <= 0 || fr_plan_replicas(plan) * plan->tp == 1) return;
    if (plan->zero >= 2) return; /* in the passes (models/price/zero.h) */
    if (plan->overlap && stage->gradient_codec_s <= 0) {
        stage->buckets = (int32_t)fmin(ceil(chunk_B / plan->bucket_size_B), BUCKETS_MAX);
        parts = chunks * stage->buckets;
    } else if (job->workload.n_layers) /* layers are all-reduced one by one, coded or not */
        return;
    double whole_s = fr_zero_reduce_s(&ledger, plan, rank_map, stage, parts);
    if (stage->buckets) {
        stage->bucket_s = whole_s / parts; /* the last one has nothing to hide behind */
        stage->beside_s += fr_device_lost_s(
            &job->cluster.device, whole_s - stage->bucket_s,
            fr_pass_s(splits ? &stage->weight : &stage->backward, FR_WITH_ALL));
    }
    stage->gradient_s = whole_s + stage->coded_s;
}

/* Stages in the middle of a model are equal, but for who compresses gradients. */
static int32_t alike_to(const struct fr_job *job, const struct fr_plan *plan, int32_t i) {
    const struct fr_transformer *t = &job->workload.transformer;
    while (fr_stage_work_repeats(job, plan, i + 1) &&
           fr_transformer_carries(t, plan, i + 1) == fr_transformer_carries(t, plan, i))
        i++;
    return i;
}

/* All of a stage but the time of its messages. */
static void make(const struct fr_job *job, const struct fr_plan *plan,
                 const struct fr_rank_map *rank_map, int32_t i, bool splits,
                 const struct fr_price_memo *memo, struct fr_priced_stage *priced) {
    const struct fr_workload *w = &job->workload;
    struct fr_stage *stage = &priced->stage;
    bool transformer = w->transformer.layers > 0;
    *priced = (struct fr_priced_stage){.alike_to = transformer ? alike_to(job, plan, i) : i};
    if (transformer)
        price_transformer(job, plan, rank_map, i, splits, memo, priced);
    else if (w->n_layers)
        fr_layers_stage(job, plan, rank_map, i, stage, &priced->extrapolated);
    else
        price_measured(&w->stages, i, plan->forward, stage);
    if (!w->n_layers) size_message(job, plan, i, stage);
    price_gradient(job, plan, rank_map, splits, stage, &priced->extrapolated);
    if (!transformer) return;
    double layers = (double)fr_transformer_stage_layers(&w->transformer, plan, i);
    fr_zero_price(job, plan, rank_map, layers, splits, stage, &priced->extrapolated);
    fr_offload_price(job, plan, layers, splits, stage);
}

/* Beside the plan: the stage, what its schedule does to it, and how it sums an embedding that it may hold. */
static int64_t beside(const struct fr_plan *plan, int32_t i, bool splits) {
    const bool fused = (i == 0 || i == plan->pp - 1) && plan->compression.fused_embedding;
    return ((2 * (int64_t)i + plan->schedule->folds) * 2 + splits) * 2 + fused;
}

const struct fr_priced_stage *
fr_stage_price(const struct fr_job *job, const struct fr_plan *plan,
               const struct fr_rank_map *rank_map, int32_t i, int32_t like, bool splits,
               const struct fr_price_memo *memo, struct fr_priced_stage *own) {
    bool fresh = true;
    const bool coded = fr_codec_codes(plan, i);
    struct fr_memo *table = !memo || job->workload.transformer.layers == 0 ? NULL
                            : coded                                        ? memo->coded
                                                                           : memo->stage;
    struct fr_priced_stage *priced =
        table ? fr_memo_find_next(table, beside(plan, like, splits), &fresh) : own;
    if (!fresh) return priced;
    make(job, plan, rank_map, i, splits, memo, priced);
    if (table) priced->number = 2 * fr_memo_asked(table) + coded;
    return priced;
}
