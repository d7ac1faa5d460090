/* Passes over a device's memory by working set, from a share of its cache to the capacity of
 * its memory. */
#include "calibrate/measure/harness/bench.h"

static const double SMALLEST_B = 4 << 20,
                    LARGEST_B = 8589934588.0; /* floats that an int counts */

static struct fr_device_task task_of(const struct fr_point *point) {
    return (struct fr_device_task){.kind = FR_DEVICE_TRAFFIC,
                                   .traffic = (fr_traffic)point->part,
                                   .size_B = (double)point->count * sizeof(float)};
}

/* The largest size first: what memory_bandwidth is. */
static fr_status plan_kind(struct fr_bench *bench, struct fr_point point,
                           struct fr_error *err) {
    const double times = point.part == FR_TRAFFIC_STREAM && !bench->options.quick ? 4 : 16;
    int largest = 0;
    for (double size_B = SMALLEST_B; size_B <= LARGEST_B; size_B *= times) {
        bool added = false;
        point.count = (int)(size_B / sizeof(float));
        point.step = 1;
        const struct fr_device_task task = task_of(&point);
        FR_TRY(fr_bench_device_add(bench, &point, &task, &added, err));
        if (!added) break;
        largest = bench->n_points;
    }
    if (largest > 0)
        bench->points[largest - 1].step = point.part == FR_TRAFFIC_STREAM ? FR_STEP_NEEDED : 0;
    return FR_OK;
}

static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    struct fr_point point = {.row = row, .team = &bench->teams.team[0]};
    for (point.part = 0; point.part < FR_TRAFFIC_OPERANDS; point.part++)
        FR_TRY(plan_kind(bench, point, err));
    return FR_OK;
}

static void head(const struct fr_bench *bench, const struct fr_point *point,
                 struct fr_text *text) {
    const struct fr_device_task task = task_of(point);
    fr_sample_head_memory(&(struct fr_sample_memory){.kernel = point->part,
                                                     .size_B = task.size_B,
                                                     .moved_B = bench->driver->moved_B(&task)},
                          text);
}

const struct fr_bench_row fr_bench_device_memory = {
    .name = "device_memory",
    .measures =
        "copies, sums, norms, softmax and updates in a GPU's memory, 4 MiB to 4 GiB (--device)",
    .feeds = "device.memory_bandwidth",
    .call_s = 3e-3,
    .needs_processor = true,
    .on_device = true,
    .plan = plan,
    .head = head,
    .task = task_of,
    .run = fr_bench_device_run_task,
};
