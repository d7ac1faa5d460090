/* Jiang et al., NSDI 2024, Fig. 9: weak scaling, printed as MFU.
 *
 * A time would follow from the MFU only with the batch, which the figure leaves out: a row is read
 * where columns besides those printed give what is missing. */
#include "trust/runs/runs.h"

static const char *const columns[] = {"framework", "layers",           "heads", "tp",
                                      "pp",        "measured_mfu_pct", NULL};

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    if (!fr_run_mentions(fr_run_cell(in, "framework"), "Megatron-LM")) return FR_RUN_METHOD;
    fr_run_skip skip = fr_run_columns(in, out);
    if (skip != FR_RUN_USABLE) return skip;
    if (!fr_run_time(in, "measured_iter_time_s", 1, out)) return FR_RUN_NO_TIME;
    fr_run_row_set(out, "runtime", "megatron-lm-2022");
    fr_run_row_set(out, "model.dtype", "bf16");
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_megascale_weak = {
    .name = "megascale_weak",
    .summary = "weak scaling as MegaScale measured it",
    .source = "Jiang et al., MegaScale, NSDI 2024, Fig. 9",
    .columns = columns,
    .read = read,
};
