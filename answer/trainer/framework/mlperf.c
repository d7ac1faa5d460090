/* MLPerf's events (trust/runs/mllog.h) as a run without joules: the step, the batch, which benchmark. */
#include "answer/trainer/trainer.h"
#include "trust/runs/mllog.h"

static fr_status all(const char *text, size_t length, const char *name, struct fr_run_row *row,
                     struct fr_error *err) {
    struct fr_mllog log;
    double step_s = 0;
    fr_status status = fr_mllog_parse(text, length, name, &log, err);
    if (status == FR_OK) status = fr_mllog_step_s(&log, name, &step_s, err);
    if (status == FR_OK) {
        if (log.benchmark[0]) fr_run_row_set(row, "note.benchmark", "%s", log.benchmark);
        if (log.batch >= 1 && log.batch < 1e12 && !fr_run_row_get(row, "plan.global_batch"))
            fr_run_row_set(row, "plan.global_batch", "%.0f", log.batch);
        fr_run_row_set(row, "measured_s", "%.9g", step_s);
    }
    fr_mllog_free(&log);
    return status;
}

static const char *const marks[] = {":::MLLOG", NULL};

const struct fr_trainer fr_trainer_mlperf = {
    .name = "mlperf",
    .summary = "MLPerf Training's :::MLLOG lines",
    .source = "mlcommons/logging; mlcommons/training_results_v4.0, v5.0",
    .marks = marks,
    .all = all,
};
