/* Values of plan keys that are one quantity for all stages, or one for each: clocks, power limits. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "base/units.h"
#include "models/plan/key.h"

/* The fields of such a key, side by side; the last where there is a second word. */
struct values {
    const int64_t *values;
    int n;
    bool second;
};
_Static_assert(offsetof(struct fr_plan, n_clock_Hz) - offsetof(struct fr_plan, clock_Hz) ==
                       offsetof(struct values, n) &&
                   offsetof(struct fr_plan, clock_slack) - offsetof(struct fr_plan, clock_Hz) ==
                       offsetof(struct values, second) &&
                   offsetof(struct fr_plan, n_cap_W) - offsetof(struct fr_plan, cap_W) ==
                       offsetof(struct values, n),
               "values, how many, and the second word");

static bool is_clock(const struct fr_plan_key *key) {
    return key == &fr_plan_keys[FR_PLAN_KEY_clock];
}

static fr_quantity quantity_of(const struct fr_plan_key *key) {
    return is_clock(key) ? FR_QUANTITY_FREQUENCY : FR_QUANTITY_POWER;
}

static struct values get(const struct fr_plan_key *key, const struct fr_plan *plan) {
    struct values v = {0};
    memcpy(&v, (const char *)plan + key->offset, key->size);
    return v;
}

static fr_status read_one(const struct fr_plan_key *key, const struct fr_json *node,
                          int64_t *out, struct fr_error *err) {
    double value = 0;
    FR_TRY(fr_json_quantity(node, quantity_of(key), key->least, key->most, &value, err));
    *out = llround(value);
    return FR_OK;
}

static fr_status read_values(const struct fr_plan_key *key, const struct fr_json *node,
                             struct values *v, int64_t **owned, struct fr_error *err) {
    bool list = fr_json_is_array(node);
    if (list) FR_TRY(fr_json_array(node, 1, FR_LAYER_MAX, err));
    v->n = list ? (int)fr_json_array_length(node) : 1;
    free(*owned);
    *owned = fr_calloc((size_t)v->n, sizeof **owned);
    if (!*owned) return fr_json_fail(node, err, "does not fit in memory");
    v->values = *owned;
    for (int i = 0; i < v->n; i++) {
        struct fr_json one = list ? fr_json_element(node, i) : *node;
        FR_TRY(read_one(key, &one, &(*owned)[i], err));
    }
    return FR_OK;
}

/* A word, a value, or a list of values. */
static fr_status read_quantities(const struct fr_plan_key *key, const struct fr_json *object,
                                 const char *member, struct fr_plan *plan,
                                 struct fr_plan_lists *lists, struct fr_error *err) {
    struct fr_json node = fr_json_member(object, member);
    struct values v = {0};
    const char *text = "";
    bool word = false;
    if (fr_json_is_string(&node)) FR_TRY(fr_json_text(&node, &text, err));
    for (int i = 0; key->words[i]; i++) {
        if (strcmp(text, key->words[i]) != 0) continue;
        word = true;
        v.second = i == 1;
    }
    if (!word)
        FR_TRY(
            read_values(key, &node, &v, is_clock(key) ? &lists->clock_Hz : &lists->cap_W, err));
    memcpy((char *)plan + key->offset, &v, key->size);
    return FR_OK;
}

/* Exact: whole megahertz, else hertz. */
static const char *one_text(const struct fr_plan_key *key, int64_t value, char *out,
                            size_t capacity) {
    bool mega = is_clock(key) && value % 1000000 == 0;
    snprintf(out, capacity, "%" PRId64 " %s", mega ? value / 1000000 : value,
             !is_clock(key) ? "W"
             : mega         ? "MHz"
                            : "Hz");
    return out;
}

static void write_quantities(const struct fr_plan_key *key, const struct fr_plan *plan,
                             struct fr_json_writer *w) {
    struct values v = get(key, plan);
    char text[40];
    if (!v.values) {
        fr_json_put_string(w, key->words[v.second]);
        return;
    }
    if (v.n > 1) fr_json_begin_array(w);
    for (int i = 0; i < v.n; i++)
        fr_json_put_string(w, one_text(key, v.values[i], text, sizeof text));
    if (v.n > 1) fr_json_end_array(w);
}

/* "1410*2+1200 MHz"; what is too long for a line as a number made of all values. */
static const char *quantities_text(const struct fr_plan_key *key, const struct fr_plan *plan,
                                   char *out, size_t capacity) {
    enum { CAPACITY = 48 };
    struct values v = get(key, plan);
    char runs[3 * CAPACITY] = "", one[40];
    size_t used = 0;
    uint64_t sum = FR_DIGEST_START;
    if (!v.values) {
        snprintf(out, capacity, "%s", key->words[v.second]);
        return out;
    }
    for (int i = 0, run; i < v.n; i += run) {
        for (run = 1; i + run < v.n && v.values[i + run] == v.values[i];) run++;
        for (int k = 0; k < run; k++) sum = fr_digest_one(sum, (uint64_t)v.values[i]);
        if (used >= CAPACITY) continue;
        one_text(key, v.values[i], one, sizeof one);
        fr_line_addf(runs, sizeof runs, &used, "%s%s", i ? "+" : "", one);
        if (run > 1) fr_line_addf(runs, sizeof runs, &used, "*%d", run);
    }
    if (used < CAPACITY)
        snprintf(out, capacity, "%s", runs);
    else
        snprintf(out, capacity, "#%016" PRIx64, sum);
    return out;
}

static bool same_quantities(const struct fr_plan_key *key, const struct fr_plan *a,
                            const struct fr_plan *b) {
    struct values x = get(key, a), y = get(key, b);
    if (!x.values || !y.values) return !x.values && !y.values && x.second == y.second;
    return x.n == y.n && memcmp(x.values, y.values, (size_t)x.n * sizeof *x.values) == 0;
}

const struct fr_plan_type fr_plan_quantities = {.name = "quantities",
                                                .read = read_quantities,
                                                .write = write_quantities,
                                                .text = quantities_text,
                                                .same = same_quantities};
