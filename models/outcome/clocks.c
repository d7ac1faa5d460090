#include "models/outcome/clocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/outcome/iteration.h"
#include "models/outcome/pipeline_ops.h"
#include "models/price/clock.h"

/* Prices of so many settings are asked for at most while clocks are lowered. */
static const double PRICES_MAX = 40000;

/* Up to so many settings all are tried. */
static const double SETTINGS_MAX = 5000;

struct setting {
    double time_s, energy_J;
};

struct search {
    const struct fr_job *job;
    const struct fr_device *device;
    struct fr_pipeline pipeline;
    struct fr_stage *full; /* [pp], at the highest clock */
    struct fr_pipeline_times times;
    struct fr_outcome out;
    double deadline_s;
    int n_clocks, stages;
    int *clock; /* [pp], of the device's, from the lowest */
    fr_status status;
};

static void set_stage(struct search *s, int32_t i, int clock) {
    s->clock[i] = clock;
    s->pipeline.stage[i] = s->full[i];
    fr_clock_set(s->device, fr_device_clock_at(&s->device->clock, clock),
                 &s->pipeline.stage[i]);
}

static struct setting price(struct search *s) {
    struct fr_pipeline *p = &s->pipeline;
    fr_status status = fr_pipeline_run(p, FR_WITH_ALL, &s->times, NULL);
    if (s->status == FR_OK) s->status = status;
    if (status != FR_OK) return (struct setting){INFINITY, INFINITY};
    s->out.time_s = s->times.makespan_s + s->device->fixed_s;
    fr_pipeline_fill_energy(s->job, p, p->args.micro_batches, &s->out);
    return (struct setting){s->out.time_s, s->out.energy_J};
}

static struct setting price_with(struct search *s, int32_t i, int clock) {
    int before = s->clock[i];
    set_stage(s, i, clock);
    struct setting now = price(s);
    set_stage(s, i, before);
    return now;
}

static bool allowed(const struct search *s, const struct setting *x) {
    return x->time_s <= s->deadline_s * (1 + 1e-9);
}

static bool better(const struct setting *a, const struct setting *b) {
    return a->energy_J < b->energy_J * (1 - 1e-12);
}

/* Lower clocks by @p step, always where it saves most for the time it costs. */
static void lower(struct search *s, struct setting *now, int step) {
    for (;;) {
        int32_t best = -1;
        double most = 0;
        struct setting then = *now;
        for (int32_t i = 0; i < s->stages; i++) {
            if (s->clock[i] < step) continue;
            struct setting x = price_with(s, i, s->clock[i] - step);
            double saved_J = now->energy_J - x.energy_J, cost_s = x.time_s - now->time_s;
            if (!allowed(s, &x) || !better(&x, now)) continue;
            double gain = saved_J / fmax(cost_s, 1e-9 * now->time_s);
            if (gain <= most) continue;
            most = gain;
            best = i;
            then = x;
        }
        if (best < 0) return;
        set_stage(s, best, s->clock[best] - step);
        *now = then;
    }
}

/* Any clock of one stage. */
static bool move_one(struct search *s, struct setting *now) {
    bool moved = false;
    for (int32_t i = 0; i < s->stages; i++) {
        int best = s->clock[i];
        for (int c = 0; c < s->n_clocks; c++) {
            struct setting x = price_with(s, i, c);
            if (!allowed(s, &x) || !better(&x, now)) continue;
            *now = x;
            best = c;
        }
        moved |= best != s->clock[i];
        set_stage(s, i, best);
    }
    return moved;
}

/* Raise clocks step by step until the time is kept, always where most time is won for the energy that it
 * costs.  @return false: no clock keeps it */
static bool raise_clocks(struct search *s, struct setting *now) {
    while (!allowed(s, now)) {
        int32_t best = -1;
        double most = 0;
        struct setting then = *now;
        for (int32_t i = 0; i < s->stages; i++) {
            if (s->clock[i] + 1 >= s->n_clocks) continue;
            struct setting x = price_with(s, i, s->clock[i] + 1);
            double won_s = now->time_s - x.time_s, cost_J = x.energy_J - now->energy_J;
            double gain = won_s / fmax(cost_J, 1e-9 * now->energy_J);
            if (best >= 0 && gain <= most) continue;
            most = gain;
            best = i;
            then = x;
        }
        if (best < 0) return false;
        set_stage(s, best, s->clock[best] + 1);
        *now = then;
    }
    return true;
}

/* Stages @p i and @p k at any clocks at once. */
static bool move_two(struct search *s, int32_t i, int32_t k, struct setting *now) {
    int at[2] = {s->clock[i], s->clock[k]}, best[2] = {at[0], at[1]};
    for (int c = 0; c < s->n_clocks; c++) {
        set_stage(s, i, c);
        for (int d = 0; d < s->n_clocks; d++) {
            struct setting x = price_with(s, k, d);
            if (!allowed(s, &x) || !better(&x, now)) continue;
            *now = x;
            best[0] = c, best[1] = d;
        }
    }
    set_stage(s, i, best[0]);
    set_stage(s, k, best[1]);
    return best[0] != at[0] || best[1] != at[1];
}

static bool move_pair(struct search *s, struct setting *now) {
    for (int32_t i = 0; i < s->stages; i++)
        for (int32_t k = i + 1; k < s->stages; k++)
            if (move_two(s, i, k, now)) return true;
    return false;
}

/* Moves that are affordable: single clocks, and pairs where there are few. */
static void polish(struct search *s, struct setting *now) {
    double n = s->n_clocks, pairs = n * n * s->stages * (s->stages - 1) / 2;
    for (int round = 0; round < 20; round++)
        if (!move_one(s, now) && !(pairs <= PRICES_MAX / 4 && move_pair(s, now))) break;
}

static void set_all(struct search *s, int clock) {
    for (int32_t i = 0; i < s->stages; i++) set_stage(s, i, clock);
}

/* From the highest clocks downwards. */
static struct setting from_above(struct search *s) {
    double steps = (double)s->stages * s->stages * s->n_clocks;
    int stride = 1;
    set_all(s, s->n_clocks - 1);
    struct setting now = price(s);
    while (steps / stride > PRICES_MAX && stride < s->n_clocks) stride *= 2;
    bool few = stride == 1;
    for (; stride > 0; stride /= 2) lower(s, &now, stride);
    if (few) polish(s, &now);
    return now;
}

/* From the clocks of least energy upwards. */
static struct setting from_below(struct search *s) {
    double deadline_s = s->deadline_s;
    set_all(s, s->n_clocks - 1);
    struct setting now = price(s);
    s->deadline_s = INFINITY;
    move_one(s, &now);
    s->deadline_s = deadline_s;
    if (!raise_clocks(s, &now)) return (struct setting){INFINITY, INFINITY};
    polish(s, &now);
    return now;
}

/* All settings, where they are few. */
static struct setting from_all(struct search *s, double settings) {
    struct setting best = {INFINITY, INFINITY};
    int64_t number = 0;
    for (int64_t k = 0; k < (int64_t)settings; k++) {
        int64_t left = k;
        for (int32_t i = 0; i < s->stages; i++, left /= s->n_clocks)
            set_stage(s, i, (int)(left % s->n_clocks));
        struct setting x = price(s);
        if (!allowed(s, &x) || !better(&x, &best)) continue;
        best = x;
        number = k;
    }
    for (int32_t i = 0; i < s->stages; i++, number /= s->n_clocks)
        set_stage(s, i, (int)(number % s->n_clocks));
    return best;
}

static void take(const struct search *s, int64_t *clock_Hz) {
    for (int32_t i = 0; i < s->stages; i++)
        clock_Hz[i] = llround(fr_device_clock_at(&s->device->clock, s->clock[i]));
}

/* The best of both; of many stages from above alone. */
static void descend(struct search *s, int64_t *clock_Hz) {
    double settings = pow(s->n_clocks, s->stages);
    bool many = (double)s->stages * s->stages * s->n_clocks > PRICES_MAX;
    if (settings <= SETTINGS_MAX) {
        from_all(s, settings);
        take(s, clock_Hz);
        return;
    }
    struct setting above = from_above(s);
    take(s, clock_Hz);
    if (many) return;
    struct setting below = from_below(s);
    if (better(&below, &above)) take(s, clock_Hz);
}

static fr_status search_open(struct search *s, const struct fr_plan *plan, double slowdown,
                             struct fr_error *err) {
    struct fr_plan full = *plan;
    uint32_t extrapolated = 0;
    size_t n = (size_t)plan->pp;
    full.clock_Hz = full.cap_W = NULL;
    full.n_clock_Hz = full.n_cap_W = 0;
    full.clock_slack = false;
    fr_pipeline_refuse(&full, 0, &s->out);
    FR_TRY(fr_pipeline_make(s->job, &full, &s->pipeline, &extrapolated, err));
    s->stages = (int)plan->pp;
    s->full = fr_malloc(n, sizeof *s->full);
    s->clock = fr_calloc(n, sizeof *s->clock);
    if (!s->full || !s->clock)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the pipeline does not fit in memory");
    for (int i = 0; i < s->stages; i++)
        s->pipeline.stage[i].repeats = false; /* each its clock */
    memcpy(s->full, s->pipeline.stage, n * sizeof *s->full);
    s->n_clocks = fr_device_clocks(&s->device->clock);
    s->deadline_s = (1 + slowdown) * price(s).time_s;
    return s->status;
}

fr_status fr_clocks_choose(const struct fr_job *job, const struct fr_plan *plan,
                           double slowdown, int64_t *clock_Hz, struct fr_error *err) {
    struct search s = {.job = job, .device = &job->cluster.device};
    if (!s.device->clock.known || !s.device->power.known || plan->duplex ||
        !fr_job_is_pipeline(job, plan))
        return fr_fail(err, FR_ERR_UNSUPPORTED, "clock",
                       "needs a device that states its clock and power, and a pipeline of "
                       "asynchronous messages");
    fr_status status = search_open(&s, plan, slowdown, err);
    if (status == FR_OK) {
        descend(&s, clock_Hz);
        status = s.status;
    }
    fr_pipeline_free(&s.pipeline);
    free(s.full);
    free(s.clock);
    return status;
}

/* Mean clock of each stage over its passes, weighted by their times at the highest clock. */
static fr_status mean_clocks(const struct fr_job *job, const struct fr_plan *plan,
                             double *clock_Hz, struct fr_error *err) {
    struct fr_plan full = *plan;
    struct fr_pipeline p = {0};
    uint32_t extrapolated = 0;
    int16_t *clock = NULL;
    FR_TRY(fr_pipeline_ops_choose(job, plan, 0, &clock, err));
    full.clock_slack = false;
    fr_status status = fr_pipeline_make(job, &full, &p, &extrapolated, err);
    for (int32_t i = 0; status == FR_OK && i < p.args.stages; i++) {
        double sum_s = 0, sum = 0;
        for (int64_t x = i * p.n_slots; x < (i + 1) * p.n_slots; x++) {
            double pass_s = fr_clock_pass(&p, i, &p.slots[x]).compute_s;
            sum_s += pass_s;
            sum += pass_s * fr_device_clock_at(&job->cluster.device.clock, clock[x]);
        }
        clock_Hz[i] = sum_s > 0 ? sum / sum_s : 0;
    }
    fr_pipeline_free(&p);
    free(clock);
    return status;
}

fr_status fr_clocks_of(const struct fr_job *job, const struct fr_plan *plan, double *clock_Hz,
                       struct fr_error *err) {
    int64_t *chosen = NULL;
    if (plan->clock_slack && mean_clocks(job, plan, clock_Hz, NULL) == FR_OK) return FR_OK;
    if (plan->clock_slack) {
        chosen = fr_calloc((size_t)plan->pp, sizeof *chosen);
        if (!chosen) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
        fr_status status = fr_clocks_choose(job, plan, 0, chosen, err);
        if (status != FR_OK) {
            free(chosen);
            return status;
        }
    }
    struct fr_plan as = *plan;
    if (chosen) as.clock_Hz = chosen, as.n_clock_Hz = (int)plan->pp;
    for (int32_t i = 0; i < plan->pp; i++)
        clock_Hz[i] = fr_clock_of(&job->cluster.device, &as, i);
    free(chosen);
    return FR_OK;
}
