/* Strong scaling: time against ranks beside the ideal line, and the efficiency
 *     E(p) = T(p0) p0 / (T(p) p),   p0 the smallest rank count of the curve. */
#include <math.h>
#include <stdio.h>

#include "plots/along.h"
#include "plots/scale.h"

enum { WIDTH_PX = 1200, HEIGHT_PX = 520, CURVES_MAX = 8 };
static const struct fr_box time_box = {90, 80, 400, 330}, efficiency_box = {590, 80, 400, 330};

static double time_value(const struct fr_results *results, const struct fr_result *r) {
    (void)results;
    return r->time_s;
}

/* The best of the smallest rank count: where the ideal line starts. */
static const struct fr_result *start_of(const struct fr_curves *curves) {
    const struct fr_result *start = curves->items[0].at[0];
    for (int i = 1; i < curves->count; i++) {
        const struct fr_result *r = curves->items[i].at[0];
        if (r->ranks < start->ranks || (r->ranks == start->ranks && r->time_s < start->time_s))
            start = r;
    }
    return start;
}

static double efficiency(const struct fr_curve *curve, int j) {
    const struct fr_result *first = curve->at[0], *r = curve->at[j];
    return 100 * first->time_s * (double)first->ranks / (r->time_s * (double)r->ranks);
}

static void add_curves(struct fr_picture *p, const struct fr_curves *curves, bool of_time) {
    for (int i = 0; i < curves->count; i++) {
        const struct fr_curve *curve = &curves->items[i];
        char style[64];
        int block = fr_picture_block(p);
        for (int j = 0; j < curve->n; j++)
            FR_ROW(p, (double)curve->at[j]->ranks,
                   of_time ? curve->at[j]->time_s : efficiency(curve, j));
        fr_picture_curve(p, block, curve->label,
                         "using 1:2 with linespoints %s pt %d ps 0.9 lw 1.6",
                         fr_curve_style(curves, i, style), fr_picture_point(i));
    }
}

static void add_ideal(struct fr_picture *p, const struct fr_curves *curves, bool of_time) {
    const struct fr_result *start = start_of(curves);
    int block = fr_picture_block(p);
    for (int i = 0; i < curves->n_along; i++) {
        double ranks = curves->along[i]->along;
        FR_ROW(p, ranks, of_time ? start->time_s * (double)start->ranks / ranks : 100);
    }
    fr_picture_curve(p, block, "ideal", "using 1:2 with lines lc rgb '#888888' lw 1.4 dt 2");
}

static void draw_time(struct fr_picture *p, const struct fr_results *results,
                      const struct fr_curves *curves) {
    struct fr_scale seen = FR_SCALE_EMPTY;
    const struct fr_result *start = start_of(curves);
    fr_scale_include(&seen, start->time_s * (double)start->ranks /
                                curves->along[curves->n_along - 1]->along);
    for (int i = 0; i < curves->count; i++)
        for (int j = 0; j < curves->items[i].n; j++)
            fr_scale_include(&seen, curves->items[i].at[j]->time_s);
    fr_curves_include(curves, fr_curve_time, &seen);
    fr_picture_panel(p, &time_box, fr_results_time_name(results));
    fr_along_axis(p, results, curves, time_box.width);
    fr_scale_axis(p, "y", seen, FR_QUANTITY_TIME, 9);
    fr_curves_bands(p, curves, fr_curve_time);
    add_curves(p, curves, true);
    add_ideal(p, curves, true);
    fr_picture_plotted(p);
}

static void draw_efficiency(struct fr_picture *p, const struct fr_results *results,
                            const struct fr_curves *curves) {
    double high = 100;
    for (int i = 0; i < curves->count; i++)
        for (int j = 0; j < curves->items[i].n; j++)
            high = fmax(high, efficiency(&curves->items[i], j));
    fr_picture_panel(p, &efficiency_box, "efficiency, against the smallest rank count");
    fr_along_axis(p, results, curves, efficiency_box.width);
    fr_scale_percent(p, "y", 0, 1.08 * high);
    fr_picture_key(p, efficiency_box.left + efficiency_box.width + 25, efficiency_box.top);
    add_curves(p, curves, false);
    add_ideal(p, curves, false);
    fr_picture_plotted(p);
}

static void add_texts(struct fr_picture *p, const struct fr_results *results,
                      const struct fr_curves *curves) {
    const struct fr_curve *fastest = &curves->items[0];
    for (int i = 1; i < curves->count; i++)
        if (curves->items[i].best < fastest->best) fastest = &curves->items[i];
    const struct fr_result *r = fastest->at[0];
    for (int j = 1; j < fastest->n; j++)
        if (fastest->at[j]->time_s < r->time_s) r = fastest->at[j];
    char label[FR_RESULT_LABEL], time[40];
    fr_text_addf(&p->title, "More ranks: time and efficiency; fastest: %s on %lld ranks, %s",
                 fr_result_label(results, r, label, sizeof label), (long long)r->ranks,
                 fr_scale_text(r->time_s, FR_QUANTITY_TIME, time, sizeof time));
    fr_text_addf(&p->note, "Each point is the fastest plan of its method.  ");
    if (curves->n_along == 1)
        fr_text_addf(&p->note,
                     "One rank count makes no curve: search with several, such as --ranks "
                     "%lld..%lld*2.  ",
                     (long long)r->ranks, 8 * (long long)r->ranks);
    fr_results_interval_note(results, p);
    fr_results_footer(results, p, false);
}

static fr_status draw(struct fr_picture *p, struct fr_results *results,
                      const struct fr_json *root, const struct fr_figure_options *o,
                      struct fr_error *err) {
    (void)root, (void)o;
    struct fr_curves curves = {0};
    fr_status status = fr_curves_make(results, false, time_value, CURVES_MAX, &curves, err);
    if (status == FR_OK) {
        for (int i = 0; i < curves.count; i++)
            fr_picture_key_space(p, efficiency_box.left + efficiency_box.width + 25,
                                 curves.items[i].label);
        add_texts(p, results, &curves);
        draw_time(p, results, &curves);
        draw_efficiency(p, results, &curves);
    }
    fr_curves_free(&curves);
    return status;
}

const struct fr_figure fr_figure_scaling = {
    .name = "scaling",
    .summary =
        "what more ranks gain: time against ranks beside the ideal line, and efficiency, a "
        "curve a method (speed-up is of compressed gradients)",
    .inputs = "results of forerun search --json over several rank counts, best with --top 0",
    .size_px = {WIDTH_PX, HEIGHT_PX},
    .stacks = true,
    .draw_results = draw,
};
