/* Measured values of a processor besides matrix products; and the levels that join them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/fit/parts.h"
#include "trust/numbers/statistics.h"

static fr_status fit_memory(const struct fr_samples *samples, struct fr_fit_result *result) {
    struct fr_fit_working_sets *sets = &result->working_sets;
    FR_TRY(fr_fit_working_sets(samples, &result->speed, sets));
    if (sets->n > 0)
        result->memory_rate_B_per_s =
            fr_fit_rate(1 / sets->s_per_B[FR_TRAFFIC_STREAM][sets->n - 1]);
    return FR_OK;
}

static fr_status fit_launch(const struct fr_samples *samples, struct fr_fit_result *result) {
    size_t n = samples->n_kernel;
    if (n == 0) return FR_OK;
    double *times_s = fr_malloc(n, sizeof *times_s);
    if (!times_s) return FR_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) times_s[i] = samples->kernel[i].time_s;
    fr_sort(times_s, n);
    result->launch_s = fr_sorted_own(times_s, n);
    free(times_s);
    return FR_OK;
}

fr_status fr_fit_device(const struct fr_samples *samples, const struct fr_fit_options *options,
                        struct fr_fit_result *result, struct fr_error *err) {
    FR_TRY(fit_memory(samples, result));
    FR_TRY(fit_launch(samples, result));
    result->memory_B =
        samples->provenance.memory_B / (double)samples->provenance.ranks_per_node;
    FR_TRY(fr_fit_clocks(samples, result, err));
    return fr_fit_power(samples, options, result);
}

/* The curve that shows a level's links best: two ranks exchanging messages, else the
 * collective over the fewest ranks. */
static const struct fr_fit_curve *link_curve(const struct fr_fit_result *result, int level) {
    static const fr_op order[] = {FR_OP_SEND_RECV,  FR_OP_BROADCAST,      FR_OP_ALL_GATHER,
                                  FR_OP_ALL_TO_ALL, FR_OP_REDUCE_SCATTER, FR_OP_ALL_REDUCE,
                                  FR_OP_REDUCE};
    const struct fr_fit_curve *found = NULL;
    for (size_t o = 0; o < sizeof order / sizeof *order; o++) {
        const struct fr_fit_op *op = &result->ops[order[o]];
        for (int c = 0; c < op->n_curves; c++) {
            if (op->curves[c].points->level != level) continue;
            if (!found || op->curves[c].points->n_ranks < found->points->n_ranks)
                found = &op->curves[c];
        }
    }
    return found;
}

/* alpha from the smallest message, beta from the largest: the straight line through both ends
 * is what an algorithm that sends small and large messages needs right.  A collective over p
 * ranks takes log2 p steps and moves what its bus factor says. */
static void fit_link(const struct fr_fit_curve *curve, struct fr_level *level) {
    const struct fr_fit_point *first = curve->points, *last = first + curve->n_points - 1;
    double steps = log2((double)first->n_ranks);
    double moved_B = fr_op_bus_factor(first->op, first->n_ranks) * last->size_B;
    level->latency_s = first->time_s / steps;
    double move_s = last->time_s - first->time_s;
    level->rate_B_per_s = fr_fit_rate(move_s > 0 ? moved_B / move_s : moved_B / last->time_s);
}

/* @param imported  other people's files, which rarely measure every level */
static void fit_level(struct fr_fit_result *result, int sample_level, bool imported,
                      struct fr_level *level) {
    const struct fr_fit_curve *curve = link_curve(result, sample_level);
    if (!curve && level->ranks > 1 && imported)
        curve = link_curve(result, !sample_level); /* the links of the other level, at least */
    if (curve) {
        fit_link(curve, level);
        return;
    }
    if (level->ranks > 1) {
        char what[96];
        snprintf(what, sizeof what, "messages within level %s: 10 us and 1 GB/s are assumed",
                 level->name);
        fr_fit_miss(result, what);
        level->latency_s = 10e-6;
        level->rate_B_per_s = 1e9;
        return;
    }
    /* One rank: nothing is ever sent, any rate will do. */
    level->rate_B_per_s = result->memory_rate_B_per_s > 0 ? result->memory_rate_B_per_s : 1e9;
}

/* The levels of the base; what was measured over several nodes is its outermost. */
static fr_status base_levels(struct fr_fit_result *result, bool several, struct fr_error *err) {
    struct fr_json root = fr_json_root(result->base), array = fr_json_member(&root, "levels");
    FR_TRY(fr_levels_read(&array, &result->levels, err));
    result->outermost = result->levels.count - 1;
    if (several && result->levels.count < 2)
        return fr_json_fail(&array, err,
                            "has one level, but samples were taken over several nodes");
    return FR_OK;
}

struct extent {
    int64_t per_node, nodes; /* most ranks of a node, most nodes */
    bool several;            /* nodes */
};

static struct extent measured_extent(const struct fr_fit_result *result) {
    struct extent e = {1, 1, false};
    for (int i = 0; i < result->n_points; i++) {
        const struct fr_fit_point *p = &result->points[i];
        struct fr_group group = {.ranks_per_node = p->n_ranks};
        if (p->level > 0)
            group.ranks_per_node =
                p->n_nodes > 1 ? (p->n_ranks + p->n_nodes - 1) / p->n_nodes : 1;
        if (group.ranks_per_node > e.per_node) e.per_node = group.ranks_per_node;
        e.several = e.several || p->level > 0;
        if (p->level > 0)
            e.nodes = p->n_nodes > e.nodes ? p->n_nodes : e.nodes < 2 ? 2 : e.nodes;
    }
    return e;
}

/* A benchmark's output says nothing of the machine's size beyond its own: with several nodes
 * measured any number of them may be asked about, and is marked as extrapolated. */
static const int64_t IMPORTED_NODES = (int64_t)1 << 20;

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Ours say how many ranks there were; what was measured on more counts all the same, as where runs
 * of one node and of several are fitted together. */
static struct extent whole_extent(const struct fr_samples *samples,
                                  const struct fr_fit_result *result) {
    const struct fr_provenance *p = &result->provenance;
    struct extent e = measured_extent(result);
    if (samples->n_source > 0)
        e.nodes = IMPORTED_NODES;
    else {
        e.per_node = larger(e.per_node, p->ranks_per_node);
        e.nodes = larger(e.nodes, p->nodes);
        e.several = e.nodes > 1;
    }
    if (e.nodes > FR_RANKS_MAX / e.per_node) e.nodes = FR_RANKS_MAX / e.per_node;
    return e;
}

fr_status fr_fit_levels(const struct fr_samples *samples, struct fr_fit_result *result,
                        struct fr_error *err) {
    struct fr_levels *levels = &result->levels;
    if (result->base) return base_levels(result, measured_extent(result).several, err);
    struct extent extent = whole_extent(samples, result);
    bool imported = samples->n_source > 0;
    int64_t per_node = extent.per_node;
    for (int i = 0; i <= (int)extent.several; i++) {
        struct fr_level *level = &levels->level[levels->count++];
        snprintf(level->name, sizeof level->name, "%s", fr_sample_level_names[i]);
        level->ranks = i == 0 ? per_node : per_node * extent.nodes;
        /* One network adapter a node is assumed, unless pairs were measured at once. */
        level->shared_by = i == 0 || imported ? 1 : per_node;
        if (i > 0) FR_TRY(fr_fit_shared_by(samples, i, per_node, &level->shared_by));
        fit_level(result, i, imported, level);
    }
    result->outermost = levels->count - 1;
    return FR_OK;
}
