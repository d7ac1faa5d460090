/* The cost of an empty kernel of a device: launched by itself, one after the other; and as one
 * of a graph's. */
#include "calibrate/measure/harness/bench.h"

static struct fr_device_task task_of(const struct fr_point *point) {
    return (struct fr_device_task){.kind = point->part ? FR_DEVICE_GRAPH : FR_DEVICE_LAUNCH};
}

static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    for (int graph = 0; graph < 2; graph++) {
        const struct fr_point point = {
            .row = row, .team = &bench->teams.team[0], .part = graph};
        const struct fr_device_task task = task_of(&point);
        bool added = false;
        FR_TRY(fr_bench_device_add(bench, &point, &task, &added, err));
    }
    return FR_OK;
}

static void head(const struct fr_bench *bench, const struct fr_point *point,
                 struct fr_text *text) {
    (void)bench;
    fr_sample_head_kernel(&(struct fr_sample_kernel){.graph = point->part != 0}, text);
}

const struct fr_bench_row fr_bench_device_kernel = {
    .name = "device_kernel",
    .measures = "an empty kernel of a GPU, alone and in a graph (--device)",
    .feeds = "device.launch",
    .call_s = 1e-3,
    .needs_processor = true,
    .on_device = true,
    .step = FR_STEP_NEEDED,
    .plan = plan,
    .head = head,
    .task = task_of,
    .run = fr_bench_device_run_task,
};
