/* BigScience's trials of a small model on V100s: Megatron-DeepSpeed, plans of one or two nodes.
 *
 * The file prints neither heads nor vocabulary nor how the optimiser is divided; the job that its source names does
 * (train/tr3-1B3-baseline/tr3m-1B3-emb-norm-pile.slurm): 16 heads, GPT-2's vocabulary of 50257, ZeRO 1, fp16.  Gradients are
 * added up in kernels of their own: linear layers are autograd's (bigscience-workshop/Megatron-DeepSpeed, megatron/mpu/layers.py).  Nodes
 * are Jean Zay's, of four GPUs. */
#include "trust/runs/runs.h"

static const char *const columns[] = {
    "gpus_per_node", "recompute", "measured_iter_time_s", "reported_hw_tflops_per_gpu",
    "mem",           NULL};

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    if (!fr_run_time(in, "measured_iter_time_s", 1, out)) return FR_RUN_NO_TIME;
    fr_run_skip skip = fr_run_plan_columns(in, out);
    if (skip != FR_RUN_USABLE) return skip;
    bool sized = fr_run_copy(in, "layers", out, "model.layers") &&
                 fr_run_copy(in, "hidden", out, "model.hidden") &&
                 fr_run_copy(in, "seq", out, "model.sequence");
    if (!sized) return FR_RUN_NO_SIZES;
    fr_run_row_set(out, "cluster", "dgx-v100"); /* in nodes of four */
    fr_run_row_set(out, "cluster.levels.0.ranks", "4");
    fr_run_row_set(out, "model.heads", "16");
    fr_run_row_set(out, "model.vocabulary", "50257");
    fr_run_row_set(out, "plan.zero", "1");
    fr_run_row_set(out, "model.dtype", "fp16");
    fr_run_row_set(out, "model.gradient_dtype", "fp16");
    fr_run_row_set(out, "plan.accumulation", "apart");
    fr_run_row_set(out, "runtime", "deepspeed-2023");
    fr_run_row_set(out, "note.device", "%s", fr_run_cell(in, "gpu"));
    fr_run_row_set(out, "plan.recompute",
                   fr_run_mentions(fr_run_cell(in, "recompute"), "full") ? "full" : "none");
    fr_run_memory(in, "mem", 0x1p30, FR_COUNTED_DEVICE, out); /* nvidia-smi counts in MiB */
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_bigscience_1b3 = {
    .name = "bigscience_1b3",
    .summary = "BigScience's small model on V100",
    .source = "bigscience-workshop/bigscience, experiments/tr3m-1B3.md",
    .columns = columns,
    .read = read,
};
