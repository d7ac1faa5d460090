/* BigScience's trials before training BLOOM: Megatron-DeepSpeed with ZeRO-1 on Jean Zay's A100
 * nodes (8 GPUs, four 100 Gb/s adapters).
 *
 * Rows are comparable within a date only: hardware and the printed rate's formula changed.  Most
 * rows leave the number of heads out; those of the trials on the number of heads name it, and 64
 * heads there take the time of the rows that leave it out on the same plan and date, so 64 it is.
 * ALiBi instead of position vectors; ZeRO-1, as all of BLOOM's training.  Trials on the partition of layers count the
 * embedding and the logits as a layer each, and from there on an optimiser that was new then adds gradients up at 32 bits, of 16 before
 * ("Rebalancing layers" in the chronicle), beside those of 16 that passes leave (DeepSpeed's bf16_optimizer.py,
 * update_hp_grads): in kernels of their own, since its linear layers are autograd's
 * (bigscience-workshop/Megatron-DeepSpeed, megatron/mpu/layers.py).
 *
 * Launches block: from 320 GPUs on jobs hung without CUDA_LAUNCH_BLOCKING=1, which all trials after 17 February, those that state times,
 * were run with ("dealing with JZ hanging", "Hanging Issue" in the chronicle), as was the training (tr11-176B-ml.slurm). */
#include <string.h>

#include "trust/runs/runs.h"

static const char *const columns[] = {
    "md_line", "section", "zero_stage", "mem", "date", "measured_iter_time_s", NULL};

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    double time_s = 0;
    int64_t layers = 0;
    if (fr_run_cell(in, "quality")[0] == 'C') return FR_RUN_QUALITY;
    if (!fr_run_number(in, "measured_iter_time_s", &time_s)) return FR_RUN_NO_TIME;
    if (!fr_run_copy(in, "micro_batch_seqs", out, "plan.micro_batch"))
        return FR_RUN_NO_MICRO_BATCH;
    if (!fr_run_copy(in, "global_batch_seqs", out, "plan.global_batch")) return FR_RUN_NO_BATCH;
    if (!fr_run_copy(in, "tp", out, "plan.tp") || !fr_run_copy(in, "pp", out, "plan.pp") ||
        !fr_run_copy(in, "gpus", out, "ranks"))
        return FR_RUN_NO_DEGREES;
    fr_run_copy(in, "dp", out, "plan.dp");
    if (!fr_run_copy(in, "layers", out, "model.layers") ||
        !fr_run_copy(in, "hidden", out, "model.hidden") ||
        !fr_run_copy(in, "seq", out, "model.sequence") ||
        !fr_run_copy(in, "vocab", out, "model.vocabulary"))
        return FR_RUN_NO_SIZES;
    if (!fr_run_copy(in, "heads", out, "model.heads")) fr_run_row_set(out, "model.heads", "64");
    fr_run_row_set(out, "id", "%s", fr_run_cell(in, "row_id"));
    fr_run_row_set(out, "cluster", "a100-opa");
    fr_run_row_set(out, "runtime", "deepspeed-2023");
    fr_run_row_set(out, "model.dtype", "bf16");
    fr_run_row_set(out, "model.positions", "none");
    fr_run_row_set(out, "model.optimizer_state", "12 B");
    fr_run_row_set(out, "plan.rank_order", "tp-dp-pp");
    fr_run_row_set(out, "plan.zero",
                   strcmp(fr_run_cell(in, "zero_stage"), "0") == 0 ? "0" : "1");
    fr_run_row_set(out, "plan.recompute",
                   fr_run_mentions(fr_run_cell(in, "recompute"), "full") ? "full" : "none");
    fr_run_row_set(out, "plan.launches", "blocking");
    fr_run_row_set(out, "plan.accumulation", "apart");
    fr_run_row_set(out, "model.gradient_dtype", "bf16");
    if (fr_run_mentions(fr_run_cell(in, "section"), "rebalancing")) {
        fr_run_row_set(out, "model.gradient_dtype", "fp32");
        fr_run_row_set(out, "runtime.framework.gradient_copy", "2 B");
        if (fr_run_integer(in, "layers", &layers)) fr_run_ends_as_layers(layers, out);
    }
    fr_run_row_set(out, "measured_s", "%.9g", time_s);
    fr_run_row_set(out, "group", "%s, %s x %s, batch %s", fr_run_cell(in, "date"),
                   fr_run_cell(in, "hidden"), fr_run_cell(in, "layers"),
                   fr_run_cell(in, "global_batch_seqs"));
    fr_run_row_set(out, "note.date", "%.5s", fr_run_cell(in, "date"));
    fr_run_memory(in, "mem", 0x1p30, FR_COUNTED_DEVICE, out); /* nvidia-smi counts in MiB */
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_bloom = {
    .name = "bloom",
    .summary = "BigScience's trials before BLOOM on Jean Zay",
    .source = "bigscience-workshop/bigscience, train/tr11-176B-ml/chronicles-prequel.md",
    .columns = columns,
    .read = read,
};
