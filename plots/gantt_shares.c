/* Many slices of a pipeline: what share of each bin of time every kind of task takes, as bands of steps. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "plots/gantt_chart.h"
#include "plots/time_shares.h"

enum { LABELLED_ROWS = 16, LABEL_PX = 96, NARROW_LABEL_PX = 36, STRETCHES_MAX = 11 };
enum { STEPS = 16, THIN_STEPS = 4 };
_Static_assert((int)FR_TASK_COUNT <= (int)FR_SHARES_KINDS, "a new task needs its share");

static int bins(const struct fr_gantt_chart *c) {
    return (int)(c->plot.width / c->bin_px) / (c->rows.n > 12 ? 2 : 1);
}

/* The time at which a bin begins, as the axis has it. */
static double bin_on_axis(const struct fr_gantt_chart *c, int bin) {
    return fr_gantt_on_axis(c, c->timeline->makespan_s * bin / bins(c));
}

/* From which share to which a kind lies on those below it, in @p steps. */
static void stack(const float *share, int kind, int steps, int *low, int *high) {
    double below = 0, all = 0;
    for (int k = 0; k < FR_SHARES_KINDS; k++) {
        all += (double)share[k];
        below += k < kind ? (double)share[k] : 0;
    }
    double scale = steps / fmax(all, 1);
    *low = (int)lround(below * scale);
    *high = (int)lround((below + (double)share[kind]) * scale);
}

/* One kind of one lane as a band of steps, from @p top down; nothing where it takes no time.  A point
 * stands only where the band changes, and a blank line parts what does not touch. */
static bool add_band(struct fr_picture *p, const struct fr_gantt_chart *c,
                     const struct fr_shares *shares, int lane, int kind, double top,
                     double height, bool any) {
    int was_low = 0, was_high = 0;
    int steps = lane % (FR_STREAM_COUNT + 1) == 0 ? STEPS : THIN_STEPS;
    for (int bin = 0; bin <= shares->n_bins; bin++) {
        int low = 0, high = 0;
        if (bin < shares->n_bins)
            stack(fr_shares_at(shares, lane, bin), kind, steps, &low, &high);
        if (low == was_low && high == was_high) continue;
        if (high == low && was_high == was_low) continue;
        if (!any) fr_picture_block(p);
        double x = bin_on_axis(c, bin), unit = height / steps, bottom = top + height;
        if (was_high > was_low)
            FR_ROW(p, x, bottom - was_low * unit, bottom - was_high * unit);
        else if (any)
            fr_text_addf(&p->data, "\n");
        if (high > low) FR_ROW(p, x, bottom - low * unit, bottom - high * unit);
        any = true;
        was_low = low, was_high = high;
    }
    return any;
}

/* All bands of one kind, on the rows' streams. */
static void add_kind(struct fr_picture *p, const struct fr_gantt_chart *c,
                     const struct fr_shares *shares, int kind) {
    int lanes = FR_STREAM_COUNT + 1;
    bool any = false;
    for (int lane = 0; lane < shares->n_lanes; lane++) {
        int row = lane / lanes, s = lane % lanes;
        if (s == FR_STREAM_COUNT) continue;
        double height = c->height[s] * (s > 0 ? c->lanes[s] : 1);
        any = add_band(p, c, shares, lane, kind, row + c->top[s], height, any);
    }
    if (any)
        fr_picture_curve(p, p->n_blocks - 1, NULL,
                         "using 1:2:3 with filledcurves lc rgb '#%06" PRIx32
                         "' fs solid noborder",
                         fr_gantt_tasks[kind].colour);
}

/* A line above the bins most of which are on the critical path. */
static void add_critical(struct fr_picture *p, const struct fr_gantt_chart *c,
                         const struct fr_shares *shares) {
    int block = -1;
    for (int row = 0; row < c->rows.n; row++) {
        int lane = row * (FR_STREAM_COUNT + 1) + FR_STREAM_COUNT, begun = -1;
        for (int bin = 0; bin <= shares->n_bins; bin++) {
            double sum = 0;
            for (int k = 0; bin < shares->n_bins && k < FR_SHARES_KINDS; k++)
                sum += (double)fr_shares_at(shares, lane, bin)[k];
            bool critical = sum * c->rows.ranks_per_row >= 0.5;
            if (critical && begun < 0) begun = bin;
            if (critical || begun < 0) continue;
            if (block < 0) block = fr_picture_block(p);
            FR_ROW(p, bin_on_axis(c, begun), row, bin_on_axis(c, begun), bin_on_axis(c, bin),
                   row, row + 0.07);
            begun = -1;
        }
    }
    if (block >= 0)
        fr_picture_curve(
            p, block, NULL,
            "using 1:2:3:4:5:6 with boxxyerror lc rgb '#000000' fs solid noborder");
}

/* Which micro-batches a row computes on a stretch, "8-15", where they fit. */
void fr_gantt_add_ranges(struct fr_picture *p, const struct fr_gantt_chart *c) {
    const struct fr_timeline *t = c->timeline;
    int stretches = (int)(c->plot.width / (p->stack.on ? NARROW_LABEL_PX : LABEL_PX));
    int32_t low[LABELLED_ROWS][STRETCHES_MAX], high[LABELLED_ROWS][STRETCHES_MAX];
    if (c->rows.n > LABELLED_ROWS || c->rows.ranks_per_row > 1) return;
    if (stretches > STRETCHES_MAX) stretches = STRETCHES_MAX;
    for (int i = 0; i < LABELLED_ROWS * STRETCHES_MAX; i++)
        low[i / STRETCHES_MAX][i % STRETCHES_MAX] = INT32_MAX,
                                   high[i / STRETCHES_MAX][i % STRETCHES_MAX] = -1;
    for (int64_t i = 0; i < t->count; i++) {
        const struct fr_span *span = &t->spans[i];
        int at = (int)((span->start_s + span->end_s) / 2 / t->makespan_s * stretches);
        if (!fr_gantt_shown(c, span) || span->stream != FR_STREAM_COMPUTE || span->micro < 0)
            continue;
        if (at < 0 || at >= stretches) continue;
        int row = c->rows.row_of[span->rank];
        if (span->micro < low[row][at]) low[row][at] = span->micro;
        if (span->micro > high[row][at]) high[row][at] = span->micro;
    }
    for (int row = 0; row < c->rows.n; row++)
        for (int at = 0; at < stretches; at++) {
            char text[32];
            if (high[row][at] < 0) continue;
            snprintf(text, sizeof text,
                     low[row][at] == high[row][at] ? "%" PRId32 : "%" PRId32 "-%" PRId32,
                     low[row][at], high[row][at]);
            fr_picture_text(p, text, c->plot.left + (at + 0.5) * c->plot.width / stretches,
                            c->plot.top + (row + c->top[0] + c->height[0] / 2) * c->row_px,
                            "center", p->stack.on ? 7 : 9, "#000000");
        }
}

/* Lanes of a row: its streams, then whether it is on the critical path. */
fr_status fr_gantt_add_shares(struct fr_picture *p, const struct fr_gantt_chart *c,
                              struct fr_error *err) {
    const struct fr_timeline *t = c->timeline;
    struct fr_shares shares;
    double bins_per_s = bins(c) / t->makespan_s;
    FR_TRY(fr_shares_begin(&shares, c->rows.n * (FR_STREAM_COUNT + 1), bins(c), err));
    shares.weight = 1.0 / c->rows.ranks_per_row;
    for (int64_t i = 0; i < t->count; i++) {
        const struct fr_span *span = &t->spans[i];
        if (!fr_gantt_shown(c, span)) continue;
        int lane = c->rows.row_of[span->rank] * (FR_STREAM_COUNT + 1);
        double low = span->start_s * bins_per_s, high = span->end_s * bins_per_s;
        fr_shares_add(&shares, lane + span->stream, span->kind, low, high);
        if (span->critical)
            fr_shares_add(&shares, lane + FR_STREAM_COUNT, span->kind, low, high);
    }
    for (int k = 0; k < FR_TASK_COUNT; k++) add_kind(p, c, &shares, k);
    add_critical(p, c, &shares);
    fr_shares_free(&shares);
    return FR_OK;
}
