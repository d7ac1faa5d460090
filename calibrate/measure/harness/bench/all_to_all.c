/* MPI_Alltoall: a part from each to each, floats. */
#include "calibrate/measure/harness/bench.h"

static int call(const struct fr_work *work) {
    const struct fr_point *p = work->point;
    int part = p->count / p->team->n_ranks;
    return MPI_Alltoall(work->send, part, MPI_FLOAT, work->recv, part, MPI_FLOAT,
                        p->team->call);
}

const struct fr_bench_row fr_bench_all_to_all = {
    .name = "all_to_all",
    .measures = "MPI_Alltoall over the first 2, 4, 8, ... ranks, and over one rank a node",
    .feeds = "collectives.all_to_all",
    .op = FR_OP_ALL_TO_ALL,
    .divided = true,
    .call = call,
    .plan = fr_bench_collective_plan,
    .head = fr_bench_collective_head,
    .run = fr_bench_collective_run,
};
