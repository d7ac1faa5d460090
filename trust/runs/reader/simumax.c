/* SimuMax's measurements on one node of B200s: Megatron-LM without overlap, one micro-batch size.
 *
 * What its strategies say and no column does (configs/strategy of the same repository): sequence parallelism wherever
 * tp divides, gradients added up in fp32, a distributed optimiser, over cp too, context parallelism by all-to-all, Transformer Engine's fused
 * cross-entropy ("cef" in names of cases).  With whole states a rank 12 layers of Llama 3 70B at tp 1, cp 8 would take
 * more than the GPU has; 104.5 GiB were measured.
 * Its models are cut to a few of their layers: runs of a model of so many layers, of which those of DeepSeek are
 * dense in the first, and trained in bf16 with whole moments. */
#include <inttypes.h>
#include <string.h>

#include "trust/runs/runs.h"

static const char *const columns[] = {"model_type", "layers_run", "micro_batch_count_per_dp",
                                      "measured_iter_time_ms", NULL};

/* Names that no title of a preset is. */
static bool find_model(const struct fr_run_source *in, struct fr_run_row *out) {
    static const struct {
        const char *theirs, *ours;
    } latent[] = {{"deepseekv2", "deepseek-v2"}, {"deepseekv3", "deepseek-v3"}};
    const char *model = fr_run_cell(in, "model");
    for (size_t k = 0; k < sizeof latent / sizeof *latent; k++) {
        if (strcmp(model, latent[k].theirs) != 0) continue;
        fr_run_row_set(out, "model", "%s", latent[k].ours);
        fr_run_row_set(out, "model.dense_layers", "1");
        fr_run_row_set(out, "model.optimizer_state", "12 B");
        return true;
    }
    return fr_run_find_model(model, out);
}

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    int64_t run = 0, tp = 1, cp = 1;
    if (!find_model(in, out)) return FR_RUN_UNKNOWN_MODEL;
    if (!fr_run_integer(in, "layers_run", &run)) return FR_RUN_NO_SIZES;
    fr_run_row_set(out, "model.layers", "%" PRId64, run);
    if (!fr_run_time(in, "measured_iter_time_ms", 1e-3, out)) return FR_RUN_NO_TIME;
    fr_run_skip skip = fr_run_plan_columns(in, out);
    if (skip != FR_RUN_USABLE) return skip;
    fr_run_copy(in, "seq", out, "model.sequence");
    fr_run_row_set(out, "model.dtype", "%s", fr_run_cell(in, "dtype"));
    fr_run_row_set(out, "plan.attention", "flash");
    fr_run_row_set(out, "plan.zero", "1");
    fr_run_integer(in, "tp", &tp);
    fr_run_integer(in, "cp", &cp);
    if (tp > 1) fr_run_row_set(out, "plan.sequence_parallel", "true");
    if (cp > 1) fr_run_row_set(out, "plan.context", "all-to-all");
    if (fr_run_mentions(fr_run_cell(in, "model_type"), "moe"))
        fr_run_copy(in, "ep", out, "plan.ep");
    fr_run_row_set(out, "model.gradient_dtype", "fp32");
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
