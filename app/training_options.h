/** @file
 *  Options of a whole training: tokens, price, failures. */
#ifndef FR_APP_TRAINING_OPTIONS_H
#define FR_APP_TRAINING_OPTIONS_H

#include "answer/predict/training.h"
#include "app/options.h"

#define FR_OPTIONS_TRAINING                                                                    \
    {"tokens", "N", "what a training of so many tokens costs: 1T, 300B, 2e12", 0},             \
        {"samples", "N", "the same of samples", 0},                                            \
        {"price", "Q", "of a device, e.g. \"2.5 USD/h\": money of that training", 0},          \
        {"carbon", "Q", "of the electricity, e.g. \"0.4 kg/kWh\": its CO2", 0},                \
        {"pue", "X",                                                                           \
         "power usage effectiveness of the building, e.g. 1.2, in place of the cluster's", 0}, \
        {"mtbf", "Q", "mean time between failures of a device, e.g. \"50000 h\"", 0},          \
        {"storage", "Q", "rate at which a checkpoint is written, e.g. \"100 GB/s\"", 0},       \
        {"checkpoint-size", "Q", "of a checkpoint (default: weights and optimiser state)", 0}, \
    {                                                                                          \
        "restart", "Q", "time to start again after a failure, e.g. \"10 min\"", 0              \
    }

/** Read those options. */
fr_status fr_app_training(const struct fr_args *args, struct fr_training *training,
                          struct fr_error *err);

/** The same for the @p i-th of @p n clusters: a price or a carbon that is given as often as there are
 *  clusters is of each its own.  @return FR_ERR_USAGE too for another number of them. */
fr_status fr_app_training_of(const struct fr_args *args, int i, int n,
                             struct fr_training *training, struct fr_error *err);

#endif
