/* A collective beside a matrix product: each alone, both at once, and the product's own time
 * while the collective runs.  hidden = (comm + compute - both) / min(comm, compute); slowed =
 * compute_during / compute. */
#include "calibrate/measure/harness/bench.h"

#include <stdlib.h>

enum { DIM = 512 };

static fr_status open_pool(struct fr_bench *bench, void **state, struct fr_error *err) {
    (void)bench;
    *state = fr_bench_pool(FR_BENCH_POOL_B);
    return *state ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "the operands of overlap");
}

static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    for (int t = 0; t < bench->teams.count; t++) {
        const struct fr_team *team = &bench->teams.team[t];
        if (team->kind != FR_TEAM_EVERYONE || team->n_ranks < 2) continue;
        for (double size_B = 64 << 10; size_B <= bench->options.max_size_B; size_B *= 8)
            for (int part = FR_OVERLAP_COMM; part <= FR_OVERLAP_DURING; part++) {
                struct fr_point point = {.row = row,
                                         .team = team,
                                         .part = part,
                                         .m = DIM,
                                         .n = DIM,
                                         .k = DIM,
                                         .count = fr_bench_count(size_B, false, 2)};
                FR_TRY(fr_bench_add(bench, &point, err));
            }
    }
    return FR_OK;
}

static void head(const struct fr_bench *bench, const struct fr_point *point,
                 struct fr_text *text) {
    const struct fr_sample_overlap sample = {.op = FR_OP_ALL_REDUCE,
                                             .level = point->team->level,
                                             .part = point->part,
                                             .n_ranks = point->team->n_ranks,
                                             .size_B = (double)point->count * sizeof(float),
                                             .m = point->m,
                                             .n = point->n,
                                             .k = point->k};
    (void)bench;
    fr_sample_head_overlap(&sample, text);
}

/* For compute_during the collective is waited for after the clock was stopped. */
static fr_status run(void *context, int calls, struct fr_error *err) {
    struct fr_work *work = context;
    const struct fr_point *p = work->point;
    struct fr_bench *b = work->bench;
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < calls; i++) {
        if (p->part != FR_OVERLAP_COMPUTE)
            FR_MPI_TRY(MPI_Iallreduce(b->send, b->recv, p->count, MPI_FLOAT, MPI_SUM,
                                      p->team->call, &request));
        if (p->part != FR_OVERLAP_COMM)
            fr_bench_multiply(work->state, FR_FP32, p->m, p->n, p->k, 0, FR_TRANSPOSED_NONE);
        if (p->part == FR_OVERLAP_DURING) {
            work->stopped_s = fr_now_s();
            FR_MPI_TRY(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else
            FR_MPI_TRY(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    return FR_OK;
}

const struct fr_bench_row fr_bench_overlap = {
    .name = "overlap",
    .measures = "all-reduce beside a product: alone, together, and the product meanwhile",
    .feeds = "reported: how much is hidden, how much compute slows",
    .needs_processor = true,
    .open = open_pool,
    .close = free,
    .step = 3,
    .plan = plan,
    .head = head,
    .run = run,
};
