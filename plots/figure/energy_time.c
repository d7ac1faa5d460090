/* Energy and time against the number of ranks, a curve for each method and ghost width, as in
 * the phantom-parallelism paper's comparison at equal loss; or against any other key.  Where the cluster states no
 * power there is no energy, and time stands alone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/plan/key.h"
#include "plots/along.h"
#include "plots/scale.h"

enum { WIDTH_PX = 1200, HEIGHT_PX = 520, CURVES_MAX = 10 };
static const struct fr_box energy_box = {90, 80, 370, 330}, time_box = {560, 80, 370, 330};
static const struct fr_box alone_box = {90, 80, 840, 330};

struct panel {
    struct fr_box box;
    const char *heading;
    fr_quantity quantity;
    fr_curve_interval_of of;
    bool last; /* the key stands beside it */
};

static void add_axes(struct fr_picture *p, const struct panel *panel,
                     const struct fr_results *results, const struct fr_curves *curves) {
    struct fr_scale seen = FR_SCALE_EMPTY;
    for (int i = 0; i < curves->count; i++)
        for (int j = 0; j < curves->items[i].n; j++)
            fr_scale_include(&seen, panel->of(curves->items[i].at[j]).value);
    fr_curves_include(curves, panel->of, &seen);
    fr_along_axis(p, results, curves, panel->box.width);
    fr_scale_axis(p, "y", seen, panel->quantity, 9);
}

/* Energy may be unknown for a whole curve, where time was ranked. */
static bool any_known(const struct panel *panel, const struct fr_curve *curve) {
    for (int j = 0; j < curve->n; j++)
        if (isfinite(panel->of(curve->at[j]).value)) return true;
    return false;
}

static void mark_best(struct fr_picture *p, const struct panel *panel,
                      const struct fr_result *best) {
    if (!isfinite(panel->of(best).value)) return;
    int block = fr_picture_block(p);
    FR_ROW(p, best->along, panel->of(best).value);
    fr_picture_curve(p, block, "best",
                     "using 1:2 with points lc rgb '#000000' pt 6 ps 2.4 lw 2");
}

static void draw_panel(struct fr_picture *p, const struct panel *panel,
                       const struct fr_results *results, const struct fr_curves *curves) {
    fr_picture_panel(p, &panel->box, panel->heading);
    add_axes(p, panel, results, curves);
    if (panel->last) fr_picture_key(p, time_box.left + time_box.width + 25, time_box.top);
    fr_curves_bands(p, curves, panel->of);
    for (int i = 0; i < curves->count; i++) {
        const struct fr_curve *curve = &curves->items[i];
        char style[64];
        if (!any_known(panel, curve)) continue;
        int block = fr_picture_block(p);
        for (int j = 0; j < curve->n; j++)
            FR_ROW(p, curve->at[j]->along, panel->of(curve->at[j]).value);
        fr_picture_curve(p, block, curve->label,
                         "using 1:2 with linespoints %s pt %d ps 0.9 lw 1.6",
                         fr_curve_style(curves, i, style), fr_picture_point(i));
    }
    mark_best(p, panel, results->best);
    fr_picture_plotted(p);
}

static void add_texts(struct fr_picture *p, const struct fr_results *results,
                      const struct fr_curves *curves) {
    char label[FR_RESULT_LABEL], time[40], energy[40];
    const struct fr_result *best = results->best;
    const char *near; /* what the plan's line says already is not said again */
    bool stated = strcmp(results->along, FR_ALONG_RANKS) == 0 ||
                  fr_plan_key_find(results->along, &near) != NULL;
    bool known = isfinite(best->energy_J);
    fr_text_addf(
        &p->title, "Least %s: %s on %lld ranks%s%s%s%s, %s%s%s",
        results->ranked == FR_RANKED_TIME     ? "time"
        : results->ranked == FR_RANKED_ENERGY ? "energy"
                                              : "energy times time",
        fr_result_label(results, best, label, sizeof label), (long long)best->ranks,
        stated ? "" : ", ", stated ? "" : results->along, stated ? "" : " ",
        stated ? "" : best->along_text,
        known ? fr_scale_text(best->energy_J, FR_QUANTITY_ENERGY, energy, sizeof energy) : "",
        known ? " in " : "", fr_scale_text(best->time_s, FR_QUANTITY_TIME, time, sizeof time));
    if (curves->left_out)
        fr_text_addf(&p->note, "Curves of %d more ghost widths are not drawn.  ",
                     curves->left_out);
    fr_results_interval_note(results, p);
    fr_results_footer(results, p, true);
}

static void draw_all(struct fr_picture *p, const struct fr_results *results,
                     const struct fr_curves *curves) {
    bool energy = fr_results_have_energy(results);
    const struct panel panels[] = {{energy_box, fr_results_energy_name(results),
                                    FR_QUANTITY_ENERGY, fr_curve_energy, false},
                                   {energy ? time_box : alone_box,
                                    fr_results_time_name(results), FR_QUANTITY_TIME,
                                    fr_curve_time, true}};
    for (int i = 0; i < curves->count; i++)
        fr_picture_key_space(p, time_box.left + time_box.width + 25, curves->items[i].label);
    add_texts(p, results, curves);
    for (int i = energy ? 0 : 1; i < 2; i++) draw_panel(p, &panels[i], results, curves);
}

static fr_status draw(struct fr_picture *p, struct fr_results *results,
                      const struct fr_json *root, const struct fr_figure_options *o,
                      struct fr_error *err) {
    struct fr_curves curves = {0};
    FR_TRY(fr_along_choose(results, o->along, root, err));
    fr_status status = fr_curves_make(results, true, fr_result_value, CURVES_MAX, &curves, err);
    if (status == FR_OK) draw_all(p, results, &curves);
    fr_curves_free(&curves);
    return status;
}

const struct fr_figure fr_figure_energy_time = {
    .name = "energy-time",
    .summary = "energy and time against ranks, or what else was varied (--x KEY), a curve for "
               "each method "
               "and ghost width",
    .inputs = "results of forerun search --json, best with --top 0",
    .runs_along = true,
    .size_px = {WIDTH_PX, HEIGHT_PX},
    .stacks = true,
    .draw_results = draw,
};
