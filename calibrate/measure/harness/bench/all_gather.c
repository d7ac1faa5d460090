/* MPI_Allgather: every rank's part to all, floats. */
#include "calibrate/measure/harness/bench.h"

static int call(const struct fr_work *work) {
    const struct fr_point *p = work->point;
    int part = p->count / p->team->n_ranks;
    return MPI_Allgather(work->send, part, MPI_FLOAT, work->recv, part, MPI_FLOAT,
                         p->team->call);
}

const struct fr_bench_row fr_bench_all_gather = {
    .name = "all_gather",
    .measures = "MPI_Allgather over the first 2, 4, 8, ... ranks, and over one rank a node",
    .feeds = "collectives.all_gather",
    .op = FR_OP_ALL_GATHER,
    .divided = true,
    .call = call,
    .plan = fr_bench_collective_plan,
    .head = fr_bench_collective_head,
    .run = fr_bench_collective_run,
};
