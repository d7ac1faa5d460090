#include "calibrate/harness/bench.h"

#include <stdio.h>

fr_status fr_bench_span(struct fr_bench *bench, double start_s, double stop_s, double *span_s,
                        struct fr_error *err) {
    double mine[2] = {-start_s, stop_s}, node[2] = {0, 0};
    FR_MPI_TRY(MPI_Allreduce(mine, node, 2, MPI_DOUBLE, MPI_MAX, bench->node));
    double span = node[0] + node[1];
    FR_MPI_TRY(MPI_Reduce(&span, span_s, 1, MPI_DOUBLE, MPI_MAX, 0, bench->world));
    return FR_OK;
}

uint64_t fr_bench_random(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void fr_bench_shuffle(uint64_t *state, int *order, int n) {
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = (int)(fr_bench_random(state) % (uint64_t)(i + 1)), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

void fr_bench_progress(const struct fr_bench *bench, const char *what, int done, int all) {
    if (bench->rank != 0 || !bench->options.progress) return;
    fprintf(stderr, "\r%-40s %5d / %d\033[K%s", what, done, all, done == all ? "\n" : "");
}
