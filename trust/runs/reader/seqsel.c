/* Korthikanti et al. 2022, Table 5: full recompute against sequence parallelism with selective
 * recompute, on Selene. */
#include "trust/runs/runs.h"

static const char *const columns[] = {"sequence_parallel", "tp_comm", "measured_iter_time_s",
                                      "interleave_chunks", NULL};

static const char *recompute_of(const char *cell) {
    if (fr_run_mentions(cell, "selective")) return "selective";
    return fr_run_mentions(cell, "full") ? "full" : "none";
}

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    double time_s = 0;
    int64_t chunks = 1;
    if (fr_run_cell(in, "quality")[0] == 'C') return FR_RUN_QUALITY;
    if (!fr_run_number(in, "measured_iter_time_s", &time_s)) return FR_RUN_NO_TIME;
    if (!fr_run_copy(in, "micro_batch_seqs", out, "plan.micro_batch"))
        return FR_RUN_NO_MICRO_BATCH;
    if (!fr_run_copy(in, "global_batch_seqs", out, "plan.global_batch")) return FR_RUN_NO_BATCH;
    if (!fr_run_copy(in, "tp", out, "plan.tp") || !fr_run_copy(in, "pp", out, "plan.pp") ||
        !fr_run_copy(in, "dp", out, "plan.dp") || !fr_run_copy(in, "gpus", out, "ranks"))
        return FR_RUN_NO_DEGREES;
    if (!fr_run_copy(in, "layers", out, "model.layers") ||
        !fr_run_copy(in, "hidden", out, "model.hidden") ||
        !fr_run_copy(in, "ffn", out, "model.ffn") ||
        !fr_run_copy(in, "heads", out, "model.heads") ||
        !fr_run_copy(in, "seq", out, "model.sequence") ||
        !fr_run_copy(in, "vocab", out, "model.vocabulary"))
        return FR_RUN_NO_SIZES;
    fr_run_integer(in, "interleave_chunks", &chunks);
    fr_run_row_set(out, "id", "%s", fr_run_cell(in, "row_id"));
    fr_run_row_set(out, "cluster", "dgx-a100");
    fr_run_row_set(out, "model.name", "%s", fr_run_cell(in, "model"));
    fr_run_row_set(out, "model.dtype", "fp16");
    fr_run_row_set(out, "model.optimizer_state", "12 B");
    fr_run_row_set(out, "plan.rank_order", "tp-dp-pp");
    fr_run_row_set(out, "plan.recompute", "%s", recompute_of(fr_run_cell(in, "recompute")));
    if (fr_run_mentions(fr_run_cell(in, "sequence_parallel"), "true"))
        fr_run_row_set(out, "plan.sequence_parallel", "true");
    fr_run_row_set(out, "plan.chunks", "%lld", (long long)chunks);
    if (chunks > 1) fr_run_row_set(out, "plan.schedule", "interleaved");
    fr_run_row_set(out, "runtime", "megatron-lm-2022");
    fr_run_row_set(out, "note.release", "Megatron-LM, May 2022");
    fr_run_row_set(out, "measured_s", "%.9g", time_s);
    fr_run_row_set(out, "group", "%s", fr_run_cell(in, "model"));
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_seqsel = {
    .name = "seqsel",
    .summary = "sequence parallelism and selective recompute on Selene",
    .source = "Korthikanti et al., arXiv:2205.05198, Table 5",
    .columns = columns,
    .read = read,
};
