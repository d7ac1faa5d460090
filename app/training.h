/** @file
 *  Trainings to a loss, from the command line. */
#ifndef FR_APP_TRAINING_H
#define FR_APP_TRAINING_H

#include <stdint.h>

#include "app/patience.h"
#include "app/verb.h"
#include "real/iterations/iterations.h"

/** Options of verbs that train to a loss. */
#define FR_TRAINING_OPTIONS                                                                    \
    {"width", "N", "of the network (default 1024)", 0},                                        \
        {"layers", "N", "of the network (default 2)", 0},                                      \
        {"batch", "N", "samples of an iteration (default 128)", 0},                            \
        {"same-batch", NULL, "every iteration on the same samples, not on new ones", 0},       \
        {"tp", "RANGE", "ranks p of phantom parallelism (default 2,4,8)", 0},                  \
        {"ghost", "RANGE",                                                                     \
         "ghost neurons k (default: doubled and halved until the best k by energy to the "     \
         "loss has a larger and a smaller one beside it)",                                     \
         0},                                                                                   \
        {"loss", "X", "mean squared error to reach (default 0.12)", 0},                        \
        {"rate", "X", "Adam's, of all networks alike (default 1 / width)", 0},                 \
        {"seeds", "N", "trainings of each (default 3)", 0},                                    \
        {"most", "N", "iterations after which a training gives up (default 4000)", 0},         \
        {"samples", "FILE", "where results go as they come (default iterations.jsonl)", 0},    \
        {"resume", NULL, "go on with the samples file; what is trained is not repeated", 0},   \
        FR_OPTION_PATIENCE, FR_OPTION_FORCE

/** The request, with the memory that it owns. */
struct fr_training_request {
    struct fr_training_options o;
    struct fr_job job; /**< the cluster that prices iterations, where there is one */
    int64_t *owned[2];
};

/** Read options and the cluster file (@p standard where --cluster is absent; NULL: none).  Free
 *  with fr_training_request_free, also on error. */
fr_status fr_training_request_read(const struct fr_args *args, const char *standard,
                                   struct fr_training_request *request, struct fr_error *err);
void fr_training_request_free(struct fr_training_request *request);

#endif
