/* MPI_Bcast: from rank 0, floats. */
#include "calibrate/measure/harness/bench.h"

static int call(const struct fr_work *work) {
    const struct fr_point *p = work->point;
    return MPI_Bcast(work->recv, p->count, MPI_FLOAT, 0, p->team->call);
}

const struct fr_bench_row fr_bench_broadcast = {
    .name = "broadcast",
    .measures = "MPI_Bcast over the first 2, 4, 8, ... ranks, and over one rank a node",
    .feeds = "collectives.broadcast",
    .op = FR_OP_BROADCAST,
    .call = call,
    .plan = fr_bench_collective_plan,
    .head = fr_bench_collective_head,
    .run = fr_bench_collective_run,
};
