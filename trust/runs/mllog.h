/** @file
 *  Logs of MLPerf Training: when a run trained, how many samples, and what its nodes drew.
 *
 *  Both kinds are lines ":::MLLOG {...}" with a time in ms, a key and a value, among whatever else was printed.  A
 *  run's own log has run_start, run_stop, blocks of training, evaluations, global_batch_size and samples_count; a
 *  node's power log (power/.../node_0.txt) power_reading [W], and conversion_eff where it was metered behind the
 *  supplies.  Lines of SPEC's PTDaemon itself, "Time,05-10-2024 11:38:02.123,Watts,6881.7,...", are read too, with
 *  the clock as UTC.
 *
 *      mean power   over readings from max(20 s, 5 %) after run_start to 5 s before run_stop, outside of
 *                   evaluations and 2 s around them: a run's first seconds wait for data
 *      step         blocks of training over the steps in them; where the log times each step, their median
 *      measured_J   nodes' mean powers together x step
 *
 *  Source: mlcommons/training_results_v4.0, v5.0 (power/, result_*.txt). */
#ifndef FR_TRUST_RUNS_MLLOG_H
#define FR_TRUST_RUNS_MLLOG_H

#include <stddef.h>

#include "trust/runs/runs.h"

struct fr_mllog_span {
    double from_ms, to_ms;
};
struct fr_mllog_reading {
    double time_ms, power_W;
};

/** Values of a log; NaN: not in it. */
struct fr_mllog {
    double start_ms, stop_ms, batch, samples;
    bool after_supplies;
    char benchmark[48];
    struct fr_mllog_span *block, *evaluation; /**< a span still open ends at NaN */
    double *step_s;
    struct fr_mllog_reading *reading;
    int n_blocks, n_evaluations, n_steps, n_readings;
};

/** Read @p text of @p length; lines that are none of a log's are passed over.  Free with fr_mllog_free, also
 *  on error.
 *  @return FR_OK; FR_ERR_INPUT with name:line for a broken line; FR_ERR_NOMEM. */
fr_status fr_mllog_parse(const char *text, size_t length, const char *name,
                         struct fr_mllog *log, struct fr_error *err);
void fr_mllog_free(struct fr_mllog *log);

/** Seconds of a step of @p run.  @return FR_ERR_INPUT where it does not say. */
fr_status fr_mllog_step_s(const struct fr_mllog *run, const char *name, double *step_s,
                          struct fr_error *err);

/** Mean power of the node that @p node is the log of, while @p run trains [W].
 *  @return FR_ERR_INPUT where no reading lies there. */
fr_status fr_mllog_power_W(const struct fr_mllog *run, const struct fr_mllog *node,
                           const char *name, double *power_W, struct fr_error *err);

#endif
