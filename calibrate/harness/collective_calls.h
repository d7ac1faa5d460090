/** @file
 *  The MPI call behind each operation, one row an operation. */
#ifndef FR_CALIBRATE_HARNESS_COLLECTIVE_CALLS_H
#define FR_CALIBRATE_HARNESS_COLLECTIVE_CALLS_H

#include <mpi.h>
#include <stdbool.h>

#include "models/collective.h"

/** What a call works on: @p count floats are the whole buffer as fr_op counts it. */
struct fr_bench_call {
    MPI_Comm comm;
    int rank, n_ranks;
    int count;
    float *send, *recv; /**< both as large as the largest buffer */
};

struct fr_bench_collective {
    fr_op op;
    bool divided;   /**< the buffer is p equal parts */
    bool pair_only; /**< measured between two ranks */
    double share;   /**< of the time of run that is one operation */
    int (*run)(const struct fr_bench_call *call); /**< returns an MPI error code */
};

extern const struct fr_bench_collective fr_bench_collective_calls[];
extern const int fr_bench_n_collective_calls;

#endif
