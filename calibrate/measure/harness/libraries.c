#include "calibrate/measure/harness/libraries.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* OpenBLAS declares these in a header of its own, cblas.h does not. */
char *openblas_get_config(void);
char *openblas_get_corename(void);

const char *fr_harness_libraries(char *out, size_t capacity) {
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    if (MPI_Get_library_version(mpi, &length) != MPI_SUCCESS) snprintf(mpi, sizeof mpi, "MPI");
    snprintf(out, capacity, "%.*s, %s, kernels %s", (int)strcspn(mpi, ",\n"), mpi,
             openblas_get_config(), openblas_get_corename());
    return out;
}
