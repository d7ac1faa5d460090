#include "answer/search/fits_text.h"

#include <math.h>
#include <stdio.h>

#include "answer/outcome/report.h"
#include "answer/predict/neighbours.h"
#include "answer/text/render.h"
#include "base/text/wrap.h"
#include "models/outcome/fits/fits.h"

static void row(struct fr_text *text, const char *name, double size_B, double low_B,
                double high_B) {
    char value[40], low[40], high[40], note[96] = "";
    if (high_B > size_B)
        snprintf(note, sizeof note, "%s to %s",
                 fr_quantity_format(low_B, FR_QUANTITY_SIZE, low, sizeof low),
                 fr_quantity_format(high_B, FR_QUANTITY_SIZE, high, sizeof high));
    fr_text_addf(text, "  %-22s %14s   %s", name,
                 fr_quantity_format(size_B, FR_QUANTITY_SIZE, value, sizeof value), note);
    fr_end_line(text);
}

void fr_render_fits(struct fr_text *text, const struct fr_job *job,
                    const struct fr_outcome *out) {
    const struct fr_fits f = fr_fits_of(job, out);
    char line[FR_FITS_LINE];
    if (isnan(f.needed_B)) return;
    if (f.shown_B > out->memory_peak_B) {
        row(text, "reserved, at ease", f.reserved_B, f.reserved_low_B, f.reserved_high_B);
        row(text, "shown by the device", f.shown_B, f.shown_low_B, f.shown_high_B);
    }
    fr_text_addf(text, "  %s\n", fr_fits_line(&f, line));
}

void fr_search_fits(struct fr_text *text, const struct fr_searched *r, int columns) {
    const struct fr_outcome *best = &r->result.top.items[0].outcome;
    const struct fr_fits f = fr_fits_of(best->job ? best->job : &r->job, best);
    char line[FR_FITS_LINE];
    if (isfinite(f.needed_B)) fr_wrap_head(text, "memory", fr_fits_line(&f, line), columns);
}

/* An indented paragraph: @p words, which are freed. */
static void tell(struct fr_text *text, struct fr_text *words, int indent, int columns) {
    fr_text_addf(text, "%*s", indent, "");
    fr_wrap_list(text, fr_text_get(words), indent, indent, columns);
    fr_end_line(text);
    fr_text_free(words);
}

/* How it compares with the best, by what is ranked; where nothing is, its time. */
static void say_value(struct fr_text *words, const struct fr_searched *r,
                      const struct fr_outcome *out) {
    char time[40];
    const struct fr_found_list *top = &r->result.top;
    fr_text_addf(words, "%s",
                 fr_render_quantity(out->time_s, FR_QUANTITY_TIME, time, sizeof time));
    if (top->count == 0) return;
    double value = fr_objective_value(r->options.objective, r->result.by, out),
           best =
               fr_objective_value(r->options.objective, r->result.by, &top->items[0].outcome);
    fr_text_addf(words, " (%+.2f %%)", 100 * (value / best - 1));
}

static void say_surer(struct fr_text *text, const struct fr_searched *r,
                      const struct fr_job *job, const struct fr_outcome *out, int columns) {
    struct fr_neighbour surer;
    struct fr_text words = {0};
    char percent[FR_FITS_PERCENT];
    if (!fr_neighbours_surer(job, &r->space, &r->options, r->result.by, out, &surer)) return;
    fr_text_addf(&words, "%s %s makes it sure enough: ", fr_plan_keys[surer.key].name,
                 surer.value);
    say_value(&words, r, &surer.outcome);
    fr_text_addf(&words, ", fits with %s",
                 fr_fits_percent(fr_fits_of(job, &surer.outcome).probability, percent));
    tell(text, &words, 4, columns);
}

static void say_plan(struct fr_text *text, const struct fr_searched *r,
                     const struct fr_outcome *out, int columns) {
    const struct fr_job *job = out->job ? out->job : &r->job;
    const struct fr_fits f = fr_fits_of(job, out);
    char plan[FR_PLAN_LINE], line[FR_FITS_LINE];
    struct fr_text words = {0};
    fr_text_addf(&words, "%s: ", fr_report_outcome_line(out, plan, sizeof plan));
    say_value(&words, r, out);
    fr_text_addf(&words, ", %s", fr_fits_line(&f, line));
    tell(text, &words, 2, columns);
    say_surer(text, r, job, out, columns);
}

void fr_search_less_sure(struct fr_text *text, const struct fr_searched *r, int columns) {
    const struct fr_search_result *result = &r->result;
    char percent[FR_FITS_PERCENT];
    fr_fits_percent(r->options.fit, percent);
    if (result->surest.index >= 0) {
        fr_text_addf(text, "\nno plan fits with %s; the surest:\n", percent);
        say_plan(text, r, &result->surest.outcome, columns);
    }
    if (result->less_sure.count == 0 || !result->top.count) return;
    fr_text_addf(text, "\nbetter, but less sure to fit than %s\n", percent);
    for (size_t i = 0; i < result->less_sure.count; i++)
        say_plan(text, r, &result->less_sure.items[i].outcome, columns);
}
