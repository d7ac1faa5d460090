#include "studies/phantom/settings.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/journal/keep.h"
#include "base/text.h"

/* Rates in units of 1 / width, which is what suits Adam here (real/iterations): powers of two,
 * these to begin with, and more while the best of some network is at an end. */
enum { FROM = -1, TO = 2, RATES_MOST = 9 };

/* The best rate's row of each (p, k): rows of several trainings that are alike but for the rate. */
static fr_status keep(struct fr_phantom_measured *best, const struct fr_trained *rows, int n,
                      double rate, struct fr_error *err) {
    FR_TRY(fr_phantom_measured_capacity(best, n + 1, err)); /* no block of nothing */
    for (int i = 0; i < n; i++) {
        int j = 0;
        while (j < best->n &&
               (best->rows[j].tp != rows[i].tp || best->rows[j].ghost != rows[i].ghost))
            j++;
        if (j < best->n && !fr_phantom_better(&rows[i], &best->rows[j])) continue;
        best->rows[j] = rows[i];
        best->rate[j] = rate;
        if (j == best->n) best->n++;
    }
    return FR_OK;
}

/* "iterations.jsonl" becomes "iterations-n512-L2-new-x0.5.jsonl". */
static void name_file(const struct fr_training_options *o, double rate, char *out,
                      size_t capacity) {
    const char *dot = strrchr(o->samples, '.'), *slash = strrchr(o->samples, '/');
    if (!dot || (slash && dot < slash)) dot = o->samples + strlen(o->samples);
    snprintf(out, capacity, "%.*s-n%" PRId64 "-L%" PRId64 "-%s-x%g%s", (int)(dot - o->samples),
             o->samples, o->width, o->layers, o->same_batch ? "same" : "new", rate, dot);
}

static fr_status one_rate(const struct fr_training_options *o, double rate, bool force,
                          struct fr_phantom_measured *best, struct fr_error *err) {
    struct fr_training_options at = *o;
    struct fr_trained *rows = NULL;
    char file[512];
    int n = 0;
    name_file(o, rate, file, sizeof file);
    at.samples = file;
    at.rate = rate / (double)o->width;
    at.force = force;
    FR_TRY(fr_keep_measurements(file, o->resume, force, err));
    fr_status status = fr_training_run(&at, &rows, &n, err);
    if (status == FR_OK) status = keep(best, rows, n, at.rate, err);
    free(rows);
    return status;
}

/* Was some network best at this rate, beyond which none was tried? */
static bool best_at(const struct fr_phantom_measured *best, double rate) {
    for (int i = 0; i < best->n; i++)
        if (fr_phantom_reached(&best->rows[i]) && best->rate[i] == rate / (double)best->width)
            return true;
    return false;
}

static void put_list(struct fr_text *line, const char *word, const int64_t *values, size_t n) {
    fr_text_addf(line, " --%s ", word);
    for (size_t i = 0; i < n; i++) fr_text_addf(line, "%s%" PRId64, i ? "," : "", values[i]);
}

static fr_status one_setting(const struct fr_training_options *o, bool force,
                             struct fr_phantom_table *table, struct fr_error *err) {
    struct fr_phantom_measured best = {.width = o->width,
                                       .layers = o->layers,
                                       .batch = o->batch,
                                       .most = o->most,
                                       .same_batch = o->same_batch,
                                       .loss = o->loss};
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
    fr_status added = fr_phantom_table_add(table, &best, err);
    return status == FR_OK ? added : status;
}

/* The words that say it again. */
static fr_status put_command(const struct fr_training_options *o,
                             const struct fr_phantom_settings *s,
                             struct fr_phantom_table *table, struct fr_error *err) {
    struct fr_text line = {0};
    fr_text_addf(&line, "forerun reproduce phantom --measured");
    if (o->same_batch) fr_text_addf(&line, " --same-batch");
    put_list(&line, "widths", s->widths, s->n_widths);
    put_list(&line, "depths", s->depths, s->n_depths);
    put_list(&line, "tp", o->tp, o->n_tp);
    if (o->n_ghost) put_list(&line, "ghost", o->ghost, o->n_ghost);
    fr_text_addf(&line, " --batch %" PRId64 " --loss %g --seeds %" PRId64 " --most %" PRId64,
                 o->batch, o->loss, o->seeds, o->most);
    table->command = line.data;
    return line.failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory") : FR_OK;
}

fr_status fr_phantom_settings_run(const struct fr_training_options *o,
                                  const struct fr_phantom_settings *s,
                                  struct fr_phantom_table *table, struct fr_error *err) {
    *table = (struct fr_phantom_table){0};
    FR_TRY(put_command(o, s, table, err));
    for (size_t i = 0; i < s->n_widths; i++)
        for (size_t j = 0; j < s->n_depths; j++)
            for (int same = o->same_batch; same < 2; same++) {
                struct fr_training_options at = *o;
                at.width = s->widths[i];
                at.layers = s->depths[j];
                at.same_batch = same == 1;
                at.cluster = NULL; /* iterations alone are compared */
                FR_TRY(one_setting(&at, s->force, table, err));
            }
    return FR_OK;
}
