/* A pipeline over time: a row a rank, stage 0 on top, what it computes as boxes and what it
 * communicates in thin lanes below. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "plots/gantt_rows.h"
#include "plots/picture.h"
#include "plots/pixel_mix.h"
#include "plots/scale.h"
#include "plots/trace_read.h"

enum { WIDTH_PX = 1300, TOP_PX = 84, BELOW_PX = 112, SLICES_MAX = 20000 };
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
_Static_assert((int)FR_TASK_COUNT <= (int)FR_MIX_COLOURS, "a new task needs room in a mix");

struct chart {
    const struct fr_timeline *timeline;
    struct fr_gantt_rows rows;
    double row_px;
    /* Of a stream in its row, from 0 to 1: where it begins, and the height of its lanes. */
    double top[FR_STREAM_COUNT], height[FR_STREAM_COUNT];
    int lanes[FR_STREAM_COUNT];
    const char *unit;
    double unit_s;
    bool mixed; /* too many slices: see plots/pixel_mix.h */
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

static void add_box(struct fr_picture *p, const struct chart *c, const struct fr_span *span) {
    double start = span->start_s / c->unit_s, end = span->end_s / c->unit_s;
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
        FR_ROW(p, (span->start_s + span->end_s) / 2 / c->unit_s,
               c->rows.row_of[span->rank] + c->top[0] + c->height[0] / 2, span->micro,
               tasks[span->kind].light_text ? 0xffffff : 0);
    }
    if (block >= 0)
        fr_picture_curve(p, block, NULL,
                         "using 1:2:(sprintf('%%d', $3)):4 with labels tc rgb variable "
                         "font sprintf('%%s,%%g', FACE, %g * FONT)",
                         size / 12.0);
}

/* Stretches of one colour; white needs no box. */
static void add_lanes(struct fr_picture *p, const struct chart *c, const struct fr_mix *mix,
                      bool critical) {
    int lanes = FR_STREAM_COUNT + 1, block = -1;
    double pixel = c->timeline->makespan_s / c->unit_s / plot_px;
    for (int lane = 0; lane < mix->n_lanes; lane++) {
        int row = lane / lanes, s = lane % lanes;
        if ((s == FR_STREAM_COUNT) != critical) continue;
        double top = row + (critical ? 0 : c->top[s]);
        double height = critical ? 0.07 : c->height[s] * (s > 0 ? c->lanes[s] : 1);
        uint32_t colour = 0;
        for (int at = 0, next; at < mix->n_pixels; at = next) {
            next = fr_mix_run(mix, lane, at, &colour);
            if (colour == 0xffffff) continue;
            if (block < 0) block = fr_picture_block(p);
            FR_ROW(p, at * pixel, row, at * pixel, next * pixel, top, top + height,
                   critical ? 0 : colour);
        }
    }
    if (block >= 0)
        fr_picture_curve(p, block, NULL,
                         "using 1:2:3:4:5:6:7 with boxxyerror lc rgb variable fs solid "
                         "noborder");
}

/* Lanes of a row: its streams, then whether it is on the critical path. */
static fr_status add_mixed(struct fr_picture *p, const struct chart *c, struct fr_error *err) {
    const struct fr_timeline *t = c->timeline;
    struct fr_mix mix;
    double px_per_s = plot_px / t->makespan_s;
    FR_TRY(fr_mix_begin(&mix, c->rows.n * (FR_STREAM_COUNT + 1), (int)plot_px, err));
    for (int k = 0; k < FR_TASK_COUNT; k++) mix.colour[k] = tasks[k].colour;
    mix.weight = 1.0 / c->rows.ranks_per_row;
    for (int64_t i = 0; i < t->count; i++) {
        const struct fr_span *span = &t->spans[i];
        if (!shown(c, span)) continue;
        int lane = c->rows.row_of[span->rank] * (FR_STREAM_COUNT + 1);
        double low = span->start_s * px_per_s, high = span->end_s * px_per_s;
        fr_mix_add(&mix, lane + span->stream, span->kind, low, high);
        if (span->critical) fr_mix_add(&mix, lane + FR_STREAM_COUNT, span->kind, low, high);
    }
    add_lanes(p, c, &mix, false);
    add_lanes(p, c, &mix, true);
    fr_mix_free(&mix);
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
    if (critical) add_legend(p, &at, "critical path", c->mixed ? 0 : 0xffffff, 0);
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
        FR_ROW(p, 0, i, 0, c->timeline->makespan_s / c->unit_s, i + c->top[0],
               i + c->top[0] + c->height[0]);
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
                 "set border 1\nunset grid\nunset ytics\nset xrange [0:%.9g]\n"
                 "set yrange [%d:0]\n",
                 c->timeline->makespan_s / c->unit_s, c->rows.n);
    snprintf(label, sizeof label, "time [%s]", c->unit);
    fr_picture_axis_label(p, "x", label);
    add_legends(p, c);
    add_row_texts(p, c);
    add_idle(p, c);
    if (c->mixed)
        status = add_mixed(p, c, err);
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
        &p->title, "%s: makespan %s",
        trace->title.length > 0 ? fr_text_get(&trace->title) : "Pipeline",
        fr_scale_text(c->timeline->makespan_s, FR_QUANTITY_TIME, makespan, sizeof makespan));
    if (trace->bubble.length > 0)
        fr_text_addf(&p->title, ", bubble %s", fr_text_get(&trace->bubble));
    fr_text_addf(&p->note, "%s", fr_text_get(&c->rows.said));
    if (c->mixed)
        fr_text_addf(&p->note,
                     "%" PRId64 " slices: each pixel mixes the colours of its tasks, equal "
                     "neighbours merged, numbers left out.  ",
                     c->rows.slices);
    fr_text_addf(
        &p->note,
        "On the right the share of the makespan in which a rank computes nothing: %.1f %% "
        "in the mean.",
        100 * c->rows.not_computing_all);
    fr_text_addf(&p->footer, "%s", fr_text_get(&trace->footer));
}

static fr_status draw_trace(struct fr_picture *p, const struct fr_trace *trace,
                            struct fr_error *err) {
    struct chart c = {.timeline = &trace->timeline};
    fr_status status = fr_gantt_rows_make(c.timeline, &c.rows, err);
    if (status == FR_OK) {
        c.row_px = fmax(16, fmin(54, 640.0 / c.rows.n));
        c.mixed = c.rows.slices > SLICES_MAX || c.rows.ranks_per_row > 1;
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
