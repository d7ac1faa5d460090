/* Several pairs at once, within the first node and between the first two: what a shared link or
 * adapter leaves to each.  There and back (one), or both ways at once (both). */
#include "calibrate/measure/harness/bench.h"

enum { ONE, BOTH };

static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    for (int t = 0; t < bench->teams.count; t++) {
        const struct fr_team *team = &bench->teams.team[t];
        if (team->kind != FR_TEAM_PAIRS) continue;
        for (int direction = ONE; direction <= BOTH; direction++)
            /* One pair there and back is send_recv; every other size is enough for contention. */
            for (int i = 0; i < bench->n_sizes; i += bench->options.sizes ? 1 : 4) {
                struct fr_point point = {.row = row,
                                         .team = team,
                                         .part = direction,
                                         .count = fr_bench_count(bench->size_B[i], false, 2)};
                FR_TRY(fr_bench_add(bench, &point, err));
            }
    }
    return FR_OK;
}

static void head(const struct fr_bench *bench, const struct fr_point *point,
                 struct fr_text *text) {
    const struct fr_sample_pairs sample = {.level = point->team->level,
                                           .direction = point->part,
                                           .n_pairs = point->team->n_pairs,
                                           .size_B = (double)point->count * sizeof(float)};
    (void)bench;
    fr_sample_head_pairs(&sample, text);
}

static int exchange(const struct fr_bench *b, const struct fr_point *p) {
    enum { TAG = 9 };
    return MPI_Sendrecv(b->send, p->count, MPI_FLOAT, p->team->partner, TAG, b->recv, p->count,
                        MPI_FLOAT, p->team->partner, TAG, p->team->sync, MPI_STATUS_IGNORE);
}

/* Two turns, so that there and back and two exchanges both count half. */
static int turns(const struct fr_bench *b, const struct fr_point *p) {
    enum { TAG = 10 };
    int other = p->team->partner, code = MPI_SUCCESS;
    if (p->part == BOTH) {
        code = exchange(b, p);
        return code == MPI_SUCCESS ? exchange(b, p) : code;
    }
    for (int turn = 0; turn < 2 && code == MPI_SUCCESS; turn++)
        if ((turn == 0) == p->team->first)
            code = MPI_Send(b->send, p->count, MPI_FLOAT, other, TAG, p->team->sync);
        else
            code = MPI_Recv(b->recv, p->count, MPI_FLOAT, other, TAG, p->team->sync,
                            MPI_STATUS_IGNORE);
    return code;
}

static fr_status run(void *context, int calls, struct fr_error *err) {
    const struct fr_work *work = context;
    for (int i = 0; i < calls; i++) FR_MPI_TRY(turns(work->bench, work->point));
    return FR_OK;
}

const struct fr_bench_row fr_bench_pairs = {
    .name = "pairs",
    .measures =
        "1, 2, 4, ... pairs sending at once, one way and both, within a node and between two",
    .feeds = "levels: shared_by",
    .share = 0.5,
    .step = 2,
    .plan = plan,
    .head = head,
    .run = run,
};
