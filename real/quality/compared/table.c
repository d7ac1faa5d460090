/* The iterations that were measured, as the table of a model file. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "real/iterations/laws.h"
#include "real/quality/compared/compared.h"
#include "real/quality/compared/known.h"

/* Keys that decide how a compressed plan learns besides its compression: who sends what to
 * whom. */
static const int mesh_keys[] = {FR_PLAN_KEY_pp, FR_PLAN_KEY_dp, FR_PLAN_KEY_chunks,
                                FR_PLAN_KEY_micro_batch};
static const int lossy_keys[] = {
    FR_PLAN_KEY_backward_scope, FR_PLAN_KEY_backward_rank,   FR_PLAN_KEY_lazy_error,
    FR_PLAN_KEY_forward_rank,   FR_PLAN_KEY_gradient_stages, FR_PLAN_KEY_gradient_rank,
    FR_PLAN_KEY_gradient_ranks, FR_PLAN_KEY_codec,           FR_PLAN_KEY_warm_up};
enum {
    N_MESH = sizeof mesh_keys / sizeof *mesh_keys,
    N_LOSSY = sizeof lossy_keys / sizeof *lossy_keys
};

static void put_key(struct fr_json_writer *w, int k, const struct fr_plan *plan) {
    fr_json_key(w, fr_plan_keys[k].name);
    fr_plan_keys[k].type->write(&fr_plan_keys[k], plan, w);
}

/* All keys except @p free. */
static void put_when(struct fr_json_writer *w, const struct fr_plan *plan,
                     fr_plan_key_set free) {
    const struct fr_plan plain = fr_plan_default();
    fr_json_add_object(w, "plan");
    for (int i = 0; i < N_MESH; i++)
        if (!(free >> mesh_keys[i] & 1)) put_key(w, mesh_keys[i], plan);
    for (int i = 0; i < N_LOSSY; i++) {
        const struct fr_plan_key *key = &fr_plan_keys[lossy_keys[i]];
        if (!(free >> lossy_keys[i] & 1) && !key->type->same(key, &plain, plan))
            put_key(w, lossy_keys[i], plan);
    }
    fr_json_end_object(w);
}

static void put_row(struct fr_json_writer *w, const struct fr_plan *plan,
                    const struct fr_quality_row *row) {
    fr_json_begin_object(w);
    fr_json_add_string(w, "method", plan->method->name);
    if (!fr_known_exact(plan)) fr_json_add_integer(w, "tp", plan->tp);
    if (plan->method->uses_ghost) fr_json_add_integer(w, "ghost", plan->ghost);
    if (fr_known_compresses(plan)) put_when(w, plan, 0);
    fr_json_add_number(w, "rate", row->rate);
    fr_json_add_number(w, "iterations", row->steps.mean);
    fr_json_end_object(w);
}

/* Plans that lose nothing learn alike: one row says it, that of the first. */
static void put_rows(struct fr_json_writer *w, const struct fr_qualities *q) {
    bool exact = false;
    fr_json_add_array(w, "table");
    for (int i = 0; i < q->found.n_rows; i++) {
        const struct fr_plan *plan = &q->plans[i].cost.plan;
        if (!fr_known_row(q, i) || fr_known_batch(q, i) != fr_known_basis(q) ||
            (fr_known_exact(plan) && exact))
            continue;
        put_row(w, plan, &q->found.rows[i]);
        exact = exact || fr_known_exact(plan);
    }
    fr_json_end_array(w);
}

/* ---- laws -------------------------------------------------------------------------------------- */

enum { POINTS_MAX = 64 };

static bool differ_in(const struct fr_plan *a, const struct fr_plan *b, fr_plan_key_set free) {
    for (int k = 0; k < FR_PLAN_KEYS; k++)
        if (!(free >> k & 1) && !fr_plan_keys[k].type->same(&fr_plan_keys[k], a, b))
            return true;
    return false;
}

/* The key that runs along a law. */
static fr_plan_key_set runs(fr_law_along along) {
    static const int keys[] = {[FR_LAW_BATCH] = FR_PLAN_KEY_global_batch,
                               [FR_LAW_GHOST] = FR_PLAN_KEY_ghost,
                               [FR_LAW_BACKWARD] = FR_PLAN_KEY_backward_scope,
                               [FR_LAW_GRADIENT] = FR_PLAN_KEY_gradient_stages};
    fr_plan_key_set set = FR_PLAN_KEY_BIT(keys[along]);
    if (along == FR_LAW_GHOST) /* p is a key of the law, and the rest of the ranks replicas */
        set |= FR_PLAN_KEY_BIT(FR_PLAN_KEY_tp) | FR_PLAN_KEY_BIT(FR_PLAN_KEY_dp);
    return set;
}

/* Iterations without compression of plan @p i's method, at its batch; NaN: not measured. */
static double plain_of(const struct fr_qualities *q, int i) {
    const struct fr_plan *plan = &q->plans[i].cost.plan, none = fr_plan_default();
    for (int j = 0; j < q->found.n_rows; j++) {
        struct fr_plan other = q->plans[j].cost.plan, alike = *plan;
        bool lossy = fr_known_compresses(&other);
        other.compression = alike.compression = none.compression;
        if (fr_known_row(q, j) && !lossy && !differ_in(&other, &alike, 0))
            return q->found.rows[j].steps.mean;
    }
    return NAN;
}

/* Where plan @p i lies along a law; NaN where the law is not of such plans. */
static double place_of(const struct fr_qualities *q, int i, fr_law_along along) {
    const struct fr_outcome *out = &q->plans[i].cost;
    const struct fr_plan_compression *c = &out->plan.compression;
    bool backward = c->scope != FR_SCOPE_NONE, gradient = c->gradient_stages > 0;
    if (c->forward_rank > 0) return NAN; /* of which no law says anything */
    switch (along) {
    case FR_LAW_BATCH:
        return backward || gradient ? NAN : (double)fr_known_batch(q, i);
    case FR_LAW_GHOST:
        return backward || gradient || !out->plan.method->uses_ghost ? NAN
                                                                     : (double)out->plan.ghost;
    case FR_LAW_BACKWARD:
        return backward && !gradient && out->lossy_backward > 0 ? out->lossy_backward : NAN;
    case FR_LAW_GRADIENT:
        return gradient && !backward && out->lossy_gradient > 0 ? out->lossy_gradient : NAN;
    }
    return NAN;
}

/* The points of plans like plan @p first but for what the law runs along.  @return how many; 0 where an
 * earlier plan has them. */
static int points_of(const struct fr_qualities *q, int first, fr_law_along along,
                     struct fr_law_point *points) {
    const struct fr_plan *like = &q->plans[first].cost.plan;
    bool share = along == FR_LAW_BACKWARD || along == FR_LAW_GRADIENT;
    int n = 0;
    for (int i = 0; i < q->found.n_rows && n < POINTS_MAX; i++) {
        const struct fr_plan *plan = &q->plans[i].cost.plan;
        double at = place_of(q, i, along), plain = share ? plain_of(q, i) : 1;
        if (!fr_known_row(q, i) || isnan(at) || isnan(plain) ||
            differ_in(plan, like, runs(along)))
            continue;
        if (along != FR_LAW_BATCH && fr_known_batch(q, i) != fr_known_basis(q)) continue;
        if (i < first) return 0;
        points[n++] =
            (struct fr_law_point){at, (double)plan->tp, q->found.rows[i].steps.mean / plain};
    }
    return n;
}

static void put_law(struct fr_json_writer *w, const struct fr_plan *plan,
                    struct fr_iterations_law *law, bool *any) {
    if (!*any) fr_json_add_array(w, "laws");
    *any = true;
    law->method = plan->method;
    fr_json_begin_object(w);
    fr_iterations_law_write(w, law);
    if (law->along == FR_LAW_BACKWARD || law->along == FR_LAW_GRADIENT)
        put_when(w, plan, runs(law->along) | FR_PLAN_KEY_BIT(FR_PLAN_KEY_micro_batch));
    fr_json_end_object(w);
}

static void put_laws(struct fr_json_writer *w, const struct fr_qualities *q) {
    struct fr_law_point points[POINTS_MAX];
    struct fr_iterations_law law;
    bool any = false;
    for (int along = 0; fr_law_names[along]; along++)
        for (int i = 0; i < q->found.n_rows; i++) {
            int n = points_of(q, i, (fr_law_along)along, points);
            if (fr_law_fit((fr_law_along)along, points, n, &law))
                put_law(w, &q->plans[i].cost.plan, &law, &any);
        }
    if (any) fr_json_end_array(w);
}

/* ------------------------------------------------------------------------------------------------ */

static bool any_known(const struct fr_qualities *q) {
    bool any = false;
    for (int i = 0; i < q->found.n_rows; i++) any = any || fr_known_row(q, i);
    return any;
}

static void put_table(struct fr_json_writer *w, const struct fr_qualities *q) {
    const struct fr_quality_options *o = &q->options;
    char source[240];
    snprintf(source, sizeof source,
             "measured by forerun quality on %.60s: geometric means over %" PRId64
             " seeds, %s, %" PRId64 " steps",
             o->corpus, o->seeds,
             o->n_rates > 1 ? "each plan at its best rate" : "all plans at one rate", o->steps);
    fr_json_add_object(w, "iterations");
    fr_json_add_string(w, "source", source);
    fr_json_add_integer(w, "width", fr_workload_width(&q->job.workload));
    fr_json_add_integer(w, "layers", fr_workload_depth(&q->job.workload));
    if (!q->corpus.is_regression)
        fr_json_add_integer(w, "sequence", q->job.workload.transformer.sequence);
    fr_json_add_integer(w, "global_batch", fr_known_basis(q));
    fr_json_add_number(w, "loss", o->target);
    put_laws(w, q);
    fr_quality_put_growth(w, q);
    put_rows(w, q);
    fr_json_end_object(w);
}

void fr_qualities_model(struct fr_text *text, const struct fr_qualities *q) {
    struct fr_json root = fr_json_root(fr_job_model(&q->job));
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    for (const char *key = fr_json_key_after(&root, NULL); key;
         key = fr_json_key_after(&root, key)) {
        struct fr_json member = fr_json_member(&root, key);
        if (strcmp(key, "iterations") == 0) continue;
        fr_json_key(&w, key);
        fr_json_put_copy(&w, &member);
    }
    if (any_known(q)) put_table(&w, q);
    fr_json_end_object(&w);
    fr_text_add(text, "\n", 1);
}
