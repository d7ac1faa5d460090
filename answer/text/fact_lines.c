#include "answer/text/fact_lines.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/text/render.h"
#include "base/json/interval.h"
#include "base/text/wrap.h"
#include "models/outcome/energy.h"

enum { NOTE = 160, VALUE = 40 };

void fr_line_say(struct fr_text *text, const char *what, const char *value, const char *note) {
    enum { COLUMN = 42 };
    fr_text_addf(text, "%-24s %14s   ", what, value);
    fr_wrap(text, note, COLUMN, COLUMN, FR_COLUMNS);
    fr_end_line(text);
}

/* ---- values ----------------------------------------------------------------------------------- */

/* "70.57 billion", "39.50 million". */
static const char *count(double n, char *out) {
    static const struct {
        double unit;
        const char *word;
    } words[] = {{1e12, " trillion"}, {1e9, " billion"}, {1e6, " million"}, {1, ""}};
    int i = 0;
    while (words[i].unit > 1 && n < 0.99995 * words[i].unit) i++;
    snprintf(out, VALUE, words[i].unit > 1 ? "%.4g%s" : "%.0f%s", n / words[i].unit,
             words[i].word);
    return out;
}

/* A number of @p key, whose unit it has. */
static const char *value_of(const char *key, double value, char *out) {
    fr_quantity quantity;
    size_t unit = strcspn(key, ".");
    if (fr_unit_of(key, strlen(key), &quantity) || fr_unit_of(key, unit, &quantity))
        return fr_render_quantity(value, quantity, out, VALUE);
    return fr_render_number(value, out, VALUE);
}

const char *fr_fact_value(const struct fr_outcome_view *v, int fact, char *out,
                          size_t capacity) {
    const struct fr_outcome_fact *row = &fr_outcome_facts[fact];
    char value[VALUE];
    double number = row->number(v, 0);
    if (row->kind == FR_OUTCOME_IS_WHOLE || row->kind == FR_OUTCOME_IS_COUNT)
        snprintf(out, capacity, isfinite(number) ? "%.0f" : "-", number);
    else
        snprintf(out, capacity, "%s", value_of(row->name, number, value));
    return out;
}

/* ---- notes: which facts have one, and which a line where they are not known --------------------- */

typedef bool line_fn(const struct fr_outcome_view *v, int i, char *note);

static bool expected(const struct fr_outcome_view *v, int i, char *note) {
    (void)i;
    snprintf(note, NOTE, "%+.1f %%: what runs of this model or plan took besides",
             100 * (v->out->expected_s / v->out->time_s - 1));
    return true;
}

static bool steps(const struct fr_outcome_view *v, int i, char *note) {
    char high[VALUE];
    (void)i;
    snprintf(note, NOTE, "to %s, nine in ten",
             fr_quantity_format(v->steps.high, FR_QUANTITY_TIME, high, sizeof high));
    return true;
}

static bool energy(const struct fr_outcome_view *v, int i, char *note) {
    const struct fr_power *power = &v->job->cluster.device.power;
    (void)i;
    snprintf(note, NOTE, "%s", power->known ? power->quality : "the cluster states no power");
    return true;
}

/* Who draws it, where the cluster states more than its devices. */
static bool energy_part(const struct fr_outcome_view *v, int i, char *note) {
    int stated = 0;
    for (int k = 0; k < FR_ENERGY_COUNT; k++) stated += fr_energy_known(&v->job->cluster, k);
    snprintf(note, NOTE, "%.1f %%", 100 * v->out->energy_part_J[i] / v->out->energy_J);
    return stated > 1 && isfinite(v->out->energy_J) && fr_energy_known(&v->job->cluster, i);
}

static bool epoch(const struct fr_outcome_view *v, int i, char *note) {
    (void)i;
    snprintf(note, NOTE, "%.6g iterations of %" PRId64, v->rates.iterations_per_epoch,
             fr_job_batch(v->job, &v->out->plan));
    return isfinite(v->rates.epoch_time_s);
}

/* Which scores the share counts, where attention has a mask. */
static const char *counted(const struct fr_job *job) {
    const struct fr_transformer *t = &job->workload.transformer;
    if (!t->layers || t->both_ways) return "";
    return job->palm_flop ? ", all scores (PaLM)" : ", half of causal scores";
}

static bool model_flop(const struct fr_outcome_view *v, int i, char *note) {
    (void)i;
    if (isfinite(v->rates.mfu))
        snprintf(note, NOTE, "MFU %.1f %%%s", 100 * v->rates.mfu, counted(v->job));
    else
        snprintf(note, NOTE, "no MFU: no nominal_peak beside %s's measured products",
                 fr_dtype_names[v->job->workload.dtype]);
    return isfinite(v->rates.model_flop_per_s_per_device);
}

static bool hardware_flop(const struct fr_outcome_view *v, int i, char *note) {
    char share[VALUE] = "";
    (void)i;
    if (isfinite(v->rates.hfu))
        snprintf(share, sizeof share, "HFU %.1f %%, ", 100 * v->rates.hfu);
    snprintf(note, NOTE, "%srecomputation counted", share);
    return v->rates.hardware_flop_per_s_per_device > v->rates.model_flop_per_s_per_device;
}

const char *fr_iterations_note(const struct fr_outcome *out) {
    if (out->plan.forward) return "a forward pass trains nothing";
    switch (out->iterations_origin) {
    case FR_ITERATIONS_GIVEN:
        return "";
    case FR_ITERATIONS_INTERPOLATED:
        return "iterations interpolated between two known plans";
    case FR_ITERATIONS_SCALED:
        return "as many samples as at the batch of the table, by its \"scaling\"";
    case FR_ITERATIONS_LAW:
        return "iterations by a law that was fitted to known plans";
    case FR_ITERATIONS_UNKNOWN:
        break;
    }
    return "iterations to the loss unknown; give them with --set model.iterations=...";
}

static bool total(const struct fr_outcome_view *v, int i, char *note) {
    const char *from = fr_iterations_note(v->out);
    (void)i;
    snprintf(note, NOTE, "%.6g iterations%s%s", v->out->iterations, *from ? ", " : "", from);
    return isfinite(v->out->iterations);
}

static bool total_energy(const struct fr_outcome_view *v, int i, char *note) {
    (void)i, (void)note;
    return isfinite(v->out->iterations);
}

static bool warm_up(const struct fr_outcome_view *v, int i, char *note) {
    (void)i;
    snprintf(note, NOTE, "an iteration of the first %" PRId64 ", uncompressed",
             v->out->plan.compression.warm_up);
    return isfinite(v->out->iterations);
}

static line_fn *const special[FR_OUTCOME_FACTS] = {
    [FR_OUTCOME_iteration_time_expected_s] = expected,
    [FR_OUTCOME_iteration_time_p05_s] = steps,
    [FR_OUTCOME_iteration_energy_J] = energy,
    [FR_OUTCOME_energy_J] = energy_part,
    [FR_OUTCOME_epoch_time_s] = epoch,
    [FR_OUTCOME_model_flop_per_s_per_device] = model_flop,
    [FR_OUTCOME_hardware_flop_per_s_per_device] = hardware_flop,
    [FR_OUTCOME_total_time_s] = total,
    [FR_OUTCOME_total_energy_J] = total_energy,
    [FR_OUTCOME_warm_up_iteration_time_s] = warm_up,
};

/* ---- lines ------------------------------------------------------------------------------------ */

static void say_fact(struct fr_text *text, const struct fr_outcome_view *v, int fact, int i) {
    const struct fr_outcome_fact *row = &fr_outcome_facts[fact];
    double number = row->number(v, i);
    bool whole = row->kind == FR_OUTCOME_IS_COUNT || row->kind == FR_OUTCOME_IS_WHOLE;
    char note[NOTE] = "", value[VALUE], label[VALUE];
    if (!row->stated(v)) return;
    if (special[fact] ? !special[fact](v, i, note) : !isfinite(number)) return;
    if (row->count == 1)
        snprintf(label, sizeof label, "%s", row->text.label);
    else
        snprintf(label, sizeof label, "  %s", row->names[i]);
    fr_line_say(text, label, whole ? count(number, value) : value_of(row->name, number, value),
                note);
}

static const char *interval_note(const struct fr_outcome_view *v, int fact) {
    static const char *const from[] = {
        [FR_INTERVAL_TUNING] = ", from the runs it was tuned to",
        [FR_INTERVAL_CALIBRATION] = ", from priors and the calibration's own errors",
        [FR_INTERVAL_UNCERTAINTY] = ", from the cluster's widths; forerun tune narrows it",
        [FR_INTERVAL_PRIORS] = ", from priors alone; forerun tune narrows it"};
    if (fact == FR_OUTCOME_iteration_time_expected_s)
        return from[fr_cluster_interval_source(&v->job->cluster)];
    return fact == FR_OUTCOME_memory_peak ? ", of tensors alone" : "";
}

void fr_fact_interval_line(struct fr_text *text, const struct fr_outcome_view *v, int fact) {
    const struct fr_outcome_fact *row = &fr_outcome_facts[fact];
    const struct fr_outcome_ends *of = fr_fact_ends(row, v);
    char low[VALUE], high[VALUE], note[NOTE];
    if (!of || !of->stated || !isfinite(of->low)) return;
    snprintf(note, sizeof note, "to %s%s", value_of(row->interval, of->high, high),
             interval_note(v, fact));
    fr_line_say(text, "  90 % interval", value_of(row->interval, of->low, low), note);
}

/* Two numbers of one kind: of all, and of each. */
static void say_rates(struct fr_text *text, const struct fr_outcome_view *v) {
    bool tokens = isfinite(v->rates.tokens_per_s);
    double per_s = tokens ? v->rates.tokens_per_s : v->rates.samples_per_s;
    char all[VALUE], each[VALUE];
    fr_text_addf(text, "%-24s %14s   %s a device\n", tokens ? "tokens/s" : "samples/s",
                 fr_render_number(per_s, all, sizeof all),
                 fr_render_number(per_s / (double)v->out->ranks, each, sizeof each));
}

void fr_fact_lines(struct fr_text *text, const struct fr_outcome_view *v, int from, int to) {
    int facts[FR_OUTCOME_FACTS];
    int n = fr_outcome_placed(offsetof(struct fr_outcome_fact, text), facts);
    for (int group = from; group <= to; group++) {
        if (group == FR_LINES_RATES) say_rates(text, v);
        for (int k = 0; k < n; k++) {
            const struct fr_outcome_fact *row = &fr_outcome_facts[facts[k]];
            if (row->text.group != group) continue;
            for (int i = 0; i < row->count; i++) say_fact(text, v, facts[k], i);
            fr_fact_interval_line(text, v, facts[k]);
        }
    }
}
