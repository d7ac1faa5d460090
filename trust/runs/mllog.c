#include "trust/runs/mllog.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "trust/numbers/statistics.h"

static const double START_MS = 20e3, START_SHARE = 0.05, END_MS = 5e3, AROUND_MS = 2e3;

/* Capacity for one more after @p n items: the array doubles at powers of two. */
static fr_status grow(void **items, int n, size_t size_B, struct fr_error *err) {
    if (n > 0 && (n & (n - 1)) != 0) return FR_OK;
    void *more = fr_realloc(*items, n ? 2 * (size_t)n : 1, size_B);
    if (!more) return fr_fail(err, FR_ERR_NOMEM, NULL, "the log does not fit in memory");
    *items = more;
    return FR_OK;
}

static fr_status open_span(struct fr_mllog_span **spans, int *n, double time_ms,
                           struct fr_error *err) {
    FR_TRY(grow((void **)spans, *n, sizeof **spans, err));
    (*spans)[(*n)++] = (struct fr_mllog_span){time_ms, NAN};
    return FR_OK;
}

static void close_span(struct fr_mllog_span *spans, int n, double time_ms) {
    if (n > 0 && isnan(spans[n - 1].to_ms)) spans[n - 1].to_ms = time_ms;
}

static fr_status add_reading(struct fr_mllog *log, double time_ms, double power_W,
                             struct fr_error *err) {
    if (!isfinite(time_ms) || !(power_W >= 0)) return FR_OK;
    FR_TRY(grow((void **)&log->reading, log->n_readings, sizeof *log->reading, err));
    log->reading[log->n_readings++] = (struct fr_mllog_reading){time_ms, power_W};
    return FR_OK;
}

static fr_status add_step(struct fr_mllog *log, const struct fr_json *value,
                          struct fr_error *err) {
    double step_s = fr_json_number_at(value, "train_step_time");
    if (!(step_s > 0)) return FR_OK;
    FR_TRY(grow((void **)&log->step_s, log->n_steps, sizeof *log->step_s, err));
    log->step_s[log->n_steps++] = step_s;
    return FR_OK;
}

/* ---- one event -------------------------------------------------------------------------------- */

/* Ranks may log the same: the first start and the last stop count. */
static fr_status add_span(struct fr_mllog *log, const char *key, double time_ms,
                          struct fr_error *err) {
    if (strcmp(key, "run_start") == 0 && isnan(log->start_ms)) log->start_ms = time_ms;
    if (strcmp(key, "run_stop") == 0) log->stop_ms = time_ms;
    if (strcmp(key, "block_start") == 0)
        return open_span(&log->block, &log->n_blocks, time_ms, err);
    if (strcmp(key, "eval_start") == 0)
        return open_span(&log->evaluation, &log->n_evaluations, time_ms, err);
    if (strcmp(key, "block_stop") == 0) close_span(log->block, log->n_blocks, time_ms);
    if (strcmp(key, "eval_stop") == 0) close_span(log->evaluation, log->n_evaluations, time_ms);
    return FR_OK;
}

static fr_status add_event(struct fr_mllog *log, const struct fr_json *event,
                           struct fr_error *err) {
    struct fr_json value = fr_json_member(event, "value"),
                   metadata = fr_json_member(event, "metadata");
    const char *key = fr_json_text_at(event, "key");
    double time_ms = fr_json_number_at(event, "time_ms"),
           number = fr_json_number_at(event, "value"),
           samples = fr_json_number_at(&metadata, "samples_count");
    if (samples > 0 && !(samples <= log->samples)) log->samples = samples;
    if (strcmp(key, "global_batch_size") == 0) log->batch = number;
    if (strcmp(key, "submission_benchmark") == 0)
        snprintf(log->benchmark, sizeof log->benchmark, "%.47s",
                 fr_json_text_at(event, "value"));
    if (strcmp(key, "conversion_eff") == 0) log->after_supplies = true;
    if (strcmp(key, "power_reading") == 0) return add_reading(log, time_ms, number, err);
    if (strcmp(key, "tracked_stats") == 0) return add_step(log, &value, err);
    return isfinite(time_ms) ? add_span(log, key, time_ms, err) : FR_OK;
}

/* ---- lines ------------------------------------------------------------------------------------ */

/* Days since 1970 of a date of the Gregorian calendar (Hinnant, chrono-compatible algorithms). */
static double days(int year, int month, int day) {
    int y = year - (month <= 2), era = y / 400, of_era = y - era * 400,
        of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097.0 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* "Time,05-10-2024 11:38:02.123,Watts,6881.7,Volts,...": month, day, year. */
static fr_status add_ptdaemon(struct fr_mllog *log, const char *line, struct fr_error *err) {
    int month = 0, day = 0, year = 0, hour = 0, minute = 0;
    double second = 0, power_W = 0;
    if (sscanf(line, "Time,%2d-%2d-%4d %2d:%2d:%lf,Watts,%lf", &month, &day, &year, &hour,
               &minute, &second, &power_W) != 7 ||
        month < 1 || month > 12 || day < 1 || day > 31 || year < 1970)
        return FR_OK;
    double time_s = days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    return add_reading(log, 1000 * time_s, power_W, err);
}

static fr_status add_line(struct fr_mllog *log, char *line, const char *where,
                          struct fr_error *err) {
    struct fr_json_document *document = NULL;
    char *mark = strstr(line, ":::MLLOG ");
    if (strncmp(line, "Time,", 5) == 0) return add_ptdaemon(log, line, err);
    if (!mark) return FR_OK;
    mark += strlen(":::MLLOG ");
    fr_status status = fr_json_parse(mark, strlen(mark), where, &document, err);
    if (status == FR_OK) {
        struct fr_json event = fr_json_root(document);
        status = add_event(log, &event, err);
    }
    fr_json_free(document);
    return status;
}

fr_status fr_mllog_parse(const char *text, size_t length, const char *name,
                         struct fr_mllog *log, struct fr_error *err) {
    char where[300], *line = fr_malloc(length + 1, 1);
    fr_status status = FR_OK;
    *log = (struct fr_mllog){
        .start_ms = NAN, .stop_ms = NAN, .batch = NAN, .samples = NAN, .reading = NULL};
    if (!line) return fr_fail(err, FR_ERR_NOMEM, NULL, "the log does not fit in memory");
    size_t at = 0;
    for (int number = 1; at < length && status == FR_OK; number++) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t n = end ? (size_t)(end - (text + at)) : length - at;
        memcpy(line, text + at, n);
        line[n] = '\0';
        snprintf(where, sizeof where, "%.250s:%d", name, number);
        status = add_line(log, line, where, err);
        at += n + 1;
    }
    free(line);
    return status;
}

void fr_mllog_free(struct fr_mllog *log) {
    free(log->block);
    free(log->evaluation);
    free(log->step_s);
    free(log->reading);
    *log = (struct fr_mllog){0};
}

/* ---- what it says ----------------------------------------------------------------------------- */

static double spans_ms(const struct fr_mllog_span *span, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        if (span[i].to_ms > span[i].from_ms) sum += span[i].to_ms - span[i].from_ms;
    return sum;
}

static fr_status median_step(const struct fr_mllog *run, double *step_s, struct fr_error *err) {
    size_t n = (size_t)run->n_steps;
    double *sorted = fr_malloc(n, sizeof *sorted);
    if (!sorted) return fr_fail(err, FR_ERR_NOMEM, NULL, "the log does not fit in memory");
    memcpy(sorted, run->step_s, n * sizeof *sorted);
    fr_sort(sorted, n);
    *step_s = fr_sorted_median(sorted, n);
    free(sorted);
    return FR_OK;
}

fr_status fr_mllog_step_s(const struct fr_mllog *run, const char *name, double *step_s,
                          struct fr_error *err) {
    double trained_ms = spans_ms(run->block, run->n_blocks);
    if (run->n_steps > 0) return median_step(run, step_s, err);
    if (!(trained_ms > 0))
        trained_ms =
            run->stop_ms - run->start_ms - spans_ms(run->evaluation, run->n_evaluations);
    if (!(trained_ms > 0) || !(run->samples > 0) || !(run->batch > 0))
        return fr_fail(err, FR_ERR_INPUT, name,
                       "does not say how long a step takes: expected run_start, run_stop, "
                       "global_batch_size and samples_count, or train_step_time");
    *step_s = trained_ms / 1000 * run->batch / run->samples;
    return FR_OK;
}

static bool trains(const struct fr_mllog *run, double time_ms) {
    double start_ms = fmax(START_MS, START_SHARE * (run->stop_ms - run->start_ms));
    if (time_ms < run->start_ms + start_ms || time_ms > run->stop_ms - END_MS) return false;
    for (int i = 0; i < run->n_evaluations; i++) {
        const struct fr_mllog_span *e = &run->evaluation[i];
        if (time_ms > e->from_ms - AROUND_MS &&
            (isnan(e->to_ms) || time_ms < e->to_ms + AROUND_MS))
            return false;
    }
    return true;
}

fr_status fr_mllog_power_W(const struct fr_mllog *run, const struct fr_mllog *node,
                           const char *name, double *power_W, struct fr_error *err) {
    double sum = 0, n = 0;
    for (int i = 0; i < node->n_readings; i++) {
        if (!trains(run, node->reading[i].time_ms)) continue;
        sum += node->reading[i].power_W;
        n++;
    }
    if (n == 0)
        return fr_fail(err, FR_ERR_INPUT, name,
                       "none of its %d readings lies where the run trains, between run_start "
                       "and run_stop and outside of evaluations; are the clocks those of one "
                       "place?",
                       node->n_readings);
    *power_W = sum / n;
    return FR_OK;
}
