/* The parts of a calibration and what share of the time each may take. */
#include "calibrate/harness/bench.h"

static const struct part {
    double share; /* of the whole budget */
    fr_status (*run)(struct fr_bench *bench, double budget_s, struct fr_error *err);
} parts[] = {
    {0.02, fr_bench_kernel},    {0.03, fr_bench_memory},      {0.40, fr_bench_gemm_fp32},
    {0.15, fr_bench_gemm_fp64}, {0.40, fr_bench_collectives},
};

fr_status fr_bench_run(struct fr_bench *bench, struct fr_error *err) {
    struct fr_text line = {0};
    if (bench->rank == 0) {
        fr_sample_line_provenance(&bench->provenance, &line);
        FR_TRY(fr_sample_put(bench->fd, bench->options.samples, &line, err));
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        FR_TRY(parts[i].run(bench, parts[i].share * bench->options.budget_s, err));
    return FR_OK;
}
