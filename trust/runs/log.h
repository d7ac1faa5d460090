/** @file
 *  What trainers print: the plan, and how long each step took, as one run.
 *
 *  A log holds one run.  Its format's reader sees it line by line, a carriage return ends one too (progress bars),
 *  and says of each what it is; whatever else was printed is passed over.  Of steps after the first two,
 *  which start everything up, the median is the run's time.
 *
 *      step       a time, or where the log prints a rate, tokens a second and device: batch x sequence / (rate x ranks)
 *      malformed  a line that starts as a step does and whose number cannot be read, or is not positive: left
 *                 out and counted; a log of such lines alone is refused with the first one's place
 *
 *  Whatever its format, a log that names NeMo's container says with which software the run took place: `runtime`, the newest
 *  preset that is no newer.
 *
 *  To add a format: trust/runs/log/<name>.c exporting fr_run_log_<name>, row FR_RUN_LOG(<name>) in
 *  trust/runs/log_list.h. */
#ifndef FR_TRUST_RUNS_LOG_H
#define FR_TRUST_RUNS_LOG_H

#include <stddef.h>

#include "trust/runs/runs.h"

typedef enum {
    FR_LOG_OTHER,
    FR_LOG_SAID,
    FR_LOG_STEP,
    FR_LOG_RATE,
    FR_LOG_MALFORMED
} fr_log_line;

struct fr_run_log {
    const char *name;
    const char *summary, *source;
    /** What @p line is; FR_LOG_SAID sets keys of @p row, FR_LOG_STEP @p number to a step's seconds, FR_LOG_RATE
     *  to tokens a second and device. */
    fr_log_line (*read)(const char *line, struct fr_run_row *row, double *number);
    /** In place of `read`: all of it at once, as MLPerf's events need.  NULL: line by line. */
    fr_status (*whole)(const char *text, size_t length, const char *name,
                       struct fr_run_row *row, struct fr_error *err);
};

/** Rows that others name. */
extern const struct fr_run_log fr_run_log_megatron, fr_run_log_nemo, fr_run_log_torchtitan,
    fr_run_log_mlperf;
/** Rows in table order, then NULL. */
extern const struct fr_run_log *const fr_run_logs[];

struct fr_log_counts {
    int steps, malformed, first; /**< first: line of the first malformed one */
};

/** Read @p text into keys of @p row, which may hold some already; they stay, and are what a rate is made a time
 *  with.
 *  @return FR_OK; FR_ERR_INPUT with name:line, or where the log times no step; FR_ERR_NOMEM. */
fr_status fr_run_log_read(const struct fr_run_log *log, const char *text, size_t length,
                          const char *name, struct fr_run_row *row,
                          struct fr_log_counts *counts, struct fr_error *err);

/** For readers: the number behind @p label in @p line; @return whether there is one, finite. */
bool fr_log_number(const char *line, const char *label, double *number);

#endif
