/* A transformer's stage as operations, of methods tensor and grid (models/work/transformer_view.h). */
#include <math.h>

#include "models/plan/schedule.h"
#include "models/work/adapters.h"
#include "models/work/cache.h"
#include "models/work/experts.h"
#include "models/work/predicted.h"
#include "models/work/ssm.h"
#include "models/work/transformer_view.h"
#include "models/workload/adapters.h"
#include "models/workload/ssm.h"

/* A group of products on its P_r ranks: of the R ranks' samples it has a column's. */
static struct fr_group_view group_of(const struct fr_plan *plan, double own, int group) {
    double p = (double)fr_plan_grid(plan, group);
    bool own_grid = fr_plan_own_grid(plan, group);
    fr_axis axis = own_grid ? (fr_axis)(FR_AXIS_ATTENTION + group) : FR_AXIS_TP,
            copies = own_grid ? (fr_axis)(FR_AXIS_ATTENTION_COPIES + group) : FR_AXIS_DP;
    double batch = (double)fr_plan_micro_batch(plan) * p / (double)plan->tp;
    return (struct fr_group_view){.p = p,
                                  .batch = batch,
                                  .tokens = batch * own,
                                  .between = plan->sequence_parallel ? p : 1,
                                  .axis = axis,
                                  .copies = copies};
}

/* Rows of the experts on a rank and their width: each token makes several rows. */
static void divide_experts(struct fr_stage_view *v) {
    const struct fr_transformer *t = v->t;
    v->mlp_on.copies = FR_AXIS_EXPERT;
    v->etp = (double)fr_plan_expert_tp(v->plan);
    v->mlp_rows = v->mlp_on.tokens * v->etp / v->mlp_on.p * (double)t->experts_per_token;
    v->wide = (double)t->expert_ffn;
    v->experts = fr_cache_experts(t, (double)t->experts / (double)v->plan->ep,
                                  v->mlp_on.tokens * (double)v->plan->ep);
}

/* Chunks whose output goes to another stage, or to the logits.  Where a schedule folds, one's next is on the same rank. */
static double leaving(const struct fr_plan *plan, int64_t i) {
    int32_t stages = (int32_t)plan->pp;
    int64_t chunks = plan->pp * plan->chunks;
    double n = 0;
    for (int32_t c = 0; c < plan->chunks; c++) {
        int64_t next = fr_schedule_virtual(plan->schedule, stages, (int32_t)i, c) + 1;
        n += next == chunks || fr_schedule_stage(plan->schedule, stages, next) != i;
    }
    return n;
}

static struct fr_stage_view view_of(const struct fr_workload *workload,
                                    const struct fr_plan *plan, int64_t i) {
    const struct fr_transformer *t = &workload->transformer;
    const struct fr_block_counts blocks = fr_transformer_stage_blocks(t, plan, i);
    double s = (double)t->sequence, own = s / (double)plan->cp;
    struct fr_stage_view v = {.t = t,
                              .plan = plan,
                              .h = (double)t->hidden,
                              .a = fr_attention_of(t),
                              .mlp = t->gated ? 3 : 2,
                              .rows = plan->method->grids && !plan->pairs,
                              .s = s,
                              .own = own,
                              .value_B = fr_dtype_saved_B(workload->dtype),
                              .read_B = fr_dtype_size_B(workload->dtype),
                              .narrow = fr_dtype_is_narrow(workload->dtype),
                              .layers = (double)fr_transformer_stage_layers(t, plan, i),
                              .cross = (double)fr_transformer_stage_cross(t, plan, i),
                              .dense = blocks.mlp,
                              .mixed = blocks.experts,
                              .ssm = blocks.ssm,
                              .full = plan->recompute == FR_RECOMPUTE_FULL,
                              .any = plan->recompute != FR_RECOMPUTE_NONE,
                              .saves = fr_recompute_saves(plan->recompute),
                              .again = fr_again_of(t, plan->recompute),
                              .out = plan->recompute == FR_RECOMPUTE_FULL ||
                                     plan->recompute == FR_RECOMPUTE_SAVE_QKV,
                              .first = fr_recomputes_layer(plan->recompute)};
    v.attention_on = group_of(plan, own, FR_GRID_ATTENTION);
    v.mlp_on = v.dense_on = group_of(plan, own, FR_GRID_MLP);
    v.ends_on = group_of(plan, own, FR_GRID_ENDS);
    v.gathers =
        plan->sequence_parallel && (v.attention_on.p > 1 || v.mlp_on.p > 1 || v.ends_on.p > 1);
    v.uniform = !fr_plan_own_grid(plan, FR_GRID_ATTENTION) &&
                !fr_plan_own_grid(plan, FR_GRID_MLP) && !fr_plan_own_grid(plan, FR_GRID_ENDS);
    /* Each of cp ranks has a share of the queries of its heads, and attends to all keys; or all queries
     * of a share of the heads. */
    bool whole = plan->cp > 1 && plan->context_heads;
    v.heads = (double)t->heads / v.attention_on.p / (whole ? (double)plan->cp : 1);
    v.queries = whole ? s : own;
    if (t->predicted > 0 && i == fr_plan_last_stage(plan)) v.predicted = (double)t->predicted;
    v.recomputed = fr_plan_recomputed(plan, v.layers);
    v.leaving = v.uniform ? 1 : leaving(plan, i);
    v.layers += v.predicted;
    *(t->experts ? &v.mixed : &v.dense) += v.predicted;
    /* Cross-attention attends to as many tokens. */
    v.attentions = blocks.attention + v.predicted + v.cross;
    if (plan->attention == FR_ATTENTION_PLAIN)
        v.scores = v.attention_on.batch * v.heads * v.s * v.queries;
    v.etp = v.mlp_on.p;
    if (t->experts) divide_experts(&v);
    return v;
}

/* ---- products ------------------------------------------------------------------------------------ */

/* Beside their exchanges; experts' products go group by group as it is. */
static bool in_pieces(const struct fr_stage_view *v, const struct fr_group_view *on) {
    return v->gathers && v->plan->overlap_tp && !(v->t->experts && on == &v->mlp_on);
}

static void add_product(const struct fr_stage_view *v, const struct fr_group_view *on, double m,
                        double n, double k, double times, double regathers, bool made,
                        double again, struct fr_rank_work *work) {
    bool frozen = fr_transformer_frozen(v->t), attends = on == &v->attention_on;
    if (frozen)
        regathers = 0; /* nobody asks for the input again, or has it whole (adapters.h) */
    double arrives = attends ? v->a.arrives : v->h;
    fr_work_add_product(
        work, &(struct fr_product){.m = m,
                                   .n = n,
                                   .k = k,
                                   .batch = on->batch,
                                   .times = times,
                                   .at_once = on == &v->mlp_on ? v->experts : 1,
                                   .pieces = in_pieces(v, on) ? on->p : 1,
                                   .made = made,
                                   .again = again,
                                   .frozen = frozen,
                                   .copies = on->copies,
                                   .regathers = v->gathers && on->p > 1 ? regathers : 0,
                                   .regather_axis = on->axis,
                                   .regather_B = on->tokens * arrives * v->value_B});
}

/* The second of two products: @p out x @p in, by its columns, or by its rows. */
static void add_second(const struct fr_stage_view *v, const struct fr_group_view *on, double p,
                       double out, double n, double in, double times, double again,
                       struct fr_rank_work *work) {
    add_product(v, on, v->rows ? out / p : out, n, v->rows ? in : in / p, times, 0, false,
                again, work);
}

/* Latent attention's narrow products, which every rank makes of its own tokens. */
static void add_latents(const struct fr_stage_view *v, struct fr_rank_work *work) {
    const struct fr_group_view *on = &v->attention_on;
    const double made[] = {v->a.q_latent, v->a.kv_latent};
    for (int k = 0; k < 2; k++)
        fr_work_add_product(work, &(struct fr_product){.m = made[k],
                                                       .n = on->tokens / on->between,
                                                       .k = v->h,
                                                       .batch = on->batch,
                                                       .times = made[k] > 0 ? v->attentions : 0,
                                                       .made = true,
                                                       .again = v->again.down,
                                                       .copies = on->copies});
}

/* An indexer's products, which every rank makes of its own tokens, and its scores of all pairs before a token. */
static void add_index(const struct fr_stage_view *v, struct fr_rank_work *work) {
    const struct fr_group_view *on = &v->attention_on;
    const double made[] = {v->a.index_q, v->a.index_k}, from[] = {v->a.from_q, v->h};
    double flop = v->attentions * on->batch * v->s * v->queries * v->a.index_q,
           keys = v->queries;
    for (int k = 0; k < 2; k++)
        fr_work_add_product(work, &(struct fr_product){.m = made[k],
                                                       .n = on->tokens / on->between,
                                                       .k = from[k],
                                                       .batch = on->batch,
                                                       .times = v->attentions,
                                                       .made = true,
                                                       .again = v->again.qkv,
                                                       .copies = on->copies});
    static const double times[] = {
        [FR_PASS_FORWARD] = 1, [FR_PASS_INPUT] = 2, [FR_PASS_AGAIN] = 1};
    static const fr_pass_kind passes[] = {FR_PASS_FORWARD, FR_PASS_INPUT, FR_PASS_AGAIN};
    for (int k = 0; k < (fr_recomputes_core(v->plan->recompute) ? 3 : 2); k++) {
        struct fr_operation *o = fr_work_add(work, FR_WORK_ATTENTION, passes[k], 1);
        o->size = times[passes[k]] * flop / on->p;
        o->keys = keys;
        o->head = 0;
    }
}

static void add_attention(const struct fr_stage_view *v, struct fr_rank_work *work) {
    const struct fr_group_view *on = &v->attention_on;
    double n = v->attentions;
    if (v->a.kv_latent > 0) add_latents(v, work);
    if (v->a.index_q > 0) add_index(v, work);
    add_product(v, on, v->a.to_q / on->p, on->tokens, v->a.from_q, n, n + v->cross, true,
                v->again.qkv, work);
    if (v->a.to_kv > 0)
        add_product(v, on, v->a.to_kv / on->p, on->tokens, v->a.from_kv, n, 0, true,
                    v->again.qkv, work);
    fr_transformer_add_core(work, v->t, v->plan, v->queries, on->batch,
                            n * on->batch * v->heads);
    add_second(v, on, on->p, v->h, on->tokens, v->a.made, n, v->again.out, work);
}

/* So many @p each of an MLP of @p width over @p p ranks in each of @p layers, with @p rows of tokens. */
struct mlps {
    const struct fr_group_view *on;
    double p, width, rows, layers, each, regathers;
    double first, last; /* made again */
};

static void add_mlp(const struct fr_stage_view *v, const struct mlps *m,
                    struct fr_rank_work *work) {
    double times = m->layers * m->each;
    add_product(v, m->on, m->width / m->p, m->rows, v->h, (v->mlp - 1) * times, m->regathers,
                m->on != &v->mlp_on || !v->t->experts, m->first, work);
    add_second(v, m->on, m->p, v->h, m->rows, m->width, times, m->last, work);
}

static void add_products(const struct fr_stage_view *v, struct fr_rank_work *work) {
    const struct fr_transformer *t = v->t;
    const struct fr_group_view *m = &v->mlp_on, *d = &v->dense_on;
    bool together = fr_transformer_experts_divided(v);
    if (v->attentions > 0) add_attention(v, work);
    const struct fr_again *a = &v->again;
    double rows = fr_experts_rows(v->mlp_rows / v->experts * fr_experts_load(t, v->plan)),
           gathered = together ? v->mixed : 0, wide = (double)t->shared_ffn;
    if (v->dense > 0)
        add_mlp(v,
                &(struct mlps){d, d->p, (double)t->ffn, d->tokens, v->dense, 1, v->dense,
                               a->dense_first, a->dense_last},
                work);
    if (v->mixed <= 0) return;
    add_mlp(v,
            &(struct mlps){m, v->etp, v->wide, rows, v->mixed, v->experts, gathered,
                           a->routed_first, a->routed_last},
            work);
    if (t->shared_ffn > 0)
        add_mlp(v,
                &(struct mlps){d, d->p, wide, d->tokens, v->mixed, 1, v->mixed - gathered,
                               a->shared_first, a->shared_last},
                work);
}

/* ---- the rest ------------------------------------------------------------------------------------ */

double fr_transformer_activated(const struct fr_stage_view *v, bool mixed) {
    const struct fr_group_view *m = &v->mlp_on;
    double own = 2 * (v->mlp - 1) * m->tokens;
    if (!mixed) return own * (double)v->t->ffn / m->p;
    double routed = 2 * (v->mlp - 1) * v->mlp_rows * v->wide / v->etp +
                    4 * v->mlp_rows * v->h * m->p / v->etp / m->between;
    return routed + own * (double)v->t->shared_ffn / m->p;
}

double fr_transformer_latents_moved(const struct fr_stage_view *v) {
    const struct fr_group_view *on = &v->attention_on;
    if (v->a.kv_latent <= 0) return 0;
    return FR_NORM_PASSES * (v->a.q_latent + v->a.from_kv) * on->tokens / on->between +
           2 * (v->a.queries + v->a.keys) / on->p * on->tokens;
}

/* Kernels of blocks that stand alone.  An attention has those of a cross-attention; an MLP has a norm, its products,
 * activation and residual addition. */
static double hybrid_kernels(const struct fr_stage_view *v) {
    const struct fr_transformer *t = v->t;
    double mlp = t->gated ? 6 : 5;
    return v->attentions * (fr_transformer_cross_kernels(t, (int64_t)v->attention_on.p) +
                            fr_transformer_attention_kernels(t)) +
           v->dense * mlp + v->mixed * (mlp + fr_transformer_mixture_kernels(t)) +
           v->ssm * FR_SSM_KERNELS;
}

static double kernels_of(const struct fr_stage_view *v) {
    const struct fr_transformer *t = v->t;
    int64_t p = (int64_t)v->attention_on.p;
    double mixture = t->experts ? v->dense * fr_transformer_mixture_kernels(t) : 0;
    if (fr_transformer_is_hybrid(t)) return hybrid_kernels(v);
    return v->layers * fr_transformer_layer_kernels(t, p) - mixture +
           v->cross * fr_transformer_cross_kernels(t, p);
}

/* Read and written: two norms, two residual additions with dropout, the activation and the softmax
 * with its mask and dropout; of these one norm, one addition and the softmax belong to the
 * attention. */
static void add_elementwise(const struct fr_stage_view *v, struct fr_rank_work *work) {
    const struct fr_transformer *t = v->t;
    const struct fr_group_view *a = &v->attention_on, *m = &v->mlp_on;
    double stream = a->tokens * v->h / a->between, mlp_stream = m->tokens * v->h / m->between,
           softmax = FR_SOFTMAX_PASSES * v->scores;
    double attention =
        (FR_NORM_PASSES + 3) * stream + softmax + fr_transformer_latents_moved(v);
    double mlp = (FR_NORM_PASSES + 3) * mlp_stream, ssm_norm = 0,
           ssm = v->ssm > 0 ? (FR_NORM_PASSES + 3) * stream + fr_ssm_moved(v, &ssm_norm) : 0;
    double moved = v->dense * (mlp + fr_transformer_activated(v, false)) +
                   v->mixed * (mlp + fr_transformer_activated(v, true)) +
                   v->attentions * attention + v->ssm * ssm;
    double norms = (v->attentions + v->ssm) * stream + (v->dense + v->mixed) * mlp_stream +
                   v->ssm * ssm_norm / FR_NORM_PASSES;
    struct fr_stage_share s = {.forward_B = moved * v->value_B,
                               .frozen = fr_transformer_frozen(t),
                               .norm_B = FR_NORM_PASSES * norms * v->value_B,
                               .softmax_B = v->attentions * softmax * v->value_B,
                               .kernels = kernels_of(v),
                               .blocks = (v->attentions + v->dense + v->mixed) / 2,
                               .apart = fr_unfused_of_view(v)};
    /* Not again with a policy: the last addition (two read, one written) and product, and what it keeps. */
    bool op = v->plan->recompute == FR_RECOMPUTE_SELECTIVE_OP;
    const struct fr_again_moved again = fr_recompute_moved(v);
    if (v->saves) s.once_B = v->layers * 3 * mlp_stream * v->value_B;
    double heads = v->attentions * fr_transformer_head_kernels(t, (int64_t)a->p);
    double once = op         ? (v->mlp > 2 ? 3 : 2) * v->layers + heads
                  : v->saves ? 2 * v->layers + v->attentions * (v->out ? 1 : 2)
                             : 0;
    s.again_kernels = v->first ? s.kernels - once : again.kernels;
    s.again_B = again.values * v->value_B;
    s.again_norm_B = again.norms * v->value_B;
    fr_transformer_add_share(work, &s, v->layers, v->plan->recompute);
}

/* Values between an MLP's two products, of all its ranks. */
static double widest(const struct fr_stage_view *v) {
    double dense = v->dense > 0 ? v->mlp_on.tokens * (double)v->t->ffn : 0;
    return fmax(dense, v->mixed > 0 ? v->mlp_rows * v->wide : 0);
}

/* The largest of what a rank makes of a collective between products. */
static double largest_message_B(const struct fr_stage_view *v) {
    const struct fr_group_view *a = &v->attention_on, *m = &v->mlp_on;
    double outer = fmax(a->p > 1 ? a->tokens * v->h : 0, m->p > 1 ? m->tokens * v->h : 0);
    if (!v->rows) return v->gathers && v->layers > 0 ? outer * v->value_B : 0;
    double inner = fmax(a->p > 1 ? a->tokens * v->a.made : 0, m->p > 1 ? widest(v) : 0);
    return v->attentions > 0 ? fmax(outer, inner) * v->value_B : 0;
}

/* Values that a policy saves beside a layer's input. */
static double saved_values(const struct fr_stage_view *v, double stream) {
    const struct fr_group_view *a = &v->attention_on;
    if (!v->saves) return 0;
    if (v->plan->recompute == FR_RECOMPUTE_SELECTIVE_OP) return fr_recompute_op_values(v);
    double values = v->a.queries + v->a.keys + v->a.values;
    return v->attentions * (values / a->p * a->tokens + (v->out ? 0 : stream));
}

/* Inputs that weight gradients need, of an attention's two products, @p in and @p made: all, those that an
 * adapter reads, the first whole, or, frozen, what fused attention keeps of its own. */
static double attention_inputs_B(const struct fr_stage_view *v, double in, double made) {
    bool own = v->scores == 0 && !v->narrow;
    if (fr_transformer_frozen(v->t) && !v->t->lora_attention) return own ? made * v->read_B : 0;
    if (fr_transformer_frozen(v->t)) in = v->attention_on.tokens * v->h;
    return (in + made) * v->read_B + fr_adapters_saved(v, false) * v->value_B;
}

/* The same of an MLP's. */
static double mlp_inputs_B(const struct fr_stage_view *v, double in, double made) {
    if (fr_transformer_frozen(v->t) && !v->t->lora_mlp) return 0;
    if (fr_transformer_frozen(v->t)) in = v->mlp_on.tokens * v->h;
    return (in + made) * v->read_B + fr_adapters_saved(v, true) * v->value_B;
}

/* Korthikanti et al. 2022, Eq.  2: s b h (10 + 24/t + 5 a s / (h t)) bytes at two bytes a value.  With sequence
 * parallel it is Eq.  4, the 10 over t as well.  Here it is written for any dtype, MLP width and head count, with
 * dropout or without.  It counts inputs of the norms and products, the results of the softmax and of dropout after
 * it, and masks.  Divided by rows, inputs of the second products are whole.  With fp8 a product saves its input as it
 * read it, at 8 bits (Transformer Engine).  Inputs of norms, attention and activations stay at value_B, so fused
 * attention's output is saved twice. */
static double attention_saved_B(const struct fr_stage_view *v) {
    const struct fr_group_view *a = &v->attention_on;
    double stream = a->tokens * v->h / a->between;
    double made = (v->rows ? v->a.made * a->p : v->a.made) / a->p * a->tokens;
    double saved = stream + (v->a.queries + v->a.keys + v->a.values) / a->p * a->tokens +
                   (v->t->qk_norms ? (v->a.queries + v->a.keys) / a->p * a->tokens : 0) +
                   (v->narrow && v->scores == 0 ? made : 0);
    double narrow = (v->a.q_latent + v->a.from_kv) * a->tokens / a->between,
           latents_B = v->a.kv_latent > 0 ? narrow * (v->value_B + v->read_B) : 0;
    return saved * v->value_B + attention_inputs_B(v, stream, made) +
           fr_transformer_score_B(v->t, v->value_B) * v->scores +
           fr_transformer_mask_B(v->t) * stream + latents_B;
}

/* Inputs of experts, k copies of a token, saved for their weight gradients.  The router's logits and probabilities
 * take 32 bits each, and the choice of experts is saved too. */
static double routed_saved_B(const struct fr_stage_view *v, double load) {
    enum { ROUTER_B = 4 + 4 + 1 };
    bool trained = !fr_transformer_frozen(v->t);
    double rows = load * v->mlp_rows * v->h;
    return (trained ? rows * v->read_B : 0) +
           ROUTER_B * v->mlp_on.tokens / v->mlp_on.between * (double)v->t->experts;
}

/* A layer's, whose attention keeps @p attention_B: with an MLP, or with experts, of the fullest rank, and what they
 * share. */
static double layer_saved_B(const struct fr_stage_view *v, double attention_B, bool mixed) {
    const struct fr_transformer *t = v->t;
    const struct fr_group_view *m = &v->mlp_on;
    double stream = m->tokens * v->h / m->between;
    double load = mixed ? fr_experts_load(t, v->plan) : 1;
    double routed = mixed ? load * v->mlp_rows * v->wide / v->etp : 0,
           own = m->tokens * (double)(mixed ? t->shared_ffn : t->ffn) / m->p;
    double read_B = t->saved_fp8 ? fr_dtype_size_B(FR_FP8) : v->value_B;
    double made = (v->rows ? v->etp : 1) * routed + (v->rows ? m->p : 1) * own;
    return attention_B + stream * v->value_B + (v->mlp - 1) * (routed + own) * read_B +
           mlp_inputs_B(v, stream, made) + fr_transformer_mask_B(t) * stream +
           (mixed ? routed_saved_B(v, load) : 0);
}

/* Fused attention saves the sums of its softmax, of 32 bits.  It also saves its output before the exchange with ranks
 * that share the sequence, beside the input of the next product.  With narrow values that output is saved twice
 * anyway. */
static double fused_saved_B(const struct fr_stage_view *v) {
    enum { SUM_B = 4 };
    const struct fr_group_view *a = &v->attention_on;
    bool exchanged = v->plan->cp > 1 && v->plan->context_heads && !v->narrow,
         again = fr_recomputes_core(v->plan->recompute);
    double saved = v->scores > 0 ? 0 : again ? 1 - v->recomputed : 1;
    double sums_B = SUM_B * (double)v->t->heads / a->p * a->tokens,
           made_B = exchanged ? v->a.made / a->p * a->tokens * v->value_B : 0;
    return saved * v->attentions * (sums_B + made_B);
}

/* Under autocast a layer saves its weights narrow.  Its stream is of 32 bits, half of which are counted.  Each product
 * has an input of its own: queries, keys and values two more than one, a gated MLP one more. */
static double cast_saved_B(const struct fr_stage_view *v) {
    double stream = v->attention_on.tokens * v->h / v->attention_on.between,
           inputs = 2 + (v->mlp > 2 ? 1 : 0), wide_B = fr_dtype_size_B(FR_FP32) - v->value_B;
    return v->value_B * fr_transformer_layer_parameters_rank(v->t, v->plan->tp) +
           stream * (inputs * v->value_B + 2 * fmax(0, wide_B));
}

/* Layers save more where each operation is a kernel of its own: all that are not made again, and one that is. */
static void add_apart(const struct fr_stage_view *v, struct fr_rank_work *work) {
    double again = v->first ? v->recomputed : 0, kept_B = 0, again_B = 0;
    if (v->dense > 0) {
        kept_B = v->dense * fr_unfused_saved_B(v, false, true);
        again_B = fr_unfused_saved_B(v, false, false);
    }
    if (v->mixed > 0) {
        kept_B += v->mixed * fr_unfused_saved_B(v, true, true);
        again_B = fmax(again_B, fr_unfused_saved_B(v, true, false));
    }
    work->apart_B = (1 - again) * kept_B;
    work->apart_again_B = again * again_B;
    work->moment.casts_B = (1 - again) * v->layers * cast_saved_B(v);
}

static void add_memory(const struct fr_stage_view *v, struct fr_rank_work *work) {
    const struct fr_group_view *a = &v->attention_on;
    double stream = a->tokens * v->h / a->between, attention_B = attention_saved_B(v);
    bool hybrid = fr_transformer_is_hybrid(v->t); /* an attention is a layer of its own */
    double with_B = hybrid ? 0 : attention_B, apart = hybrid ? v->attentions : v->cross,
           dense_B = v->dense > 0 ? layer_saved_B(v, with_B, false) : 0,
           mixed_B = v->mixed > 0 ? layer_saved_B(v, with_B, true) : 0,
           ssm_B = v->ssm > 0 ? fr_ssm_saved_B(v) : 0;
    work->working_B = largest_message_B(v);
    work->activation_B =
        v->dense * dense_B + v->mixed * mixed_B + v->ssm * ssm_B + apart * attention_B;
    work->moment.fused_B = fused_saved_B(v);
    add_apart(v, work);
    if (!v->any) return;
    double largest_B = fmax(fmax(dense_B, mixed_B), ssm_B), module_B = 0,
           saved_B = fr_recompute_saved_B(v, dense_B - with_B, mixed_B - with_B, &module_B);
    if (v->first)
        saved_B =
            work->activation_B - (v->layers * stream + saved_values(v, stream)) * v->value_B;
    work->activation_B -= v->recomputed * saved_B;
    double mixer_B = fmax(ssm_B, hybrid && v->attentions > 0 ? attention_B : 0);
    largest_B =
        fr_layer_blocks(v->t) > 1 ? fmax(dense_B, mixed_B) + mixer_B : fmax(largest_B, mixer_B);
    double again_B = v->layers > 0 && v->first ? largest_B : module_B;
    work->working_B += v->recomputed * again_B;
    if (v->first) again_B -= fmin(again_B, stream * v->value_B); /* its input is kept */
    work->moment.again_B = v->recomputed * again_B;
}

/* Biases after second products, of which by rows a rank has its own part. */
static double bias_saved(const struct fr_stage_view *v, double p) {
    return v->rows && v->t->biases ? v->h - v->h / p : 0;
}

/* Add attentions and MLPs on grids of their own: norms, and biases that every rank has, where they are used. */
static void add_own_grids(const struct fr_stage_view *v, struct fr_rank_work *work) {
    struct fr_transformer_parts parts = fr_transformer_layer_parts(v->t);
    double norm = v->h * (v->t->norm_biases ? 2 : 1), bias = v->t->biases ? v->h : 0;
    double a = v->attention_on.p, m = v->mlp_on.p, mlp_whole = norm + bias,
           whole = parts.replicated - mlp_whole;
    work->grid_rank[FR_GRID_ATTENTION] =
        v->layers * (parts.attention / a + whole) +
        v->cross * (parts.attention / a + parts.cross_replicated) -
        v->attentions * bias_saved(v, a);
    work->grid_rank[FR_GRID_MLP] = v->layers * (parts.mlp / m + mlp_whole - bias_saved(v, m));
    work->parameters_rank = work->grid_rank[FR_GRID_ATTENTION] + work->grid_rank[FR_GRID_MLP];
    for (int g = FR_GRID_ATTENTION; g <= FR_GRID_MLP; g++)
        if (!fr_plan_own_grid(v->plan, g)) work->grid_rank[g] = 0;
}

/* Add parameters of blocks that stand alone, each with its norm. */
static void add_hybrid_parameters(const struct fr_stage_view *v, struct fr_rank_work *work) {
    const struct fr_transformer *t = v->t;
    struct fr_transformer_parts parts = fr_transformer_layer_parts(t);
    double norm = v->h * (t->norm_biases ? 2 : 1), bias = t->biases ? v->h : 0,
           divided = v->attentions * parts.attention + v->dense * parts.dense +
                     v->mixed * parts.mlp + v->ssm * fr_ssm_of(t).parameters,
           whole = v->attentions * (parts.cross_replicated + fr_attention_of(t).whole) +
                   (v->dense + v->mixed) * (norm + bias) + v->ssm * norm +
                   v->layers * t->vectors;
    double p = v->attention_on.p;
    work->parameters = divided + whole;
    work->parameters_rank = divided / p + whole;
    if (v->predicted <= 0) return;
    work->parameters += fr_predicted_parameters(t, 1);
    work->parameters_rank += fr_predicted_parameters(t, p);
}

/* A rank holds its share of experts, and routers whole. */
static void add_experts_share(const struct fr_stage_view *v, struct fr_rank_work *work) {
    double all = v->mixed * fr_experts_parameters(v->t),
           routers = v->mixed * v->h * (double)v->t->experts;
    work->expert_rank = all / (v->etp * (double)v->plan->ep);
    work->parameters_rank += work->expert_rank - all / v->mlp_on.p;
    work->parameters_rank += routers - routers / v->mlp_on.p;
}

static void add_parameters(const struct fr_stage_view *v, struct fr_rank_work *work) {
    const struct fr_transformer *t = v->t;
    struct fr_transformer_parts parts = fr_transformer_layer_parts(t);
    double p = (double)v->plan->tp;
    if (fr_transformer_is_hybrid(t)) {
        add_hybrid_parameters(v, work);
        if (t->experts) add_experts_share(v, work);
        return;
    }
    work->parameters = v->layers * fr_transformer_layer_parameters(t) +
                       v->cross * (parts.attention + parts.cross_replicated);
    work->parameters_rank = v->layers * fr_transformer_layer_parameters_rank(t, v->plan->tp) +
                            v->cross * (parts.attention / p + parts.cross_replicated) -
                            (v->attentions + v->layers) * bias_saved(v, p);
    if (v->predicted > 0) {
        work->parameters += fr_predicted_parameters(t, 1);
        work->parameters_rank += fr_predicted_parameters(t, p);
    }
    if (!v->uniform) add_own_grids(v, work);
    if (!t->experts) return;
    double without = v->dense * (parts.mlp - parts.dense);
    work->parameters -= without;
    work->parameters_rank -= without / p;
    add_experts_share(v, work);
}

/* ---- embedding and logits ------------------------------------------------------------------------ */

static void add_ends(const struct fr_stage_view *v, bool first, bool last,
                     struct fr_rank_work *work) {
    const struct fr_group_view *e = &v->ends_on;
    double words = (double)fr_transformer_padded_vocabulary(v->t, (int64_t)e->p);
    const struct fr_ends ends = {.tokens = e->tokens,
                                 .batch = e->batch,
                                 .words = words / e->p,
                                 .value_B = v->value_B,
                                 .saved = v->h / e->between,
                                 .logits_saved = v->h / e->between,
                                 .regathers = v->gathers && e->p > 1 ? 1 : 0,
                                 .predicted = v->predicted,
                                 .loss = v->plan->loss,
                                 .axis = e->axis};
    double before = work->parameters_rank;
    fr_transformer_add_vocabulary(work, v->t, v->plan, (int64_t)e->p, first, last);
    if (fr_plan_own_grid(v->plan, FR_GRID_ENDS))
        work->grid_rank[FR_GRID_ENDS] = work->parameters_rank - before;
    fr_transformer_add_ends(work, v->t, first, last, &ends);
    fr_transformer_add_vocabulary_exchanges(v, first, last, work);
}

/* All that was counted stays as it is; adapters come on top. */
static void freeze(const struct fr_stage_view *v, struct fr_rank_work *work) {
    double trained = fr_adapters_parameters(v);
    work->frozen = work->parameters;
    work->frozen_rank = work->parameters_rank;
    work->parameters += trained;
    work->parameters_rank += trained / (double)v->plan->tp;
}

void fr_transformer_stage(const struct fr_workload *workload, const struct fr_plan *plan,
                          int64_t i, struct fr_rank_work *work) {
    const struct fr_stage_view v = view_of(workload, plan, i);
    bool first = i == 0, last = i == fr_plan_last_stage(plan);
    fr_work_begin(work);
    work->layers = v.layers;
    work->mixed = v.mixed;
    work->recomputed = v.recomputed;
    add_parameters(&v, work);
    add_products(&v, work);
    fr_ssm_add(&v, work);
    fr_cache_add(v.t,
                 &(struct fr_cache_share){v.attentions, v.attention_on.batch, v.attention_on.p,
                                          v.value_B},
                 work);
    fr_transformer_add_exchanges(workload, &v, work);
    add_elementwise(&v, work);
    fr_adapters_add(&v, work);
    fr_recompute_take_share(v.recomputed, work);
    add_memory(&v, work);
    work->n_layer_ops = work->n_ops;
    fr_predicted_add(&v, work);
    add_ends(&v, first, last, work);
    work->moment.pass_B = work->working_B;
    fr_transformer_add_moment(&v, first, last, largest_message_B(&v), work);
    if (fr_transformer_frozen(v.t)) freeze(&v, work);
}

double fr_transformer_parameters(const struct fr_workload *workload) {
    const struct fr_transformer *t = &workload->transformer;
    const struct fr_plan plan = fr_plan_default();
    struct fr_rank_work work;
    if (t->layers == 0) return (double)NAN;
    fr_transformer_stage(workload, &plan, 0, &work);
    double rows = (double)(fr_transformer_padded_vocabulary(t, 1) - t->vocabulary);
    return work.parameters - rows * (double)(t->hidden * (t->tied ? 1 : 2));
}
