/** @file
 *  Which ranks a Gantt chart shows, and how busy each rank is.
 *
 *      not computing(rank) = 1 - computing / makespan
 *      not computing       = its mean over all ranks, shown or not
 *
 *  That is more than the bubble, which is the iteration's time without messages, gradients and
 *  launches less its computing (models/outcome/pipeline_outcome.c): a trace does not tell it apart.
 */
#ifndef FR_PLOTS_GANTT_ROWS_H
#define FR_PLOTS_GANTT_ROWS_H

#include "models/outcome/timeline.h"

#include "base/text.h"

enum { FR_GANTT_ROWS_MAX = 64 };

struct fr_gantt_rows {
    int32_t rank[FR_GANTT_ROWS_MAX]; /**< the first of each, from the top, ascending */
    int n;
    int32_t ranks_per_row;
    int32_t *row_of;       /**< [n_ranks] its row, or -1 */
    double *not_computing; /**< [n_ranks]; and of each row */
    double row_not_computing[FR_GANTT_ROWS_MAX];
    double not_computing_all; /**< mean */
    int64_t slices;           /**< that are on the rows */
    struct fr_text omitted;   /**< which ranks were left out, a sentence, or "" */
};

/** Choose the rows.  If there are more ranks than fit, one pipeline is shown: the one that
 *  ends last.  If there are more stages than fit, k neighbours share a row.  Free with
 *  fr_gantt_rows_free, also on error.
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_gantt_rows_make(const struct fr_timeline *timeline, struct fr_gantt_rows *rows,
                             struct fr_error *err);
void fr_gantt_rows_free(struct fr_gantt_rows *rows);

#endif
