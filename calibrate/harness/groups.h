/** @file
 *  Which ranks take part in a measurement together.
 *
 *  The first p ranks for every power of two p and for all of them; where there are several
 *  nodes, also one rank of each of the first p nodes, for what the network alone does. */
#ifndef FR_CALIBRATE_HARNESS_GROUPS_H
#define FR_CALIBRATE_HARNESS_GROUPS_H

#include "calibrate/harness/bench.h"

enum { FR_BENCH_GROUPS_MAX = 64 };

struct fr_bench_group {
    int level; /**< FR_SAMPLE_NODE or FR_SAMPLE_SYSTEM */
    int n_ranks;
    bool one_per_node;
};

/** Fill @p groups, no (level, p) twice.  @return their number. */
int fr_bench_groups(const struct fr_bench *bench,
                    struct fr_bench_group groups[FR_BENCH_GROUPS_MAX]);

/** Is this rank in it? */
bool fr_bench_in_group(const struct fr_bench *bench, const struct fr_bench_group *group);

#endif
