#include "models/plan/iterations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "models/plan/growth.h"
#include "models/plan/key.h"
#include "models/plan/method.h"
#include "topology/levels.h"

static const char *const keys[] = {"source", "width",     "layers",  "sequence", "global_batch",
                                   "rate",   "loss",      "scaling", "laws",     "table",
                                   "growth", "reference", NULL};
const char *const fr_iterations_origins[] = {"unknown", "given", "interpolated",
                                             "scaled",  "law",   NULL};
static const char *const scalings[] = {"none", "samples", NULL};
static const char *const row_keys[] = {"method", "tp",         "ghost", "compressed",
                                       "plan",   "iterations", "rate",  NULL};

/* ---- rows that name keys ---------------------------------------------------------------------- */

struct fr_iterations_when {
    struct fr_plan plan; /* of those keys, else the default */
    fr_plan_key_set says;
};

/* Those of compression decide, said or not. */
static const fr_plan_key_set lossy_keys =
    FR_PLAN_KEY_BIT(FR_PLAN_KEY_backward_scope) | FR_PLAN_KEY_BIT(FR_PLAN_KEY_backward_rank) |
    FR_PLAN_KEY_BIT(FR_PLAN_KEY_lazy_error) | FR_PLAN_KEY_BIT(FR_PLAN_KEY_forward_rank) |
    FR_PLAN_KEY_BIT(FR_PLAN_KEY_gradient_stages) | FR_PLAN_KEY_BIT(FR_PLAN_KEY_gradient_rank) |
    FR_PLAN_KEY_BIT(FR_PLAN_KEY_gradient_ranks) | FR_PLAN_KEY_BIT(FR_PLAN_KEY_codec) |
    FR_PLAN_KEY_BIT(FR_PLAN_KEY_warm_up);

/* A row has names of its own for three; lists and files are no plain values. */
static bool may_be_stated(int k) {
    const struct fr_plan_type *type = fr_plan_keys[k].type;
    bool plain = type == &fr_plan_integer || type == &fr_plan_bool || type == &fr_plan_choice ||
                 type == &fr_plan_modules || type == &fr_plan_row;
    return plain && k != FR_PLAN_KEY_method && k != FR_PLAN_KEY_tp && k != FR_PLAN_KEY_ghost;
}

static fr_status when_read(const struct fr_json *node, struct fr_iterations_when **out,
                           struct fr_error *err) {
    const char *known[FR_PLAN_KEYS + 1];
    struct fr_plan_lists none = {0};
    int n = 0;
    for (int k = 0; k < FR_PLAN_KEYS; k++)
        if (may_be_stated(k)) known[n++] = fr_plan_keys[k].name;
    known[n] = NULL;
    FR_TRY(fr_json_object(node, known, err));
    struct fr_iterations_when *when = *out = fr_calloc(1, sizeof *when);
    if (!when) return fr_json_fail(node, err, "does not fit in memory");
    when->plan = fr_plan_default();
    for (int k = 0; k < FR_PLAN_KEYS; k++) {
        const struct fr_plan_key *key = &fr_plan_keys[k];
        struct fr_json member = fr_json_member(node, key->name);
        if (!may_be_stated(k) || !fr_json_present(&member)) continue;
        when->says |= FR_PLAN_KEY_BIT(k);
        FR_TRY(key->type->read(key, node, key->name, &when->plan, &none, err));
    }
    return FR_OK;
}

/* Except the keys @p free, which do not decide. */
static bool when_holds(const struct fr_iterations_when *when, const struct fr_plan *plan,
                       fr_plan_key_set free) {
    fr_plan_key_set decide = (when->says | lossy_keys) & ~free;
    for (int k = 0; decide >> k; k++) {
        const struct fr_plan_key *key = &fr_plan_keys[k];
        if (decide >> k & 1 && !key->type->same(key, &when->plan, plan)) return false;
    }
    return true;
}

/* ---- reading ---------------------------------------------------------------------------------- */

static fr_status row_read(const struct fr_json *node, struct fr_iterations_row *row,
                          struct fr_error *err) {
    int method = 0;
    FR_TRY(fr_json_object(node, row_keys, err));
    FR_TRY(fr_json_get_choice(node, "method", true, fr_method_names, &method, err));
    row->method = fr_methods[method];
    FR_TRY(fr_json_get_integer(node, "tp", false, 1, FR_RANKS_MAX, &row->tp, err));
    FR_TRY(fr_json_get_integer(node, "ghost", false, 0, FR_RANKS_MAX, &row->ghost, err));
    struct fr_json when = fr_json_member(node, "plan");
    FR_TRY(fr_json_get_bool(node, "compressed", false, &row->compressed, err));
    FR_TRY(fr_json_get_number(node, "rate", false, 0, 1e6, &row->rate, err));
    if (fr_json_present(&when)) {
        FR_TRY(when_read(&when, &row->when, err));
        const struct fr_plan_compression *c = &row->when->plan.compression;
        row->compressed = row->compressed || c->scope != FR_SCOPE_NONE || c->forward_rank > 0 ||
                          c->gradient_stages > 0;
    }
    return fr_json_get_number(node, "iterations", true, 1e-9, 1e15, &row->iterations, err);
}

static fr_status basis_read(const struct fr_json *node, struct fr_iterations_basis *basis,
                            struct fr_error *err) {
    int scaling = 0;
    FR_TRY(fr_json_object(node, keys, err));
    FR_TRY(fr_json_get_integer(node, "width", false, 1, (int64_t)1 << 40, &basis->width, err));
    FR_TRY(fr_json_get_integer(node, "layers", false, 1, 1 << 30, &basis->layers, err));
    FR_TRY(fr_json_get_integer(node, "sequence", false, 1, 1 << 30, &basis->sequence, err));
    snprintf(basis->source, sizeof basis->source, "%s", fr_json_text_at(node, "source"));
    FR_TRY(fr_json_get_integer(node, "global_batch", false, 1, FR_RANKS_MAX,
                               &basis->global_batch, err));
    FR_TRY(fr_json_get_number(node, "rate", false, 0, 1e6, &basis->rate, err));
    FR_TRY(fr_json_get_number(node, "loss", false, 0, 1e300, &basis->loss, err));
    FR_TRY(fr_json_get_number(node, "reference", false, 1e-9, 1e15, &basis->reference, err));
    FR_TRY(fr_json_get_choice(node, "scaling", false, scalings, &scaling, err));
    basis->by_samples = scaling == 1;
    return FR_OK;
}

bool fr_iterations_apply(const struct fr_workload *w) {
    const struct fr_iterations_basis *basis = &w->basis;
    return (!basis->width || basis->width == fr_workload_width(w)) &&
           (!basis->layers || basis->layers == fr_workload_depth(w)) &&
           (!basis->sequence || basis->sequence == w->transformer.sequence);
}

static fr_status laws_read(const struct fr_json *node, struct fr_workload *workload,
                           struct fr_error *err) {
    struct fr_json list = fr_json_member(node, "laws");
    if (!fr_json_present(&list)) return FR_OK;
    FR_TRY(fr_json_array(&list, 0, FR_ITERATION_ROWS_MAX, err));
    int64_t count = fr_json_array_length(&list);
    workload->laws = fr_calloc((size_t)count + 1, sizeof *workload->laws);
    if (!workload->laws) return fr_json_fail(node, err, "does not fit in memory");
    for (int64_t i = 0; i < count; i++) {
        struct fr_json one = fr_json_element(&list, i), when = fr_json_member(&one, "plan");
        struct fr_iterations_law *law = &workload->laws[workload->n_laws++];
        FR_TRY(fr_iterations_law_read(&one, law, err));
        if (fr_json_present(&when)) FR_TRY(when_read(&when, &law->when, err));
    }
    return FR_OK;
}

static fr_status growth_read(const struct fr_json *node, struct fr_workload *workload,
                             struct fr_error *err) {
    struct fr_json list = fr_json_member(node, "growth");
    if (!fr_json_present(&list)) return FR_OK;
    FR_TRY(fr_json_array(&list, 0, FR_GROWTHS_MAX, err));
    int64_t count = fr_json_array_length(&list);
    workload->growth = fr_calloc((size_t)count + 1, sizeof *workload->growth);
    if (!workload->growth) return fr_json_fail(node, err, "does not fit in memory");
    for (; workload->n_growth < count; workload->n_growth++) {
        struct fr_json one = fr_json_element(&list, workload->n_growth);
        FR_TRY(fr_growth_read(&one, &workload->growth[workload->n_growth], err));
        for (int i = 0; i < workload->n_growth; i++)
            if (workload->growth[i].of == workload->growth[workload->n_growth].of)
                return fr_json_fail(&one, err, "is a second law of the same");
    }
    return FR_OK;
}

static fr_status table_read(const struct fr_json *node, struct fr_workload *workload,
                            struct fr_error *err) {
    struct fr_json inside = fr_json_member(node, "table");
    const struct fr_json *table = fr_json_is_object(node) ? &inside : node;
    int64_t count = 1;
    workload->basis = (struct fr_iterations_basis){0};
    if (fr_json_is_object(node)) {
        FR_TRY(basis_read(node, &workload->basis, err));
        FR_TRY(laws_read(node, workload, err));
        FR_TRY(growth_read(node, workload, err));
    }
    if (!fr_json_is_number(node)) {
        FR_TRY(fr_json_array(table, 1, FR_ITERATION_ROWS_MAX, err));
        count = fr_json_array_length(table);
    }
    workload->iterations = fr_calloc((size_t)count, sizeof *workload->iterations);
    if (!workload->iterations) return fr_json_fail(node, err, "does not fit in memory");
    workload->n_iterations = (int)count;
    workload->basis.any_batch = fr_json_is_number(node);
    if (fr_json_is_number(node)) /* one number: any method, any batch */
        return fr_json_number(node, 1e-9, 1e15, &workload->iterations[0].iterations, err);
    for (int64_t i = 0; i < count; i++) {
        struct fr_json row = fr_json_element(table, i);
        FR_TRY(row_read(&row, &workload->iterations[i], err));
    }
    return FR_OK;
}

fr_status fr_model_read(const struct fr_json_document *document, struct fr_workload *workload,
                        struct fr_error *err) {
    struct fr_json root = fr_json_root(document),
                   iterations = fr_json_member(&root, "iterations");
    FR_TRY(fr_workload_read(document, workload, err));
    return fr_json_present(&iterations) ? table_read(&iterations, workload, err) : FR_OK;
}

/* Does the row speak of this method?  Exact methods train alike, so one stands for another. */
static bool same_method(const struct fr_iterations_row *row, const struct fr_method *method) {
    return !row->method || row->method == method || (row->method->exact && method->exact);
}

static bool any_or(int64_t row, int64_t asked) { return row == 0 || row == asked; }

/* The nearest rows on both sides along one coordinate. */
struct bracket {
    const struct fr_iterations_row *below, *above;
    int64_t below_at, above_at;
};

static void bracket_add(struct bracket *b, const struct fr_iterations_row *row, int64_t at,
                        int64_t asked) {
    if (at < asked && (!b->below || at > b->below_at)) b->below = row, b->below_at = at;
    if (at > asked && (!b->above || at < b->above_at)) b->above = row, b->above_at = at;
}

static bool bracket_value(const struct bracket *b, int64_t asked, double *iterations) {
    if (!b->below || !b->above || b->below_at < 1) return false;
    double share = log((double)asked / (double)b->below_at) /
                   log((double)b->above_at / (double)b->below_at);
    *iterations =
        b->below->iterations * pow(b->above->iterations / b->below->iterations, share);
    return true;
}

static fr_iterations_origin look_up(const struct fr_workload *workload,
                                    const struct fr_plan *plan, bool compressed,
                                    double *iterations) {
    struct bracket same_tp = {0}, same_ghost = {0};
    for (int i = 0; i < workload->n_iterations; i++) {
        const struct fr_iterations_row *row = &workload->iterations[i];
        bool same_loss = workload->basis.any_batch || row->compressed == compressed;
        if (!same_method(row, plan->method) || !same_loss) continue;
        if (row->when && !when_holds(row->when, plan, 0)) continue;
        bool tp_fits = any_or(row->tp, plan->tp);
        bool ghost_fits = !plan->method->uses_ghost || any_or(row->ghost, plan->ghost);
        if (tp_fits && ghost_fits) {
            *iterations = row->iterations;
            return FR_ITERATIONS_GIVEN;
        }
        if (tp_fits) bracket_add(&same_tp, row, row->ghost, plan->ghost);
        if (ghost_fits) bracket_add(&same_ghost, row, row->tp, plan->tp);
    }
    if (bracket_value(&same_tp, plan->ghost, iterations) ||
        bracket_value(&same_ghost, plan->tp, iterations))
        return FR_ITERATIONS_INTERPOLATED;
    return FR_ITERATIONS_UNKNOWN;
}

/* ---- laws -------------------------------------------------------------------------------------- */

static int64_t known_batch(const struct fr_workload *workload) {
    int64_t named = workload->basis.global_batch;
    return named ? named : workload->global_batch;
}

/* Iterations at @p batch over those of the table's; NaN: no law says. */
static double batch_factor(const struct fr_workload *w, int64_t batch) {
    double known = (double)known_batch(w), factor = NAN;
    for (int i = 0; i < w->n_laws && isnan(factor); i++)
        if (w->laws[i].along == FR_LAW_BATCH)
            factor = fr_law_batch(&w->laws[i], known, (double)batch);
    return factor;
}

static double by_ghost(const struct fr_workload *w, const struct fr_plan *plan) {
    double nu = NAN;
    for (int i = 0; i < w->n_laws && isnan(nu); i++)
        if (w->laws[i].along == FR_LAW_GHOST) nu = fr_law_ghost(&w->laws[i], plan);
    return nu;
}

/* Factor of one kind of compression alone: the effect of both together was not fitted. */
static double share_factor(const struct fr_workload *w, const struct fr_plan *plan,
                           struct fr_lossy lossy) {
    bool backward = lossy.backward > 0;
    double factor = NAN, share = backward ? lossy.backward : lossy.gradient;
    fr_plan_key_set free = backward ? FR_PLAN_KEY_BIT(FR_PLAN_KEY_backward_scope)
                                    : FR_PLAN_KEY_BIT(FR_PLAN_KEY_gradient_stages);
    if (lossy.forward > 0 || (backward && lossy.gradient > 0)) return NAN;
    for (int i = 0; i < w->n_laws && isnan(factor); i++) {
        const struct fr_iterations_law *law = &w->laws[i];
        if (law->along != (backward ? FR_LAW_BACKWARD : FR_LAW_GRADIENT)) continue;
        if (!law->when || when_holds(law->when, plan, free)) factor = fr_law_share(law, share);
    }
    return factor;
}

static struct fr_plan without_compression(const struct fr_plan *plan) {
    struct fr_plan plain = *plan;
    fr_plan_drop_loss(&plain);
    plain.compression.fused_embedding = false;
    return plain;
}

/* At the table's batch. */
static fr_iterations_origin find_here(const struct fr_workload *w, const struct fr_plan *plan,
                                      struct fr_lossy lossy, double *iterations) {
    bool compressed = lossy.backward > 0 || lossy.gradient > 0 || lossy.forward > 0;
    struct fr_plan plain = without_compression(plan);
    fr_iterations_origin origin = look_up(w, plan, compressed, iterations);
    if (origin != FR_ITERATIONS_UNKNOWN) return origin;
    double factor = compressed ? share_factor(w, plan, lossy) : 1, nu = NAN;
    if (isnan(factor)) return FR_ITERATIONS_UNKNOWN;
    if (!compressed || look_up(w, &plain, false, &nu) == FR_ITERATIONS_UNKNOWN)
        nu = by_ghost(w, &plain);
    if (isnan(nu)) return FR_ITERATIONS_UNKNOWN;
    *iterations = nu * factor;
    return FR_ITERATIONS_LAW;
}

/* ------------------------------------------------------------------------------------------------ */

/* Iterations of an exact plan where a law of growth carries over to this network: those stated for it, else those
 * of the trainings; 0: none.  They are of the model's own batch. */
static double reference_of(const struct fr_workload *w, int64_t global_batch) {
    struct fr_plan plain = fr_plan_default();
    double nu = 0;
    if (w->n_growth == 0 || global_batch != w->global_batch) return 0;
    if (w->basis.reference > 0) return w->basis.reference;
    return look_up(w, &plain, false, &nu) == FR_ITERATIONS_UNKNOWN ? 0 : nu;
}

static fr_iterations_origin find_grown(const struct fr_workload *w, const struct fr_plan *plan,
                                       struct fr_lossy lossy, int64_t global_batch,
                                       double *iterations) {
    double deviation, reference = reference_of(w, global_batch),
                      ratio = fr_growth_of(w, plan, lossy.backward, lossy.gradient, &deviation);
    if (!(reference > 0) || isnan(ratio) || lossy.forward > 0) return FR_ITERATIONS_UNKNOWN;
    *iterations = ratio * reference;
    const bool exact = plan->method->exact && lossy.backward == 0 && lossy.gradient == 0;
    return exact && w->basis.reference > 0 ? FR_ITERATIONS_GIVEN : FR_ITERATIONS_LAW;
}

static bool table_holds(const struct fr_workload *workload, int64_t global_batch) {
    const struct fr_iterations_basis *basis = &workload->basis;
    return workload->n_iterations > 0 && fr_iterations_apply(workload) &&
           (basis->any_batch || basis->by_samples || global_batch == known_batch(workload) ||
            !isnan(batch_factor(workload, global_batch)));
}

bool fr_iterations_hold(const struct fr_workload *workload, int64_t global_batch) {
    return table_holds(workload, global_batch) || reference_of(workload, global_batch) > 0;
}

double fr_iterations_deviation(const struct fr_workload *workload, const struct fr_plan *plan,
                               struct fr_lossy lossy, int64_t global_batch) {
    double deviation = 0, nu;
    if (workload->n_growth == 0 || plan->iterations > 0) return 0;
    if (table_holds(workload, global_batch) &&
        find_here(workload, plan, lossy, &nu) != FR_ITERATIONS_UNKNOWN)
        return 0;
    fr_growth_of(workload, plan, lossy.backward, lossy.gradient, &deviation);
    return deviation > 0 ? deviation : 0;
}

fr_iterations_origin fr_iterations_find(const struct fr_workload *workload,
                                        const struct fr_plan *plan, struct fr_lossy lossy,
                                        int64_t global_batch, double *iterations) {
    int64_t known = known_batch(workload);
    if (!table_holds(workload, global_batch))
        return find_grown(workload, plan, lossy, global_batch, iterations);
    fr_iterations_origin origin = find_here(workload, plan, lossy, iterations);
    if (origin == FR_ITERATIONS_UNKNOWN && workload->n_growth > 0)
        return find_grown(workload, plan, lossy, global_batch, iterations);
    if (workload->basis.any_batch || global_batch == known || origin == FR_ITERATIONS_UNKNOWN)
        return origin;
    double law = batch_factor(workload, global_batch);
    *iterations *= isnan(law) ? (double)known / (double)global_batch : law;
    return isnan(law) ? FR_ITERATIONS_SCALED : FR_ITERATIONS_LAW;
}
