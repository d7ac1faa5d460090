#include "answer/search/search_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/outcome/report.h"
#include "answer/search/choice/even.h"
#include "answer/text/even.h"
#include "answer/text/fact_lines.h"
#include "answer/text/render.h"
#include "base/text/wrap.h"

enum { CELL = 40, PLAN_AT_LEAST = 34, PLAN_BELOW = 5 };

typedef const char *cell_fn(const struct fr_searched *r, const struct fr_outcome *out,
                            char *cell);
typedef bool shown_fn(const struct fr_search_table *t);

/* ---- columns ----------------------------------------------------------------------------------- */

static const char *batch(const struct fr_searched *r, const struct fr_outcome *out,
                         char *cell) {
    (void)r;
    snprintf(cell, CELL, "%.0f", fr_search_samples(out));
    return cell;
}

static bool per_sample(const struct fr_searched *r) { return r->result.by == FR_RANK_SAMPLE; }

/* To the loss; ranked by samples, of one. */
static const char *whole_time(const struct fr_searched *r, const struct fr_outcome *out,
                              char *cell) {
    return fr_render_quantity(per_sample(r) ? out->time_s / fr_search_samples(out)
                                            : out->total_time_s,
                              FR_QUANTITY_TIME, cell, CELL);
}

static const char *whole_energy(const struct fr_searched *r, const struct fr_outcome *out,
                                char *cell) {
    return fr_render_quantity(per_sample(r) ? out->energy_J / fr_search_samples(out)
                                            : out->total_energy_J,
                              FR_QUANTITY_ENERGY, cell, CELL);
}

static const char *memory(const struct fr_searched *r, const struct fr_outcome *out,
                          char *cell) {
    (void)r;
    return fr_render_quantity(out->memory_peak_B, FR_QUANTITY_SIZE, cell, CELL);
}

static const char *lossy(const struct fr_searched *r, const struct fr_outcome *out,
                         char *cell) {
    (void)r;
    int used = snprintf(cell, CELL, "%.0f, %.0f", 100 * out->lossy_gradient,
                        100 * out->lossy_backward);
    if (out->lossy_forward > 0)
        snprintf(cell + used, CELL - (size_t)used, ", %.0f", 100 * out->lossy_forward);
    return cell;
}

static const char *even(const struct fr_searched *r, const struct fr_outcome *out, char *cell) {
    struct fr_outcome own = *out;
    fr_even_state(r, &own);
    return fr_even_cell(&own, cell, CELL);
}

static bool ranks_differ(const struct fr_search_table *t) { return t->survey->several_ranks; }
static bool batches_differ(const struct fr_search_table *t) {
    return fr_space_has_batches(&t->r->space);
}
static bool has_power(const struct fr_search_table *t) {
    return t->r->job.cluster.device.power.known;
}
static bool has_whole(const struct fr_search_table *t) {
    return per_sample(t->r) || t->survey->total;
}
static bool whole_has_power(const struct fr_search_table *t) {
    return has_whole(t) && has_power(t);
}
static bool any_lossy(const struct fr_search_table *t) { return t->survey->lossy; }

static bool any_even(const struct fr_search_table *t) { return t->survey->even; }

/* In the order they stand; over is what two of them stand under. */
static const struct column {
    const char *head, *over, *over_samples;
    int width;
    shown_fn *shown; /* NULL: always */
    int fact;        /* FR_OUTCOME_...; or, where it is none */
    cell_fn *cell;
} columns[] = {
    {"ranks", "", "", 6, ranks_differ, FR_OUTCOME_ranks, NULL},
    {"batch", "", "", 7, batches_differ, 0, batch},
    {"time", "an", "an", 10, NULL, FR_OUTCOME_iteration_time_s, NULL},
    {"energy", "iteration", "iteration", 10, has_power, FR_OUTCOME_iteration_energy_J, NULL},
    {"time", "to the", "a", 10, has_whole, 0, whole_time},
    {"energy", "loss", "sample", 10, whole_has_power, 0, whole_energy},
    {"memory", "", "", 10, NULL, 0, memory},
    {"lossy %", "", "", 9, any_lossy, 0, lossy},
    {"even at", "", "", 9, any_even, 0, even},
};
enum { COLUMNS = sizeof columns / sizeof *columns, NUMBER = 3, MARKS = 3 };

static bool is_shown(const struct fr_search_table *t, int i) {
    return !columns[i].shown || columns[i].shown(t);
}

/* Column of the screen where what is said of the plan begins. */
static int plan_at(const struct fr_search_table *t) {
    int at = NUMBER + MARKS;
    for (int i = 0; i < COLUMNS; i++) at += is_shown(t, i) ? columns[i].width : 0;
    return at;
}

/* Too narrow for the longest: on lines of its own. */
static bool below(const struct fr_search_table *t) {
    const int width = t->columns - plan_at(t);
    const size_t most = t->survey->longest - fr_plan_common_length(&t->survey->common);
    return width < PLAN_AT_LEAST && most > (size_t)(width > 0 ? width : 0);
}

/* ---- rows -------------------------------------------------------------------------------------- */

void fr_search_survey_add(struct fr_search_survey *s, const struct fr_outcome *out) {
    if (s->common.plans == 0) s->ranks = out->ranks;
    s->several_ranks = s->several_ranks || out->ranks != s->ranks;
    s->total = s->total || isfinite(out->total_time_s);
    s->lossy = s->lossy || fr_outcome_lossy(out) > 0;
    s->even = s->even || out->break_even_iterations > 0;
    char line[FR_PLAN_LINE];
    size_t length = strlen(fr_report_outcome_line(out, line, sizeof line));
    if (length > s->longest) s->longest = length;
    fr_plan_common_add(&s->common, &out->plan);
}

void fr_search_table_head(const struct fr_search_table *t, const char *title) {
    fr_text_addf(t->text, "\n");
    if (below(t)) fr_text_addf(t->text, "%s\n", title);
    if (has_whole(t)) {
        fr_text_addf(t->text, "%*s", NUMBER, "");
        for (int i = 0; i < COLUMNS; i++)
            if (is_shown(t, i))
                fr_text_addf(t->text, "%*s", columns[i].width,
                             per_sample(t->r) ? columns[i].over_samples : columns[i].over);
        fr_end_line(t->text);
    }
    fr_text_addf(t->text, "%*s", NUMBER, "#");
    for (int i = 0; i < COLUMNS; i++)
        if (is_shown(t, i)) fr_text_addf(t->text, "%*s", columns[i].width, columns[i].head);
    fr_text_addf(t->text, "%*s%s", MARKS, "", below(t) ? "" : title);
    fr_end_line(t->text);
}

void fr_search_table_row(struct fr_search_table *t, size_t i, const struct fr_outcome *out) {
    char cell[CELL], plan[FR_PLAN_LINE];
    struct fr_outcome_view v;
    const char *origin = out->iterations_origin == FR_ITERATIONS_INTERPOLATED ? "i"
                         : out->iterations_origin == FR_ITERATIONS_SCALED     ? "s"
                         : out->iterations_origin == FR_ITERATIONS_LAW        ? "l"
                                                                              : "";
    snprintf(cell, sizeof cell, " %s%s", origin, out->extrapolated ? "x" : "");
    char marks[CELL];
    snprintf(marks, sizeof marks, "%-*s", MARKS, cell);
    fr_text_addf(t->text, "%*zu", NUMBER, i + 1);
    fr_outcome_view(&t->r->job, out, &v);
    for (int c = 0; c < COLUMNS; c++)
        if (is_shown(t, c))
            fr_text_addf(t->text, "%*s", columns[c].width,
                         columns[c].cell ? columns[c].cell(t->r, out, cell)
                                         : fr_fact_value(&v, columns[c].fact, cell, CELL));
    fr_report_outcome_row(out, fr_plan_common_keys(&t->survey->common), plan, sizeof plan);
    fr_text_addf(t->text, "%s", marks);
    if (below(t)) {
        fr_end_line(t->text);
        fr_text_addf(t->text, "%*s", PLAN_BELOW, "");
    }
    const int at = below(t) ? PLAN_BELOW : plan_at(t);
    fr_wrap_list(t->text, plan, at, at, t->columns);
    fr_end_line(t->text);
    t->interpolated = t->interpolated || out->iterations_origin == FR_ITERATIONS_INTERPOLATED;
    t->scaled = t->scaled || out->iterations_origin == FR_ITERATIONS_SCALED;
    t->by_law = t->by_law || out->iterations_origin == FR_ITERATIONS_LAW;
    t->extrapolated = t->extrapolated || out->extrapolated;
}

void fr_search_table_foot(const struct fr_search_table *t) {
    if (t->interpolated)
        fr_text_addf(t->text, "  i: iterations interpolated between known plans\n");
    if (t->scaled)
        fr_text_addf(t->text,
                     "  s: iterations of another batch, as many samples (\"scaling\")\n");
    if (t->by_law)
        fr_text_addf(t->text, "  l: iterations by a law that was fitted to known plans\n");
    if (t->extrapolated)
        fr_text_addf(t->text, "  x: some input lies outside what was measured\n");
    if (any_lossy(t))
        fr_text_addf(t->text,
                     "  lossy: shares of gradient bytes and of backward messages that go "
                     "compressed\n");
    if (any_even(t))
        fr_text_addf(t->text,
                     "  even at: a lossy plan wins if it needs less than so many times the "
                     "iterations\n  of the best exact plan\n");
}
