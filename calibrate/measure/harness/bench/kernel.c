/* The cost of one call that does nothing: through a pointer the compiler cannot see through. */
#include "calibrate/measure/harness/bench.h"

static void nothing(void) {}
static void (*volatile const kernel)(void) = nothing;

static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    return fr_bench_add(bench, &(struct fr_point){.row = row, .team = &bench->teams.team[0]},
                        err);
}

static void head(const struct fr_bench *bench, const struct fr_point *point,
                 struct fr_text *text) {
    (void)bench;
    (void)point;
    fr_sample_head_kernel(&(struct fr_sample_kernel){0}, text);
}

static fr_status run(void *context, int calls, struct fr_error *err) {
    (void)context;
    (void)err;
    for (int i = 0; i < calls; i++) kernel();
    return FR_OK;
}

const struct fr_bench_row fr_bench_kernel = {
    .name = "kernel",
    .measures = "a call that does nothing",
    .feeds = "device.launch",
    .call_s = 1e-4,
    .needs_processor = true,
    .step = FR_STEP_NEEDED,
    .plan = plan,
    .head = head,
    .run = run,
};
