#include "real/apps/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/journal/journal.h"
#include "base/sort.h"
#include "calibrate/measure/harness/bench.h"
#include "calibrate/measure/harness/pages.h"
#include "calibrate/measure/harness/sampling.h"
#include "calibrate/measure/harness/streams.h"
#include "calibrate/samples/samples.h"
#include "real/apps/passes/deadline.h"
#include "real/apps/passes/order.h"
#include "real/apps/resume.h"
#include "trust/numbers/statistics.h"

#ifdef SMPI_H
enum { PROFILED = 1, SIMULATED = 1 };
#else
enum { PROFILED = 5, SIMULATED = 0 };
#endif

enum { PROFILE_EVERY = 4 }; /* passes */

/* ---- is the machine as it was when it was calibrated? --------------------------------------------
 *
 * A stream and a matrix product that the calibration timed too, timed again beside the real runs, by all ranks
 * at once. */

/* The stream's working set, and the edge of the square fp32 product. */
enum { REFERENCE_SET_B = 64 << 20, REFERENCE_EDGE = 512 };

struct reference {
    double stream_s_per_B; /* of row memory's triad over REFERENCE_SET_B */
    double product_s;      /* of row gemm's square product on operands just used */
};

enum { REPEATS = 7, ARRAYS = 3 };

static void stream(float *x) {
    size_t n = REFERENCE_SET_B / sizeof *x / ARRAYS;
    fr_stream_triad(x, x + n, x + 2 * n, 0.5f, n);
}

static void product(float *x) {
    fr_bench_multiply(x, FR_FP32, REFERENCE_EDGE, REFERENCE_EDGE, REFERENCE_EDGE, 0,
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
        double own_s = fr_now_s() - start_s;
        FR_MPI_TRY(MPI_Allreduce(&own_s, &time_s[i], 1, MPI_DOUBLE, MPI_SUM, comm));
        time_s[i] /= n;
    }
    fr_sort(time_s, REPEATS);
    *median_s = fr_sorted_median(time_s, REPEATS);
    return FR_OK;
}

/* Medians of a few repetitions, each of the mean over ranks: a tenth of a second. */
static fr_status measure_reference(MPI_Comm comm, struct reference *reference,
                                   struct fr_error *err) {
    float *x = fr_pages_alloc(REFERENCE_SET_B);
    int here = x != NULL, all = 0;
    double stream_s = 0;
    fr_status status = FR_OK;
    FR_MPI_TRY(MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_MIN, comm));
    if (!all) {
        free(x);
        return fr_fail(err, FR_ERR_NOMEM, NULL, "%d B to stream over", REFERENCE_SET_B);
    }
    for (size_t i = 0; i < REFERENCE_SET_B / sizeof *x; i++) x[i] = 1e-3f;
    status = time_it(comm, stream, x, &stream_s, err);
    if (status == FR_OK) status = time_it(comm, product, x, &reference->product_s, err);
    reference->stream_s_per_B = stream_s / REFERENCE_SET_B;
    free(x);
    return status;
}

/* ---- visits --------------------------------------------------------------------------------------- */

struct session {
    const struct fr_real_job *job;
    int fd, rank, n_ranks; /* fd: rank 0's */
    struct fr_pace *pace;  /* [cases] */
    int visits;
    struct fr_deadline deadline;
};

/* The timed work: steps of an open case. */
struct timed {
    const struct fr_real_app *app;
    struct fr_real *real;
};

static fr_status steps(void *context, int calls, struct fr_error *err) {
    struct timed *timed = context;
    double loss = 0;
    for (int i = 0; i < calls; i++) FR_TRY(fr_real_step(timed->app, timed->real, &loss, err));
    return FR_OK;
}

/* End the line; rank 0 writes it, the others drop theirs. */
static fr_status put(struct session *s, struct fr_json_writer *w, struct fr_error *err) {
    fr_json_end_object(w);
    fr_text_add(w->text, "\n", 1);
    if (s->rank == 0) return fr_journal_put(s->fd, s->job->out, w->text, err);
    fr_text_free(w->text);
    return FR_OK;
}

static fr_status put_times(struct session *s, const struct fr_real_item *item, int pass,
                           const double *time_s, int n, struct fr_error *err) {
    struct fr_text line = {0};
    struct fr_json_writer w = fr_sample_begin(&line, "run");
    fr_json_add_integer(&w, "id", item->id);
    fr_json_add_integer(&w, "pass", pass);
    fr_json_add_array(&w, "time_s");
    for (int i = 0; i < n; i++) fr_json_put_number(&w, time_s[i]);
    fr_json_end_array(&w);
    return put(s, &w, err);
}

static fr_status put_phases(struct session *s, const struct fr_real_item *item, int pass,
                            const double mean_s[4], struct fr_error *err) {
    struct fr_text line = {0};
    struct fr_json_writer w = fr_sample_begin(&line, "phases");
    fr_json_add_integer(&w, "id", item->id);
    fr_json_add_integer(&w, "pass", pass);
    fr_json_add_number(&w, "step_s", mean_s[0]);
    fr_json_add_number(&w, "compute_s", mean_s[1]);
    fr_json_add_number(&w, "launch_s", fmax(0, mean_s[0] - mean_s[1] - mean_s[2] - mean_s[3]));
    fr_json_add_number(&w, "collective_s", mean_s[2]);
    fr_json_add_number(&w, "wait_s", mean_s[3]);
    return put(s, &w, err);
}

static fr_status put_job(struct session *s, struct fr_error *err) {
    struct fr_text line = {0};
    if (!s->job->machine) return FR_OK;
    struct fr_json_writer w = fr_sample_begin(&line, "job");
    fr_json_add_integer(&w, "ranks", s->n_ranks);
    fr_json_add_string(&w, "machine", s->job->machine);
    return put(s, &w, err);
}

/* Before each pass and after the last, so that a change on the way shows as well.  Simulated
 * machines do not change. */
static fr_status put_reference(struct session *s, int pass, struct fr_error *err) {
    struct reference reference = {0};
    struct fr_text line = {0};
    if (SIMULATED) return FR_OK;
    FR_TRY(measure_reference(MPI_COMM_WORLD, &reference, err));
    struct fr_json_writer w = fr_sample_begin(&line, "reference");
    fr_json_add_integer(&w, "ranks", s->n_ranks);
    fr_json_add_integer(&w, "pass", pass);
    fr_json_add_number(&w, "set_B", REFERENCE_SET_B);
    fr_json_add_number(&w, "stream_s_per_B", reference.stream_s_per_B);
    fr_json_add_integer(&w, "edge", REFERENCE_EDGE);
    fr_json_add_number(&w, "product_s", reference.product_s);
    return put(s, &w, err);
}

static int ascending(const void *a, const void *b) {
    const double *x = a, *y = b;
    return FR_ORDER(x[0], y[0]);
}

/* Profile a few steps, as many as there is time for; the one of median length counts, averaged
 * over ranks. */
static fr_status profile(struct session *s, const struct fr_real_item *item, int pass,
                         struct fr_real *real, struct fr_error *err) {
    double mean_s[PROFILED][4], loss = 0;
    bool over = false;
    int n = 0;
    real->profile = true;
    for (int i = 0; i < PROFILED; i++) {
        FR_TRY(fr_deadline_is_over(&s->deadline, &over, err));
        if (over) break;
        FR_TRY(fr_mpi_barrier(MPI_COMM_WORLD, err));
        double start_s = fr_now_s();
        FR_TRY(fr_real_step(item->app, real, &loss, err));
        double own_s[4] = {fr_now_s() - start_s, real->phases.compute_s,
                           real->phases.collective_s, real->phases.wait_s};
        FR_MPI_TRY(MPI_Allreduce(own_s, mean_s[i], 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        for (int p = 0; p < 4; p++) mean_s[i][p] /= s->n_ranks;
        n++;
    }
    real->profile = false;
    fr_sort_items(mean_s, (size_t)n, sizeof *mean_s, ascending);
    return n > 0 ? put_phases(s, item, pass, mean_s[n / 2], err) : FR_OK;
}

/* Simulated time has no spread, and nothing to warm up: one step says all. */
static fr_status simulate(struct timed *timed, double *time_s, struct fr_error *err) {
    FR_TRY(fr_mpi_barrier(MPI_COMM_WORLD, err));
    double start_s = fr_now_s();
    FR_TRY(steps(timed, 1, err));
    double own_s = fr_now_s() - start_s;
    FR_MPI_TRY(MPI_Allreduce(&own_s, time_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    return FR_OK;
}

static fr_status sample(struct session *s, struct fr_real_item *item, int i, int pass,
                        struct fr_real *real, struct fr_error *err) {
    struct fr_sampling how = FR_SAMPLING_DEFAULT;
    const struct fr_sampling_comm who = {.comm = MPI_COMM_WORLD, .node = MPI_COMM_NULL};
    struct timed timed = {item->app, real};
    double time_s[FR_VISIT_MAX], loss = 0;
    int n = 0;
    how.visit_n = FR_VISIT_MAX;
    how.visit_s = fmin(s->job->visit_s, s->deadline.share_s / 2);
    how.warm_s = fmin(s->job->visit_s, s->deadline.share_s / 4);
    how.drift = 0.03;
    if (SIMULATED) {
        FR_TRY(simulate(&timed, time_s, err));
        FR_TRY(put_times(s, item, pass, time_s, 1, err));
        return profile(s, item, pass, real, err);
    }
    if (s->pace[i].calls == 0)
        FR_TRY(fr_sampling_warm_up(&who, &how, steps, &timed, &s->pace[i], err));
    else
        FR_TRY(fr_real_step(item->app, real, &loss, err)); /* fault the buffers in */
    FR_TRY(fr_sampling_visit(&who, &how, steps, &timed, &s->pace[i], time_s, &n, err));
    FR_TRY(put_times(s, item, pass, time_s, n, err));
    return pass % PROFILE_EVERY == 0 ? profile(s, item, pass, real, err) : FR_OK;
}

static fr_status visit(struct session *s, struct fr_real_item *item, int i, int pass,
                       struct fr_error *err) {
    struct fr_real real;
    if (s->visits++ == s->job->fail_visit && s->rank == s->job->fail_rank) _exit(9);
    fr_status status = fr_real_open(item->app, &item->run, MPI_COMM_WORLD, &real, err);
    if (status == FR_OK) status = sample(s, item, i, pass, &real, err);
    /* A failed case is left open: its messages may never end, and the job is about to. */
    if (status == FR_OK) fr_real_close(item->app, &real);
    return status;
}

static bool is_done(const struct session *s, int item, int pass) {
    return s->job->done && s->job->done[(int64_t)item * s->job->passes + pass];
}

/* Visits that pass @p pass has for @p order from @p from on. */
static int count_wanted(const struct session *s, const struct fr_real_cases *cases,
                        const int *order, int pass, int from) {
    int n = 0;
    for (int i = from; i < cases->n; i++) n += !is_done(s, order[i], pass);
    return n;
}

static void show(struct session *s, int pass) {
    char what[80];
    if (s->rank != 0 || (SIMULATED && !s->job->progress)) return;
    snprintf(what, sizeof what, "%d rank%s, pass %d of %d", s->n_ranks,
             s->n_ranks == 1 ? "" : "s", pass + 1, s->job->passes);
    fr_deadline_show(&s->deadline, what, s->job->progress);
}

static fr_status one_pass(struct session *s, const struct fr_real_cases *cases,
                          const int *order, int pass, bool *over, struct fr_error *err) {
    for (int i = 0; i < cases->n && !*over; i++) {
        if (is_done(s, order[i], pass)) continue;
        int n_pass = pass == 0 ? count_wanted(s, cases, order, pass, i) : 0;
        FR_TRY(fr_deadline_visit(&s->deadline, n_pass, over, err));
        if (*over) break;
        show(s, pass);
        FR_TRY(visit(s, &cases->items[order[i]], order[i], pass, err));
    }
    return FR_OK;
}

static fr_status passes(struct session *s, const struct fr_real_cases *cases, int *order,
                        struct fr_error *err) {
    const struct fr_real_job *job = s->job;
    uint64_t random = job->seed;
    int n_wanted = 0;
    bool over = false;
    for (int i = 0; i < cases->n; i++) order[i] = i;
    for (int pass = 0; pass < job->passes; pass++)
        n_wanted += count_wanted(s, cases, order, pass, 0);
    s->deadline = fr_deadline_begin(job->budget_s, job->since_s, n_wanted);
    for (int pass = 0; pass < job->passes && !over; pass++) {
        fr_bench_shuffle(&random, order, cases->n);
        FR_TRY(fr_real_order(cases, pass == 0 && job->budget_s > 0, order, err));
        FR_TRY(put_reference(s, pass, err));
        FR_TRY(one_pass(s, cases, order, pass, &over, err));
    }
    if (s->rank == 0 && job->progress) fputc('\n', stderr);
    return put_reference(s, job->passes, err);
}

fr_status fr_real_job_run(const struct fr_real_cases *cases, const struct fr_real_job *job,
                          struct fr_error *err) {
    struct session s = {.job = job, .fd = -1};
    int failed = 0, *order = fr_calloc((size_t)cases->n, sizeof *order);
    fr_status status = FR_ERR_NOMEM;
    s.pace = fr_calloc((size_t)cases->n, sizeof *s.pace);
    FR_MPI_TRY(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    FR_MPI_TRY(MPI_Comm_rank(MPI_COMM_WORLD, &s.rank));
    FR_MPI_TRY(MPI_Comm_size(MPI_COMM_WORLD, &s.n_ranks));
    if (!order || !s.pace) {
        fr_fail(err, status, NULL, "%d cases", cases->n);
        goto done;
    }
    status = s.rank == 0 ? fr_real_append(job->out, &s.fd, err) : FR_OK;
    failed = status != FR_OK;
    MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (failed && status == FR_OK)
        status = fr_fail(err, FR_ERR_IO, job->out, "cannot be written on rank 0");
    if (status == FR_OK) status = put_job(&s, err);
    if (status == FR_OK) status = passes(&s, cases, order, err);
done:
    if (s.fd >= 0) close(s.fd);
    free(order);
    free(s.pace);
    return status;
}
