#include "plots/curve.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "models/plan/method.h"

/* A result with all that orders it. */
struct entry {
    const struct fr_result *result;
    double value;
    int64_t ghost;
    bool tensor;
};

static int order(double a, double b) { return FR_ORDER(a, b); }

static int compare_curve(const struct entry *a, const struct entry *b) {
    if (a->tensor != b->tensor) return a->tensor ? -1 : 1;
    int methods = strcmp(a->result->method, b->result->method);
    if (methods) return methods;
    if (a->ghost != b->ghost) return FR_ORDER(a->ghost, b->ghost);
    return strcmp(a->result->varied, b->result->varied);
}

static int compare_entry(const void *left, const void *right) {
    const struct entry *a = left, *b = right;
    int curves = compare_curve(a, b);
    if (curves) return curves;
    int places = order(a->result->along, b->result->along);
    if (places) return places;
    int values = order(a->value, b->value);
    if (values) return values;
    return FR_ORDER(a->result, b->result); /* all of one array */
}

static int compare_urgency(const void *left, const void *right) {
    const struct fr_curve *a = left, *b = right;
    if (a->urgency != b->urgency) return FR_ORDER(a->urgency, b->urgency);
    int values = order(a->best, b->best);
    return values ? values : FR_ORDER(a->at, b->at);
}

static int compare_place(const void *left, const void *right) {
    const struct fr_curve *a = left, *b = right;
    return FR_ORDER(a->at, b->at);
}

static int compare_along(const void *left, const void *right) {
    const struct fr_result *const *a = left, *const *b = right;
    return order((*a)->along, (*b)->along);
}

static void label(const struct fr_result *r, bool by_ghost, bool varied,
                  struct fr_curve *curve) {
    size_t used = 0;
    fr_line_addf(curve->label, sizeof curve->label, &used, "%s", r->method);
    if (by_ghost && r->ghost > 0)
        fr_line_addf(curve->label, sizeof curve->label, &used, ", k = %" PRId64, r->ghost);
    if (varied) fr_line_addf(curve->label, sizeof curve->label, &used, "%s", r->varied);
}

/* Walk the sorted entries: a new curve where method or ghost change, a new point where the
 * place does; the first entry of each is its best. */
static void cut(const struct entry *entries, size_t n, bool by_ghost, bool varied,
                struct fr_curves *c) {
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        const struct entry *e = &entries[i];
        bool new_curve = i == 0 || compare_curve(&entries[i - 1], e) != 0;
        if (!new_curve && entries[i - 1].result->along == e->result->along) continue;
        if (new_curve) {
            c->items[c->count] = (struct fr_curve){.at = &c->storage[used], .best = e->value};
            label(e->result, by_ghost, varied, &c->items[c->count++]);
        }
        struct fr_curve *curve = &c->items[c->count - 1];
        curve->best = fmin(curve->best, e->value);
        curve->n++;
        c->storage[used++] = e->result;
    }
}

/* Neighbouring widths lie on each other; a few, spread, say more than the best few. */
static void keep_some(struct fr_curves *c, int max) {
    if (c->count <= max) return;
    struct fr_curve *best = &c->items[0];
    for (int i = 0; i < c->count; i++) {
        int64_t ghost = c->items[i].at[0]->ghost;
        bool power_of_two = ghost > 0 && (ghost & (ghost - 1)) == 0;
        c->items[i].urgency = ghost == 0 ? 0 : power_of_two ? 2 : 3;
        if (c->items[i].best < best->best) best = &c->items[i];
    }
    best->urgency = best->urgency > 1 ? 1 : best->urgency;
    fr_sort_items(c->items, c->count, sizeof *c->items, compare_urgency);
    c->left_out = c->count - max;
    c->count = max;
    fr_sort_items(c->items, c->count, sizeof *c->items, compare_place);
}

static void collect_along(struct fr_curves *c) {
    int n = 0;
    for (int i = 0; i < c->count; i++)
        for (int j = 0; j < c->items[i].n; j++) c->along[n++] = c->items[i].at[j];
    fr_sort_items(c->along, n, sizeof *c->along, compare_along);
    for (int i = 0; i < n; i++)
        if (i == 0 || compare_along(&c->along[i], &c->along[i - 1]) != 0)
            c->along[c->n_along++] = c->along[i];
}

fr_status fr_curves_make(const struct fr_results *results, bool by_ghost, fr_curve_value value,
                         int max, struct fr_curves *c, struct fr_error *err) {
    *c = (struct fr_curves){0};
    struct entry *entries = fr_calloc(results->count + 1, sizeof *entries);
    c->items = fr_calloc(results->count + 1, sizeof *c->items);
    c->storage = fr_calloc(results->count + 1, sizeof *c->storage);
    c->along = fr_calloc(results->count + 1, sizeof *c->along);
    if (!entries || !c->items || !c->storage || !c->along) {
        free(entries);
        return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    }
    size_t n = 0;
    by_ghost = by_ghost && strcmp(results->along, "ghost") != 0;
    for (size_t i = 0; i < results->count; i++) {
        const struct fr_result *r = &results->items[i];
        double v = value(results, r);
        if (!isfinite(v)) continue;
        entries[n++] = (struct entry){r, v, by_ghost ? r->ghost : 0,
                                      strcmp(r->method, fr_methods[0]->name) == 0};
    }
    fr_sort_items(entries, n, sizeof *entries, compare_entry);
    cut(entries, n, by_ghost, !results->varied_alike, c);
    free(entries);
    keep_some(c, max);
    collect_along(c);
    return FR_OK;
}

void fr_curves_free(struct fr_curves *c) {
    free(c->items);
    free(c->storage);
    free(c->along);
    *c = (struct fr_curves){0};
}

/* How many curves before it have its method; -1: all curves have one method. */
static int variant_of(const struct fr_curves *c, int i) {
    bool several = false;
    int n = 0;
    for (int k = 0; k < c->count; k++) {
        bool same = strcmp(c->items[k].at[0]->method, c->items[i].at[0]->method) == 0;
        several = several || !same;
        n += same && k < i;
    }
    return several ? n : -1;
}

static const char *colour_of(const struct fr_curves *c, int i) {
    const char *own = fr_picture_colour_of(c->items[i].at[0]->method);
    return own && (c->count == 1 || variant_of(c, i) >= 0) ? own : fr_picture_colour(i);
}

const char *fr_curve_style(const struct fr_curves *c, int i, char out[64]) {
    int variant = variant_of(c, i);
    snprintf(out, 64, "lc rgb '%s' dt %d", colour_of(c, i), variant > 0 ? variant % 5 + 1 : 1);
    return out;
}

struct fr_curve_interval fr_curve_time(const struct fr_result *r) {
    return (struct fr_curve_interval){r->time_s, r->low_s, r->high_s};
}

struct fr_curve_interval fr_curve_energy(const struct fr_result *r) {
    return (struct fr_curve_interval){r->energy_J, r->low_J, r->high_J};
}

static int count_intervals(const struct fr_curve *curve, fr_curve_interval_of of) {
    int known = 0;
    for (int j = 0; j < curve->n; j++) {
        const struct fr_curve_interval at = of(curve->at[j]);
        known += at.low > 0 && isfinite(at.high);
    }
    return known;
}

/* A band needs two points; one has a bar. */
void fr_curves_bands(struct fr_picture *p, const struct fr_curves *c, fr_curve_interval_of of) {
    for (int i = 0; i < c->count; i++) {
        const struct fr_curve *curve = &c->items[i];
        int known = count_intervals(curve, of);
        if (known == 0) continue;
        int block = fr_picture_block(p);
        for (int j = 0; j < curve->n; j++) {
            const struct fr_curve_interval at = of(curve->at[j]);
            FR_ROW(p, curve->at[j]->along, at.low, at.high, at.value);
        }
        if (known > 1)
            fr_picture_curve(
                p, block, NULL,
                "using 1:2:3 with filledcurves lc rgb '%s' fs transparent solid 0.15 "
                "noborder",
                colour_of(c, i));
        else
            fr_picture_curve(p, block, NULL,
                             "using 1:4:2:3 with yerrorbars pt -1 lc rgb '%s' lw 1.2",
                             colour_of(c, i));
    }
}

void fr_curves_include(const struct fr_curves *c, fr_curve_interval_of of,
                       struct fr_scale *seen) {
    for (int i = 0; i < c->count; i++)
        for (int j = 0; j < c->items[i].n; j++) {
            const struct fr_curve_interval at = of(c->items[i].at[j]);
            fr_scale_include(seen, at.low);
            fr_scale_include(seen, at.high);
        }
}
