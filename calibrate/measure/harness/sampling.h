/** @file
 *  How a thing is timed by all ranks of a communicator, how often, and when that is enough.
 *
 *  One sample: the ranks leave a dissemination barrier together, each runs the thing and takes
 *  its own time, and the sample is the slowest rank's.  Before the first sample the thing is
 *  run in windows until the medians of two windows in a row differ by less than `drift`;
 *  these runs are no samples.  Sampling stops when the 95 % interval of the median (order
 *  statistics, no distribution assumed) is narrower than `half_width` to either side, or at
 *  `max_n`, and then the point is unconverged and says so.  Outliers are counted, never removed.
 *  A file of samples holds several launches of the MPI job, since much of what varies (placement
 *  of buffers, connections) is drawn once per launch.
 *
 *  To time something, write a fr_sampled, warm up and visit; points take turns.
 *
 *  Hunold and Carpen-Amarie, "Reproducible MPI benchmarking is still not as easy as you think",
 *  IEEE TPDS 27(12), 2016: own synchronisation, several launches, random order.
 */
#ifndef FR_CALIBRATE_MEASURE_HARNESS_SAMPLING_H
#define FR_CALIBRATE_MEASURE_HARNESS_SAMPLING_H

#include <stdbool.h>

#include "calibrate/measure/harness/mpi_try.h"

enum { FR_VISIT_MAX = 16, FR_WINDOW = 5 };

struct fr_sampling {
    double drift;      /**< between the medians of two windows of the warm-up; 0.01 */
    int max_windows;   /**< of the warm-up; at least 2 */
    double warm_s;     /**< no further window is begun after so long */
    double half_width; /**< of the median's interval, relative; 0.02 */
    double confidence; /**< of that interval; 0.95 */
    int min_n, max_n;  /**< samples of a point */
    int visit_n;       /**< samples of a visit, at most FR_VISIT_MAX */
    double visit_s;    /**< a visit of slow points takes fewer, but at least one */
    double call_s; /**< a sample repeats the call until it lasts about so long; 0: one call */
};

/** REFERENCE values; @p max_n and times are what callers change. */
#define FR_SAMPLING_DEFAULT                                                                    \
    ((struct fr_sampling){.drift = 0.01,                                                       \
                          .max_windows = 8,                                                    \
                          .warm_s = 0.25,                                                      \
                          .half_width = 0.02,                                                  \
                          .confidence = 0.95,                                                  \
                          .min_n = 10,                                                         \
                          .max_n = 500,                                                        \
                          .visit_n = 8,                                                        \
                          .visit_s = 0.06})

/** The thing to time: do it @p calls times.  Called on every rank of the communicator. */
typedef fr_status fr_sampled(void *context, int calls, struct fr_error *err);

/** Who takes part, and how their times become one.  With @p node MPI_COMM_NULL a sample is the time
 *  of the slowest rank.  Otherwise it runs, on the slowest node, from the start of its first rank
 *  to the end of its last.  So with more ranks than cores their turns add up.  `node` joins the
 *  ranks of a node. */
struct fr_sampling_comm {
    MPI_Comm comm, node;
    double *stopped_s; /**< NULL; or where run writes the fr_now_s at which it was done, when
                            that is before it returns (0: when it returns) */
};

/** Result of the warm-up; the same on all ranks.  Start zeroed. */
struct fr_pace {
    int calls;     /**< per sample; 0: not warmed up yet */
    int n_warm;    /**< samples that were thrown away */
    double drift;  /**< of the last two windows */
    double once_s; /**< of one call, the last window's median */
};

/** Warm up, and find how many calls make a sample. */
fr_status fr_sampling_warm_up(const struct fr_sampling_comm *who, const struct fr_sampling *how,
                              fr_sampled *run, void *context, struct fr_pace *pace,
                              struct fr_error *err);

/** Take samples: one warm call, then up to how->visit_n samples.
 *  @param[out] time_s  *n of them, of one call each; the same on all ranks */
fr_status fr_sampling_visit(const struct fr_sampling_comm *who, const struct fr_sampling *how,
                            fr_sampled *run, void *context, const struct fr_pace *pace,
                            double time_s[FR_VISIT_MAX], int *n, struct fr_error *err);

typedef enum {
    FR_SAMPLING_GO_ON,
    FR_SAMPLING_CONVERGED,
    FR_SAMPLING_UNCONVERGED
} fr_sampling_verdict;

/** Is that enough?  @p time_s is sorted in place.
 *  @param[out] half_width  of the median's interval, relative; 1e9 while unknown */
fr_sampling_verdict fr_sampling_judge(const struct fr_sampling *how, double *time_s, int n,
                                      double *half_width);

#endif
