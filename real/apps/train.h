/** @file
 *  A job of trainings to a loss, each in one process (network.h); ranks take them in turn.
 *
 *      {"kind": "train", "id": 0, "tp": 8, "ghost": 16, "seed": 1, "width": 1024, "layers": 2,
 *       "batch": 256, "same_batch": false, "optimizer_state_B": 8, "rate": 0.001, "loss": 0.1,
 *       "most": 2000}
 *
 *  and, appended as each ends, with `iterations` 0 where the loss was not reached after `steps`:
 *
 *      {"kind": "trained", "id": 0, "iterations": 157, "steps": 158, "loss": 0.0998,
 *       "parameters": 262144, "train_s": 3.1}
 *
 *  Trainings that have such a line already are passed over.
 *
 *  A training is given up before `most` iterations when its loss would not reach the target at
 *  its present rate.  A loss falls ever slower per doubling of the iterations.  So if even the
 *  last doubling's fall, repeated until `most`, does not reach the target, nothing will.
 *  Means over the last quarter of each doubling are compared, from 128 iterations on.
 */
#ifndef FR_REAL_APPS_TRAIN_H
#define FR_REAL_APPS_TRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/** Run the cases of @p text on MPI_COMM_WORLD; every rank appends to @p out.
 *  @return FR_OK, FR_ERR_INPUT with the line, FR_ERR_IO, FR_ERR_NOMEM. */
fr_status fr_train_run(const char *text, const char *name, const char *out, bool progress,
                       struct fr_error *err);

/** When to give up. */
struct fr_patience {
    double target, before, sum; /**< mean a doubling ago, NaN; sum over the last quarter */
    int64_t most, next;         /**< next: the doubling that is looked at next */
};
struct fr_patience fr_patience_begin(double target, int64_t most);
/** @p loss is that before step @p i, 0, 1, 2, ...  @return is there no hope? */
bool fr_patience_lost(struct fr_patience *patience, int64_t i, double loss);

#endif
