#include "models/price/codec_price.h"

#include <string.h>

#include "models/plan/copies.h"

const char *fr_codec_refused(const struct fr_job *job, const struct fr_plan *plan) {
    const struct fr_plan_compression *c = &plan->compression;
    const struct fr_workload *w = &job->workload;
    if (!fr_plan_compresses(plan)) return NULL;
    if (!w->transformer.layers && w->n_layers == 0)
        return "a codec works on matrices, and a model of kind stages says of messages and "
               "gradients only how many bytes they have";
    if (c->fused_embedding && plan->zero >= 2)
        return "a fused embedding is all-reduced once an iteration; zero 2 and 3 scatter its "
               "gradients after every micro-batch";
    if (c->fused_embedding && fr_plan_own_grid(plan, FR_GRID_ENDS))
        return "a fused embedding is all-reduced over the replicas of tp: with a grid of its "
               "own its "
               "copies are others";
    if (plan->blocking && (c->scope != FR_SCOPE_NONE || c->forward_rank > 0))
        return "compressed messages are of two sizes, and where launches block a pass takes "
               "the "
               "message that it sends: which of a stage's takes longer would hang on the "
               "micro-batch";
    if (c->gradient_stages == 0) return NULL;
    if (!fr_plan_reduces(plan))
        return "compression.gradient has nothing to compress: with one replica (dp = cp = 1) "
               "no gradients are reduced";
    if (w->transformer.lora_rank > 0 && c->codec->op == FR_OP_ALL_REDUCE &&
        fr_plan_gradient_rank_most(plan) >= w->transformer.lora_rank)
        return "compression.gradient.rank is no less than lora_rank: an adapter's gradients "
               "are that narrow already, and factors of them would be longer";
    return plan->zero >= 2
               ? "compression.gradient codes whole matrices once an iteration; zero 2 and 3 "
                 "scatter their gradients after every micro-batch: use zero 0 or 1"
               : NULL;
}

/* Products on values of 16 bits are not made in fewer. */
static fr_dtype codec_dtype(const struct fr_job *job) {
    fr_dtype dtype = job->workload.dtype;
    return fr_dtype_is_narrow(dtype) && job->cluster.device.gemm[FR_BF16].form ? FR_BF16
                                                                               : dtype;
}

/* The working set of a codec while it codes a matrix is at most the bytes that it goes through. */
static struct fr_pricing near_to(const struct fr_pricing *price,
                                 const struct fr_codec_work *work) {
    struct fr_pricing near = *price;
    if (work->set_B > 0 && work->set_B < near.products_B) near.products_B = work->set_B;
    return near;
}

/* A sort's passes are a stream where nobody measured what they take. */
double fr_codec_s(const struct fr_pricing *price, const struct fr_codec_work *work) {
    const struct fr_pricing near = near_to(price, work);
    double passes = price->cluster->device.working_sets.selects ? work->passes : 0;
    const struct fr_operation kernels = {.kind = FR_WORK_KERNELS, .times = work->kernels},
                              moved = {.kind = FR_WORK_STREAM,
                                       .times = 1,
                                       .size = work->moved_B - passes * work->passed_B},
                              sorted = {.kind = FR_WORK_SELECT,
                                        .times = passes,
                                        .size = work->passed_B};
    double time_s = fr_operation_s(price, &kernels) + fr_operation_s(price, &moved);
    if (passes > 0) time_s += fr_operation_s(&near, &sorted);
    for (int k = 0; k < work->n_gemms; k++) {
        const struct fr_gemm_work *gemm = &work->gemm[k];
        const struct fr_operation product = {.kind = FR_WORK_PRODUCT,
                                             .transposed = (uint8_t)gemm->transposed,
                                             .times = gemm->count,
                                             .shape = gemm->shape};
        time_s += fr_operation_s(&near, &product);
    }
    return time_s;
}

/* Where a codec's work is priced: as the rest of the model's. */
struct coder {
    const struct fr_job *job;
    const struct fr_compression *codec;
    double working_set_B, launch_s;
    uint32_t *extrapolated;
};

/* Layers run nothing ahead that would hide the host's launching (models/price/layers.c). */
static struct coder coder_of(const struct fr_job *job, const struct fr_plan *plan,
                             double working_set_B, uint32_t *extrapolated) {
    const struct fr_device *device = &job->cluster.device;
    bool layers = job->workload.n_layers > 0;
    return (struct coder){job, plan->compression.codec, working_set_B,
                          layers ? fr_device_layer_launch_s(device) : device->launch_s,
                          extrapolated};
}

static double codec_s(const struct coder *x, const struct fr_codec_args *a, bool encode,
                      bool decode) {
    struct fr_codec_work work = {0};
    const struct fr_pricing price = {.cluster = &x->job->cluster,
                                     .dtype = codec_dtype(x->job),
                                     .products_B = x->working_set_B,
                                     .launch_s = x->launch_s,
                                     .extrapolated = x->extrapolated};
    if (encode) x->codec->encode(a, &work);
    if (decode) x->codec->decode(a, &work);
    return fr_codec_s(&price, &work);
}

/* ---- messages ------------------------------------------------------------------------------------ */

/* As across the boundary below, where messages are as large. */
static bool code_alike(const struct fr_stage *below, struct fr_stage *stage) {
    if (below->message_rows != stage->message_rows ||
        below->message_columns != stage->message_columns ||
        below->message_B != stage->message_B)
        return false;
    stage->small_message_B = below->small_message_B;
    stage->sends_whole = below->sends_whole;
    stage->encode_s = below->encode_s;
    stage->decode_s = below->decode_s;
    stage->message_codec_B = below->message_codec_B;
    stage->small_forward_B = below->small_forward_B;
    stage->forward_encode_s = below->forward_encode_s;
    stage->forward_decode_s = below->forward_decode_s;
    stage->forward_codec_B = below->forward_codec_B;
    return true;
}

/* A message of one direction after the codec. */
struct coded_message {
    double small_B; /* 0: it goes whole */
    double encode_s, decode_s, stored_B;
};

static struct coded_message code(const struct fr_job *job, const struct fr_plan *plan,
                                 const struct fr_stage *stage, int64_t rank, bool residual,
                                 uint32_t *extrapolated) {
    const struct fr_compression *codec = plan->compression.codec;
    const struct fr_codec_args a = {.m = stage->message_rows,
                                    .n = stage->message_columns,
                                    .rank = (double)rank,
                                    .value_B = fr_dtype_saved_B(job->workload.dtype),
                                    .residual = residual,
                                    .parts = 1};
    double small_B = codec->sent_B(&a);
    if (small_B >= stage->message_B) return (struct coded_message){0};
    const struct coder coder = coder_of(job, plan, 0, extrapolated);
    return (struct coded_message){small_B, codec_s(&coder, &a, true, false),
                                  codec_s(&coder, &a, false, true), codec->stored_B(&a)};
}

static void code_message(const struct fr_job *job, const struct fr_plan *plan,
                         struct fr_stage *stage, uint32_t *extrapolated) {
    const struct fr_plan_compression *c = &plan->compression;
    if (c->scope != FR_SCOPE_NONE) {
        struct coded_message down =
            code(job, plan, stage, c->backward_rank, c->lazy_error, extrapolated);
        stage->sends_whole = down.small_B <= 0;
        stage->small_message_B = down.small_B;
        stage->encode_s = down.encode_s;
        stage->decode_s = down.decode_s;
        stage->message_codec_B = down.stored_B;
    }
    if (c->forward_rank > 0) {
        struct coded_message up = code(job, plan, stage, c->forward_rank, true, extrapolated);
        stage->small_forward_B = up.small_B;
        stage->forward_encode_s = up.encode_s;
        stage->forward_decode_s = up.decode_s;
        stage->forward_codec_B = up.stored_B;
    }
}

void fr_codec_price_messages(const struct fr_job *job, const struct fr_plan *plan,
                             struct fr_pipeline *p, uint32_t *extrapolated) {
    const struct fr_plan_compression *c = &plan->compression;
    if ((c->scope == FR_SCOPE_NONE && c->forward_rank == 0) || plan->pp == 1) return;
    for (int32_t i = 0; i < p->args.stages; i++) {
        bool crossed = i < p->args.stages - 1 || p->args.chunks > 1;
        bool alike = crossed && i > 0 && code_alike(&p->stage[i - 1], &p->stage[i]);
        if (crossed && !alike) code_message(job, plan, &p->stage[i], extrapolated);
        if (crossed && !p->stage[i].sends_whole) p->scope = c->scope;
        if (crossed && p->stage[i].small_forward_B > 0) p->codes_forward = true;
    }
}

/* ---- gradients ----------------------------------------------------------------------------------- */

/* The `times` matrices of a weight gradient: what of it goes compressed. */
static void code_matrices(const struct fr_job *job, const struct fr_plan *plan,
                          const struct fr_pricing *price, const struct fr_operation *o,
                          struct fr_coded *sum) {
    const struct fr_plan_compression *c = &plan->compression;
    int64_t copies = price->group[o->axis]->n_ranks;
    double value_B = fr_dtype_size_B(job->workload.gradient_dtype),
           n = o->as_one ? 1 : o->times;
    const struct fr_codec_args a = {.m = o->as_one ? o->times * o->shape.m : o->shape.m,
                                    .n = o->shape.n,
                                    .rank = (double)c->gradient_rank,
                                    .value_B = value_B,
                                    .residual = true,
                                    .parts =
                                        c->codec->op == FR_OP_ALL_GATHER ? (double)copies : 1};
    if (copies <= 1) return;
    double whole_B = a.m * a.n * value_B, coded_B = a.parts * c->codec->sent_B(&a);
    double saved_B = fr_op_bus_factor(FR_OP_ALL_REDUCE, copies) * whole_B -
                     fr_op_bus_factor(c->codec->op, copies) * coded_B;
    if (saved_B <= 0) return;
    sum->whole_B[o->axis] += n * whole_B;
    sum->coded_B[o->axis] += n * coded_B;
    sum->saved_B += n * saved_B;
    sum->stored_B += n * c->codec->stored_B(&a);
    const struct coder coder = coder_of(job, plan, price->update_B, price->extrapolated);
    sum->time_s += n * codec_s(&coder, &a, true, true);
}

bool fr_codec_codes(const struct fr_plan *plan, int64_t i) {
    return fr_plan_gradient_rank(plan, i) > 0 && plan->zero < 2;
}

const struct fr_plan *fr_codec_plan_of(const struct fr_plan *plan, int64_t i,
                                       struct fr_plan *own) {
    if (!plan->gradient_ranks) return plan;
    *own = *plan;
    own->compression.gradient_rank = fr_plan_gradient_rank(plan, i);
    return own;
}

void fr_codec_code(const struct fr_job *job, const struct fr_plan *plan,
                   const struct fr_pricing *price, const struct fr_rank_work *work, int to,
                   struct fr_coded *sum) {
    for (int k = 0; k < to && work->parameters_rank > 0; k++)
        if (work->op[k].kind == FR_WORK_PRODUCT && work->op[k].pass == FR_PASS_WEIGHT)
            code_matrices(job, plan, price, &work->op[k], sum);
}

void fr_codec_code_layer(const struct fr_job *job, const struct fr_plan *plan,
                         const struct fr_pricing *price, struct fr_rank_work *work,
                         struct fr_coded *coded) {
    int n = work->n_ops;
    memset(coded, 0, sizeof *coded);
    fr_codec_code(job, plan, price, work, n, coded);
    for (int k = 0; k < n; k++) {
        struct fr_operation *o = &work->op[k];
        bool gradients = o->kind == FR_WORK_COLLECTIVE && o->pass == FR_PASS_ONCE;
        if (!gradients || coded->whole_B[o->axis] <= 0) continue;
        o->size -= coded->whole_B[o->axis];
        if (o->size < 1) o->times = 0; /* no biases: nothing goes whole, not even a latency */
        fr_work_add_collective(work, FR_PASS_ONCE, (fr_axis)o->axis,
                               plan->compression.codec->op, coded->coded_B[o->axis], 1)
            ->as_one = true;
    }
}
