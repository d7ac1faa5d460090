#include "calibrate/harness/groups.h"

static bool is_first_of_node(const struct fr_bench *bench, int rank) {
    for (int r = 0; r < rank; r++)
        if (bench->node_of[r] == bench->node_of[rank]) return false;
    return true;
}

static bool on_one_node(const struct fr_bench *bench, int n_ranks) {
    for (int r = 1; r < n_ranks; r++)
        if (bench->node_of[r] != bench->node_of[0]) return false;
    return true;
}

static bool known(const struct fr_bench_group *groups, int count, int level, int n_ranks) {
    for (int i = 0; i < count; i++)
        if (groups[i].level == level && groups[i].n_ranks == n_ranks) return true;
    return false;
}

int fr_bench_groups(const struct fr_bench *bench,
                    struct fr_bench_group groups[FR_BENCH_GROUPS_MAX]) {
    int count = 0, all = bench->n_ranks;
    for (int p = 2, last = 0; p <= all && !last; p = 2 * p < all ? 2 * p : all) {
        bool inside = on_one_node(bench, p);
        groups[count++] = (struct fr_bench_group){
            .level = inside ? FR_SAMPLE_NODE : FR_SAMPLE_SYSTEM, .n_ranks = p};
        last = p == all;
    }
    for (int p = 2; p <= bench->n_nodes; p *= 2)
        if (!known(groups, count, FR_SAMPLE_SYSTEM, p))
            groups[count++] = (struct fr_bench_group){
                .level = FR_SAMPLE_SYSTEM, .n_ranks = p, .one_per_node = true};
    return count;
}

bool fr_bench_in_group(const struct fr_bench *bench, const struct fr_bench_group *group) {
    if (!group->one_per_node) return bench->rank < group->n_ranks;
    return bench->node_of[bench->rank] < group->n_ranks && is_first_of_node(bench, bench->rank);
}
