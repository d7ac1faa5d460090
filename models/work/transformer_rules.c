/* How a plan must divide a transformer, and why it does not (fr_transformer_check).  One list of
 * rules: what a search asks of millions of plans, and the sentence of the one that is shown. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "models/plan/copies.h"
#include "models/work/cache.h"
#include "models/work/transformer.h"
#include "models/workload/attention.h"

/* Rules that are broken so far; the sentences of `asked` go to `text`. */
struct hearing {
    fr_reasons reasons;
    int asked; /* -1: none */
    struct fr_text *text;
};

__attribute__((format(printf, 4, 5))) static void rule(struct hearing *h, bool holds,
                                                       int reason, const char *format, ...) {
    va_list values;
    char line[256];
    if (holds) return;
    h->reasons |= FR_BECAUSE(reason);
    if (h->asked != reason) return;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    fr_text_addf(h->text, "%s%s", h->text->length ? "; " : "", line);
}

static void divide_layer(const struct fr_transformer *t, const struct fr_plan *plan,
                         struct hearing *h) {
    int64_t tp = plan->tp, share = plan->cp * (plan->sequence_parallel ? tp : 1);
    const struct fr_block_counts blocks = fr_block_counts_of(t);
    bool attends = blocks.attention > 0;
    rule(h, !attends || t->heads % tp == 0, FR_REASON_HEADS,
         "tp = %" PRId64 " does not divide the %" PRId64
         " attention heads, of which every rank has whole ones",
         tp, t->heads);
    rule(h, !attends || t->heads % tp != 0 || t->kv_heads % tp == 0, FR_REASON_HEADS,
         "tp = %" PRId64 " does not divide the %" PRId64
         " key-value heads, of which every rank has whole ones (copies of one are not priced)",
         tp, t->kv_heads);
    rule(h, t->lora_rank % tp == 0, FR_REASON_WIDTH,
         "tp = %" PRId64 " does not divide lora_rank = %" PRId64
         ", of which every rank has whole rows",
         tp, t->lora_rank);
    rule(h, t->shared_ffn % tp == 0, FR_REASON_WIDTH,
         "tp = %" PRId64 " does not divide shared_ffn = %" PRId64, tp, t->shared_ffn);
    rule(h, (fr_transformer_is_hybrid(t) && blocks.mlp == 0) || t->ffn % tp == 0,
         FR_REASON_WIDTH, "tp = %" PRId64 " does not divide the MLP's width of %" PRId64, tp,
         t->ffn);
    rule(h, !plan->method->grids || plan->pairs || t->hidden % tp == 0, FR_REASON_WIDTH,
         "tp = %" PRId64 " does not divide the hidden width of %" PRId64
         ", of which method grid gives every rank its rows",
         tp, t->hidden);
    rule(h, t->sequence % plan->cp == 0, FR_REASON_SEQUENCE,
         "cp = %" PRId64 " does not divide the sequence of %" PRId64 " tokens", plan->cp,
         t->sequence);
    int64_t shares = plan->cp * tp;
    rule(h,
         !attends || !plan->context_heads || plan->cp == 1 || t->heads % tp != 0 ||
             (t->heads % shares == 0 && t->kv_heads % shares == 0),
         FR_REASON_HEADS,
         "context all-to-all: cp x tp = %" PRId64 " x %" PRId64 " does not divide the %" PRId64
         " heads (%" PRId64 " of keys and values), of which every rank attends to whole ones",
         plan->cp, tp, t->heads, t->kv_heads);
    rule(h, t->sequence % plan->cp != 0 || t->sequence % share == 0, FR_REASON_SEQUENCE,
         "sequence_parallel: cp x tp = %" PRId64 " x %" PRId64
         " does not divide the sequence of %" PRId64 " tokens",
         plan->cp, tp, t->sequence);
}

/* State-space blocks go over tp and over the ranks of a sequence by heads, whole groups of them. */
static void divide_blocks(const struct fr_transformer *t, const struct fr_plan *plan,
                          struct hearing *h) {
    rule(h, t->ssm_groups % (plan->tp * plan->cp) == 0, FR_REASON_HEADS,
         "tp x cp = %" PRId64 " x %" PRId64 " does not divide the %" PRId64
         " groups of state-space heads, of which every rank has whole ones (copies of one are "
         "not priced)",
         plan->tp, plan->cp, t->ssm_groups);
}

/* ep ranks of the tp dp cp that hold copies of a layer, etp of them for each expert. */
static void divide_experts(const struct fr_transformer *t, const struct fr_plan *plan,
                           struct hearing *h) {
    int64_t tp = plan->tp, etp = fr_plan_expert_tp(plan), ep = plan->ep,
            ranks = tp * fr_plan_replicas(plan);
    rule(h, etp == tp || (etp == 1 && plan->sequence_parallel), FR_REASON_EXPERTS,
         "etp = %" PRId64 ": an expert is divided over tp = %" PRId64
         " as the rest is, or whole on a rank (etp = 1) of a sequence divided by "
         "sequence_parallel",
         etp, tp);
    rule(h, ep == 1 || t->experts > 0, FR_REASON_EXPERTS,
         "ep = %" PRId64 ", and the model has no experts to divide", ep);
    if (t->experts == 0) return;
    rule(h, plan->dispatch_ranks == 0 || ep % plan->dispatch_ranks == 0, FR_REASON_EXPERTS,
         "dispatch_ranks = %" PRId64 " does not divide ep = %" PRId64, plan->dispatch_ranks,
         ep);
    rule(h, t->experts % ep == 0, FR_REASON_EXPERTS,
         "ep = %" PRId64 " does not divide the %" PRId64 " experts of a layer", ep, t->experts);
    rule(h, t->expert_ffn % etp == 0, FR_REASON_EXPERTS,
         "etp = %" PRId64 " does not divide an expert's width of %" PRId64, etp, t->expert_ffn);
    rule(h, ep == 1 || ranks % (ep * etp) == 0, FR_REASON_EXPERTS,
         "ep x etp = %" PRId64 " x %" PRId64 " does not divide the tp x dp x cp = %" PRId64
         " x %" PRId64 " x %" PRId64 " = %" PRId64 " ranks that share a layer",
         ep, etp, tp, plan->dp, plan->cp, ranks);
}

/* A group of products on its grid: of the R = tp dp cp ranks each P_r is a part, grids of two groups
 * fit into each other, and a rank has whole samples. */
static void divide_grid(const struct fr_transformer *t, const struct fr_plan *plan, int group,
                        struct hearing *h) {
    static const char *const names[] = {"the attention", "the MLP", "embedding and logits"};
    int64_t p = fr_plan_grid(plan, group), next = fr_plan_grid(plan, (group + 1) % FR_GRIDS),
            ranks = plan->tp * fr_plan_replicas(plan),
            share = fr_plan_micro_batch(plan) * (group ? t->sequence / plan->cp : 1);
    rule(h, ranks % p == 0, FR_REASON_LAYER_TP,
         "the P_r = %" PRId64 " of %s does not divide the %" PRId64 " ranks of a stage", p,
         names[group], ranks);
    rule(h, p % next == 0 || next % p == 0, FR_REASON_LAYER_TP,
         "of P_r = %" PRId64 " and %" PRId64
         " neither divides the other: nothing would be where it is "
         "needed",
         p, next);
    rule(h, share * p % plan->tp == 0, FR_REASON_LAYER_TP,
         "a rank of P_r = %" PRId64 " would have a part of a sample of %s (micro_batch %" PRId64
         " is for tp = %" PRId64 ")",
         p, names[group], fr_plan_micro_batch(plan), plan->tp);
    bool ends = group == FR_GRID_ENDS;
    int64_t width = group == FR_GRID_ATTENTION ? t->heads : t->ffn;
    rule(h, ends || t->experts || width % p == 0, FR_REASON_LAYER_TP,
         "P_r = %" PRId64 " does not divide the %" PRId64 " %s", p, width,
         group == FR_GRID_ATTENTION ? "heads" : "columns of the MLP");
    rule(h, group != FR_GRID_ATTENTION || t->kv_heads % p == 0, FR_REASON_LAYER_TP,
         "P_r = %" PRId64 " does not divide the %" PRId64 " key-value heads", p, t->kv_heads);
    rule(h, ends || plan->pairs || t->hidden % p == 0, FR_REASON_LAYER_TP,
         "P_r = %" PRId64 " does not divide the hidden width of %" PRId64, p, t->hidden);
}

static void divide_grids(const struct fr_transformer *t, const struct fr_plan *plan,
                         struct hearing *h) {
    if (!plan->layer_tp) return;
    rule(h, plan->n_layer_tp == FR_GRIDS && plan->method->grids, FR_REASON_LAYER_TP,
         "layer_tp of a transformer lists P_r of its attention, its MLP, and embedding and "
         "logits, for method grid");
    if (plan->n_layer_tp != FR_GRIDS) return;
    rule(h, plan->cp == 1 || !fr_plan_own_grid(plan, FR_GRID_ATTENTION), FR_REASON_LAYER_TP,
         "with cp = %" PRId64
         " ranks share sequences beside tp: the attention's P_r must be tp = %" PRId64,
         plan->cp, plan->tp);
    rule(h, !t->experts || !fr_plan_own_grid(plan, FR_GRID_MLP), FR_REASON_LAYER_TP,
         "experts have a grid of their own, ep x etp: the MLP's P_r must be tp = %" PRId64,
         plan->tp);
    for (int g = 0; g < FR_GRIDS; g++) divide_grid(t, plan, g, h);
}

static void divide_cache(const struct fr_transformer *t, const struct fr_plan *plan,
                         struct hearing *h) {
    const char *lacks = fr_cache_lacks(t, plan);
    rule(h, !lacks, FR_REASON_CACHE, "cached tokens are not priced beside %s", lacks);
}

static void divide(const struct fr_workload *workload, const struct fr_plan *plan,
                   struct hearing *h) {
    divide_layer(&workload->transformer, plan, h);
    divide_blocks(&workload->transformer, plan, h);
    divide_experts(&workload->transformer, plan, h);
    divide_grids(&workload->transformer, plan, h);
    divide_cache(&workload->transformer, plan, h);
}

fr_reasons fr_transformer_check(const struct fr_workload *workload,
                                const struct fr_plan *plan) {
    const struct fr_transformer *t = &workload->transformer;
    struct hearing h = {.asked = -1};
    divide(workload, plan, &h);
    if ((fr_attention_is_special(t) || t->predicted > 0 || fr_transformer_is_hybrid(t)) &&
        !plan->method->megatron)
        h.reasons |= FR_BECAUSE(FR_REASON_METHOD);
    if (!fr_transformer_layers_fit(t, plan)) h.reasons |= FR_BECAUSE(FR_REASON_STAGES);
    /* It travels with messages of the decoder's chunks, and with none of the encoder's. */
    if (t->cross_layers > 0 && plan->pp > 1 && plan->chunks > 1)
        h.reasons |= FR_BECAUSE(FR_REASON_PIPELINE);
    return h.reasons;
}

void fr_transformer_say(const struct fr_workload *workload, const struct fr_plan *plan,
                        int reason, struct fr_text *text) {
    struct fr_text own = {0};
    struct hearing h = {.asked = reason, .text = &own};
    divide(workload, plan, &h);
    fr_text_addf(text, "%s", fr_text_get(&own));
    fr_text_free(&own);
}
