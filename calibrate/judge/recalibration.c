#include "calibrate/judge/recalibration.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/journal/journal.h"
#include "base/journal/keep.h"
#include "calibrate/samples/side_file.h"

/* Into a file of its own beside the samples, which is left behind only where it was asked for. */
static fr_status measure(const struct fr_calibrate_options *options, const char *path,
                         struct fr_samples *samples, struct fr_error *err) {
    struct fr_calibrate_options o = *options;
    o.samples = path;
    o.resume = false;
    o.force = true;
    fr_status status = fr_calibrate_run(&o, err);
    if (status == FR_ERR_PARTIAL)
        return fr_fail(err, status, options->samples,
                       "is as it was: stopped as asked before enough was measured to compare");
    return status == FR_OK ? fr_samples_read(path, samples, err) : status;
}

static fr_status same_machine(const struct fr_samples *then, const struct fr_samples *now,
                              const char *path, struct fr_error *err) {
    const struct fr_provenance *a = &then->provenance, *b = &now->provenance;
    if (a->ranks != b->ranks || a->nodes != b->nodes)
        return fr_fail(err, FR_ERR_INPUT, path,
                       "was measured with %lld ranks on %lld nodes, this job has %lld on %lld: "
                       "nothing can be compared",
                       (long long)a->ranks, (long long)a->nodes, (long long)b->ranks,
                       (long long)b->nodes);
    if (strcmp(a->device, b->device) != 0)
        return fr_fail(err, FR_ERR_INPUT, path,
                       "was measured on \"%.90s\", this is \"%.90s\": calibrate anew",
                       *a->device ? a->device : "processors",
                       *b->device ? b->device : "processors");
    if (strcmp(a->cpu, b->cpu) != 0)
        return fr_fail(err, FR_ERR_INPUT, path,
                       "was measured on \"%.120s\", this is \"%.120s\": calibrate anew", a->cpu,
                       b->cpu);
    return FR_OK;
}

fr_status fr_recalibration_check(const struct fr_calibrate_options *options,
                                 struct fr_drifted *drifted, struct fr_error *err) {
    struct fr_samples then = {0}, now = {0};
    struct fr_calibrate_options o = *options;
    struct fr_side_file beside = {.fd = -1};
    fr_status status = fr_samples_read(o.samples, &then, err);
    if (status == FR_OK) status = fr_side_file_make(o.samples, "check", &beside, err);
    /* The same sizes between powers of two. */
    o.seed = then.provenance.seed;
    if (status == FR_OK) status = measure(&o, beside.path, &now, err);
    if (status == FR_OK) status = same_machine(&then, &now, o.samples, err);
    if (status == FR_OK) status = fr_drifted_find(&then, &now, drifted);
    if (status == FR_ERR_NOMEM) fr_fail(err, status, NULL, "out of memory");
    fr_side_file_remove(&beside);
    fr_samples_free(&then);
    fr_samples_free(&now);
    return status;
}

static fr_status replace(const char *samples, const char *path, const char *names,
                         struct fr_error *err) {
    struct fr_journal earlier = {0}, later = {0};
    struct fr_text merged = {0};
    fr_status status = fr_journal_read(samples, FR_FILE_MAX_B, &earlier, err);
    if (status == FR_OK) status = fr_journal_read(path, FR_FILE_MAX_B, &later, err);
    if (status == FR_OK)
        status = fr_drifted_replace(earlier.text, later.text, names, &merged, err);
    if (status == FR_OK)
        status = fr_journal_write(samples, fr_text_get(&merged), merged.length,
                                  earlier.question, err);
    fr_text_free(&merged);
    fr_journal_free(&earlier);
    fr_journal_free(&later);
    return status;
}

fr_status fr_recalibration_refresh(const struct fr_calibrate_options *options,
                                   const char *names, struct fr_error *err) {
    struct fr_samples then = {0}, now = {0};
    struct fr_calibrate_options o = *options;
    struct fr_keep keep = {.fd = -1};
    struct fr_side_file beside = {.fd = -1};
    o.only = names;
    fr_status status = fr_samples_read(o.samples, &then, err);
    if (status == FR_OK) status = fr_keep_hold(o.samples, true, false, &keep, err);
    if (status == FR_OK) status = fr_side_file_make(o.samples, "refresh", &beside, err);
    o.seed = then.provenance.seed;
    if (status == FR_OK) status = measure(&o, beside.path, &now, err);
    if (status == FR_OK) status = same_machine(&then, &now, o.samples, err);
    if (status == FR_OK) status = replace(o.samples, beside.path, names, err);
    fr_keep_release(&keep);
    fr_side_file_remove(&beside);
    fr_samples_free(&then);
    fr_samples_free(&now);
    return status;
}

void fr_recalibration_json(const struct fr_drifted *d, struct fr_text *text) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/check/1");
    fr_json_add_array(&w, "rows");
    for (int i = 0; i < d->n; i++) {
        const struct fr_drifted_row *row = &d->row[i];
        fr_json_begin_object(&w);
        fr_json_add_string(&w, "row", row->name);
        fr_json_add_integer(&w, "points", row->points);
        fr_json_add_number(&w, "ratio", row->points > 0 ? row->ratio : NAN);
        fr_json_add_integer(&w, "beyond_expected", row->outside);
        fr_json_add_bool(&w, "drifted", row->drifted);
        fr_json_end_object(&w);
    }
    fr_json_end_array(&w);
    fr_json_key(&w, "interruptions");
    fr_json_begin_object(&w);
    fr_json_add_number(&w, "lost_then", d->lost_then);
    fr_json_add_number(&w, "lost_now", d->lost_now);
    fr_json_add_number(&w, "every_s", d->now.every_s > 0 ? d->now.every_s : NAN);
    fr_json_add_number(&w, "length_s", d->now.every_s > 0 ? d->now.length_s : NAN);
    fr_json_add_bool(&w, "busier", d->busier);
    fr_json_end_object(&w);
    fr_json_add_bool(&w, "as_calibrated", fr_drifted_is_as_before(d));
    fr_json_end_object(&w);
}
