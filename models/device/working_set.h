/** @file
 *  How fast data come, by how much of it is in use in turn.
 *
 *  A training step goes through its weights, gradients, optimiser state and activations in the same
 *  order every time.  With least-recently-used caches, what is touched again after W other bytes comes
 *  from the first cache larger than W: W, the working set, decides the rate and not the size of the
 *  single tensor.  On a CPU the rates of the second-level cache and of memory are a factor of eight
 *  apart, so that small steps priced at memory's rate come out almost twice too slow.
 *
 *  Each kind of traffic has rates of its own, measured over working sets by the harness
 *  (calibrate/measure/harness/bench/memory.c, operands.c).  They are bytes moved as the models count them
 *  over time, so that a kernel bound by its arithmetic is known by what it achieves:
 *      stream       copies and the like
 *      elementwise  biases and activations: read, compute a little, write
 *      norm         normalisations, which go over their data more than once
 *      softmax      with its exponentials
 *      update       the optimiser's pass over weights, gradients and state; it writes what it read
 *      select       a sort's passes over values and their places, which go to hundreds of places in turn:
 *                   how top-k finds the largest
 *      operands     what a product costs above itself on data it has just used, for what it reads of
 *                   a larger set ...
 *      results      ... and for what it writes there, which waits for nothing and costs less
 *  Our own derivation. */
#ifndef FR_MODELS_DEVICE_WORKING_SET_H
#define FR_MODELS_DEVICE_WORKING_SET_H

#include "base/json.h"

/* code, spelling */
#define FR_TRAFFIC_LIST(X)                                                                     \
    X(FR_TRAFFIC_STREAM, stream)                                                               \
    X(FR_TRAFFIC_ELEMENTWISE, elementwise)                                                     \
    X(FR_TRAFFIC_NORM, norm)                                                                   \
    X(FR_TRAFFIC_SOFTMAX, softmax)                                                             \
    X(FR_TRAFFIC_UPDATE, update)                                                               \
    X(FR_TRAFFIC_SELECT, select)                                                               \
    X(FR_TRAFFIC_OPERANDS, operands)                                                           \
    X(FR_TRAFFIC_RESULTS, results)

typedef enum {
#define FR_TRAFFIC_ENUM(code, name) code,
    FR_TRAFFIC_LIST(FR_TRAFFIC_ENUM)
#undef FR_TRAFFIC_ENUM
        FR_TRAFFIC_COUNT
} fr_traffic;

/** Spellings in order, then NULL. */
extern const char *const fr_traffic_names[];

enum { FR_WORKING_SETS_MAX = 32 };

/** Times per byte by working set, relative to that of `memory_bandwidth`, so that whatever scales
 *  this scales them all. */
struct fr_working_sets {
    int n;                                /**< 0: not measured, all is at memory_bandwidth */
    double log_size[FR_WORKING_SETS_MAX]; /**< ascending */
    double share[FR_TRAFFIC_COUNT][FR_WORKING_SETS_MAX];
    bool selects; /**< select was measured; else a sort is a stream */
};

/** Work of layers besides matrix products, by the bytes it moves. */
struct fr_elementwise {
    double all_B, norm_B, softmax_B; /**< the last two are part of the first */
    double working_set_B;
    double apart_B; /**< more, where each operation is a kernel of its own (framework.unfused) */
};

/** Read `working_sets` of a device whose memory rate is @p memory_rate_B_per_s.  Kinds between
 *  stream and update, and select, may be absent: as stream; results: as operands. */
fr_status fr_working_sets_read(const struct fr_json *object, double memory_rate_B_per_s,
                               struct fr_working_sets *sets, struct fr_error *err);

/** Time per byte over that at the memory rate; linear in the logarithm of the working set, beyond
 *  the ends as at them.  Not measured: 1, and 0 for operands (their products were timed as they
 *  come). */
double fr_working_sets_share(const struct fr_working_sets *sets, fr_traffic kind,
                             double working_set_B);

#endif
