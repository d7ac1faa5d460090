/* Pipelined broadcast: down rings over all adapters, piece after piece. */
#include "models/network/rail_ring.h"

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    fr_rail_chain_expand(a, false, e);
}

const struct fr_collective fr_collective_rail_chain_broadcast = {
    .name = "rail_chain",
    .op = FR_OP_BROADCAST,
    .equation = "q t_out + (p-1-q) t_in + (K-1) max(t_out, t_in), K = n / (f 512 KiB)",
    .source = "Watts, van de Geijn, A pipelined broadcast for multidimensional meshes, 1995; "
              "NCCL, src/device/broadcast.h: rings, one a channel",
    .applicable = fr_rail_chain_applicable,
    .time_s = fr_rail_chain_s,
    .expand = expand,
};
