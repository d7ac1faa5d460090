/* A trainer's file: its steps, and the row that its settings make. */
#include "answer/trainer/reading.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/launch.h"
#include "base/text/log_lines.h"

extern const struct fr_syntax fr_syntax_dump;

enum { LINE_MAX_B = 8192, LAUNCHES_MOST = 4000 /* lines in which something is started */ };

/* ---- steps of a text ---------------------------------------------------------------------------- */

/* "20/ 100" where the line says step 20: of so many.  A progress bar is one ahead of steps from 0 on. */
static double total_of(const char *line, double step) {
    for (const char *at = line; *at; at++) {
        bool begins = isdigit((unsigned char)*at) &&
                      (at == line || !(isalnum((unsigned char)at[-1]) || strchr("./", at[-1])));
        if (!begins) continue;
        char *end = NULL;
        double first = (double)strtoll(at, &end, 10);
        while (*end == ' ') end++;
        if (*end != '/' || (first != step && first != step + 1)) continue;
        end++;
        while (*end == ' ') end++;
        const char *second = end;
        double total = isdigit((unsigned char)*second) ? (double)strtoll(second, &end, 10) : 0;
        if (total >= first && total > 0 && *end != '/') return total;
    }
    return NAN;
}

/* The same where a setting says it. */
static double total_set(const struct fr_reading *r) {
    static const char *const names[] = {"train_iters", "training.steps", "trainer.max_steps",
                                        "max_steps",   "train_steps",    "steps"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int64_t steps = fr_reading_integer(r, names[i], 0);
        if (steps > 0) return (double)steps;
    }
    return NAN;
}

static double total_steps(const struct fr_reading *r, const struct fr_logged_steps *s) {
    for (int i = s->n - 1; i >= 0; i--)
        if (isfinite(s->item[i].total)) return s->item[i].total;
    return total_set(r);
}

/* Read the steps of the lines from byte @p at on; the first of them is line @p number. */
static fr_status read_steps(const struct fr_trainer *by, const struct fr_log_text *clean,
                            size_t at, int number, struct fr_logged_steps *steps,
                            struct fr_timers *timers, struct fr_launch *launch,
                            struct fr_run_row *row, struct fr_error *err) {
    const char *text = clean->text;
    size_t length = clean->length;
    char line[LINE_MAX_B];
    bool nemo = false;
    for (; by->line && at < length; number++) {
        size_t end = at, n;
        while (end < length && text[end] != '\n' && text[end] != '\r') end++;
        n = end - at < sizeof line - 1 ? end - at : sizeof line - 1;
        memcpy(line, text + at, n);
        line[n] = '\0';
        fr_trainer_software(line, &nemo, row);
        if (by->facts) by->facts(line, row);
        if (number < LAUNCHES_MOST) fr_launch_add(launch, line);
        fr_line_kind kind = by->line(line, &steps->next);
        if (kind == FR_LINE_OTHER) fr_timers_line(timers, line);
        if (kind == FR_LINE_STEP && !isfinite(steps->next.stamp_s))
            steps->next.stamp_s = fr_step_stamp(line);
        if (kind == FR_LINE_STEP && !isfinite(steps->next.stamp_s))
            steps->next.stamp_s = fr_log_text_tag(clean, number).time_s;
        if (kind == FR_LINE_STEP) {
            if (!isfinite(steps->next.total))
                steps->next.total = total_of(line, steps->next.number);
            steps->next.rank = fr_log_text_tag(clean, number).rank;
        }
        FR_TRY(fr_steps_add(steps, kind, number, err));
        if (end < length && text[end] == '\r' && (end + 1 == length || text[end + 1] != '\n'))
            number--; /* of a progress bar, on the same line */
        at = end + (end + 1 < length && text[end] == '\r' && text[end + 1] == '\n' ? 2 : 1);
    }
    return FR_OK;
}

/* ---- a file --------------------------------------------------------------------------------------- */

/* Values that the caller has set already stay. */
static void merge(const struct fr_run_row *found, struct fr_run_row *row) {
    for (int i = 0; i < found->n; i++)
        if (!fr_run_row_get(row, found->item[i].key))
            fr_run_row_set(row, found->item[i].key, "%s", found->item[i].value);
}

static double number_of(const struct fr_run_row *row, const char *key) {
    const char *value = fr_run_row_get(row, key);
    return value ? atof(value) : 0;
}

/* Seconds of a step of which a device goes through so many tokens, or the run through so many samples, a second. */
static double time_of_rates(const struct fr_logged_time *t, const struct fr_run_row *row) {
    double ranks = number_of(row, "ranks"), batch = number_of(row, "plan.global_batch"),
           sequence = number_of(row, "model.sequence");
    double time_s = batch / t->samples_per_s;
    if (!(time_s > 0 && isfinite(time_s)))
        time_s = batch * sequence / (t->tokens_per_s * ranks);
    return time_s > 0 && isfinite(time_s) ? time_s : NAN;
}

static fr_status set_time(const struct fr_logged_steps *steps, const char *name,
                          struct fr_run_row *row, struct fr_trainer_result *out,
                          struct fr_error *err) {
    struct fr_logged_time *t = &out->timed;
    if (steps->n == 0 && steps->malformed) {
        char where[300];
        snprintf(where, sizeof where, "%.255s:%d", name, steps->first_malformed);
        return fr_fail(err, FR_ERR_INPUT, where,
                       "starts as a step does and does not say how long it took");
    }
    if (steps->n == 0) return FR_OK;
    double stated_s = isfinite(t->time_s) ? t->time_s : time_of_rates(t, row);
    fr_steps_choose(t, stated_s);
    fr_steps_print(t, stated_s, &out->stated);
    if (!isfinite(t->time_s))
        return fr_fail(err, FR_ERR_INPUT, name,
                       "says rates, no times; give --column ranks=, "
                       "--column plan.global_batch= (samples) and --column model.sequence=");
    fr_run_row_set(row, "measured_s", "%.9g", t->time_s);
    return FR_OK;
}

/* The batch of the steps that count goes before that of the settings, which a ramp-up only ends with. */
static void set_batch(const struct fr_logged_time *t, struct fr_reading *r) {
    const char *set = fr_run_row_get(r->row, "plan.global_batch");
    if (!(t->batch >= 1) || t->batch > 1e12 || t->batch != floor(t->batch)) return;
    if (set && atof(set) != t->batch)
        fr_reading_tell(r, "the steps counted have a batch of %.0f, the settings say %s: %.0f",
                        t->batch, set, t->batch);
    fr_reading_say(r, "plan.global_batch", "%.0f", t->batch);
}

/* Follow the trainer's newest release where the file leaves a key open. */
static void set_software(struct fr_reading *r) {
    if (r->by->runtime && !fr_reading_stated(r, "runtime"))
        fr_reading_say(r, "runtime", "%s", r->by->runtime);
    if (!fr_reading_stated(r, "runtime") && !fr_reading_stated(r, "model.defaults"))
        fr_reading_say(r, "model.defaults", "modern");
}

static fr_status read_lines(const struct fr_trainer_ask *ask, const struct fr_log_text *text,
                            const char *name, const struct fr_settings *settings, bool whole,
                            struct fr_run_row *row, struct fr_trainer_result *out,
                            struct fr_error *err) {
    struct fr_run_row *found = fr_calloc(1, sizeof *found);
    struct fr_logged_steps *steps = &out->logged;
    if (!found) return fr_fail(err, FR_ERR_NOMEM, name, "out of memory");
    struct fr_reading r = {.name = name,
                           .by = out->by,
                           .settings = settings,
                           .given = row,
                           .row = found,
                           .whole = whole,
                           .stated = &out->stated,
                           .ignore = ask->ignore,
                           .n_ignore = ask->n_ignore};
    struct fr_launch launch = {.launcher = NULL};
    steps->next = fr_step_none();
    fr_status status =
        read_steps(out->by, text, 0, 1, steps, &out->timers, &launch, found, err);
    r.launched = fr_launch_resolve(&launch).ranks;
    r.log = steps->n > 0;
    out->steps = steps->n;
    if (status == FR_OK) fr_steps_time(steps, &out->timed);
    if (status == FR_OK) status = fr_reading_take(&r, err);
    if (status == FR_OK) set_batch(&out->timed, &r);
    if (status == FR_OK) set_software(&r);
    if (status == FR_OK) fr_reading_ranks(&r);
    if (status == FR_OK) fr_reading_drop_idle(&r);
    if (status == FR_OK) merge(found, row);
    out->of_settings = out->stated.length;
    if (status == FR_OK) status = set_time(steps, name, row, out, err);
    out->total_steps = total_steps(&r, steps);
    out->malformed = steps->malformed;
    out->first_malformed = steps->first_malformed;
    free(found);
    return status;
}

fr_status fr_trainer_read(const struct fr_trainer_ask *ask, const char *text, size_t length,
                          const char *name, struct fr_run_row *row,
                          struct fr_trainer_result *out, struct fr_error *err) {
    struct fr_settings settings = {0};
    *out = (struct fr_trainer_result){.by = ask->by, .total_steps = NAN};
    struct fr_log_text clean;
    if (fr_log_text_clean(text, length, FR_LOG_KEEP_TIMES, &clean) != FR_OK)
        return fr_fail(err, FR_ERR_NOMEM, name, "out of memory");
    const struct fr_syntax *syntax = fr_trainer_settings(clean.text, clean.length, &settings);
    if (!out->by) out->by = fr_trainer_choose(clean.text, clean.length, &settings);
    fr_status status = FR_OK;
    if (settings.failed)
        status = fr_fail(err, FR_ERR_NOMEM, name, "out of memory");
    else if (!out->by)
        status = fr_fail(err, FR_ERR_INPUT, name,
                         "is no script, configuration or log of a trainer that is known");
    else if (out->by->all)
        status = out->by->all(clean.text, clean.length, name, row, err);
    else
        status =
            read_lines(ask, &clean, name, &settings, syntax && syntax->whole, row, out, err);
    fr_settings_free(&settings);
    fr_log_text_free(&clean);
    return status;
}

/* ---- a log that grows ------------------------------------------------------------------------------ */

/* Where a piece begins of whole lines, long enough to say what stands before each. */
static size_t piece_of(const char *text, size_t seen) {
    enum { PIECE_B = 1 << 16 };
    size_t from = seen > PIECE_B ? seen - PIECE_B : 0;
    while (from > 0 && text[from - 1] != '\n') from--;
    return from;
}

/* Byte of the cleaned text where the line begins that is @p lines behind its first. */
static size_t after_lines(const struct fr_log_text *clean, int lines) {
    size_t at = 0;
    for (; lines > 0 && at < clean->length; at++) lines -= clean->text[at] == '\n';
    return at;
}

/* Steps of the new lines.  @return whether they say nothing else */
static bool add_steps(const struct fr_log_text *clean, int before,
                      struct fr_trainer_result *out) {
    const size_t at = after_lines(clean, before);
    struct fr_settings settings = {0};
    struct fr_launch launch = {.launcher = NULL};
    struct fr_run_row *software = fr_calloc(1, sizeof *software);
    fr_syntax_dump.read(clean->text + at, clean->length - at, &settings);
    bool taken = software && settings.n == 0 &&
                 read_steps(out->by, clean, at, before + 1, &out->logged, &out->timers, &launch,
                            software, NULL) == FR_OK &&
                 software->n == 0 && fr_launch_resolve(&launch).ranks == 0;
    fr_settings_free(&settings);
    free(software);
    return taken;
}

bool fr_trainer_read_on(const char *text, size_t length, size_t seen, const char *name,
                        struct fr_run_row *row, struct fr_trainer_result *out) {
    struct fr_log_text clean;
    const double batch = out->timed.batch;
    const size_t from = piece_of(text, seen);
    int before = 0;
    if (!out->by || out->by->all || !out->by->line || out->logged.n == 0) return false;
    if (text[seen - 1] != '\n') return false; /* a progress bar goes on in its line */
    for (size_t i = from; i < seen; i++) before += text[i] == '\n';
    if (fr_log_text_clean(text + from, length - from, FR_LOG_KEEP_TIMES, &clean) != FR_OK)
        return false;
    bool taken = add_steps(&clean, before, out);
    fr_log_text_free(&clean);
    if (!taken) return false;
    const struct fr_logged_steps *steps = &out->logged;
    fr_steps_time(steps, &out->timed);
    if (out->timed.batch != batch && !(isnan(batch) && isnan(out->timed.batch))) return false;
    out->stated.length = out->of_settings;
    if (out->stated.data) out->stated.data[out->stated.length] = '\0';
    out->steps = steps->n;
    out->malformed = steps->malformed;
    out->first_malformed = steps->first_malformed;
    if (isfinite(steps->item[steps->n - 1].total))
        out->total_steps = steps->item[steps->n - 1].total;
    return set_time(steps, name, row, out, NULL) == FR_OK;
}

void fr_trainer_result_free(struct fr_trainer_result *out) {
    fr_text_free(&out->stated);
    fr_steps_free(&out->logged);
}
