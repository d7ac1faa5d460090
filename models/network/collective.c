#include "models/network/collective.h"

#include <stddef.h>
#include <string.h>

#define FR_COLLECTIVE(name) extern const struct fr_collective fr_collective_##name;
#include "models/network/collective_list.h"
#undef FR_COLLECTIVE

const struct fr_collective *const fr_collectives[] = {
#define FR_COLLECTIVE(name) &fr_collective_##name,
#include "models/network/collective_list.h"
#undef FR_COLLECTIVE
    NULL};

const char *const fr_op_names[] = {
#define FR_OP_NAME(code, name) #name,
    FR_OP_LIST(FR_OP_NAME)
#undef FR_OP_NAME
        NULL};

const int fr_op_bus_shares[FR_OP_COUNT] = {
    [FR_OP_ALL_REDUCE] = 2, [FR_OP_ALL_GATHER] = 1, [FR_OP_REDUCE_SCATTER] = 1,
    [FR_OP_ALL_TO_ALL] = 1, [FR_OP_SCATTER] = 1,    [FR_OP_GATHER] = 1,
};

const struct fr_collective *fr_collective_find(fr_op op, const char *name) {
    for (const struct fr_collective *const *row = fr_collectives; *row; row++)
        if ((*row)->op == op && strcmp((*row)->name, name) == 0) return *row;
    return NULL;
}

/* Has NCCL algorithms of its own for it?  All others are sends and receives there. */
static bool nccl_only(fr_op op, const struct fr_collective_args *args) {
    return fr_collective_by_nccl(args) &&
           (op == FR_OP_ALL_REDUCE || op == FR_OP_ALL_GATHER || op == FR_OP_REDUCE_SCATTER);
}

/* @param[out] best_s  its time */
static const struct fr_collective *fastest(fr_op op, const struct fr_collective_args *args,
                                           double *best_s) {
    const struct fr_collective *best = NULL;
    bool only = nccl_only(op, args);
    *best_s = 0;
    for (const struct fr_collective *const *row = fr_collectives; *row; row++) {
        if ((*row)->op != op || (only && !(*row)->nccl) || !(*row)->applicable(args)) continue;
        double row_s = (*row)->time_s(args);
        if (best && row_s >= *best_s) continue;
        best = *row;
        *best_s = row_s;
    }
    return best;
}

const struct fr_collective *fr_collective_fastest(fr_op op,
                                                  const struct fr_collective_args *args) {
    double best_s;
    return fastest(op, args, &best_s);
}

double fr_collective_fastest_s(fr_op op, const struct fr_collective_args *args) {
    double best_s;
    fastest(op, args, &best_s);
    return best_s;
}

bool fr_collective_by_nccl(const struct fr_collective_args *a) {
    bool one_node = a->ranks_per_node >= a->n_ranks;
    return a->inside && (one_node || a->between);
}

int32_t fr_log2_ceil(int64_t p) {
    if (p <= 1) return 0;
    return 64 - __builtin_clzll((unsigned long long)(p - 1));
}

bool fr_is_power_of_two(int64_t p) { return p >= 1 && (p & (p - 1)) == 0; }

bool fr_collective_always(const struct fr_collective_args *a) { return a->n_ranks >= 1; }
bool fr_collective_by_powers(const struct fr_collective_args *a) {
    return fr_is_power_of_two(a->n_ranks);
}

struct fr_link_cost fr_collective_flat_link(const struct fr_collective_args *a) {
    return a->ranks_per_node < a->n_ranks ? a->outer : a->inner;
}

int64_t fr_collective_fewest(const struct fr_collective_args *a) {
    int64_t p = a->n_ranks, r = a->ranks_per_node;
    if (a->fewest > 0) return a->fewest;
    return p % r ? p % r : r;
}

int64_t fr_collective_nodes(const struct fr_collective_args *a) {
    int64_t p = a->n_ranks, r = a->ranks_per_node;
    return a->nodes > 0 ? a->nodes : (p + r - 1) / r;
}

bool fr_collective_by_node(const struct fr_collective_args *a) {
    int64_t p = a->n_ranks, r = a->ranks_per_node;
    return 1 < r && r < p && p % r == 0 && fr_collective_fewest(a) == r;
}

struct fr_link_cost fr_collective_ring_link(const struct fr_collective_args *a) {
    return a->ring.s_per_B > 0 ? a->ring : fr_collective_flat_link(a);
}
