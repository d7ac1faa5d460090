/* What compressing one more stage's gradients is worth: speed-up over the same plan with the
 * fewest stages compressed, T(k0) / T(k) - 1, against k; and, since compression is lossy, the
 * time over the fastest plan's against the share of gradient bytes that goes compressed.  A curve for each plan that
 * otherwise differs; of plans that differ in nothing shown here, the fastest. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "plots/results.h"
#include "plots/scale.h"

enum { WIDTH_PX = 1100, HEIGHT_PX = 520, CURVES_MAX = 7 };
static const struct fr_box speed_box = {90, 80, 340, 330}, lossy_box = {530, 80, 340, 330};

/* The results of one curve, by ascending number of compressed stages. */
struct curve {
    char label[FR_RESULT_LABEL + 32];
    const struct fr_result **at;
    int n;
};

struct curves {
    struct curve items[CURVES_MAX];
    const struct fr_result **sorted, **points; /* storage: all, and of all curves */
    int count, left_out;
    int64_t stages_max;
    const struct fr_result *fastest; /* on the curves */
};

/* What tells curves apart: all but the number of stages.  Without compressed stages a plan has no
 * rank to compress them to and, if nothing else goes compressed, no codec: it begins every curve
 * that differs in these alone. */
static void curve_key(const struct fr_result *r, bool base, char *out, size_t capacity) {
    struct fr_plan plan = r->plan, plain = fr_plan_default();
    plan.compression.gradient_stages = !base;
    if (base) plan.compression.gradient_rank = plain.compression.gradient_rank;
    if (base && plan.compression.scope == FR_SCOPE_NONE && plan.compression.forward_rank == 0)
        plan.compression.codec = plain.compression.codec;
    fr_plan_line(&plan, 0, out, capacity);
    size_t used = strlen(out);
    fr_line_addf(out, capacity, &used, "%s", r->varied);
}

static int compare_keys(const struct fr_result *a, const struct fr_result *b, bool base) {
    char key_a[FR_RESULT_LABEL], key_b[FR_RESULT_LABEL];
    curve_key(a, base, key_a, sizeof key_a);
    curve_key(b, base, key_b, sizeof key_b);
    return strcmp(key_a, key_b);
}

/* Those that begin curves before the curves. */
static int compare(const void *left, const void *right) {
    const struct fr_result *a = *(const struct fr_result *const *)left;
    const struct fr_result *b = *(const struct fr_result *const *)right;
    int64_t k_a = a->plan.compression.gradient_stages,
            k_b = b->plan.compression.gradient_stages;
    int base = compare_keys(a, b, true);
    if (base) return base;
    if (!k_a != !k_b) return k_a ? 1 : -1;
    int curve = k_a ? compare_keys(a, b, false) : 0;
    if (curve) return curve;
    if (k_a != k_b) return FR_ORDER(k_a, k_b);
    if (a->iteration_time_s != b->iteration_time_s)
        return FR_ORDER(a->iteration_time_s, b->iteration_time_s);
    return FR_ORDER(a, b);
}

/* The label of a curve is that of its plans but for how many stages. */
static void curve_label(const struct fr_results *results, const struct fr_result *r, char *out,
                        size_t capacity) {
    struct fr_result any = *r;
    fr_result_label(results, &any, out, capacity);
    char stages[32], *at;
    snprintf(stages, sizeof stages, "SC %" PRId64, r->plan.compression.gradient_stages);
    at = strstr(out, stages);
    if (at) memmove(at + 2, at + strlen(stages), strlen(at + strlen(stages)) + 1);
}

/* A curve of one point says nothing. */
static void add_points(const struct fr_results *results, struct curves *c,
                       const struct fr_result **at, size_t n) {
    const struct fr_result *last = at[n - 1];
    if (n < 2) return;
    if (c->count == CURVES_MAX) {
        c->left_out++;
        return;
    }
    struct curve *curve = &c->items[c->count++];
    *curve = (struct curve){.at = at, .n = (int)n};
    curve_label(results, last, curve->label, sizeof curve->label);
    if (last->plan.compression.gradient_stages > c->stages_max)
        c->stages_max = last->plan.compression.gradient_stages;
}

/* Sorted, each curve is a run behind what begins it; of equal numbers of stages the first is the
 * fastest. */
static void cut(const struct fr_results *results, struct curves *c, size_t n) {
    const struct fr_result **to = c->points, *start = NULL;
    for (size_t first = 0, end; first < n; first = end) {
        const struct fr_result *r = c->sorted[first], **at = to;
        bool begins = r->plan.compression.gradient_stages == 0;
        if (!begins && start && compare_keys(start, r, true) == 0) *to++ = start;
        for (end = first; end < n && compare_keys(r, c->sorted[end], begins) == 0; end++) {
            int64_t k = c->sorted[end]->plan.compression.gradient_stages;
            if (begins && k > 0) break;
            if (to > at && to[-1]->plan.compression.gradient_stages == k) continue;
            *to++ = c->sorted[end];
        }
        if (begins)
            start = r, to = at;
        else
            add_points(results, c, at, (size_t)(to - at));
    }
}

static fr_status make_curves(const struct fr_results *results, const struct fr_json *root,
                             struct curves *c, struct fr_error *err) {
    c->sorted = fr_calloc(results->count, sizeof *c->sorted);
    c->points = fr_calloc(2 * results->count, sizeof *c->points);
    if (!c->sorted || !c->points) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (size_t i = 0; i < results->count; i++) c->sorted[i] = &results->items[i];
    fr_sort_items(c->sorted, results->count, sizeof *c->sorted, compare);
    cut(results, c, results->count);
    for (int i = 0; i < c->count; i++)
        for (int j = 0; j < c->items[i].n; j++) {
            const struct fr_result *r = c->items[i].at[j];
            if (!c->fastest || r->iteration_time_s < c->fastest->iteration_time_s)
                c->fastest = r;
        }
    if (c->count > 0) return FR_OK;
    return fr_json_fail(root, err,
                        "holds no two plans that differ in compression.gradient.stages alone; "
                        "vary it in the search. Of more ranks: forerun plot scaling");
}

/* Percent. */
static double speed_up(const struct curve *curve, int j) {
    return 100 * (curve->at[0]->iteration_time_s / curve->at[j]->iteration_time_s - 1);
}

/* Percent. */
static double over_fastest(const struct curves *c, const struct fr_result *r) {
    return 100 * (r->iteration_time_s / c->fastest->iteration_time_s - 1);
}

static void add_curve(struct fr_picture *p, const struct curves *c, int i, bool of_speed) {
    const struct curve *curve = &c->items[i];
    int block = fr_picture_block(p);
    for (int j = 0; j < curve->n; j++) {
        const struct fr_result *r = curve->at[j];
        if (of_speed)
            FR_ROW(p, (double)r->plan.compression.gradient_stages, speed_up(curve, j));
        else
            FR_ROW(p, 100 * r->lossy_gradient, over_fastest(c, r));
    }
    fr_picture_curve(p, block, curve->label,
                     "using 1:2 with linespoints lc rgb '%s' pt %d ps 0.9 lw 1.6",
                     fr_picture_colour(i), fr_picture_point(i));
}

static void draw_speed(struct fr_picture *p, const struct curves *c) {
    double low = 0, high = 1;
    for (int i = 0; i < c->count; i++)
        for (int j = 0; j < c->items[i].n; j++) {
            low = fmin(low, speed_up(&c->items[i], j));
            high = fmax(high, speed_up(&c->items[i], j));
        }
    fr_picture_panel(p, &speed_box, "speed-up over the fewest stages compressed");
    fr_scale_percent(p, "y", 1.08 * low, 1.08 * high);
    fr_text_addf(&p->script, "set xrange [-0.3:%.9g]\nset xtics %lld\n",
                 (double)c->stages_max + 0.3, (long long)(c->stages_max / 9 + 1));
    fr_picture_axis_label(p, "x", "stages with compressed gradients");
    for (int i = 0; i < c->count; i++) add_curve(p, c, i, true);
    fr_picture_plotted(p);
}

static void draw_lossy(struct fr_picture *p, const struct curves *c) {
    double high = 1;
    for (int i = 0; i < c->count; i++)
        for (int j = 0; j < c->items[i].n; j++)
            high = fmax(high, over_fastest(c, c->items[i].at[j]));
    fr_picture_panel(p, &lossy_box, "time over the fastest");
    fr_scale_percent(p, "x", -3, 103);
    fr_scale_percent(p, "y", -0.05 * high, 1.08 * high);
    fr_picture_axis_label(p, "x", "share of gradient bytes compressed");
    fr_picture_key(p, lossy_box.left + lossy_box.width + 15, lossy_box.top);
    for (int i = 0; i < c->count; i++) add_curve(p, c, i, false);
    fr_picture_plotted(p);
}

static void add_texts(struct fr_picture *p, const struct fr_results *results,
                      const struct curves *c) {
    const struct fr_result *r = c->fastest;
    char time[40], label[FR_RESULT_LABEL];
    fr_text_addf(&p->title,
                 "Compressed gradients: speed-up by stages; fastest: %s on %lld ranks, %s",
                 fr_result_label(results, r, label, sizeof label), (long long)r->ranks,
                 fr_scale_text(r->iteration_time_s, FR_QUANTITY_TIME, time, sizeof time));
    if (c->left_out) fr_text_addf(&p->note, "%d more curves are not drawn.  ", c->left_out);
    fr_results_footer(results, p, false);
}

static fr_status draw(struct fr_picture *p, struct fr_results *results,
                      const struct fr_json *root, const struct fr_figure_options *o,
                      struct fr_error *err) {
    struct curves curves = {0};
    (void)o;
    fr_status status = make_curves(results, root, &curves, err);
    if (status == FR_OK) {
        for (int i = 0; i < curves.count; i++)
            fr_picture_key_space(p, lossy_box.left + lossy_box.width + 15,
                                 curves.items[i].label);
        add_texts(p, results, &curves);
        draw_speed(p, &curves);
        draw_lossy(p, &curves);
    }
    free(curves.sorted), free(curves.points);
    return status;
}

const struct fr_figure fr_figure_speed_up = {
    .name = "speed-up",
    .summary =
        "what compressed gradients gain: speed-up against the number of stages that send them "
        "compressed (scaling is of more ranks)",
    .inputs = "results of forerun search --json that vary compression.gradient.stages",
    .size_px = {WIDTH_PX, HEIGHT_PX},
    .stacks = true,
    .draw_results = draw,
};
