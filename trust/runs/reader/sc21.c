/* Narayanan et al., SC'21, Table 1: GPT models on Selene, tp within a node of A100s.
 *
 * The paper prints the rate, from which the table's collectors derived the time by its Eq. 3.
 * fp16 with 16-bit gradients and fp32 master weights, full recompute, 1F1B or interleaved; the
 * "torch" wrapper reduces gradients in buckets beside the backward pass, the "local" one after.  Linear layers of the
 * Megatron-LM of 2021 were autograd's, gradients added up in kernels of their own (what BigScience forked in that year:
 * Megatron-DeepSpeed, megatron/mpu/layers.py). */
#include "trust/runs/runs.h"

static const char *const columns[] = {"interleave_chunks", "ddp_impl", "scatter_gather",
                                      "derived_iter_time_s", NULL};

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    double time_s = 0;
    int64_t chunks = 1;
    if (fr_run_cell(in, "quality")[0] == 'C') return FR_RUN_QUALITY;
    if (!fr_run_number(in, "derived_iter_time_s", &time_s)) return FR_RUN_NO_TIME;
    if (!fr_run_copy(in, "micro_batch_seqs", out, "plan.micro_batch"))
        return FR_RUN_NO_MICRO_BATCH;
    if (!fr_run_copy(in, "global_batch_seqs", out, "plan.global_batch")) return FR_RUN_NO_BATCH;
    if (!fr_run_copy(in, "tp", out, "plan.tp") || !fr_run_copy(in, "pp", out, "plan.pp") ||
        !fr_run_copy(in, "dp", out, "plan.dp") || !fr_run_copy(in, "gpus", out, "ranks"))
        return FR_RUN_NO_DEGREES;
    if (!fr_run_copy(in, "layers", out, "model.layers") ||
        !fr_run_copy(in, "hidden", out, "model.hidden") ||
        !fr_run_copy(in, "heads", out, "model.heads") ||
        !fr_run_copy(in, "seq", out, "model.sequence") ||
        !fr_run_copy(in, "vocab", out, "model.vocabulary"))
        return FR_RUN_NO_SIZES;
    fr_run_integer(in, "interleave_chunks", &chunks);
    fr_run_row_set(out, "id", "%s", fr_run_cell(in, "row_id"));
    fr_run_row_set(out, "cluster", "dgx-a100");
    fr_run_row_set(out, "model.name", "%s", fr_run_cell(in, "model"));
    fr_run_row_set(out, "model.dtype", "fp16");
    fr_run_row_set(out, "plan.accumulation", "apart");
    fr_run_row_set(out, "model.optimizer_state", "12 B");
    fr_run_row_set(out, "plan.rank_order", "tp-dp-pp");
    fr_run_row_set(out, "plan.recompute",
                   fr_run_mentions(fr_run_cell(in, "recompute"), "full") ? "full" : "none");
    if (fr_run_mentions(fr_run_cell(in, "ddp_impl"), "torch"))
        fr_run_row_set(out, "plan.overlap", "gradient");
    fr_run_row_set(out, "plan.chunks", "%lld", (long long)chunks);
    if (chunks > 1) fr_run_row_set(out, "plan.schedule", "interleaved");
    fr_run_row_set(out, "runtime", "megatron-2021");
    fr_run_row_set(out, "note.release", "Megatron-LM, April 2021");
    fr_run_row_set(out, "measured_s", "%.9g", time_s);
    fr_run_row_set(out, "group", "%s", fr_run_cell(in, "model"));
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_sc21 = {
    .name = "sc21",
    .summary = "Megatron-LM's SC'21 table on Selene",
    .source = "Narayanan et al., SC'21, Table 1; the authors' run_table_1.sh",
    .columns = columns,
    .read = read,
};
