#include "models/price/codec_price.h"

#include "models/work/transformer.h"

const char *fr_codec_refused(const struct fr_job *job, const struct fr_plan *plan) {
    const struct fr_plan_compression *c = &plan->compression;
    const struct fr_transformer *t = &job->workload.transformer;
    bool gradients = c->gradient_stages > 0;
    if (!fr_plan_compresses(plan)) return NULL;
    if (!t->layers || plan->method != &fr_method_tensor)
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

static double codec_s(const struct fr_job *job, const struct fr_compression *codec,
                      const struct fr_codec_args *a, bool encode, bool decode,
                      double working_set_B, uint32_t *extrapolated) {
    struct fr_codec_work work = {0};
    bool outside = false;
    if (encode) codec->encode(a, &work);
    if (decode) codec->decode(a, &work);
    double time_s =
        fr_codec_time_s(&job->cluster.device, codec_dtype(job), &work, working_set_B, &outside);
    if (outside) *extrapolated |= FR_EXTRAPOLATED_GEMM;
    return time_s;
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

void fr_codec_price_gradients(const struct fr_job *job, const struct fr_plan *plan, int32_t i,
                              double working_set_B, struct fr_pipeline *p,
                              uint32_t *extrapolated) {
    enum { MATRICES_MAX = 8 };
    const struct fr_plan_compression *c = &plan->compression;
    struct fr_stage *stage = &p->stage[i];
    int64_t replicas = fr_plan_replicas(plan);
    struct fr_codec_args shapes[MATRICES_MAX];
    if (i >= c->gradient_stages) return;
    int n = fr_transformer_matrices(&job->workload.transformer, plan->tp, shapes, MATRICES_MAX);
    double layers = (double)fr_transformer_stage_layers(&job->workload.transformer, plan, i);
    double value_B = fr_dtype_size_B(job->workload.gradient_dtype);
    for (int k = 0; k < n; k++) {
        struct fr_codec_args *a = &shapes[k];
        a->rank = (double)c->gradient_rank;
        a->value_B = value_B;
        a->residual = true;
        a->parts = c->codec->op == FR_OP_ALL_GATHER ? (double)replicas : 1;
        double whole_B = a->m * a->n * value_B, coded_B = a->parts * c->codec->sent_B(a);
        double saved_B = fr_op_bus_factor(FR_OP_ALL_REDUCE, replicas) * whole_B -
                         fr_op_bus_factor(c->codec->op, replicas) * coded_B;
        if (saved_B <= 0) continue;
        stage->gradient_B -= layers * whole_B;
        stage->coded_B += layers * coded_B;
        stage->gradient_codec_s +=
            layers * codec_s(job, c->codec, a, true, true, working_set_B, extrapolated);
        stage->codec_B += layers * c->codec->kept_B(a);
        p->lossy_B += layers * whole_B;
        p->saved_B += layers * saved_B;
    }
}
