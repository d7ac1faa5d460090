/* BigScience's first trials of large models on V100s: Megatron-LM and DeepSpeed.
 *
 * Models are known by their number of parameters only, which does not tell their shape; runs under
 * ZeRO without a pipeline are of a stage and with offloading that the file does not tell apart. */
#include "trust/runs/runs.h"

static const char *const columns[] = {
    "context", "size", "gas_or_pp_chunks", "deepspeed", "measured_iter_time_s", NULL};

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    if (!fr_run_time(in, "measured_iter_time_s", 1, out)) return FR_RUN_NO_TIME;
    if (fr_run_mentions(fr_run_cell(in, "pp"), "ZeRO")) return FR_RUN_METHOD;
    fr_run_skip skip = fr_run_columns(in, out);
    if (skip != FR_RUN_USABLE) return skip;
    fr_run_row_set(out, "model.dtype", "fp16");
    fr_run_row_set(out, "runtime", "megatron-2021");
    if (fr_run_mentions(fr_run_cell(in, "context"), "zero_stage:1"))
        fr_run_row_set(out, "plan.zero", "1");
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_bigscience_gpt = {
    .name = "bigscience_gpt",
    .summary = "BigScience's first trials on V100",
    .source = "bigscience-workshop/bigscience, experiments/gpt2.md",
    .columns = columns,
    .read = read,
};
