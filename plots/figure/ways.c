/* Sub-graph parallelism as Figures 12 to 16 of Jain et al. 2021 show it.  One panel has the time
 * of an iteration against ranks, with a curve for data parallelism and for each number of ways.
 * Common layers are on all ranks or on one sub-grid (cSub); naive order is apart from the others.
 * The panel beside it has the speed-up
 *     T(data parallelism) / T     on the same ranks and batch.
 * Each point is the fastest plan of its curve.  Weak scaling joins one search a rank count. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "models/plan/method.h"
#include "plots/results.h"
#include "plots/scale.h"

enum { WIDTH_PX = 1250, HEIGHT_PX = 520, CURVES_MAX = 10, COUNTS_MAX = 64 };
static const struct fr_box time_box = {90, 80, 400, 330}, gain_box = {590, 80, 400, 330};

/* One way to lay the model out. */
struct kind {
    char method[32];
    int64_t tp;
    bool subgrid, naive;
};

struct curve {
    struct kind kind;
    double time_s[COUNTS_MAX];                    /* at each rank count; 0: none */
    double low_s[COUNTS_MAX], high_s[COUNTS_MAX]; /* 0: not stated */
};

struct curves {
    struct curve items[CURVES_MAX];
    int count, left_out;
    int64_t ranks[COUNTS_MAX];
    int n_ranks;
};

static struct kind kind_of(const struct fr_result *r) {
    struct kind k = {.tp = r->tp, .subgrid = r->subgrid && r->tp > 1};
    bool subgraph = FR_METHOD_IS(r->method, branches);
    snprintf(k.method, sizeof k.method, "%s", r->tp == 1 ? "data" : r->method);
    k.naive = subgraph && r->tp > 1 && strcmp(r->placement, "linear") == 0;
    return k;
}

/* Data parallelism, then sub-graphs by ways, then other methods. */
static int compare_kinds(const struct kind *a, const struct kind *b) {
    int order_a = a->tp == 1 ? 0 : FR_METHOD_IS(a->method, branches) ? 1 : 2;
    int order_b = b->tp == 1 ? 0 : FR_METHOD_IS(b->method, branches) ? 1 : 2;
    if (order_a != order_b) return order_a - order_b;
    int methods = strcmp(a->method, b->method);
    if (methods) return methods;
    if (a->tp != b->tp) return FR_ORDER(a->tp, b->tp);
    if (a->subgrid != b->subgrid) return a->subgrid ? 1 : -1;
    return a->naive - b->naive;
}

static const char *label_of(const struct kind *k, char *out, size_t capacity) {
    if (k->tp == 1)
        snprintf(out, capacity, "data parallel");
    else if (FR_METHOD_IS(k->method, branches))
        snprintf(out, capacity, "%lld-way %s%s", (long long)k->tp, k->subgrid ? "cSub" : "D&SP",
                 k->naive ? ", naive order" : "");
    else
        snprintf(out, capacity, "%s, tp %lld", k->method, (long long)k->tp);
    return out;
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return FR_ORDER(x, y);
}

static int count_at(struct curves *c, int64_t ranks) {
    for (int i = 0; i < c->n_ranks; i++)
        if (c->ranks[i] == ranks) return i;
    return -1;
}

static fr_status find_counts(const struct fr_results *results, struct curves *c,
                             struct fr_error *err) {
    for (size_t i = 0; i < results->count; i++) {
        if (count_at(c, results->items[i].ranks) >= 0) continue;
        if (c->n_ranks == COUNTS_MAX)
            return fr_fail(err, FR_ERR_INPUT, NULL, "more than %d rank counts in one figure",
                           COUNTS_MAX);
        c->ranks[c->n_ranks++] = results->items[i].ranks;
    }
    fr_sort_items(c->ranks, (size_t)c->n_ranks, sizeof *c->ranks, by_size);
    return FR_OK;
}

/* The curve of a kind, put in its place; NULL where no other fits. */
static struct curve *curve_for(struct curves *c, const struct kind *kind) {
    int at = 0;
    while (at < c->count && compare_kinds(&c->items[at].kind, kind) < 0) at++;
    if (at < c->count && compare_kinds(&c->items[at].kind, kind) == 0) return &c->items[at];
    if (c->count == CURVES_MAX) return NULL;
    memmove(&c->items[at + 1], &c->items[at], (size_t)(c->count - at) * sizeof *c->items);
    c->items[at] = (struct curve){.kind = *kind};
    c->count++;
    return &c->items[at];
}

static fr_status make(const struct fr_results *results, struct curves *c,
                      struct fr_error *err) {
    FR_TRY(find_counts(results, c, err));
    for (size_t i = 0; i < results->count; i++) {
        const struct fr_result *r = &results->items[i];
        struct kind kind = kind_of(r);
        struct curve *curve = curve_for(c, &kind);
        if (!curve) {
            c->left_out++;
            continue;
        }
        const int at = count_at(c, r->ranks);
        if (curve->time_s[at] > 0 && r->time_s >= curve->time_s[at]) continue;
        curve->time_s[at] = r->time_s;
        curve->low_s[at] = r->low_s, curve->high_s[at] = r->high_s;
    }
    return FR_OK;
}

/* Speed-up over data parallelism at rank count @p j; NaN without one of them. */
static double gain(const struct curves *c, const struct curve *curve, int j) {
    double data_s = c->items[0].kind.tp == 1 ? c->items[0].time_s[j] : 0;
    return data_s > 0 && curve->time_s[j] > 0 ? data_s / curve->time_s[j] : NAN;
}

static bool has_gain(const struct curves *c, const struct curve *curve) {
    for (int j = 0; j < c->n_ranks; j++)
        if (!isnan(gain(c, curve, j))) return true;
    return false;
}

/* Factor by which curve @p i stands aside, so that marks and intervals of one rank count stand beside each other:
 * a few pixels each, all within a quarter of the distance to the next rank count. */
static double offset_of(const struct fr_picture *p, const struct curves *c, int i) {
    enum { APART_PX = 5 };
    double span = 2,
           nearest = (double)INFINITY; /* of the padded axis, and between two counts */
    if (c->n_ranks > 1) span = fmax(2, (double)c->ranks[c->n_ranks - 1] / (double)c->ranks[0]);
    for (int j = 1; j < c->n_ranks; j++)
        nearest = fmin(nearest, log((double)c->ranks[j] / (double)c->ranks[j - 1]));
    double step = APART_PX * 1.3 * log(span) / fmax(1, p->placed.width);
    if (c->count > 1) step = fmin(step, 0.25 * nearest / (c->count - 1));
    return exp(step * (i - (c->count - 1) / 2.0));
}

/* The 90 % interval of each time, a bar: curves are close, and bands would cover each other. */
static void add_intervals(struct fr_picture *p, const struct curves *c) {
    for (int i = 0; i < c->count; i++) {
        const struct curve *curve = &c->items[i];
        char label[64];
        label_of(&curve->kind, label, sizeof label);
        const double beside = offset_of(p, c, i);
        int block = -1;
        for (int j = 0; j < c->n_ranks; j++) {
            if (!(curve->time_s[j] > 0 && curve->low_s[j] > 0)) continue;
            if (block < 0) block = fr_picture_block(p);
            FR_ROW(p, (double)c->ranks[j] * beside, curve->low_s[j], 0,
                   curve->high_s[j] - curve->low_s[j]);
        }
        if (block >= 0)
            fr_picture_curve(
                p, block, NULL,
                "using 1:2:3:4 with vectors heads size screen 0.004,90 lc rgb '%s' lw 1.2",
                fr_picture_series_colour(label, i));
    }
}

static void add_curves(struct fr_picture *p, const struct curves *c, bool of_time) {
    for (int i = 0; i < c->count; i++) {
        const struct curve *curve = &c->items[i];
        char label[64];
        if (!of_time && !has_gain(c, curve)) continue;
        label_of(&curve->kind, label, sizeof label);
        const double beside = of_time ? offset_of(p, c, i) : 1;
        int block = fr_picture_block(p);
        for (int j = 0; j < c->n_ranks; j++) {
            double time_s = curve->time_s[j] > 0 ? curve->time_s[j] : NAN;
            FR_ROW(p, (double)c->ranks[j] * beside, of_time ? time_s : gain(c, curve, j));
        }
        fr_picture_curve(p, block, label,
                         "using 1:2 with linespoints lc rgb '%s' pt %d ps 0.9 lw 1.6%s",
                         fr_picture_series_colour(label, i), fr_picture_point(i),
                         curve->kind.naive ? " dt 2" : "");
    }
}

static void draw_time(struct fr_picture *p, const struct fr_results *results,
                      const struct curves *c) {
    struct fr_scale seen = FR_SCALE_EMPTY;
    for (int i = 0; i < c->count; i++)
        for (int j = 0; j < c->n_ranks; j++) {
            fr_scale_include(&seen, c->items[i].time_s[j]);
            fr_scale_include(&seen, c->items[i].low_s[j]);
            fr_scale_include(&seen, c->items[i].high_s[j]);
        }
    fr_picture_panel(p, &time_box, fr_results_time_name(results));
    fr_scale_counts(p, c->ranks, c->n_ranks, 9);
    fr_scale_axis(p, "y", seen, FR_QUANTITY_TIME, 9);
    fr_picture_axis_label(p, "x", "ranks");
    fr_picture_key(p, gain_box.left + gain_box.width + 25, gain_box.top);
    add_intervals(p, c);
    add_curves(p, c, true);
    fr_picture_plotted(p);
}

static void draw_gain(struct fr_picture *p, const struct curves *c) {
    double high = 1;
    for (int i = 0; i < c->count; i++)
        for (int j = 0; j < c->n_ranks; j++) high = fmax(high, gain(c, &c->items[i], j));
    fr_picture_panel(p, &gain_box, "speed-up over data parallelism on the same ranks");
    fr_scale_counts(p, c->ranks, c->n_ranks, 9);
    fr_scale_linear(p, "y", 1.08 * high);
    fr_picture_axis_label(p, "x", "ranks");
    add_curves(p, c, false);
    fr_picture_plotted(p);
}

static bool is_common(const struct fr_results *results, int key) {
    return fr_plan_common_keys(&results->common) >> key & 1;
}

/* Weak where every rank count has the same samples a rank, strong where the same in all. */
static void add_title(struct fr_picture *p, const struct fr_results *results,
                      const struct curves *c) {
    const struct fr_result *first = &results->items[0];
    char number[40];
    bool strong = true, weak = true;
    for (size_t i = 0; i < results->count; i++) {
        const struct fr_result *r = &results->items[i];
        strong = strong && r->global_batch == first->global_batch;
        weak = weak && r->global_batch * first->ranks == first->global_batch * r->ranks;
    }
    if (weak && c->n_ranks > 1)
        fr_text_addf(&p->title, "Weak scaling, samples a rank: %s",
                     fr_scale_number((double)first->global_batch / (double)first->ranks, 4,
                                     number, sizeof number));
    else if (strong && is_common(results, FR_PLAN_KEY_global_batch))
        fr_text_addf(&p->title, "Strong scaling"); /* the footer says the batch of all */
    else if (strong)
        fr_text_addf(&p->title, "Strong scaling, batch %s",
                     fr_scale_number((double)first->global_batch, 15, number, sizeof number));
    else
        fr_text_addf(&p->title, "Sub-graph and data parallelism");
    fr_text_addf(&p->note,
                 "Each point is the fastest plan of its curve, beside its rank count%s.  ",
                 c->left_out ? "; some plans do not fit here" : "");
    fr_results_interval_note(results, p);
    fr_results_footer(results, p, false);
}

static fr_status draw(struct fr_picture *p, struct fr_results *results,
                      const struct fr_json *root, const struct fr_figure_options *o,
                      struct fr_error *err) {
    (void)root, (void)o;
    struct curves curves = {0};
    FR_TRY(make(results, &curves, err));
    if (curves.count == 0 || !has_gain(&curves, &curves.items[0]))
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "holds no plan of data parallelism alone (tp 1), which others are "
                       "compared with; vary tp in the search");
    add_title(p, results, &curves);
    draw_time(p, results, &curves);
    draw_gain(p, &curves);
    return FR_OK;
}

const struct fr_figure fr_figure_ways = {
    .name = "ways",
    .summary =
        "time against ranks for data parallelism and each number of sub-graph ways, and the "
        "speed-up, weak or strong",
    .inputs = "results of forerun search --json --top 0 that vary tp; several are joined",
    .size_px = {WIDTH_PX, HEIGHT_PX},
    .stacks = true,
    .draw_results = draw,
};
