/* NeMo's progress bar: "train_step_timing in s=24.00" behind each step, "global_step=49.00" beside it.
 *
 *      "Epoch 0: : 100%|...| 50/50 [23:22<00:00, reduced_train_loss=0.186, global_step=49.00, ..., train_step_timing in s=24.00]"
 *      "Training epoch 0, iteration 49/49 | lr: ... | global_batch_size: 1024 | ... | train_step_timing in s: 24.00"
 *
 *  The second form, of NeMo 2, says the global batch too.  Where its configuration is printed (YAML: "recompute_modules:
 *  [moe_act, layernorm]"), what it recomputes is read. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trust/runs/log.h"
#include "trust/runs/row/recompute.h"

/* "    recompute_granularity: full" of a configuration, alone on its line. */
static bool setting(const char *line, struct fr_run_row *row) {
    char name[64];
    int at = 0;
    return sscanf(line, " %63[a-z_]: %n", name, &at) == 1 && at > 0 &&
           fr_run_take_recompute(name, line + at, row);
}

static fr_log_line read(const char *line, struct fr_run_row *row, double *number) {
    double batch = 0;
    const char *timing = strstr(line, "train_step_timing in s");
    if (!timing) return setting(line, row) ? FR_LOG_SAID : FR_LOG_OTHER;
    if (fr_log_number(line, "global_batch_size:", &batch) && batch >= 1 && batch < 1e12 &&
        batch == floor(batch))
        fr_run_row_set(row, "plan.global_batch", "%.0f", batch);
    return fr_log_number(timing, "train_step_timing in s=", number) ||
                   fr_log_number(timing, "train_step_timing in s:", number)
               ? FR_LOG_STEP
               : FR_LOG_MALFORMED;
}

const struct fr_run_log fr_run_log_nemo = {
    .name = "nemo",
    .summary = "NeMo's progress bar: train_step_timing",
    .source = "NVIDIA/NeMo, lightning/pytorch/callbacks; NVIDIA/dgxc-benchmarking, READMEs",
    .read = read,
};
