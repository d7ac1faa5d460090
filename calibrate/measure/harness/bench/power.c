/* Power of rank 0's node while all its ranks sleep, multiply, or communicate. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/measure/harness/bench.h"
#include "calibrate/measure/harness/stop.h"
#include "calibrate/measure/harness/watch.h"
#include "calibrate/measure/power.h"

enum { WINDOWS = 3, DIM = 512, CHUNK = 8 };

static fr_status work(struct fr_bench *bench, int state, void *pool, struct fr_error *err) {
    const struct timespec nap = {.tv_nsec = 10000000};
    int count = fr_bench_count(fmin(1 << 20, bench->options.max_size_B), false, 1);
    if (state == FR_POWER_IDLE)
        nanosleep(&nap, NULL);
    else if (state == FR_POWER_BUSY)
        fr_bench_multiply(pool, FR_FP32, DIM, DIM, DIM, 0, 0);
    else
        for (int i = 0; i < CHUNK; i++)
            FR_MPI_TRY(MPI_Allreduce(bench->send, bench->recv, count, MPI_FLOAT, MPI_SUM,
                                     bench->world));
    return FR_OK;
}

/* Rank 0 says when the window is over; while idle or busy a clock of each rank will do. */
static fr_status one_window(struct fr_bench *bench, int state, double window_s, void *pool,
                            double *from_s, double *to_s, struct fr_error *err) {
    int over = 0;
    FR_TRY(fr_mpi_barrier(bench->world, err));
    *from_s = fr_now_s();
    while (!over) {
        FR_TRY(work(bench, state, pool, err));
        over = fr_now_s() - *from_s >= window_s || fr_stop_requested();
        if (state == FR_POWER_COMMUNICATING)
            FR_MPI_TRY(MPI_Bcast(&over, 1, MPI_INT, 0, bench->world));
    }
    *to_s = fr_now_s();
    return FR_OK;
}

static fr_status record(struct fr_bench *bench, struct fr_power_session *session, int state,
                        int rep, double from_s, double to_s, struct fr_error *err) {
    struct fr_sample_power sample = {.state = state,
                                     .quality = FR_QUALITY_UNAVAILABLE,
                                     .n_ranks = bench->n_node_ranks,
                                     .launch = bench->launch,
                                     .rep = rep,
                                     .time_s = fmax(to_s - from_s, 1e-9)};
    struct fr_text line = {0};
    snprintf(sample.meter, sizeof sample.meter, "none");
    if (session) {
        snprintf(sample.meter, sizeof sample.meter, "%s", fr_power_meter(session)->name);
        sample.power_W =
            fr_power_energy_J(session, from_s, to_s, &sample.quality) / sample.time_s;
    }
    fr_sample_line_power(&sample, &line);
    return fr_sample_put(bench->fd, bench->options.samples, &line, err);
}

/* Windows of each state that a resumed file holds of this launch already; rank 0 tells all. */
static fr_status count_done(struct fr_bench *bench, int done[FR_POWER_STATES],
                            struct fr_error *err) {
    struct fr_samples samples = {0};
    for (int state = 0; state < FR_POWER_STATES; state++) done[state] = 0;
    if (bench->rank == 0 && bench->options.resume &&
        fr_samples_read(bench->options.samples, &samples, err) == FR_OK)
        for (size_t i = 0; i < samples.n_power; i++)
            if (samples.power[i].launch == bench->launch) done[samples.power[i].state]++;
    fr_samples_free(&samples);
    FR_MPI_TRY(MPI_Bcast(done, FR_POWER_STATES, MPI_INT, 0, bench->world));
    return FR_OK;
}

static fr_status measure_with(struct fr_bench *bench, struct fr_power_session *session,
                              double window_s, struct fr_error *err) {
    int done[FR_POWER_STATES];
    FR_TRY(count_done(bench, done, err));
    void *pool = fr_bench_pool(FR_BENCH_POOL_B);
    fr_status status = pool ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "the operands of power");
    for (int state = 0; state < FR_POWER_STATES; state++) {
        if (state == FR_POWER_COMMUNICATING && bench->n_ranks < 2) continue;
        for (int rep = done[state]; rep < (window_s > 0 ? WINDOWS : 1) && status == FR_OK;
             rep++) {
            double from_s = 0, to_s = 0;
            if (window_s > 0)
                status = one_window(bench, state, window_s, pool, &from_s, &to_s, err);
            fr_watch_point(bench->watch, FR_WATCH_BETWEEN);
            if (status == FR_OK && bench->rank == 0)
                status =
                    record(bench, window_s > 0 ? session : NULL, state, rep, from_s, to_s, err);
        }
    }
    free(pool);
    return status;
}

/* Forty readings a window; nothing is measured where that is more than a fifth of the budget. */
static double choose_window_s(const struct fr_bench *bench,
                              const struct fr_power_session *session) {
    double window_s = fmax(0.3, 40 * fr_power_meter(session)->period_s);
    double all_s = window_s * WINDOWS * FR_POWER_STATES;
    if (all_s <= 0.2 * bench->options.budget_s) return window_s;
    window_s *= 0.2 * bench->options.budget_s / all_s;
    return window_s >= 10 * fr_power_meter(session)->period_s ? window_s : 0;
}

static fr_status measure(struct fr_bench *bench, struct fr_error *err) {
    struct fr_power_session *session = NULL;
    struct fr_error why = {.status = FR_OK};
    double window_s = 0;
    int bad_name = 0;
    if (bench->rank == 0) {
        fr_status opened = fr_power_open(bench->options.meter, &session, &why);
        bad_name = opened != FR_OK && bench->options.meter != NULL;
        if (session) window_s = choose_window_s(bench, session);
    }
    FR_MPI_TRY(MPI_Bcast(&window_s, 1, MPI_DOUBLE, 0, bench->world));
    FR_MPI_TRY(MPI_Bcast(&bad_name, 1, MPI_INT, 0, bench->world));
    if (bad_name && bench->rank == 0)
        fprintf(stderr, "forerun-mpi: meter %s: %s\n", bench->options.meter, why.detail);
    fr_status status = measure_with(bench, session, window_s, err);
    fr_power_close(session);
    return status;
}

const struct fr_bench_row fr_bench_power = {
    .name = "power",
    .measures = "rank 0's node asleep, multiplying and communicating, by the meter there is",
    .feeds = "device.power, with its quality",
    .needs_processor = true,
    .measure = measure,
};
