/* The iterations that were measured, as the table of a model file. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/quality/quality.h"

/* What decides how a compressed plan learns besides its compression: who sends what to whom. */
static const int mesh_keys[] = {FR_PLAN_KEY_pp, FR_PLAN_KEY_dp, FR_PLAN_KEY_chunks,
                                FR_PLAN_KEY_micro_batch};
static const int lossy_keys[] = {FR_PLAN_KEY_backward_scope, FR_PLAN_KEY_backward_rank,
                                 FR_PLAN_KEY_lazy_error,     FR_PLAN_KEY_gradient_stages,
                                 FR_PLAN_KEY_gradient_rank,  FR_PLAN_KEY_codec,
                                 FR_PLAN_KEY_warm_up};
enum {
    N_MESH = sizeof mesh_keys / sizeof *mesh_keys,
    N_LOSSY = sizeof lossy_keys / sizeof *lossy_keys
};

static void put_key(struct fr_json_writer *w, int k, const struct fr_plan *plan) {
    fr_json_key(w, fr_plan_keys[k].name);
    fr_plan_keys[k].type->write(&fr_plan_keys[k], plan, w);
}

static void put_when(struct fr_json_writer *w, const struct fr_plan *plan) {
    const struct fr_plan plain = fr_plan_default();
    fr_json_add_object(w, "plan");
    for (int i = 0; i < N_MESH; i++) put_key(w, mesh_keys[i], plan);
    for (int i = 0; i < N_LOSSY; i++) {
        const struct fr_plan_key *key = &fr_plan_keys[lossy_keys[i]];
        if (!key->type->same(key, &plain, plan)) put_key(w, lossy_keys[i], plan);
    }
    fr_json_end_object(w);
}

static bool compresses(const struct fr_plan *plan) {
    return plan->compression.scope != FR_SCOPE_NONE || plan->compression.gradient_stages > 0;
}

/* Learns as one processor would. */
static bool is_exact(const struct fr_plan *plan) {
    return plan->method->exact && !compresses(plan);
}

static void put_row(struct fr_json_writer *w, const struct fr_plan *plan, double iterations) {
    fr_json_begin_object(w);
    fr_json_add_string(w, "method", plan->method->name);
    if (!is_exact(plan)) fr_json_add_integer(w, "tp", plan->tp);
    if (plan->method->uses_ghost) fr_json_add_integer(w, "ghost", plan->ghost);
    if (compresses(plan)) put_when(w, plan);
    fr_json_add_number(w, "iterations", iterations);
    fr_json_end_object(w);
}

/* Plans that lose nothing learn alike: one row says it, that of the first. */
static void put_rows(struct fr_json_writer *w, const struct fr_qualities *q) {
    bool exact = false;
    fr_json_add_array(w, "table");
    for (int i = 0; i < q->found.n_rows; i++) {
        const struct fr_plan *plan = &q->plans[i].cost.plan;
        double iterations = q->found.rows[i].steps.mean;
        if (q->plans[i].forward_rank) continue; /* no plan, so no row that a plan could find */
        if (!isfinite(iterations) || (is_exact(plan) && exact)) continue;
        put_row(w, plan, iterations);
        exact = exact || is_exact(plan);
    }
    fr_json_end_array(w);
}

static bool any_known(const struct fr_qualities *q) {
    bool any = false;
    for (int i = 0; i < q->found.n_rows; i++)
        any = any || (isfinite(q->found.rows[i].steps.mean) && !q->plans[i].forward_rank);
    return any;
}

static void put_table(struct fr_json_writer *w, const struct fr_qualities *q) {
    const struct fr_quality_options *o = &q->options;
    char source[200];
    snprintf(source, sizeof source,
             "measured by forerun quality on %.60s: geometric means over %" PRId64
             " seeds, each plan at its best rate of %" PRId64 " steps",
             o->corpus, o->seeds, o->steps);
    fr_json_add_object(w, "iterations");
    fr_json_add_string(w, "source", source);
    fr_json_add_integer(w, "width", fr_workload_width(&q->job.workload));
    fr_json_add_integer(w, "layers", fr_workload_depth(&q->job.workload));
    if (!q->corpus.is_regression)
        fr_json_add_integer(w, "sequence", q->job.workload.transformer.sequence);
    fr_json_add_integer(w, "global_batch", fr_job_batch(&q->job, &q->job.plan));
    fr_json_add_number(w, "loss", o->target);
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
