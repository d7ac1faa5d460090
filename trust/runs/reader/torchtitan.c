/* torchtitan's published runs: fully sharded, on H100s and H200s.
 *
 * Parameters are divided among `fsdp` x cp ranks (zero 3), gathered and reduced beside the passes;
 * fused attention; float8 products keep activations at 16 bits.  Its selective checkpointing keeps
 * every second product and computes the others again, which no recompute of a plan says, so such
 * rows are left out.  `local_batch` is a replica's: with stages it is cut into as many micro-batches as
 * there are stages, the default of pipeline_parallel_microbatches when these runs were published. */
#include <inttypes.h>

#include "trust/runs/runs.h"

static const char *const columns[] = {"fsdp", "local_batch", "technique",
                                      "measured_tokens_per_s_per_gpu", NULL};

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    const char *technique = fr_run_cell(in, "technique");
    const char *dtype = fr_run_mentions(technique, "float8") ? "fp8"
                        : fr_run_mentions(technique, "bf16") ? "bf16"
                                                             : NULL;
    double gpus = 0;
    int64_t local = 0, pp = 1;
    if (fr_run_cell(in, "quality")[0] == 'C') return FR_RUN_QUALITY;
    if (!dtype) return FR_RUN_DTYPE;
    if (!fr_run_mentions(fr_run_cell(in, "recompute"), "full")) return FR_RUN_METHOD;
    if (!fr_run_find_model(fr_run_cell(in, "model"), out)) return FR_RUN_UNKNOWN_MODEL;
    if (!fr_run_integer(in, "local_batch", &local)) return FR_RUN_NO_MICRO_BATCH;
    fr_run_integer(in, "pp", &pp);
    fr_run_row_set(out, "plan.micro_batch", "%" PRId64, local > pp ? local / pp : 1);
    if (!fr_run_copy(in, "global_batch_seqs", out, "plan.global_batch")) return FR_RUN_NO_BATCH;
    if (!fr_run_copy(in, "gpus", out, "ranks") || !fr_run_copy(in, "fsdp", out, "plan.dp") ||
        !fr_run_copy(in, "tp", out, "plan.tp") || !fr_run_copy(in, "pp", out, "plan.pp") ||
        !fr_run_copy(in, "cp", out, "plan.cp"))
        return FR_RUN_NO_DEGREES;
    if (!fr_run_copy(in, "seq", out, "model.sequence")) return FR_RUN_NO_SIZES;
    fr_run_number(in, "gpus", &gpus);
    if (!fr_run_tokens_rate(in, "measured_tokens_per_s_per_gpu", gpus, out))
        return FR_RUN_NO_TIME;
    fr_run_row_set(out, "id", "%s", fr_run_cell(in, "row_id"));
    fr_run_row_set(out, "model.dtype", "%s", dtype);
    fr_run_row_set(out, "plan.recompute", "full");
    fr_run_row_set(out, "plan.attention", "flash-2");
    fr_run_row_set(out, "plan.zero", "3");
    fr_run_row_set(out, "runtime", "torchtitan-2025");
    fr_run_row_set(out, "note.device", "%s", fr_run_cell(in, "gpu"));
    fr_run_row_set(out, "note.sharded", "yes");
    fr_run_row_set(out, "group", "%s, %s GPUs", fr_run_cell(in, "model"),
                   fr_run_cell(in, "gpus"));
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_torchtitan = {
    .name = "torchtitan",
    .summary = "torchtitan's published runs",
    .source = "pytorch/torchtitan, benchmarks/*.md",
    .columns = columns,
    .read = read,
};
