/** @file
 *  Why a plan cannot run: a set of reasons, small enough for a search to carry by the million;
 *  the sentence with the numbers is made only for plans that are shown. */
#ifndef FR_MODELS_PLAN_REASON_H
#define FR_MODELS_PLAN_REASON_H

#include <stdint.h>

/* code, short name in counts */
#define FR_REASON_LIST(X)                                                                      \
    X(FR_REASON_RANKS, "cluster_too_small")                                                    \
    X(FR_REASON_MESH, "ranks_not_a_mesh")                                                      \
    X(FR_REASON_PIPELINE, "pipeline_not_priced")                                               \
    X(FR_REASON_STAGES, "stages_differ")                                                       \
    X(FR_REASON_METHOD, "method_not_priced_here")                                              \
    X(FR_REASON_SCHEDULE, "schedule_refuses")                                                  \
    X(FR_REASON_NO_CLOSED_FORM, "no_closed_form")                                              \
    X(FR_REASON_COMPRESSION, "compression_not_priced_here")                                    \
    X(FR_REASON_RECOMPUTE, "recompute_not_priced_here")                                        \
    X(FR_REASON_IDLE_KEY, "key_without_effect")                                                \
    X(FR_REASON_OVERLAP, "overlap_without_effect")                                             \
    X(FR_REASON_LOSSY, "above_max_lossy")                                                      \
    X(FR_REASON_SIZE, "too_large_to_price")                                                    \
    X(FR_REASON_DTYPE, "dtype_not_described")                                                  \
    X(FR_REASON_ZERO_RANKS, "zero_ranks_not_divisible")                                        \
    X(FR_REASON_BATCH, "batch_not_divisible")                                                  \
    X(FR_REASON_MICRO_BATCH, "micro_batch_not_divisible")                                      \
    X(FR_REASON_WIDTH, "width_not_divisible")                                                  \
    X(FR_REASON_HEADS, "heads_not_divisible")                                                  \
    X(FR_REASON_SEQUENCE, "sequence_not_divisible")                                            \
    X(FR_REASON_EXPERTS, "experts_not_divisible")                                              \
    X(FR_REASON_TOO_WIDE, "tp_above_width")                                                    \
    X(FR_REASON_LAYER, "layer_not_fully_connected")                                            \
    X(FR_REASON_LAYER_TP, "layer_tp_not_fitting")                                              \
    X(FR_REASON_GHOST, "ghost_missing")                                                        \
    X(FR_REASON_GHOST_EQ8, "ghost_outside_eq8")                                                \
    X(FR_REASON_BRANCHES, "branches_not_divisible")                                            \
    X(FR_REASON_PLACEMENT, "placement_refuses")                                                \
    X(FR_REASON_MEMORY, "memory")                                                              \
    X(FR_REASON_UNSURE, "less_sure_than_asked")                                                \
    X(FR_REASON_ITERATIONS, "iterations_unknown")                                              \
    X(FR_REASON_POWER, "power_unknown")                                                        \
    X(FR_REASON_HOST, "host_not_described")

enum {
#define FR_REASON_ENUM(code, name) code,
    FR_REASON_LIST(FR_REASON_ENUM)
#undef FR_REASON_ENUM
        FR_REASON_COUNT
};

/** A set: bit i stands for reason i; one more bit than reasons, so that a set can be shifted past all. */
typedef uint64_t fr_reasons;
_Static_assert(FR_REASON_COUNT < 64, "a set of reasons needs a bit for each");
#define FR_BECAUSE(code) ((fr_reasons)1 << (code))

/** Short names in order, then NULL. */
extern const char *const fr_reason_names[];

#endif
