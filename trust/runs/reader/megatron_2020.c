/* Megatron-LM's table of 2020: one model a tensor-parallel degree, on V100s and A100s.
 *
 * fp16 of the time before interleaving.  Neither sequence length nor micro-batch is printed; rows
 * are read where columns besides those printed give them. */
#include "trust/runs/runs.h"

static const char *const columns[] = {"params_billion", "measured_iter_time_ms",
                                      "measured_scaling_pct", NULL};

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    if (!fr_run_time(in, "measured_iter_time_ms", 1e-3, out)) return FR_RUN_NO_TIME;
    fr_run_skip skip = fr_run_columns(in, out);
    if (skip != FR_RUN_USABLE) return skip;
    fr_run_row_set(out, "runtime", "megatron-2021");
    fr_run_row_set(out, "model.dtype", "fp16");
    fr_run_row_set(out, "plan.recompute",
                   fr_run_mentions(fr_run_cell(in, "recompute"), "full") ? "full" : "none");
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_megatron_2020 = {
    .name = "megatron_2020",
    .summary = "Megatron-LM on V100 and A100, 2020",
    .source = "NVIDIA/Megatron-LM, images/tables.tex",
    .columns = columns,
    .read = read,
};
