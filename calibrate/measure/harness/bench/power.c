/* Power of rank 0's node while all its ranks sleep, multiply, stream through memory, communicate, or wait for
 * rank 0; and where a clock may be set, all that at some clocks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/journal/journal.h"
#include "calibrate/measure/harness/bench.h"
#include "calibrate/measure/harness/stop.h"
#include "calibrate/measure/harness/streams.h"
#include "calibrate/measure/harness/watch.h"
#include "calibrate/measure/knob.h"
#include "calibrate/measure/power.h"

enum { WINDOWS = 3, CLOCKS = 6, DIM = 512, CHUNK = 8, ARRAYS = 3 };

/* State of the power's benchmarks: rank 0 has the meter and the knob. */
struct meters {
    struct fr_power_session *session;
    struct fr_knob_session *knob;
    double window_s;
    void *pool;
};

static void stream(float *pool) {
    size_t n = FR_BENCH_POOL_B / sizeof *pool / ARRAYS;
    fr_stream_triad(pool, pool + n, pool + 2 * n, 0.5f, n);
}

static fr_status work(struct fr_bench *bench, int state, void *pool, struct fr_error *err) {
    const struct timespec nap = {.tv_nsec = 10000000};
    int count = fr_bench_count(fmin(1 << 20, bench->options.max_size_B), false, 1);
    if (state == FR_POWER_IDLE || (state == FR_POWER_AWAITING && bench->rank == 0))
        nanosleep(&nap, NULL);
    else if (state == FR_POWER_BUSY)
        fr_bench_multiply(pool, FR_FP32, DIM, DIM, DIM, 0, FR_TRANSPOSED_NONE);
    else if (state == FR_POWER_MEMORY)
        stream(pool);
    else if (state == FR_POWER_COMMUNICATING)
        for (int i = 0; i < CHUNK; i++)
            FR_MPI_TRY(MPI_Allreduce(bench->send, bench->recv, count, MPI_FLOAT, MPI_SUM,
                                     bench->world));
    return FR_OK;
}

static bool together(int state) {
    return state == FR_POWER_COMMUNICATING || state == FR_POWER_AWAITING;
}

struct window {
    int state, rep;
    double clock_Hz, from_s, to_s, calls;
};

/* Rank 0 says when the window is over, which the others wait for where they wait; in all else but collectives
 * a clock of each rank will do. */
static fr_status one_window(struct fr_bench *bench, const struct meters *m, struct window *w,
                            struct fr_error *err) {
    int over = 0;
    FR_TRY(fr_mpi_barrier(bench->world, err));
    w->from_s = fr_now_s();
    while (!over) {
        FR_TRY(work(bench, w->state, m->pool, err));
        w->calls++;
        over = fr_now_s() - w->from_s >= m->window_s || fr_stop_requested();
        if (together(w->state)) FR_MPI_TRY(MPI_Bcast(&over, 1, MPI_INT, 0, bench->world));
    }
    w->to_s = fr_now_s();
    return FR_OK;
}

static fr_status record(struct fr_bench *bench, const struct meters *m, const struct window *w,
                        struct fr_error *err) {
    struct fr_sample_power sample = {.state = w->state,
                                     .quality = FR_QUALITY_UNAVAILABLE,
                                     .n_ranks = bench->n_node_ranks,
                                     .launch = bench->launch,
                                     .rep = w->rep,
                                     .clock_Hz = w->clock_Hz,
                                     .time_s = fmax(w->to_s - w->from_s, 1e-9)};
    struct fr_text line = {0};
    snprintf(sample.meter, sizeof sample.meter, "none");
    if (m->session && m->window_s > 0) {
        snprintf(sample.meter, sizeof sample.meter, "%s", fr_power_meter(m->session)->name);
        sample.power_W =
            fr_power_energy_J(m->session, w->from_s, w->to_s, &sample.quality) / sample.time_s;
        if (w->state == FR_POWER_BUSY || w->state == FR_POWER_MEMORY)
            sample.call_s = sample.time_s / w->calls;
    }
    fr_sample_line_power(&sample, &line);
    return fr_journal_put(bench->fd, bench->options.samples, &line, err);
}

fr_status fr_bench_power_done(struct fr_bench *bench, double clock_Hz,
                              int done[FR_POWER_STATES], struct fr_error *err) {
    struct fr_samples samples = {0};
    for (int state = 0; state < FR_POWER_STATES; state++) done[state] = 0;
    if (bench->rank == 0 && bench->options.resume &&
        fr_samples_read(bench->options.samples, &samples, err) == FR_OK)
        for (size_t i = 0; i < samples.n_power; i++)
            if (samples.power[i].launch == bench->launch &&
                samples.power[i].clock_Hz == clock_Hz)
                done[samples.power[i].state]++;
    fr_samples_free(&samples);
    FR_MPI_TRY(MPI_Bcast(done, FR_POWER_STATES, MPI_INT, 0, bench->world));
    return FR_OK;
}

/* Those that a prediction needs, and the others once. */
static int windows_of(int state, int windows) {
    return state <= FR_POWER_COMMUNICATING || windows < 1 ? windows : 1;
}

/* Every state, @p windows times. */
static fr_status measure_at(struct fr_bench *bench, const struct meters *m, double clock_Hz,
                            int windows, struct fr_error *err) {
    int done[FR_POWER_STATES];
    FR_TRY(fr_bench_power_done(bench, clock_Hz, done, err));
    for (int state = 0; state < FR_POWER_STATES; state++) {
        if (together(state) && bench->n_ranks < 2) continue;
        for (int rep = done[state]; rep < windows_of(state, windows); rep++) {
            struct window w = {.state = state, .rep = rep, .clock_Hz = clock_Hz};
            if (m->window_s > 0) FR_TRY(one_window(bench, m, &w, err));
            fr_watch_point(FR_WATCH_BETWEEN);
            if (bench->rank == 0) FR_TRY(record(bench, m, &w, err));
        }
    }
    return FR_OK;
}

static void say(const struct fr_error *why) {
    fprintf(stderr, "forerun-mpi: %s%s%s\n", why->where, *why->where ? ": " : "", why->detail);
}

/* The same at some clocks, ascending; rank 0 sets each, and where one is not taken no more are. */
static fr_status measure_clocks(struct fr_bench *bench, const struct meters *m,
                                struct fr_error *err) {
    double clock_Hz[CLOCKS] = {0};
    int n = m->knob ? fr_knob_clocks(m->knob, CLOCKS, clock_Hz) : 0;
    FR_MPI_TRY(MPI_Bcast(&n, 1, MPI_INT, 0, bench->world));
    FR_MPI_TRY(MPI_Bcast(clock_Hz, CLOCKS, MPI_DOUBLE, 0, bench->world));
    for (int i = 0; i < n; i++) {
        struct fr_error why;
        int go_on = !fr_stop_requested();
        if (bench->rank == 0 && go_on && fr_knob_set(m->knob, clock_Hz[i], &why) != FR_OK) {
            say(&why);
            go_on = 0;
        }
        FR_MPI_TRY(MPI_Bcast(&go_on, 1, MPI_INT, 0, bench->world));
        if (!go_on) break;
        FR_TRY(measure_at(bench, m, clock_Hz[i], 1, err));
    }
    return FR_OK;
}

static fr_status measure_with(struct fr_bench *bench, struct meters *m, struct fr_error *err) {
    m->pool = fr_bench_pool(FR_BENCH_POOL_B);
    fr_status status =
        m->pool ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "the operands of power");
    if (status == FR_OK) status = measure_at(bench, m, 0, m->window_s > 0 ? WINDOWS : 1, err);
    if (status == FR_OK) status = measure_clocks(bench, m, err);
    free(m->pool);
    return status;
}

/* Forty readings a window; nothing is measured where that is more than a fifth of the budget. */
static double choose_window_s(const struct fr_bench *bench,
                              const struct fr_power_session *session) {
    double window_s = fmax(0.3, 40 * fr_power_meter(session)->period_s);
    double all_s = 0;
    for (int state = 0; state < FR_POWER_STATES; state++)
        all_s += window_s * windows_of(state, WINDOWS);
    if (all_s <= 0.2 * bench->options.budget_s) return window_s;
    window_s *= 0.2 * bench->options.budget_s / all_s;
    return window_s >= 10 * fr_power_meter(session)->period_s ? window_s : 0;
}

/* Rank 0's.  @return whether a meter that was named cannot be had */
static int open_meters(const struct fr_bench *bench, struct meters *m, struct fr_error *why) {
    fr_status opened = fr_power_open(bench->options.meter, &m->session, why);
    struct fr_error clocks;
    fr_fail(&clocks, FR_ERR_UNSUPPORTED, "--clocks",
            m->session ? "the budget leaves the meter no time, so no clock is set"
                       : "no power meter works here, so no clock is set");
    if (m->session) m->window_s = choose_window_s(bench, m->session);
    if (!bench->options.clocks) return opened != FR_OK && bench->options.meter != NULL;
    if (!(m->window_s > 0) || fr_knob_open(bench->options.clocks, &m->knob, &clocks) != FR_OK)
        say(&clocks);
    return opened != FR_OK && bench->options.meter != NULL;
}

static fr_status measure(struct fr_bench *bench, struct fr_error *err) {
    struct meters m = {.session = NULL};
    struct fr_error why = {.status = FR_OK};
    int bad_name = bench->rank == 0 ? open_meters(bench, &m, &why) : 0;
    FR_MPI_TRY(MPI_Bcast(&m.window_s, 1, MPI_DOUBLE, 0, bench->world));
    FR_MPI_TRY(MPI_Bcast(&bad_name, 1, MPI_INT, 0, bench->world));
    if (bad_name && bench->rank == 0)
        fprintf(stderr, "forerun-mpi: meter %s: %s\n", bench->options.meter, why.detail);
    fr_status status = measure_with(bench, &m, err);
    if (fr_knob_close(m.knob, &why) != FR_OK) say(&why);
    fr_power_close(m.session);
    return status;
}

const struct fr_bench_row fr_bench_power = {
    .name = "power",
    .measures = "rank 0's node asleep, at work and waiting, by the meter there is",
    .feeds = "device.power, with its quality; with --clocks device.clock",
    .needs_processor = true,
    .measure = measure,
};
