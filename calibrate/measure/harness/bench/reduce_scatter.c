/* MPI_Reduce_scatter_block: a part of the sum to each, floats. */
#include "calibrate/measure/harness/bench.h"

static int call(const struct fr_work *work) {
    const struct fr_point *p = work->point;
    int part = p->count / p->team->n_ranks;
    return MPI_Reduce_scatter_block(work->send, work->recv, part, MPI_FLOAT, MPI_SUM,
                                    p->team->call);
}

const struct fr_bench_row fr_bench_reduce_scatter = {
    .name = "reduce_scatter",
    .measures =
        "MPI_Reduce_scatter_block over the first 2, 4, 8, ... ranks, and over one rank a node",
    .feeds = "collectives.reduce_scatter",
    .op = FR_OP_REDUCE_SCATTER,
    .divided = true,
    .call = call,
    .plan = fr_bench_collective_plan,
    .head = fr_bench_collective_head,
    .run = fr_bench_collective_run,
};
