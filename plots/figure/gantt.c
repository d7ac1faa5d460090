/* A pipeline over time: a row a rank, stage 0 on top, what it computes as boxes and what it
 * communicates in thin lanes below. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "plots/gantt_rows.h"
#include "plots/picture.h"
#include "plots/scale.h"
#include "plots/time_shares.h"
#include "plots/trace_read.h"

enum { WIDTH_PX = 1300, TOP_PX = 84, BELOW_PX = 112, SLICES_MAX = 900 };
enum { BIN_PX = 8, LABELLED_ROWS = 16, LABEL_PX = 96, STEPS = 16, THIN_STEPS = 4 };
static const double left_px = 130, plot_px = 1070;

/* Okabe & Ito; a message in the darker relative of its pass. */
static const struct {
    const char *name;
    uint32_t colour;
    bool light_text;
} tasks[FR_TASK_COUNT] = {
    [FR_TASK_FORWARD] = {"forward", 0x56b4e9, false},
    [FR_TASK_BACKWARD] = {"backward", 0xe69f00, false},
    [FR_TASK_WEIGHT] = {"weight gradient", 0x009e73, true},
    [FR_TASK_COMPRESS] = {"compress", 0x8c564b, true},
    [FR_TASK_DECOMPRESS] = {"decompress", 0xc49c94, false},
    [FR_TASK_COMPRESSED_MESSAGE] = {"compressed message", 0x8c564b, true},
    [FR_TASK_FORWARD_MESSAGE] = {"forward message", 0x0072b2, true},
    [FR_TASK_BACKWARD_MESSAGE] = {"backward message", 0xd55e00, true},
    [FR_TASK_EXCHANGE] = {"exchange", 0x555555, true},
    [FR_TASK_GRADIENT] = {"gradient all-reduce", 0xcc79a7, false},
    [FR_TASK_EMBEDDING] = {"embedding all-reduce", 0xf0e442, false},
    [FR_TASK_OPTIMIZER] = {"optimizer", 0x999999, false},
    [FR_TASK_ELEMENTWISE] = {"element-wise", 0xbbbbbb, false},
    [FR_TASK_COLLECTIVE] = {"collective", 0x0072b2, true},
    [FR_TASK_COLLECTIVE_MESSAGE] = {"collective's message", 0x0072b2, true},
    [FR_TASK_RECOMPUTE] = {"recompute", 0xf2cf80, false}, /* backward's, hatched */
};
_Static_assert(FR_TASK_COUNT == 16, "a new task needs its name and colour above");
_Static_assert((int)FR_TASK_COUNT <= (int)FR_SHARES_KINDS, "a new task needs its share");

struct chart {
    const struct fr_timeline *timeline;
    struct fr_gantt_rows rows;
    double row_px;
    /* Of a stream in its row, from 0 to 1: where it begins, and the height of its lanes. */
    double top[FR_STREAM_COUNT], height[FR_STREAM_COUNT];
    int lanes[FR_STREAM_COUNT];
    const char *unit;
    double unit_s;
    bool part;     /* of the trace: --from, --to */
    double from_s; /* where the window begins: spans count from there */
    bool shares;   /* too many slices: see plots/time_shares.h */
};

static bool shown(const struct chart *c, const struct fr_span *span) {
    return c->rows.row_of[span->rank] >= 0 && span->end_s > span->start_s;
}

/* Computing above; below it the lanes of the other streams. */
static void divide_rows(struct chart *c) {
    int n_lanes = 0;
    double top = 0.67, bottom = 0.95;
    for (int64_t i = 0; i < c->timeline->count; i++) {
        const struct fr_span *span = &c->timeline->spans[i];
        if (shown(c, span) && c->lanes[span->stream] <= span->lane)
            c->lanes[span->stream] = span->lane + 1;
    }
    for (int s = 1; s < FR_STREAM_COUNT; s++) n_lanes += c->lanes[s];
    c->top[FR_STREAM_COMPUTE] = 0.08;
    c->height[FR_STREAM_COMPUTE] = n_lanes > 0 ? 0.56 : 0.84;
    for (int s = 1; n_lanes > 0 && s < FR_STREAM_COUNT; s++) {
        c->top[s] = top;
        c->height[s] = (bottom - 0.67) / n_lanes;
        top += c->height[s] * c->lanes[s];
    }
}

static void choose_unit(struct chart *c) {
    static const char *const units[] = {"s", "ms", "us", "ns"};
    int i = 0;
    for (c->unit_s = 1; i < 3 && c->timeline->makespan_s < c->unit_s; i++) c->unit_s *= 1e-3;
    c->unit = units[i];
}

/* A time of the window, as the axis has it. */
static double on_axis(const struct chart *c, double time_s) {
    return (c->from_s + time_s) / c->unit_s;
}

static void add_box(struct fr_picture *p, const struct chart *c, const struct fr_span *span) {
    double start = on_axis(c, span->start_s), end = on_axis(c, span->end_s);
    int row = c->rows.row_of[span->rank], lane = span->stream ? span->lane : 0;
    double top = row + c->top[span->stream] + c->height[span->stream] * lane;
    FR_ROW(p, start, row, start, end, top, top + c->height[span->stream]);
}

static void add_boxes(struct fr_picture *p, const struct chart *c, int kind) {
    const struct fr_timeline *t = c->timeline;
    int block = -1;
    for (int64_t i = 0; i < t->count; i++) {
        if (t->spans[i].kind != kind || !shown(c, &t->spans[i])) continue;
        if (block < 0) block = fr_picture_block(p);
        add_box(p, c, &t->spans[i]);
    }
    /* White between boxes that touch; messages, thin as they are, keep all their colour. */
    bool message = kind >= FR_TASK_FORWARD_MESSAGE && kind <= FR_TASK_EXCHANGE;
    if (block >= 0)
        fr_picture_curve(p, block, NULL,
                         "using 1:2:3:4:5:6 with boxxyerror lc rgb '#%06" PRIx32
                         "' lw 0.6 fs solid border rgb '#%06" PRIx32 "'",
                         tasks[kind].colour, message ? tasks[kind].colour : 0xffffff);
}

/* Activations computed anew, hatched in the colour of the backward pass they belong to. */
static void add_hatching(struct fr_picture *p, const struct chart *c) {
    const struct fr_timeline *t = c->timeline;
    int block = -1;
    for (int64_t i = 0; i < t->count; i++) {
        if (t->spans[i].kind != FR_TASK_RECOMPUTE || !shown(c, &t->spans[i])) continue;
        if (block < 0) block = fr_picture_block(p);
        add_box(p, c, &t->spans[i]);
    }
    if (block >= 0)
        fr_picture_curve(p, block, NULL,
                         "using 1:2:3:4:5:6 with boxxyerror lc rgb '#%06" PRIx32
                         "' lw 0.6 fs transparent pattern 4 noborder",
                         tasks[FR_TASK_BACKWARD].colour);
}

static void add_outlines(struct fr_picture *p, const struct chart *c) {
    const struct fr_timeline *t = c->timeline;
    int block = -1;
    for (int64_t i = 0; i < t->count; i++) {
        if (!t->spans[i].critical || !shown(c, &t->spans[i])) continue;
        if (block < 0) block = fr_picture_block(p);
        add_box(p, c, &t->spans[i]);
    }
    if (block >= 0)
        fr_picture_curve(p, block, NULL,
                         "using 1:2:3:4:5:6 with boxxyerror lc rgb '#000000' lw 1.4 "
                         "fs empty border rgb '#000000'");
}

/* The micro-batch in each box that has room for its digits. */
static void add_numbers(struct fr_picture *p, const struct chart *c) {
    const struct fr_timeline *t = c->timeline;
    int size = (int)fmax(8, fmin(12, 0.36 * c->row_px)), block = -1;
    for (int64_t i = 0; i < t->count; i++) {
        const struct fr_span *span = &t->spans[i];
        char text[16];
        snprintf(text, sizeof text, "%" PRId32, span->micro);
        double width_px = (span->end_s - span->start_s) / t->makespan_s * plot_px;
        if (span->stream != FR_STREAM_COMPUTE || span->micro < 0 || !shown(c, span) ||
            span->kind == FR_TASK_RECOMPUTE || /* its pass says so */
            fr_picture_text_px(text, size) + 4 > width_px)
            continue;
        if (block < 0) block = fr_picture_block(p);
        FR_ROW(p, on_axis(c, (span->start_s + span->end_s) / 2),
               c->rows.row_of[span->rank] + c->top[0] + c->height[0] / 2, span->micro,
               tasks[span->kind].light_text ? 0xffffff : 0);
    }
    if (block >= 0)
        fr_picture_curve(p, block, NULL,
                         "using 1:2:(sprintf('%%d', $3)):4 with labels tc rgb variable "
                         "font sprintf('%%s,%%g', FACE, %g * FONT)",
                         size / 12.0);
}

/* ---- many slices: what share of each bin every kind of task takes ----------------------------- */

static int bins(const struct chart *c) {
    return (int)plot_px / BIN_PX / (c->rows.n > 12 ? 2 : 1);
}

/* The time at which a bin begins, as the axis has it. */
static double bin_on_axis(const struct chart *c, int bin) {
    return on_axis(c, c->timeline->makespan_s * bin / bins(c));
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
static bool add_band(struct fr_picture *p, const struct chart *c,
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
static void add_kind(struct fr_picture *p, const struct chart *c,
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
                         tasks[kind].colour);
}

/* A line above the bins most of which are on the critical path. */
static void add_critical(struct fr_picture *p, const struct chart *c,
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

/* Which micro-batches a row computes on a stretch, "8-15", where there is room. */
static void add_ranges(struct fr_picture *p, const struct chart *c) {
    const struct fr_timeline *t = c->timeline;
    enum { STRETCHES = 1070 / LABEL_PX };
    int32_t low[LABELLED_ROWS][STRETCHES], high[LABELLED_ROWS][STRETCHES];
    if (c->rows.n > LABELLED_ROWS || c->rows.ranks_per_row > 1) return;
    for (int i = 0; i < LABELLED_ROWS * STRETCHES; i++)
        low[i / STRETCHES][i % STRETCHES] = INT32_MAX, high[i / STRETCHES][i % STRETCHES] = -1;
    for (int64_t i = 0; i < t->count; i++) {
        const struct fr_span *span = &t->spans[i];
        int at = (int)((span->start_s + span->end_s) / 2 / t->makespan_s * STRETCHES);
        if (!shown(c, span) || span->stream != FR_STREAM_COMPUTE || span->micro < 0) continue;
        if (at < 0 || at >= STRETCHES) continue;
        int row = c->rows.row_of[span->rank];
        if (span->micro < low[row][at]) low[row][at] = span->micro;
        if (span->micro > high[row][at]) high[row][at] = span->micro;
    }
    for (int row = 0; row < c->rows.n; row++)
        for (int at = 0; at < STRETCHES; at++) {
            char text[32];
            if (high[row][at] < 0) continue;
            snprintf(text, sizeof text,
                     low[row][at] == high[row][at] ? "%" PRId32 : "%" PRId32 "-%" PRId32,
                     low[row][at], high[row][at]);
            fr_picture_text(p, text, left_px + (at + 0.5) * plot_px / STRETCHES,
                            TOP_PX + (row + c->top[0] + c->height[0] / 2) * c->row_px, "center",
                            9, "#000000");
        }
}

/* Lanes of a row: its streams, then whether it is on the critical path. */
static fr_status add_shares(struct fr_picture *p, const struct chart *c, struct fr_error *err) {
    const struct fr_timeline *t = c->timeline;
    struct fr_shares shares;
    double bins_per_s = bins(c) / t->makespan_s;
    FR_TRY(fr_shares_begin(&shares, c->rows.n * (FR_STREAM_COUNT + 1), bins(c), err));
    shares.weight = 1.0 / c->rows.ranks_per_row;
    for (int64_t i = 0; i < t->count; i++) {
        const struct fr_span *span = &t->spans[i];
        if (!shown(c, span)) continue;
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

/* Where the next swatch goes. */
struct legend {
    double x_px, y_px;
};

/* A swatch and its name, on a line of its own where the last one is full. */
static void add_legend(struct fr_picture *p, struct legend *at, const char *name,
                       uint32_t colour, uint32_t border) {
    const double side_px = 12, width_px = 24 + fr_picture_text_px(name, 11);
    if (at->x_px + width_px > WIDTH_PX - 20) *at = (struct legend){20, at->y_px + 18};
    fr_text_addf(&p->script,
                 "set object rect from screen %.5f,%.5f to screen %.5f,%.5f fc rgb '#%06" PRIx32
                 "' fs solid border rgb '#%06" PRIx32 "'\n",
                 at->x_px / p->width_px, 1 - (at->y_px + side_px / 2) / p->height_px,
                 (at->x_px + 1.5 * side_px) / p->width_px,
                 1 - (at->y_px - side_px / 2) / p->height_px, colour, border);
    fr_picture_text(p, name, at->x_px + 24, at->y_px, "left", 11, "#000000");
    at->x_px += width_px + 22;
}

static void add_legends(struct fr_picture *p, const struct chart *c) {
    bool used[FR_TASK_COUNT] = {false}, critical = false;
    struct legend at = {20, 48};
    for (int64_t i = 0; i < c->timeline->count; i++) {
        const struct fr_span *span = &c->timeline->spans[i];
        used[span->kind] = used[span->kind] || shown(c, span);
        critical = critical || (span->critical && shown(c, span));
    }
    for (int k = 0; k < FR_TASK_COUNT; k++)
        if (used[k]) add_legend(p, &at, tasks[k].name, tasks[k].colour, tasks[k].colour);
    add_legend(p, &at, "idle", 0xffffff, 0xbbbbbb);
    if (critical) add_legend(p, &at, "critical path", c->shares ? 0 : 0xffffff, 0);
}

/* One past the last rank that is shown. */
static int32_t rank_end(const struct chart *c) {
    int32_t end = c->timeline->n_ranks;
    while (end > 0 && c->rows.row_of[end - 1] < 0) end--;
    return end;
}

/* Which rank on the left of its row, how long it computes nothing on the right. */
static void add_row_texts(struct fr_picture *p, const struct chart *c) {
    const struct fr_timeline *t = c->timeline;
    int size = (int)fmax(8, fmin(11, 0.5 * c->row_px));
    char text[48];
    for (int i = 0; i < c->rows.n; i++) {
        int32_t rank = c->rows.rank[i], stage = rank % t->n_stages;
        double y_px = TOP_PX + (i + c->top[0] + c->height[0] / 2) * c->row_px;
        if (t->n_stages == t->n_ranks)
            snprintf(text, sizeof text, "stage %" PRId32, stage);
        else
            snprintf(text, sizeof text, "rank %" PRId32 ", stage %" PRId32, rank, stage);
        if (t->n_stages == 1 && t->n_ranks > 1)
            snprintf(text, sizeof text, "rank %" PRId32, rank);
        if (c->rows.ranks_per_row > 1) {
            int32_t last = i + 1 < c->rows.n ? c->rows.rank[i + 1] : rank_end(c);
            snprintf(text, sizeof text, "stages %" PRId32 "-%" PRId32, stage,
                     (last - 1) % t->n_stages);
        }
        fr_picture_text(p, text, left_px - 10, y_px, "right", size, "#000000");
        snprintf(text, sizeof text, "%.1f %%", 100 * c->rows.row_not_computing[i]);
        fr_picture_text(p, text, left_px + plot_px + 10, y_px, "left", size, "#000000");
    }
    fr_picture_text(p, "not", left_px + plot_px + 10, TOP_PX - 20, "left", 10, "#555555");
    fr_picture_text(p, "computing", left_px + plot_px + 10, TOP_PX - 8, "left", 10, "#555555");
}

static void add_idle(struct fr_picture *p, const struct chart *c) {
    int block = fr_picture_block(p);
    for (int i = 0; i < c->rows.n; i++)
        FR_ROW(p, on_axis(c, 0), i, on_axis(c, 0), on_axis(c, c->timeline->makespan_s),
               i + c->top[0], i + c->top[0] + c->height[0]);
    fr_picture_curve(p, block, NULL,
                     "using 1:2:3:4:5:6 with boxxyerror lc rgb '#ffffff' lw 0.8 fs solid "
                     "border rgb '#bbbbbb'");
}

static fr_status draw_chart(struct fr_picture *p, const struct chart *c, struct fr_error *err) {
    struct fr_box box = {left_px, TOP_PX, plot_px, c->row_px * c->rows.n};
    char label[32];
    fr_status status = FR_OK;
    fr_picture_panel(p, &box, "");
    fr_text_addf(&p->script,
                 "set border 1\nunset grid\nunset ytics\nset xrange [%.9g:%.9g]\n"
                 "set yrange [%d:0]\n",
                 on_axis(c, 0), on_axis(c, c->timeline->makespan_s), c->rows.n);
    snprintf(label, sizeof label, "time [%s]", c->unit);
    fr_picture_axis_label(p, "x", label);
    add_legends(p, c);
    add_row_texts(p, c);
    if (c->shares) add_ranges(p, c);
    add_idle(p, c);
    if (c->shares)
        status = add_shares(p, c, err);
    else {
        for (int k = 0; k < FR_TASK_COUNT; k++) add_boxes(p, c, k);
        add_hatching(p, c);
        add_outlines(p, c);
        add_numbers(p, c);
    }
    fr_picture_plotted(p);
    return status;
}

static void add_texts(struct fr_picture *p, const struct chart *c,
                      const struct fr_trace *trace) {
    char makespan[40];
    fr_text_addf(
        &p->title, "%s: %s %s",
        trace->title.length > 0 ? fr_text_get(&trace->title) : "Pipeline",
        c->part ? "a stretch of" : "makespan",
        fr_scale_text(c->timeline->makespan_s, FR_QUANTITY_TIME, makespan, sizeof makespan));
    if (trace->bubble.length > 0 && !c->part) /* it is of the whole */
        fr_text_addf(&p->title, ", bubble %s", fr_text_get(&trace->bubble));
    fr_text_addf(&p->note, "%s", fr_text_get(&c->rows.said));
    if (c->shares)
        fr_text_addf(&p->note,
                     "%" PRId64
                     " slices: heights are shares of the time, numbers the micro-batches "
                     "computed there; --from and --to show a part of it.  ",
                     c->rows.slices);
    fr_text_addf(&p->note,
                 "On the right the share of the %s in which a rank computes nothing: %.1f %% "
                 "in the mean.",
                 c->part ? "stretch" : "makespan", 100 * c->rows.not_computing_all);
    fr_text_addf(&p->footer, "%s", fr_text_get(&trace->footer));
}

/* Cut the timeline to [from, to] of it; its spans count from there on.  @return where it begins. */
static double cut_window(struct fr_timeline *t, double from_s, double to_s) {
    int64_t kept = 0;
    if (!(to_s < t->makespan_s)) to_s = t->makespan_s;
    for (int64_t i = 0; i < t->count; i++) {
        struct fr_span span = t->spans[i];
        if (span.end_s <= from_s || span.start_s >= to_s) continue;
        span.start_s = fmax(span.start_s, from_s) - from_s;
        span.end_s = fmin(span.end_s, to_s) - from_s;
        t->spans[kept++] = span;
    }
    t->count = kept;
    t->makespan_s = to_s - from_s;
    return from_s;
}

static fr_status check_window(const struct fr_figure_options *o, const struct fr_timeline *t,
                              struct fr_error *err) {
    char whole[40];
    if (o->from_s < t->makespan_s && (o->to_s == 0 || o->to_s > o->from_s)) return FR_OK;
    return fr_fail(err, FR_ERR_USAGE, o->from_s < t->makespan_s ? "--to" : "--from",
                   "leaves nothing of the trace, which takes %s",
                   fr_scale_text(t->makespan_s, FR_QUANTITY_TIME, whole, sizeof whole));
}

static fr_status draw_trace(struct fr_picture *p, struct fr_trace *trace,
                            struct fr_error *err) {
    const struct fr_figure_options *o = p->o;
    struct chart c = {.timeline = &trace->timeline};
    c.part = o && (o->from_s > 0 || o->to_s > 0);
    if (c.part) {
        FR_TRY(check_window(o, &trace->timeline, err));
        c.from_s = cut_window(&trace->timeline, o->from_s, o->to_s > 0 ? o->to_s : HUGE_VAL);
    }
    fr_status status = fr_gantt_rows_make(c.timeline, &c.rows, err);
    if (status == FR_OK) {
        c.row_px = fmax(16, fmin(54, 640.0 / c.rows.n));
        c.shares = c.rows.slices > SLICES_MAX || c.rows.ranks_per_row > 1;
        p->height_px = (int)(TOP_PX + c.row_px * c.rows.n) + BELOW_PX;
        divide_rows(&c);
        choose_unit(&c);
        add_texts(p, &c, trace);
        status = draw_chart(p, &c, err);
    }
    fr_gantt_rows_free(&c.rows);
    return status;
}

static fr_status draw(struct fr_picture *p, const struct fr_json *roots, int n_inputs,
                      struct fr_error *err) {
    struct fr_trace trace = {0};
    (void)n_inputs;
    fr_status status = fr_trace_read(roots, &trace, err);
    if (status == FR_OK) status = draw_trace(p, &trace, err);
    fr_trace_free(&trace);
    return status;
}

const struct fr_figure fr_figure_gantt = {
    .name = "gantt",
    .summary = "a pipeline over time: tasks and messages of each rank, bubbles, critical path",
    .inputs = "a Chrome trace of forerun simulate --trace FILE.json",
    .size_px = {WIDTH_PX, TOP_PX + BELOW_PX},
    .one_input = true,
    .draw = draw,
};
