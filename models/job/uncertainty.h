/** @file
 *  How far a cluster file's values may be off: its object "widths".
 *
 *  A value's width is a standard deviation of its logarithm, as the rows that set it leave it.  A value without a
 *  stated width has the width of its prior (trust/coefficient.h), as wide as data sheets and assumptions are wrong.
 *  Those below can state one; they are what measured runs can tune.
 *
 *      "widths": { "device.gemm.bf16.efficiency": 0.06, "levels.0.bandwidth": 0.02 }
 *
 *  Training runs fix combinations of values, and say little of each value: a fifth more bandwidth and a bit less
 *  efficiency make the same time.  "together" states the width of such a sum of logarithms, each times its power.
 *  The widths of the single values stay as they are known without these rows:
 *
 *      "together": [ { "of": { "device.gemm.bf16.efficiency": 1, "device.memory_bandwidth": 0.13 }, "width": 0.018 } ]
 */
#ifndef FR_MODELS_JOB_UNCERTAINTY_H
#define FR_MODELS_JOB_UNCERTAINTY_H

#include "models/device/device.h"
#include "topology/levels.h"

/* code, path in the cluster file: %s stands for the dtype, %n for the level that fr_levels_near names, %d for the outermost of several */
#define FR_VALUE_LIST(X)                                                                       \
    X(FR_VALUE_EFFICIENCY, "device.gemm.%s.efficiency")                                        \
    X(FR_VALUE_HALF_K, "device.gemm.%s.half_k")                                                \
    X(FR_VALUE_TAIL, "device.gemm.%s.tail")                                                    \
    X(FR_VALUE_ODD, "device.gemm.%s.odd")                                                      \
    X(FR_VALUE_PLAIN, "device.attention.plain")                                                \
    X(FR_VALUE_FLASH, "device.attention.flash")                                                \
    X(FR_VALUE_FLASH_2, "device.attention.flash_2")                                            \
    X(FR_VALUE_FLASH_1, "device.attention.flash_1")                                            \
    X(FR_VALUE_FLASH_BACKWARD, "device.attention.backward")                                    \
    X(FR_VALUE_INTERFERENCE, "device.interference")                                            \
    X(FR_VALUE_MEMORY_RATE, "device.memory_bandwidth")                                         \
    X(FR_VALUE_LAUNCH, "device.launch")                                                        \
    X(FR_VALUE_HOST_LAUNCH, "device.host_launch")                                              \
    X(FR_VALUE_HOST_SKEW, "device.host_skew")                                                  \
    X(FR_VALUE_HOST_PASS, "device.host_pass")                                                  \
    X(FR_VALUE_HOST_EXPERTS, "device.host_experts")                                            \
    X(FR_VALUE_FIXED, "device.fixed")                                                          \
    X(FR_VALUE_NODE_LATENCY, "levels.%n.latency")                                              \
    X(FR_VALUE_NODE_RATE, "levels.%n.bandwidth")                                               \
    X(FR_VALUE_NETWORK_LATENCY, "levels.%d.latency")                                           \
    X(FR_VALUE_NETWORK_RATE, "levels.%d.bandwidth")

typedef enum {
#define FR_VALUE_ENUM(code, path) code,
    FR_VALUE_LIST(FR_VALUE_ENUM)
#undef FR_VALUE_ENUM
        FR_VALUE_COUNT
} fr_value;

enum { FR_VALUE_PATH = 48 };

/** Where @p value lies in the file of a cluster of these levels. @return @p out; NULL where it has no such place:
 *  of the outermost of several levels, with one. */
const char *fr_value_path(fr_value value, fr_dtype dtype, const struct fr_levels *levels,
                          char out[FR_VALUE_PATH]);

/** Is there a @p value of each dtype? */
bool fr_value_has_dtype(fr_value value);

enum { FR_CORRELATED_MAX = 8, FR_CORRELATED_OF = 16 };

/** A combination of values: sigma is the standard deviation of sum power ln(value). */
struct fr_correlated {
    double sigma;
    int n;
    struct fr_correlated_of {
        fr_value value;
        fr_dtype dtype; /**< FR_DTYPE_COUNT: the value has none */
        double power;
    } of[FR_CORRELATED_OF];
};

/** Its power of @p value; 0: not among them. */
double fr_correlated_power(const struct fr_correlated *correlated, fr_value value);
/** Is it of runs of @p dtype: does it name values of no other? */
bool fr_correlated_is_of(const struct fr_correlated *correlated, fr_dtype dtype);

struct fr_uncertainty {
    bool present;
    double sigma[FR_VALUE_COUNT]
                [FR_DTYPE_COUNT]; /**< 0: not stated; alike where no dtype is named */
    int n_correlated;
    struct fr_correlated correlated[FR_CORRELATED_MAX];
};

/** Read the object "widths" of a cluster file; absent leaves it not present. */
fr_status fr_uncertainty_read(const struct fr_json *object, const struct fr_levels *levels,
                              struct fr_uncertainty *uncertainty, struct fr_error *err);

/** The object without the values for which @p dropped[FR_VALUE_COUNT] is set, of any dtype, and what is known of them
 *  together with others. @return whether it has a member left. */
bool fr_uncertainty_put(const struct fr_uncertainty *uncertainty,
                        const struct fr_levels *levels, const bool *dropped,
                        struct fr_json_writer *w);

#endif
