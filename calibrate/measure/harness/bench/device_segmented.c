/* The same collective on disjoint groups of devices at once, as the groups of a mesh run theirs: neighbours (tensor groups)
 * and every g-th rank (data groups, a rail each). */
#include "calibrate/measure/harness/bench.h"

static const fr_op ops[] = {FR_OP_ALL_REDUCE, FR_OP_ALL_GATHER, FR_OP_ALL_TO_ALL};
enum { N_OPS = sizeof ops / sizeof *ops, SMALLEST_B = 32 << 10 };

static struct fr_device_task task_of(const struct fr_point *p) {
    return (struct fr_device_task){.kind = FR_DEVICE_COLLECTIVE,
                                   .group = p->team->group,
                                   .op = ops[p->part],
                                   .size_B = (double)p->count * sizeof(float)};
}

static fr_status plan_team(struct fr_bench *bench, const struct fr_bench_row *row,
                           const struct fr_team *team, struct fr_error *err) {
    for (int o = 0; o < N_OPS; o++)
        for (double size_B = SMALLEST_B; size_B <= bench->options.max_size_B; size_B *= 32) {
            bool divided = ops[o] != FR_OP_ALL_REDUCE;
            struct fr_point point = {.row = row,
                                     .team = team,
                                     .part = o,
                                     .count = fr_bench_count(size_B, divided, team->n_ranks)};
            const struct fr_device_task task = task_of(&point);
            fr_bench_device_choose(bench, &task, &point);
            FR_TRY(fr_bench_add(bench, &point, err));
        }
    return FR_OK;
}

static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    return fr_bench_device_teams(bench, row, FR_TEAM_SEGMENTS, plan_team, err);
}

static void head(const struct fr_bench *bench, const struct fr_point *point,
                 struct fr_text *text) {
    const struct fr_team *team = point->team;
    (void)bench;
    fr_sample_head_collective(
        &(struct fr_sample_collective){.op = ops[point->part],
                                       .level = team->level,
                                       .n_ranks = team->n_ranks,
                                       .n_nodes = team->n_nodes,
                                       .n_groups = team->n_groups,
                                       .layout = team->layout,
                                       .size_B = (double)point->count * sizeof(float)},
        text);
}

const struct fr_bench_row fr_bench_device_segmented = {
    .name = "device_segmented",
    .measures = "all-reduce, all-gather and all-to-all on disjoint groups of GPUs at once "
                "(--device)",
    .feeds = "reported: how much slower than one group alone",
    .call_s = 2e-3,
    .needs_processor = true,
    .on_device = true,
    .step = 4,
    .plan = plan,
    .head = head,
    .task = task_of,
    .run = fr_bench_device_run_task,
};
