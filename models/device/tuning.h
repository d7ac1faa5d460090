/** @file
 *  How sure a cluster's coefficients are: what `forerun tune` found besides their values.
 *
 *  The posterior of the coefficients' logarithms is taken as normal; `spread` is what the model
 *  misses of the runs even with the best coefficients, also in logarithms, and `stretch` how many
 *  standard deviations hold 90 % of them.  calibrate/runs/interval.h makes intervals of it. */
#ifndef FR_MODELS_DEVICE_TUNING_H
#define FR_MODELS_DEVICE_TUNING_H

#include "base/json.h"

enum { FR_TUNING_MAX = 24 };

struct fr_tuning {
    bool present;
    int n;                                            /**< coefficients that were fitted */
    char name[FR_TUNING_MAX][32];                     /**< as in fr_coefficients */
    double covariance[FR_TUNING_MAX * FR_TUNING_MAX]; /**< [n][n] */
    double spread, stretch;
    bool experts, sharded; /**< among the runs were mixtures of experts, sharded gradients */
};

/** Read the object "tuning" of a cluster file; absent leaves it not present. */
fr_status fr_tuning_read(const struct fr_json *object, struct fr_tuning *tuning,
                         struct fr_error *err);

#endif
