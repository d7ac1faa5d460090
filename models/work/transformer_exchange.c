/* Exchanges among the ranks of a transformer's stage (models/work/transformer_view.h).
 *
 *  Over a group's p ranks, of T tokens, with w values between two products (q of the heads, f of the
 *  MLP) and h after them:
 *
 *                        forward                         backward
 *      pairs             all-reduce T h                  all-reduce T h
 *      pairs, SP         all-gather, reduce-scatter T h  all-gather, reduce-scatter T h
 *      rows              all-gather T w, all-gather T h  all-reduce T w, all-reduce T h
 *      rows, SP          all-gather T h, all-gather T w, all-to-all T h / p, all-reduce T w,
 *                        all-to-all T h / p              reduce-scatter T h
 *
 * By rows each product has the terms of Gholami et al. 2017, Eq. 4: its outputs gathered, its input's gradient
 * all-reduced.  Heads and an MLP's activation work on a rank's own rows.  So queries, keys and values, and the values
 * between up and down before the activation, are not gathered.  With sequence parallel (SP) a rank needs whole tokens
 * of its share after the second product, and has its own rows of all tokens: an all-to-all.  For embedding and logits
 * the vocabulary is divided (the logits' rows), and the loss needs no gathering; both divisions are the same there.
 *
 *  Between two grids, of P_r = p and p' rows among the same R ranks, tokens are redistributed: R / p' columns
 *  have each p'/p times the samples of R / p.  Where p' > p that many neighbours gather theirs, h values a
 *  token, the other way they keep what they need; the gradients go the other way round.  (One gather
 *  of T h over max / min neighbours for each change of grids, as fr_redistribution_s has it for layers.)
 *  With sequence parallel every rank has 1/R of a micro-batch's tokens between products on any grid, and
 *  nothing is redistributed. */
#include "models/work/dispatch.h"
#include "models/work/experts.h"
#include "models/work/transformer_view.h"

static const fr_pass_kind passes[] = {FR_PASS_FORWARD, FR_PASS_INPUT, FR_PASS_AGAIN};

static struct fr_operation *add(struct fr_rank_work *work, fr_pass_kind pass,
                                const struct fr_group_view *on, fr_op op, double size_B,
                                double times) {
    return fr_work_add_collective(work, pass, on->axis, op, size_B, times);
}

static uint8_t beside_pairs(const struct fr_stage_view *v) {
    return v->gathers && v->plan->overlap_tp ? FR_BESIDE_PIECES : FR_BESIDE_NOTHING;
}

/* Around @p times pairs, before which @p arrives values a token come: each way one all-reduce, or a gather before and
 * a scatter after, which the plan may have in pieces beside the products. */
static void add_pairs(const struct fr_stage_view *v, const struct fr_group_view *on,
                      double arrives, double times, struct fr_rank_work *work) {
    double token_B = on->tokens * v->value_B;
    uint8_t beside = beside_pairs(v);
    for (int k = 0; k < (v->full ? 3 : 2); k++) {
        double in = k == 1 ? v->h : arrives, out = k == 1 ? arrives : v->h;
        if (v->gathers)
            add(work, passes[k], on, FR_OP_ALL_GATHER, token_B * in, times)->beside = beside;
        add(work, passes[k], on, v->gathers ? FR_OP_REDUCE_SCATTER : FR_OP_ALL_REDUCE,
            token_B * out, times)
            ->beside = beside;
    }
}

/* Again with a policy: the end of the attention's pair where that is not kept, the beginning of the MLP's. */
static void add_unsaved(const struct fr_stage_view *v, double mlps, struct fr_rank_work *work) {
    const struct fr_group_view *a = &v->attention_on, *m = &v->mlp_on;
    double size_B = a->tokens * v->h * v->value_B;
    if (!v->saves || v->plan->recompute == FR_RECOMPUTE_SELECTIVE_OP) return;
    if (v->out && a->p > 1)
        add(work, FR_PASS_AGAIN, a, v->gathers ? FR_OP_REDUCE_SCATTER : FR_OP_ALL_REDUCE,
            size_B, v->attentions)
            ->beside = beside_pairs(v);
    if (v->gathers && m->p > 1 && mlps > 0)
        add(work, FR_PASS_AGAIN, m, FR_OP_ALL_GATHER, size_B, mlps)->beside = beside_pairs(v);
}

/* Around @p times of two products by rows, with @p between values after the first. */
static void add_rows(const struct fr_stage_view *v, const struct fr_group_view *on,
                     double between, double times, struct fr_rank_work *work) {
    double between_B = between * v->value_B, size_B = on->tokens * v->h * v->value_B;
    for (int k = 0; k < (v->full ? 3 : 2); k++) {
        bool back = k == 1;
        add(work, passes[k], on, back ? FR_OP_ALL_REDUCE : FR_OP_ALL_GATHER, between_B, times);
        if (!v->gathers) {
            add(work, passes[k], on, back ? FR_OP_ALL_REDUCE : FR_OP_ALL_GATHER, size_B, times);
            continue;
        }
        add(work, passes[k], on, back ? FR_OP_REDUCE_SCATTER : FR_OP_ALL_GATHER, size_B, times);
        add(work, passes[k], on, FR_OP_ALL_TO_ALL, size_B / on->p, times);
    }
}

/* Add exchanges of MLPs, of experts, and of shared MLPs. */
static void add_mlp_rows(const struct fr_stage_view *v, const struct fr_group_view *m,
                         struct fr_rank_work *work) {
    double load = v->t->experts ? fr_experts_load(v->t, v->plan) : 1;
    if (v->dense > 0) add_rows(v, m, m->tokens * (double)v->t->ffn, v->dense, work);
    if (v->mixed > 0 && fr_transformer_experts_divided(v))
        add_rows(v, m, v->mlp_rows * load * v->wide, v->mixed, work);
    if (v->mixed > 0 && v->t->shared_ffn > 0)
        add_rows(v, m, m->tokens * (double)v->t->shared_ffn, v->mixed, work);
}

/* Again with a policy, by rows: what the weight gradients of second products read, whole, of the heads and of the
 * MLP's width; what the attention's second one made, where that is not kept. */
static void add_rows_again(const struct fr_stage_view *v, const struct fr_group_view *on,
                           double between, double times, bool out, bool enters,
                           struct fr_rank_work *work) {
    double size_B = on->tokens * v->h * v->value_B;
    if (enters && v->gathers) add(work, FR_PASS_AGAIN, on, FR_OP_ALL_GATHER, size_B, times);
    add(work, FR_PASS_AGAIN, on, FR_OP_ALL_GATHER, between * v->value_B, times);
    if (out)
        add(work, FR_PASS_AGAIN, on, v->gathers ? FR_OP_ALL_TO_ALL : FR_OP_ALL_GATHER,
            v->gathers ? size_B / on->p : size_B, times);
}

static void add_unsaved_rows(const struct fr_stage_view *v, struct fr_rank_work *work) {
    const struct fr_group_view *a = &v->attention_on, *m = &v->mlp_on;
    if (!v->saves) return;
    if (a->p > 1)
        add_rows_again(v, a, a->tokens * v->a.made, v->attentions, v->out, false, work);
    if (m->p > 1 && v->dense > 0)
        add_rows_again(v, m, m->tokens * (double)v->t->ffn, v->dense, false, true, work);
}

/* Keys and values of a cross-attention are made of what the encoder made, a second input beside the queries':
 * its gradient's partial sums are added up too, and divided along the sequence it is gathered. */
static void add_crossings(const struct fr_stage_view *v, struct fr_rank_work *work) {
    const struct fr_group_view *a = &v->attention_on;
    double size_B = a->tokens * v->h * v->value_B;
    uint8_t beside = v->rows ? FR_BESIDE_NOTHING : beside_pairs(v);
    for (int k = 0; v->cross > 0 && a->p > 1 && k < (v->full ? 3 : 2); k++) {
        bool back = k == 1;
        if (!back && !v->gathers) continue;
        add(work, passes[k], a,
            !v->gathers ? FR_OP_ALL_REDUCE
            : back      ? FR_OP_REDUCE_SCATTER
                        : FR_OP_ALL_GATHER,
            size_B, v->cross)
            ->beside = beside;
    }
}

static void add_layers(const struct fr_stage_view *v, struct fr_rank_work *work) {
    const struct fr_group_view *a = &v->attention_on, *m = &v->mlp_on;
    double mlps = fr_transformer_mlps_divided(v);
    if (v->rows && a->p > 1) add_rows(v, a, a->tokens * v->a.made, v->attentions, work);
    if (v->rows && m->p > 1) add_mlp_rows(v, m, work);
    add_crossings(v, work);
    if (v->rows) add_unsaved_rows(v, work);
    if (v->rows) return;
    bool alike = a->axis == m->axis && v->a.arrives == v->h;
    if (a->p > 1)
        add_pairs(v, a, v->a.arrives, v->attentions + v->ssm + (alike ? mlps : 0), work);
    if (m->p > 1 && !alike && mlps > 0) add_pairs(v, m, v->h, mlps, work);
    add_unsaved(v, mlps, work);
    fr_recompute_add_exchanges(v, mlps, work);
}

/* @p times tokens go from one group's grid to another's. To a grid of fewer columns they are gathered on the way
 * there, to one of more on their gradients' way back. The other direction drops the surplus. Tokens divided along the
 * sequence are already where they are needed. */
static void move(const struct fr_stage_view *v, const struct fr_group_view *from,
                 const struct fr_group_view *to, fr_axis axis, double times, bool again,
                 struct fr_rank_work *work) {
    double most = to->p > from->p ? to->tokens : from->tokens;
    bool back = from->p > to->p;
    if (from->p == to->p || v->gathers || times <= 0) return;
    for (int k = 0; k < (again ? 3 : 2); k++)
        if ((k == 1) == back)
            fr_work_add_collective(work, passes[k], axis, FR_OP_ALL_GATHER,
                                   most * v->h * v->value_B, times);
}

/* Into every MLP, and out of every one but those whose message, or whose logits, take it. */
static void add_moves(const struct fr_stage_view *v, struct fr_rank_work *work) {
    const struct fr_group_view *a = &v->attention_on, *m = &v->mlp_on;
    move(v, a, m, FR_AXIS_TO_MLP, v->layers, v->full, work);
    move(v, m, a, FR_AXIS_TO_MLP, v->layers - v->leaving, v->full, work);
}

/* Context parallel by all-to-all (Jacobs et al., DeepSpeed Ulysses, 2023): from T tokens of all of the rank's
 * heads to all tokens of 1/cp of them, queries, keys and values; what the heads made goes back.  Their
 * gradients go the other way. */
static void add_head_exchanges(struct fr_rank_work *work, const struct fr_plan *plan,
                               const struct fr_context *c) {
    double token_B = c->tokens / c->p * c->value_B;
    for (int k = 0; k < (fr_recomputes_layer(plan->recompute) ? 3 : 2); k++) {
        fr_work_add_collective(work, passes[k], FR_AXIS_CP, FR_OP_ALL_TO_ALL,
                               (c->q + c->kv) * token_B, c->attentions);
        fr_work_add_collective(work, passes[k], FR_AXIS_CP, FR_OP_ALL_TO_ALL, c->made * token_B,
                               c->attentions);
    }
}

/* Context parallel: the keys and values of the other ranks come in beside the attention that uses
 * them (a ring), and their gradients go back; attention that is recomputed asks for them once more. */
void fr_transformer_add_context(struct fr_rank_work *work, const struct fr_transformer *t,
                                const struct fr_plan *plan, const struct fr_context *c) {
    double size_B = c->kv / c->p * c->batch * (double)t->sequence * c->value_B,
           n = c->attentions;
    if (plan->cp <= 1) return;
    if (plan->context_heads) {
        add_head_exchanges(work, plan, c);
        return;
    }
    for (int k = 0; k < (fr_recomputes_core(plan->recompute) ? 3 : 2); k++)
        fr_work_add_collective(work, passes[k], FR_AXIS_CP, FR_OP_ALL_GATHER, size_B, n)
            ->beside = FR_BESIDE_ATTENTION;
    fr_work_add_collective(work, FR_PASS_INPUT, FR_AXIS_CP, FR_OP_REDUCE_SCATTER, size_B, n)
        ->beside = FR_BESIDE_ATTENTION;
}

/* To the experts and back, forward and backward; again where all is recomputed, with a policy there alone.  By rows an expert's
 * outputs come back from the rank that made them, 1/p each; the same share of their gradients goes
 * out backward. */
static void add_exchange(const struct fr_stage_view *v, fr_axis axis, double size_B,
                         struct fr_rank_work *work) {
    bool shares =
        v->rows && !v->gathers && v->mlp_on.p > 1 && fr_transformer_experts_divided(v);
    int n = fr_recomputes_experts(v->plan->recompute) ? 3 : 2;
    for (int k = 0; k < n && size_B > 0; k++)
        for (int share = 0; share < (shares ? 2 : 1); share++)
            fr_work_add_collective(work, passes[k], axis, FR_OP_ALL_TO_ALL,
                                   share ? size_B / v->mlp_on.p : size_B,
                                   shares || (k == 2 && v->saves) ? v->mixed : 2 * v->mixed)
                ->beside = v->plan->overlap_experts ? FR_BESIDE_PASS : FR_BESIDE_NOTHING;
}

static void add_experts(const struct fr_workload *workload, const struct fr_stage_view *v,
                        struct fr_rank_work *work) {
    const struct fr_plan *plan = v->plan;
    if (v->mixed <= 0 || plan->ep <= 1) return;
    const struct fr_dispatch copies = fr_dispatch_of(v->t, plan);
    double tokens = v->mlp_on.tokens;
    add_exchange(v, plan->dispatch_ranks ? FR_AXIS_EP_ACROSS : FR_AXIS_EP,
                 fr_experts_sent_B(workload, plan, tokens, copies.across), work);
    add_exchange(v, FR_AXIS_EP_WITHIN, fr_experts_sent_B(workload, plan, tokens, copies.within),
                 work);
}

void fr_transformer_add_exchanges(const struct fr_workload *workload,
                                  const struct fr_stage_view *v, struct fr_rank_work *work) {
    add_layers(v, work);
    add_moves(v, work);
    const struct fr_group_view *a = &v->attention_on;
    fr_transformer_add_context(work, v->t, v->plan,
                               &(struct fr_context){v->a.queries, v->a.keys + v->a.values,
                                                    v->a.made, a->p, a->tokens, a->batch,
                                                    v->value_B, v->attentions});
    add_experts(workload, v, work);
}

/* The vocabulary is divided: each rank looks up its part of it, so the embeddings are summed;
 * each makes a part of the logits, so their input gradients are. */
void fr_transformer_add_vocabulary_exchanges(const struct fr_stage_view *v, bool first,
                                             bool last, struct fr_rank_work *work) {
    const struct fr_group_view *e = &v->ends_on;
    double size_B = e->tokens * v->h * v->value_B;
    fr_op sum = v->gathers ? FR_OP_REDUCE_SCATTER : FR_OP_ALL_REDUCE;
    if (first) move(v, e, &v->attention_on, FR_AXIS_FROM_ENDS, 1, false, work);
    if (last) move(v, &v->mlp_on, e, FR_AXIS_TO_ENDS, 1, false, work);
    if (e->p <= 1) return;
    double embedded = (first ? 1 : 0) + v->predicted, made = (last ? 1 : 0) + v->predicted;
    if (embedded > 0) add(work, FR_PASS_FORWARD, e, sum, size_B, embedded);
    if (made > 0) add(work, FR_PASS_INPUT, e, sum, size_B, made);
    if (embedded > 0 && v->gathers)
        add(work, FR_PASS_INPUT, e, FR_OP_ALL_GATHER, size_B, embedded);
    if (made > 0 && v->gathers) add(work, FR_PASS_FORWARD, e, FR_OP_ALL_GATHER, size_B, made);
}
