/* Jiang et al., NSDI 2024, Tables 1 and 2: Megatron-LM, and MegaScale beside it, from 256 ranks up.
 *
 * MegaScale's own rows also change the model (parallel blocks, windows of attention) and the
 * optimiser, which no plan says.  The MFU is of a 16-bit peak.  Chunks that the collectors marked
 * as from memory are not taken for published. */
#include <inttypes.h>

#include "trust/runs/runs.h"

static const char *const columns[] = {"framework", "interleave_chunks",
                                      "measured_ktokens_per_s", "days_for_300B_tokens", NULL};

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    if (!fr_run_mentions(fr_run_cell(in, "framework"), "Megatron-LM")) return FR_RUN_METHOD;
    if (!fr_run_time(in, "measured_iter_time_s", 1, out)) return FR_RUN_NO_TIME;
    int64_t chunks = 1;
    fr_run_skip skip = fr_run_columns(in, out);
    if (skip != FR_RUN_USABLE) return skip;
    if (fr_run_mentions(fr_run_cell(in, "interleave_chunks"), "from memory") ||
        !fr_run_integer(in, "interleave_chunks", &chunks))
        return FR_RUN_NO_DEGREES;
    fr_run_row_set(out, "runtime", "megatron-lm-2022");
    fr_run_row_set(out, "model.dtype", "bf16");
    fr_run_row_set(out, "plan.chunks", "%" PRId64, chunks);
    if (chunks > 1) fr_run_row_set(out, "plan.schedule", "interleaved");
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_megascale = {
    .name = "megascale",
    .summary = "Megatron-LM as MegaScale measured it",
    .source = "Jiang et al., MegaScale, NSDI 2024, Tables 1 and 2",
    .columns = columns,
    .read = read,
};
