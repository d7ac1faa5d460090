/* A pipeline over time: a row a rank, stage 0 on top, what it computes as boxes and what it
 * communicates in thin lanes below. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text/readable.h"
#include "plots/gantt_chart.h"
#include "plots/scale.h"
#include "plots/trace_read.h"

enum { WIDTH_PX = 1300, TOP_PX = 84, BELOW_PX = 112, SLICES_MAX = 900, THIN_PX = 3 };
enum { BIN_PX = 8, NARROW_BIN_PX = 3, NARROW_LEFT_PX = 58, NARROW_RIGHT_PX = 48 };
static const double left_px = 130, plot_px = 1070;

/* Okabe & Ito; a message in the darker relative of its pass. */
const struct fr_gantt_task fr_gantt_tasks[FR_TASK_COUNT] = {
    [FR_TASK_FORWARD] = {"forward", 0x55b07a, false},
    [FR_TASK_BACKWARD] = {"backward", 0xa6dbb8, false},
    [FR_TASK_WEIGHT] = {"weight gradient", 0x999933, false},
    [FR_TASK_COMPRESS] = {"compress", 0xddcc77, false},
    [FR_TASK_DECOMPRESS] = {"decompress", 0xefe6bb, false},
    [FR_TASK_FORWARD_COMPRESS] = {"compress forward", 0xb59b3a, false},
    [FR_TASK_FORWARD_DECOMPRESS] = {"decompress forward", 0xd9c98a, false},
    [FR_TASK_COMPRESSED_MESSAGE] = {"compressed message", 0xddcc77, false},
    [FR_TASK_COMPRESSED_FORWARD] = {"compressed forward message", 0xb59b3a, false},
    [FR_TASK_FORWARD_MESSAGE] = {"forward message", 0x88ccee, false},
    [FR_TASK_BACKWARD_MESSAGE] = {"backward message", 0x4a90b8, true},
    [FR_TASK_EXCHANGE] = {"exchange", 0x555555, true},
    [FR_TASK_GRADIENT] = {"gradient all-reduce", 0x882255, true},
    [FR_TASK_EMBEDDING] = {"embedding all-reduce", 0xcc6677, false},
    [FR_TASK_OPTIMIZER] = {"optimizer", 0x999999, false},
    [FR_TASK_ELEMENTWISE] = {"element-wise", 0xbbbbbb, false},
    [FR_TASK_COLLECTIVE] = {"collective", 0x332288, true},
    [FR_TASK_COLLECTIVE_MESSAGE] = {"collective's message", 0x332288, true},
    [FR_TASK_RECOMPUTE] = {"recompute", 0xd9f0e0, false}, /* backward's, hatched */
    [FR_TASK_GRADIENT_CODEC] = {"gradient codec", 0xaa4499, true},
};
_Static_assert(FR_TASK_COUNT == 20, "a new task needs its name and colour above");

/* Computing above; below it the lanes of the other streams. */
static void divide_rows(struct fr_gantt_chart *c) {
    int n_lanes = 0;
    double top = 0.67, bottom = 0.95;
    for (int64_t i = 0; i < c->timeline->count; i++) {
        const struct fr_span *span = &c->timeline->spans[i];
        if (fr_gantt_shown(c, span) && c->lanes[span->stream] <= span->lane)
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

static void choose_unit(struct fr_gantt_chart *c) {
    static const char *const units[] = {"s", "ms", "us", "ns"};
    int i = 0;
    for (c->unit_s = 1; i < 3 && c->timeline->makespan_s < c->unit_s; i++) c->unit_s *= 1e-3;
    c->unit = units[i];
}

static void add_box(struct fr_picture *p, const struct fr_gantt_chart *c,
                    const struct fr_span *span) {
    double start = fr_gantt_on_axis(c, span->start_s), end = fr_gantt_on_axis(c, span->end_s);
    int row = c->rows.row_of[span->rank], lane = span->stream ? span->lane : 0;
    double top = row + c->top[span->stream] + c->height[span->stream] * lane;
    FR_ROW(p, start, row, start, end, top, top + c->height[span->stream]);
}

static double width_px_of(const struct fr_gantt_chart *c, const struct fr_span *span) {
    return (span->end_s - span->start_s) / c->timeline->makespan_s * c->plot.width;
}

static void add_boxes(struct fr_picture *p, const struct fr_gantt_chart *c, int kind) {
    const struct fr_timeline *t = c->timeline;
    double width_px = 0;
    int block = -1, n = 0;
    for (int64_t i = 0; i < t->count; i++) {
        if (t->spans[i].kind != kind || !fr_gantt_shown(c, &t->spans[i])) continue;
        if (block < 0) block = fr_picture_block(p);
        add_box(p, c, &t->spans[i]);
        width_px += width_px_of(c, &t->spans[i]);
        n++;
    }
    /* White between boxes that touch; messages and buckets, thin as they are, keep all their colour. */
    bool message =
        (kind >= FR_TASK_FORWARD_MESSAGE && kind <= FR_TASK_EXCHANGE) || width_px < THIN_PX * n;
    if (block >= 0)
        fr_picture_curve(p, block, NULL,
                         "using 1:2:3:4:5:6 with boxxyerror lc rgb '#%06" PRIx32
                         "' lw 0.6 fs solid border rgb '#%06" PRIx32 "'",
                         fr_gantt_tasks[kind].colour,
                         message ? fr_gantt_tasks[kind].colour : 0xffffff);
}

/* Activations computed anew, hatched in the colour of the backward pass they belong to. */
static void add_hatching(struct fr_picture *p, const struct fr_gantt_chart *c) {
    const struct fr_timeline *t = c->timeline;
    int block = -1;
    for (int64_t i = 0; i < t->count; i++) {
        if (t->spans[i].kind != FR_TASK_RECOMPUTE || !fr_gantt_shown(c, &t->spans[i])) continue;
        if (block < 0) block = fr_picture_block(p);
        add_box(p, c, &t->spans[i]);
    }
    if (block >= 0)
        fr_picture_curve(p, block, NULL,
                         "using 1:2:3:4:5:6 with boxxyerror lc rgb '#%06" PRIx32
                         "' lw 0.6 fs transparent pattern 4 noborder",
                         fr_gantt_tasks[FR_TASK_BACKWARD].colour);
}

/* Collectives too thin for a frame, such as the buckets of gradients, have its upper and lower side: frames beside each
 * other would be one black bar. */
static bool lacks_sides(const struct fr_gantt_chart *c, const struct fr_span *span) {
    return span->stream == FR_STREAM_COLLECTIVE && width_px_of(c, span) < THIN_PX;
}

static void add_long_sides(struct fr_picture *p, const struct fr_gantt_chart *c) {
    const struct fr_timeline *t = c->timeline;
    int block = -1;
    for (int64_t i = 0; i < t->count; i++) {
        const struct fr_span *span = &t->spans[i];
        if (!span->critical || !fr_gantt_shown(c, span) || !lacks_sides(c, span)) continue;
        const double start = fr_gantt_on_axis(c, span->start_s),
                     length = fr_gantt_on_axis(c, span->end_s) - start,
                     height = c->height[span->stream],
                     top = c->rows.row_of[span->rank] + c->top[span->stream] +
                           height * span->lane;
        if (block < 0) block = fr_picture_block(p);
        FR_ROW(p, start, top, length, 0);
        FR_ROW(p, start, top + height, length, 0);
    }
    if (block >= 0)
        fr_picture_curve(p, block, NULL,
                         "using 1:2:3:4 with vectors nohead lc rgb '#000000' lw 1");
}

static void add_outlines(struct fr_picture *p, const struct fr_gantt_chart *c) {
    const struct fr_timeline *t = c->timeline;
    int block = -1;
    add_long_sides(p, c);
    for (int64_t i = 0; i < t->count; i++) {
        const struct fr_span *span = &t->spans[i];
        if (!span->critical || !fr_gantt_shown(c, span) || lacks_sides(c, span)) continue;
        if (block < 0) block = fr_picture_block(p);
        add_box(p, c, span);
    }
    if (block >= 0)
        fr_picture_curve(p, block, NULL,
                         "using 1:2:3:4:5:6 with boxxyerror lc rgb '#000000' lw 1.4 "
                         "fs empty border rgb '#000000'");
}

/* The micro-batch in each box that is wide enough for its digits. */
static void add_numbers(struct fr_picture *p, const struct fr_gantt_chart *c) {
    const struct fr_timeline *t = c->timeline;
    int size = (int)fmax(8, fmin(12, 0.36 * c->row_px)), block = -1;
    for (int64_t i = 0; i < t->count; i++) {
        const struct fr_span *span = &t->spans[i];
        char text[16];
        snprintf(text, sizeof text, "%" PRId32, span->micro);
        double width_px = width_px_of(c, span);
        if (span->stream != FR_STREAM_COMPUTE || span->micro < 0 || !fr_gantt_shown(c, span) ||
            span->kind == FR_TASK_RECOMPUTE || /* its pass says so */
            fr_picture_text_px(text, size) + 4 > width_px)
            continue;
        if (block < 0) block = fr_picture_block(p);
        FR_ROW(p, fr_gantt_on_axis(c, (span->start_s + span->end_s) / 2),
               c->rows.row_of[span->rank] + c->top[0] + c->height[0] / 2, span->micro,
               fr_gantt_tasks[span->kind].light_text ? 0xffffff : 0);
    }
    if (block >= 0)
        fr_picture_curve(p, block, NULL,
                         "using 1:2:(sprintf('%%d', $3)):4 with labels tc rgb variable "
                         "font sprintf('%%s,%%g', FACE, %g * FONT)",
                         size / 12.0);
}

/* ---- texts around it ---------------------------------------------------------------------- */

/* Where the next swatch goes. */
struct legend {
    double x_px, y_px;
};

/* A swatch and its name, on a line of its own where the last one is full. */
static void add_legend(struct fr_picture *p, struct legend *at, const char *name,
                       uint32_t colour, uint32_t border) {
    int size = p->stack.on ? 9 : 11;
    const double side_px = 12, width_px = 24 + fr_picture_text_px(name, size);
    if (at->x_px + width_px > p->width_px - (p->stack.on ? 0 : 20)) {
        *at = (struct legend){p->stack.on ? 8 : 20, at->y_px + (p->stack.on ? 15 : 18)};
        p->n_keys++;
    }
    fr_text_addf(&p->script,
                 "set object rect from screen %.5f,%.5f to screen %.5f,%.5f fc rgb '#%06" PRIx32
                 "' fs solid border rgb '#%06" PRIx32 "'\n",
                 at->x_px / p->width_px, 1 - (at->y_px + side_px / 2) / p->height_px,
                 (at->x_px + 1.5 * side_px) / p->width_px,
                 1 - (at->y_px - side_px / 2) / p->height_px, colour, border);
    fr_picture_text(p, name, at->x_px + 24, at->y_px, "left", size, "#000000");
    at->x_px += width_px + (p->stack.on ? 14 : 22);
}

static void add_legends(struct fr_picture *p, const struct fr_gantt_chart *c) {
    bool used[FR_TASK_COUNT] = {false}, critical = false;
    struct legend at = {20, 48};
    if (p->stack.on) at = (struct legend){8, p->stack.key_px + 18};
    p->n_keys += p->stack.on ? 2 : 1; /* lines of it, and one that parts it from the axis */
    for (int64_t i = 0; i < c->timeline->count; i++) {
        const struct fr_span *span = &c->timeline->spans[i];
        used[span->kind] = used[span->kind] || fr_gantt_shown(c, span);
        critical = critical || (span->critical && fr_gantt_shown(c, span));
    }
    for (int k = 0; k < FR_TASK_COUNT; k++)
        if (used[k])
            add_legend(p, &at, fr_gantt_tasks[k].name, fr_gantt_tasks[k].colour,
                       fr_gantt_tasks[k].colour);
    add_legend(p, &at, "idle", 0xffffff, 0xbbbbbb);
    if (critical) add_legend(p, &at, "critical path", c->shares ? 0 : 0xffffff, 0);
}

/* One past the last rank that is shown. */
static int32_t rank_end(const struct fr_gantt_chart *c) {
    int32_t end = c->timeline->n_ranks;
    while (end > 0 && c->rows.row_of[end - 1] < 0) end--;
    return end;
}

/* Which rank on the left of its row, how long it computes nothing on the right. */
static void add_row_texts(struct fr_picture *p, const struct fr_gantt_chart *c) {
    const struct fr_timeline *t = c->timeline;
    int size = p->stack.on ? 8 : (int)fmax(8, fmin(11, 0.5 * c->row_px));
    double right_px = c->plot.left + c->plot.width, gap_px = p->stack.on ? 4 : 10;
    char text[48];
    for (int i = 0; i < c->rows.n; i++) {
        int32_t rank = c->rows.rank[i], stage = rank % t->n_stages;
        double y_px = c->plot.top + (i + c->top[0] + c->height[0] / 2) * c->row_px;
        if (t->n_stages == t->n_ranks)
            snprintf(text, sizeof text, "stage %" PRId32, stage);
        else
            snprintf(text, sizeof text, "rank %" PRId32 ", stage %" PRId32, rank, stage);
        if ((t->n_stages == 1 || p->stack.on) && t->n_ranks > 1 && t->n_stages != t->n_ranks)
            snprintf(text, sizeof text, "rank %" PRId32, rank);
        if (c->rows.ranks_per_row > 1) {
            int32_t last = i + 1 < c->rows.n ? c->rows.rank[i + 1] : rank_end(c);
            snprintf(text, sizeof text, "stages %" PRId32 "-%" PRId32, stage,
                     (last - 1) % t->n_stages);
        }
        fr_picture_text(p, text, c->plot.left - gap_px, y_px, "right", size, "#000000");
        snprintf(text, sizeof text, "%.1f %%", 100 * c->rows.row_not_computing[i]);
        fr_picture_text(p, text, right_px + gap_px, y_px, "left", size, "#000000");
    }
    if (p->stack.on) return; /* the note says what it is */
    fr_picture_text(p, "not", right_px + 10, TOP_PX - 20, "left", 10, "#555555");
    fr_picture_text(p, "computing", right_px + 10, TOP_PX - 8, "left", 10, "#555555");
}

static void add_idle(struct fr_picture *p, const struct fr_gantt_chart *c) {
    int block = fr_picture_block(p);
    for (int i = 0; i < c->rows.n; i++)
        FR_ROW(p, fr_gantt_on_axis(c, 0), i, fr_gantt_on_axis(c, 0),
               fr_gantt_on_axis(c, c->timeline->makespan_s), i + c->top[0],
               i + c->top[0] + c->height[0]);
    fr_picture_curve(p, block, NULL,
                     "using 1:2:3:4:5:6 with boxxyerror lc rgb '#ffffff' lw 0.8 fs solid "
                     "border rgb '#bbbbbb'");
}

static fr_status draw_chart(struct fr_picture *p, struct fr_gantt_chart *c,
                            struct fr_error *err) {
    struct fr_box box = {left_px, TOP_PX, plot_px, c->row_px * c->rows.n};
    char label[32];
    fr_status status = FR_OK;
    p->stack.plot_px = box.height;
    p->stack.left_px = NARROW_LEFT_PX, p->stack.right_px = NARROW_RIGHT_PX;
    fr_picture_panel(p, &box, "");
    c->plot = p->placed;
    c->bin_px = p->stack.on ? NARROW_BIN_PX : BIN_PX;
    fr_text_addf(&p->script,
                 "set border 1\nunset grid\nunset ytics\nset xrange [%.9g:%.9g]\n"
                 "set yrange [%d:0]\n",
                 fr_gantt_on_axis(c, 0), fr_gantt_on_axis(c, c->timeline->makespan_s),
                 c->rows.n);
    snprintf(label, sizeof label, "time [%s]", c->unit);
    fr_picture_axis_label(p, "x", label);
    add_legends(p, c);
    add_row_texts(p, c);
    if (c->shares) fr_gantt_add_ranges(p, c);
    add_idle(p, c);
    if (c->shares)
        status = fr_gantt_add_shares(p, c, err);
    else {
        for (int k = 0; k < FR_TASK_COUNT; k++) add_boxes(p, c, k);
        add_hatching(p, c);
        add_outlines(p, c);
        add_numbers(p, c);
    }
    fr_picture_plotted(p);
    return status;
}

static void add_texts(struct fr_picture *p, const struct fr_gantt_chart *c,
                      const struct fr_trace *trace) {
    char makespan[40], slices[FR_READABLE];
    fr_text_addf(
        &p->title, "%s: %s %s",
        trace->title.length > 0 ? fr_text_get(&trace->title) : "Pipeline",
        c->part ? "a stretch of" : "makespan",
        fr_scale_text(c->timeline->makespan_s, FR_QUANTITY_TIME, makespan, sizeof makespan));
    if (trace->bubble.length > 0 && !c->part) /* it is of the whole */
        fr_text_addf(&p->title, ", bubble %s", fr_text_get(&trace->bubble));
    fr_text_addf(&p->note, "%s", fr_text_get(&c->rows.omitted));
    if (c->shares)
        fr_text_addf(&p->note,
                     "%s slices: heights are shares of the time, numbers the micro-batches "
                     "computed there; --from and --to show a part of it.  ",
                     fr_readable_count(c->rows.slices, slices));
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
    struct fr_gantt_chart c = {.timeline = &trace->timeline};
    c.part = o && (o->from_s > 0 || o->to_s > 0);
    if (c.part) {
        FR_TRY(check_window(o, &trace->timeline, err));
        c.from_s = cut_window(&trace->timeline, o->from_s, o->to_s > 0 ? o->to_s : HUGE_VAL);
    }
    fr_status status = fr_gantt_rows_make(c.timeline, &c.rows, err);
    if (status == FR_OK) {
        double most_px = p->stack.on ? 30 : 54, all_px = p->stack.on ? 320 : 640;
        c.row_px = fmax(16, fmin(most_px, all_px / c.rows.n));
        c.shares = c.rows.slices > SLICES_MAX || c.rows.ranks_per_row > 1;
        if (!p->stack.on) p->height_px = (int)(TOP_PX + c.row_px * c.rows.n) + BELOW_PX;
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
    .stacks = true,
    .draw = draw,
};
