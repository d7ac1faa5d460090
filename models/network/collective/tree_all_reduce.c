/* NCCL's trees: sums go up through each node and from node to node, the result comes down. */
#include "models/network/nccl.h"

static void expand(const struct fr_collective_args *a, struct fr_expansion *e) {
    fr_nccl_rounds_expand(a, FR_PRICED_TREE, e);
}

const struct fr_collective fr_collective_tree_all_reduce = {
    .name = "tree",
    .op = FR_OP_ALL_REDUCE,
    .equation = "a + 2 (r-1) h_in + floor(log2 q) h_out + 2 n beta / s, by LL or Simple",
    .source = "Sanders, Speck, Traeff, Two-tree algorithms, Parallel Computing 35, 2009; "
              "NCCL, src/graph/tuning.cc",
    .nccl = true,
    .applicable = fr_nccl_tree_applicable,
    .time_s = fr_nccl_tree_s,
    .expand = expand,
};
