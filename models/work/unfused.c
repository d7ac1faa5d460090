#include "models/work/unfused.h"

#include "models/work/experts.h"
#include "models/work/transformer_view.h"

/* Values, and kernels. */
struct part {
    double forward, backward, forward_kernels, backward_kernels;
};

static void add(struct part *sum, double times, struct part more) {
    sum->forward += times * more.forward;
    sum->backward += times * more.backward;
    sum->forward_kernels += times * more.forward_kernels;
    sum->backward_kernels += times * more.backward_kernels;
}

/* Three products in place of one, unless they are joined, whose gradients are summed up; a norm's second pass over both
 * for its weights; five kernels a rotation. */
static struct part attention(const struct fr_unfused_sizes *s) {
    double turned = s->queries + s->keys;
    struct part p = {.backward = (s->joined ? -2 : 4) * s->attention_stream,
                     .backward_kernels = 1};
    if (!s->t->positions) add(&p, 1, (struct part){10 * turned, 10 * turned, 10, 10});
    if (s->t->qk_norms) add(&p, 1, (struct part){2 * turned, 5 * turned, 2, 4});
    bool repeats = s->plan->attention == FR_ATTENTION_FLASH_2 && s->keys < s->queries;
    if (repeats) add(&p, 1, (struct part){0, turned + s->queries + s->values, 0, 2});
    return p;
}

/* An activation apart from its gating.  Routers cast, normalise and sort apart. */
static struct part mlp(const struct fr_unfused_sizes *s, double hidden, bool mixed) {
    double own = s->t->gated ? hidden : 0;
    struct part p = {own, own + (s->t->gated ? 1 : -2) * s->mlp_stream, 1, 3};
    if (mixed) add(&p, 1, (struct part){0, 0, 10, 6});
    return p;
}

struct fr_unfused fr_unfused_of(const struct fr_unfused_sizes *s) {
    struct part sum = {0};
    add(&sum, s->attentions, attention(s));
    add(&sum, s->dense, mlp(s, s->hidden, false));
    if (s->mixed > 0) add(&sum, s->mixed, mlp(s, s->routed, true));
    return (struct fr_unfused){sum.forward * s->value_B, sum.backward * s->value_B,
                               sum.forward_kernels, sum.backward_kernels};
}

struct fr_unfused fr_unfused_of_view(const struct fr_stage_view *v) {
    const struct fr_group_view *a = &v->attention_on, *m = &v->mlp_on;
    return fr_unfused_of(
        &(struct fr_unfused_sizes){.t = v->t,
                                   .plan = v->plan,
                                   .attentions = v->attentions,
                                   .dense = v->dense,
                                   .mixed = v->mixed,
                                   .queries = v->a.queries / a->p * a->tokens,
                                   .keys = v->a.keys / a->p * a->tokens,
                                   .values = v->a.values / a->p * a->tokens,
                                   .hidden = (double)v->t->ffn / m->p * m->tokens,
                                   .routed = v->mixed > 0 ? v->wide / v->etp * v->mlp_rows : 0,
                                   .attention_stream = a->tokens * v->h / a->between,
                                   .mlp_stream = m->tokens * v->h / m->between,
                                   .value_B = v->value_B});
}

double fr_unfused_saved_B(const struct fr_stage_view *v, bool mixed, bool made) {
    double gated = v->mlp > 2 ? 1 : 0;
    if (!mixed) return gated * v->mlp_on.tokens * (double)v->t->ffn / v->mlp_on.p * v->value_B;
    return fr_experts_load(v->t, v->plan) * v->mlp_rows *
           (gated * v->wide / v->etp + (made ? 2 * v->h : 0)) * v->value_B;
}
