/* Collectives at every power-of-two size, per group of ranks.  The same buffers are used again
 * and again, as a training step uses its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/harness/bench.h"
#include "calibrate/harness/collective_calls.h"
#include "calibrate/harness/groups.h"
#include "calibrate/statistics.h"

enum { BATCH = 6, WANTED = 12 };             /* samples a visit; before a median is trusted */
static const double VISIT_S = 0.06;          /* a visit of slow points takes fewer samples */
static const double TARGET = 0.05;           /* half width of the median's 95 % interval */
enum verdict { GO_ON, POINT_DONE, TIME_UP }; /* decided by the group's rank 0 */

struct point {
    const struct fr_bench_collective *row;
    int count; /* floats */
    int n_times;
    bool done;
    double *times_s; /* [options.reps], on the group's rank 0 */
};

struct task {
    struct fr_bench *bench;
    struct fr_bench_group group;
    struct fr_bench_call call; /* comm, buffers */
    struct point *points;
    int n_points;
    double end_s;
};

/* One operation between two barriers, this rank's time [s]. */
static fr_status time_once(struct task *task, const struct point *point, double *time_s,
                           struct fr_error *err) {
    task->call.count = point->count;
    FR_TRY(fr_mpi_barrier(task->call.comm, err));
    double start_s = fr_now_s();
    FR_MPI_TRY(point->row->run(&task->call));
    *time_s = (fr_now_s() - start_s) * point->row->share;
    return FR_OK;
}

static fr_status record(struct task *task, struct point *point, const double *times_s, int n,
                        struct fr_error *err) {
    struct fr_sample_collective sample = {.op = point->row->op,
                                          .level = task->group.level,
                                          .n_ranks = task->group.n_ranks,
                                          .size_B = (double)point->count * sizeof(float)};
    for (int i = 0; i < n; i++) {
        struct fr_text line = {0};
        sample.rep = point->n_times;
        sample.time_s = fmax(times_s[i], 1e-9);
        point->times_s[point->n_times++] = sample.time_s;
        fr_sample_line_collective(&sample, &line);
        FR_TRY(fr_sample_put(task->bench->fd, task->bench->options.samples, &line, err));
    }
    return FR_OK;
}

static int judge(const struct task *task, struct point *point, bool first_pass) {
    int n = point->n_times;
    if (!first_pass && fr_now_s() > task->end_s) return TIME_UP;
    if (n >= task->bench->options.reps) return POINT_DONE;
    if (n < WANTED) return GO_ON;
    fr_sort(point->times_s, (size_t)n);
    double uncertainty = fr_sorted_median_uncertainty(point->times_s, (size_t)n, 0.95);
    return uncertainty < TARGET ? POINT_DONE : GO_ON;
}

/* A warm-up, which also tells how many samples fit in the visit; the samples; the verdict. */
static fr_status visit(struct task *task, struct point *point, bool first_pass, int *verdict,
                       struct fr_error *err) {
    double mine_s[BATCH] = {0}, worst_s[BATCH] = {0}, warm_s = 0, slowest_s = 0;
    MPI_Comm comm = task->call.comm;
    FR_TRY(time_once(task, point, &warm_s, err));
    FR_MPI_TRY(MPI_Allreduce(&warm_s, &slowest_s, 1, MPI_DOUBLE, MPI_MAX, comm));
    int left = task->bench->options.reps - point->n_times;
    int fitting = (int)fmin(fmax(1, VISIT_S / fmax(slowest_s, 1e-9)), BATCH);
    int n = fitting < left ? fitting : left;
    for (int i = 0; i < n; i++) FR_TRY(time_once(task, point, &mine_s[i], err));
    FR_MPI_TRY(MPI_Reduce(mine_s, worst_s, n, MPI_DOUBLE, MPI_MAX, 0, comm));
    if (task->call.rank == 0) {
        FR_TRY(record(task, point, worst_s, n, err));
        *verdict = judge(task, point, first_pass);
    } else
        point->n_times += n;
    FR_MPI_TRY(MPI_Bcast(verdict, 1, MPI_INT, 0, comm));
    return FR_OK;
}

static fr_status passes(struct task *task, int *order, struct fr_error *err) {
    int left = task->n_points, verdict = GO_ON;
    for (int pass = 0; left > 0; pass++) {
        fr_bench_shuffle(&task->bench->rng, order, task->n_points);
        for (int i = 0; i < task->n_points; i++) {
            struct point *point = &task->points[order[i]];
            if (point->done) continue;
            if (i % 8 == 0)
                fr_bench_progress(task->bench, "collectives", task->n_points - left,
                                  task->n_points);
            FR_TRY(visit(task, point, pass == 0, &verdict, err));
            if (verdict == TIME_UP) return FR_OK;
            point->done = verdict == POINT_DONE;
            left -= point->done;
        }
    }
    return FR_OK;
}

/* Points of a group: per operation powers of two from 8 B, whole parts of whole floats. */
static int make_points(const struct task *task, struct point *points) {
    int count = 0;
    for (int i = 0; i < fr_bench_n_collective_calls; i++) {
        const struct fr_bench_collective *row = &fr_bench_collective_calls[i];
        int step = row->divided ? task->group.n_ranks : 1, last = 0;
        if (row->pair_only && task->group.n_ranks != 2) continue;
        for (double size_B = 8; size_B <= task->bench->options.max_size_B; size_B *= 2) {
            int floats = (int)(size_B / sizeof(float));
            floats = (floats + step - 1) / step * step;
            if (floats == last) continue;
            points[count++] = (struct point){.row = row, .count = floats};
            last = floats;
        }
    }
    return count;
}

static fr_status measure(struct task *task, struct fr_error *err) {
    enum { SIZES_MAX = 40, ROWS_MAX = 8 };
    int reps = task->bench->options.reps, most = SIZES_MAX * ROWS_MAX;
    fr_status status = FR_ERR_NOMEM;
    struct point *points = calloc((size_t)most, sizeof *points);
    int *order = calloc((size_t)most, sizeof *order);
    double *times_s = calloc((size_t)most * (size_t)reps, sizeof *times_s);
    if (!points || !order || !times_s) {
        fr_fail(err, status, NULL, "the points to measure do not fit in memory");
        goto done;
    }
    task->points = points;
    task->n_points = make_points(task, points);
    for (int i = 0; i < task->n_points; i++)
        points[i].times_s = times_s + (size_t)i * (size_t)reps;
    status = passes(task, order, err);
    fr_bench_progress(task->bench, "collectives", task->n_points, task->n_points);
done:
    free(points);
    free(order);
    free(times_s);
    return status;
}

/* Wait until all ranks have come here, asleep rather than spinning on a core others measure. */
static fr_status wait_for_all(struct fr_bench *bench, struct fr_error *err) {
    const struct timespec nap = {.tv_nsec = 1000000};
    MPI_Request request;
    int done = 0;
    FR_MPI_TRY(MPI_Ibarrier(bench->world, &request));
    for (;;) {
        FR_MPI_TRY(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        if (done) return FR_OK;
        nanosleep(&nap, NULL);
    }
}

static fr_status run_group(struct task *task, double budget_s, struct fr_error *err) {
    struct fr_bench *bench = task->bench;
    bool inside = fr_bench_in_group(bench, &task->group);
    fr_status status = FR_OK;
    /* Outsiders draw the group's random numbers too late otherwise: each group has its own. */
    bench->rng = bench->options.seed + (uint64_t)task->group.n_ranks * 1000u;
    task->end_s = fr_now_s() + budget_s;
    FR_MPI_TRY(MPI_Comm_split(bench->world, inside ? 0 : MPI_UNDEFINED, bench->rank,
                              &task->call.comm));
    if (inside) {
        FR_MPI_TRY(MPI_Comm_set_errhandler(task->call.comm, MPI_ERRORS_RETURN));
        FR_MPI_TRY(MPI_Comm_rank(task->call.comm, &task->call.rank));
        task->call.n_ranks = task->group.n_ranks;
        status = measure(task, err);
        MPI_Comm_free(&task->call.comm);
    }
    FR_TRY(status);
    return wait_for_all(bench, err);
}

fr_status fr_bench_collectives(struct fr_bench *bench, double budget_s, struct fr_error *err) {
    struct fr_bench_group groups[FR_BENCH_GROUPS_MAX];
    int n_groups = fr_bench_groups(bench, groups);
    /* A buffer rounded up to whole parts is at most p floats larger. */
    size_t count = (size_t)(bench->options.max_size_B / sizeof(float)) + (size_t)bench->n_ranks;
    fr_status status = FR_OK;
    float *send = malloc(count * sizeof *send), *recv = malloc(count * sizeof *recv);
    if (!send || !recv) {
        status = fr_fail(err, FR_ERR_NOMEM, NULL, "buffers of %zu floats", count);
        goto done;
    }
    for (size_t i = 0; i < count; i++) send[i] = recv[i] = 1.0f;
    for (int i = 0; i < n_groups && status == FR_OK; i++) {
        struct task task = {
            .bench = bench, .group = groups[i], .call = {.send = send, .recv = recv}};
        status = run_group(&task, budget_s / n_groups, err);
    }
done:
    free(send);
    free(recv);
    return status;
}
