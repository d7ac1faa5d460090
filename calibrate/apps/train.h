/** @file
 *  A job of trainings to a loss, each in one process (network.h); the ranks share them out.
 *
 *      {"kind": "train", "id": 0, "tp": 8, "ghost": 16, "seed": 1, "width": 1024, "layers": 2,
 *       "batch": 256, "optimizer_state_B": 8, "rate": 0.001, "loss": 0.01, "most": 2000}
 *
 *  and, appended as each ends, `iterations` 0 where `most` did not do:
 *
 *      {"kind": "trained", "id": 0, "iterations": 157, "loss": 0.00996, "parameters": 262144}
 */
#ifndef FR_CALIBRATE_APPS_TRAIN_H
#define FR_CALIBRATE_APPS_TRAIN_H

#include <stdbool.h>

#include "base/status.h"

/** Run the cases of @p text on MPI_COMM_WORLD; every rank appends to @p out.
 *  @return FR_OK, FR_ERR_INPUT with the line, FR_ERR_IO, FR_ERR_NOMEM. */
fr_status fr_train_run(const char *text, const char *name, const char *out, bool progress,
                       struct fr_error *err);

#endif
