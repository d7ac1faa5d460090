/* How a plan must divide a transformer, and why it does not (fr_transformer_check).  One list of
 * rules: what a search asks of millions of plans, and the sentence of the one that is shown. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "models/work/transformer.h"

/* What is broken so far; the sentences of `asked` go to `text`. */
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
    rule(h, t->heads % tp == 0, FR_REASON_HEADS,
         "tp = %" PRId64 " does not divide the %" PRId64
         " attention heads, of which every rank has whole ones",
         tp, t->heads);
    rule(h, t->heads % tp != 0 || t->kv_heads % tp == 0, FR_REASON_HEADS,
         "tp = %" PRId64 " does not divide the %" PRId64
         " key-value heads, of which every rank has whole ones (copies of one are not priced)",
         tp, t->kv_heads);
    rule(h, t->ffn % tp == 0, FR_REASON_WIDTH,
         "tp = %" PRId64 " does not divide the MLP's width of %" PRId64, tp, t->ffn);
    rule(h, !plan->method->grids || t->hidden % tp == 0, FR_REASON_WIDTH,
         "tp = %" PRId64 " does not divide the hidden width of %" PRId64
         ", of which method grid gives every rank its rows",
         tp, t->hidden);
    rule(h, t->sequence % plan->cp == 0, FR_REASON_SEQUENCE,
         "cp = %" PRId64 " does not divide the sequence of %" PRId64 " tokens", plan->cp,
         t->sequence);
    rule(h, t->sequence % plan->cp != 0 || t->sequence % share == 0, FR_REASON_SEQUENCE,
         "sequence_parallel: cp x tp = %" PRId64 " x %" PRId64
         " does not divide the sequence of %" PRId64 " tokens",
         plan->cp, tp, t->sequence);
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
    rule(h, t->experts % ep == 0, FR_REASON_EXPERTS,
         "ep = %" PRId64 " does not divide the %" PRId64 " experts of a layer", ep, t->experts);
    rule(h, t->expert_ffn % etp == 0, FR_REASON_EXPERTS,
         "etp = %" PRId64 " does not divide an expert's width of %" PRId64, etp, t->expert_ffn);
    rule(h, ep == 1 || ranks % (ep * etp) == 0, FR_REASON_EXPERTS,
         "ep x etp = %" PRId64 " x %" PRId64 " does not divide the tp x dp x cp = %" PRId64
         " x %" PRId64 " x %" PRId64 " = %" PRId64 " ranks that share a layer",
         ep, etp, tp, plan->dp, plan->cp, ranks);
}

static void divide(const struct fr_workload *workload, const struct fr_plan *plan,
                   struct hearing *h) {
    divide_layer(&workload->transformer, plan, h);
    divide_experts(&workload->transformer, plan, h);
}

fr_reasons fr_transformer_check(const struct fr_workload *workload,
                                const struct fr_plan *plan) {
    const struct fr_transformer *t = &workload->transformer;
    struct hearing h = {.asked = -1};
    divide(workload, plan, &h);
    if (!fr_transformer_layers_fit(t, plan)) h.reasons |= FR_BECAUSE(FR_REASON_STAGES);
    /* The encoder's output would have to travel with every message. */
    if (t->cross_layers > 0 && plan->pp > 1) h.reasons |= FR_BECAUSE(FR_REASON_PIPELINE);
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
