/** @file
 *  What a plan costs: numbers only, small enough to make a million a second.
 *  answer/outcome/report.h turns them into sentences and JSON. */
#ifndef FR_MODELS_OUTCOME_OUTCOME_H
#define FR_MODELS_OUTCOME_OUTCOME_H

#include "models/plan/iterations.h"
#include "models/plan/plan.h"
#include "models/price/ledger.h"

/* Parts of an iteration in order of reports.  Exposed time: what the iteration would be
 * shorter by without the part; parts that overlap nothing simply add up. */
#define FR_PART_LIST(X)                                                                        \
    X(FR_PART_COMPUTE, compute)                                                                \
    X(FR_PART_LAUNCH, launch)                                                                  \
    X(FR_PART_FIXED, fixed)                                                                    \
    X(FR_PART_TP_COMM, tp_comm)                                                                \
    X(FR_PART_CP_COMM, cp_comm)                                                                \
    X(FR_PART_EP_COMM, ep_comm)                                                                \
    X(FR_PART_PP_COMM, pp_comm)                                                                \
    X(FR_PART_DP_COMM, dp_comm)                                                                \
    X(FR_PART_EMBEDDING_COMM, embedding_comm)                                                  \
    X(FR_PART_REDISTRIBUTION, redistribution)                                                  \
    X(FR_PART_COMPRESSION, compression)                                                        \
    X(FR_PART_OFFLOAD, offload)                                                                \
    X(FR_PART_BUBBLE, bubble)

enum {
#define FR_PART_ENUM(code, name) code,
    FR_PART_LIST(FR_PART_ENUM)
#undef FR_PART_ENUM
        FR_PART_COUNT
};
/** Names in order, then NULL. */
extern const char *const fr_part_names[];

/** Parts of the fullest rank's memory. */
#define FR_MEMORY_LIST(X)                                                                      \
    X(FR_MEMORY_PARAMETERS, parameters)                                                        \
    X(FR_MEMORY_GRADIENTS, gradients)                                                          \
    X(FR_MEMORY_OPTIMIZER, optimizer)                                                          \
    X(FR_MEMORY_ACTIVATIONS, activations)                                                      \
    X(FR_MEMORY_BUFFERS, buffers)                                                              \
    X(FR_MEMORY_FRAGMENTATION, fragmentation)

enum {
#define FR_MEMORY_ENUM(code, name) code,
    FR_MEMORY_LIST(FR_MEMORY_ENUM)
#undef FR_MEMORY_ENUM
        FR_MEMORY_COUNT
};
extern const char *const fr_memory_names[];

/** Who draws the energy of an iteration, from the device outwards (models/outcome/energy.h). */
#define FR_ENERGY_LIST(X)                                                                      \
    X(FR_ENERGY_DEVICE, device)                                                                \
    X(FR_ENERGY_NODE, node)                                                                    \
    X(FR_ENERGY_NETWORK, network)                                                              \
    X(FR_ENERGY_FACILITY, facility)

enum {
#define FR_ENERGY_ENUM(code, name) code,
    FR_ENERGY_LIST(FR_ENERGY_ENUM)
#undef FR_ENERGY_ENUM
        FR_ENERGY_COUNT
};
extern const char *const fr_energy_names[];

/** Rules by which messages of a pipeline go: none, each alone, those from one rank to another in order, all at once. */
enum { FR_MESSAGES_NONE, FR_MESSAGES_ALONE, FR_MESSAGES_IN_ORDER, FR_MESSAGES_FAIR };

/** The exact plan against which a lossy one's break-even is stated. */
enum { FR_BREAK_EVEN_NONE, FR_BREAK_EVEN_BEST, FR_BREAK_EVEN_SAME_PLAN };

/** Share of the device's memory above which a plan is near the edge (see fr_memory_near_edge). */
#define FR_MEMORY_EDGE 0.9

/** By which share what is expected differs from the model's time where reports show both. */
#define FR_EXPECTED_DIFFERS 0.0005

struct fr_job;

struct fr_outcome {
    struct fr_plan plan;
    const struct fr_job
        *job;              /**< what it is a plan of, where a search varies that; else NULL */
    const char *engine;    /**< who priced it; NULL: the closed form */
    fr_reasons reasons;    /**< 0: feasible */
    uint32_t extrapolated; /**< see FR_EXTRAPOLATED_GEMM */
    uint8_t messages;      /**< FR_MESSAGES_...: by which rule those of the pipeline go */
    uint8_t beside;        /**< FR_BESIDE_... bits: what uses their links and is not counted */
    int64_t ranks;
    double parameters, parameters_rank_max;
    double parameters_frozen; /**< of parameters, not trained */
    double time_s; /**< one iteration; NaN where the plan cannot be laid out at all */
    double
        expected_s; /**< with what runs of the same model or plan took besides; 0: not stated */
    double low_s, high_s; /**< its 90 % interval, where someone stated one; else 0 */
    double energy_J; /**< one iteration, of all that the cluster states; NaN: no power stated */
    double energy_part_J[FR_ENERGY_COUNT];
    double part_s[FR_PART_COUNT];
    double waiting_s; /**< of a rank in the mean, while others compute for it */
    double memory_B[FR_MEMORY_COUNT], memory_peak_B;
    double cache_B; /**< of activations: keys and values of the rank that holds most of them */
    double memory_step_B, /**< laid out anew in a step by the fullest rank, reserved besides */
        memory_spare; /**< standard deviations left of the device's (fits/fits.h); NaN: none stated */
    double host_memory_B;         /**< of the host's, for the rank that offloads most */
    int64_t peak_stage;           /**< of a pipeline: whose memory that is */
    int64_t peak_rank;            /**< the first that holds as much; -1: not stated */
    double sent_B[FR_SENT_COUNT]; /**< by one rank in an iteration, of each axis the most */
    /** Shares of bytes and of messages compressed. */
    double lossy_gradient, lossy_backward, lossy_forward;
    /** Rate of a rank's own share of the network above which compressing takes longer than it
     *  saves [B/s]; 0 where nothing goes compressed. */
    double break_even_gradient_B_per_s, break_even_backward_B_per_s, break_even_forward_B_per_s;
    double plain_time_s,
        plain_energy_J; /**< of an iteration of its warm-up, without compression */
    double
        break_even_iterations; /**< it wins below so many times an exact plan's iterations; 0: not stated */
    uint8_t break_even_from; /**< FR_BREAK_EVEN_...: which exact plan */
    fr_iterations_origin iterations_origin;
    double iterations;           /**< to the loss; NaN unknown */
    double iterations_deviation; /**< of their logarithm, as a normal's; 0: not stated */
    double
        wins; /**< probability that it reaches the loss for less than the exact plan of its break-even; 0: not stated */
    double total_time_s, total_energy_J; /**< NaN unknown */
};

/** Expected time of an iteration [s]: the predicted time, corrected by the model error of runs of the same model or
 *  plan where that is known. */
static inline double fr_outcome_expected_s(const struct fr_outcome *out) {
    return out->expected_s > 0 ? out->expected_s : out->time_s;
}

/** The largest of those shares; 0: nothing is lost. */
static inline double fr_outcome_lossy(const struct fr_outcome *out) {
    double messages =
        out->lossy_backward > out->lossy_forward ? out->lossy_backward : out->lossy_forward;
    return out->lossy_gradient > messages ? out->lossy_gradient : messages;
}

/** Memory that the allocator loses between blocks of short-lived tensors, activations and buffers: their sum times
 *  the device's margin [B].  State is allocated once and stays whole. */
static inline double fr_memory_fragmentation_B(const struct fr_device *device,
                                               const double memory_B[FR_MEMORY_COUNT]) {
    return device->memory_margin *
           (memory_B[FR_MEMORY_ACTIVATIONS] + memory_B[FR_MEMORY_BUFFERS]);
}

/** Does the plan fit, but so tightly that a busy allocator may fail?  False where the device
 *  states no memory. */
static inline bool fr_memory_near_edge(const struct fr_device *device,
                                       const struct fr_outcome *out) {
    return device->memory_B > 0 && out->memory_peak_B > FR_MEMORY_EDGE * device->memory_B &&
           out->memory_peak_B <= device->memory_B;
}

#endif
