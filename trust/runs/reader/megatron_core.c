/* Megatron-Core's README of 2024: weak scaling on H100s, printed as rates of model FLOPs.
 *
 * Micro-batch, interleaving and recompute are not printed: rows are read where columns besides
 * those printed give the micro-batch and the time.  README: distributed optimiser and gradients
 * beside the backward pass, sequence parallelism with tp. */
#include "trust/runs/runs.h"

static const char *const columns[] = {"seqs_per_dp_rank", "measured_model_tflops_per_gpu",
                                      "overlap", NULL};

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    fr_run_skip skip = fr_run_columns(in, out);
    if (skip != FR_RUN_USABLE) return skip;
    if (!fr_run_time(in, "measured_iter_time_s", 1, out)) return FR_RUN_NO_TIME;
    int64_t tp = 1;
    fr_run_integer(in, "tp", &tp);
    fr_run_row_set(out, "runtime", "nemo-24.11");
    fr_run_row_set(out, "model.dtype", "%s", fr_run_cell(in, "dtype"));
    fr_run_row_set(out, "plan.attention", "flash");
    fr_run_row_set(out, "plan.zero", "1");
    if (fr_run_mentions(fr_run_cell(in, "overlap"), "overlap-grad-reduce"))
        fr_run_row_set(out, "plan.overlap", "gradient");
    if (tp > 1) fr_run_row_set(out, "plan.sequence_parallel", "true");
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_megatron_core = {
    .name = "megatron_core",
    .summary = "weak scaling in Megatron-Core's README, 2024",
    .source = "NVIDIA/Megatron-LM, images/model_table.png, core r0.8.0",
    .columns = columns,
    .read = read,
};
