#include "calibrate/measure/harness/probe.h"

#include <stdlib.h>

#include "calibrate/measure/harness/bench.h"
#include "calibrate/measure/harness/mpi_try.h"
#include "calibrate/measure/harness/pages.h"
#include "calibrate/measure/harness/streams.h"

enum { ARRAYS = 3, REPEATS = 4 };

fr_status fr_probe_open(struct fr_probe *probe, struct fr_error *err) {
    probe->x = fr_pages_alloc(FR_PROBE_SET_B);
    if (!probe->x) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d B to probe", FR_PROBE_SET_B);
    for (size_t i = 0; i < FR_PROBE_SET_B / sizeof(float); i++) probe->x[i] = 1e-3f;
    return FR_OK;
}

void fr_probe_close(struct fr_probe *probe) {
    free(probe->x);
    probe->x = NULL;
}

static void product(float *x) {
    fr_bench_multiply(x, FR_FP32, FR_PROBE_EDGE, FR_PROBE_EDGE, FR_PROBE_EDGE, 0,
                      FR_TRANSPOSED_NONE);
}

static void stream(float *x) {
    size_t n = FR_PROBE_SET_B / sizeof *x / ARRAYS;
    fr_stream_triad(x, x + n, x + 2 * n, 0.5f, n);
}

static double shortest_s(void (*work)(float *x), float *x) {
    double least_s = 1e9;
    work(x);
    for (int i = 0; i < REPEATS; i++) {
        double start_s = fr_now_s();
        work(x);
        double s = fr_now_s() - start_s;
        if (s < least_s) least_s = s;
    }
    return least_s;
}

fr_status fr_probe_time(const struct fr_probe *probe, MPI_Comm comm, double *product_s,
                        double *stream_s, struct fr_error *err) {
    double own[2], all[2];
    FR_TRY(fr_mpi_barrier(comm, err));
    own[0] = shortest_s(product, probe->x);
    FR_TRY(fr_mpi_barrier(comm, err));
    own[1] = shortest_s(stream, probe->x);
    FR_MPI_TRY(MPI_Reduce(own, all, 2, MPI_DOUBLE, MPI_MAX, 0, comm));
    FR_MPI_TRY(MPI_Bcast(all, 2, MPI_DOUBLE, 0, comm));
    *product_s = all[0] > 1e-9 ? all[0] : 1e-9;
    *stream_s = all[1] > 1e-9 ? all[1] : 1e-9;
    return FR_OK;
}
