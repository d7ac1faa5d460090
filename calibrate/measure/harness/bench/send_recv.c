/* Ping-pong between two ranks, the first two and one on each of the first two nodes; half of it
 * is one way.  It is its own synchronisation: the clock of the first rank sees all of it. */
#include "calibrate/measure/harness/bench.h"

static int call(const struct fr_work *work) {
    enum { TAG = 8 };
    const struct fr_point *p = work->point;
    MPI_Comm comm = p->team->call;
    int other = 1 - p->team->rank, code;
    if (p->team->rank == 0) {
        code = MPI_Send(work->send, p->count, MPI_FLOAT, other, TAG, comm);
        if (code != MPI_SUCCESS) return code;
        return MPI_Recv(work->recv, p->count, MPI_FLOAT, other, TAG, comm, MPI_STATUS_IGNORE);
    }
    code = MPI_Recv(work->recv, p->count, MPI_FLOAT, other, TAG, comm, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return code;
    return MPI_Send(work->send, p->count, MPI_FLOAT, other, TAG, comm);
}

const struct fr_bench_row fr_bench_send_recv = {
    .name = "send_recv",
    .measures = "one way of a ping-pong, within a node and between two",
    .feeds = "collectives.send_recv; levels: latency and bandwidth",
    .share = 0.5,
    .op = FR_OP_SEND_RECV,
    .pair_only = true,
    .call = call,
    .plan = fr_bench_collective_plan,
    .head = fr_bench_collective_head,
    .run = fr_bench_collective_run,
};
