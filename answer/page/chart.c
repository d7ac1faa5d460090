#include "answer/page/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/page/plans.h"
#include "answer/page/words.h"
#include "models/plan/method.h"
#include "plots/picture.h"

enum { POINTS_MAX = 2000, BARS_MAX = 8, PARTS_MAX = 24 };

/* Charts of each kind of result.  x, y, colour and name are paths of a row; "list.inner" is a
 * list in each row of another, whose rows have the outer row's members as "^member"; "=flop" and
 * "=flop_per_s" are computed from a product's m, n, k and time. */
static const struct chart {
    const char *kind;
    enum { PICTURE, POINTS, PLANS, PARTS } what;
    const struct fr_figure *figure;
    const char *title, *list;
    const char *x, *y, *axis[2], *colour, *name[3];
    const char *line;      /* member of a plan that is drawn as a line */
    bool log[2];           /* of x, of y */
    bool diagonal, joined; /* the line of equals; points of a colour in order */
} charts[] = {
    {.kind = "search",
     .what = PLANS,
     .figure = &fr_figure_pareto,
     .title = "Time and energy of a step",
     .x = "iteration_time_s",
     .y = "iteration_energy_J",
     .axis = {"time of a step", "energy of a step"},
     .colour = "plan.method"},
    {.kind = "search",
     .what = PLANS,
     .title = "Time of a step and memory of the peak rank",
     .x = "iteration_time_s",
     .y = "memory_B.needed",
     .axis = {"time of a step", "memory that the peak rank needs"},
     .colour = "plan.method",
     .line = "device_memory_B"},
#define FR_PARTS(of, picture)                                                                  \
    {.kind = of,                                                                               \
     .what = PARTS,                                                                            \
     .figure = picture,                                                                        \
     .title = "Where the time of a step goes",                                                 \
     .list = "breakdown_s"},                                                                   \
    {                                                                                          \
        .kind = of, .what = PARTS, .title = "Where the memory of the peak rank goes",          \
        .list = "memory_B", .line = "device_memory_B"                                          \
    }
    FR_PARTS("search", &fr_figure_breakdown),
    {.kind = "search", .figure = &fr_figure_energy_time},
    {.kind = "search", .figure = &fr_figure_frontier},
    {.kind = "search", .figure = &fr_figure_break_even},
    FR_PARTS("outcome", &fr_figure_breakdown),
    FR_PARTS("explain", &fr_figure_breakdown),
    FR_PARTS("training", &fr_figure_breakdown),
    FR_PARTS("simulation", &fr_figure_breakdown),
    FR_PARTS("compare-plans", NULL),
    FR_PARTS("compare-runtimes", NULL),
    {.kind = "clusters", .figure = &fr_figure_clusters},
    FR_PARTS("clusters", NULL),
#undef FR_PARTS
    {.kind = "score",
     .what = POINTS,
     .figure = &fr_figure_score,
     .title = "Measured and predicted time of a step",
     .list = "rows",
     .x = "measured_s",
     .y = "predicted_s",
     .axis = {"measured", "predicted"},
     .colour = "group",
     .name = {"id"},
     .log = {true, true},
     .diagonal = true},
    {.kind = "validate",
     .what = POINTS,
     .figure = &fr_figure_validate,
     .title = "Measured and predicted time of a step",
     .list = "rows",
     .x = "measured_s",
     .y = "predicted_s",
     .axis = {"measured", "predicted"},
     .colour = "configuration.group",
     .name = {"configuration.label"},
     .log = {true, true},
     .diagonal = true},
    {.kind = "collective",
     .what = POINTS,
     .title = "Bus bandwidth over message size",
     .list = "rows",
     .x = "size_B",
     .y = "busbw_B_per_s",
     .axis = {"message size", "bus bandwidth"},
     .colour = "algorithm",
     .name = {"algorithm"},
     .log = {true, false}},
    {.kind = "fit",
     .what = POINTS,
     .figure = &fr_figure_fit,
     .title = "Measured time over message size",
     .list = "series.points",
     .x = "size_B",
     .y = "median_s",
     .axis = {"message size", "median time"},
     .colour = "^op",
     .name = {"^op", "^ranks", "^level"},
     .log = {true, true}},
    {.kind = "fit",
     .what = POINTS,
     .figure = &fr_figure_gemm,
     .title = "Measured rate of matrix products over their work",
     .list = "gemm",
     .x = "=flop",
     .y = "=flop_per_s",
     .axis = {"work", "rate"},
     .colour = "dtype",
     .name = {"m", "n", "k"},
     .log = {true, true}},
    {.kind = "fit",
     .what = POINTS,
     .title = "Roofline: rate over flop of each byte moved",
     .list = "roofline",
     .x = "flop_per_B",
     .y = "rate_flop_per_s",
     .axis = {"flop of each byte", "rate"},
     .colour = "of",
     .name = {"of", "point"},
     .log = {true, true}},
    {.kind = "gemm",
     .what = POINTS,
     .title = "Rate of the product over its inner dimension",
     .list = "rows",
     .x = "k",
     .y = "rate_flop_per_s",
     .axis = {"inner dimension k", "rate"},
     .colour = "",
     .name = {"k"},
     .log = {true, false},
     .joined = true},
    {.kind = "quality",
     .what = POINTS,
     .figure = &fr_figure_quality,
     .title = "Held-out loss over iterations, mean of the seeds",
     .list = "rows.curve",
     .x = "iteration",
     .y = "loss",
     .axis = {"iterations", "held-out loss"},
     .colour = "^label",
     .name = {"^label"},
     .joined = true},
    {.kind = "quality",
     .what = POINTS,
     .title = "Loss reached and bytes sent",
     .list = "rows",
     .x = "sent_B",
     .y = "loss",
     .axis = {"bytes that a rank sends in an iteration", "last held-out loss"},
     .colour = "label",
     .name = {"label", "seeds"}},
    {.kind = "iterations",
     .what = POINTS,
     .figure = &fr_figure_ghost,
     .title = "Iterations to the loss over ghost neurons",
     .list = "rows",
     .x = "ghost",
     .y = "iterations",
     .axis = {"ghost neurons", "iterations to the target loss"},
     .colour = "method",
     .name = {"method", "tp", "ghost"}},
};

/* A chart on its way into JSON. */
struct drawing {
    const struct chart *chart;
    struct fr_json_writer w;
    struct fr_text text;
    int n;
    double line; /* NaN: none */
    /* parts: names in order of appearance, and of each bar the values */
    char bar[BARS_MAX][FR_PAGE_NAME], part[PARTS_MAX][48];
    double value[PARTS_MAX][BARS_MAX];
    int n_parts;
};

/* ---- values of a row --------------------------------------------------------------------------- */

/* Multiplications and additions of a product. */
static double flop_of(const struct fr_json *row) {
    return 2 * fr_json_number_at(row, "m") * fr_json_number_at(row, "n") *
           fr_json_number_at(row, "k");
}

static double number_of(const struct fr_json *row, const char *path) {
    char object[40];
    if (strcmp(path, "=flop") == 0) return flop_of(row);
    if (strcmp(path, "=flop_per_s") == 0)
        return flop_of(row) / fr_json_number_at(row, "median_s");
    const char *dot = strchr(path, '.');
    if (!dot) return fr_json_number_at(row, path);
    snprintf(object, sizeof object, "%.*s", (int)(dot - path), path);
    struct fr_json inner = fr_json_member(row, object);
    return fr_json_number_at(&inner, dot + 1);
}

/* A text, or a number as text, of the row or, with ^, of the row around it. */
static void add_word(const struct fr_json *row, const struct fr_json *outer, const char *path,
                     struct fr_text *out) {
    char object[40];
    if (*path == '^') row = outer, path++;
    const char *dot = strchr(path, '.');
    snprintf(object, sizeof object, "%.*s", dot ? (int)(dot - path) : 0, path);
    struct fr_json inner = dot ? fr_json_member(row, object) : *row;
    if (dot) path = dot + 1;
    double number = fr_json_number_at(&inner, path);
    if (isfinite(number))
        fr_text_addf(out, "%.6g %s", number, path);
    else
        fr_text_addf(out, "%s", fr_json_text_at(&inner, path));
}

/* ---- points ------------------------------------------------------------------------------------ */

static void add_point(struct drawing *d, double x, double y, const char *colour,
                      const char *name) {
    if (!isfinite(x) || !isfinite(y) || d->n >= POINTS_MAX) return;
    if ((d->chart->log[0] && x <= 0) || (d->chart->log[1] && y <= 0)) return;
    d->n++;
    fr_json_begin_array(&d->w);
    fr_json_put_number(&d->w, x);
    fr_json_put_number(&d->w, y);
    fr_json_put_string(&d->w, colour);
    fr_json_put_string(&d->w, name);
    fr_json_end_array(&d->w);
}

static void add_rows(struct drawing *d, const struct fr_json *outer, const char *path) {
    char key[40];
    const char *dot = strchr(path, '.');
    snprintf(key, sizeof key, "%.*s", (int)strcspn(path, "."), path);
    struct fr_json list = fr_json_member(outer, key);
    for (int64_t i = 0; i < fr_json_array_length(&list) && d->n < POINTS_MAX; i++) {
        struct fr_json row = fr_json_element(&list, i);
        struct fr_text colour = {0}, name = {0};
        if (dot) {
            add_rows(d, &row, dot + 1);
            continue;
        }
        add_word(&row, outer, d->chart->colour, &colour);
        for (int k = 0; k < 3 && d->chart->name[k]; k++) {
            if (name.length) fr_text_addf(&name, ", ");
            add_word(&row, outer, d->chart->name[k], &name);
        }
        add_point(d, number_of(&row, d->chart->x), number_of(&row, d->chart->y),
                  fr_text_get(&colour), fr_text_get(&name));
        fr_text_free(&colour), fr_text_free(&name);
    }
}

static void note_line(struct drawing *d, const struct fr_json *outcome) {
    if (d->chart->line && isnan(d->line)) d->line = number_of(outcome, d->chart->line);
}

static void add_plan(const struct fr_json *outcome, const char *name, void *context) {
    struct drawing *d = context;
    struct fr_text colour = {0};
    add_word(outcome, outcome, d->chart->colour, &colour);
    add_point(d, number_of(outcome, d->chart->x), number_of(outcome, d->chart->y),
              fr_text_get(&colour), name);
    note_line(d, outcome);
    fr_text_free(&colour);
}

/* ---- parts ------------------------------------------------------------------------------------- */

/* Sums and what a device shows of them are no parts of memory. */
static bool is_part(const char *key) {
    static const char *const sums[] = {"peak", "reserved", "shown", "needed", NULL};
    return fr_place_in(sums, key) < 0;
}

static int part_called(struct drawing *d, const char *key) {
    for (int i = 0; i < d->n_parts; i++)
        if (strcmp(d->part[i], key) == 0) return i;
    if (d->n_parts == PARTS_MAX) return -1;
    snprintf(d->part[d->n_parts], sizeof *d->part, "%s", key);
    return d->n_parts++;
}

static void add_parts(const struct fr_json *outcome, const char *name, void *context) {
    struct drawing *d = context;
    struct fr_json parts = fr_json_member(outcome, d->chart->list);
    if (d->n == BARS_MAX || !fr_json_is_object(&parts)) return;
    for (const char *key = fr_json_key_after(&parts, NULL); key;
         key = fr_json_key_after(&parts, key)) {
        double value = fr_json_number_at(&parts, key);
        int i = is_part(key) && value > 0 ? part_called(d, key) : -1;
        if (i >= 0) d->value[i][d->n] = value;
    }
    double rest = fr_json_number_at(&parts, "needed") - fr_json_number_at(&parts, "peak");
    int more = rest > 0 ? part_called(d, "allocator and context") : -1;
    if (more >= 0) d->value[more][d->n] = rest;
    snprintf(d->bar[d->n++], sizeof *d->bar, "%s", name);
    note_line(d, outcome);
}

/* As the pictures have them (plots/picture.h); null: the page's own. */
static void put_part_colours(struct drawing *d) {
    fr_json_add_array(&d->w, "colours");
    for (int i = 0; i < d->n_parts; i++) {
        const char *own = fr_picture_colour_of(d->part[i]);
        if (own)
            fr_json_put_string(&d->w, own);
        else
            fr_json_put_null(&d->w);
    }
    fr_json_end_array(&d->w);
}

/* The colours of methods, likewise. */
static void put_group_colours(struct drawing *d) {
    fr_json_add_object(&d->w, "colours");
    for (int i = 0; fr_methods[i]; i++) {
        const char *own = fr_picture_colour_of(fr_methods[i]->name);
        if (own) fr_json_add_string(&d->w, fr_methods[i]->name, own);
    }
    fr_json_end_object(&d->w);
}

static void put_parts(struct drawing *d) {
    fr_json_add_array(&d->w, "bars");
    for (int i = 0; i < d->n; i++) fr_json_put_string(&d->w, d->bar[i]);
    fr_json_end_array(&d->w);
    fr_json_add_array(&d->w, "parts");
    for (int i = 0; i < d->n_parts; i++) {
        struct fr_text words = {0};
        fr_page_words(d->part[i], &words);
        fr_json_begin_array(&d->w);
        fr_json_put_string(&d->w, fr_text_get(&words));
        for (int k = 0; k < d->n; k++) fr_json_put_number(&d->w, d->value[i][k]);
        fr_json_end_array(&d->w);
        fr_text_free(&words);
    }
    fr_json_end_array(&d->w);
    put_part_colours(d);
}

/* ---- charts ------------------------------------------------------------------------------------ */

/* A key ends in the unit of its values; a count has none. */
static const char *unit_of(const char *path) {
    static const struct {
        const char *ending, *unit;
    } units[] = {{"flop_per_B", "FLOP/B"},
                 {"flop_per_s", "FLOP/s"},
                 {"_per_s", "B/s"},
                 {"flop", "FLOP"},
                 {"_s", "s"},
                 {"_J", "J"},
                 {"_B", "B"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t n = strlen(path), m = strlen(units[i].ending);
        if (n >= m && strcmp(path + n - m, units[i].ending) == 0) return units[i].unit;
    }
    return strstr(path, "_B.") ? "B" : "";
}

/* An axis with the unit of what it shows, which page.js writes values with. */
static void put_axis(struct drawing *d, int which) {
    const char *path = which ? d->chart->y : d->chart->x;
    fr_json_add_object(&d->w, which ? "y" : "x");
    fr_json_add_string(&d->w, "name", d->chart->axis[which]);
    fr_json_add_string(&d->w, "unit", unit_of(path));
    fr_json_add_bool(&d->w, "log", d->chart->log[which]);
    fr_json_end_object(&d->w);
}

static void put_data(struct drawing *d, const struct fr_json *root) {
    const struct chart *c = d->chart;
    fr_json_begin_object(&d->w);
    fr_json_add_string(&d->w, "title", c->title);
    if (c->what == PARTS) {
        fr_page_each_plan(root, c->kind, add_parts, d);
        fr_json_add_string(&d->w, "unit", strstr(c->list, "_s") ? "s" : "B");
        put_parts(d);
    } else {
        put_axis(d, 0);
        put_axis(d, 1);
        fr_json_add_bool(&d->w, "diagonal", c->diagonal);
        fr_json_add_bool(&d->w, "joined", c->joined);
        fr_json_add_bool(&d->w, "best", c->what == PLANS); /* it comes first */
        if (strcmp(c->colour, "plan.method") == 0) put_group_colours(d);
        fr_json_add_array(&d->w, "points");
        if (c->what == PLANS)
            fr_page_each_plan(root, c->kind, add_plan, d);
        else
            add_rows(d, root, c->list);
        fr_json_end_array(&d->w);
    }
    if (isfinite(d->line)) {
        fr_json_add_string(&d->w, "line_name", "memory of the device");
        fr_json_add_number(&d->w, "line", d->line);
    }
    fr_json_end_object(&d->w);
}

static void put_chart(struct fr_page *page, const struct chart *chart,
                      const struct fr_json *root, const struct fr_json *drawn) {
    struct drawing d = {.chart = chart, .line = NAN};
    d.w = (struct fr_json_writer){.text = &d.text};
    if (chart->what != PICTURE) put_data(&d, root);
    bool live = d.n > 0 && (chart->what != PARTS || d.n_parts > 0);
    fr_page_figure(page, chart->figure, drawn, live ? fr_text_get(&d.text) : "");
    page->html.failed = page->html.failed || d.text.failed;
    fr_text_free(&d.text);
}

void fr_page_charts(struct fr_page *page, const struct fr_json *root, const char *kind) {
    struct fr_json outcome = fr_page_plan_of(root);
    for (size_t i = 0; i < sizeof charts / sizeof *charts; i++) {
        bool inner = charts[i].figure == &fr_figure_breakdown && strcmp(kind, "search") != 0;
        if (strcmp(charts[i].kind, kind) == 0)
            put_chart(page, &charts[i], root, inner ? &outcome : root);
    }
}
