/** @file
 *  `forerun reproduce phantom --measured`: seed 000's Table I at sizes a workstation trains, with
 *  the iterations to the loss found by training. */
#ifndef FR_APP_MEASURED_H
#define FR_APP_MEASURED_H

#include <stdint.h>

#include "app/options.h"
#include "app/reproduce.h"

/** Options of verbs that train to a loss. */
#define FR_TRAINING_OPTIONS                                                                    \
    {"width", "N", "of the network (default 1024)", 0},                                        \
        {"layers", "N", "of the network (default 2)", 0},                                      \
        {"batch", "N", "samples of an iteration (default 128)", 0},                            \
        {"tp", "RANGE", "ranks p of phantom parallelism (default 2,4,8)", 0},                  \
        {"ghost", "RANGE", "ghost neurons k (default 4..64*4)", 0},                            \
        {"loss", "X", "mean squared error to reach (default 0.13)", 0},                        \
        {"rate", "X", "Adam's (default 0.5 / width)", 0},                                      \
        {"seeds", "N", "trainings of each (default 3)", 0},                                    \
        {"most", "N", "iterations after which a training gives up (default 4000)", 0}, {       \
        "samples", "FILE", "where results go as they come (default iterations.jsonl)", 0       \
    }

struct fr_training_options;
/** Read them; the ranges are allocated into *owned[0] and [1], freed by the caller. */
fr_status fr_training_options_read(const struct fr_args *args, struct fr_training_options *o,
                                   int64_t *owned[2], struct fr_error *err);

/** Train, and add rows: iterations, energy of an iteration priced from --cluster (default
 *  frontier), total energy, for tensor and phantom, and the orderings that Table I shows. */
fr_status fr_measured_phantom(const struct fr_args *args, struct fr_reproduction *r,
                              struct fr_error *err);

#endif
