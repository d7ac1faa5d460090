/* vTrain's validation runs: GPT-like models in Megatron-DeepSpeed on A100 nodes.
 *
 * fp16 with fp32 master weights, 1F1B, gradients all-reduced after the last backward pass. The
 * files label all rows "full" recompute.  On one node that cannot be: with a fourth forward pass
 * the products would run above the device's peak, and the collectors of these data call the label
 * doubtful; such rows are read as run without recompute.  Rows over several nodes fit their label. */
#include "trust/runs/runs.h"

static const char *const columns[] = {
    "consistent_tp_dp_pp", "hidden",   "micro_batch_seqs",      "global_batch_seqs",
    "gpus_per_node",       "schedule", "measured_iter_time_ms", NULL};

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    double time_ms = 0;
    int64_t gpus = 0, node = 8;
    if (fr_run_cell(in, "quality")[0] == 'C') return FR_RUN_QUALITY;
    if (!fr_run_number(in, "measured_iter_time_ms", &time_ms)) return FR_RUN_NO_TIME;
    if (!fr_run_copy(in, "micro_batch_seqs", out, "plan.micro_batch"))
        return FR_RUN_NO_MICRO_BATCH;
    if (!fr_run_copy(in, "global_batch_seqs", out, "plan.global_batch")) return FR_RUN_NO_BATCH;
    if (!fr_run_copy(in, "tp", out, "plan.tp") || !fr_run_copy(in, "pp", out, "plan.pp") ||
        !fr_run_copy(in, "dp", out, "plan.dp") || !fr_run_integer(in, "gpus", &gpus))
        return FR_RUN_NO_DEGREES;
    if (fr_run_mentions(fr_run_cell(in, "consistent_tp_dp_pp"), "false")) return FR_RUN_DEGREES;
    if (!fr_run_copy(in, "layers", out, "model.layers") ||
        !fr_run_copy(in, "hidden", out, "model.hidden") ||
        !fr_run_copy(in, "heads", out, "model.heads") ||
        !fr_run_copy(in, "seq", out, "model.sequence") ||
        !fr_run_copy(in, "vocab", out, "model.vocabulary"))
        return FR_RUN_NO_SIZES;
    fr_run_integer(in, "gpus_per_node", &node);
    bool full = fr_run_mentions(fr_run_cell(in, "recompute"), "full") && gpus > node;
    fr_run_row_set(out, "id", "%s", fr_run_cell(in, "row_id"));
    fr_run_row_set(out, "cluster", "dgx-a100");
    fr_run_row_set(out, "runtime", "deepspeed-2023");
    fr_run_row_set(out, "ranks", "%lld", (long long)gpus);
    fr_run_row_set(out, "model.vocabulary_multiple", "1");
    fr_run_row_set(out, "model.dtype", "fp16");
    fr_run_row_set(out, "model.optimizer_state", "12 B");
    fr_run_row_set(out, "plan.rank_order", "tp-dp-pp");
    fr_run_row_set(out, "plan.recompute", full ? "full" : "none");
    fr_run_row_set(out, "measured_s", "%.9g", time_ms * 1e-3);
    fr_run_row_set(out, "group", "%s x %s, %lld GPUs, batch %s", fr_run_cell(in, "hidden"),
                   fr_run_cell(in, "layers"), (long long)gpus,
                   fr_run_cell(in, "global_batch_seqs"));
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_vtrain = {
    .name = "vtrain",
    .summary = "validation runs of vTrain, one node and several",
    .source = "VIA-Research/vTrain, data/ground_truth_*.csv (MICRO 2024)",
    .columns = columns,
    .read = read,
};
