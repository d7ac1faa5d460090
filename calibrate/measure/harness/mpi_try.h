/** @file
 *  MPI calls as fr_status, and two small things that every timed MPI program needs. */
#ifndef FR_CALIBRATE_MEASURE_HARNESS_MPI_TRY_H
#define FR_CALIBRATE_MEASURE_HARNESS_MPI_TRY_H

#include <mpi.h>

#include "base/status.h"

/** A failed MPI call as a sentence with rank and host. */
fr_status fr_mpi_failed(int code, const char *call, struct fr_error *err);

/** Return from the enclosing function, which has an `err`, unless the MPI call succeeds.
 *  Communicators are set to MPI_ERRORS_RETURN. */
#define FR_MPI_TRY(call)                                                                       \
    do {                                                                                       \
        int code_ = (call);                                                                    \
        if (code_ != MPI_SUCCESS) return fr_mpi_failed(code_, #call, err);                     \
    } while (0)

/** Leave together: nobody returns before all have entered.  Dissemination,
 *  ceil(log2 p) rounds; unlike MPI_Barrier it is the same on every MPI.
 *  Hensgen, Finkel, Manber, Int. J. Parallel Programming 17, 1988. */
fr_status fr_mpi_barrier(MPI_Comm comm, struct fr_error *err);

/** Wait for @p request asleep, so that a rank without work leaves its core to those that are
 *  measured: naps of 20 us that grow to 1 ms. */
fr_status fr_mpi_wait_asleep(MPI_Request *request, struct fr_error *err);

#endif
