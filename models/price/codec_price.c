#include "models/price/codec_price.h"

const char *fr_codec_refused(const struct fr_job *job, const struct fr_plan *plan) {
    const struct fr_plan_compression *c = &plan->compression;
    const struct fr_transformer *t = &job->workload.transformer;
    bool gradients = c->gradient_stages > 0;
    if (!fr_plan_compresses(plan)) return NULL;
    if (!t->layers || !plan->method->coded)
        return "compression is priced for transformers with method tensor: it knows their "
               "messages and weight matrices";
    if (c->scope == FR_SCOPE_EPILOGUE && plan->chunks > 1)
        return "compression of the epilogue's messages is priced for one chunk a stage; with "
               "several, compress all";
    if (c->fused_embedding && plan->zero >= 2)
        return "a fused embedding is all-reduced once an iteration; zero 2 and 3 scatter its "
               "gradients after every micro-batch";
    if (!gradients) return NULL;
    if (c->gradient_stages > plan->pp)
        return "compression.gradient.stages is more than the plan has stages (pp)";
    if (fr_plan_replicas(plan) == 1)
        return "compression.gradient has nothing to compress: with one replica (dp = cp = 1) "
               "no gradients are reduced";
    if (plan->zero >= 2)
        return "compression.gradient codes whole matrices once an iteration; zero 2 and 3 "
               "scatter their gradients after every micro-batch: use zero 0 or 1";
    return t->experts ? "compression.gradient is priced for dense models: experts' gradients "
                        "are reduced over their own copies"
                      : NULL;
}

/* Products on values of 16 bits are not made in 8. */
static fr_dtype codec_dtype(const struct fr_job *job) {
    fr_dtype dtype = job->workload.dtype;
    return dtype == FR_FP8 && job->cluster.device.gemm[FR_BF16].form ? FR_BF16 : dtype;
}

double fr_codec_s(const struct fr_pricing *price, const struct fr_codec_work *work) {
    const struct fr_operation kernels = {.kind = FR_WORK_KERNELS, .times = work->kernels},
                              moved = {
                                  .kind = FR_WORK_STREAM, .times = 1, .size = work->moved_B};
    double time_s = fr_operation_s(price, &kernels) + fr_operation_s(price, &moved);
    for (int k = 0; k < work->n_gemms; k++)
        time_s += fr_operation_s(price, &(struct fr_operation){.kind = FR_WORK_PRODUCT,
                                                               .times = work->gemm[k].count,
                                                               .shape = work->gemm[k].shape});
    return time_s;
}

static double codec_s(const struct fr_job *job, const struct fr_compression *codec,
                      const struct fr_codec_args *a, bool encode, bool decode,
                      double working_set_B, uint32_t *extrapolated) {
    struct fr_codec_work work = {0};
    const struct fr_pricing price = {.cluster = &job->cluster,
                                     .dtype = codec_dtype(job),
                                     .products_B = working_set_B,
                                     .launch_s = job->cluster.device.launch_s,
                                     .extrapolated = extrapolated};
    if (encode) codec->encode(a, &work);
    if (decode) codec->decode(a, &work);
    return fr_codec_s(&price, &work);
}

void fr_codec_price_messages(const struct fr_job *job, const struct fr_plan *plan,
                             struct fr_pipeline *p, uint32_t *extrapolated) {
    const struct fr_plan_compression *c = &plan->compression;
    const struct fr_transformer *t = &job->workload.transformer;
    double tokens =
        (double)(fr_plan_micro_batch(plan) * t->sequence) / (double)(plan->cp * plan->tp);
    const struct fr_codec_args a = {.m = tokens,
                                    .n = (double)t->hidden,
                                    .rank = (double)c->backward_rank,
                                    .value_B = fr_dtype_kept_B(job->workload.dtype),
                                    .residual = c->lazy_error,
                                    .parts = 1};
    double small_B = c->codec->sent_B(&a);
    if (c->scope == FR_SCOPE_NONE || plan->pp == 1 || small_B >= p->message_B) return;
    p->scope = c->scope;
    p->small_message_B = small_B;
    p->encode_s = codec_s(job, c->codec, &a, true, false, 0, extrapolated);
    p->decode_s = codec_s(job, c->codec, &a, false, true, 0, extrapolated);
    p->codec_B = c->codec->kept_B(&a);
}

/* A weight gradient of shape m x n, `times` of them: what of it goes compressed. */
static void code_matrices(const struct fr_job *job, const struct fr_plan *plan,
                          const struct fr_operation *o, double working_set_B,
                          struct fr_stage *stage, struct fr_pipeline *p,
                          uint32_t *extrapolated) {
    const struct fr_plan_compression *c = &plan->compression;
    int64_t replicas = fr_plan_replicas(plan);
    double value_B = fr_dtype_size_B(job->workload.gradient_dtype);
    const struct fr_codec_args a = {.m = o->shape.m,
                                    .n = o->shape.n,
                                    .rank = (double)c->gradient_rank,
                                    .value_B = value_B,
                                    .residual = true,
                                    .parts = c->codec->op == FR_OP_ALL_GATHER ? (double)replicas
                                                                              : 1};
    double whole_B = a.m * a.n * value_B, coded_B = a.parts * c->codec->sent_B(&a);
    double saved_B = fr_op_bus_factor(FR_OP_ALL_REDUCE, replicas) * whole_B -
                     fr_op_bus_factor(c->codec->op, replicas) * coded_B;
    if (saved_B <= 0) return;
    stage->gradient_B -= o->times * whole_B;
    stage->coded_B += o->times * coded_B;
    stage->gradient_codec_s +=
        o->times * codec_s(job, c->codec, &a, true, true, working_set_B, extrapolated);
    stage->codec_B += o->times * c->codec->kept_B(&a);
    p->lossy_B += o->times * whole_B;
    p->saved_B += o->times * saved_B;
}

void fr_codec_price_gradients(const struct fr_job *job, const struct fr_plan *plan, int32_t i,
                              const struct fr_rank_work *work, double working_set_B,
                              struct fr_pipeline *p, uint32_t *extrapolated) {
    if (i >= plan->compression.gradient_stages) return;
    for (int k = 0; k < work->n_layer_ops; k++)
        if (work->op[k].kind == FR_WORK_PRODUCT && work->op[k].pass == FR_PASS_WEIGHT)
            code_matrices(job, plan, &work->op[k], working_set_B, &p->stage[i], p,
                          extrapolated);
}
