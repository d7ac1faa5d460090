/* NVLink SHARP (NCCL's NVLS, NVLSTree): the switch of a node adds up and copies. */
#include "models/network/nccl.h"

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    fr_nccl_rounds_expand(a, FR_PRICED_SWITCH, e);
}

const struct fr_collective fr_collective_switch_all_reduce = {
    .name = "switch",
    .op = FR_OP_ALL_REDUCE,
    .equation = "a + max(n beta_in / 0.73, c n beta) + floor(log2 q) h_out, c = 1 for two "
                "nodes, 2 for more",
    .source = "NCCL, src/transport/nvls.cc; rates: nccl-tests on 8 H100, H200 and B200",
    .nccl = true,
    .applicable = fr_nccl_switch_applicable,
    .time_s = fr_nccl_switch_s,
    .expand = expand,
};
