/* Measured iterations beside the order of the paper. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "app/papers/phantom/settings.h"

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
    snprintf(note, sizeof note, "phantom needs fewer iterations%s%s",
             fewer || more ? "" : "; not resolved: ",
             fewer || more ? ""
             : known       ? "the seeds' ranges overlap"
                           : "one of the two did not reach the loss with every seed");
    if (fewer || more)
        fr_reproduce_add_ordering(r, fewer, note, "ordering/measured/%s/iterations", where);
    else
        fr_reproduce_add(r, FR_ROLE_ORDERING, NAN, NAN, "1", 0, note,
                         "ordering/measured/%s/iterations", where);
    if (known)
        fr_reproduce_add(r, FR_ROLE_PREDICTED, NAN, phantom->iterations / tensor->iterations,
                         "1", 0, "at n = 16384, L = 2, p = 8 the paper has 157 / 453 = 0.35",
                         "measured/%s/phantom_over_tensor", where);
}

/* The p that were tried, each once, rising. */
static int64_t next_tp(const struct fr_phantom_measured *best, int64_t after) {
    int64_t next = 0;
    for (int i = 0; i < best->n; i++)
        if (best->rows[i].tp > after && (next == 0 || best->rows[i].tp < next))
            next = best->rows[i].tp;
    return next;
}

static void add_setting(struct fr_reproduction *r, const struct fr_phantom_measured *best) {
    int tensor = fewest(best, 1);
    if (tensor < 0) return;
    for (int64_t p = next_tp(best, 1); p > 0; p = next_tp(best, p)) {
        char where[80], what[32];
        int phantom = fewest(best, p);
        snprintf(where, sizeof where, "n=%" PRId64 "/L=%" PRId64 "/%s/loss=%g/p=%" PRId64,
                 best->width, best->layers, best->same_batch ? "same_batch" : "new_samples",
                 best->loss, p);
        snprintf(what, sizeof what, "phantom/k=%" PRId64, best->rows[phantom].ghost);
        add_row(r, best, tensor, where, "tensor");
        add_row(r, best, phantom, where, what);
        add_order(r, &best->rows[tensor], &best->rows[phantom], where);
    }
}

void fr_phantom_table_reproduce(const struct fr_phantom_table *table,
                                struct fr_reproduction *r) {
    for (int i = 0; i < table->n; i++) add_setting(r, &table->items[i]);
}
