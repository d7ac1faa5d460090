#include "plots/gantt_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

/* First rank of the pipeline in which something ends last. */
static int32_t last_pipeline(const struct fr_timeline *t) {
    int32_t rank = 0;
    double end_s = -1;
    for (int64_t i = 0; i < t->count; i++)
        if (t->spans[i].end_s > end_s) end_s = t->spans[i].end_s, rank = t->spans[i].rank;
    return rank - fr_timeline_stage(t, rank) * fr_timeline_apart(t);
}

static void choose(const struct fr_timeline *t, struct fr_gantt_rows *rows) {
    int32_t first = 0, of = t->n_ranks, apart = 1;
    if (t->n_ranks > FR_GANTT_ROWS_MAX && t->n_stages < t->n_ranks) {
        first = last_pipeline(t);
        apart = fr_timeline_apart(t);
        of = (t->n_ranks - first + apart - 1) / apart;
        if (t->n_stages < of) of = t->n_stages;
        fr_text_addf(&rows->omitted,
                     "Of %" PRId32 " ranks those of one pipeline, from rank %" PRId32
                     " on, which ends last.  ",
                     t->n_ranks, first);
    }
    int32_t step = (of + FR_GANTT_ROWS_MAX - 1) / FR_GANTT_ROWS_MAX;
    if (step > 1)
        fr_text_addf(&rows->omitted,
                     "%" PRId32 " stages, %" PRId32 " to a row, their times added.  ", of,
                     step);
    rows->ranks_per_row = step;
    for (int32_t r = 0; r < t->n_ranks; r++) rows->row_of[r] = -1;
    for (int32_t k = 0; k < of; k++) {
        int32_t r = first + k * apart;
        if (k % step == 0) rows->rank[rows->n++] = r;
        rows->row_of[r] = rows->n - 1;
    }
}

static void measure(const struct fr_timeline *t, struct fr_gantt_rows *rows) {
    for (int32_t r = 0; r < t->n_ranks; r++) rows->not_computing[r] = 1;
    for (int64_t i = 0; i < t->count; i++) {
        const struct fr_span *span = &t->spans[i];
        rows->slices += rows->row_of[span->rank] >= 0;
        if (span->stream == FR_STREAM_COMPUTE)
            rows->not_computing[span->rank] -= (span->end_s - span->start_s) / t->makespan_s;
    }
    for (int32_t r = 0; r < t->n_ranks; r++) {
        rows->not_computing[r] = fmax(rows->not_computing[r], 0); /* rounding */
        rows->not_computing_all += rows->not_computing[r] / t->n_ranks;
    }
    for (int i = 0; i < rows->n; i++) {
        int32_t n = 0;
        for (int32_t r = rows->rank[i]; r < t->n_ranks; r++) {
            if (rows->row_of[r] != i) continue;
            rows->row_not_computing[i] += rows->not_computing[r];
            n++;
        }
        rows->row_not_computing[i] /= n;
    }
}

fr_status fr_gantt_rows_make(const struct fr_timeline *timeline, struct fr_gantt_rows *rows,
                             struct fr_error *err) {
    size_t n = (size_t)timeline->n_ranks;
    *rows = (struct fr_gantt_rows){0};
    rows->row_of = fr_malloc(n, sizeof *rows->row_of);
    rows->not_computing = fr_malloc(n, sizeof *rows->not_computing);
    if (!rows->row_of || !rows->not_computing)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    choose(timeline, rows);
    measure(timeline, rows);
    return FR_OK;
}

void fr_gantt_rows_free(struct fr_gantt_rows *rows) {
    free(rows->row_of), free(rows->not_computing);
    fr_text_free(&rows->omitted);
    *rows = (struct fr_gantt_rows){0};
}
