#include "app/papers/phantom/settings.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "calibrate/samples/keep.h"

/* Rates in units of 1 / width, which is what suits Adam here (calibrate/real/iterations): powers of two,
 * these to begin with, and more while the best of some network is at an end. */
enum { FROM = -1, TO = 2, RATES_MOST = 9 };

/* The best rate's row of each (p, k): rows of several trainings that are alike but for the rate. */
struct best {
    struct fr_trained *rows;
    double *rate;
    int n;
};

static bool reached(const struct fr_trained *row) {
    return row && row->n_seeds > 0 && row->n_reached == row->n_seeds;
}

static bool better(const struct fr_trained *a, const struct fr_trained *b) {
    if (reached(a) != reached(b)) return reached(a);
    return reached(a) && a->iterations < b->iterations;
}

static fr_status keep(struct best *best, const struct fr_trained *rows, int n, double rate,
                      struct fr_error *err) {
    size_t room = (size_t)(best->n + n) + 1;
    struct fr_trained *grown = fr_realloc(best->rows, room, sizeof *grown);
    if (grown) best->rows = grown;
    double *rate_of = fr_realloc(best->rate, room, sizeof *rate_of);
    if (rate_of) best->rate = rate_of;
    if (!grown || !rate_of) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d trainings", n);
    for (int i = 0; i < n; i++) {
        int j = 0;
        while (j < best->n &&
               (best->rows[j].tp != rows[i].tp || best->rows[j].ghost != rows[i].ghost))
            j++;
        if (j < best->n && !better(&rows[i], &best->rows[j])) continue;
        best->rows[j] = rows[i];
        best->rate[j] = rate;
        if (j == best->n) best->n++;
    }
    return FR_OK;
}

/* Index of tensor's row (p 1), or of the k at @p p that needs fewest iterations; -1. */
static int fewest(const struct best *best, int64_t p) {
    int found = -1;
    for (int i = 0; i < best->n; i++)
        if (best->rows[i].tp == p && (found < 0 || better(&best->rows[i], &best->rows[found])))
            found = i;
    return found;
}

static void add_row(struct fr_reproduction *r, const struct best *best, int i,
                    const char *where, const char *what) {
    const struct fr_trained *row = &best->rows[i];
    char note[240];
    snprintf(note, sizeof note, "%d of %d seeds, %.0f to %.0f, at %g / n", row->n_reached,
             row->n_seeds, row->low, row->high, best->rate[i]);
    if (!reached(row))
        snprintf(note, sizeof note, "%d of %d seeds reached the loss; given up at %.4g",
                 row->n_reached, row->n_seeds, row->loss);
    fr_reproduce_add(r, FR_ROLE_PREDICTED, NAN, reached(row) ? row->iterations : NAN, "1", 0,
                     note, "measured/%s/%s/iterations", where, what);
}

static void add_order(struct fr_reproduction *r, const struct fr_trained *tensor,
                      const struct fr_trained *phantom, const char *where) {
    char note[240];
    bool known = reached(tensor) && reached(phantom);
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

static void add_rows(struct fr_reproduction *r, const struct fr_training_options *o,
                     const struct best *best) {
    int tensor = fewest(best, 1);
    for (size_t i = 0; i < o->n_tp && tensor >= 0; i++) {
        char where[64], what[32];
        int phantom = fewest(best, o->tp[i]);
        if (o->tp[i] < 2 || phantom < 0) continue;
        snprintf(where, sizeof where, "n=%" PRId64 "/L=%" PRId64 "/%s/p=%" PRId64, o->width,
                 o->layers, o->same_batch ? "same_batch" : "new_samples", o->tp[i]);
        snprintf(what, sizeof what, "phantom/k=%" PRId64, best->rows[phantom].ghost);
        add_row(r, best, tensor, where, "tensor");
        add_row(r, best, phantom, where, what);
        add_order(r, &best->rows[tensor], &best->rows[phantom], where);
    }
}

/* "iterations.jsonl" becomes "iterations-n512-L2-new-x0.5.jsonl". */
static void name_file(const struct fr_training_options *o, double rate, char *out,
                      size_t room) {
    const char *dot = strrchr(o->samples, '.'), *slash = strrchr(o->samples, '/');
    if (!dot || (slash && dot < slash)) dot = o->samples + strlen(o->samples);
    snprintf(out, room, "%.*s-n%" PRId64 "-L%" PRId64 "-%s-x%g%s", (int)(dot - o->samples),
             o->samples, o->width, o->layers, o->same_batch ? "same" : "new", rate, dot);
}

static fr_status one_rate(const struct fr_training_options *o, double rate, bool force,
                          struct best *best, struct fr_error *err) {
    struct fr_training_options at = *o;
    struct fr_trained *rows = NULL;
    char file[512];
    int n = 0;
    name_file(o, rate, file, sizeof file);
    at.samples = file;
    at.rate = rate / (double)o->width;
    FR_TRY(fr_keep_measurements(file, o->resume, force, err));
    fr_status status = fr_training_run(&at, &rows, &n, err);
    if (status == FR_OK) status = keep(best, rows, n, rate, err);
    free(rows);
    return status;
}

/* Was some network best at this rate, beyond which none was tried? */
static bool best_at(const struct best *best, double rate) {
    for (int i = 0; i < best->n; i++)
        if (reached(&best->rows[i]) && best->rate[i] == rate) return true;
    return false;
}

static fr_status one_setting(const struct fr_training_options *o, bool force,
                             struct fr_reproduction *r, struct fr_error *err) {
    struct best best = {0};
    int from = FROM, to = TO;
    fr_status status = FR_OK;
    for (int k = from; k <= to && status == FR_OK; k++)
        status = one_rate(o, ldexp(1, k), force, &best, err);
    while (status == FR_OK && to - from + 1 < RATES_MOST) {
        if (best_at(&best, ldexp(1, to)))
            status = one_rate(o, ldexp(1, ++to), force, &best, err);
        else if (best_at(&best, ldexp(1, from)))
            status = one_rate(o, ldexp(1, --from), force, &best, err);
        else
            break;
    }
    if (status == FR_OK) add_rows(r, o, &best);
    free(best.rows);
    free(best.rate);
    return status;
}

fr_status fr_phantom_settings_run(const struct fr_training_options *o,
                                  const struct fr_phantom_settings *s,
                                  struct fr_reproduction *r, struct fr_error *err) {
    for (size_t i = 0; i < s->n_widths; i++)
        for (size_t j = 0; j < s->n_depths; j++)
            for (int same = o->same_batch; same < 2; same++) {
                struct fr_training_options at = *o;
                at.width = s->widths[i];
                at.layers = s->depths[j];
                at.same_batch = same == 1;
                at.cluster = NULL; /* iterations alone are compared */
                FR_TRY(one_setting(&at, s->force, r, err));
            }
    return FR_OK;
}
