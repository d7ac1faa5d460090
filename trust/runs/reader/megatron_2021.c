/* Megatron-LM's README of January 2021: weak scaling on A100s, printed as rates.
 *
 * It prints tp times pp only, and whose FLOPs the rate counts is not said: rows are read where
 * columns besides those printed give the degrees, the micro-batch and the time. */
#include "trust/runs/runs.h"

static const char *const columns[] = {"model_parallel_size_tp_times_pp",
                                      "measured_tflops_per_gpu", "measured_pct_peak_312", NULL};

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    int64_t tp = 0;
    if (!fr_run_integer(in, "tp", &tp)) return FR_RUN_NO_DEGREES;
    fr_run_skip skip = fr_run_columns(in, out);
    if (skip != FR_RUN_USABLE) return skip;
    if (!fr_run_time(in, "measured_iter_time_s", 1, out)) return FR_RUN_NO_TIME;
    fr_run_row_set(out, "runtime", "megatron-2021");
    fr_run_row_set(out, "model.dtype", "fp16");
    fr_run_row_set(out, "plan.recompute",
                   fr_run_mentions(fr_run_cell(in, "recompute"), "full") ? "full" : "none");
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_megatron_2021 = {
    .name = "megatron_2021",
    .summary = "weak scaling in Megatron-LM's README, January 2021",
    .source = "NVIDIA/Megatron-LM, images/cases_jan2021.png",
    .columns = columns,
    .read = read,
};
