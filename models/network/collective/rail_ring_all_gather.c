/* Rail-ring all-gather: every rank passes on, p-1 times, what it got last, on rings over all adapters. */
#include "models/network/rail_ring.h"

static double time_s(const struct fr_collective_args *a) { return fr_rail_ring_s(a, 1); }

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    fr_rail_ring_expand(a, 1, e);
}

const struct fr_collective fr_collective_rail_ring_all_gather = {
    .name = "rail_ring",
    .op = FR_OP_ALL_GATHER,
    .equation = "(p-1) (h + n/p beta), beta = max(s beta_in, beta_rails/f), "
                "h = (q alpha_out + (p-q) alpha_in)/p; of NCCL its own hops",
    .source = "NCCL, src/graph/tuning.cc: rings, one a channel; steps and shares are ours",
    .nccl = true,
    .applicable = fr_rail_ring_applicable,
    .time_s = time_s,
    .expand = expand,
};
