#include "answer/trainer/steps.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "trust/numbers/statistics.h"

enum { WARM_UP = 2, INTERVALS_MIN = 2 };
static const double STALL = 1.5, LONGER_MOST = 1.3, SAME = 0.005, COARSE = 0.02;

struct fr_logged_step fr_step_none(void) {
    return (struct fr_logged_step){.time_s = NAN,
                                   .tokens_per_s = NAN,
                                   .samples_per_s = NAN,
                                   .number = NAN,
                                   .batch = NAN,
                                   .stamp_s = NAN,
                                   .total = NAN,
                                   .rank = -1};
}

/* ---- lines ---------------------------------------------------------------------------------- */

bool fr_step_number(const char *line, const char *label, double *number) {
    const char *at = strstr(line, label);
    char plain[40];
    size_t n = 0;
    if (!at) return false;
    at += strlen(label);
    while (isspace((unsigned char)*at)) at++;
    for (;
         *at && n + 1 < sizeof plain && (isdigit((unsigned char)*at) || strchr(".,eE+-", *at));
         at++)
        if (*at != ',') plain[n++] = *at; /* thousands */
    plain[n] = '\0';
    char *end = NULL;
    double value = strtod(plain, &end);
    if (n == 0 || end == plain || *end || !isfinite(value)) return false;
    if (!isalpha((unsigned char)(*at ? at[1] : 'a')))
        value *= *at == 'K' ? 1e3 : *at == 'M' ? 1e6 : *at == 'G' || *at == 'B' ? 1e9 : 1;
    *number = value;
    return true;
}

bool fr_step_bar(const char *line, struct fr_logged_step *step) {
    const char *at = strstr(line, "s/it"), *rate = strstr(line, "it/s");
    const char *bar = strstr(line, "%|"), *unit = at ? at : rate;
    double done = 0, all = 0;
    if (!bar || !unit || unit < bar) return false;
    const char *number = unit, *count = strrchr(bar + 1, '|');
    while (number > bar && (isdigit((unsigned char)number[-1]) || number[-1] == '.')) number--;
    for (const char *c = bar + 2; *c && c < unit; c++)
        if (*c == '|') count = c;
    if (sscanf(count + 1, "%lf/%lf [", &done, &all) != 2 || !(all >= done)) return false;
    const double value = strtod(number, NULL);
    if (!(value > 0) || number == unit) return false;
    step->number = done;
    step->total = all;
    step->time_s = at ? value : 1 / value;
    return true;
}

/* Days since 1970 of a day of the Gregorian calendar. */
static int64_t days(int64_t year, int64_t month, int64_t day) {
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400,
            of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static double clock_of(const char *at) {
    int h = 0, m = 0, s = 0, used = 0;
    if (sscanf(at, "%2d:%2d:%2d%n", &h, &m, &s, &used) != 3 || used < 7) return NAN;
    if (h < 0 || h > 23 || m < 0 || m > 59 || s < 0 || s > 60) return NAN;
    double part = 0, unit = 0.1;
    at += used;
    if (*at == '.' || *at == ',')
        for (at++; isdigit((unsigned char)*at); at++, unit /= 10) part += unit * (*at - '0');
    return 3600.0 * h + 60.0 * m + s + part;
}

static double stamp_at(const char *at) {
    int y = 0, m = 0, d = 0, used = 0;
    if (sscanf(at, "%4d-%2d-%2d%n", &y, &m, &d, &used) == 3 && used == 10) {
    } else if (sscanf(at, "%2d/%2d/%4d%n", &m, &d, &y, &used) == 3 && used == 10) {
    } else if (strchr("IWE", *at) && isdigit((unsigned char)at[1]) &&
               sscanf(at + 1, "%2d%2d%n", &m, &d, &used) == 2 && used == 4) {
        y = 2000;
        used++;
    } else
        return NAN;
    if (at[used] != ' ' && at[used] != 'T') return NAN;
    if (y < 1970 || y > 9999 || m < 1 || m > 12 || d < 1 || d > 31) return NAN;
    return 86400.0 * (double)days(y, m, d) + clock_of(at + used + 1);
}

double fr_step_stamp(const char *line) {
    for (const char *at = line; *at; at++) {
        bool begins = at == line || !isalnum((unsigned char)at[-1]);
        if (!begins || !(isdigit((unsigned char)*at) || strchr("IWE", *at))) continue;
        double stamp_s = stamp_at(at);
        if (isfinite(stamp_s)) return stamp_s;
    }
    return NAN;
}

static fr_status append(struct fr_logged_steps *s, struct fr_error *err) {
    if (s->n == s->capacity) {
        int capacity = s->capacity ? 2 * s->capacity : 64;
        struct fr_logged_step *more = fr_realloc(s->item, (size_t)capacity, sizeof *more);
        if (!more) return fr_fail(err, FR_ERR_NOMEM, NULL, "the log does not fit in memory");
        s->item = more;
        s->capacity = capacity;
    }
    s->item[s->n++] = s->next;
    return FR_OK;
}

static bool positive(double x) { return x > 0 && isfinite(x); }

fr_status fr_steps_add(struct fr_logged_steps *s, fr_line_kind kind, int number,
                       struct fr_error *err) {
    struct fr_logged_step *next = &s->next;
    if (kind == FR_LINE_EVALUATION) s->evaluation = true;
    if (kind == FR_LINE_CHECKPOINT) s->checkpoint = true;
    if (kind == FR_LINE_HEALING) s->healing = true;
    if (kind != FR_LINE_STEP && kind != FR_LINE_MALFORMED) return FR_OK;
    bool timed =
        positive(next->time_s) || positive(next->tokens_per_s) || positive(next->samples_per_s);
    if (kind == FR_LINE_MALFORMED || !timed) {
        if (s->malformed++ == 0) s->first_malformed = number;
        *next = fr_step_none();
        return FR_OK;
    }
    next->after_evaluation = s->evaluation;
    next->after_checkpoint = s->checkpoint;
    next->after_healing = s->healing;
    s->evaluation = s->checkpoint = false;
    fr_status status = append(s, err);
    *next = fr_step_none();
    return status;
}

void fr_steps_free(struct fr_logged_steps *s) {
    free(s->item);
    *s = (struct fr_logged_steps){0};
}

/* ---- which count ---------------------------------------------------------------------------- */

/* The batch that most of the steps behind the warm-up have; of as many the later one. */
static double usual_batch(const struct fr_logged_steps *s, int from) {
    double best = NAN;
    int most = 0;
    for (int i = s->n - 1; i >= from && s->n - from < 100000; i--) {
        int same = 0;
        double batch = s->item[i].batch;
        if (!(batch >= 1) || batch == best) continue;
        for (int k = from; k < s->n && k < from + 4096; k++) same += s->item[k].batch == batch;
        if (same > most) most = same, best = batch;
    }
    return best;
}

/* Where no step is a usual one, all but the warm-up count: @p strict is false. */
static fr_step_kind kind_of(const struct fr_logged_steps *s, int i, int warm_up, double batch,
                            bool strict) {
    const struct fr_logged_step *step = &s->item[i];
    if (i < warm_up) return FR_STEP_WARM_UP;
    if (isfinite(batch) && isfinite(step->batch) && step->batch != batch)
        return FR_STEP_RAMP_UP;
    if (!strict) return FR_STEP_COUNTS;
    if (step->skipped) return FR_STEP_SKIPPED;
    if (step->after_healing && !s->item[warm_up].after_healing) return FR_STEP_HEALING;
    if (step->after_evaluation) return FR_STEP_EVALUATION;
    if (step->after_checkpoint) return FR_STEP_CHECKPOINT;
    return FR_STEP_COUNTS;
}

/* The longest of the counts that lines say: an evaluation's own bar is of fewer steps. */
static double most_steps(const struct fr_logged_steps *s) {
    double most = NAN;
    for (int i = 0; i < s->n; i++) most = fmax(most, s->item[i].total);
    return most;
}

double fr_steps_kinds(const struct fr_logged_steps *s, fr_step_kind *kind) {
    const int warm_up = s->n > 2 * WARM_UP ? WARM_UP : 0;
    const double all = most_steps(s);
    const double batch = usual_batch(s, warm_up);
    int counted = 0;
    for (int strict = 1; strict >= 0 && counted == 0; strict--)
        for (int i = 0; i < s->n; i++) {
            kind[i] = kind_of(s, i, warm_up, batch, strict);
            if (strict && s->item[i].total < all) kind[i] = FR_STEP_EVALUATION;
            counted += kind[i] == FR_STEP_COUNTS;
        }
    return batch;
}

static double median(double *values, int n) {
    if (n == 0) return NAN;
    fr_sort(values, (size_t)n);
    return fr_sorted_median(values, (size_t)n);
}

/* The difference of stamps a step between step @p i and the one before, and how many steps it spans; NaN: neither counts. */
static double interval(const struct fr_logged_steps *s, const bool *use, int i, double *apart) {
    const struct fr_logged_step *a = &s->item[i - 1], *b = &s->item[i];
    *apart = isfinite(b->number - a->number) ? b->number - a->number : 1;
    const double d = (b->stamp_s - a->stamp_s) / *apart;
    return use[i] && *apart >= 1 && positive(d) ? d : NAN;
}

static bool is_whole(double stamp_s) { return stamp_s == floor(stamp_s); }

/* The time of a step by the stamps of steps that count and follow each other. */
static void of_stamps(const struct fr_logged_steps *s, const bool *use, double *values,
                      struct fr_logged_time *t) {
    double span_s = 0, steps = 0, apart;
    bool whole = true;
    int n = 0;
    for (int i = 1; i < s->n; i++) {
        const double d = interval(s, use, i, &apart);
        if (isfinite(d)) values[n++] = d;
    }
    const double usual_s = median(values, n);
    for (int i = 1; i < s->n; i++) {
        const double d = interval(s, use, i, &apart);
        if (!(d <= STALL * usual_s)) continue;
        span_s += d * apart;
        steps += apart;
        whole &= is_whole(s->item[i].stamp_s) && is_whole(s->item[i - 1].stamp_s);
    }
    t->resolution = span_s > 0 ? (whole ? 1 : 0.001) / span_s : 1;
    t->stamped_s = n < INTERVALS_MIN || steps == 0 ? NAN : whole ? span_s / steps : usual_s;
}

static double median_of(const struct fr_logged_steps *s, const bool *use, size_t offset,
                        double *values, int *n) {
    *n = 0;
    for (int i = 0; i < s->n; i++) {
        double value = *(const double *)((const char *)&s->item[i] + offset);
        if (use[i] && positive(value)) values[(*n)++] = value;
    }
    return median(values, *n);
}

static void set_times(const struct fr_logged_steps *s, const bool *use, double *values,
                      struct fr_logged_time *t) {
    int n = 0;
    double sum = 0;
    t->tokens_per_s =
        median_of(s, use, offsetof(struct fr_logged_step, tokens_per_s), values, &n);
    t->samples_per_s =
        median_of(s, use, offsetof(struct fr_logged_step, samples_per_s), values, &n);
    of_stamps(s, use, values, t);
    t->time_s = median_of(s, use, offsetof(struct fr_logged_step, time_s), values, &n);
    for (int i = 0; i < n; i++) {
        sum += values[i];
        t->stalls += values[i] > STALL * t->time_s;
    }
    t->mean_s = n ? sum / n : NAN;
}

static void count_kinds(const fr_step_kind *kind, int n, bool *use, struct fr_logged_time *t) {
    int *const of[FR_STEP_KINDS] = {
        [FR_STEP_COUNTS] = &t->counted,        [FR_STEP_WARM_UP] = &t->warm_up,
        [FR_STEP_RAMP_UP] = &t->ramp_up,       [FR_STEP_EVALUATION] = &t->evaluation,
        [FR_STEP_CHECKPOINT] = &t->checkpoint, [FR_STEP_SKIPPED] = &t->skipped,
        [FR_STEP_HEALING] = &t->healing};
    for (int i = 0; i < n; i++) {
        ++*of[kind[i]];
        use[i] = kind[i] == FR_STEP_COUNTS;
    }
}

void fr_steps_time(const struct fr_logged_steps *s, struct fr_logged_time *t) {
    *t = (struct fr_logged_time){.time_s = NAN,
                                 .tokens_per_s = NAN,
                                 .samples_per_s = NAN,
                                 .mean_s = NAN,
                                 .stamped_s = NAN};
    bool *use = fr_calloc((size_t)s->n + 1, sizeof *use);
    double *values = fr_malloc((size_t)s->n + 1, sizeof *values);
    fr_step_kind *kind = fr_calloc((size_t)s->n + 1, sizeof *kind);
    if (use && values && kind && s->n) {
        t->batch = fr_steps_kinds(s, kind);
        count_kinds(kind, s->n, use, t);
        set_times(s, use, values, t);
    }
    free(use);
    free(values);
    free(kind);
}

void fr_steps_choose(struct fr_logged_time *t, double stated_s) {
    bool fine = isfinite(t->stamped_s) && t->resolution <= COARSE;
    double longer = t->stamped_s / stated_s;
    t->time_s = stated_s;
    if (!fine) return;
    t->by_stamps =
        !isfinite(stated_s) || (longer > 1 + SAME + t->resolution && longer <= LONGER_MOST);
    if (t->by_stamps) t->time_s = t->stamped_s;
}

/* ---- what was counted ------------------------------------------------------------------------- */

void fr_steps_print(const struct fr_logged_time *t, double stated_s, struct fr_text *text) {
    const struct {
        int n;
        const char *what;
    } left[] = {{t->warm_up, "warm-up"},       {t->ramp_up, "of another batch"},
                {t->evaluation, "evaluation"}, {t->checkpoint, "checkpoint"},
                {t->skipped, "skipped"},       {t->healing, "after healing to 8 bits"}};
    bool any = false;
    fr_text_addf(text, "%d timed line%s counted", t->counted, t->counted == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i].n) {
            fr_text_addf(text, "%s%d %s", any ? ", " : "; left out: ", left[i].n, left[i].what);
            any = true;
        }
    fr_text_addf(text, "\n");
    if (isfinite(t->mean_s) && isfinite(stated_s))
        fr_text_addf(
            text, "step %.4g s in the median, %.4g s in the mean%s\n", stated_s, t->mean_s,
            t->mean_s > 1.05 * stated_s ? ": some steps stalled; the median is taken" : "");
    if (t->stalls)
        fr_text_addf(text, "%d step%s took more than 1.5 times the median\n", t->stalls,
                     t->stalls == 1 ? "" : "s");
    bool fine = isfinite(t->stamped_s) && t->resolution <= COARSE;
    if (t->by_stamps && isfinite(stated_s))
        fr_text_addf(text,
                     "time stamps say %.4g s a step, %.1f %% more than the log's own figure, "
                     "which does not wait for the device: the stamps are taken\n",
                     t->stamped_s, 100 * (t->stamped_s / stated_s - 1));
    else if (t->by_stamps)
        fr_text_addf(text, "step %.4g s, from time stamps\n", t->stamped_s);
    else if (fine && fabs(t->stamped_s / stated_s - 1) > 0.05)
        fr_text_addf(text,
                     "time stamps say %.4g s a step and the log %.4g s: they disagree, and the "
                     "log's own figure is taken\n",
                     t->stamped_s, stated_s);
    else if (!fine && isfinite(t->stamped_s) && fabs(t->stamped_s / stated_s - 1) > 0.3)
        fr_text_addf(text,
                     "time stamps, of whole seconds, say about %.2g s a step and the log %.4g "
                     "s: they disagree, and the log's own figure is taken\n",
                     t->stamped_s, stated_s);
}
