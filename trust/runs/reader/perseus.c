/* Perseus' trainings on A40 and A100, their energy from NVML.
 *
 * Merak's own choices hold (merak_args.py): every layer's activations computed anew, 1F1B, fp32
 * weights; the products run at more than twice an A100's fp32 peak, so in TF32.  Rows whose passes
 * have clocks of their own say no more of them than the mean: only those at one clock are read. */
#include "trust/runs/merak.h"

static const char *const columns[] = {"planner",       "plan_index",           "freq_mhz_max",
                                      "freq_mhz_mean", "measured_iter_time_s", NULL};

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    double most = 0, mean = 0;
    if (fr_run_cell(in, "quality")[0] == 'C') return FR_RUN_QUALITY;
    if (!fr_run_number(in, "freq_mhz_max", &most) ||
        !fr_run_number(in, "freq_mhz_mean", &mean) || mean < most)
        return FR_RUN_CLOCKS;
    return fr_run_merak(in, "model", "partition", "micro_batch", out);
}

const struct fr_run_reader fr_run_reader_perseus = {
    .name = "perseus",
    .summary = "trainings of Perseus at one clock: time, and energy of the devices",
    .source =
        "ml-energy/zeus, branch kronos, sosp24_data (Chung et al., SOSP 2024); merak/ there",
    .columns = columns,
    .read = read,
};
