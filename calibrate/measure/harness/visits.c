#include "calibrate/measure/harness/visits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/progress.h"
#include "base/sort.h"
#include "calibrate/measure/harness/stop.h"
#include "calibrate/measure/harness/watch.h"

enum { OVER = -1, ABSENT = -2 };
static const double BEYOND = 0.2, LEAST_BEYOND_S = 10;

/* A quarter of a point's share of the budget, so that there is time for a second visit to it. */
static double warm_s(const struct fr_bench *bench) {
    static const double LEAST_S = 0.003, MOST_S = 0.04;
    double each_s = bench->options.budget_s / (bench->n_points + 1);
    return bench->options.quick ? LEAST_S : fmin(fmax(LEAST_S, each_s / 4), MOST_S);
}

static struct fr_sampling pace_of(const struct fr_bench *bench) {
    struct fr_sampling how = FR_SAMPLING_DEFAULT;
    how.max_n = bench->options.reps;
    how.max_windows = bench->options.quick ? 4 : 10;
    how.warm_s = warm_s(bench);
    if (bench->options.quick) how.visit_n = 4;
    if (how.min_n > how.max_n) how.min_n = how.max_n;
    if (bench->provenance.simulated) { /* where nothing varies, a second look is a waste */
        how.max_windows = 0;
        how.visit_n = how.min_n = 1;
        how.half_width = 2e9;
    }
    return how;
}

static int step_of(const struct fr_point *point) { return point->step + point->row->step; }

/* Points of late steps that the launches share out are dealt in turn, and in turn to the next for their
 * second visit; --resume knows the rest. */
static void deal(struct fr_visits *s) {
    int shared = 0, launches = s->bench->options.n_launches;
    for (int i = 0; i < s->bench->n_points; i++) {
        struct fr_tally *tally = &s->tally[i];
        tally->half_width = 1e9;
        if (s->bench->points[i].row->shared_out && step_of(&s->bench->points[i]) > 1) {
            int turn = (s->bench->launch + launches - shared++ % launches) % launches;
            tally->second = turn == 1 && !s->bench->provenance.simulated;
            tally->done = turn > 1 || (turn == 1 && !tally->second);
        }
        s->n_user_plans += !tally->done && !tally->second;
    }
}

static fr_status allocate(struct fr_visits *s, struct fr_error *err) {
    size_t n = (size_t)s->bench->n_points + 1;
    s->tally = fr_calloc(n, sizeof *s->tally);
    s->queue = fr_calloc(n, sizeof *s->queue);
    if (!s->tally || !s->queue)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the tallies do not fit in memory");
    deal(s);
    return s->bench->options.resume ? fr_resume_load(s, err) : FR_OK;
}

/* The part of the time that starting the job took.  Hosts' clocks may disagree: no more than
 * all of it. */
static double late_s(const struct fr_bench_options *o) {
    double limit_s = fmax(o->limit_s, o->budget_s);
    return o->since_s > 0 ? fmin(fmax(0, (double)time(NULL) - o->since_s), limit_s) : 0;
}

fr_status fr_visits_open(struct fr_bench *bench, struct fr_visits *s, struct fr_error *err) {
    int failed = 0;
    *s = (struct fr_visits){.bench = bench, .how = pace_of(bench), .first_pass = true};
    s->random = bench->options.seed + 0x51ed2701u * (uint64_t)(bench->launch + 1);
    s->start_s = s->shown_s = fr_now_s();
    double began_s = s->start_s - late_s(&bench->options);
    s->end_s = began_s + bench->options.budget_s;
    s->limit_s = began_s + fmax(bench->options.limit_s, bench->options.budget_s);
    if (!bench->provenance.simulated && !bench->driver) FR_TRY(fr_probe_open(&s->probe, err));
    fr_status status = bench->rank == 0 ? allocate(s, err) : FR_OK;
    failed = status != FR_OK;
    FR_MPI_TRY(MPI_Bcast(&failed, 1, MPI_INT, 0, bench->world));
    if (!failed || status != FR_OK) return status;
    return fr_fail(err, FR_ERR_EXTERNAL, NULL, "rank 0 could not go on");
}

void fr_visits_close(struct fr_visits *s) {
    for (int i = 0; s->tally && i < s->bench->n_points; i++)
        free(s->tally[i].time_s), free(s->tally[i].rep);
    fr_probe_close(&s->probe);
    free(s->tally);
    free(s->queue);
    s->tally = NULL;
    s->queue = NULL;
}

static int by_need(const void *a, const void *b) {
    const double *x = a, *y = b;
    if (x[0] != y[0]) return FR_ORDER(x[0], y[0]);
    return FR_ORDER(x[1], y[1]);
}

/* Second visits come after all steps. */
static int order_of(const struct fr_visits *s, int point) {
    enum { ALL_STEPS = 1000 };
    return step_of(&s->bench->points[point]) + (s->tally[point].second ? ALL_STEPS : 0);
}

/* Points of one step in random order, whatever the machine. */
static void shuffle_steps(struct fr_visits *s) {
    for (int first = 0, stop; first < s->n_queued; first = stop) {
        int step = order_of(s, s->queue[first]);
        for (stop = first + 1; stop < s->n_queued; stop++)
            if (order_of(s, s->queue[stop]) != step) break;
        fr_bench_shuffle(&s->random, s->queue + first, stop - first);
    }
}

/* In the first pass everything by steps; then the least certain quarter of what is not done, at
 * least eight. */
static bool fill_queue(struct fr_visits *s) {
    int n = 0;
    double(*open)[2] = fr_calloc((size_t)s->bench->n_points + 1, sizeof *open);
    if (!open) return false;
    for (int i = 0; i < s->bench->n_points; i++) {
        if (s->tally[i].done) continue;
        open[n][0] = s->first_pass ? order_of(s, i) : -s->tally[i].half_width;
        open[n++][1] = i;
    }
    fr_sort_items(open, (size_t)n, sizeof *open, by_need);
    s->n_queued = s->first_pass ? n : n / 4 > 8 ? n / 4 : n < 8 ? n : 8;
    for (int i = 0; i < s->n_queued; i++) s->queue[i] = (int)open[i][1];
    free(open);
    if (s->first_pass)
        shuffle_steps(s);
    else
        fr_bench_shuffle(&s->random, s->queue, s->n_queued);
    s->at = 0;
    return true;
}

/* Points without which a file cannot be fitted are measured as long as there is any time. */
static bool must(const struct fr_visits *s, int point, double now_s) {
    int step = step_of(&s->bench->points[point]);
    double beyond_s = step < 0 ? fmax(LEAST_BEYOND_S, BEYOND * (s->limit_s - s->start_s)) : 0;
    return s->first_pass && s->bench->launch == 0 && step <= 0 && now_s < s->limit_s + beyond_s;
}

static int next(struct fr_visits *s) {
    double now_s = fr_now_s();
    bool over = now_s > s->end_s;
    for (;;) {
        for (; s->at < s->n_queued; s->at++) {
            int point = s->queue[s->at];
            if (s->tally[point].done || (over && !must(s, point, now_s))) continue;
            s->at++;
            return point;
        }
        s->first_pass = s->first_pass && s->n_queued == 0;
        if ((over && !s->first_pass) || !fill_queue(s) || s->n_queued == 0) return OVER;
    }
}

/* Points of this launch: those visited, of which a file may hold some already, and those known as well as is asked for. */
static struct fr_progress_points points_of(const struct fr_visits *s, double left_s) {
    struct fr_progress_points points = {
        .total = s->n_user_plans, .half_width = s->how.half_width, .left_s = left_s};
    for (int i = 0; i < s->bench->n_points; i++) {
        points.visited += s->tally[i].n > 0;
        points.reached += s->tally[i].n > 0 && s->tally[i].half_width <= s->how.half_width;
    }
    if (points.visited < s->n_done) points.visited = s->n_done;
    if (points.visited > points.total) points.visited = points.total;
    return points;
}

/* Time left of all launches: what the budget leaves, or less where few points are left. */
static void show(struct fr_visits *s, bool last) {
    enum { A_MINUTE_S = 60 };
    double now_s = fr_now_s(), left_s = fmax(0, s->limit_s - now_s);
    bool screen = s->bench->options.progress;
    if (!screen && (s->bench->provenance.simulated || last)) return;
    if (!last && now_s - s->shown_s < (screen ? 0.25 : A_MINUTE_S)) return;
    s->shown_s = now_s;
    char line[120];
    const struct fr_progress_points points = points_of(s, left_s);
    fprintf(stderr, "%slaunch %d of %d%s: %s%s%s",
            screen ? "\r" : "forerun-mpi: ", s->bench->launch + 1, s->bench->options.n_launches,
            last ? " done" : "", fr_progress_points_text(&points, line, sizeof line),
            screen ? "\033[K" : "", last || !screen ? "\n" : "");
}

/* A fiftieth of the time goes into probes. */
static bool probe_is_due(const struct fr_visits *s) {
    const double SHARE = 0.02, LEAST_S = 0.05;
    double now_s = fr_now_s();
    return s->probe.x && now_s - s->probed_s > fmax(LEAST_S, s->probe_s / SHARE);
}

static fr_status probe(struct fr_visits *s, struct fr_error *err) {
    double product_s = 0, stream_s = 0, start_s = fr_now_s();
    FR_TRY(fr_probe_time(&s->probe, s->bench->world, &product_s, &stream_s, err));
    s->probed_s = fr_now_s();
    s->probe_s = s->probed_s - start_s;
    return s->bench->rank == 0 ? fr_record_probe(s, product_s, stream_s, err) : FR_OK;
}

/* Send the next point from rank 0 to all, with a number beyond all points for a probe before
 * it; and a request to stop, from any to all. */
static fr_status meet(struct fr_visits *s, int *command, bool *stop, struct fr_error *err) {
    int own[2] = {fr_stop_requested(), ABSENT}, all[2] = {0, ABSENT};
    MPI_Request request;
    if (s->bench->rank == 0) {
        show(s, false);
        own[1] = own[0] ? OVER : next(s);
        if (own[1] >= 0 && probe_is_due(s)) own[1] += s->bench->n_points;
    }
    /* Down and up a tree: an all-reduce is quadratic in some libraries. */
    FR_MPI_TRY(MPI_Ireduce(own, all, 2, MPI_INT, MPI_MAX, 0, s->bench->world, &request));
    FR_TRY(fr_mpi_wait_asleep(&request, err));
    FR_MPI_TRY(MPI_Ibcast(all, 2, MPI_INT, 0, s->bench->world, &request));
    FR_TRY(fr_mpi_wait_asleep(&request, err));
    *stop = all[0] != 0;
    *command = all[1];
    return FR_OK;
}

static fr_status judge(struct fr_visits *s, int index, struct fr_error *err) {
    struct fr_tally *tally = &s->tally[index];
    double *sorted_s = fr_malloc((size_t)tally->n, sizeof *sorted_s);
    if (!sorted_s) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    memcpy(sorted_s, tally->time_s, (size_t)tally->n * sizeof *sorted_s);
    fr_sampling_verdict verdict =
        fr_sampling_judge(&s->how, sorted_s, tally->n, &tally->half_width);
    free(sorted_s);
    if (verdict == FR_SAMPLING_GO_ON) return FR_OK;
    return fr_record_point(s, index, verdict == FR_SAMPLING_CONVERGED, err);
}

static int row_index(const struct fr_bench_row *row) {
    int i = 0;
    while (fr_bench_rows[i] != row) i++;
    return i;
}

static fr_status visit(struct fr_visits *s, int index, struct fr_error *err) {
    struct fr_bench *bench = s->bench;
    struct fr_point *point = &bench->points[index];
    const struct fr_bench_row *row = point->row;
    double time_s[FR_VISIT_MAX], share = row->share > 0 ? row->share : 1;
    int n = 0;
    if (point->team->sync == MPI_COMM_NULL) return FR_OK;
    struct fr_work work = {
        .bench = bench, .point = point, .state = bench->state[row_index(row)]};
    struct fr_sampling_comm who = {.comm = point->team->sync,
                                   .node = row->by_node ? bench->node : MPI_COMM_NULL,
                                   .stopped_s = &work.stopped_s};
    struct fr_sampling how = s->how;
    how.call_s = row->call_s;
    bench->prepared = NULL; /* a device gets warm again */
    fr_watch_point(index);
    if (point->pace.calls == 0)
        FR_TRY(fr_sampling_warm_up(&who, &how, row->run, &work, &point->pace, err));
    FR_TRY(fr_sampling_visit(&who, &how, row->run, &work, &point->pace, time_s, &n, err));
    fr_watch_point(FR_WATCH_BETWEEN);
    if (bench->rank != 0) return FR_OK;
    for (int i = 0; i < n; i++) time_s[i] *= share;
    FR_TRY(fr_record_samples(s, index, time_s, n, err));
    if (!s->tally[index].second) return judge(s, index, err);
    s->tally[index].done = true;
    return FR_OK;
}

/* Points that the budget left open are unconverged, and say so. */
static fr_status finish(struct fr_visits *s, int *end_reason, struct fr_error *err) {
    *end_reason = FR_END_COMPLETE;
    for (int i = 0; i < s->bench->n_points; i++) {
        if (s->tally[i].done || s->tally[i].second) continue;
        *end_reason = FR_END_BUDGET;
        if (s->tally[i].n > 0) FR_TRY(fr_record_point(s, i, false, err));
    }
    show(s, true);
    return FR_OK;
}

fr_status fr_visits_run(struct fr_visits *s, int *end_reason, struct fr_error *err) {
    for (;;) {
        int command = OVER;
        bool stop = false;
        FR_TRY(meet(s, &command, &stop, err));
        if (stop) {
            *end_reason = FR_END_SIGNAL;
            return fr_fail(err, FR_ERR_PARTIAL, s->bench->options.samples,
                           "stopped as asked; what was measured is kept, and --resume goes on");
        }
        if (command == OVER) break;
        if (command >= s->bench->n_points) {
            FR_TRY(probe(s, err));
            command -= s->bench->n_points;
        }
        FR_TRY(visit(s, command, err));
    }
    return s->bench->rank == 0 ? finish(s, end_reason, err) : FR_OK;
}
