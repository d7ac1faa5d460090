/* SimuMax's measurements on one node of B200s: Megatron-LM without overlap, one micro-batch size.
 *
 * A distributed optimiser, over cp too: with whole states a rank 12 layers of Llama 3 70B at tp 1, cp 8 would
 * take more than the GPU has; 104.5 GiB were measured.
 * Its models are cut to a few of their layers: runs of a model of so many layers.  Models that no preset
 * describes (latent attention) are left out. */
#include <inttypes.h>

#include "calibrate/runs/runs.h"

static const char *const columns[] = {"model_type", "layers_run", "micro_batch_count_per_dp",
                                      "measured_iter_time_ms", NULL};

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    int64_t run = 0;
    if (!fr_run_find_model(fr_run_cell(in, "model"), out)) return FR_RUN_UNKNOWN_MODEL;
    if (!fr_run_integer(in, "layers_run", &run)) return FR_RUN_NO_SIZES;
    fr_run_row_set(out, "model.layers", "%" PRId64, run);
    if (!fr_run_time(in, "measured_iter_time_ms", 1e-3, out)) return FR_RUN_NO_TIME;
    fr_run_skip skip = fr_run_plan_columns(in, out);
    if (skip != FR_RUN_USABLE) return skip;
    fr_run_copy(in, "seq", out, "model.sequence");
    fr_run_row_set(out, "model.dtype", "%s", fr_run_cell(in, "dtype"));
    fr_run_row_set(out, "plan.attention", "flash");
    fr_run_row_set(out, "plan.zero", "1");
    fr_run_row_set(out, "cluster", "dgx-b200");
    fr_run_row_set(out, "runtime", "megatron-bridge-26.02");
    fr_run_memory(in, "measured_peak_alloc_gib", 0x1p30, FR_COUNTED_ALLOCATED, out);
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_simumax = {
    .name = "simumax",
    .summary = "SimuMax on a node of B200",
    .source = "MooreThreads/SimuMax, docs/b200",
    .columns = columns,
    .read = read,
};
