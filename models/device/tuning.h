/** @file
 *  How sure are a cluster's coefficients?  Uncertainties that `forerun tune` found besides their values.
 *
 *  The posterior of the coefficients' logarithms is taken as normal.  `effect` is the model error of runs that stays
 *  even with the best coefficients, also in logarithms.  `spread` is the whole deviation, and `stretch` is the number
 *  of standard deviations that hold 90 %.  The model error of models, plans and plans of models that were among the
 *  runs is known better, together with the coefficients: `seen`.  trust/interval.h makes intervals from these. */
#ifndef FR_MODELS_DEVICE_TUNING_H
#define FR_MODELS_DEVICE_TUNING_H

#include "base/json.h"

enum { FR_TUNING_MAX = 24, FR_TUNING_SEEN_MAX = 32, FR_TUNING_KEY = 11 };

/** Model error that runs share: of a model, of a plan, of a plan of a model, of a release of the software, and of one
 *  run.  The last two: how far coefficients of the device and of the network lie from the preset
 *  (trust/effects/groups.h). */
enum { FR_TUNING_EFFECTS = 7 };
extern const char *const fr_tuning_effect_names[];

/** Which runs share a model error.  A model: hidden, layers.  A plan: tp, pp, cp, ep, zero, chunks.  A plan of a
 *  model: both keys, the sequence, the micro-batch, and a number made from all else that decides its passes and
 *  exchanges. */
typedef enum { FR_SEEN_MODEL, FR_SEEN_PLAN, FR_SEEN_KIND, FR_SEEN_COUNT } fr_seen;
/** Their members in a file, then NULL, and how many numbers their keys have. */
extern const char *const fr_seen_names[];
extern const int fr_seen_keys[];

struct fr_tuning_seen {
    fr_seen what;
    int64_t key[FR_TUNING_KEY]; /**< what is beyond fr_seen_keys[what] is 0 */
    double
        model_error; /**< the mean, in logarithms: runs of it take exp(missed) of what is predicted */
};

struct fr_tuning {
    bool present;
    int n;                        /**< coefficients that the covariance is of */
    char name[FR_TUNING_MAX][32]; /**< as in fr_coefficients */
    double covariance[FR_TUNING_MAX * FR_TUNING_MAX]; /**< [n][n] */
    int n_seen;
    struct fr_tuning_seen seen[FR_TUNING_SEEN_MAX];
    /** [n_seen][n + n_seen]: of the model error of each with the coefficients, then with one another */
    double seen_covariance[FR_TUNING_SEEN_MAX * (FR_TUNING_MAX + FR_TUNING_SEEN_MAX)];
    double spread, stretch;
    double effect[FR_TUNING_EFFECTS]; /**< its squares add up to that of spread */
    bool unmoved;                     /**< the runs moved nothing */
    bool experts, sharded, pipelined; /**< such were among the runs */
};

/** Read the object "tuning" of a cluster file; absent leaves it not present. */
fr_status fr_tuning_read(const struct fr_json *object, struct fr_tuning *tuning,
                         struct fr_error *err);

#endif
