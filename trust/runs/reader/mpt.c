/* MosaicML's llm-foundry: MPT models fully sharded on A100 and H100 nodes.
 *
 * PyTorch FSDP: FULL_SHARD divides parameters (zero 3), SHARD_GRAD_OP gradients (zero 2). Fused
 * attention, 16-bit gradients; activation checkpointing is full recompute.  Offloading is left out. */
#include "trust/runs/row/machine.h"

#include <inttypes.h>
#include <string.h>

static const char *const columns[] = {
    "activation_checkpointing", "activation_cpu_offload", "parallelism",
    "measured_tokens_per_s",    "derived_step_time_s",    NULL};

static const char *dtype_of(const char *precision) {
    if (fr_run_mentions(precision, "fp8")) return "fp8";
    if (fr_run_mentions(precision, "bf16")) return "bf16";
    return fr_run_mentions(precision, "fp16") ? "fp16" : NULL;
}

static const char *zero_of(const char *parallelism) {
    if (fr_run_mentions(parallelism, "FULL_SHARD")) return "3";
    return fr_run_mentions(parallelism, "SHARD_GRAD_OP") ? "2" : NULL;
}

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    const char *dtype = dtype_of(fr_run_cell(in, "precision"));
    const char *zero = zero_of(fr_run_cell(in, "parallelism"));
    double tokens_per_s = 0, batch = 0, sequence = 0;
    if (fr_run_cell(in, "quality")[0] == 'C') return FR_RUN_QUALITY;
    if (!fr_run_number(in, "measured_tokens_per_s", &tokens_per_s) || tokens_per_s <= 0)
        return FR_RUN_NO_TIME;
    if (fr_run_mentions(fr_run_cell(in, "activation_cpu_offload"), "true"))
        return FR_RUN_METHOD;
    if (!dtype) return FR_RUN_DTYPE;
    if (!zero) return FR_RUN_METHOD;
    if (!fr_run_copy(in, "micro_batch_seqs", out, "plan.micro_batch"))
        return FR_RUN_NO_MICRO_BATCH;
    if (!fr_run_copy(in, "global_batch_seqs", out, "plan.global_batch")) return FR_RUN_NO_BATCH;
    if (!fr_run_copy(in, "layers", out, "model.layers") ||
        !fr_run_copy(in, "hidden", out, "model.hidden") ||
        !fr_run_copy(in, "heads", out, "model.heads") ||
        !fr_run_copy(in, "seq", out, "model.sequence") ||
        !fr_run_copy(in, "vocab", out, "model.vocabulary"))
        return FR_RUN_NO_SIZES;
    fr_run_number(in, "global_batch_seqs", &batch);
    fr_run_number(in, "seq", &sequence);
    fr_run_copy(in, "gpus", out, "ranks");
    bool again = fr_run_mentions(fr_run_cell(in, "activation_checkpointing"), "true");
    fr_run_row_set(out, "id", "%s", fr_run_cell(in, "row_id"));
    fr_run_row_set(out, "model.dtype", "%s", dtype);
    fr_run_row_set(out, "model.biases", "false");
    fr_run_row_set(out, "model.gradient_dtype", "bf16");
    fr_run_row_set(out, "model.optimizer_state", "12 B");
    fr_run_row_set(out, "plan.recompute", again ? "full" : "none");
    fr_run_row_set(out, "plan.attention", "flash-1");
    fr_run_row_set(out, "plan.zero", "%s", zero);
    if (zero[0] == '2') fr_run_row_set(out, "plan.overlap", "gradient"); /* 3 always does */
    fr_run_row_set(out, "runtime", "fsdp-mpt-2023");
    fr_run_row_set(out, "note.device", "%s", fr_run_cell(in, "gpu"));
    fr_run_set_cluster(out, fr_run_cell(in, "gpu"));
    fr_run_row_set(out, "note.dtype", "%s", dtype);
    fr_run_row_set(out, "note.sharded", "yes");
    fr_run_row_set(out, "measured_s", "%.9g", batch * sequence / tokens_per_s);
    fr_run_row_set(out, "group", "%s, %s GPUs, %s", fr_run_cell(in, "model"),
                   fr_run_cell(in, "gpus"), fr_run_cell(in, "gpu"));
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_mpt = {
    .name = "mpt",
    .summary = "MPT models under PyTorch FSDP",
    .source = "mosaicml/llm-foundry, scripts/train/benchmarking/README.md",
    .columns = columns,
    .read = read,
};
