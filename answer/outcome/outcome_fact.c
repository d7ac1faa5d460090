/* The rows, and what they read. */
#include "answer/outcome/outcome_fact.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/outcome/report.h"
#include "answer/outcome/report_put.h"
#include "models/device/jitter.h"
#include "models/outcome/energy.h"
#include "models/outcome/memory.h"
#include "models/plan/growth.h"

const char *const fr_engine_names[] = {"closed", "event", "simgrid", NULL};

static const char *const message_rules[] = {"none", "alone", "in_order", "fair", NULL};
static const char *const break_even_plans[] = {"none", "best exact plan",
                                               "same plan without loss", NULL};
static const char *const interval_sources[] = {[FR_INTERVAL_TUNING] = "tuning",
                                               [FR_INTERVAL_CALIBRATION] = "calibration",
                                               [FR_INTERVAL_UNCERTAINTY] = "widths",
                                               [FR_INTERVAL_PRIORS] = "priors",
                                               NULL};

/* ---- the view --------------------------------------------------------------------------------- */

static struct fr_outcome_ends between(double low, double high) {
    return (struct fr_outcome_ends){.stated = true, .low = low, .high = high};
}

void fr_outcome_view(const struct fr_job *job, const struct fr_outcome *out,
                     struct fr_outcome_view *v) {
    if (out->job) job = out->job;
    *v = (struct fr_outcome_view){.job = job,
                                  .out = out,
                                  .priced = isfinite(out->time_s),
                                  .known = isfinite(out->parameters),
                                  .fits = fr_fits_of(job, out),
                                  .rates = fr_rates_of(job, out),
                                  .time = {out->high_s > 0, out->low_s, out->high_s}};
    v->differs = fabs(fr_outcome_expected_s(out) / out->time_s - 1) >= FR_EXPECTED_DIFFERS;
    v->steps = v->energy = v->peak = between(NAN, NAN);
    v->steps.stated =
        fr_jitter_steps(&job->cluster.device, (double)out->ranks, fr_outcome_expected_s(out),
                        &v->steps.low, &v->steps.high);
    fr_energy_interval(&job->cluster, out, &v->energy.low, &v->energy.high);
    fr_memory_interval(job, out, &v->peak.low, &v->peak.high);
    v->shown = between(v->fits.shown_low_B, v->fits.shown_high_B);
    v->needed = between(v->fits.needed_low_B, v->fits.needed_high_B);
}

static double positive(double rate_B_per_s) { return rate_B_per_s > 0 ? rate_B_per_s : NAN; }

/* ---- how each row reads it -------------------------------------------------------------------- */

#define ALWAYS true
#define WHERE(condition) (condition)
#define FR_FACT_PUT(...)
#define FR_FACT_ENDS(...)
#define PRESENT(word, presence)                                                                \
    static bool told_##word(const struct fr_outcome_view *v) {                                 \
        (void)v;                                                                               \
        return presence;                                                                       \
    }
#define FR_FACT(word, name, kind, presence, value, ...)                                        \
    PRESENT(word, presence)                                                                    \
    static double value_##word(const struct fr_outcome_view *v, int i) {                       \
        (void)i;                                                                               \
        return value;                                                                          \
    }
#define FR_FACT_EACH(word, name, kind, names, count, value, ...)                               \
    FR_FACT(word, name, kind, true, value, "")
#define FR_FACT_WORD(word, name, words, presence, value, sentence)                             \
    PRESENT(word, presence)                                                                    \
    static const char *value_##word(const struct fr_outcome_view *v) { return value; }
#include "answer/outcome/fact_list.h"
#undef ALWAYS
#undef WHERE
#undef FR_FACT
#undef FR_FACT_WORD
#undef FR_FACT_EACH
#undef FR_FACT_PUT
#undef FR_FACT_ENDS

/* ---- the rows --------------------------------------------------------------------------------- */

#define ALWAYS true
#define SOMETIMES false
#define WHERE(condition) false
#define INTERVAL(key, member, presence)                                                        \
    .interval = key, .ends = offsetof(struct fr_outcome_view, member), .always_in = presence
#define CSV(order, head) .csv = {order, head}
#define TEXT(order, head) .text = {order, head}
#define PAGE(order) .page = {order, NULL}

#define ROW(spelling, which, presence, ...)                                                    \
    {.name = spelling, .kind = FR_OUTCOME_IS_##which, .always = presence, __VA_ARGS__},
#define READ(word) .stated = told_##word, .number = value_##word

const struct fr_outcome_fact fr_outcome_facts[] = {
#define FR_FACT(word, spelling, which, presence, value, ...)                                   \
    ROW(spelling, which, presence, .count = 1, READ(word), .sentence = __VA_ARGS__)
#define FR_FACT_EACH(word, spelling, which, list, n, value, ...)                               \
    ROW(spelling, which, true, .names = list, .count = n, READ(word), .sentence = __VA_ARGS__)
#define FR_FACT_WORD(id, spelling, words, presence, value, explanation)                        \
    ROW(spelling, WORD, presence, .names = words, .count = 1, .stated = told_##id,             \
        .word = value_##id, .sentence = explanation)
#define FR_FACT_PUT(word, spelling, presence, writer, explanation)                             \
    ROW(spelling, PUT, presence, .put = writer, .count = 1, .sentence = explanation)
#define FR_FACT_ENDS(word, object) ROW(object, ENDS, false, .count = 0)
#include "answer/outcome/fact_list.h"
};

/* ---- what walks them -------------------------------------------------------------------------- */

double fr_outcome_number(const struct fr_outcome_view *v, int fact) {
    return fr_outcome_facts[fact].number(v, 0);
}

const struct fr_outcome_ends *fr_fact_ends(const struct fr_outcome_fact *fact,
                                           const struct fr_outcome_view *v) {
    const char *view = (const char *)v;
    return fact->interval ? (const struct fr_outcome_ends *)(const void *)(view + fact->ends)
                          : NULL;
}

const char *fr_fact_object(const struct fr_outcome_fact *fact, char out[FR_FACT_KEY]) {
    const char *dot = strchr(fact->name, '.');
    snprintf(out, FR_FACT_KEY, "%.*s", dot ? (int)(dot - fact->name) : 0, fact->name);
    return out;
}

bool fr_fact_in(const struct fr_outcome_fact *fact, const char *object) {
    const char *dot = strchr(fact->name, '.');
    size_t length = dot ? (size_t)(dot - fact->name) : 0;
    return strlen(object) == length && strncmp(fact->name, object, length) == 0;
}

const char *fr_fact_key(const struct fr_outcome_fact *fact, int i, char out[FR_FACT_KEY]) {
    const char *dot = strchr(fact->name, '.'), *key = dot ? dot + 1 : fact->name;
    snprintf(out, FR_FACT_KEY, "%s", *key == '*' ? fact->names[i] : key);
    return out;
}

static int group_of(size_t place, int fact) {
    const char *row = (const char *)&fr_outcome_facts[fact];
    return ((const struct fr_fact_place *)(const void *)(row + place))->group;
}

int fr_outcome_placed(size_t place, int *facts) {
    int n = 0;
    for (int i = 0; i < FR_OUTCOME_FACTS; i++) {
        int group = group_of(place, i), k = n;
        if (group == 0) continue;
        for (; k > 0 && group_of(place, facts[k - 1]) > group; k--) facts[k] = facts[k - 1];
        facts[k] = i;
        n++;
    }
    return n;
}
