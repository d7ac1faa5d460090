#include "trust/runs/log.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/job/preset.h"
#include "trust/numbers/statistics.h"

#define FR_RUN_LOG(name) extern const struct fr_run_log fr_run_log_##name;
#include "trust/runs/log_list.h"
#undef FR_RUN_LOG

const struct fr_run_log *const fr_run_logs[] = {
#define FR_RUN_LOG(name) &fr_run_log_##name,
#include "trust/runs/log_list.h"
#undef FR_RUN_LOG
    NULL};

enum { WARM_UP = 2, LINE_MAX_B = 4096 };

struct steps {
    double *number;
    int n, room, malformed, first;
    bool rates;
    bool nemo; /**< a NeMo container has said its name */
};

bool fr_log_number(const char *line, const char *label, double *number) {
    const char *at = strstr(line, label);
    char plain[40];
    size_t n = 0;
    if (!at) return false;
    at += strlen(label);
    while (isspace((unsigned char)*at)) at++;
    for (;
         (isdigit((unsigned char)*at) || strchr(".,eE+-", *at)) && *at && n + 1 < sizeof plain;
         at++)
        if (*at != ',') plain[n++] = *at; /* thousands */
    plain[n] = '\0';
    char *end = NULL;
    double value = strtod(plain, &end);
    if (n == 0 || end == plain || *end || !isfinite(value)) return false;
    *number = value;
    return true;
}

static fr_status add(struct steps *s, double number, struct fr_error *err) {
    if (s->n == s->room) {
        int room = s->room ? 2 * s->room : 64;
        double *more = fr_realloc(s->number, (size_t)room, sizeof *more);
        if (!more) return fr_fail(err, FR_ERR_NOMEM, NULL, "the log does not fit in memory");
        s->number = more;
        s->room = room;
    }
    s->number[s->n++] = number;
    return FR_OK;
}

/* ---- software ---------------------------------------------------------------------------------- */

/* NeMo's containers, which hold Megatron-Bridge since 25.09: the image that a launcher names, and the head that it prints as
 * it starts, "== NeMo Framework ==" and below it "NVIDIA Release 24.03 (build 85286408)". */
static const char image[] = "nvcr.io/nvidia/nemo:", head[] = "== NeMo Framework ==",
                  version[] = "NVIDIA Release ";
static const char *const families[] = {"nemo-", "megatron-bridge-"};

/* "24.03" at the beginning of @p text. */
static bool is_release(const char *text) {
    static const char form[] = "00.00";
    for (int i = 0; form[i]; i++)
        if (form[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
            return false;
    return !isdigit((unsigned char)text[sizeof form - 1]);
}

/* The newest runtime of the containers that is no newer than the release. */
static void name_runtime(const char *release, struct fr_run_row *row) {
    const char *best = NULL, *newest = "";
    for (const struct fr_preset *p = fr_presets; p->name; p++)
        for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
            size_t length = strlen(families[f]);
            if (strcmp(p->kind, "runtime") != 0 || strncmp(p->name, families[f], length) != 0)
                continue;
            const char *own = p->name + length;
            if (!is_release(own) || strncmp(own, release, 5) > 0 || strcmp(own, newest) <= 0)
                continue;
            newest = own;
            best = p->name;
        }
    if (best) fr_run_row_set(row, "runtime", "%s", best);
}

static void read_software(const char *line, struct steps *steps, struct fr_run_row *row) {
    const char *at = strstr(line, image);
    steps->nemo |= strstr(line, head) != NULL;
    if (at && is_release(at + sizeof image - 1)) name_runtime(at + sizeof image - 1, row);
    at = strstr(line, version);
    if (steps->nemo && at && is_release(at + sizeof version - 1))
        name_runtime(at + sizeof version - 1, row);
}

/* ---- lines ------------------------------------------------------------------------------------- */

/* What the caller has set already stays. */
static void take(const struct fr_run_row *said, struct fr_run_row *row) {
    for (int i = 0; i < said->n; i++)
        if (!fr_run_row_get(row, said->item[i].key))
            fr_run_row_set(row, said->item[i].key, "%s", said->item[i].value);
}

static fr_status add_line(const struct fr_run_log *log, const char *line, int number,
                          struct fr_run_row *said, struct steps *steps, struct fr_error *err) {
    double value = NAN;
    read_software(line, steps, said);
    fr_log_line kind = log->read(line, said, &value);
    bool timed = kind == FR_LOG_STEP || kind == FR_LOG_RATE;
    if (kind == FR_LOG_MALFORMED || (timed && !(value > 0 && isfinite(value)))) {
        if (steps->malformed++ == 0) steps->first = number;
        return FR_OK;
    }
    steps->rates |= kind == FR_LOG_RATE;
    return timed ? add(steps, value, err) : FR_OK;
}

static fr_status add_lines(const struct fr_run_log *log, const char *text, size_t length,
                           struct fr_run_row *said, struct steps *steps, struct fr_error *err) {
    char line[LINE_MAX_B];
    int number = 1;
    for (size_t at = 0; at < length; number++) {
        size_t end = at, n;
        while (end < length && text[end] != '\n' && text[end] != '\r') end++;
        n = end - at < sizeof line - 1 ? end - at : sizeof line - 1;
        memcpy(line, text + at, n);
        line[n] = '\0';
        FR_TRY(add_line(log, line, number, said, steps, err));
        if (end < length && text[end] == '\r' && (end + 1 == length || text[end + 1] != '\n'))
            number--; /* of a progress bar, on the same line */
        at = end + (end + 1 < length && text[end] == '\r' && text[end + 1] == '\n' ? 2 : 1);
    }
    return FR_OK;
}

static double of_row(const struct fr_run_row *row, const char *key) {
    const char *value = fr_run_row_get(row, key);
    return value ? atof(value) : 0;
}

/* Seconds of a step of which a device goes through @p rate tokens a second. */
static fr_status time_of_rate(const struct fr_run_row *row, const char *name, double rate,
                              double *time_s, struct fr_error *err) {
    double ranks = of_row(row, "ranks"), batch = of_row(row, "plan.global_batch"),
           sequence = of_row(row, "model.sequence");
    *time_s = batch * sequence / (rate * ranks);
    if (ranks > 0 && batch > 0 && sequence > 0 && isfinite(*time_s) && *time_s > 0)
        return FR_OK;
    return fr_fail(err, FR_ERR_INPUT, name,
                   "says tokens a second, no times; give --column ranks=, "
                   "--column plan.global_batch= (samples) and --column model.sequence=");
}

static fr_status set_time(const struct steps *steps, const char *name, struct fr_run_row *row,
                          struct fr_error *err) {
    int from = steps->n > 2 * WARM_UP ? WARM_UP : 0;
    size_t n = (size_t)(steps->n - from);
    if (steps->n == 0 && steps->malformed) {
        char where[300];
        snprintf(where, sizeof where, "%.255s:%d", name, steps->first);
        return fr_fail(err, FR_ERR_INPUT, where,
                       "starts as a step does and does not say how long it took");
    }
    if (steps->n == 0)
        return fr_fail(err, FR_ERR_INPUT, name, "times no step; is it a log of this kind?");
    fr_sort(steps->number + from, n);
    double time_s = fr_sorted_median(steps->number + from, n);
    if (steps->rates) FR_TRY(time_of_rate(row, name, time_s, &time_s, err));
    fr_run_row_set(row, "measured_s", "%.9g", time_s);
    return FR_OK;
}

fr_status fr_run_log_read(const struct fr_run_log *log, const char *text, size_t length,
                          const char *name, struct fr_run_row *row,
                          struct fr_log_counts *counts, struct fr_error *err) {
    struct fr_run_row said = {0};
    struct steps steps = {0};
    *counts = (struct fr_log_counts){0};
    if (log->whole) return log->whole(text, length, name, row, err);
    fr_status status = add_lines(log, text, length, &said, &steps, err);
    if (status == FR_OK) take(&said, row);
    if (status == FR_OK) status = set_time(&steps, name, row, err);
    *counts = (struct fr_log_counts){steps.n, steps.malformed, steps.first};
    free(steps.number);
    return status;
}
