#include "calibrate/measure/harness/memory.h"

#include <cblas.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "calibrate/measure/harness/watch.h"
#include "calibrate/measure/watch/stopped.h"

static char place
    [96]; /* " on rank 1 of host x"; the rank as the launcher numbers them, where it says */

/* Nothing here asks for memory.  A second thread waits for the end. */
static void end_without_memory(size_t wanted_B) {
    static atomic_flag ending = ATOMIC_FLAG_INIT;
    char line[256];
    size_t used = 0;
    while (atomic_flag_test_and_set(&ending)) pause();
    fr_line_addf(line, sizeof line, &used, "forerun-mpi: out of memory");
    fr_line_addf(line, sizeof line, &used, "%s", place);
    if (wanted_B > 0 && wanted_B < SIZE_MAX)
        fr_line_addf(line, sizeof line, &used, "; %zu bytes more were asked for", wanted_B);
    fr_line_addf(line, sizeof line, &used, "\n");
    if (write(STDERR_FILENO, line, used) >= 0) fr_watch_farewell(1);
    _exit(1);
}

void fr_memory_or_end(void) {
    char host[64] = "";
    size_t used = 0;
    int rank = fr_rank_own();
    gethostname(host, sizeof host - 1);
    if (rank >= 0)
        fr_line_addf(place, sizeof place, &used, " on rank %d of host %s", rank, host);
    fr_alloc_on_failure(end_without_memory);
}

void fr_memory_for_products(void) {
#ifndef SMPI_H /* a simulated product is none */
    enum { SIDE = 256, BUFFER_B = 128 << 20, BESIDE_B = 1 << 20 };
    volatile char *buffer = fr_malloc(BUFFER_B + BESIDE_B, 1);
    if (buffer) buffer[0] = 0; /* so that asking is not thought idle */
    free((void *)buffer);
    float *x = fr_calloc(3 * SIDE * SIDE, sizeof *x);
    if (x)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE, 1, x, SIDE,
                    x + SIDE * SIDE, SIDE, 0, x + 2 * SIDE * SIDE, SIDE);
    free(x);
#endif
}
