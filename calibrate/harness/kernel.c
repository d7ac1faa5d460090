/* What one call costs that does nothing: through a pointer the compiler cannot see through. */
#include "calibrate/harness/bench.h"

enum { CALLS = 20000 };

static void nothing(void) {}
static void (*volatile const kernel)(void) = nothing;

fr_status fr_bench_kernel(struct fr_bench *bench, double budget_s, struct fr_error *err) {
    double end_s = fr_now_s() + budget_s;
    if (bench->rank != 0) return FR_OK;
    for (int rep = 0; rep < 21 && fr_now_s() < end_s; rep++) {
        double start_s = fr_now_s();
        for (int i = 0; i < CALLS; i++) kernel();
        struct fr_sample_kernel sample = {.rep = rep, .time_s = (fr_now_s() - start_s) / CALLS};
        struct fr_text line = {0};
        fr_sample_line_kernel(&sample, &line);
        FR_TRY(fr_sample_put(bench->fd, bench->options.samples, &line, err));
    }
    return FR_OK;
}
