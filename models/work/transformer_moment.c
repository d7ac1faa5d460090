/* Memory that a stage of methods tensor and grid holds for a moment of its passes (models/work/moment.h). */
#include <math.h>

#include "models/work/experts.h"
#include "models/work/ssm.h"
#include "models/work/transformer_view.h"
#include "models/workload/adapters.h"
#include "models/workload/ssm.h"

/* ---- a layer's backward pass ---------------------------------------------------------------------- */

/* Behind the second product of a pair: gradients of what the first made, its input and that one's gradient, whole,
 * and the residual's. */
static void pair(const struct fr_stage_view *v, const struct fr_group_view *on, double made,
                 double message_B, struct fr_moment_sizes *most) {
    double token_B = on->tokens * v->value_B, made_B = token_B * made / on->p,
           whole = v->gathers && on->p > 1 ? 2 : 1,
           joined_B = token_B * v->h * (whole + 1 / on->between) + (v->rows ? message_B : 0);
    if (made_B + joined_B <= most->layer_B + most->joined_B) return;
    most->layer_B = made_B;
    most->joined_B = joined_B;
}

/* Largest memory of routed rows.  Either their gradients as they are added up, come through the exchange, are put in
 * order, and come out of the experts.  Or the results of the experts' first products, their input and its gradient. */
static void routed(const struct fr_stage_view *v, struct fr_moment_sizes *most) {
    double load = fr_experts_load(v->t, v->plan),
           rows_B = load * v->mlp_rows * v->h * v->value_B,
           made_B = load * (v->mlp - 1) * v->mlp_rows * v->wide / v->etp * v->value_B,
           layer_B = fmax(4 * rows_B, made_B + 2 * rows_B),
           joined_B = 2 * v->mlp_on.tokens * v->h / v->mlp_on.between * v->value_B;
    if (layer_B + joined_B <= most->layer_B + most->joined_B) return;
    most->layer_B = layer_B;
    most->joined_B = joined_B;
}

static void add_layer(const struct fr_stage_view *v, double message_B,
                      struct fr_moment_sizes *m) {
    const struct fr_group_view *a = &v->attention_on;
    if (v->attentions > 0) pair(v, a, v->a.queries + v->a.keys + v->a.values, message_B, m);
    if (v->ssm > 0) pair(v, a, fr_ssm_of(v->t).in, message_B, m);
    if (v->dense > 0) pair(v, &v->dense_on, (v->mlp - 1) * (double)v->t->ffn, message_B, m);
    if (v->mixed > 0) routed(v, m);
}

/* ---- weights -------------------------------------------------------------------------------------- */

struct shapes {
    int n;
    double rows[16], columns[16];
};

/* A copy of the shape, where it is another than those before. */
static double add_shape(struct shapes *s, double rows, double columns) {
    for (int i = 0; i < s->n; i++)
        if (s->rows[i] == rows && s->columns[i] == columns) return 0;
    s->rows[s->n] = rows;
    s->columns[s->n++] = columns;
    return rows * columns;
}

static double largest(double most, double values) { return values > most ? values : most; }

static double add_mlp(struct shapes *s, const struct fr_stage_view *v, double width,
                      double *most) {
    double first = add_shape(s, (v->mlp - 1) * width, v->h);
    *most = largest(*most, first);
    return first + add_shape(s, v->h, width);
}

/* Add shapes of trained weights, at the width that products write gradients. */
static void add_shapes(const struct fr_stage_view *v, bool last, struct fr_moment_sizes *m) {
    const struct fr_attention_sizes *a = &v->a;
    const struct fr_transformer *t = v->t;
    struct shapes s = {0}, groups = {0};
    double p = v->attention_on.p, sum = 0, most = 0, grouped = 0;
    if (v->attentions > 0) {
        if (a->q_latent > 0) sum += add_shape(&s, a->q_latent, v->h);
        if (a->kv_latent > 0) sum += add_shape(&s, a->kv_latent, v->h);
        sum += add_shape(&s, a->to_q / p, a->from_q);
        if (a->to_kv > 0) sum += add_shape(&s, a->to_kv / p, a->from_kv);
        sum += add_shape(&s, v->h, a->made / p);
        most = largest(a->to_q / p * a->from_q, a->made / p * v->h);
    }
    if (v->ssm > 0) {
        const struct fr_ssm_sizes ssm = fr_ssm_of(t);
        sum += add_shape(&s, ssm.in / p, v->h) + add_shape(&s, v->h, ssm.inner / p);
        most = largest(most, ssm.in / p * v->h);
    }
    if (v->dense > 0) sum += add_mlp(&s, v, (double)t->ffn / v->dense_on.p, &most);
    if (v->mixed > 0 && t->shared_ffn > 0)
        sum += add_mlp(&s, v, (double)t->shared_ffn / v->dense_on.p, &most);
    if (v->predicted > 0) sum += add_shape(&s, v->h / p, 2 * v->h);
    if (last) sum += add_shape(&s, m->head_weight_B / v->h / v->value_B, v->h);
    if (v->mixed > 0) grouped = add_mlp(&groups, v, v->wide / v->etp, &most);
    m->shapes_B = sum * v->value_B;
    m->grouped_shapes_B = grouped * v->value_B;
    m->layer_weight_B = most * v->value_B;
}

/* ---- embedding and logits ------------------------------------------------------------------------- */

static void add_ends(const struct fr_stage_view *v, bool first, bool last,
                     struct fr_moment_sizes *m) {
    const struct fr_group_view *e = &v->ends_on;
    double token_B = e->tokens * v->h * v->value_B,
           words = (double)fr_transformer_padded_vocabulary(v->t, (int64_t)e->p) / e->p,
           weight_B = fr_transformer_frozen(v->t) ? 0 : words * v->h * v->value_B;
    if (first) {
        m->lookup_B = weight_B;
        m->embedded_B = 2 * token_B;
    }
    if (!last) return;
    m->normed_B = m->heads * token_B / e->between;
    m->gathered_B = v->gathers && e->p > 1 ? token_B : 0;
    m->input_B = token_B;
    m->head_weight_B = weight_B;
}

void fr_transformer_add_moment(const struct fr_stage_view *v, bool first, bool last,
                               double message_B, struct fr_rank_work *work) {
    struct fr_moment_sizes *m = &work->moment;
    m->known = true;
    m->grouped = v->mixed > 0;
    m->value_B = v->value_B;
    m->layers = v->layers;
    add_ends(v, first, last, m);
    add_layer(v, message_B, m);
    if (!fr_transformer_frozen(v->t)) add_shapes(v, last, m);
}
