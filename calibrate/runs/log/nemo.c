/* NeMo's progress bar: "train_step_timing in s=24.00" behind each step, "global_step=49.00" beside it.
 *
 *      "Epoch 0: : 100%|...| 50/50 [23:22<00:00, reduced_train_loss=0.186, global_step=49.00, ..., train_step_timing in s=24.00]"
 *      "Training epoch 0, iteration 49/49 | lr: ... | global_batch_size: 1024 | ... | train_step_timing in s: 24.00"
 *
 *  The second form, of NeMo 2, says the global batch too. */
#include <math.h>
#include <string.h>

#include "calibrate/runs/log.h"

static fr_log_line read(const char *line, struct fr_run_row *row, double *number) {
    double batch = 0;
    const char *timing = strstr(line, "train_step_timing in s");
    if (!timing) return FR_LOG_OTHER;
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
