/* Several pairs of devices at once, within the first node and between the first two: there and back, or both ways at once. */
#include "calibrate/measure/harness/bench.h"

enum { ONE, BOTH, SMALLEST_B = 8 << 10 };

static struct fr_device_task task_of(const struct fr_point *p) {
    return (struct fr_device_task){.kind = FR_DEVICE_COLLECTIVE,
                                   .group = p->team->group,
                                   .op = FR_OP_SEND_RECV,
                                   .partner = p->team->partner,
                                   .first = p->team->first,
                                   .both = p->part == BOTH,
                                   .size_B = (double)p->count * sizeof(float)};
}

static fr_status plan_team(struct fr_bench *bench, const struct fr_bench_row *row,
                           const struct fr_team *team, struct fr_error *err) {
    for (int direction = ONE; direction <= BOTH; direction++)
        for (double size_B = SMALLEST_B; size_B <= bench->options.max_size_B; size_B *= 32) {
            const struct fr_point point = {.row = row,
                                           .team = team,
                                           .part = direction,
                                           .count = fr_bench_count(size_B, false, 2)};
            FR_TRY(fr_bench_add(bench, &point, err));
        }
    return FR_OK;
}

static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    return fr_bench_device_teams(bench, row, FR_TEAM_PAIRS, plan_team, err);
}

static void head(const struct fr_bench *bench, const struct fr_point *point,
                 struct fr_text *text) {
    (void)bench;
    fr_sample_head_pairs(
        &(struct fr_sample_pairs){.level = point->team->level,
                                  .direction = point->part,
                                  .n_pairs = point->team->n_pairs,
                                  .size_B = (double)point->count * sizeof(float)},
        text);
}

/* Two messages, or two exchanges, are a call. */
const struct fr_bench_row fr_bench_device_pairs = {
    .name = "device_pairs",
    .measures = "1, 2, 4, ... pairs of GPUs sending at once, one way and both (--device)",
    .feeds = "reported: what a shared link or adapter leaves to each",
    .call_s = 2e-3,
    .share = 0.5,
    .needs_processor = true,
    .on_device = true,
    .step = 3,
    .plan = plan,
    .head = head,
    .task = task_of,
    .run = fr_bench_device_run_task,
};
