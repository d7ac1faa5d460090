/* Send and receive: every rank sends n bytes to the next one and receives as many from the one
 * before, all at once, as sendrecv_perf of nccl-tests does. */
#include "models/network/expansion.h"

static bool applicable(const struct fr_collective_args *a) { return a->n_ranks >= 1; }

static double time_s(const struct fr_collective_args *a) {
    struct fr_link_cost link = fr_collective_ring_link(a);
    if (a->n_ranks == 1) return 0;
    return link.latency_s + a->size_B * link.s_per_B;
}

static fr_status expand(const struct fr_collective_args *a, struct fr_message_list *list) {
    struct fr_expansion e = fr_expansion_open(a, list);
    struct fr_peers everyone = {a->n_ranks, 1};
    e.around = true;
    if (a->n_ranks > 1) fr_expand_shift(&e, everyone, 1, a->size_B);
    return fr_expansion_close(&e);
}

const struct fr_collective fr_collective_direct_send_recv = {
    .name = "direct",
    .op = FR_OP_SEND_RECV,
    .equation = "alpha + n beta",
    .source = "nccl-tests, src/sendrecv.cu",
    .applicable = applicable,
    .time_s = time_s,
    .expand = expand,
};
