#include "calibrate/harness/collective_calls.h"

static int broadcast(const struct fr_bench_call *c) {
    return MPI_Bcast(c->recv, c->count, MPI_FLOAT, 0, c->comm);
}

static int reduce(const struct fr_bench_call *c) {
    return MPI_Reduce(c->send, c->recv, c->count, MPI_FLOAT, MPI_SUM, 0, c->comm);
}

static int all_reduce(const struct fr_bench_call *c) {
    return MPI_Allreduce(c->send, c->recv, c->count, MPI_FLOAT, MPI_SUM, c->comm);
}

static int all_gather(const struct fr_bench_call *c) {
    int part = c->count / c->n_ranks;
    return MPI_Allgather(c->send, part, MPI_FLOAT, c->recv, part, MPI_FLOAT, c->comm);
}

static int reduce_scatter(const struct fr_bench_call *c) {
    return MPI_Reduce_scatter_block(c->send, c->recv, c->count / c->n_ranks, MPI_FLOAT, MPI_SUM,
                                    c->comm);
}

static int all_to_all(const struct fr_bench_call *c) {
    int part = c->count / c->n_ranks;
    return MPI_Alltoall(c->send, part, MPI_FLOAT, c->recv, part, MPI_FLOAT, c->comm);
}

/* There and back; half of it is one way. */
static int ping_pong(const struct fr_bench_call *c) {
    enum { TAG = 8 };
    int other = 1 - c->rank, code;
    if (c->rank == 0) {
        code = MPI_Send(c->send, c->count, MPI_FLOAT, other, TAG, c->comm);
        if (code != MPI_SUCCESS) return code;
        return MPI_Recv(c->recv, c->count, MPI_FLOAT, other, TAG, c->comm, MPI_STATUS_IGNORE);
    }
    code = MPI_Recv(c->recv, c->count, MPI_FLOAT, other, TAG, c->comm, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return code;
    return MPI_Send(c->send, c->count, MPI_FLOAT, other, TAG, c->comm);
}

const struct fr_bench_collective fr_bench_collective_calls[] = {
    {.op = FR_OP_BROADCAST, .share = 1, .run = broadcast},
    {.op = FR_OP_REDUCE, .share = 1, .run = reduce},
    {.op = FR_OP_ALL_REDUCE, .share = 1, .run = all_reduce},
    {.op = FR_OP_ALL_GATHER, .divided = true, .share = 1, .run = all_gather},
    {.op = FR_OP_REDUCE_SCATTER, .divided = true, .share = 1, .run = reduce_scatter},
    {.op = FR_OP_ALL_TO_ALL, .divided = true, .share = 1, .run = all_to_all},
    {.op = FR_OP_SEND_RECV, .pair_only = true, .share = 0.5, .run = ping_pong},
};
const int fr_bench_n_collective_calls =
    sizeof fr_bench_collective_calls / sizeof *fr_bench_collective_calls;
