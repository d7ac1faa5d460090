/** @file
 *  How sure a cluster's coefficients are: what `forerun tune` found besides their values.
 *
 *  The posterior of the coefficients' logarithms is taken as normal; `effect` is what the model
 *  misses of runs even with the best coefficients, also in logarithms, `spread` all of it together, and
 *  `stretch` how many standard deviations hold 90 %.  What is missed of models and plans that were among the runs is
 *  known better, together with the coefficients: `seen`.  calibrate/runs/interval.h makes intervals of it. */
#ifndef FR_MODELS_DEVICE_TUNING_H
#define FR_MODELS_DEVICE_TUNING_H

#include "base/json.h"

enum { FR_TUNING_MAX = 24, FR_TUNING_SEEN_MAX = 32, FR_TUNING_KEY = 6 };

/** What runs share that the model misses: of a model, of a plan, of a plan of a model, of a release of the
 *  software, and of one run; and how far coefficients of the device and of the network lie from the preset
 *  (calibrate/runs/shared/alike.h). */
enum { FR_TUNING_EFFECTS = 7 };
extern const char *const fr_tuning_effect_names[];

/** A model (hidden, layers) or a plan (tp, pp, cp, ep, zero, chunks) among the runs; the rest of the key is 0. */
struct fr_tuning_seen {
    bool plan;
    int64_t key[FR_TUNING_KEY];
};

struct fr_tuning {
    bool present;
    int n;                        /**< coefficients that the covariance is of */
    char name[FR_TUNING_MAX][32]; /**< as in fr_coefficients */
    double covariance[FR_TUNING_MAX * FR_TUNING_MAX]; /**< [n][n] */
    int n_seen;
    struct fr_tuning_seen seen[FR_TUNING_SEEN_MAX];
    /** [n_seen][n + n_seen]: of what is missed of each with the coefficients, then with one another */
    double seen_covariance[FR_TUNING_SEEN_MAX * (FR_TUNING_MAX + FR_TUNING_SEEN_MAX)];
    double spread, stretch;
    double effect[FR_TUNING_EFFECTS]; /**< its squares add up to that of spread */
    bool experts, sharded, pipelined; /**< such were among the runs */
};

/** Read the object "tuning" of a cluster file; absent leaves it not present. */
fr_status fr_tuning_read(const struct fr_json *object, struct fr_tuning *tuning,
                         struct fr_error *err);

#endif
