/* Results of the comparisons: sentences, JSON and CSV. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "base/json/interval.h"
#include "base/text/version.h"
#include "models/job/runtime.h"
#include "real/quality/compared/compared.h"

/* ---- what is said of them -------------------------------------------------------------------- */

struct fr_quality_mean fr_quality_times(struct fr_quality_mean iterations, double cost) {
    return (struct fr_quality_mean){iterations.mean * cost, iterations.low * cost,
                                    iterations.high * cost};
}

const char *fr_quality_unit(const struct fr_qualities *q) {
    return q->corpus.is_regression ? "mean squared error" : "nat a token";
}

double fr_quality_sent_share(const struct fr_qualities *q, int i) {
    double most = 0;
    for (int j = 0; j < q->found.n_rows; j++) most = fmax(most, q->found.rows[j].sent_B);
    return q->found.rows[i].sent_B / most;
}

/* "0.846 .. 1.269"; an interval of two seeds may reach over any number of digits. */
static const char *factors(const struct fr_quality_mean *d, char *out, size_t capacity) {
    const double most = 100;
    if (d->high / d->mean > most)
        snprintf(out, capacity, "more than %g times either way: too few seeds", most);
    else
        snprintf(out, capacity, "%.3f .. %.3f", d->low, d->high);
    return out;
}

const char *fr_quality_sentence(const struct fr_qualities *q,
                                const struct fr_quality_pair *pair, char *out,
                                size_t capacity) {
    const struct fr_quality_mean *d = &pair->d;
    char range[64];
    const char *a = q->plans[pair->a].label, *b = q->plans[pair->b].label;
    if (pair->by == FR_QUALITY_BY_LOSS)
        snprintf(out, capacity, "%s: loss %+.4f (%+.4f .. %+.4f) against %s%s", b, d->mean,
                 d->low, d->high, a, pair->apart ? "" : ": no difference shown");
    else
        snprintf(out, capacity, "%s: iterations x %.3f (%s) against %s%s", b, d->mean,
                 factors(d, range, sizeof range), a,
                 pair->apart ? "" : ": no difference shown");
    return out;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_mean(struct fr_json_writer *w, const char *key, struct fr_quality_mean m) {
    fr_json_add_number(w, key, m.mean);
    fr_json_add_interval(w, key, m.low, m.high);
}

static void json_curve(struct fr_json_writer *w, const struct fr_qualities *q,
                       const struct fr_quality_row *row, const struct fr_outcome *cost) {
    int n = fr_quality_points(&q->options);
    fr_json_add_array(w, "curve");
    for (int i = 0; i < n; i++) {
        fr_json_begin_object(w);
        double iteration = (double)(i * q->options.every);
        fr_json_add_number(w, "iteration", iteration);
        fr_json_add_number(w, "time_s", iteration * cost->time_s);
        fr_json_add_number(w, "energy_J", iteration * cost->energy_J);
        json_mean(w, "loss", row->curve[i]);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

static void json_rates(struct fr_json_writer *w, const struct fr_quality_row *row) {
    fr_json_add_number(w, "rate", row->rate);
    fr_json_add_array(w, "rates");
    for (int i = 0; i < row->n_tried; i++) {
        fr_json_begin_object(w);
        fr_json_add_number(w, "rate", row->tried[i]);
        fr_json_add_number(w, "loss", row->tried_loss[i]);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

static void json_seeds(struct fr_json_writer *w, const struct fr_qualities *q,
                       const struct fr_quality_row *row) {
    fr_json_add_integer(w, "seeds", row->n_seeds);
    fr_json_add_integer(w, "reached", row->n_reached);
    fr_json_add_array(w, "by_seed");
    for (int64_t i = 0; i < q->options.seeds; i++) {
        fr_json_begin_object(w);
        fr_json_add_integer(w, "seed", i + 1);
        fr_json_add_number(w, "loss", row->loss_of[i]);
        fr_json_add_number(w, "iterations", row->iterations_of[i]);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

static void json_observed(struct fr_json_writer *w, const struct fr_quality_row *row) {
    fr_json_add_array(w, "observed");
    for (int i = 0; i < row->n_observed; i++) {
        const struct fr_quality_observed *o = &row->observed[i];
        fr_json_begin_object(w);
        fr_json_add_integer(w, "rank", o->rank);
        fr_json_add_number(w, "kept", o->kept);
        fr_json_add_number(w, "lazy", o->lazy);
        for (int k = 0; k < FR_QUALITY_OBSERVED_COUNT; k++) {
            fr_json_add_array(w, fr_quality_observed_names[k]);
            for (int m = 0; m < o->n_micro; m++) fr_json_put_number(w, o->micro[k][m]);
            fr_json_end_array(w);
        }
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

static void json_row(struct fr_json_writer *w, const struct fr_qualities *q, int i) {
    const struct fr_quality_row *row = &q->found.rows[i];
    const struct fr_quality_plan *plan = &q->plans[i];
    fr_json_begin_object(w);
    fr_json_add_string(w, "label", plan->label);
    fr_json_key(w, "plan");
    fr_plan_write(w, &plan->cost.plan);
    json_rates(w, row);
    json_mean(w, "loss", row->loss);
    fr_json_add_number(w, "over_entropy", row->loss.mean / q->entropy - 1);
    json_mean(w, "iterations", row->steps);
    json_seeds(w, q, row);
    fr_json_add_number(w, "sent_B", row->sent_B);
    fr_json_add_number(w, "sent_share", fr_quality_sent_share(q, i));
    fr_json_add_number(w, "compression_ratio", 1 / fr_quality_sent_share(q, i));
    fr_json_add_number(w, "iteration_time_s", plan->cost.time_s);
    fr_json_add_number(w, "iteration_energy_J", plan->cost.energy_J);
    json_mean(w, "time_to_loss_s", fr_quality_times(row->steps, plan->cost.time_s));
    json_mean(w, "energy_to_loss_J", fr_quality_times(row->steps, plan->cost.energy_J));
    json_observed(w, row);
    json_curve(w, q, row, &plan->cost);
    fr_json_end_object(w);
}

static void json_pair(struct fr_json_writer *w, const struct fr_qualities *q,
                      const struct fr_quality_pair *pair) {
    char sentence[2 * FR_PLAN_LINE];
    bool loss = pair->by == FR_QUALITY_BY_LOSS;
    fr_json_begin_object(w);
    fr_json_add_integer(w, "a", pair->a);
    fr_json_add_integer(w, "b", pair->b);
    fr_json_add_string(w, "by", loss ? "loss" : "iterations");
    json_mean(w, loss ? "difference" : "ratio", pair->d);
    fr_json_add_integer(w, "seeds", pair->n);
    fr_json_add_bool(w, "apart", pair->apart);
    fr_json_add_string(w, "sentence", fr_quality_sentence(q, pair, sentence, sizeof sentence));
    fr_json_end_object(w);
}

void fr_qualities_json(struct fr_text *text, const struct fr_qualities *q) {
    const struct fr_quality_options *o = &q->options;
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/quality/1");
    fr_json_add_string(&w, "version", fr_version);
    fr_json_add_string(&w, "corpus", o->corpus);
    fr_json_add_number(&w, "entropy", q->entropy);
    fr_json_add_number(&w, "target_loss", o->target);
    fr_json_add_string(&w, "loss_unit", fr_quality_unit(q));
    fr_json_add_string(&w, "model", q->job.model_from);
    fr_json_add_string(&w, "cluster", q->job.cluster_from);
    fr_json_add_string(&w, "cluster_source", q->job.cluster.source);
    fr_runtime_put(&q->job.cluster, &w);
    fr_json_add_integer(&w, "ranks", o->launch.n_ranks);
    fr_json_add_integer(&w, "global_batch", fr_job_batch(&q->job, &q->job.plan));
    fr_json_add_integer(&w, "steps", o->steps);
    fr_json_add_integer(&w, "every", o->every);
    fr_json_add_integer(&w, "held_out", o->held_out);
    fr_json_add_number(&w, "confidence", 0.95);
    fr_json_add_number(&w, "pair_confidence", q->found.confidence);
    fr_json_add_array(&w, "rows");
    for (int i = 0; i < q->found.n_rows; i++) json_row(&w, q, i);
    fr_json_end_array(&w);
    fr_json_add_array(&w, "pairs");
    for (int i = 0; i < q->found.n_pairs; i++) json_pair(&w, q, &q->found.pairs[i]);
    fr_json_end_array(&w);
    fr_json_end_object(&w);
    fr_text_add(text, "\n", 1);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void csv_number(struct fr_text *text, double value, char end) {
    char number[32];
    if (isfinite(value))
        fr_text_addf(text, "%s", fr_number_write(value, number, sizeof number));
    fr_text_addf(text, "%c", end);
}

void fr_qualities_csv(struct fr_text *text, const struct fr_qualities *q) {
    int n = fr_quality_points(&q->options);
    fr_text_addf(text, "plan,rate,iteration,loss,loss_low,loss_high,time_s,energy_J\n");
    for (int i = 0; i < q->found.n_rows; i++)
        for (int j = 0; j < n; j++) {
            const struct fr_quality_row *row = &q->found.rows[i];
            const struct fr_outcome *cost = &q->plans[i].cost;
            double iteration = (double)(j * q->options.every);
            fr_csv_put(text, q->plans[i].label);
            fr_text_addf(text, ",");
            csv_number(text, row->rate, ',');
            csv_number(text, iteration, ',');
            csv_number(text, row->curve[j].mean, ',');
            csv_number(text, row->curve[j].low, ',');
            csv_number(text, row->curve[j].high, ',');
            csv_number(text, iteration * cost->time_s, ',');
            csv_number(text, iteration * cost->energy_J, '\n');
        }
}
