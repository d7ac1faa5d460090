#include "real/validate/validation_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/text/render.h"
#include "base/json/interval.h"
#include "base/text/version.h"
#include "base/text/wrap.h"
#include "models/job/runtime.h"
#include "real/validate/judge.h"

/* ---- text ---------------------------------------------------------------------------------- */

static const char *quantity(double s, char *out, size_t capacity) {
    return fr_quantity_format(s, FR_QUANTITY_TIME, out, capacity);
}

/* Measured, its interval, predicted, error and order, under what was run. */
#define NUMBERS "    %10s  %-25s %10s %9s  %7s"

/* Prose under a row, from where its numbers begin. */
static void print_under(struct fr_text *text, const char *prose) {
    fr_text_addf(text, "      ");
    fr_wrap(text, prose, 6, 6, FR_COLUMNS);
    fr_end_line(text);
}

/* Which term is off, and that a product or message lies beyond what was measured. */
static void print_off(struct fr_text *text, const struct fr_validate_row *row) {
    char measured[40], predicted[40], prose[200];
    size_t used = 0;
    if (row->off >= 0)
        fr_line_addf(prose, sizeof prose, &used, "%s: %s, predicted %s",
                     fr_term_names[row->off],
                     quantity(row->measured_term_s[row->off], measured, sizeof measured),
                     quantity(row->predicted_term_s[row->off], predicted, sizeof predicted));
    if (row->extrapolated)
        fr_line_addf(prose, sizeof prose, &used, "%sbeyond what was measured",
                     used ? "; " : "");
    if (used) print_under(text, prose);
}

static void print_row(struct fr_text *text, const struct fr_validate_row *row) {
    char measured[40] = "not run", interval[90] = "", low[40], high[40], predicted[40] = "-";
    char error[32] = "-", order[32] = "-";
    fr_text_addf(text, "  ");
    fr_wrap_list(text, row->run.label, 2, 4, FR_COLUMNS);
    fr_end_line(text);
    if (*row->refused) {
        struct fr_text why = {0};
        fr_text_addf(&why, "not run here: %s", row->refused);
        print_under(text, fr_text_get(&why));
        fr_text_free(&why);
        return;
    }
    if (row->n_samples > 0) {
        quantity(row->measured_s, measured, sizeof measured);
        if (row->sure)
            snprintf(interval, sizeof interval, "%s .. %s",
                     quantity(row->measured_low_s, low, sizeof low),
                     quantity(row->measured_high_s, high, sizeof high));
        else
            snprintf(interval, sizeof interval, "not known of %d visit%s", row->n_visits,
                     row->n_visits == 1 ? "" : "s");
    }
    if (!row->reasons) quantity(row->predicted_s, predicted, sizeof predicted);
    if (row->n_samples > 0 && !row->reasons)
        snprintf(error, sizeof error, "%+.1f %%", 100 * row->error);
    if (row->predicted_place > 0)
        snprintf(order, sizeof order, "%d / %d", row->predicted_place, row->measured_place);
    fr_text_addf(text, NUMBERS, measured, interval, predicted, error, order);
    fr_end_line(text);
    print_off(text, row);
}

/* A best of some of a group is no best of it. */
static void print_open(struct fr_text *text, const struct fr_validation *v, int first) {
    int members = 0, run = 0;
    for (int i = first; i < v->n_rows; i++) {
        const struct fr_validate_row *row = &v->rows[i];
        if (*row->refused || strcmp(row->run.group, v->rows[first].run.group) != 0) continue;
        members++;
        run += row->n_samples > 0;
    }
    if (members > 1)
        fr_text_addf(text, "  %d of %d were run: which is best is not known\n", run, members);
}

/* The choice that a user of the predictions would have made in the group of row @p first. */
static void print_choice(struct fr_text *text, const struct fr_validation *v, int first) {
    const struct fr_validate_row *predicted = NULL, *measured = NULL;
    int n = 0;
    if (!v->rows[first].whole) {
        print_open(text, v, first);
        return;
    }
    for (int i = first; i < v->n_rows; i++) {
        const struct fr_validate_row *row = &v->rows[i];
        if (strcmp(row->run.group, v->rows[first].run.group) != 0 || row->reasons ||
            row->n_samples == 0)
            continue;
        n++;
        if (!predicted || row->predicted_s < predicted->predicted_s) predicted = row;
        if (!measured || row->measured_s < measured->measured_s) measured = row;
    }
    if (n < 2) return;
    struct fr_text line = {0};
    fr_text_addf(&line, "predicted best %s; measured best %s: regret %.1f %%",
                 predicted->run.label, measured->run.label,
                 100 * (predicted->measured_s / measured->measured_s - 1));
    fr_text_addf(text, "  ");
    fr_wrap(text, fr_text_get(&line), 2, 4, FR_COLUMNS);
    fr_end_line(text);
    fr_text_free(&line);
}

static bool first_of_group(const struct fr_validation *v, int i) {
    for (int j = 0; j < i; j++)
        if (strcmp(v->rows[j].run.group, v->rows[i].run.group) == 0) return false;
    return true;
}

/* Loops that the calibration timed too, beside the runs. */
static void print_drift(struct fr_text *text, const char *what,
                        const struct fr_validate_drift *d) {
    if (d->n > 0)
        fr_text_addf(text, "%s %.2f (%.2f .. %.2f)", what, d->median, d->low, d->high);
}

/* @param most  for products a seventh more; for memory more than the factor of two that processes
 *              draw with their pages (calibrate/fit/working_sets.c) */
static bool has_changed(const struct fr_validate_drift *d, double most) {
    return d->n > 0 && (d->median > most || d->median < 1 / most);
}

static void print_machine(struct fr_text *text, const struct fr_validation *v) {
    static const double PRODUCTS = 1.15, MEMORY = 2.2;
    if (v->products.n + v->memory.n == 0) return;
    struct fr_text line = {0};
    fr_text_addf(&line, "times its calibration, meanwhile:");
    print_drift(&line, " products", &v->products);
    print_drift(&line, v->products.n > 0 ? ", memory" : " memory", &v->memory);
    fr_wrap_head(text, "machine", fr_text_get(&line), FR_COLUMNS);
    fr_text_free(&line);
    if (has_changed(&v->products, PRODUCTS) || has_changed(&v->memory, MEMORY))
        fr_wrap_head(text, "",
                     "it is not as it was calibrated: something else runs now, or ran then; "
                     "calibrate again",
                     FR_COLUMNS);
}

/* Rows on which nothing is claimed. */
static void print_not_run(struct fr_text *text, const struct fr_validation *v) {
    struct fr_text line = {0};
    if (v->n_not_run == 0) return;
    fr_text_addf(&line, "%d of %d configurations: nothing is said of them", v->n_not_run,
                 v->n_run + v->n_not_run);
    if (v->n_open > 0)
        fr_text_addf(&line, ", nor which is best in the %d choice%s that lack%s some of theirs",
                     v->n_open, v->n_open == 1 ? "" : "s", v->n_open == 1 ? "s" : "");
    fr_text_addf(&line, "; --resume goes on with them");
    fr_wrap_head(text, "not run", fr_text_get(&line), FR_COLUMNS);
    fr_text_free(&line);
}

static void print_floor(struct fr_text *text, const struct fr_validation *v) {
    char floor[200] = "not known: nothing was visited twice, so what the machine changes by "
                      "itself is in the error, and in the regret, too";
    if (isfinite(v->floor))
        snprintf(floor, sizeof floor,
                 "%.1f %%: by so much a configuration's earlier half misses its later half; "
                 "the error is %.1f times that",
                 100 * v->floor, v->median_error / fmax(v->floor, 1e-9));
    fr_wrap_head(text, "floor", floor, FR_COLUMNS);
}

static void print_totals(struct fr_text *text, const struct fr_cluster *cluster,
                         const struct fr_validation *v) {
    struct fr_text line = {0};
    fr_text_addf(&line, "predictions ");
    fr_validate_judge(cluster, v, &line);
    fr_text_addf(text, "\n");
    fr_wrap(text, fr_text_get(&line), 0, 0, FR_COLUMNS);
    fr_end_line(text);
    fr_text_free(&line);
    if (v->n_scored == 0) {
        print_not_run(text, v);
        return;
    }
    fr_text_addf(text,
                 "error      median %.1f %%, 90th percentile %.1f %% (%d configurations)\n",
                 100 * v->median_error, 100 * v->p90_error, v->n_scored);
    print_floor(text, v);
    print_not_run(text, v);
    fr_text_addf(text, "intervals  of prediction and measurement meet in %.0f %%\n",
                 100 * v->coverage);
    print_machine(text, v);
    if (isfinite(v->rank_correlation))
        fr_text_addf(text, "order      Kendall's tau %.3f\n", v->rank_correlation);
    if (v->n_groups > 0)
        fr_text_addf(text, "regret     median %.1f %%, worst %.1f %% (%d choices)\n",
                     100 * v->regret, 100 * v->regret_worst, v->n_groups);
}

/* Name and source of the cluster, and what its calibration says of itself. */
static void print_cluster(struct fr_text *text, const struct fr_cluster *cluster) {
    struct fr_text line = {0}, message = {0};
    fr_text_addf(&line, "%s%s%s%s", *cluster->name ? cluster->name : "unnamed",
                 *cluster->source ? " (" : "", cluster->source, *cluster->source ? ")" : "");
    fr_wrap_head(text, "cluster", fr_text_get(&line), FR_COLUMNS);
    if (*cluster->calibration.verdict) {
        fr_calibration_tell(&cluster->calibration, &message);
        fr_wrap_head(text, "", fr_text_get(&message), FR_COLUMNS);
    }
    fr_render_software(text, cluster, FR_COLUMNS);
    fr_text_free(&line);
    fr_text_free(&message);
}

void fr_validation_print(struct fr_text *text, const struct fr_cluster *cluster,
                         const struct fr_validation *v) {
    print_cluster(text, cluster);
    for (int i = 0; i < v->n_rows; i++) {
        if (!first_of_group(v, i)) continue;
        fr_text_addf(text, "\n%s%s\n" NUMBERS "\n", v->rows[i].run.group,
                     v->rows[i].scored ? "" : "   (more ranks than cores: shown, not scored)",
                     "measured", "95 % of the median", "predicted", "error", "order");
        for (int j = i; j < v->n_rows; j++)
            if (strcmp(v->rows[j].run.group, v->rows[i].run.group) == 0)
                print_row(text, &v->rows[j]);
        print_choice(text, v, i);
    }
    print_totals(text, cluster, v);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void json_terms(struct fr_json_writer *w, const char *key, bool known,
                       const double term_s[FR_TERM_COUNT]) {
    char name[32];
    fr_json_key(w, key);
    if (!known) {
        fr_json_put_null(w);
        return;
    }
    fr_json_begin_object(w);
    for (int t = 0; t < FR_TERM_COUNT; t++) {
        snprintf(name, sizeof name, "%s_s", fr_term_names[t]);
        fr_json_add_number(w, name, term_s[t]);
    }
    fr_json_end_object(w);
}

static void json_drift(struct fr_json_writer *w, const char *key,
                       const struct fr_validate_drift *d) {
    fr_json_key(w, key);
    if (d->n == 0) {
        fr_json_put_null(w);
        return;
    }
    fr_json_begin_object(w);
    fr_json_add_integer(w, "timings", d->n);
    fr_json_add_number(w, "ratio", d->median);
    fr_json_add_interval(w, "ratio", d->low, d->high);
    fr_json_end_object(w);
}

static void json_machine(struct fr_json_writer *w, const struct fr_validation *v) {
    fr_json_add_object(w, "machine");
    json_drift(w, "products", &v->products);
    json_drift(w, "memory", &v->memory);
    fr_json_end_object(w);
}

static void json_judgement(struct fr_json_writer *w, const struct fr_cluster *cluster,
                           const struct fr_validation *v) {
    struct fr_text sentence = {0};
    fr_confirmation confirmed = fr_validate_confirmed(cluster, v);
    fr_json_key(w, "confirmed");
    if (confirmed == FR_NOT_JUDGED)
        fr_json_put_null(w);
    else
        fr_json_put_bool(w, confirmed == FR_CONFIRMED);
    fr_validate_judge(cluster, v, &sentence);
    fr_json_add_string(w, "judgement", fr_text_get(&sentence));
    w->text->failed = w->text->failed || sentence.failed;
    fr_text_free(&sentence);
}

static void json_row(struct fr_json_writer *w, const struct fr_validate_row *row) {
    bool measured = row->n_samples > 0, predicted = !row->reasons;
    fr_json_begin_object(w);
    fr_json_add_object(w, "configuration");
    fr_json_add_string(w, "app", row->run.app);
    fr_json_add_string(w, "group", row->run.group);
    fr_json_add_string(w, "label", row->run.label);
    fr_json_add_integer(w, "ranks", row->run.ranks);
    fr_json_add_string(w, "model", row->run.model);
    fr_json_add_string(w, "plan", row->run.plan);
    fr_json_end_object(w);
    fr_json_key(w, "refused");
    if (*row->refused)
        fr_json_put_string(w, row->refused);
    else
        fr_json_put_null(w);
    fr_json_add_bool(w, "scored", row->scored);
    fr_json_add_integer(w, "samples", row->n_samples);
    fr_json_add_number(w, "measured_s", measured ? row->measured_s : NAN);
    fr_json_add_interval(w, "measured_s", row->sure ? row->measured_low_s : NAN,
                         row->sure ? row->measured_high_s : NAN);
    fr_json_add_number(w, "predicted_s", predicted ? row->predicted_s : NAN);
    fr_json_add_interval(w, "predicted_s", predicted ? row->predicted_low_s : NAN,
                         predicted ? row->predicted_high_s : NAN);
    fr_json_add_number(w, "error", measured && predicted ? row->error : NAN);
    fr_json_add_number(w, "predicted_place",
                       row->predicted_place ? (double)row->predicted_place : NAN);
    fr_json_add_number(w, "measured_place",
                       row->measured_place ? (double)row->measured_place : NAN);
    fr_json_add_number(w, "measured_J", row->measured_J);
    fr_json_add_number(w, "predicted_J", predicted ? row->predicted_J : NAN);
    fr_json_add_bool(w, "extrapolated", row->extrapolated);
    json_terms(w, "measured_terms", row->profiled, row->measured_term_s);
    json_terms(w, "predicted_terms", predicted, row->predicted_term_s);
    fr_json_key(w, "off");
    if (row->off < 0)
        fr_json_put_null(w);
    else
        fr_json_put_string(w, fr_term_names[row->off]);
    fr_json_end_object(w);
}

void fr_validation_json(struct fr_text *text, const struct fr_cluster *cluster, const char *app,
                        const struct fr_validation *v) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/validate/1");
    fr_json_add_string(&w, "app", app ? app : "all");
    fr_json_add_string(&w, "version", fr_version);
    fr_json_add_string(&w, "cluster", cluster->name);
    fr_json_add_string(&w, "cluster_source", cluster->source);
    fr_runtime_put(cluster, &w);
    fr_calibration_put(&cluster->calibration, &w);
    fr_json_add_array(&w, "rows");
    for (int i = 0; i < v->n_rows; i++) json_row(&w, &v->rows[i]);
    fr_json_end_array(&w);
    fr_json_add_integer(&w, "scored", v->n_scored);
    fr_json_add_number(&w, "median_error", v->median_error);
    fr_json_add_number(&w, "p90_error", v->p90_error);
    fr_json_add_number(&w, "floor", v->floor);
    fr_json_add_number(&w, "coverage", v->coverage);
    fr_json_add_number(&w, "rank_correlation", v->rank_correlation);
    fr_json_add_integer(&w, "not_run", v->n_not_run);
    fr_json_add_integer(&w, "choices", v->n_groups);
    fr_json_add_integer(&w, "choices_open", v->n_open);
    fr_json_add_number(&w, "regret", v->regret);
    fr_json_add_number(&w, "regret_worst", v->regret_worst);
    json_machine(&w, v);
    json_judgement(&w, cluster, v);
    fr_json_end_object(&w);
}

/* ---- CSV ----------------------------------------------------------------------------------- */

static void csv_number(struct fr_text *text, bool known, double value) {
    char out[40];
    fr_text_addf(text, ",%s", known ? fr_number_write(value, out, sizeof out) : "");
}

static void csv_quoted(struct fr_text *text, const char *words) {
    fr_text_addf(text, ",%s", *words ? "\"" : "");
    for (const char *at = words; *at; at++)
        fr_text_addf(text, "%s%c", *at == '"' ? "\"" : "", *at);
    fr_text_addf(text, "%s", *words ? "\"" : "");
}

void fr_validation_csv(struct fr_text *text, const struct fr_validation *v) {
    fr_text_addf(text, "app,group,label,ranks,scored,samples,measured_s,measured_low_s,"
                       "measured_high_s,predicted_s,predicted_low_s,predicted_high_s,error");
    for (int t = 0; t < 2 * FR_TERM_COUNT; t++)
        fr_text_addf(text, ",%s_%s_s", t < FR_TERM_COUNT ? "measured" : "predicted",
                     fr_term_names[t % FR_TERM_COUNT]);
    fr_text_addf(text, ",off,predicted_place,measured_place,refused\r\n");
    for (int i = 0; i < v->n_rows; i++) {
        const struct fr_validate_row *row = &v->rows[i];
        bool measured = row->n_samples > 0, predicted = !row->reasons;
        fr_text_addf(text, "%s,%s,\"%s\",%" PRId64 ",%d,%d", row->run.app, row->run.group,
                     row->run.label, row->run.ranks, row->scored, row->n_samples);
        csv_number(text, measured, row->measured_s);
        csv_number(text, row->sure, row->measured_low_s);
        csv_number(text, row->sure, row->measured_high_s);
        csv_number(text, predicted, row->predicted_s);
        csv_number(text, predicted, row->predicted_low_s);
        csv_number(text, predicted, row->predicted_high_s);
        csv_number(text, measured && predicted, row->error);
        for (int t = 0; t < FR_TERM_COUNT; t++)
            csv_number(text, row->profiled, row->measured_term_s[t]);
        for (int t = 0; t < FR_TERM_COUNT; t++)
            csv_number(text, predicted, row->predicted_term_s[t]);
        fr_text_addf(text, ",%s", row->off < 0 ? "" : fr_term_names[row->off]);
        csv_number(text, row->predicted_place > 0, row->predicted_place);
        csv_number(text, row->measured_place > 0, row->measured_place);
        csv_quoted(text, row->refused);
        fr_text_addf(text, "\r\n");
    }
}
