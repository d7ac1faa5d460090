#include "answer/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double HOUR_S = 3600, DAY_S = 86400, KWH_J = 3.6e6;

/* ---- words ---------------------------------------------------------------------------------------- */

/* "15T", "300 B", "1.5e12": a number and perhaps a suffix of thousands. */
static fr_status count_of(const char *text, const char *where, double *count,
                          struct fr_error *err) {
    static const char suffixes[] = "kMGT";
    char *end = NULL;
    *count = strtod(text, &end);
    while (end != text && *end == ' ') end++;
    const char *at = *end == 'B' ? strchr(suffixes, 'G') : *end ? strchr(suffixes, *end) : NULL;
    if (at) *count *= pow(1000, (double)(at - suffixes) + 1);
    if (end == text || (*end && (!at || end[1])) || !(*count >= 1 && *count <= 1e18))
        return fr_fail(err, FR_ERR_USAGE, where,
                       "\"%.40s\" is no number of 1 to 1e18; write e.g. 1T, 300B or 2e12",
                       text);
    return FR_OK;
}

/* A positive number, then @p unit: what follows the blanks behind it. */
static bool amount_of(const char *text, double *amount, const char **unit) {
    char *end = NULL;
    *amount = strtod(text, &end);
    *unit = end;
    while (**unit == ' ') ++*unit;
    return end != text && *amount > 0 && *amount < 1e12;
}

static fr_status price_of(const char *text, struct fr_training *t, struct fr_error *err) {
    const char *unit = "";
    bool read = amount_of(text, &t->price_per_s, &unit);
    size_t length = strcspn(unit, "/ ");
    t->price_per_s /= HOUR_S;
    if (!read || length == 0 || length >= sizeof t->currency ||
        strcmp(unit + length, "/h") != 0)
        return fr_fail(err, FR_ERR_USAGE, "--price",
                       "\"%.40s\" is no price of a device; write e.g. \"2.5 USD/h\"", text);
    snprintf(t->currency, sizeof t->currency, "%.*s", (int)length, unit);
    return FR_OK;
}

static fr_status carbon_of(const char *text, struct fr_training *t, struct fr_error *err) {
    const char *unit = "";
    bool read = amount_of(text, &t->carbon_kg_per_J, &unit), grams = strcmp(unit, "g/kWh") == 0;
    t->carbon_kg_per_J *= (grams ? 1e-3 : 1) / KWH_J;
    if (read && (grams || strcmp(unit, "kg/kWh") == 0)) return FR_OK;
    return fr_fail(err, FR_ERR_USAGE, "--carbon",
                   "\"%.40s\" is no emission; write e.g. \"0.4 kg/kWh\"", text);
}

fr_status fr_training_read(const struct fr_training_words *words, struct fr_training *t,
                           struct fr_error *err) {
    *t = (struct fr_training){0};
    if (words->tokens && words->samples)
        return fr_fail(err, FR_ERR_USAGE, "--samples", "says again what --tokens says");
    if ((words->price || words->carbon) && !words->tokens && !words->samples)
        return fr_fail(err, FR_ERR_USAGE, words->price ? "--price" : "--carbon",
                       "is of a whole training; say how long it is with --tokens or --samples");
    if (words->tokens) FR_TRY(count_of(words->tokens, "--tokens", &t->tokens, err));
    if (words->samples) FR_TRY(count_of(words->samples, "--samples", &t->samples, err));
    if (words->price) FR_TRY(price_of(words->price, t, err));
    return words->carbon ? carbon_of(words->carbon, t, err) : FR_OK;
}

/* ---- numbers -------------------------------------------------------------------------------------- */

fr_status fr_training_check(const struct fr_training *t, const struct fr_job *job,
                            struct fr_error *err) {
    if (!(t->tokens > 0) || job->workload.transformer.sequence > 0) return FR_OK;
    return fr_fail(err, FR_ERR_INPUT, "--tokens", "model %s has none; use --samples",
                   job->workload.name);
}

struct fr_training_cost fr_training_cost_of(const struct fr_training *t,
                                            const struct fr_job *job,
                                            const struct fr_outcome *out) {
    if (out->job) job = out->job;
    double sequence = (double)job->workload.transformer.sequence,
           batch = (double)fr_job_batch(job, &out->plan);
    double samples = t->tokens > 0 ? t->tokens / sequence : t->samples,
           n = ceil(samples / batch *
                    (1 - 1e-12)); /* a quotient that is whole but for rounding */
    struct fr_training_cost c = {.iterations = n,
                                 .samples = n * batch,
                                 .tokens = sequence > 0 ? n * batch * sequence : NAN,
                                 .time_s = n * out->time_s,
                                 .low_s = n * out->low_s,
                                 .high_s = n * out->high_s,
                                 .energy_J = n * out->energy_J};
    c.device_s = (double)out->ranks * c.time_s;
    c.price = t->price_per_s > 0 ? t->price_per_s * c.device_s : NAN;
    c.carbon_kg = t->carbon_kg_per_J > 0 ? t->carbon_kg_per_J * c.energy_J : NAN;
    return c;
}

void fr_training_put(struct fr_json_writer *w, const struct fr_training *t,
                     const struct fr_training_cost *c) {
    fr_json_begin_object(w);
    fr_json_add_number(w, "iterations", c->iterations);
    fr_json_add_number(w, "samples", c->samples);
    fr_json_add_number(w, "tokens", c->tokens);
    fr_json_add_number(w, "time_s", c->time_s);
    if (c->high_s > 0) {
        fr_json_add_number(w, "time_low_s", c->low_s);
        fr_json_add_number(w, "time_high_s", c->high_s);
    }
    fr_json_add_number(w, "days", c->time_s / DAY_S);
    fr_json_add_number(w, "device_hours", c->device_s / HOUR_S);
    fr_json_add_number(w, "energy_J", c->energy_J);
    fr_json_add_number(w, "energy_kWh", c->energy_J / KWH_J);
    fr_json_add_number(w, "price", c->price);
    if (t->price_per_s > 0) fr_json_add_string(w, "currency", t->currency);
    fr_json_add_number(w, "carbon_kg", c->carbon_kg);
    fr_json_end_object(w);
}
