/* Send and receive: every rank sends n bytes to the next one and receives as many from the one
 * before, all at once, as sendrecv_perf of nccl-tests does. */
#include "models/network/expansion.h"

static double time_s(const struct fr_collective_args *a) {
    struct fr_link_cost link = fr_collective_ring_link(a);
    if (a->n_ranks == 1) return 0;
    return link.latency_s + a->size_B * link.s_per_B;
}

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    struct fr_peers everyone = {a->n_ranks, 1};
    e->around = true;
    if (a->n_ranks > 1) fr_expand_shift(e, everyone, 1, a->size_B);
}

const struct fr_collective fr_collective_direct_send_recv = {
    .name = "direct",
    .op = FR_OP_SEND_RECV,
    .equation = "alpha + n beta",
    .source = "nccl-tests, src/sendrecv.cu",
    .applicable = fr_collective_always,
    .time_s = time_s,
    .expand = expand,
};
