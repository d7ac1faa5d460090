#include "models/work/recompute.h"

#include <math.h>

#include "models/work/experts.h"
#include "models/work/transformer_view.h"
#include "models/workload/attention.h"
#include "models/workload/hybrid.h"

/* ---- products ------------------------------------------------------------------------------------ */

/* torchtitan saves the first of a block's products and every second one after it: of queries, keys, values, what
 * follows the heads, and an MLP's two or three, in this order. */
static struct fr_again every_second(const struct fr_transformer *t) {
    const struct fr_attention_sizes a = fr_attention_of(t);
    return (struct fr_again){.qkv = a.keys / (a.queries + a.keys + a.values),
                             .out = 1,
                             .dense_first = t->gated ? 0.5 : 0,
                             .dense_last = t->gated ? 0 : 1};
}

static double has(fr_recompute recompute, int any) { return recompute & any ? 1 : 0; }

struct fr_again fr_again_of(const struct fr_transformer *t, fr_recompute r) {
    if (r == FR_RECOMPUTE_SELECTIVE_OP) return every_second(t);
    double full = r == FR_RECOMPUTE_FULL, first = fr_recomputes_layer(r),
           out = r == FR_RECOMPUTE_FULL || r == FR_RECOMPUTE_SAVE_QKV;
    if (first > 0)
        return (struct fr_again){full, full, out, first, full, first, full, first, full};
    bool latent = fr_attention_is_latent(t);
    double up = latent ? has(r, FR_RECOMPUTE_MLA_UP_PROJ) : 0, mlp = has(r, FR_RECOMPUTE_MLP),
           moe = has(r, FR_RECOMPUTE_MOE),
           shared = has(r, FR_RECOMPUTE_MOE | FR_RECOMPUTE_SHARED_EXPERTS);
    return (struct fr_again){0, up, 0, mlp, mlp, moe, moe, shared, shared};
}

/* ---- modules ------------------------------------------------------------------------------------- */

/* A part of one layer; its MLP or experts save @p stored_B. */
struct part {
    const struct fr_stage_view *v;
    double mlp_B, experts_B;
};

static double attention_stream(const struct fr_stage_view *v) {
    return v->attention_on.tokens * v->h / v->attention_on.between;
}
static double mlp_stream(const struct fr_stage_view *v) {
    return v->mlp_on.tokens * v->h / v->mlp_on.between;
}
static double shared_values(const struct fr_stage_view *v) {
    return v->mlp_on.tokens * (double)v->t->shared_ffn / v->mlp_on.p;
}
static double routed_values(const struct fr_stage_view *v) {
    return v->mlp_rows * v->wide / v->etp;
}
/* The input of an MLP stays, with the mask of its dropout. */
static double stays_B(const struct fr_stage_view *v) {
    return mlp_stream(v) * (v->value_B + fr_transformer_mask_B(v->t));
}

static double latents(const struct fr_stage_view *v) {
    return v->a.kv_latent > 0 ? v->attentions : 0;
}
static double attentions(const struct fr_stage_view *v) { return v->attentions; }
static double mixed(const struct fr_stage_view *v) { return v->mixed; }
static double dense(const struct fr_stage_view *v) { return v->dense; }
static double shared(const struct fr_stage_view *v) {
    return v->t->shared_ffn > 0 ? v->mixed : 0;
}

static double core_B(const struct part *p) {
    return fr_transformer_score_B(p->v->t, p->v->value_B) * p->v->scores;
}
static double input_norm_B(const struct part *p) {
    return attention_stream(p->v) * p->v->read_B;
}
static double mlp_norm_B(const struct part *p) { return mlp_stream(p->v) * p->v->read_B; }
static double up_B(const struct part *p) {
    const struct fr_stage_view *v = p->v;
    const struct fr_group_view *a = &v->attention_on;
    double made = (v->a.queries + v->a.keys + v->a.values) / a->p * a->tokens,
           narrow = (v->a.q_latent + v->a.from_kv) * a->tokens / a->between;
    return made * v->value_B + narrow * v->read_B;
}
static double activation_B(const struct part *p) {
    return fr_experts_load(p->v->t, p->v->plan) * routed_values(p->v) * p->v->read_B;
}
static double shared_B(const struct part *p) {
    const struct fr_stage_view *v = p->v;
    double stored_B = v->t->saved_fp8 ? fr_dtype_size_B(FR_FP8) : v->value_B;
    return shared_values(v) * ((v->mlp - 1) * stored_B + v->read_B);
}
static double experts_B(const struct part *p) {
    return p->experts_B - stays_B(p->v) - mlp_norm_B(p);
}
static double mlp_B(const struct part *p) { return p->mlp_B - stays_B(p->v); }

static double nothing(const struct fr_stage_view *v) {
    (void)v;
    return 0;
}
static double normed(const struct fr_stage_view *v) {
    return FR_NORM_PASSES * attention_stream(v);
}
static double normed_mlp(const struct fr_stage_view *v) {
    return FR_NORM_PASSES * mlp_stream(v);
}
static double activated(const struct fr_stage_view *v) {
    return 2 * (v->mlp - 1) * routed_values(v);
}
static double activated_shared(const struct fr_stage_view *v) {
    return 2 * (v->mlp - 1) * shared_values(v);
}
static double moved_experts(const struct fr_stage_view *v) {
    return fr_transformer_activated(v, true);
}
static double moved_mlp(const struct fr_stage_view *v) {
    return fr_transformer_activated(v, false) + normed_mlp(v);
}

/* Products of an MLP with their activation. */
static double mlp_kernels(const struct fr_stage_view *v) { return v->mlp + 1; }
static double head_kernels(const struct fr_stage_view *v) {
    return fr_transformer_head_kernels(v->t, (int64_t)v->attention_on.p);
}
static double one_kernel(const struct fr_stage_view *v) {
    (void)v;
    return 1;
}
/* Two products, a norm before each that is made of a latent, the rotation with its joining to keys. */
static double up_kernels(const struct fr_stage_view *v) { return v->t->q_latent > 0 ? 5 : 4; }
static double expert_kernels(const struct fr_stage_view *v) {
    return mlp_kernels(v) + fr_transformer_mixture_kernels(v->t);
}
static double normed_kernels(const struct fr_stage_view *v) { return mlp_kernels(v) + 1; }

static const struct {
    fr_recompute module, inside; /* inside: of which it is a part */
    double (*layers)(const struct fr_stage_view *v);
    double (*saved_B)(const struct part *p);
    double (*values)(const struct fr_stage_view *v); /* moved; a core's softmax is its own */
    double (*norms)(const struct fr_stage_view *v);
    double (*kernels)(const struct fr_stage_view *v);
} modules[] = {
    {FR_RECOMPUTE_CORE_ATTN, 0, attentions, core_B, nothing, nothing, head_kernels},
    {FR_RECOMPUTE_LAYERNORM, 0, latents, input_norm_B, normed, normed, one_kernel},
    {FR_RECOMPUTE_LAYERNORM, 0, mixed, mlp_norm_B, normed_mlp, normed_mlp, one_kernel},
    {FR_RECOMPUTE_MLA_UP_PROJ, 0, latents, up_B, fr_transformer_latents_moved, nothing,
     up_kernels},
    {FR_RECOMPUTE_MOE_ACT, FR_RECOMPUTE_MOE, mixed, activation_B, activated, nothing,
     one_kernel},
    {FR_RECOMPUTE_SHARED_EXPERTS, FR_RECOMPUTE_MOE, shared, shared_B, activated_shared, nothing,
     mlp_kernels},
    {FR_RECOMPUTE_MOE, 0, mixed, experts_B, moved_experts, nothing, expert_kernels},
    {FR_RECOMPUTE_MLP, 0, dense, mlp_B, moved_mlp, normed_mlp, normed_kernels}};
enum { MODULES = sizeof modules / sizeof *modules };

/* In how many layers of the stage. */
static double layers_of(const struct fr_stage_view *v, int i) {
    fr_recompute r = v->plan->recompute;
    bool taken = !fr_recomputes_layer(r) && r & modules[i].module && !(r & modules[i].inside);
    return taken ? modules[i].layers(v) : 0;
}

struct fr_again_moved fr_recompute_moved(const struct fr_stage_view *v) {
    struct fr_again_moved sum = {0};
    for (int i = 0; i < MODULES; i++) {
        double n = layers_of(v, i);
        if (n <= 0) continue;
        sum.values += n * modules[i].values(v);
        sum.norms += n * modules[i].norms(v);
        sum.kernels += n * modules[i].kernels(v);
    }
    return sum;
}

double fr_recompute_saved_B(const struct fr_stage_view *v, double mlp_B_, double experts_B_,
                            double *largest_B) {
    const struct part p = {v, mlp_B_, experts_B_};
    double sum_B = 0;
    *largest_B = 0;
    for (int i = 0; i < MODULES; i++) {
        double n = layers_of(v, i), one_B = n > 0 ? fmax(0, modules[i].saved_B(&p)) : 0;
        sum_B += n * one_B;
        *largest_B = fmax(*largest_B, fmin(1, n) * one_B);
    }
    return sum_B;
}

/* ---- a policy of products ------------------------------------------------------------------------ */

/* Queries and values, what the heads made, the MLP's first product and, of three, its last one, whole before it is
 * scattered; what was scattered; scores that no fused kernel spares. */
double fr_recompute_op_values(const struct fr_stage_view *v) {
    const struct fr_group_view *a = &v->attention_on, *m = &v->mlp_on;
    double heads = (v->a.queries + v->a.values + v->a.made) / a->p * a->tokens + v->scores,
           mlp = m->tokens * (double)v->t->ffn / m->p + (v->mlp > 2 ? m->tokens * v->h : 0),
           scattered = v->gathers ? (a->p > 1 ? attention_stream(v) : 0) +
                                        (m->p > 1 ? mlp_stream(v) : 0)
                                  : 0;
    return v->attentions * heads + v->layers * (mlp + scattered);
}

/* ---- exchanges ----------------------------------------------------------------------------------- */

static void add(const struct fr_stage_view *v, const struct fr_group_view *on, fr_op op,
                double values, double times, struct fr_rank_work *work) {
    if (times <= 0 || on->p <= 1) return;
    fr_work_add_collective(work, FR_PASS_AGAIN, on->axis, op, on->tokens * values * v->value_B,
                           times)
        ->beside = v->gathers && v->plan->overlap_tp ? FR_BESIDE_PIECES : FR_BESIDE_NOTHING;
}

/* MLPs, and mixtures of which the experts or what they share are divided over tp. */
static double mlps_again(const struct fr_stage_view *v) {
    fr_recompute r = v->plan->recompute;
    bool shares = v->t->shared_ffn > 0,
         mixes = r & FR_RECOMPUTE_MOE ? shares || fr_transformer_experts_divided(v)
                                      : r & FR_RECOMPUTE_SHARED_EXPERTS && shares;
    return (r & FR_RECOMPUTE_MLP ? v->dense : 0) + (mixes ? v->mixed : 0);
}

void fr_recompute_add_exchanges(const struct fr_stage_view *v, double mlps,
                                struct fr_rank_work *work) {
    const struct fr_group_view *a = &v->attention_on, *m = &v->mlp_on;
    fr_recompute r = v->plan->recompute;
    if (r == FR_RECOMPUTE_SELECTIVE_OP && v->gathers) { /* what was scattered is kept */
        add(v, a, FR_OP_ALL_GATHER, v->a.arrives, v->attentions, work);
        add(v, m, FR_OP_ALL_GATHER, v->h, mlps, work);
    } else if (r == FR_RECOMPUTE_SELECTIVE_OP) /* what was all-reduced is not */
        add(v, a, FR_OP_ALL_REDUCE, v->h, v->attentions, work);
    if (!fr_recomputes_modules(r)) return;
    double n = mlps_again(v);
    if (v->gathers && r & FR_RECOMPUTE_MLA_UP_PROJ)
        add(v, a, FR_OP_ALL_GATHER, v->a.arrives, latents(v), work);
    if (v->gathers) add(v, m, FR_OP_ALL_GATHER, v->h, n, work);
    add(v, m, v->gathers ? FR_OP_REDUCE_SCATTER : FR_OP_ALL_REDUCE, v->h, n, work);
}

void fr_recompute_take_share(double share, struct fr_rank_work *work) {
    for (int k = 0; share < 1 && k < work->n_ops; k++)
        if (work->op[k].pass == FR_PASS_AGAIN) work->op[k].times *= share;
}

/* ---- what is not modelled ------------------------------------------------------------------------ */

const char *fr_recompute_refused(const struct fr_workload *workload,
                                 const struct fr_plan *plan) {
    const struct fr_transformer *t = &workload->transformer;
    fr_recompute r = plan->recompute;
    bool tensor = plan->method->megatron, op = r == FR_RECOMPUTE_SELECTIVE_OP;
    bool plain = t->lora_rank == 0 && !fr_transformer_is_hybrid(t);
    if (plan->recompute_layers > 0 && !plan->method->by_products)
        return "is of some layers for methods tensor and grid alone";
    if (fr_recomputes_modules(r) && !tensor) return "is priced for method tensor";
    if (fr_recomputes_modules(r) && t->lora_rank > 0)
        return "beside lora_rank: what of an adapter these modules keep nobody has said";
    if (r & FR_RECOMPUTE_MOE_ACT && t->experts == 0)
        return "needs a mixture of experts: moe_act is the activation of grouped experts";
    if (r & FR_RECOMPUTE_MLA_UP_PROJ && !fr_attention_is_latent(t))
        return "needs latent attention (kv_latent): mla_up_proj is its wide products";
    if (op && (!tensor || !plain || t->experts > 0 || fr_attention_is_latent(t)))
        return "is priced for method tensor and dense layers with plain heads: which products "
               "it keeps of others nobody has said";
    if (!fr_recompute_saves(r) || op) return NULL;
    bool priced = tensor || (plan->method->by_products && t->experts == 0);
    if (t->lora_rank > 0)
        return "beside lora_rank: what of an adapter that policy keeps nobody has said";
    if (fr_transformer_is_hybrid(t))
        return "beside a pattern: what of a state-space block that policy keeps nobody has "
               "said";
    return priced ? NULL
                  : "is priced for method tensor: what other methods keep nobody has said";
}
