/** @file
 *  The harness: what the machine does, measured by all ranks of an MPI job at once.
 *
 *  A benchmark is a set of points (a collective at one size, a matrix product of one shape)
 *  visited in passes, each pass in a new shuffled order, so that a drift of the machine falls
 *  on all points alike and every point has samples after the first pass.  Passes go on until
 *  the medians are known well enough or the part's time budget is spent; the first pass is
 *  always finished.  Only rank 0 writes; a decision that concerns several ranks is made by one
 *  and broadcast, outside what is timed.
 *
 *  Steps of `forerun-mpi calibrate`: provenance, kernel, memory, gemm per dtype, collectives
 *  per group of ranks.  To add one: calibrate/harness/<name>.c and a row of `parts` in run.c.
 */
#ifndef FR_CALIBRATE_HARNESS_BENCH_H
#define FR_CALIBRATE_HARNESS_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "calibrate/harness/mpi_try.h"
#include "calibrate/samples.h"

struct fr_bench_options {
    const char *samples; /**< file to write */
    double max_size_B;   /**< largest message */
    bool quick;          /**< a quarter of the time */
    uint64_t seed;
    int reps;        /**< at most, per point */
    double budget_s; /**< of everything, spread over the parts */
    bool progress;   /**< rank 0 says on stderr what it does */
};

struct fr_bench {
    MPI_Comm world, node; /**< errors are returned on both */
    int rank, n_ranks;
    int node_rank, n_node_ranks;
    int *node_of; /**< [n_ranks], numbered from 0 in order of their first rank */
    int n_nodes;
    struct fr_bench_options options;
    struct fr_provenance provenance;
    int fd; /**< rank 0: the samples; elsewhere -1 */
    uint64_t rng;
};

/** Find out who is where, and what this machine is. */
fr_status fr_bench_open(const struct fr_bench_options *options, struct fr_bench *bench,
                        struct fr_error *err);
void fr_bench_close(struct fr_bench *bench);
/** All parts in order. */
fr_status fr_bench_run(struct fr_bench *bench, struct fr_error *err);

/** Fill bench->provenance; collective over bench->world. */
fr_status fr_bench_describe(struct fr_bench *bench, struct fr_error *err);

/* The parts; each may take about budget_s. */
fr_status fr_bench_kernel(struct fr_bench *bench, double budget_s, struct fr_error *err);
fr_status fr_bench_memory(struct fr_bench *bench, double budget_s, struct fr_error *err);
fr_status fr_bench_gemm_fp32(struct fr_bench *bench, double budget_s, struct fr_error *err);
fr_status fr_bench_gemm_fp64(struct fr_bench *bench, double budget_s, struct fr_error *err);
fr_status fr_bench_collectives(struct fr_bench *bench, double budget_s, struct fr_error *err);

/** From the first rank of a node that starts to the last that is done, on the slowest node
 *  [s]; so that with more ranks than cores their turns add up.  Uses that CLOCK_MONOTONIC is
 *  one clock per node.  Valid on rank 0 of the world. */
fr_status fr_bench_span(struct fr_bench *bench, double start_s, double stop_s, double *span_s,
                        struct fr_error *err);

/** Next number of splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
uint64_t fr_bench_random(uint64_t *state);
/** Fill order[n] with a random permutation of 0..n-1. */
void fr_bench_shuffle(uint64_t *state, int *order, int n);

/** One line to stderr, overwriting the last; nothing where progress is off. */
void fr_bench_progress(const struct fr_bench *bench, const char *what, int done, int all);

#endif
