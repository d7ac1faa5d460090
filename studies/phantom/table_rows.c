/* Measured iterations beside the order of the paper. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "studies/phantom/settings.h"

/* Index of tensor's row (p 1), or of the k at @p p that needs fewest iterations; -1. */
static int fewest(const struct fr_phantom_measured *best, int64_t p) {
    int found = -1;
    for (int i = 0; i < best->n; i++)
        if (best->rows[i].tp == p &&
            (found < 0 || fr_phantom_better(&best->rows[i], &best->rows[found])))
            found = i;
    return found;
}

static void add_row(struct fr_reproduction *r, const struct fr_phantom_measured *best, int i,
                    const char *where, const char *what) {
    const struct fr_trained *row = &best->rows[i];
    char note[240];
    snprintf(note, sizeof note, "%d of %d seeds, %.0f to %.0f, at %g / n", row->n_reached,
             row->n_seeds, row->low, row->high, best->rate[i] * (double)best->width);
    if (!fr_phantom_reached(row))
        snprintf(note, sizeof note, "%d of %d seeds reached the loss; given up at %.4g",
                 row->n_reached, row->n_seeds, row->loss);
    fr_reproduce_add(r, FR_ROLE_PREDICTED, NAN, fr_phantom_reached(row) ? row->iterations : NAN,
                     "1", 0, note, "measured/%s/%s/iterations", where, what);
}

static void add_order(struct fr_reproduction *r, const struct fr_trained *tensor,
                      const struct fr_trained *phantom, const char *where) {
    char note[240];
    bool known = fr_phantom_reached(tensor) && fr_phantom_reached(phantom);
    bool fewer = known && phantom->high < tensor->low,
         more = known && phantom->low > tensor->high;
    size_t used = 0;
    fr_line_addf(note, sizeof note, &used, "phantom needs fewer iterations");
    if (known)
        fr_line_addf(note, sizeof note, &used,
                     ": %.2f times those of tensor, where at n = 16384, L = 2, p = 8 the paper "
                     "has 157 / 453 = 0.35",
                     phantom->iterations / tensor->iterations);
    if (!fewer && !more)
        fr_line_addf(note, sizeof note, &used, "; not resolved: %s",
                     known ? "the seeds' ranges overlap"
                           : "one of the two did not reach the loss with every seed");
    if (fewer || more)
        fr_reproduce_add_ordering(r, fewer, note, "ordering/measured/%s/iterations", where);
    else
        fr_reproduce_add(r, FR_ROLE_ORDERING, NAN, NAN, "1", 0, note,
                         "ordering/measured/%s/iterations", where);
}

/* The p that were tried, each once, rising. */
static int64_t next_tp(const struct fr_phantom_measured *best, int64_t after) {
    int64_t next = 0;
    for (int i = 0; i < best->n; i++)
        if (best->rows[i].tp > after && (next == 0 || best->rows[i].tp < next))
            next = best->rows[i].tp;
    return next;
}

/* "n=512/L=2/same_batch/loss=0.07" */
static void name_setting(const struct fr_phantom_measured *best, char *out, size_t capacity) {
    snprintf(out, capacity, "n=%" PRId64 "/L=%" PRId64 "/%s/loss=%g", best->width, best->layers,
             best->same_batch ? "same_batch" : "new_samples", best->loss);
}

static void add_networks(struct fr_reproduction *r, const struct fr_phantom_measured *best) {
    char where[64], what[64];
    int tensor = fewest(best, 1);
    name_setting(best, where, sizeof where);
    if (tensor >= 0) add_row(r, best, tensor, where, "tensor");
    for (int64_t p = next_tp(best, 1); p > 0; p = next_tp(best, p)) {
        int phantom = fewest(best, p);
        snprintf(what, sizeof what, "p=%" PRId64 "/phantom/k=%" PRId64, p,
                 best->rows[phantom].ghost);
        add_row(r, best, phantom, where, what);
    }
}

static void add_orders(struct fr_reproduction *r, const struct fr_phantom_measured *best) {
    char setting[64], where[96];
    int tensor = fewest(best, 1);
    name_setting(best, setting, sizeof setting);
    if (tensor < 0) return;
    for (int64_t p = next_tp(best, 1); p > 0; p = next_tp(best, p)) {
        snprintf(where, sizeof where, "%s/p=%" PRId64, setting, p);
        add_order(r, &best->rows[tensor], &best->rows[fewest(best, p)], where);
    }
}

/* Numbers first, then what they say. */
void fr_phantom_table_reproduce(const struct fr_phantom_table *table,
                                struct fr_reproduction *r) {
    for (int i = 0; i < table->n; i++) add_networks(r, &table->items[i]);
    for (int i = 0; i < table->n; i++) add_orders(r, &table->items[i]);
}
