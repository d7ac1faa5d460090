/* MPI_Allreduce: the sum to all, floats, in place, as training sums gradients and partial products: out of
 * place a message of 256 KiB and more takes twice as long within a node, for its copy.  Sums grow from
 * call to call and end at infinity, which adds no slower. */
#include "calibrate/measure/harness/bench.h"

static int call(const struct fr_work *work) {
    const struct fr_point *p = work->point;
    return MPI_Allreduce(MPI_IN_PLACE, work->recv, p->count, MPI_FLOAT, MPI_SUM, p->team->call);
}

static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    FR_TRY(fr_bench_collective_plan(bench, row, err));
    return fr_bench_plan_beyond(bench, row, err);
}

const struct fr_bench_row fr_bench_all_reduce = {
    .name = "all_reduce",
    .measures =
        "MPI_Allreduce in place over the first 2, 4, 8, ... ranks, and over one rank a node",
    .feeds = "collectives.all_reduce",
    .op = FR_OP_ALL_REDUCE,
    .call = call,
    .plan = plan,
    .head = fr_bench_collective_head,
    .run = fr_bench_collective_run,
};
