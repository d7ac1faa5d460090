#include "real/apps/reference.h"

#include <stdlib.h>

#include "calibrate/measure/harness/bench.h"
#include "calibrate/measure/harness/pages.h"
#include "calibrate/measure/harness/streams.h"
#include "trust/numbers/statistics.h"

enum { REPEATS = 7, ARRAYS = 3 };

static void stream(float *x) {
    size_t n = FR_REFERENCE_SET_B / sizeof *x / ARRAYS;
    fr_stream_triad(x, x + n, x + 2 * n, 0.5f, n);
}

static void product(float *x) {
    fr_bench_multiply(x, FR_FP32, FR_REFERENCE_EDGE, FR_REFERENCE_EDGE, FR_REFERENCE_EDGE, 0,
                      FR_TRANSPOSED_NONE);
}

/* Ranks start together, as the harness times its points. */
static fr_status time_it(MPI_Comm comm, void (*work)(float *x), float *x, double *median_s,
                         struct fr_error *err) {
    double time_s[REPEATS];
    int n = 1;
    FR_MPI_TRY(MPI_Comm_size(comm, &n));
    work(x);
    for (int i = 0; i < REPEATS; i++) {
        FR_TRY(fr_mpi_barrier(comm, err));
        double start_s = fr_now_s();
        work(x);
        double mine_s = fr_now_s() - start_s;
        FR_MPI_TRY(MPI_Allreduce(&mine_s, &time_s[i], 1, MPI_DOUBLE, MPI_SUM, comm));
        time_s[i] /= n;
    }
    fr_sort(time_s, REPEATS);
    *median_s = fr_sorted_median(time_s, REPEATS);
    return FR_OK;
}

fr_status fr_reference_measure(MPI_Comm comm, struct fr_reference *reference,
                               struct fr_error *err) {
    float *x = fr_pages_alloc(FR_REFERENCE_SET_B);
    int here = x != NULL, all = 0;
    double stream_s = 0;
    fr_status status = FR_OK;
    FR_MPI_TRY(MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_MIN, comm));
    if (!all) {
        free(x);
        return fr_fail(err, FR_ERR_NOMEM, NULL, "%d B to stream over", FR_REFERENCE_SET_B);
    }
    for (size_t i = 0; i < FR_REFERENCE_SET_B / sizeof *x; i++) x[i] = 1e-3f;
    status = time_it(comm, stream, x, &stream_s, err);
    if (status == FR_OK) status = time_it(comm, product, x, &reference->product_s, err);
    reference->stream_s_per_B = stream_s / FR_REFERENCE_SET_B;
    free(x);
    return status;
}
