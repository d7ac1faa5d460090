/* SimuMax's measurements on one node of B200s: Megatron-LM without overlap, one micro-batch size.
 *
 * Its models are cut to a few of their layers, which is for a proxy's sake: such rows are left out,
 * as are models that no preset describes (latent attention). */
#include <stdlib.h>

#include "calibrate/runs/runs.h"

static const char *const columns[] = {"model_type", "layers_run", "micro_batch_count_per_dp",
                                      "measured_iter_time_ms", NULL};

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    int64_t run = 0, layers = 0;
    if (!fr_run_find_model(fr_run_cell(in, "model"), out)) return FR_RUN_UNKNOWN_MODEL;
    const char *all = fr_run_row_get(out, "note.model_layers");
    layers = all ? strtoll(all, NULL, 10) : 0;
    if (!fr_run_integer(in, "layers_run", &run)) return FR_RUN_NO_SIZES;
    if (run < layers) return FR_RUN_PROXY;
    if (!fr_run_time(in, "measured_iter_time_ms", 1e-3, out)) return FR_RUN_NO_TIME;
    fr_run_skip skip = fr_run_plan_columns(in, out);
    if (skip != FR_RUN_USABLE) return skip;
    fr_run_copy(in, "seq", out, "model.sequence");
    fr_run_row_set(out, "model.dtype", "%s", fr_run_cell(in, "dtype"));
    fr_run_row_set(out, "plan.attention", "flash");
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_simumax = {
    .name = "simumax",
    .summary = "SimuMax on a node of B200",
    .source = "MooreThreads/SimuMax, docs/b200",
    .columns = columns,
    .read = read,
};
