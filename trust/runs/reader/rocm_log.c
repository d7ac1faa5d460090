/* Raw logs of Megatron-LM and Primus on ROCm: one row a run, the median of its iterations.
 *
 * fp8 of any scaling keeps values between products at 16 bits.  The logs print the padded
 * vocabulary where they print it at all; one whose name says Llama 2 7B has that model's 32000 words, gated MLP,
 * rotary positions and RMSNorm without biases. */
#include "trust/runs/row/machine.h"

static const char *const columns[] = {"padded_vocab", "fsdp2", "dist_optimizer",
                                      "measured_iter_time_ms_median", NULL};

static void set_llama(struct fr_run_row *out) {
    fr_run_row_set(out, "model.vocabulary", "32000");
    fr_run_row_set(out, "model.gated", "true");
    fr_run_row_set(out, "model.biases", "false");
    fr_run_row_set(out, "model.tied_embedding", "false");
    fr_run_row_set(out, "model.norm", "rms");
    fr_run_row_set(out, "model.positions", "rotary");
}

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    if (!fr_run_time(in, "measured_iter_time_ms_median", 1e-3, out)) return FR_RUN_NO_TIME;
    if (fr_run_mentions(fr_run_cell(in, "row_id"), "llama2-7B"))
        set_llama(out);
    else if (!fr_run_copy(in, "padded_vocab", out, "model.vocabulary"))
        return FR_RUN_NO_SIZES;
    fr_run_skip skip = fr_run_plan_columns(in, out);
    if (skip != FR_RUN_USABLE) return skip;
    if (!fr_run_shape_columns(in, out)) return FR_RUN_NO_SIZES;
    fr_run_set_cluster(out, fr_run_cell(in, "gpu"));
    bool sharded = fr_run_mentions(fr_run_cell(in, "fsdp2"), "true");
    bool eight = fr_run_mentions(fr_run_cell(in, "fp8"), "hybrid") ||
                 fr_run_mentions(fr_run_cell(in, "fp8"), "e4m3");
    bool divided = fr_run_mentions(fr_run_cell(in, "dist_optimizer"), "true");
    fr_run_copy(in, "kv_groups", out, "model.kv_heads");
    fr_run_row_set(out, "runtime", "primus-2026");
    fr_run_row_set(out, "model.dtype", eight ? "fp8" : "bf16");
    fr_run_row_set(out, "plan.attention", "flash");
    fr_run_row_set(out, "plan.zero", sharded ? "3" : divided ? "1" : "0");
    if (!sharded && fr_run_mentions(fr_run_cell(in, "overlap_grad_reduce"), "true"))
        fr_run_row_set(out, "plan.overlap", "gradient");
    fr_run_row_set(out, "plan.recompute",
                   fr_run_mentions(fr_run_cell(in, "recompute"), "full") ? "full" : "none");
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_rocm_log = {
    .name = "rocm_log",
    .summary = "logs of Megatron-LM on ROCm",
    .source = "raw training logs of hisohara/ai-scripts",
    .columns = columns,
    .read = read,
};
