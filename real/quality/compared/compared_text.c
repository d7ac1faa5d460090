#include "real/quality/compared/compared_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/text/wrap.h"
#include "base/units.h"
#include "real/quality/compared/known.h"

static void add_head(struct fr_text *text, const struct fr_qualities *q) {
    const struct fr_quality_options *o = &q->options;
    char line[4 * FR_PLAN_LINE];
    snprintf(line, sizeof line,
             "%s on %s, %" PRId64 " ranks: %" PRId64 " steps of %" PRId64 " samples, %" PRId64
             " seed%s, prices of %s",
             q->job.model_from, o->corpus, o->launch.n_ranks, o->steps,
             fr_job_batch(&q->job, &q->job.plan), o->seeds, o->seeds == 1 ? "" : "s",
             q->job.cluster_from);
    fr_wrap(text, line, 0, 0, FR_COLUMNS);
    fr_end_line(text);
    if (isfinite(q->entropy))
        fr_text_addf(text,
                     "entropy of the language, below which no loss gets: %.4f nat a token\n",
                     q->entropy);
    if (isfinite(o->target))
        fr_text_addf(text, "loss to reach: %.4f %s, on held-out samples\n", o->target,
                     fr_quality_unit(q));
    fr_text_addf(text, "means over seeds with their 95 %% intervals\n\n");
}

static const char *range(const char *form, struct fr_quality_mean m, char *out,
                         size_t capacity) {
    char low[24] = "-", high[24] = "-";
    snprintf(out, capacity, "-");
    if (!isfinite(m.low)) return out;
    snprintf(low, sizeof low, form, m.low);
    snprintf(high, sizeof high, form, m.high);
    snprintf(out, capacity, "%s .. %s", low, high);
    return out;
}

static const char *number(const char *form, double value, char *out, size_t capacity) {
    snprintf(out, capacity, "-");
    if (isfinite(value)) snprintf(out, capacity, form, value);
    return out;
}

/* Below its numbers. */
static void add_plan(struct fr_text *text, const char *label) {
    enum { PLAN = 11 };
    fr_text_addf(text, "\n%*s", PLAN, "");
    fr_wrap_list(text, label, PLAN, PLAN, FR_COLUMNS);
    fr_end_line(text);
}

static void add_losses(struct fr_text *text, const struct fr_qualities *q) {
    fr_text_addf(text, "%9s  %-18s %8s %9s  %s\n", "loss", "interval", "+entropy", "rate",
                 "rates tried");
    for (int i = 0; i < q->found.n_rows; i++) {
        const struct fr_quality_row *row = &q->found.rows[i];
        char loss[24], interval[48], over[24], rate[24], tried[48];
        double most = row->n_tried > 0 ? row->tried[row->n_tried - 1] : NAN;
        const struct fr_quality_mean rates = {0, row->n_tried > 0 ? row->tried[0] : NAN, most};
        number("%.4f", row->loss.mean, loss, sizeof loss);
        range("%.4f", row->loss, interval, sizeof interval);
        number("%.1f %%", 100 * (row->loss.mean / q->entropy - 1), over, sizeof over);
        number("%.4g", row->rate, rate, sizeof rate);
        range("%.3g", rates, tried, sizeof tried);
        fr_text_addf(text, "%9s  %-18s %8s %9s  %s", loss, interval, over, rate, tried);
        add_plan(text, q->plans[i].label);
    }
}

static void add_quantity(struct fr_text *text, double value, fr_quantity quantity) {
    char word[40] = "-";
    if (isfinite(value)) fr_quantity_format(value, quantity, word, sizeof word);
    fr_text_addf(text, "%12s", word);
}

static void add_costs(struct fr_text *text, const struct fr_qualities *q) {
    fr_text_addf(text, "\n%9s  %-18s %12s %11s %11s %7s\n", "steps", "interval", "an iteration",
                 "to the loss", "energy", "bytes");
    for (int i = 0; i < q->found.n_rows; i++) {
        const struct fr_quality_row *row = &q->found.rows[i];
        const struct fr_outcome *cost = &q->plans[i].cost;
        char steps[24], interval[48], share[24];
        number("%.0f", row->steps.mean, steps, sizeof steps);
        range("%.0f", row->steps, interval, sizeof interval);
        if (row->n_reached < row->n_seeds)
            snprintf(interval, sizeof interval, "%d of %d seed%s", row->n_reached, row->n_seeds,
                     row->n_seeds == 1 ? "" : "s");
        fr_text_addf(text, "%9s  %-18s", steps, interval);
        add_quantity(text, cost->time_s, FR_QUANTITY_TIME);
        add_quantity(text, row->steps.mean * cost->time_s, FR_QUANTITY_TIME);
        add_quantity(text, row->steps.mean * cost->energy_J, FR_QUANTITY_ENERGY);
        number("%.1f %%", 100 * fr_quality_sent_share(q, i), share, sizeof share);
        fr_text_addf(text, " %7s", share);
        add_plan(text, q->plans[i].label);
    }
}

static void add_pair(struct fr_text *text, const struct fr_qualities *q,
                     const struct fr_quality_pair *pair) {
    char sentence[2 * FR_PLAN_LINE];
    fr_text_addf(text, "  ");
    fr_wrap(text, fr_quality_sentence(q, pair, sentence, sizeof sentence), 2, 4, FR_COLUMNS);
    fr_end_line(text);
}

static void add_apart(struct fr_text *text, const struct fr_qualities *q) {
    int apart = 0;
    for (int i = 0; i < q->found.n_pairs; i++) apart += q->found.pairs[i].apart;
    if (q->found.n_pairs == 0) return;
    fr_text_addf(text,
                 "\n%d of %d comparisons, seed by seed, tell plans apart (all with 95 %%)%s\n",
                 apart, q->found.n_pairs, apart ? ":" : "");
    for (int i = 0; i < q->found.n_pairs; i++)
        if (q->found.pairs[i].apart) add_pair(text, q, &q->found.pairs[i]);
}

/* Pairs that are not distinguished are many: those with the first plan. */
static void add_alike(struct fr_text *text, const struct fr_qualities *q) {
    bool any = false;
    for (int i = 0; i < q->found.n_pairs; i++) {
        const struct fr_quality_pair *pair = &q->found.pairs[i];
        if (pair->apart || pair->a > 0) continue;
        if (!any) fr_text_addf(text, "\n");
        any = true;
        add_pair(text, q, pair);
    }
}

void fr_render_quality(struct fr_text *text, const struct fr_qualities *q) {
    add_head(text, q);
    add_losses(text, q);
    add_costs(text, q);
    add_apart(text, q);
    add_alike(text, q);
    fr_quality_say_growth(text, q);
}
