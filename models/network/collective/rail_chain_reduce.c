/* Pipelined reduction: up rings over all adapters, piece after piece. */
#include "models/network/rail_ring.h"

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    fr_rail_chain_expand(a, true, e);
}

const struct fr_collective fr_collective_rail_chain_reduce = {
    .name = "rail_chain",
    .op = FR_OP_REDUCE,
    .equation = "q t_out + (p-1-q) t_in + (K-1) max(t_out, t_in), K = n / (f 512 KiB)",
    .source = "Watts, van de Geijn, A pipelined broadcast for multidimensional meshes, 1995, "
              "backwards; "
              "NCCL, src/device/reduce.h: rings, one a channel",
    .applicable = fr_rail_chain_applicable,
    .time_s = fr_rail_chain_s,
    .expand = expand,
};
