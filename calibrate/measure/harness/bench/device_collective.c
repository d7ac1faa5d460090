/* Collectives of devices through their own library: all kinds over the first ranks of every count that teams have, 8 B to
 * 1 GiB, floats.  send_recv is one way of a ping-pong between two. */
#include <math.h>

#include "calibrate/measure/harness/bench.h"

static const struct {
    fr_op op;
    bool divided;
} ops[] = {{FR_OP_ALL_REDUCE, false}, {FR_OP_ALL_GATHER, true}, {FR_OP_REDUCE_SCATTER, true},
           {FR_OP_ALL_TO_ALL, true},  {FR_OP_BROADCAST, false}, {FR_OP_REDUCE, false},
           {FR_OP_SEND_RECV, false}};
enum { N_OPS = sizeof ops / sizeof *ops, SMALLEST_B = 8, PING_PONG = 2 };

static struct fr_device_task task_of(const struct fr_point *p) {
    return (struct fr_device_task){.kind = FR_DEVICE_COLLECTIVE,
                                   .group = p->team->group,
                                   .op = (fr_op)p->part,
                                   .partner = 1 - p->team->rank,
                                   .first = p->team->rank == 0,
                                   .size_B = (double)p->count * sizeof(float)};
}

/* Powers of two over all ranks, of four over fewer, of sixteen over counts that are no power of two. */
static double ratio_of(const struct fr_bench *bench, const struct fr_team *team) {
    bool odd = (team->n_ranks & (team->n_ranks - 1)) != 0;
    if (bench->options.quick) return 16;
    return team->n_ranks == bench->n_ranks ? 2 : odd ? 16 : 4;
}

static int step_of(const struct fr_team *team, const struct fr_bench *bench, double size_B,
                   double ratio) {
    bool end = size_B == SMALLEST_B || size_B * ratio > bench->options.max_size_B;
    if (team->n_ranks != bench->n_ranks && team->n_ranks != 2) return end ? 1 : 2;
    return end ? FR_STEP_NEEDED : fmod(log2(size_B), 4) == 3 ? 0 : 1;
}

static fr_status plan_op(struct fr_bench *bench, const struct fr_bench_row *row,
                         const struct fr_team *team, int i, struct fr_error *err) {
    double ratio = ratio_of(bench, team);
    int last = 0;
    if (ops[i].op == FR_OP_SEND_RECV && team->n_ranks != PING_PONG) return FR_OK;
    for (double size_B = SMALLEST_B; size_B <= bench->options.max_size_B; size_B *= ratio) {
        struct fr_point point = {.row = row,
                                 .team = team,
                                 .part = (int)ops[i].op,
                                 .count = fr_bench_count(size_B, ops[i].divided, team->n_ranks),
                                 .step = step_of(team, bench, size_B, ratio)};
        if (point.count == last) continue;
        last = point.count;
        const struct fr_device_task task = task_of(&point);
        fr_bench_device_choose(bench, &task, &point);
        FR_TRY(fr_bench_add(bench, &point, err));
    }
    return FR_OK;
}

static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    for (int t = 0; t < bench->teams.count && !bench->no_groups; t++) {
        struct fr_team *team = &bench->teams.team[t];
        if (team->kind != FR_TEAM_GROUP || !fr_bench_group_wanted(bench, team->n_ranks))
            continue;
        FR_TRY(fr_bench_device_join(bench, team, err));
        for (int i = 0; i < N_OPS && !bench->no_groups; i++)
            FR_TRY(plan_op(bench, row, team, i, err));
    }
    return FR_OK;
}

static void head(const struct fr_bench *bench, const struct fr_point *point,
                 struct fr_text *text) {
    const struct fr_team *team = point->team;
    (void)bench;
    fr_sample_head_collective(
        &(struct fr_sample_collective){.op = (fr_op)point->part,
                                       .level = team->level,
                                       .n_ranks = team->n_ranks,
                                       .n_nodes = team->n_nodes,
                                       .n_groups = 1,
                                       .size_B = (double)point->count * sizeof(float)},
        text);
}

/* A ping-pong is two messages, of which one is timed. */
static fr_status run(void *context, int calls, struct fr_error *err) {
    struct fr_work *work = context;
    const struct fr_device_task task = task_of(work->point);
    double from_s = fr_now_s();
    FR_TRY(fr_bench_device_run(work, &task, 0, calls, err));
    if (task.op == FR_OP_SEND_RECV && work->stopped_s > 0)
        work->stopped_s = from_s + (work->stopped_s - from_s) / 2;
    return FR_OK;
}

const struct fr_bench_row fr_bench_device_collective = {
    .name = "device_collective",
    .measures = "collectives of GPUs over 2, 3, 4, ... ranks and one rank a node, 8 B to 1 GiB "
                "(--device)",
    .feeds = "collectives",
    .call_s = 2e-3,
    .needs_processor = true,
    .on_device = true,
    .step = 1,
    .plan = plan,
    .head = head,
    .run = run,
};
