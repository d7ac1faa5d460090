/** @file
 *  A pipeline over time while it is drawn: where rows, streams and times go on the picture.
 *  It has the colours of every task, and the drawing of more slices than can be
 *  distinguished. */
#ifndef FR_PLOTS_GANTT_CHART_H
#define FR_PLOTS_GANTT_CHART_H

#include "plots/gantt_rows.h"
#include "plots/picture.h"

struct fr_gantt_chart {
    const struct fr_timeline *timeline;
    struct fr_gantt_rows rows;
    struct fr_box plot; /**< once its panel is placed */
    double row_px, bin_px;
    /** Place of a stream in its row, from 0 to 1: where it begins, and the height of its
     *  lanes. */
    double top[FR_STREAM_COUNT], height[FR_STREAM_COUNT];
    int lanes[FR_STREAM_COUNT];
    const char *unit;
    double unit_s;
    bool part;     /**< of the trace: --from, --to */
    double from_s; /**< where the window begins: spans count from there */
    bool shares;   /**< too many slices: see plots/time_shares.h */
};

/** How a task is drawn. */
struct fr_gantt_task {
    const char *name;
    uint32_t colour;
    bool light_text;
};
extern const struct fr_gantt_task fr_gantt_tasks[];

static inline bool fr_gantt_shown(const struct fr_gantt_chart *c, const struct fr_span *span) {
    return c->rows.row_of[span->rank] >= 0 && span->end_s > span->start_s;
}

/** A time of the window, as the axis has it. */
static inline double fr_gantt_on_axis(const struct fr_gantt_chart *c, double time_s) {
    return (c->from_s + time_s) / c->unit_s;
}

/** Which micro-batches a row computes on a stretch, "8-15", where it fits.  Before any curve. */
void fr_gantt_add_ranges(struct fr_picture *p, const struct fr_gantt_chart *c);
/** Draw what share of each bin of time every kind of task takes. */
fr_status fr_gantt_add_shares(struct fr_picture *p, const struct fr_gantt_chart *c,
                              struct fr_error *err);

#endif
