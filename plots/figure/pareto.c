/* Time against energy of every configuration: the cloud in the colours of its methods, the front of those that no other
 * beats in both, and the chosen one.  Labels go where they hide nothing, or are left out. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "plots/results.h"
#include "plots/scale.h"

enum { WIDTH_PX = 1110, HEIGHT_PX = 640, LABELS_MAX = 64, LABEL_SIZE = 11, MARK_PX = 7 };
static const double label_capacity = 0.32; /* left of the front, in spans of the axis */
static const struct fr_box plot_box = {90, 70, 760, 450};
static const double key_left = 870;

struct front {
    const struct fr_result **items;
    int count;
};

/* Where things are on the picture, so that a label can be laid beside them: neither over a point nor a line. */
struct layout {
    const struct fr_results *results;
    const struct front *front;
    struct fr_box plot;
    struct fr_scale time, energy; /* padded */
    struct fr_box taken[2 * LABELS_MAX];
    int n_taken;
};

static int compare_time(const void *left, const void *right) {
    const struct fr_result *a = *(const struct fr_result *const *)left;
    const struct fr_result *b = *(const struct fr_result *const *)right;
    if (a->time_s != b->time_s) return FR_ORDER(a->time_s, b->time_s);
    if (a->energy_J != b->energy_J) return FR_ORDER(a->energy_J, b->energy_J);
    return FR_ORDER(a, b);
}

/* By time; a result is on the front when it takes less energy than all faster ones. */
static fr_status find_front(const struct fr_results *results, struct front *front,
                            struct fr_error *err) {
    front->items = fr_calloc(results->count, sizeof *front->items);
    if (!front->items) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    int known = 0;
    double least_J = (double)INFINITY;
    for (size_t i = 0; i < results->count; i++)
        if (isfinite(results->items[i].energy_J)) front->items[known++] = &results->items[i];
    fr_sort_items(front->items, known, sizeof *front->items, compare_time);
    for (int i = 0; i < known; i++) {
        if (front->items[i]->energy_J >= least_J) continue;
        least_J = front->items[i]->energy_J;
        front->items[front->count++] = front->items[i];
    }
    return FR_OK;
}

static double position(struct fr_scale scale, double value) {
    return log(value / scale.low) / log(scale.high / scale.low);
}

static double x_px(const struct layout *l, const struct fr_result *r) {
    return l->plot.left + l->plot.width * position(l->time, r->time_s);
}

static double y_px(const struct layout *l, const struct fr_result *r) {
    return l->plot.top + l->plot.height * (1 - position(l->energy, r->energy_J));
}

static bool overlap(const struct fr_box *a, const struct fr_box *b) {
    return a->left < b->left + b->width && b->left < a->left + a->width &&
           a->top < b->top + b->height && b->top < a->top + a->height;
}

static bool over_point(const struct layout *l, const struct fr_box *box) {
    enum { POINT_PX = 3 };
    for (size_t i = 0; i < l->results->count; i++) {
        const struct fr_result *r = &l->results->items[i];
        const struct fr_box point = {x_px(l, r) - POINT_PX, y_px(l, r) - POINT_PX, 2 * POINT_PX,
                                     2 * POINT_PX};
        if (isfinite(r->energy_J) && overlap(box, &point)) return true;
    }
    return false;
}

/* The steps of the front: right from each of its points, then down to the next. */
static bool over_front(const struct layout *l, const struct fr_box *box) {
    enum { LINE_PX = 2 };
    for (int i = 0; i + 1 < l->front->count; i++) {
        double x = x_px(l, l->front->items[i]), y = y_px(l, l->front->items[i]),
               next_x = x_px(l, l->front->items[i + 1]),
               next_y = y_px(l, l->front->items[i + 1]);
        const struct fr_box across = {x, y - LINE_PX, next_x - x, 2 * LINE_PX},
                            down = {next_x - LINE_PX, y, 2 * LINE_PX, next_y - y};
        if (overlap(box, &across) || overlap(box, &down)) return true;
    }
    return false;
}

static bool is_free(const struct layout *l, const struct fr_box *box) {
    const struct fr_box *plot = &l->plot;
    if (box->left < plot->left + 4 || box->top < plot->top ||
        box->left + box->width > plot->left + plot->width ||
        box->top + box->height > plot->top + plot->height - 4)
        return false;
    for (int i = 0; i < l->n_taken; i++)
        if (overlap(box, &l->taken[i])) return false;
    return !over_point(l, box) && !over_front(l, box);
}

static void take(struct layout *l, struct fr_box box) {
    if (l->n_taken < (int)(sizeof l->taken / sizeof *l->taken)) l->taken[l->n_taken++] = box;
}

/* Beside the point, first where the front leaves the picture empty (below to the left). */
static bool label_point(struct fr_picture *p, struct layout *l, const struct fr_result *r,
                        const char *text, bool best) {
    static const struct {
        double right, down; /* of the label's near edge and middle [px] */
    } places[] = {{-12, 14}, {12, -14}, {12, 0},   {-12, 0},  {12, 14},  {-12, -14},
                  {-12, 30}, {12, -30}, {-12, 46}, {12, -46}, {-12, 62}, {12, 30}};
    double width = fr_picture_text_px(text, LABEL_SIZE), x = x_px(l, r), y = y_px(l, r);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        double near = x + places[i].right, middle = y + places[i].down;
        struct fr_box box = {places[i].right > 0 ? near : near - width, middle - 8, width, 16};
        if (!is_free(l, &box)) continue;
        take(l, box);
        fr_picture_text(p, text, near, middle, places[i].right > 0 ? "left" : "right",
                        LABEL_SIZE, best ? "#000000" : "#444444");
        return true;
    }
    return false;
}

/* In one column there is room for numbers, which the key explains. */
enum { NUMBERED_MAX = 9 };

static void add_numbers(struct fr_picture *p, const struct front *front, struct layout *l) {
    for (int i = 0; i < front->count && i < NUMBERED_MAX; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", i + 1);
        label_point(p, l, front->items[i], text, false);
    }
}

static void add_numbered(struct fr_picture *p, const struct fr_results *results,
                         const struct front *front) {
    char label[FR_RESULT_LABEL], text[FR_RESULT_LABEL + 8];
    for (int i = 0; i < front->count && i < NUMBERED_MAX; i++) {
        int block = fr_picture_block(p);
        FR_ROW(p, front->items[i]->time_s, front->items[i]->energy_J);
        snprintf(text, sizeof text, "%d: %s", i + 1,
                 fr_result_label(results, front->items[i], label, sizeof label));
        fr_picture_curve(p, block, text, "using 1:2 with points lc rgb '#000000' pt 7 ps 0.5");
    }
}

static void add_labels(struct fr_picture *p, const struct fr_results *results,
                       const struct front *front, struct layout *l) {
    char label[FR_RESULT_LABEL], text[FR_RESULT_LABEL + 8];
    for (int i = 0; i < front->count && i < LABELS_MAX; i++)
        take(l, (struct fr_box){x_px(l, front->items[i]) - MARK_PX,
                                y_px(l, front->items[i]) - MARK_PX, 2 * MARK_PX, 2 * MARK_PX});
    if (p->stack.on) {
        add_numbers(p, front, l);
        return;
    }
    snprintf(text, sizeof text, "best: %s",
             fr_result_label(results, results->best, label, sizeof label));
    if (isfinite(results->best->energy_J) && !label_point(p, l, results->best, text, true))
        fr_picture_text(p, text, plot_box.left, plot_box.top - 16, "left", LABEL_SIZE,
                        "#000000");
    for (int i = 0; i < front->count; i++)
        if (front->items[i] != results->best)
            label_point(p, l, front->items[i],
                        fr_result_label(results, front->items[i], label, sizeof label), false);
}

static void add_axes(struct fr_picture *p, const struct fr_results *results, struct layout *l) {
    struct fr_scale time = FR_SCALE_EMPTY, energy = FR_SCALE_EMPTY;
    for (size_t i = 0; i < results->count; i++) {
        if (!isfinite(results->items[i].energy_J)) continue;
        fr_scale_include(&time, results->items[i].time_s);
        fr_scale_include(&energy, results->items[i].energy_J);
    }
    fr_scale_include(&time,
                     time.low * pow(time.low / time.high, p->stack.on ? 0.05 : label_capacity));
    fr_scale_include(&energy, energy.low * pow(energy.low / energy.high, 0.05));
    l->time = fr_scale_padded(time);
    l->energy = fr_scale_padded(energy);
    fr_scale_axis(p, "x", time, FR_QUANTITY_TIME, 10);
    fr_scale_axis(p, "y", energy, FR_QUANTITY_ENERGY, 10);
    fr_picture_axis_label(p, "x", fr_results_time_name(results));
    fr_picture_axis_label(p, "y", fr_results_energy_name(results));
}

/* ---- the points, a colour for each method ------------------------------------------------------- */

/* Place of the first result of the same method. */
static size_t first_of_method(const struct fr_results *results, size_t i) {
    for (size_t k = 0; k < i; k++)
        if (strcmp(results->items[k].method, results->items[i].method) == 0) return k;
    return i;
}

static void add_method(struct fr_picture *p, const struct fr_results *results, size_t first,
                       int n) {
    const char *method = results->items[first].method;
    int block = -1;
    for (size_t i = first; i < results->count; i++) {
        const struct fr_result *r = &results->items[i];
        if (!isfinite(r->energy_J) || strcmp(r->method, method) != 0) continue;
        if (block < 0) block = fr_picture_block(p);
        FR_ROW(p, r->time_s, r->energy_J);
    }
    if (block >= 0)
        fr_picture_curve(p, block, method, "using 1:2 with points lc rgb '%s' pt 7 ps 0.65",
                         fr_picture_series_colour(method, n + 1));
}

static void add_methods(struct fr_picture *p, const struct fr_results *results) {
    int n = 0;
    for (size_t i = 0; i < results->count; i++)
        if (first_of_method(results, i) == i) add_method(p, results, i, n++);
}

static void add_points(struct fr_picture *p, const struct fr_results *results,
                       const struct front *front) {
    fr_picture_key(p, key_left, plot_box.top - 6);
    add_methods(p, results);
    int front_block = fr_picture_block(p);
    for (int i = 0; i < front->count; i++)
        FR_ROW(p, front->items[i]->time_s, front->items[i]->energy_J);
    fr_picture_curve(p, front_block, NULL, "using 1:2 with steps lc rgb '#000000' lw 1.4");
    fr_picture_curve(p, front_block, "front: none beats it in both",
                     "using 1:2 with points lc rgb '#000000' pt 6 ps 1 lw 1.4");
    if (isfinite(results->best->energy_J)) {
        int best = fr_picture_block(p);
        FR_ROW(p, results->best->time_s, results->best->energy_J);
        fr_picture_curve(p, best, "best",
                         "using 1:2 with points lc rgb '#000000' pt 6 ps 2.2 lw 2");
    }
    if (p->stack.on) add_numbered(p, results, front);
    fr_picture_plotted(p);
}

static void draw_all(struct fr_picture *p, const struct fr_results *results,
                     const struct front *front) {
    struct layout layout = {0};
    fr_text_addf(&p->title, "Time against energy, %s", fr_results_time_name(results) + 5);
    fr_results_footer(results, p, true);
    p->stack.plot_px = 200;
    fr_picture_panel(p, &plot_box, "");
    layout.plot = p->placed;
    layout.results = results, layout.front = front;
    add_axes(p, results, &layout);
    add_labels(p, results, front, &layout);
    add_points(p, results, front);
}

static fr_status draw(struct fr_picture *p, struct fr_results *results,
                      const struct fr_json *root, const struct fr_figure_options *o,
                      struct fr_error *err) {
    struct front front = {0};
    (void)o;
    FR_TRY(fr_results_need_energy(results, root, err));
    FR_TRY(find_front(results, &front, err));
    draw_all(p, results, &front);
    free(front.items);
    return FR_OK;
}

const struct fr_figure fr_figure_pareto = {
    .name = "pareto",
    .summary = "time against energy: every plan, the front, the best",
    .inputs = "results of forerun search --json, best with --top 0",
    .size_px = {WIDTH_PX, HEIGHT_PX},
    .stacks = true,
    .draw_results = draw,
};
