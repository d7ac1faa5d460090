/* Kinds of values of plan keys that may be lists: orders of passes, placements, layers.
 *
 *  In a line a list stands as its runs ("19+21*2+19"), a long one as a number made of all its
 *  entries, so that different lists stand differently. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "models/plan/key.h"

enum { RUNS_MAX = 48 }; /* characters of a list written out */

static const char *list_runs(const int64_t *values, int64_t n, char *out, size_t capacity) {
    char runs[2 * RUNS_MAX];
    size_t used = 0;
    *runs = 0;
    for (int64_t i = 0, run; i < n && used < RUNS_MAX; i += run) {
        for (run = 1; i + run < n && values[i + run] == values[i];) run++;
        fr_line_addf(runs, sizeof runs, &used, "%s%" PRId64, i ? "+" : "", values[i]);
        if (run > 1) fr_line_addf(runs, sizeof runs, &used, "*%" PRId64, run);
    }
    if (used < RUNS_MAX)
        snprintf(out, capacity, "%s", runs);
    else
        snprintf(out, capacity, "#%016" PRIx64, fr_digest(FR_DIGEST_START, values, n));
    return out;
}

static void write_list(struct fr_json_writer *w, const int64_t *values, int64_t n) {
    fr_json_begin_array(w);
    for (int64_t i = 0; i < n; i++) fr_json_put_integer(w, values[i]);
    fr_json_end_array(w);
}

static bool same_list(const int64_t *a, int64_t n_a, const int64_t *b, int64_t n_b) {
    if (!a || !b) return a == b;
    return n_a == n_b && memcmp(a, b, (size_t)n_a * sizeof *a) == 0;
}

/* ---- layers -------------------------------------------------------------------------------- */

/* The fields of such a key, side by side; the last where there is a second word. */
struct list {
    const int64_t *values;
    int n;
    bool best;
};
_Static_assert(
    offsetof(struct fr_plan, n_layer_tp) - offsetof(struct fr_plan, layer_tp) ==
            offsetof(struct list, n) &&
        offsetof(struct fr_plan, layer_tp_best) - offsetof(struct fr_plan, layer_tp) ==
            offsetof(struct list, best) &&
        offsetof(struct fr_plan, n_stage_layers) - offsetof(struct fr_plan, stage_layers) ==
            offsetof(struct list, n) &&
        offsetof(struct fr_plan, stage_layers_best) - offsetof(struct fr_plan, stage_layers) ==
            offsetof(struct list, best) &&
        offsetof(struct fr_plan, n_gradient_ranks) - offsetof(struct fr_plan, gradient_ranks) ==
            offsetof(struct list, n) &&
        offsetof(struct fr_plan, gradient_ranks_best) -
                offsetof(struct fr_plan, gradient_ranks) ==
            offsetof(struct list, best),
    "a list, its length, and whether to choose it");

static struct list get_list(const struct fr_plan_key *key, const struct fr_plan *plan) {
    struct list list = {0};
    memcpy(&list, (const char *)plan + key->offset, key->size);
    return list;
}

static void set_list(const struct fr_plan_key *key, struct fr_plan *plan,
                     const struct list *list) {
    memcpy((char *)plan + key->offset, list, key->size);
}

static fr_status read_entries(const struct fr_json *node, int64_t least, struct list *list,
                              int64_t **owned, struct fr_error *err) {
    FR_TRY(fr_json_array(node, 1, FR_LAYER_MAX, err));
    int n = (int)fr_json_array_length(node);
    free(*owned);
    *owned = fr_calloc((size_t)n, sizeof **owned);
    if (!*owned) return fr_json_fail(node, err, "does not fit in memory");
    for (int i = 0; i < n; i++) {
        struct fr_json one = fr_json_element(node, i);
        FR_TRY(fr_json_integer(&one, least, FR_RANKS_MAX, &(*owned)[i], err));
    }
    *list = (struct list){.values = *owned, .n = n};
    return FR_OK;
}

static int64_t **owner_of(const struct fr_plan_key *key, struct fr_plan_lists *lists) {
    return key == &fr_plan_keys[FR_PLAN_KEY_layer_tp]         ? &lists->layer_tp
           : key == &fr_plan_keys[FR_PLAN_KEY_gradient_ranks] ? &lists->gradient_ranks
                                                              : &lists->stage_layers;
}

static fr_status read_layers(const struct fr_plan_key *key, const struct fr_json *object,
                             const char *member, struct fr_plan *plan,
                             struct fr_plan_lists *lists, struct fr_error *err) {
    struct fr_json node = fr_json_member(object, member);
    struct list list = {0};
    int word = 0;
    if (fr_json_is_array(&node)) {
        FR_TRY(read_entries(&node, (int64_t)key->least, &list, owner_of(key, lists), err));
    } else {
        FR_TRY(fr_json_get_choice(object, member, true, key->words, &word, err));
        list.best = word == 1;
    }
    set_list(key, plan, &list);
    return FR_OK;
}

static void write_layers(const struct fr_plan_key *key, const struct fr_plan *plan,
                         struct fr_json_writer *w) {
    struct list list = get_list(key, plan);
    if (list.values)
        write_list(w, list.values, list.n);
    else
        fr_json_put_string(w, key->words[list.best]);
}

static const char *layers_text(const struct fr_plan_key *key, const struct fr_plan *plan,
                               char *out, size_t capacity) {
    struct list list = get_list(key, plan);
    if (list.values) return list_runs(list.values, list.n, out, capacity);
    snprintf(out, capacity, "%s", key->words[list.best]);
    return out;
}

static bool same_layers(const struct fr_plan_key *key, const struct fr_plan *a,
                        const struct fr_plan *b) {
    struct list x = get_list(key, a), y = get_list(key, b);
    if (!x.values && !y.values) return x.best == y.best;
    return same_list(x.values, x.n, y.values, y.n);
}

const struct fr_plan_type fr_plan_list = {.name = "list",
                                          .read = read_layers,
                                          .write = write_layers,
                                          .text = layers_text,
                                          .same = same_layers};

/* ---- orders -------------------------------------------------------------------------------- */

/* The order of a file or list says how many stages and chunks there are, unless the plan does. */
static fr_status take_order(const struct fr_json *object, struct fr_plan *plan,
                            const struct fr_schedule_order *order) {
    struct fr_json pp = fr_json_member(object, "pp"), chunks = fr_json_member(object, "chunks");
    if (!fr_json_present(&pp)) plan->pp = order->stages;
    if (!fr_json_present(&chunks)) plan->chunks = order->chunks;
    plan->schedule = &fr_schedule_custom;
    plan->order = order;
    return FR_OK;
}

/* A row's name, the path of a file (it has a slash or ends in .json), or the order itself. */
static fr_status read_order(const struct fr_plan_key *key, const struct fr_json *object,
                            const char *member, struct fr_plan *plan,
                            struct fr_plan_lists *lists, struct fr_error *err) {
    struct fr_json node = fr_json_member(object, member);
    const char *names[16] = {NULL}, *text = NULL;
    int which = 0;
    (void)key;
    if (!fr_json_is_string(&node)) {
        FR_TRY(fr_schedule_order_read(&node, &lists->order, err));
        return take_order(object, plan, &lists->order);
    }
    FR_TRY(fr_json_text(&node, &text, err));
    size_t length = strlen(text);
    if (strchr(text, '/') || (length > 5 && strcmp(text + length - 5, ".json") == 0)) {
        FR_TRY(fr_schedule_order_read_file(text, &lists->order, err));
        return take_order(object, plan, &lists->order);
    }
    for (int i = 0; fr_schedules[i]; i++) names[i] = fr_schedules[i]->name;
    FR_TRY(fr_json_get_choice(object, member, true, names, &which, err));
    plan->schedule = fr_schedules[which];
    if (plan->schedule != &fr_schedule_custom) return FR_OK;
    struct fr_schedule_args none = {1, 1, 1, NULL};
    return fr_json_fail(&node, err, "%s", fr_schedule_custom.refuses(&none));
}

static void write_stage(const struct fr_schedule_order *o, int32_t stage,
                        struct fr_json_writer *w) {
    struct fr_text text = {0};
    for (int64_t k = 0; k < o->n_slots; k++) {
        const struct fr_slot *slot = &o->slots[stage * o->n_slots + k];
        fr_text_addf(&text, "%s%c%d", k ? " " : "", "FBW"[slot->kind], (int)slot -> micro);
        if (slot->chunk > 0) fr_text_addf(&text, ".%d", (int)slot->chunk);
    }
    fr_json_put_string(w, fr_text_get(&text));
    fr_text_free(&text);
}

static void write_order(const struct fr_plan_key *key, const struct fr_plan *plan,
                        struct fr_json_writer *w) {
    (void)key;
    if (!plan->order) {
        fr_json_put_string(w, plan->schedule->name);
        return;
    }
    fr_json_begin_object(w);
    fr_json_add_array(w, "stages");
    for (int32_t i = 0; i < plan->order->stages; i++) write_stage(plan->order, i, w);
    fr_json_end_array(w);
    fr_json_end_object(w);
}

static const char *order_text(const struct fr_plan_key *key, const struct fr_plan *plan,
                              char *out, size_t capacity) {
    const struct fr_schedule_order *o = plan->order;
    uint64_t sum = FR_DIGEST_START;
    (void)key;
    for (int64_t i = 0; o && i < o->stages * o->n_slots; i++) {
        const int64_t pass[] = {o->slots[i].kind, o->slots[i].micro, o->slots[i].chunk};
        sum = fr_digest(sum, pass, 3);
    }
    if (o)
        snprintf(out, capacity, "%s #%016" PRIx64, plan->schedule->name, sum);
    else
        snprintf(out, capacity, "%s", plan->schedule->name);
    return out;
}

static bool same_slots(const struct fr_schedule_order *a, const struct fr_schedule_order *b) {
    if (a == b) return true;
    if (!a || !b || a->stages != b->stages || a->n_slots != b->n_slots) return false;
    for (int64_t i = 0; i < a->stages * a->n_slots; i++)
        if (a->slots[i].kind != b->slots[i].kind || a->slots[i].micro != b->slots[i].micro ||
            a->slots[i].chunk != b->slots[i].chunk)
            return false;
    return true;
}

static bool same_order(const struct fr_plan_key *key, const struct fr_plan *a,
                       const struct fr_plan *b) {
    (void)key;
    return a->schedule == b->schedule && same_slots(a->order, b->order);
}

const struct fr_plan_type fr_plan_order = {.name = "order",
                                           .read = read_order,
                                           .write = write_order,
                                           .text = order_text,
                                           .same = same_order};

/* ---- placement --------------------------------------------------------------------------------- */

static fr_status read_placement(const struct fr_plan_key *key, const struct fr_json *object,
                                const char *member, struct fr_plan *plan,
                                struct fr_plan_lists *lists, struct fr_error *err) {
    struct fr_json node = fr_json_member(object, member);
    const char *text = NULL;
    char where[384];
    (void)key;
    if (fr_json_is_array(&node))
        return fr_placement_read_list(&node, &plan->placement, &lists->rank_map, err);
    FR_TRY(fr_json_text(&node, &text, err));
    return fr_placement_parse(text, fr_json_where(&node, where, sizeof where), &plan->placement,
                              &lists->rank_map, err);
}

static const char *placement_text(const struct fr_plan_key *key, const struct fr_plan *plan,
                                  char *out, size_t capacity) {
    const struct fr_placement_choice *c = &plan->placement;
    (void)key;
    fr_placement_write(c, out, capacity);
    size_t used = strlen(out);
    if (c->list)
        fr_line_addf(out, capacity, &used, " #%016" PRIx64,
                     fr_digest(FR_DIGEST_START, c->list, c->n_list));
    return out;
}

static void write_placement(const struct fr_plan_key *key, const struct fr_plan *plan,
                            struct fr_json_writer *w) {
    char text[FR_PLAN_WORD];
    if (plan->placement.list)
        write_list(w, plan->placement.list, plan->placement.n_list);
    else
        fr_json_put_string(w, placement_text(key, plan, text, sizeof text));
}

static bool same_placement(const struct fr_plan_key *key, const struct fr_plan *a,
                           const struct fr_plan *b) {
    const struct fr_placement_choice *x = &a->placement, *y = &b->placement;
    (void)key;
    if (x->row != y->row) return false;
    if (x->row == &fr_placement_by_axis)
        return memcmp(x->order, y->order, sizeof x->order) == 0;
    if (x->row == &fr_placement_optimised) return x->seed == y->seed;
    return same_list(x->list, x->n_list, y->list, y->n_list);
}

const struct fr_plan_type fr_plan_placement = {.name = "placement",
                                               .read = read_placement,
                                               .write = write_placement,
                                               .text = placement_text,
                                               .same = same_placement};
