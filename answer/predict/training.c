#include "answer/predict/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/interval.h"
#include "base/units.h"

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
    if (read && !*unit)
        return fr_fail(err, FR_ERR_USAGE, "--price",
                       "\"%.40s\" has no unit; write \"%.40s USD/h\"", text, text);
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
    if (read && !*unit)
        return fr_fail(err, FR_ERR_USAGE, "--carbon",
                       "\"%.40s\" has no unit; write \"%.40s kg/kWh\"", text, text);
    if (read && (grams || strcmp(unit, "kg/kWh") == 0)) return FR_OK;
    return fr_fail(err, FR_ERR_USAGE, "--carbon",
                   "\"%.40s\" is no emission; write e.g. \"0.4 kg/kWh\"", text);
}

/* What fails, and how a checkpoint is written. */
static fr_status failures_of(const struct fr_training_words *words, struct fr_training *t,
                             struct fr_error *err) {
    const struct {
        const char *text, *where;
        fr_quantity quantity;
        double *si;
    } rows[] = {
        {words->mtbf, "--mtbf", FR_QUANTITY_TIME, &t->device_mtbf_s},
        {words->storage, "--storage", FR_QUANTITY_RATE, &t->storage_B_per_s},
        {words->checkpoint_size, "--checkpoint-size", FR_QUANTITY_SIZE, &t->checkpoint_B},
        {words->restart, "--restart", FR_QUANTITY_TIME, &t->restart_s}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!rows[i].text) continue;
        if (i > 0 && !words->mtbf)
            return fr_fail(
                err, FR_ERR_USAGE, rows[i].where,
                "is of a training that fails now and then; say how often with --mtbf");
        fr_status status =
            fr_quantity_parse(rows[i].text, rows[i].quantity, rows[i].where, rows[i].si, err);
        if (status != FR_OK && err) err->status = FR_ERR_USAGE;
        if (status != FR_OK) return FR_ERR_USAGE;
        if (!(*rows[i].si > 0))
            return fr_fail(err, FR_ERR_USAGE, rows[i].where, "\"%.40s\" is not above 0",
                           rows[i].text);
    }
    if (words->mtbf && !words->storage)
        return fr_fail(
            err, FR_ERR_USAGE, "--storage",
            "is needed beside --mtbf: the rate at which a checkpoint is written, e.g. "
            "\"100 GB/s\"");
    return FR_OK;
}

static fr_status pue_of(const char *text, struct fr_training *t, struct fr_error *err) {
    char *end = NULL;
    t->pue = strtod(text, &end);
    if (end != text && !*end && t->pue >= 1 && t->pue <= 10) return FR_OK;
    return fr_fail(err, FR_ERR_USAGE, "--pue",
                   "\"%.40s\" is no power usage effectiveness; write e.g. 1.2", text);
}

fr_status fr_training_read(const struct fr_training_words *words, struct fr_training *t,
                           struct fr_error *err) {
    *t = (struct fr_training){0};
    if (words->tokens && words->samples)
        return fr_fail(err, FR_ERR_USAGE, "--samples", "says again what --tokens says");
    const char *of_whole = words->price    ? "--price"
                           : words->carbon ? "--carbon"
                           : words->mtbf   ? "--mtbf"
                                           : NULL;
    if (of_whole && !words->tokens && !words->samples)
        return fr_fail(err, FR_ERR_USAGE, of_whole,
                       "is of a whole training; say how long it is with --tokens or --samples");
    if (words->tokens) FR_TRY(count_of(words->tokens, "--tokens", &t->tokens, err));
    if (words->samples) FR_TRY(count_of(words->samples, "--samples", &t->samples, err));
    if (words->price) FR_TRY(price_of(words->price, t, err));
    if (words->carbon) FR_TRY(carbon_of(words->carbon, t, err));
    if (words->pue) FR_TRY(pue_of(words->pue, t, err));
    return failures_of(words, t, err);
}

/* ---- numbers -------------------------------------------------------------------------------------- */

fr_status fr_training_check(const struct fr_training *t, const struct fr_job *job,
                            struct fr_error *err) {
    if (!(t->tokens > 0) || job->workload.transformer.sequence > 0) return FR_OK;
    return fr_fail(err, FR_ERR_INPUT, "--tokens", "model %s has none; use --samples",
                   job->workload.name);
}

/* What is needed to go on: the weights and the optimiser's state of all parameters that are trained. */
static double checkpoint_B(const struct fr_training *t, const struct fr_workload *w,
                           const struct fr_outcome *out) {
    if (t->checkpoint_B > 0) return t->checkpoint_B;
    return (out->parameters - out->parameters_frozen) *
           (fr_dtype_saved_B(w->dtype) + w->optimizer_state_B);
}

/* The time to checkpoint, to fail and to start again on top. */
static void add_failures(const struct fr_training *t, const struct fr_workload *w,
                         const struct fr_outcome *out, struct fr_training_cost *c) {
    c->goodput = 1;
    if (!(t->device_mtbf_s > 0) || !isfinite(out->time_s)) return;
    c->checkpoint_B = checkpoint_B(t, w, out);
    c->failures = (struct fr_failures){.mtbf_s = t->device_mtbf_s / (double)out->ranks,
                                       .checkpoint_s = c->checkpoint_B / t->storage_B_per_s,
                                       .restart_s = t->restart_s};
    c->interval_iterations = fr_failures_iterations(&c->failures, fr_outcome_expected_s(out));
    c->interval_s = c->interval_iterations * fr_outcome_expected_s(out);
    c->goodput = fr_failures_goodput(&c->failures, c->interval_s);
    c->time_s /= c->goodput;
    c->low_s /= c->goodput;
    c->high_s /= c->goodput;
    c->energy_J /= c->goodput;
    c->n_failures = c->time_s / c->failures.mtbf_s;
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
                                 .time_s = n * fr_outcome_expected_s(out),
                                 .low_s = n * out->low_s,
                                 .high_s = n * out->high_s,
                                 .energy_J = n * out->energy_J};
    add_failures(t, &job->workload, out, &c);
    c.device_s = (double)out->ranks * c.time_s;
    c.price = t->price_per_s > 0 ? t->price_per_s * c.device_s : NAN;
    c.carbon_kg = t->carbon_kg_per_J > 0 ? t->carbon_kg_per_J * c.energy_J : NAN;
    return c;
}

static void put_failures(struct fr_json_writer *w, const struct fr_training_cost *c) {
    fr_json_add_object(w, "failures");
    fr_json_add_number(w, "mtbf_s", c->failures.mtbf_s);
    fr_json_add_number(w, "checkpoint_B", c->checkpoint_B);
    fr_json_add_number(w, "checkpoint_s", c->failures.checkpoint_s);
    fr_json_add_number(w, "restart_s", c->failures.restart_s);
    fr_json_add_number(w, "interval_iterations", c->interval_iterations);
    fr_json_add_number(w, "interval_s", c->interval_s);
    fr_json_add_number(w, "interval_young_s", fr_failures_young_s(&c->failures));
    fr_json_add_number(w, "interval_daly_s", fr_failures_daly_s(&c->failures));
    fr_json_add_number(w, "goodput", c->goodput);
    fr_json_add_number(w, "failures", c->n_failures);
    fr_json_end_object(w);
}

void fr_training_put(struct fr_json_writer *w, const struct fr_training *t,
                     const struct fr_training_cost *c) {
    fr_json_begin_object(w);
    fr_json_add_number(w, "iterations", c->iterations);
    fr_json_add_number(w, "samples", c->samples);
    fr_json_add_number(w, "tokens", c->tokens);
    fr_json_add_number(w, "time_s", c->time_s);
    if (c->high_s > 0) {
        fr_json_add_interval(w, "time_s", c->low_s, c->high_s);
    }
    fr_json_add_number(w, "days", c->time_s / DAY_S);
    fr_json_add_number(w, "device_hours", c->device_s / HOUR_S);
    fr_json_add_number(w, "energy_J", c->energy_J);
    fr_json_add_number(w, "energy_kWh", c->energy_J / KWH_J);
    fr_json_add_number(w, "price", c->price);
    if (t->price_per_s > 0) fr_json_add_string(w, "currency", t->currency);
    fr_json_add_number(w, "carbon_kg", c->carbon_kg);
    if (t->pue > 1) fr_json_add_number(w, "pue", t->pue);
    if (t->device_mtbf_s > 0) put_failures(w, c);
    fr_json_end_object(w);
}
