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

/* Three products in place of one, whose gradients are summed up; a norm's second pass over both for its weights; five
 * kernels a rotation. */
static struct part attention(const struct fr_stage_view *v) {
    const struct fr_group_view *on = &v->attention_on;
    double stream = on->tokens * v->h / on->between,
           queries = v->a.queries / on->p * on->tokens,
           turned = queries + v->a.keys / on->p * on->tokens,
           values = v->a.values / on->p * on->tokens;
    struct part p = {.backward = 4 * stream, .forward_kernels = 0, .backward_kernels = 1};
    if (!v->t->positions) add(&p, 1, (struct part){10 * turned, 10 * turned, 10, 10});
    if (v->t->qk_norms) add(&p, 1, (struct part){2 * turned, 5 * turned, 2, 4});
    bool repeats = v->plan->attention == FR_ATTENTION_FLASH_2 && v->a.keys < v->a.queries;
    if (repeats) add(&p, 1, (struct part){0, turned + queries + values, 0, 2});
    return p;
}

/* An activation apart from its gating.  Routers cast, normalise and sort apart. */
static struct part mlp(const struct fr_stage_view *v, double width, double rows, bool mixed) {
    const struct fr_group_view *on = &v->mlp_on;
    double stream = on->tokens * v->h / on->between, own = v->mlp > 2 ? rows * width : 0;
    struct part p = {own, own + (v->mlp > 2 ? 1 : -2) * stream, 1, 3};
    if (mixed) add(&p, 1, (struct part){0, 0, 10, 6});
    return p;
}

struct fr_unfused fr_unfused_of(const struct fr_stage_view *v) {
    const struct fr_group_view *m = &v->mlp_on;
    struct part sum = {0};
    add(&sum, v->attentions, attention(v));
    add(&sum, v->dense, mlp(v, (double)v->t->ffn / m->p, m->tokens, false));
    if (v->mixed > 0) add(&sum, v->mixed, mlp(v, v->wide / v->etp, v->mlp_rows, true));
    return (struct fr_unfused){sum.forward * v->value_B, sum.backward * v->value_B,
                               sum.forward_kernels, sum.backward_kernels};
}

double fr_unfused_saved_B(const struct fr_stage_view *v, bool mixed, bool made) {
    double gated = v->mlp > 2 ? 1 : 0;
    if (!mixed) return gated * v->mlp_on.tokens * (double)v->t->ffn / v->mlp_on.p * v->value_B;
    return fr_experts_load(v->t, v->plan) * v->mlp_rows *
           (gated * v->wide / v->etp + (made ? 2 * v->h : 0)) * v->value_B;
}
