/* How well each form fits, for a person. */
#include <inttypes.h>

#include "calibrate/fit_parts.h"

static void add_cells(const struct fr_fit_quality *quality, bool present,
                      struct fr_text *text) {
    if (!present) {
        fr_text_addf(text, "  %20s", "-");
        return;
    }
    fr_text_addf(text, "  %6.1f %6.1f %6.2f", 100 * quality->median, 100 * quality->p90,
                 quality->rmse_log2);
}

static void add_curve(const struct fr_fit_op *op, const struct fr_fit_curve *curve,
                      struct fr_text *text) {
    const struct fr_fit_point *first = curve->points;
    fr_text_addf(text, "%-14s %-6s %5" PRId64 " %5d", fr_op_names[first->op],
                 fr_sample_level_names[first->level], first->n_ranks, curve->n_points);
    add_cells(&curve->log_ordinary, op->log_ordinary.present, text);
    add_cells(&curve->log, op->log.present, text);
    add_cells(&curve->segments, true, text);
    fr_text_addf(text, "  %2d  %s\n", curve->fit.count, op->use_log ? "log" : "segments");
}

static void add_spread(const struct fr_fit_result *result, struct fr_text *text) {
    int unsure = 0, slow = 0, samples = 0;
    for (int i = 0; i < result->n_points; i++) {
        unsure += result->points[i].uncertainty > 0.05;
        slow += result->points[i].n_slow;
        samples += result->points[i].n;
    }
    fr_text_addf(text,
                 "%d points, %d samples; %d medians known no better than 5 %%; "
                 "%d samples disturbed (kept)\n",
                 result->n_points, samples, unsure, slow);
}

static void add_device(const struct fr_fit_result *result, struct fr_text *text) {
    char rate[32], launch[32], latency[32];
    for (int i = 0; i < FR_DTYPE_COUNT; i++) {
        const struct fr_fit_gemm *gemm = &result->gemm[i];
        if (gemm->n_m == 0) continue;
        fr_text_addf(text,
                     "products %s: %d x %d x %d shapes; a shape from its neighbours: median "
                     "%.1f %%, p90 %.1f %%\n",
                     fr_dtype_names[i], gemm->n_m, gemm->n_n, gemm->n_k,
                     100 * gemm->quality.median, 100 * gemm->quality.p90);
        if (gemm->n_dropped)
            fr_text_addf(text, "  %d shapes dropped: the grid was not complete\n",
                         gemm->n_dropped);
    }
    fr_text_addf(
        text, "memory %s, call %s\n",
        fr_quantity_format(result->memory_rate_B_per_s, FR_QUANTITY_RATE, rate, sizeof rate),
        fr_quantity_format(result->launch_s, FR_QUANTITY_TIME, launch, sizeof launch));
    for (int i = 0; i < result->levels.count; i++) {
        const struct fr_level *level = &result->levels.level[i];
        fr_text_addf(
            text, "level %s: %" PRId64 " ranks, %s, %s\n", level->name, level->ranks,
            fr_quantity_format(level->latency_s, FR_QUANTITY_TIME, latency, sizeof latency),
            fr_quantity_format(level->rate_B_per_s, FR_QUANTITY_RATE, rate, sizeof rate));
    }
}

void fr_fit_print(const struct fr_fit_result *result, struct fr_text *text) {
    fr_text_addf(text, "Error of each fit: median %%, 90th percentile %%, RMSE in log2(us)\n");
    fr_text_addf(text, "%-14s %-6s %5s %5s  %20s  %20s  %20s  %2s  %s\n", "operation", "level",
                 "ranks", "sizes", "log, ordinary", "log, relative", "segments", "n",
                 "written");
    for (int i = 0; i < FR_OP_COUNT; i++)
        for (int c = 0; c < result->ops[i].n_curves; c++)
            add_curve(&result->ops[i], &result->ops[i].curves[c], text);
    add_spread(result, text);
    add_device(result, text);
}
