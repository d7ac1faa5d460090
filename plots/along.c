#include "plots/along.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/units.h"
#include "models/plan/key.h"
#include "plots/scale.h"

/* "8192", "25 GB/s", "2 us": in SI units. */
static bool number_of(const char *text, double *x) {
    char *end = NULL;
    struct fr_error ignored = {0};
    *x = strtod(text, &end);
    if (end != text && !*end) return isfinite(*x);
    for (int q = FR_QUANTITY_TIME; q <= FR_QUANTITY_INVERSE_RATE; q++)
        if (fr_quantity_parse(text, (fr_quantity)q, "", x, &ignored) == FR_OK) return true;
    return false;
}

/* ---- what a result says of a key ------------------------------------------------------------------ */

/* False where it says nothing of it. */
static bool value_of(const struct fr_result *r, const char *key, char *out, size_t capacity) {
    const struct fr_plan_key *row;
    const char *near;
    if (strcmp(key, FR_ALONG_RANKS) == 0) {
        snprintf(out, capacity, "%" PRId64, r->ranks);
        return true;
    }
    for (int i = 0; i < r->n_varied; i++)
        if (strcmp(r->varied_key[i].name, key) == 0) {
            snprintf(out, capacity, "%s", r->varied_key[i].value);
            return true;
        }
    row = fr_plan_key_find(key, &near);
    if (row) row->type->text(row, &r->plan, out, capacity);
    return row != NULL;
}

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

/* How many values of @p key there are, and whether all are numbers; 0 where a result has none. */
static int count_values(const struct fr_results *results, const char *key, bool *numbers) {
    char(*value)[FR_ALONG_TEXT] = fr_calloc(results->count, sizeof *value);
    int n = 0;
    *numbers = true;
    for (size_t i = 0; value && i < results->count; i++) {
        double x;
        if (!value_of(&results->items[i], key, value[i], sizeof value[i])) {
            free(value);
            return 0;
        }
        *numbers = *numbers && number_of(value[i], &x);
    }
    if (value) fr_sort_items(value, results->count, sizeof *value, by_text);
    for (size_t i = 0; value && i < results->count; i++)
        n += i == 0 || strcmp(value[i - 1], value[i]) != 0;
    free(value);
    return n;
}

/* ---- which key -------------------------------------------------------------------------------- */

struct choice {
    const char *key;
    int values;
};

static void try(const struct fr_results *results, const char *key, struct choice *best) {
    bool numbers;
    int values = count_values(results, key, &numbers);
    if (numbers && values > best->values) *best = (struct choice){key, values};
}

static const char *choose(const struct fr_results *results) {
    struct choice best = {FR_ALONG_RANKS, 1};
    try(results, FR_ALONG_RANKS, &best);
    for (int i = 0; best.values < 2 && i < results->items[0].n_varied; i++)
        try(results, results->items[0].varied_key[i].name, &best);
    if (best.values < 2)
        for (int k = 0; k < FR_PLAN_KEYS; k++) try(results, fr_plan_keys[k].name, &best);
    return best.key;
}

/* "tp, dp, model.sequence": those that differ. */
static void tell_keys(const struct fr_results *results, struct fr_text *text) {
    bool numbers;
    if (count_values(results, FR_ALONG_RANKS, &numbers) > 1)
        fr_text_addf(text, "%s", FR_ALONG_RANKS);
    for (int k = -results->items[0].n_varied; k < FR_PLAN_KEYS; k++) {
        const char *name =
            k < 0 ? results->items[0].varied_key[-k - 1].name : fr_plan_keys[k].name;
        if (count_values(results, name, &numbers) > 1)
            fr_text_addf(text, "%s%s", text->length ? ", " : "", name);
    }
}

static fr_status refuse(const struct fr_results *results, const char *key,
                        const struct fr_json *root, struct fr_error *err) {
    struct fr_text keys = {0};
    tell_keys(results, &keys);
    fr_status status =
        fr_json_fail(root, err, "does not tell \"%s\" of its plans; %s%s", key,
                     keys.length ? "what differs is " : "nothing differs", fr_text_get(&keys));
    fr_text_free(&keys);
    return status;
}

/* ---- where results lie -------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    const struct fr_result *const *x = a, *const *y = b;
    return strcmp((*x)->along_text, (*y)->along_text);
}

/* Side by side: the n-th value by name at n. */
static fr_status stand(struct fr_results *results, struct fr_error *err) {
    struct fr_result **sorted = fr_calloc(results->count, sizeof *sorted);
    if (!sorted) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (size_t i = 0; i < results->count; i++) sorted[i] = &results->items[i];
    fr_sort_items(sorted, results->count, sizeof *sorted, by_value);
    for (size_t i = 0; i < results->count; i++)
        sorted[i]->along =
            i == 0 ? 1 : sorted[i - 1]->along + (by_value(&sorted[i - 1], &sorted[i]) != 0);
    free(sorted);
    return FR_OK;
}

fr_status fr_along_choose(struct fr_results *results, const char *key,
                          const struct fr_json *root, struct fr_error *err) {
    bool numbers;
    if (key && strncmp(key, "plan.", 5) == 0) key += 5;
    if (!key) key = choose(results);
    if (count_values(results, key, &numbers) == 0) return refuse(results, key, root, err);
    snprintf(results->along, sizeof results->along, "%s", key);
    for (size_t i = 0; i < results->count; i++) {
        struct fr_result *r = &results->items[i];
        value_of(r, key, r->along_text, sizeof r->along_text);
        number_of(r->along_text, &r->along);
    }
    if (!numbers) FR_TRY(stand(results, err));
    fr_results_spell_varied(results, key);
    return FR_OK;
}

/* ---- the axis ------------------------------------------------------------------------------------ */

/* Values a factor of 4 and more apart fit on a logarithmic axis alone. */
static bool is_logarithmic(const struct fr_curves *c) {
    double low = c->along[0]->along, high = c->along[c->n_along - 1]->along;
    return low > 0 && high >= 4 * low;
}

static double position(const struct fr_scale *range, bool logarithmic, double x) {
    return logarithmic ? log(x / range->low) / log(range->high / range->low)
                       : (x - range->low) / (range->high - range->low);
}

static struct fr_scale range_of(const struct fr_curves *c, bool logarithmic) {
    struct fr_scale seen = {c->along[0]->along, c->along[c->n_along - 1]->along};
    double margin = 0.06 * (seen.high - seen.low);
    if (logarithmic) return fr_scale_padded(seen);
    if (margin <= 0) margin = seen.low != 0 ? 0.5 * fabs(seen.low) : 1;
    return (struct fr_scale){seen.low - margin, seen.high + margin};
}

/* Rank counts as every figure has them. */
static void ranks_axis(struct fr_picture *p, const struct fr_curves *c) {
    int64_t *ranks = fr_calloc((size_t)c->n_along + 1, sizeof *ranks);
    for (int i = 0; ranks && i < c->n_along; i++) ranks[i] = c->along[i]->ranks;
    if (ranks) fr_scale_counts(p, ranks, c->n_along, 9);
    free(ranks);
}

void fr_along_axis(struct fr_picture *p, const struct fr_results *results,
                   const struct fr_curves *c, double width_px) {
    enum { TICK_SIZE = 11, GAP_PX = 8 };
    if (p->stack.on && p->width_px - 90 < width_px) width_px = p->width_px - 90;
    bool logarithmic = is_logarithmic(c);
    struct fr_scale range = range_of(c, logarithmic);
    double free_px = -width_px;
    int written = 0;
    fr_picture_axis_label(p, "x", results->along);
    if (strcmp(results->along, FR_ALONG_RANKS) == 0) {
        ranks_axis(p, c);
        return;
    }
    fr_text_addf(&p->script, "%sset xrange [%.9g:%.9g]\nset xtics (",
                 logarithmic ? "set logscale x\n" : "", range.low, range.high);
    for (int i = 0; i < c->n_along; i++) {
        const struct fr_result *r = c->along[i];
        double half_px = fr_picture_text_px(r->along_text, TICK_SIZE) / 2,
               at_px = width_px * position(&range, logarithmic, r->along);
        if (at_px - half_px < free_px) continue;
        fr_text_addf(&p->script, "%s", written++ ? ", " : "");
        fr_picture_quote(p, r->along_text);
        fr_text_addf(&p->script, " %.9g", r->along);
        free_px = at_px + half_px + GAP_PX;
    }
    fr_text_addf(&p->script, ")\n");
}
