/** @file
 *  How sure a cluster's coefficients are: what `forerun tune` found besides their values.
 *
 *  The posterior of the coefficients' logarithms is taken as normal; `effect` is what the model
 *  misses of runs even with the best coefficients, also in logarithms, `spread` all of it together, and
 *  `stretch` how many standard deviations hold 90 %.  The model error of models, plans and plans of models that were
 *  among the runs is known better, together with the coefficients: `seen`.  trust/interval.h makes intervals of it. */
#ifndef FR_MODELS_DEVICE_TUNING_H
#define FR_MODELS_DEVICE_TUNING_H

#include "base/json.h"

enum { FR_TUNING_MAX = 24, FR_TUNING_SEEN_MAX = 32, FR_TUNING_KEY = 11 };

/** What runs share that the model misses: of a model, of a plan, of a plan of a model, of a release of the
 *  software, and of one run; and how far coefficients of the device and of the network lie from the preset
 *  (trust/effects/groups.h). */
enum { FR_TUNING_EFFECTS = 7 };
extern const char *const fr_tuning_effect_names[];

/** Who among the runs shares the model error: a model (hidden, layers), a plan (tp, pp, cp, ep, zero, chunks), a plan
 *  of a model (both keys, sequence, micro-batch, and a number made of all else that decides its passes and exchanges). */
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
    bool kept;                        /**< the runs moved nothing */
    bool experts, sharded, pipelined; /**< such were among the runs */
};

/** Read the object "tuning" of a cluster file; absent leaves it not present. */
fr_status fr_tuning_read(const struct fr_json *object, struct fr_tuning *tuning,
                         struct fr_error *err);

#endif
