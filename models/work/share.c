/* Work that every division of a transformer adds to its list (models/work/transformer.h). */
#include <math.h>

#include "models/work/transformer.h"
#include "models/workload/adapters.h"
#include "models/workload/attention.h"
#include "models/workload/encoder.h"
#include "models/workload/flop.h"

static void add_traffic(struct fr_rank_work *work, fr_pass_kind pass, double times,
                        struct fr_elementwise moved, bool common) {
    if (moved.all_B <= 0) return;
    struct fr_operation *o = fr_work_add(work, FR_WORK_TRAFFIC, pass, times);
    o->moved = moved;
    o->common = common;
}

/* Kernels that fusion spares (@p apart) are in the passes that run their operations.  No gradient of a weight is among
 * them. */
static void add_kernels(struct fr_rank_work *work, double kernels, double blocks,
                        const struct fr_unfused *apart, bool common, bool frozen) {
    static const double times[] = {
        [FR_PASS_FORWARD] = 1, [FR_PASS_INPUT] = 1.5, [FR_PASS_WEIGHT] = 0.5};
    const double more[] = {[FR_PASS_FORWARD] = apart->forward_kernels,
                           [FR_PASS_INPUT] = apart->backward_kernels,
                           [FR_PASS_WEIGHT] = 0};
    int last = frozen ? FR_PASS_INPUT : FR_PASS_WEIGHT;
    for (int pass = FR_PASS_FORWARD; pass <= last && kernels > 0; pass++) {
        struct fr_operation *o =
            fr_work_add(work, FR_WORK_KERNELS, (fr_pass_kind)pass, times[pass] * kernels);
        o->common = common;
        o->apart = more[pass] / o->times;
        o->blocks = pass == FR_PASS_FORWARD ? blocks : 0;
    }
}

/* Recomputed work: all except the tensors that a policy saves, or the work of the modules and the core's softmax. */
static struct fr_elementwise again_part(const struct fr_stage_share *s, double set_B,
                                        fr_recompute recompute) {
    bool full = fr_recomputes_layer(recompute), core = fr_recomputes_core(recompute);
    double softmax_B = core ? s->softmax_B : 0;
    if (recompute == FR_RECOMPUTE_NONE) return (struct fr_elementwise){0};
    if (full)
        return (struct fr_elementwise){s->forward_B - s->once_B - s->softmax_B + softmax_B,
                                       s->norm_B, softmax_B, set_B, s->apart.forward_B};
    return (struct fr_elementwise){softmax_B + s->again_B, s->again_norm_B, softmax_B, set_B,
                                   0};
}

void fr_transformer_add_share(struct fr_rank_work *work, const struct fr_stage_share *s,
                              double layers, fr_recompute recompute) {
    double set_B = layers > 0 ? s->forward_B / layers : s->forward_B;
    static const struct fr_unfused none;
    struct fr_elementwise own = {s->forward_B - s->common_B, s->norm_B - s->common_norm_B,
                                 s->softmax_B, set_B, s->apart.forward_B},
                          common = {s->common_B, s->common_norm_B, 0, set_B, 0};
    add_traffic(work, FR_PASS_FORWARD, 1, own, false);
    add_traffic(work, FR_PASS_FORWARD, 1, common, true);
    own.apart_B = s->apart.backward_B / 2;
    own.all_B += (s->more_B - s->common_more_B) / 2;
    common.all_B += s->common_more_B / 2;
    add_traffic(work, FR_PASS_INPUT, 2, own, false);
    add_traffic(work, FR_PASS_INPUT, 2, common, true);
    add_traffic(work, FR_PASS_AGAIN, 1, again_part(s, set_B, recompute), false);
    add_kernels(work, s->kernels - s->common_kernels, s->blocks, &s->apart, false, s->frozen);
    add_kernels(work, s->common_kernels, 0, &none, true, s->frozen);
    if (s->again_kernels <= 0) return;
    struct fr_operation *again =
        fr_work_add(work, FR_WORK_KERNELS, FR_PASS_AGAIN, s->again_kernels);
    if (fr_recomputes_layer(recompute)) again->apart = s->apart.forward_kernels / again->times;
}

static void add_attention(struct fr_rank_work *work, fr_pass_kind pass, double flop,
                          double keys, double head) {
    struct fr_operation *o = fr_work_add(work, FR_WORK_ATTENTION, pass, 1);
    o->size = flop;
    o->keys = keys;
    o->head = head;
}

/* Fused kernels are made for heads of 32, 64, 96 ... 256 values, narrower ones padded (FlashAttention-2: a kernel for
 * each of HEADDIM_SWITCH; PyTorch's copy of it alike). */
static double fused_dim(double dim) { return dim > 256 ? dim : 32 * ceil(dim / 32); }

/* Around a ring a kernel meets the keys of one rank.  Each of R ranks has two pieces of c = s / (2 R) queries, one from
 * either end of a causal sequence, so that all have as much to do (zigzag).  A query meets c keys of its own rank in the
 * mean.  When another rank's keys are there, both pieces meet c of them, or one piece meets 2 c, as often.  A kernel's time
 * goes with 1 / keys, whose mean over the work is (3 + 1 / R) / 4 of 1 / c. */
static double ring_keys(const struct fr_transformer *t, const struct fr_plan *plan) {
    bool zigzag = plan->cp > 1 && !plan->context_heads && !t->both_ways && t->window == 0;
    return zigzag ? 4 / (3 + 1 / (double)plan->cp) : 1;
}

void fr_transformer_add_core(struct fr_rank_work *work, const struct fr_transformer *t,
                             const struct fr_plan *plan, double queries, double batch,
                             double heads) {
    double s = (double)t->sequence, d = (double)t->head_dim,
           v = (double)fr_attention_value_dim(t), wide = fused_dim(d) + fused_dim(v),
           made = fr_transformer_made(t),
           flop = heads * 2 * 2 * s * queries * (wide / 2) * made;
    bool again = fr_recomputes_core(plan->recompute);
    const struct fr_product scores = {queries,       s, d, batch, heads, .scores = true,
                                      .again = again},
                            values = {queries,       v, s, batch, heads, .scores = true,
                                      .again = again};
    if (plan->attention == FR_ATTENTION_PLAIN) {
        fr_work_add_product(work, &scores);
        fr_work_add_product(work, &values);
        return;
    }
    double keys = queries * made * ring_keys(t, plan);
    add_attention(work, FR_PASS_FORWARD, flop, keys, d);
    add_attention(work, FR_PASS_INPUT, 2.5 * flop, keys, d);
    if (again) add_attention(work, FR_PASS_AGAIN, flop, keys, d);
}

/* A product, its bias, activation and norm: inputs of all three are kept. */
static void add_masked_head(struct fr_rank_work *work, const struct fr_transformer *t,
                            const struct fr_ends *e, struct fr_stage_share *s) {
    double h = (double)t->hidden, values = e->tokens * e->logits_saved;
    fr_work_add_product(work, &(struct fr_product){.m = h,
                                                   .n = values / h,
                                                   .k = h,
                                                   .batch = e->batch,
                                                   .times = 1,
                                                   .common = e->common,
                                                   .wide = true,
                                                   .frozen = s->frozen});
    s->forward_B += (2 + FR_NORM_PASSES) * values * e->value_B;
    s->norm_B += FR_NORM_PASSES * values * e->value_B;
    s->kernels += 3;
    work->ends_B += 3 * values * e->value_B;
    work->activation_B += 3 * values * e->value_B;
}

/* The last norm and the loss, forward; backward twice that, but for losses whose kernels are counted.  A loss in parts
 * makes its forward pass again.  It adds up the gradient of the head's weights, if they are trained: two read and one
 * written for each part after the first. */
static void add_loss(struct fr_rank_work *work, const struct fr_ends *e, double h, double times,
                     struct fr_stage_share *s) {
    const struct fr_loss_row *loss = &fr_losses[e->loss];
    double logits = times * e->tokens * e->words,
           forward_B = fr_loss_logit_B(&loss->moved, e->value_B),
           backward_B = fr_loss_logit_B(&loss->moved_back, e->value_B);
    s->forward_B += times * fr_transformer_loss_B(e->tokens, e->words, h, e->value_B);
    if (backward_B <= 0) return;
    double stated_B = times * fr_transformer_loss_B(e->tokens, e->words, 0, e->value_B);
    s->forward_B += logits * forward_B - stated_B;
    s->more_B = logits * (backward_B - 2 * forward_B);
    if (!s->frozen) s->more_B += times * (loss->parts - 1) * 3 * e->words * h * e->value_B;
    if (loss->parts > 1)
        add_traffic(work, FR_PASS_AGAIN, 1,
                    (struct fr_elementwise){.all_B = logits * forward_B,
                                            .working_set_B = logits * forward_B},
                    e->common);
}

void fr_transformer_add_ends(struct fr_rank_work *work, const struct fr_transformer *t,
                             bool first, bool last, const struct fr_ends *e) {
    double h = (double)t->hidden;
    bool frozen = fr_transformer_frozen(t);
    struct fr_stage_share s = {.frozen = frozen};
    if (first) {
        s.forward_B += 2 * e->tokens * e->saved * e->value_B;
        s.kernels += 2;
    }
    if (e->predicted > 0) { /* looked up once more for each */
        s.forward_B += e->predicted * 2 * e->tokens * e->saved * e->value_B;
        s.kernels += 2 * e->predicted;
    }
    if (last && t->masked_head) add_masked_head(work, t, e, &s);
    if (last) {
        double times = 1 + e->predicted;
        fr_work_add_product(work,
                            &(struct fr_product){.m = e->words,
                                                 .n = e->tokens / fr_losses[e->loss].parts,
                                                 .k = h,
                                                 .batch = e->batch,
                                                 .times = times * fr_losses[e->loss].parts,
                                                 .common = e->common,
                                                 .wide = true,
                                                 .frozen = frozen,
                                                 .again = fr_losses[e->loss].parts > 1 ? 1 : 0,
                                                 .regathers = frozen ? 0 : times * e->regathers,
                                                 .regather_axis = e->axis,
                                                 .regather_B = e->tokens * h * e->value_B});
        add_loss(work, e, h, times, &s);
        s.kernels +=
            times * 5; /* norm, product, and the cross-entropy's maximum, sum and loss */
        double stored_B = times * e->tokens * (e->logits_saved + e->words) * e->value_B;
        work->ends_B += stored_B;
        work->activation_B += stored_B;
        work->moment.heads = times;
        work->moment.logits = e->tokens * e->words;
        work->moment.value_B = e->value_B;
        work->moment.head_B = times * e->tokens * e->logits_saved * e->value_B;
    }
    if (e->common) {
        s.common_B = s.forward_B;
        s.common_more_B = s.more_B;
        s.common_norm_B = s.norm_B;
        s.common_kernels = s.kernels;
    }
    fr_transformer_add_share(work, &s, 0, FR_RECOMPUTE_NONE);
}

void fr_transformer_add_vocabulary(struct fr_rank_work *work, const struct fr_transformer *t,
                                   const struct fr_plan *plan, int64_t ranks, bool first,
                                   bool last) {
    double h = (double)t->hidden, tp = (double)ranks,
           embedding = (double)fr_transformer_padded_vocabulary(t, ranks) * h,
           positions = (t->positions ? (double)(t->sequence + t->cached) * h : 0) +
                       (double)t->token_types * h,
           head = fr_encoder_head_parameters(t), logits = fr_encoder_logit_biases(t),
           norm = h * (t->norm_biases ? 2 : 1);
    bool apart = fr_plan_last_stage(plan) > 0, shared = t->tied || t->predicted > 0,
         copy = t->tied && apart;
    if (first) {
        work->parameters += embedding + positions;
        work->parameters_rank += embedding / tp + positions;
    }
    if (last) {
        work->parameters += norm + head + logits + (t->tied ? 0 : embedding);
        work->parameters_rank +=
            norm + head + logits / tp + (!t->tied || copy ? embedding / tp : 0);
        if (t->predicted > 0 && !t->tied && apart) work->parameters_rank += embedding / tp;
    }
    if (shared && (first || last) && !fr_transformer_frozen(t))
        work->embedding_rank = embedding / tp; /* frozen copies stay equal */
}
