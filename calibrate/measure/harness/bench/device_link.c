/* Copies between a host and its device, each way, of pages that are locked in memory and of others. */
#include "calibrate/measure/harness/bench.h"

enum { WAY = 1, PAGES = 2, SMALLEST = 4 << 10, LARGEST = 256 << 20 };

static struct fr_device_task task_of(const struct fr_point *point) {
    return (struct fr_device_task){.kind = FR_DEVICE_LINK,
                                   .size_B = (double)point->count,
                                   .to_device = !(point->part & WAY),
                                   .pinned = !(point->part & PAGES)};
}

/* The largest size first, so that the host's buffers are made once. */
static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    struct fr_point point = {.row = row, .team = &bench->teams.team[0]};
    for (point.count = LARGEST; point.count >= SMALLEST; point.count /= 16)
        for (point.part = 0; point.part <= (WAY | PAGES); point.part++) {
            bool added = false;
            bool decides = point.count == LARGEST && !(point.part & PAGES);
            const struct fr_device_task task = task_of(&point);
            point.step = decides ? 0 : 1;
            FR_TRY(fr_bench_device_add(bench, &point, &task, &added, err));
        }
    return FR_OK;
}

static void head(const struct fr_bench *bench, const struct fr_point *point,
                 struct fr_text *text) {
    const struct fr_device_task task = task_of(point);
    (void)bench;
    fr_sample_head_link(
        &(struct fr_sample_link){.way = task.to_device ? FR_WAY_TO_DEVICE : FR_WAY_TO_HOST,
                                 .pinned = task.pinned,
                                 .size_B = task.size_B},
        text);
}

const struct fr_bench_row fr_bench_device_link = {
    .name = "device_link",
    .measures =
        "copies between host and GPU, both ways, pinned and not, 4 KiB to 256 MiB (--device)",
    .feeds = "device.host_link",
    .call_s = 2e-3,
    .needs_processor = true,
    .on_device = true,
    .plan = plan,
    .head = head,
    .task = task_of,
    .run = fr_bench_device_run_task,
};
