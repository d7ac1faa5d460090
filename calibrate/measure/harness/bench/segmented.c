/* The same collective on disjoint communicators at once, as the groups of a mesh run theirs:
 * neighbours (tensor groups) and every g-th rank (data groups). */
#include "calibrate/measure/harness/bench.h"

static const fr_op ops[] = {FR_OP_ALL_REDUCE, FR_OP_ALL_GATHER, FR_OP_ALL_TO_ALL};

static fr_status plan_team(struct fr_bench *bench, const struct fr_bench_row *row,
                           const struct fr_team *team, struct fr_error *err) {
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
        bool divided = fr_bench_row_of(ops[o])->divided;
        for (double size_B = 8 << 10; size_B <= bench->options.max_size_B; size_B *= 16) {
            struct fr_point point = {.row = row, .team = team, .part = (int)o};
            point.count = fr_bench_count(size_B, divided, team->n_ranks);
            FR_TRY(fr_bench_add(bench, &point, err));
        }
    }
    return FR_OK;
}

static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    for (int t = 0; t < bench->teams.count; t++)
        if (bench->teams.team[t].kind == FR_TEAM_SEGMENTS)
            FR_TRY(plan_team(bench, row, &bench->teams.team[t], err));
    return FR_OK;
}

static void head(const struct fr_bench *bench, const struct fr_point *point,
                 struct fr_text *text) {
    const struct fr_team *team = point->team;
    const struct fr_sample_collective sample = {.op = ops[point->part],
                                                .level = team->level,
                                                .n_ranks = team->n_ranks,
                                                .n_nodes = team->n_nodes,
                                                .n_groups = team->n_groups,
                                                .layout = team->layout,
                                                .size_B = (double)point->count * sizeof(float)};
    (void)bench;
    fr_sample_head_collective(&sample, text);
}

static fr_status run(void *context, int calls, struct fr_error *err) {
    struct fr_work *work = context;
    return fr_bench_collective_calls(work, fr_bench_row_of(ops[work->point->part]), calls, err);
}

const struct fr_bench_row fr_bench_segmented = {
    .name = "segmented",
    .measures = "all-reduce, all-gather and all-to-all on disjoint communicators at once",
    .feeds = "reported: how much slower than one communicator alone",
    .step = 3,
    .plan = plan,
    .head = head,
    .run = run,
};
