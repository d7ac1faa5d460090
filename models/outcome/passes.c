#include "models/outcome/passes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/min_cut.h"
#include "models/outcome/recurrence.h"
#include "models/price/clock.h"

/* Steps of the times moved, from and to, as powers of two of the iteration. */
enum { STEP_FROM = 5, STEP_TO = 16, MOVES_MAX = 400 };

static const double EXACT = 1e-9;

/* e(d) of the passes of one stage and kind: how much longer and what it draws, from the highest clock down
 * to that of least energy; the corners of its lower hull. */
struct curve {
    int n;
    double *longer_s, *energy_J;
};

struct passes {
    const struct fr_device *device;
    struct fr_pipeline *p;
    int32_t n, n_clocks; /* passes: slots of all stages, stage by stage */
    double *full_s;      /* [n] at the highest clock */
    double *at_s;        /* [2 n]: start and end of each; once they have clocks, the earliest */
    double *late_s;      /* [n]: latest end */
    double *lag_s;       /* [n]: of the message it reads */
    int32_t *needs;      /* [n]: the pass whose result it reads, or -1 */
    int32_t *order;      /* [n]: each behind what it waits for */
    int16_t *clock;      /* [n] */
    bool *pinned;        /* [n]: to the highest clock */
    struct curve *curve; /* [P][4], and what they are made of */
    double *corners, deadline_s;
    double *tail_s; /* [P]: behind a stage's last pass */
    struct fr_min_cut cut;
    bool *side;
};

static int32_t stage_of(const struct passes *s, int32_t k) {
    return (int32_t)(k / s->p->n_slots);
}

/* A weight gradient that is done with its backward pass is none. */
static const struct curve *curve_of(const struct passes *s, int32_t k) {
    const struct fr_slot *slot = &s->p->slots[k];
    return &s->curve[4 * stage_of(s, k) + (slot->whole ? 3 : slot->kind)];
}

/* ---- what clocks do to a pass ------------------------------------------------------------------ */

static double clock_Hz(const struct passes *s, int c) {
    return fr_device_clock_at(&s->device->clock, c);
}

/* Corners of the lower hull, dearest first: what lies above a line of two others is left out. */
static void add_corner(struct curve *c, double longer_s, double energy_J) {
    while (c->n > 1) {
        double *x = c->longer_s, *y = c->energy_J;
        int b = c->n - 1, a = b - 1;
        if ((y[b] - y[a]) * (longer_s - x[a]) < (energy_J - y[a]) * (x[b] - x[a])) break;
        c->n--;
    }
    c->longer_s[c->n] = longer_s;
    c->energy_J[c->n++] = energy_J;
}

static void make_curve(const struct passes *s, const struct fr_clocked_pass *pass,
                       struct curve *c) {
    double least_J = INFINITY;
    c->n = 0;
    for (int k = s->n_clocks - 1; k >= 0; k--) {
        double energy_J = fr_clocked_J(s->device, pass, clock_Hz(s, k));
        if (energy_J >= least_J || (c->n > 0 && !(pass->compute_s > 0))) break;
        least_J = energy_J;
        add_corner(c, fr_clocked_longer_s(s->device, pass, clock_Hz(s, k)), energy_J);
    }
}

static void make_curves(struct passes *s) {
    for (int32_t i = 0; i < s->p->args.stages; i++)
        for (int kind = 0; kind < 4; kind++) {
            const struct fr_slot slot = {.kind = (uint8_t)(kind < 3 ? kind : FR_SLOT_BACKWARD),
                                         .whole = kind == 3};
            struct curve *c = &s->curve[4 * i + kind];
            struct fr_clocked_pass pass = fr_clock_pass(s->p, i, &slot);
            c->longer_s = s->corners + (4 * i + kind) * 2 * s->n_clocks;
            c->energy_J = c->longer_s + s->n_clocks;
            make_curve(s, &pass, c);
        }
}

/* Energy of a pass that may take so much longer; none where it may not even take as long. */
static double energy_J(const struct curve *c, double longer_s, double exact_s) {
    int b = 1;
    if (longer_s < -exact_s) return INFINITY;
    if (longer_s >= c->longer_s[c->n - 1]) return c->energy_J[c->n - 1];
    while (longer_s > c->longer_s[b]) b++;
    double share =
        fmax(0, longer_s - c->longer_s[b - 1]) / (c->longer_s[b] - c->longer_s[b - 1]);
    return c->energy_J[b - 1] + share * (c->energy_J[b] - c->energy_J[b - 1]);
}

/* ---- the event graph --------------------------------------------------------------------------- */

/* Where a pass stands in a table of all: kind, virtual stage, micro-batch. */
static int64_t place_of(const struct passes *s, int kind, int64_t at, int32_t micro) {
    const struct fr_schedule_args *a = &s->p->args;
    return (kind * (int64_t)a->stages * a->chunks + at) * a->micro_batches + micro;
}

static int64_t virtual_of(const struct passes *s, int32_t k) {
    return fr_schedule_virtual(s->p->schedule, s->p->args.stages, stage_of(s, k),
                               s->p->slots[k].chunk);
}

/* The place of the pass whose result pass @p k reads; below 0: it reads samples. */
static int64_t source_of(const struct passes *s, int32_t k) {
    const struct fr_slot *x = &s->p->slots[k];
    int64_t at = virtual_of(s, k), last = (int64_t)s->p->args.stages * s->p->args.chunks - 1;
    if (x->kind == FR_SLOT_WEIGHT) return place_of(s, FR_SLOT_BACKWARD, at, x->micro);
    if (x->kind == FR_SLOT_FORWARD)
        return at == 0 ? -1 : place_of(s, FR_SLOT_FORWARD, at - 1, x->micro);
    return at == last ? place_of(s, FR_SLOT_FORWARD, at, x->micro)
                      : place_of(s, FR_SLOT_BACKWARD, at + 1, x->micro);
}

/* Of the message with which @p x on stage @p i gets its input. */
static double lag_of(const struct passes *s, int32_t i, const struct fr_slot *x) {
    const struct fr_pipeline *p = s->p;
    int64_t at = fr_schedule_virtual(p->schedule, p->args.stages, i, x->chunk),
            last = (int64_t)p->args.stages * p->args.chunks - 1;
    if (x->kind == FR_SLOT_WEIGHT || (x->kind == FR_SLOT_BACKWARD && at == last)) return 0;
    int64_t lower = x->kind == FR_SLOT_FORWARD ? at - 1 : at;
    int32_t across = fr_pipeline_boundary(p, lower);
    if (across < 0) return 0;
    const struct fr_stage *stage = &p->stage[across];
    if (!fr_pipeline_reads_small(p, i, x)) return stage->message_s;
    return x->kind == FR_SLOT_FORWARD ? stage->small_forward_s : stage->small_message_s;
}

static fr_status link_passes(struct passes *s, struct fr_error *err) {
    const struct fr_pipeline *p = s->p;
    size_t all = 3 * (size_t)(p->args.stages * p->args.chunks) * (size_t)p->args.micro_batches;
    int32_t *where = fr_malloc(all, sizeof *where);
    if (!where) return fr_fail(err, FR_ERR_NOMEM, NULL, "the passes do not fit in memory");
    for (int32_t k = 0; k < s->n; k++)
        where[place_of(s, p->slots[k].kind, virtual_of(s, k), p->slots[k].micro)] = k;
    for (int32_t k = 0; k < s->n; k++) {
        int64_t from = source_of(s, k);
        s->needs[k] = from < 0 ? -1 : where[from];
        s->lag_s[k] = from < 0 ? 0 : lag_of(s, stage_of(s, k), &p->slots[k]);
    }
    free(where);
    return FR_OK;
}

/* Round and round the stages, each as far as it gets. @return false: some never get anywhere */
static bool order_passes(struct passes *s) {
    int32_t done = 0, before = -1, n_slots = (int32_t)s->p->n_slots;
    int16_t *over = s->clock; /* not needed yet */
    memset(over, 0, (size_t)s->n * sizeof *over);
    while (done < s->n && done > before) {
        before = done;
        for (int32_t i = 0; i < s->p->args.stages; i++)
            for (int32_t k = i * n_slots; k < (i + 1) * n_slots; k++) {
                if (over[k]) continue;
                if (s->needs[k] >= 0 && !over[s->needs[k]]) break;
                over[k] = 1;
                s->order[done++] = k;
            }
    }
    return done == s->n;
}

/* The pass that makes the last of a chunk's gradients sends them in buckets beside itself. */
static void pin(struct passes *s) {
    const struct fr_pipeline *p = s->p;
    for (int32_t i = 0; i < p->args.stages; i++) {
        if (!p->stage[i].buckets) continue;
        for (int32_t c = 0; c < p->args.chunks; c++)
            for (int64_t x = p->n_slots; x-- > 0;) {
                const struct fr_slot *slot = &p->slots[i * p->n_slots + x];
                bool makes = slot->whole
                                 ? slot->kind == FR_SLOT_BACKWARD
                                 : slot->kind ==
                                       (p->splits_backward ? FR_SLOT_WEIGHT : FR_SLOT_BACKWARD);
                if (slot->chunk != c || !makes) continue;
                s->pinned[i * p->n_slots + x] = true;
                break;
            }
    }
}

/* Behind the last pass: gradients, the embedding's, the optimiser. */
static void make_tails(struct passes *s) {
    const struct fr_pipeline *p = s->p;
    int32_t last = p->args.stages - 1;
    double ends_s = 0;
    for (int32_t i = 0; i <= last; i++) {
        const struct fr_stage *stage = &p->stage[i];
        double step_s = stage->optimizer_s + stage->offload_s + stage->gather_s,
               d_s = s->full_s[(i + 1) * p->n_slots - 1], n = stage->buckets;
        if (i == 0 || i == last) ends_s = fmax(ends_s, step_s + p->embedding_s);
        s->tail_s[i] =
            stage->gradient_codec_s +
            (stage->buckets ? fmax(d_s / n - d_s + n * stage->bucket_s, stage->bucket_s)
                            : stage->gradient_s);
        if ((i > 0 && i < last) || !(p->embedding_s > 0)) s->tail_s[i] += step_s;
    }
    if (!(p->embedding_s > 0)) return;
    s->tail_s[0] += ends_s;
    if (last > 0) s->tail_s[last] += ends_s;
}

/* ---- earliest and latest ----------------------------------------------------------------------- */

static double duration_s(const struct passes *s, int32_t k) {
    const struct fr_slot *slot = &s->p->slots[k];
    if (s->clock[k] == s->n_clocks - 1) return s->full_s[k];
    struct fr_clocked_pass pass = fr_clock_pass(s->p, stage_of(s, k), slot);
    return s->full_s[k] + fr_clocked_longer_s(s->device, &pass, clock_Hz(s, s->clock[k]));
}

/* @return when all is over, tails counted */
static double go_early(const struct passes *s, double *at_s) {
    double over_s = 0;
    for (int32_t j = 0; j < s->n; j++) {
        int32_t k = s->order[j], x = (int32_t)(k % s->p->n_slots);
        double start_s = x > 0 ? at_s[2 * (k - 1) + 1] : 0;
        if (s->needs[k] >= 0) start_s = fmax(start_s, at_s[2 * s->needs[k] + 1] + s->lag_s[k]);
        at_s[2 * k] = start_s;
        at_s[2 * k + 1] = start_s + duration_s(s, k);
        if (x == s->p->n_slots - 1)
            over_s = fmax(over_s, at_s[2 * k + 1] + s->tail_s[stage_of(s, k)]);
    }
    return over_s;
}

static void go_late(const struct passes *s, double *late_s) {
    for (int32_t k = 0; k < s->n; k++) {
        bool last = k % s->p->n_slots == s->p->n_slots - 1;
        late_s[k] = last ? s->deadline_s - s->tail_s[stage_of(s, k)] : INFINITY;
    }
    for (int32_t j = s->n; j-- > 0;) {
        int32_t k = s->order[j];
        double start_s = late_s[k] - duration_s(s, k);
        if (k % s->p->n_slots > 0) late_s[k - 1] = fmin(late_s[k - 1], start_s);
        if (s->needs[k] >= 0)
            late_s[s->needs[k]] = fmin(late_s[s->needs[k]], start_s - s->lag_s[k]);
    }
}

/* ---- the relaxation ---------------------------------------------------------------------------- */

/* Times v and w = v + t, of which t longer or shorter by a step changes the energy by @p more and @p less:
 * on the moved side or not, up or down. */
static void add_difference(struct passes *s, int32_t v, int32_t w, double more, double less,
                           bool up) {
    int32_t a = up ? v : w, b = up ? w : v;
    fr_min_cut_cost(&s->cut, b, more);
    fr_min_cut_cost(&s->cut, a, -more);
    if (more + less > 0) fr_min_cut_edge_add(&s->cut, a, b, more + less);
}

static void add_bound(struct passes *s, int32_t v, int32_t w, double room_s, double step_s,
                      bool up) {
    if (room_s < step_s - EXACT * s->deadline_s) add_difference(s, v, w, 0, INFINITY, up);
}

static void add_pass(struct passes *s, int32_t k, double step_s, bool up) {
    const struct curve *c = curve_of(s, k);
    double exact_s = EXACT * s->deadline_s, *at_s = s->at_s;
    double longer_s = at_s[2 * k + 1] - at_s[2 * k] - s->full_s[k];
    if (s->pinned[k] || c->n < 2) {
        add_bound(s, 2 * k, 2 * k + 1, longer_s, step_s, up);
    } else {
        double now_J = energy_J(c, longer_s, exact_s);
        add_difference(s, 2 * k, 2 * k + 1, energy_J(c, longer_s + step_s, exact_s) - now_J,
                       energy_J(c, longer_s - step_s, exact_s) - now_J, up);
    }
    if (k % s->p->n_slots > 0)
        add_bound(s, 2 * (k - 1) + 1, 2 * k, at_s[2 * k] - at_s[2 * (k - 1) + 1], step_s, up);
    else if (!up && at_s[2 * k] < step_s - exact_s)
        fr_min_cut_cost(&s->cut, 2 * k, INFINITY);
    if (s->needs[k] >= 0)
        add_bound(s, 2 * s->needs[k] + 1, 2 * k,
                  at_s[2 * k] - at_s[2 * s->needs[k] + 1] - s->lag_s[k], step_s, up);
    if (up && k % s->p->n_slots == s->p->n_slots - 1 &&
        at_s[2 * k + 1] + s->tail_s[stage_of(s, k)] + step_s > s->deadline_s + exact_s)
        fr_min_cut_cost(&s->cut, 2 * k + 1, INFINITY);
}

/* Move the set of times by one step that lowers the energy most. @return did any? */
static bool move(struct passes *s, double step_s, bool up) {
    double all_J = 0;
    fr_min_cut_clear(&s->cut);
    for (int32_t k = 0; k < s->n; k++) {
        add_pass(s, k, step_s, up);
        all_J += curve_of(s, k)->n > 1 ? fabs(curve_of(s, k)->energy_J[0]) : 0;
    }
    if (fr_min_cut_solve(&s->cut, s->side) >= -EXACT * all_J) return false;
    for (int32_t v = 0; v < 2 * s->n; v++)
        if (s->side[v]) s->at_s[v] += up ? step_s : -step_s;
    return true;
}

static void relax(struct passes *s) {
    for (int k = STEP_FROM; k <= STEP_TO; k++) {
        double step_s = ldexp(s->deadline_s, -k);
        for (int moves = 0; moves < MOVES_MAX; moves++) {
            bool up = move(s, step_s, true), down = move(s, step_s, false);
            if (!up && !down) break;
        }
    }
}

/* ---- to clocks --------------------------------------------------------------------------------- */

/* The lowest clock of less energy that is done in the time; from the highest down energy falls, then rises. */
static void round_up(struct passes *s) {
    double exact_s = EXACT * s->deadline_s;
    for (int32_t k = 0; k < s->n; k++) {
        struct fr_clocked_pass pass = fr_clock_pass(s->p, stage_of(s, k), &s->p->slots[k]);
        double longer_s = s->at_s[2 * k + 1] - s->at_s[2 * k] - s->full_s[k],
               last_J = fr_clocked_J(s->device, &pass, clock_Hz(s, s->n_clocks - 1));
        s->clock[k] = (int16_t)(s->n_clocks - 1);
        if (s->pinned[k] || !(pass.compute_s > 0)) continue;
        for (int c = s->n_clocks - 2; c >= 0; c--) {
            double now_J = fr_clocked_J(s->device, &pass, clock_Hz(s, c));
            if (fr_clocked_longer_s(s->device, &pass, clock_Hz(s, c)) > longer_s + exact_s)
                break;
            if (now_J >= last_J) break;
            last_J = now_J;
            s->clock[k] = (int16_t)c;
        }
    }
}

/* Energy saved and time taken by the next lower clock of pass @p k. @return false: nothing is saved */
static bool next_lower(const struct passes *s, int32_t k, double *saved_J, double *longer_s) {
    if (s->pinned[k] || s->clock[k] == 0) return false;
    struct fr_clocked_pass pass = fr_clock_pass(s->p, stage_of(s, k), &s->p->slots[k]);
    double now_Hz = clock_Hz(s, s->clock[k]), then_Hz = clock_Hz(s, s->clock[k] - 1);
    *saved_J = fr_clocked_J(s->device, &pass, now_Hz) - fr_clocked_J(s->device, &pass, then_Hz);
    *longer_s = fr_clocked_longer_s(s->device, &pass, then_Hz) -
                fr_clocked_longer_s(s->device, &pass, now_Hz);
    return *saved_J > 0 && *longer_s > 0;
}

/* What rounding left: one clock lower where most is saved for the time, as long as some pass has room. */
static void reclaim(struct passes *s) {
    double exact_s = EXACT * s->deadline_s;
    for (int32_t left = 4 * s->n; left > 0; left--) {
        double most = 0, saved_J, longer_s;
        int32_t best = -1;
        go_early(s, s->at_s);
        go_late(s, s->late_s);
        for (int32_t k = 0; k < s->n; k++) {
            if (!next_lower(s, k, &saved_J, &longer_s)) continue;
            if (longer_s > s->late_s[k] - s->at_s[2 * k + 1] + exact_s) continue;
            if (saved_J / longer_s <= most) continue;
            most = saved_J / longer_s;
            best = k;
        }
        if (best < 0) return;
        s->clock[best]--;
    }
}

/* ---- all of it --------------------------------------------------------------------------------- */

static fr_status make_room(struct passes *s, struct fr_error *err) {
    size_t n = (size_t)s->n, stages = (size_t)s->p->args.stages;
    s->full_s = fr_calloc(5 * n + stages, sizeof *s->full_s);
    s->needs = fr_calloc(2 * n, sizeof *s->needs);
    s->clock = fr_calloc(n, sizeof *s->clock);
    s->pinned = fr_calloc(3 * n, sizeof *s->pinned);
    s->curve = fr_calloc(4 * stages, sizeof *s->curve);
    s->corners = fr_calloc(8 * stages * (size_t)s->n_clocks, sizeof *s->corners);
    if (!s->full_s || !s->needs || !s->clock || !s->pinned || !s->curve || !s->corners)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the passes do not fit in memory");
    s->at_s = s->full_s + n;
    s->late_s = s->at_s + 2 * n;
    s->lag_s = s->late_s + n;
    s->tail_s = s->lag_s + n;
    s->order = s->needs + n;
    s->side = s->pinned + n;
    return fr_min_cut_open(&s->cut, 2 * s->n, 3 * s->n, err);
}

static void free_room(struct passes *s) {
    free(s->full_s);
    free(s->needs);
    free(s->clock);
    free(s->pinned);
    free(s->curve);
    free(s->corners);
    fr_min_cut_free(&s->cut);
}

static void price_passes(struct passes *s) {
    for (int32_t k = 0; k < s->n; k++) {
        const struct fr_slot *x = &s->p->slots[k];
        int32_t i = stage_of(s, k);
        bool none = x->whole && x->kind == FR_SLOT_WEIGHT;
        s->full_s[k] = fr_pipeline_codec_s(s->p, i, x, false) +
                       fr_pipeline_codec_s(s->p, i, x, true) +
                       (none ? 0 : fr_pipeline_pass_s(s->p, i, x->kind, FR_WITH_ALL));
        if (x->whole && !none)
            s->full_s[k] += fr_pipeline_pass_s(s->p, i, FR_SLOT_WEIGHT, FR_WITH_ALL);
        s->pinned[k] = none;
    }
}

/* Does the recurrence say that it takes no longer?  FR_ERR_UNSUPPORTED where it does, or prices none such. */
static fr_status take_time(const struct passes *s, double limit_s, const char *otherwise,
                           double *time_s, struct fr_error *err) {
    struct fr_pipeline_times times = {0};
    fr_status status = fr_pipeline_run(s->p, FR_WITH_ALL, &times, err);
    *time_s = times.makespan_s;
    if (status == FR_ERR_NOMEM) return status;
    bool holds = status == FR_OK && times.makespan_s <= limit_s * (1 + 1e-9);
    return holds ? FR_OK : fr_fail(err, FR_ERR_UNSUPPORTED, "clock", "%s", otherwise);
}

static fr_status solve(struct passes *s, double slowdown, struct fr_error *err) {
    double full_s = 0, after_s = 0;
    price_passes(s);
    FR_TRY(link_passes(s, err));
    bool ordered = order_passes(s);
    for (int32_t k = 0; k < s->n; k++) s->clock[k] = (int16_t)(s->n_clocks - 1);
    pin(s);
    make_tails(s);
    make_curves(s);
    FR_TRY(take_time(s, ordered ? INFINITY : 0, "the recurrence prices no such order", &full_s,
                     err));
    s->deadline_s = (1 + slowdown) * full_s;
    if (go_early(s, s->at_s) > s->deadline_s * (1 + EXACT))
        return fr_fail(err, FR_ERR_UNSUPPORTED, "clock", "gradients under way hold up passes");
    relax(s);
    round_up(s);
    reclaim(s);
    FR_TRY(fr_clock_set_passes(s->device, s->clock, s->p, err));
    return take_time(s, s->deadline_s, "gradients under way take longer", &after_s, err);
}

static bool asks_for_none(const struct fr_job *job, const struct fr_plan *plan) {
    const struct fr_device *device = &job->cluster.device;
    return !device->clock.known || !device->power.known || plan->duplex || plan->cap_W ||
           !fr_job_is_pipeline(job, plan);
}

fr_status fr_passes_choose(const struct fr_job *job, const struct fr_plan *plan,
                           double slowdown, int16_t **clock, struct fr_error *err) {
    struct fr_plan full = *plan;
    struct fr_pipeline pipeline = {0};
    struct passes s = {.device = &job->cluster.device, .p = &pipeline};
    uint32_t extrapolated = 0;
    *clock = NULL;
    if (asks_for_none(job, plan))
        return fr_fail(err, FR_ERR_UNSUPPORTED, "clock",
                       "needs a device that states its clock and power, and a pipeline of "
                       "asynchronous messages without limits");
    full.clock_Hz = NULL, full.n_clock_Hz = 0, full.clock_slack = false, full.pass_clock = NULL;
    fr_status status = fr_pipeline_make(job, &full, &pipeline, &extrapolated, err);
    int64_t n = (int64_t)pipeline.args.stages * pipeline.n_slots;
    if (status == FR_OK && n > FR_PASSES_MAX)
        status = fr_fail(err, FR_ERR_UNSUPPORTED, "clock", "too many passes");
    s.n = (int32_t)n;
    s.n_clocks = fr_device_clocks(&s.device->clock);
    if (status == FR_OK) status = make_room(&s, err);
    if (status == FR_OK) status = solve(&s, slowdown, err);
    if (status == FR_OK) *clock = s.clock, s.clock = NULL;
    free_room(&s);
    fr_pipeline_free(&pipeline);
    return status;
}
