/* Time against energy of every configuration: the cloud, the front of those that no other beats
 * in both, and the chosen one.  Labels go where they hide nothing, or are left out. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "plots/results.h"
#include "plots/scale.h"

enum { WIDTH_PX = 1000, HEIGHT_PX = 640, LABELS_MAX = 64, LABEL_SIZE = 11, MARK_PX = 7 };
static const double label_room = 0.32; /* left of the front, in spans of the axis */
static const struct fr_box plot_box = {90, 90, 870, 430};

struct front {
    const struct fr_result **items;
    int count;
};

/* Where things are on the picture, so that a label can be laid beside them. */
struct layout {
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

static bool is_free(const struct layout *l, const struct fr_box *box) {
    const struct fr_box *plot = &l->plot;
    if (box->left < plot->left + 4 || box->top < plot->top ||
        box->left + box->width > plot->left + plot->width ||
        box->top + box->height > plot->top + plot->height - 4)
        return false;
    for (int i = 0; i < l->n_taken; i++)
        if (overlap(box, &l->taken[i])) return false;
    return true;
}

static void take(struct layout *l, struct fr_box box) {
    if (l->n_taken < (int)(sizeof l->taken / sizeof *l->taken)) l->taken[l->n_taken++] = box;
}

/* Beside the point, first where the front leaves the picture empty (below to the left). */
static bool label_point(struct fr_picture *p, struct layout *l, const struct fr_result *r,
                        const char *text, bool best) {
    static const struct {
        double right, down; /* of the label's near edge and middle [px] */
    } places[] = {{-12, 14}, {12, -14}, {12, 0}, {-12, 0}, {12, 14}, {-12, -14}, {12, -30}};
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
                     time.low * pow(time.low / time.high, p->stack.on ? 0.05 : label_room));
    fr_scale_include(&energy, energy.low * pow(energy.low / energy.high, 0.05));
    l->time = fr_scale_padded(time);
    l->energy = fr_scale_padded(energy);
    fr_scale_axis(p, "x", time, FR_QUANTITY_TIME, 10);
    fr_scale_axis(p, "y", energy, FR_QUANTITY_ENERGY, 10);
    fr_picture_axis_label(p, "x", fr_results_time_name(results));
    fr_picture_axis_label(p, "y", fr_results_energy_name(results));
}

static void add_points(struct fr_picture *p, const struct fr_results *results,
                       const struct front *front) {
    int all = fr_picture_block(p);
    for (size_t i = 0; i < results->count; i++)
        FR_ROW(p, results->items[i].time_s, results->items[i].energy_J);
    int best_ones = fr_picture_block(p);
    for (int i = 0; i < front->count; i++)
        FR_ROW(p, front->items[i]->time_s, front->items[i]->energy_J);
    fr_picture_key(p, plot_box.left + plot_box.width - 170, 30);
    fr_picture_curve(p, all, "feasible plan",
                     "using 1:2 with points lc rgb '#aaaaaa' pt 7 ps 0.6");
    fr_picture_curve(p, best_ones, NULL, "using 1:2 with steps lc rgb '#000000' lw 1.6");
    fr_picture_curve(p, best_ones, "no plan beats it in both",
                     "using 1:2 with points lc rgb '#000000' pt 7 ps 0.9");
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
