/** @file
 *  Is the machine as it was when it was calibrated?  A stream and a matrix product that the
 *  calibration timed too, timed again beside the real runs, by all ranks at once. */
#ifndef FR_REAL_APPS_REFERENCE_H
#define FR_REAL_APPS_REFERENCE_H

#include <mpi.h>

#include "base/status.h"

/** The stream's working set, and the edge of the square fp32 product. */
enum { FR_REFERENCE_SET_B = 64 << 20, FR_REFERENCE_EDGE = 512 };

struct fr_reference {
    double stream_s_per_B; /**< of row memory's triad over FR_REFERENCE_SET_B */
    double product_s;      /**< of row gemm's square product on operands just used */
};

/** Medians of a few repetitions, each of the mean over ranks.  Collective over @p comm; takes a
 *  tenth of a second.  @return FR_OK, FR_ERR_NOMEM or FR_ERR_EXTERNAL. */
fr_status fr_reference_measure(MPI_Comm comm, struct fr_reference *reference,
                               struct fr_error *err);

#endif
