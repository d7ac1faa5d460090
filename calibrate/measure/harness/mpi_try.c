#include "calibrate/measure/harness/mpi_try.h"

#include <string.h>
#include <time.h>

fr_status fr_mpi_failed(int code, const char *call, struct fr_error *err) {
    char text[MPI_MAX_ERROR_STRING] = "", host[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0, rank = -1;
    MPI_Error_string(code, text, &length);
    MPI_Get_processor_name(host, &length);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int name = (int)strcspn(call, "(");
    return fr_fail(err, FR_ERR_EXTERNAL, NULL, "%.*s failed on rank %d of host %s: %s", name,
                   call, rank, host, text);
}

fr_status fr_mpi_barrier(MPI_Comm comm, struct fr_error *err) {
    enum { TAG = 7 };
    int rank = 0, n_ranks = 1;
    char out = 0, in = 0;
    FR_MPI_TRY(MPI_Comm_rank(comm, &rank));
    FR_MPI_TRY(MPI_Comm_size(comm, &n_ranks));
    for (int distance = 1; distance < n_ranks; distance *= 2) {
        int to = (rank + distance) % n_ranks, from = (rank - distance + n_ranks) % n_ranks;
        FR_MPI_TRY(MPI_Sendrecv(&out, 1, MPI_CHAR, to, TAG, &in, 1, MPI_CHAR, from, TAG, comm,
                                MPI_STATUS_IGNORE));
    }
    return FR_OK;
}

fr_status fr_mpi_wait_asleep(MPI_Request *request, struct fr_error *err) {
    enum { FIRST_NS = 20000, LONGEST_NS = 1000000 };
    struct timespec nap = {.tv_nsec = FIRST_NS};
    int done = 0;
    for (;;) {
        FR_MPI_TRY(MPI_Test(request, &done, MPI_STATUS_IGNORE));
        if (done) return FR_OK;
        nanosleep(&nap, NULL);
        nap.tv_nsec = nap.tv_nsec * 2 < LONGEST_NS ? nap.tv_nsec * 2 : LONGEST_NS;
    }
}
