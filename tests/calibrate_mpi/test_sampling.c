/* The laws of sampling, by three ranks: nobody leaves a barrier before all have entered, a sample
 * is the slowest rank's, all ranks get the same, and sampling ends for the reason it states. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "calibrate/measure/harness/bench.h"
#include "calibrate/measure/harness/sampling.h"
#include "trust/numbers/statistics.h"

static int rank, n_wrong;

#define CHECK(condition, ...)                                                                  \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            n_wrong++;                                                                         \
            fprintf(stderr, "rank %d, line %d: %s: ", rank, __LINE__, #condition);             \
            fprintf(stderr, __VA_ARGS__);                                                      \
            fputc('\n', stderr);                                                               \
        }                                                                                      \
    } while (0)

static void nap(double s) {
    struct timespec t = {.tv_nsec = (long)(s * 1e9)};
    nanosleep(&t, NULL);
}

static void barrier_holds_back(void) {
    struct fr_error err = {.status = FR_OK};
    for (int late = 0; late < 3; late++) {
        if (rank == late) nap(0.01);
        double entered_s = fr_now_s(), last_s = 0;
        CHECK(fr_mpi_barrier(MPI_COMM_WORLD, &err) == FR_OK, "%s", err.detail);
        double left_s = fr_now_s();
        MPI_Allreduce(&entered_s, &last_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        CHECK(left_s >= last_s, "left %g s before the last came", last_s - left_s);
    }
}

/* This runs on all ranks; only rank 1 takes time for it.  A machine may be as busy as it likes: a nap is never
 * shorter than asked for, and what is checked of times are bounds that hold for any. */
struct sleeper {
    double s;     /* of each call, on rank 1 only */
    int n_cold;   /* the first calls take ten times as long */
    int n_called; /* so far */
};

static fr_status sleep_on_rank_1(void *context, int calls, struct fr_error *err) {
    struct sleeper *sleeper = context;
    (void)err;
    for (int i = 0; i < calls; i++) {
        double s = sleeper->n_called++ < sleeper->n_cold ? 10 * sleeper->s : sleeper->s;
        if (rank == 1) nap(s);
    }
    return FR_OK;
}

/* All samples of a point. */
struct fr_point_samples {
    struct fr_pace pace;
    double *time_s; /*< in the order taken */
    int n;
    fr_sampling_verdict verdict;
    double half_width; /*< relative */
    double median_s;
    int n_outliers; /*< beyond fr_sorted_slow_limit; they are among time_s */
};

/* Warm up and sample until enough is known or @p limit_s is over (at least one visit). */
static fr_status sample(const struct fr_sampling_comm *who, const struct fr_sampling *how,
                        double limit_s, fr_sampled *run, void *context, double *sorted_s,
                        struct fr_point_samples *samples, struct fr_error *err) {
    double end_s = fr_now_s() + limit_s;
    int over = 0, n = 0;
    FR_TRY(fr_sampling_warm_up(who, how, run, context, &samples->pace, err));
    while (samples->verdict == FR_SAMPLING_GO_ON && !over) {
        FR_TRY(fr_sampling_visit(who, how, run, context, &samples->pace,
                                 samples->time_s + samples->n, &n, err));
        samples->n += n;
        memcpy(sorted_s, samples->time_s, (size_t)samples->n * sizeof *sorted_s);
        samples->verdict = fr_sampling_judge(how, sorted_s, samples->n, &samples->half_width);
        over = fr_now_s() > end_s;
        FR_MPI_TRY(MPI_Bcast(&over, 1, MPI_INT, 0, who->comm));
    }
    if (samples->verdict == FR_SAMPLING_GO_ON) samples->verdict = FR_SAMPLING_UNCONVERGED;
    double slow_s = fr_sorted_slow_limit(sorted_s, (size_t)samples->n);
    samples->median_s = fr_sorted_median(sorted_s, (size_t)samples->n);
    for (int i = 0; i < samples->n; i++) samples->n_outliers += samples->time_s[i] > slow_s;
    return FR_OK;
}

static fr_status run_all(const struct fr_sampling_comm *who, const struct fr_sampling *how,
                         double limit_s, fr_sampled *run, void *context,
                         struct fr_point_samples *samples, struct fr_error *err) {
    size_t capacity = (size_t)how->max_n + FR_VISIT_MAX;
    *samples =
        (struct fr_point_samples){.time_s = fr_calloc(capacity, sizeof *samples->time_s)};
    double *sorted_s = fr_calloc(capacity, sizeof *sorted_s);
    fr_status status =
        samples->time_s && sorted_s
            ? sample(who, how, limit_s, run, context, sorted_s, samples, err)
            : fr_fail(err, FR_ERR_NOMEM, NULL, "memory for %zu samples", capacity);
    free(sorted_s);
    return status;
}

static void free_samples(struct fr_point_samples *samples) {
    free(samples->time_s);
    *samples = (struct fr_point_samples){0};
}

static const double PLENTY_S = 1e4, PLENTY = 1e8; /* no machine is so slow; 1e9 is unknown */

static void run(struct fr_sampling how, double limit_s, struct sleeper *sleeper,
                struct fr_point_samples *samples) {
    const struct fr_sampling_comm who = {.comm = MPI_COMM_WORLD, .node = MPI_COMM_NULL};
    struct fr_error err = {.status = FR_OK};
    double median_s = 0;
    CHECK(run_all(&who, &how, limit_s, sleep_on_rank_1, sleeper, samples, &err) == FR_OK, "%s",
          err.detail);
    MPI_Allreduce(&samples->median_s, &median_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    CHECK(median_s == samples->median_s, "%.17g here, %.17g elsewhere", samples->median_s,
          median_s);
}

/* Each is at least rank 1's nap, and all of them together no longer than it took: the barriers keep them
 * apart. */
static void a_sample_is_the_slowest_rank(void) {
    struct fr_sampling how = FR_SAMPLING_DEFAULT;
    struct fr_point_samples samples;
    double sum_s = 0, start_s = fr_now_s(), took_s = 0;
    how.max_n = 12;
    how.half_width = PLENTY; /* whatever the machine does just now */
    run(how, PLENTY_S, &(struct sleeper){.s = 2e-3}, &samples);
    start_s = fr_now_s() - start_s;
    MPI_Allreduce(&start_s, &took_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < samples.n; i++) {
        CHECK(samples.time_s[i] >= 2e-3, "sample %d: %g s", i, samples.time_s[i]);
        sum_s += samples.time_s[i];
    }
    CHECK(sum_s <= took_s, "%d samples of %g s in %g s", samples.n, sum_s, took_s);
    CHECK(samples.verdict == FR_SAMPLING_CONVERGED, "after %d", samples.n);
    CHECK(samples.n >= how.min_n, "only %d", samples.n);
    free_samples(&samples);
}

/* Where the warm-up has its time there is a window behind the first run, which has all the cold ones in it:
 * not one call is left for the samples but what they say and the one before them. */
static void cold_runs_are_no_samples(void) {
    struct fr_sampling how = FR_SAMPLING_DEFAULT;
    struct fr_point_samples samples;
    struct sleeper sleeper = {.s = 3e-3, .n_cold = 4};
    how.max_n = how.visit_n = 8; /* one visit */
    how.warm_s = how.visit_s = PLENTY_S;
    run(how, PLENTY_S, &sleeper, &samples);
    CHECK(samples.n == 8 && samples.pace.calls == 1, "%d samples of %d calls", samples.n,
          samples.pace.calls);
    CHECK(samples.pace.n_warm >= 1 + FR_WINDOW, "%d warm-up runs", samples.pace.n_warm);
    CHECK(sleeper.n_called == samples.pace.n_warm + 1 + samples.n,
          "%d calls, of them %d to warm up and %d samples", sleeper.n_called,
          samples.pace.n_warm, samples.n);
    free_samples(&samples);
}

static void what_never_settles_is_unconverged(void) {
    struct fr_sampling how = FR_SAMPLING_DEFAULT;
    struct fr_point_samples samples;
    how.max_n = 20;
    how.half_width = -1; /* also where all times are one */
    run(how, PLENTY_S, &(struct sleeper){.s = 1e-4}, &samples);
    CHECK(samples.verdict == FR_SAMPLING_UNCONVERGED, "half width %g", samples.half_width);
    CHECK(samples.n >= 20 && samples.n < 20 + FR_VISIT_MAX, "%d samples", samples.n);
    free_samples(&samples);
    how.max_n = 1000000;
    run(how, 0.05, &(struct sleeper){.s = 1e-4}, &samples);
    CHECK(samples.verdict == FR_SAMPLING_UNCONVERGED, "half width %g", samples.half_width);
    /* Each takes 0.1 ms and more in 50 ms, beside one visit that was under way. */
    CHECK(samples.n <= 500 + FR_VISIT_MAX, "%d samples in 50 ms", samples.n);
    free_samples(&samples);
}

/* So many calls as make up the time asked for, by what one took when it was tried: without a window that
 * is what the pace says. */
static void short_calls_are_repeated(void) {
    struct fr_sampling how = FR_SAMPLING_DEFAULT;
    struct fr_point_samples samples;
    how.call_s = 20e-3;
    how.max_n = 10;
    how.max_windows = 0;
    run(how, PLENTY_S, &(struct sleeper){.s = 1e-3}, &samples);
    CHECK(samples.pace.once_s >= 1e-3, "%g s once", samples.pace.once_s);
    CHECK(samples.pace.calls == (int)fmax(1, ceil(how.call_s / samples.pace.once_s)),
          "%d calls of %g s", samples.pace.calls, samples.pace.once_s);
    CHECK(samples.median_s >= 1e-3, "%g s a call", samples.median_s);
    free_samples(&samples);
}

/* Exact: ten equal times and one outlier have a known interval and verdict. */
static void the_verdict_is_the_order_statistics(void) {
    struct fr_sampling how = FR_SAMPLING_DEFAULT;
    double same[11] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 9}, few[5] = {1, 1, 1, 1, 1}, width = 0;
    double two[10] = {1, 1, 1, 1, 1, 1.1, 1.1, 1.1, 1.1, 1.1};
    CHECK(fr_sampling_judge(&how, same, 11, &width) == FR_SAMPLING_CONVERGED, "%g", width);
    CHECK(width == 0, "%g", width);
    CHECK(fr_sampling_judge(&how, few, 5, &width) == FR_SAMPLING_GO_ON, "%g", width);
    CHECK(width > 1e8, "five samples cannot give a 95 %% interval, got %g", width);
    CHECK(fr_sampling_judge(&how, two, 10, &width) == FR_SAMPLING_GO_ON, "%g", width);
    CHECK(fabs(width - 0.05 / 1.05) < 1e-12, "%g", width);
    how.max_n = 10;
    CHECK(fr_sampling_judge(&how, two, 10, &width) == FR_SAMPLING_UNCONVERGED, "%g", width);
}

/* Sizes are 2, 4, ... 2048 the ends, the middle, the quarters, then the rest; a cut after any step leaves
 * sizes that a grid can be made of, and each comes in one step. */
static void grids_refine(void) {
    static const int first[] = {2, 1, 2}; /* of steps -1, 0, 1 */
    for (int step = -1; step <= 1; step++) {
        int n = 0;
        for (int i = 1; i <= 11; i++) n += fr_bench_dimension_step(i, 11) == step;
        CHECK(n == first[step + 1], "%d sizes in step %d", n, step);
    }
    CHECK(fr_bench_dimension_step(1, 11) == FR_STEP_NEEDED, "the smallest comes late");
    CHECK(fr_bench_dimension_step(11, 11) == FR_STEP_NEEDED, "the largest comes late");
    CHECK(fr_bench_dimension_step(6, 11) == 0, "the middle comes late");
    for (int i = 1; i <= 11; i++)
        CHECK(fr_bench_dimension_step(i, 11) <= 3, "size 2^%d comes in step %d", i,
              fr_bench_dimension_step(i, 11));
}

/* All-reduces of twice and four times the usual largest message: where memory allows, and nobody stated the sizes. */
static void sums_go_beyond(void) {
    const double usual_B = 1 << 24, memory_B = 16 * 4 * 2 * usual_B;
    struct fr_error err = {.status = FR_OK};
    struct fr_bench bench = {
        .options = {.max_size_B = usual_B},
        .provenance = {.memory_B = memory_B, .ranks_per_node = 2},
        .teams = {.count = 1, .team = {{.kind = FR_TEAM_GROUP, .n_ranks = 2}}}};
    CHECK(fr_bench_beyond_B(&bench) == 4 * usual_B, "%g", fr_bench_beyond_B(&bench));
    CHECK(fr_bench_plan_beyond(&bench, &fr_bench_all_reduce, &err) == FR_OK, "%s", err.detail);
    CHECK(bench.n_points == 2 && bench.points[0].count == 1 << 23 &&
              bench.points[1].count == 1 << 24 && bench.points[1].team == bench.teams.team,
          "%d points", bench.n_points);
    free(bench.points);
    for (int i = 0; i < 4; i++) {
        struct fr_bench other = bench;
        int64_t size = 8;
        if (i == 0) other.options.max_stated = true;
        if (i == 1) other.options.sizes = &size;
        if (i == 2) other.provenance.simulated = true;
        if (i == 3) other.provenance.memory_B = memory_B - 1;
        CHECK(fr_bench_beyond_B(&other) == 0, "case %d: %g", i, fr_bench_beyond_B(&other));
    }
}

int main(int argc, char **argv) {
    int all_wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    barrier_holds_back();
    a_sample_is_the_slowest_rank();
    cold_runs_are_no_samples();
    what_never_settles_is_unconverged();
    short_calls_are_repeated();
    the_verdict_is_the_order_statistics();
    grids_refine();
    sums_go_beyond();
    MPI_Allreduce(&n_wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all_wrong ? 1 : 0;
}
