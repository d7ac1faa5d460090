/** @file
 *  Which MPI and BLAS a job runs with, for --version. */
#ifndef FR_CALIBRATE_MEASURE_HARNESS_LIBRARIES_H
#define FR_CALIBRATE_MEASURE_HARNESS_LIBRARIES_H

#include <stddef.h>

/** "Open MPI v4.1.4, OpenBLAS 0.3.21 ..."; before MPI_Init too.  @return @p out. */
const char *fr_harness_libraries(char *out, size_t capacity);

#endif
