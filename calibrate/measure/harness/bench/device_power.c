/* Power of rank 0's device asleep, in products and in passes over its memory, by its own energy counter. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/journal/journal.h"
#include "calibrate/measure/harness/bench.h"
#include "calibrate/measure/harness/stop.h"
#include "calibrate/measure/harness/watch.h"

/* A counter moves ten times a second, and a device that was busy takes a second and a half to calm down. */
static const double WINDOW_S = 1, LEAST_WINDOW_S = 0.4, CALM_S = 1.5, SHARE = 0.3;
static const int states[] = {FR_POWER_IDLE, FR_POWER_BUSY, FR_POWER_MEMORY};
enum { STATES = sizeof states / sizeof *states, WINDOWS = 1, EDGE = 8192 };

static void sleep_s(double time_s) {
    const struct timespec nap = {.tv_sec = (time_t)time_s,
                                 .tv_nsec = (long)((time_s - floor(time_s)) * 1e9)};
    nanosleep(&nap, NULL);
}

static struct fr_device_task task_of(int state) {
    if (state == FR_POWER_MEMORY)
        return (struct fr_device_task){
            .kind = FR_DEVICE_TRAFFIC, .traffic = FR_TRAFFIC_STREAM, .size_B = 1 << 30};
    return (struct fr_device_task){.kind = FR_DEVICE_PRODUCT,
                                   .dtype = FR_BF16,
                                   .m = EDGE,
                                   .n = EDGE,
                                   .k = EDGE,
                                   .transposed = FR_TRANSPOSED_B};
}

/* Work, or sleep, for @p time_s.  @param[out] calls  how many there were */
static fr_status spend(struct fr_bench *bench, int state, double time_s, double *calls,
                       struct fr_error *err) {
    enum { CHUNK = 16 };
    double end_s = fr_now_s() + time_s, ignored_s = 0;
    for (*calls = 0; fr_now_s() < end_s && !fr_stop_requested(); *calls += CHUNK) {
        if (state == FR_POWER_IDLE)
            sleep_s(0.05);
        else
            FR_TRY(bench->driver->run(bench->device, CHUNK, &ignored_s, err));
        fr_watch_move();
    }
    return FR_OK;
}

static fr_status one_window(struct fr_bench *bench, int state, int rep, double window_s,
                            struct fr_error *err) {
    struct fr_device_state before, after;
    const struct fr_device_task task = task_of(state);
    struct fr_text line = {0};
    double calls = 0;
    if (state != FR_POWER_IDLE) {
        fr_status status = bench->driver->prepare(bench->device, &task, err);
        if (status == FR_ERR_UNSUPPORTED) return FR_OK;
        FR_TRY(status);
    }
    FR_TRY(spend(bench, state, state == FR_POWER_IDLE ? CALM_S : window_s / 2, &calls, err));
    bench->driver->state(bench->device, &before);
    double from_s = fr_now_s();
    FR_TRY(spend(bench, state, window_s, &calls, err));
    bench->driver->state(bench->device, &after);
    struct fr_sample_power sample = {.state = state,
                                     .quality = FR_QUALITY_SAMPLED,
                                     .meter = "nvml",
                                     .n_ranks = 1,
                                     .launch = bench->launch,
                                     .rep = rep,
                                     .time_s = fr_now_s() - from_s};
    sample.power_W = after.energy_J > before.energy_J
                         ? (after.energy_J - before.energy_J) / sample.time_s
                         : after.power_W;
    if (!(sample.power_W > 0)) sample.quality = FR_QUALITY_UNAVAILABLE;
    if (state != FR_POWER_IDLE && calls > 0) sample.call_s = sample.time_s / calls;
    fr_sample_line_power(&sample, &line);
    return fr_journal_put(bench->fd, bench->options.samples, &line, err);
}

/* Ranks other than the first wait meanwhile: theirs are devices of the same kind. */
static fr_status measure_own(struct fr_bench *bench, const int *done, struct fr_error *err) {
    double all_s = STATES * WINDOWS * 1.5 * WINDOW_S + WINDOWS * CALM_S;
    double window_s = WINDOW_S * fmin(1, SHARE * bench->options.budget_s / all_s);
    if (window_s < LEAST_WINDOW_S) return FR_OK;
    bench->prepared = NULL;
    for (int i = 0; i < STATES; i++)
        for (int rep = done[states[i]]; rep < WINDOWS && !fr_stop_requested(); rep++)
            FR_TRY(one_window(bench, states[i], rep, window_s, err));
    return FR_OK;
}

static fr_status measure(struct fr_bench *bench, struct fr_error *err) {
    int done[FR_POWER_STATES];
    FR_TRY(fr_bench_power_done(bench, 0, done, err));
    fr_watch_point(FR_WATCH_BETWEEN);
    fr_status status = bench->rank == 0 ? measure_own(bench, done, err) : FR_OK;
    if (status != FR_OK) return status;
    return fr_mpi_barrier(bench->world, err);
}

const struct fr_bench_row fr_bench_device_power = {
    .name = "device_power",
    .measures = "a GPU asleep, multiplying and copying, by its energy counter (--device)",
    .feeds = "device.power",
    .needs_processor = true,
    .on_device = true,
    .measure = measure,
};
