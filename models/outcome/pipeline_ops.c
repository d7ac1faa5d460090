#include "models/outcome/pipeline_ops.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/min_cut.h"
#include "models/outcome/pass_graph.h"
#include "models/outcome/pipeline_op_curve.h"
#include "models/outcome/recurrence.h"
#include "models/price/clock.h"

/* Steps of the times moved, from and to, as powers of two of the iteration. */
enum { STEP_FROM = 5, STEP_TO = 16, MOVES_MAX = 400 };

static const double EXACT = 1e-9;

struct passes {
    struct fr_pass_graph g;
    struct fr_pipeline *p;
    double *at_s;   /* [2 n]: start and end of each; once they have clocks, the earliest */
    double *late_s; /* [n]: latest end */
    struct fr_pass_curve *curve; /* [P][4], and what they are made of */
    double *corners, deadline_s;
    struct fr_min_cut cut;
    bool *side; /* [2 n] */
};

static double clock_Hz(const struct passes *s, int c) {
    return fr_device_clock_at(&s->g.device->clock, c);
}

/* ---- what clocks do to a pass ------------------------------------------------------------------ */

/* A weight gradient that is done with its backward pass is none. */
static const struct fr_pass_curve *curve_of(const struct passes *s, int32_t k) {
    const struct fr_slot *slot = &s->p->slots[k];
    return &s->curve[4 * fr_pass_graph_stage(&s->g, k) + (slot->whole ? 3 : slot->kind)];
}

static void make_curves(struct passes *s) {
    for (int32_t i = 0; i < s->p->args.stages; i++)
        for (int kind = 0; kind < 4; kind++) {
            const struct fr_slot slot = {.kind = (uint8_t)(kind < 3 ? kind : FR_SLOT_BACKWARD),
                                         .whole = kind == 3};
            struct fr_pass_curve *c = &s->curve[4 * i + kind];
            struct fr_clocked_pass pass = fr_clock_pass(s->p, i, &slot);
            c->longer_s = s->corners + (4 * i + kind) * 2 * s->g.n_clocks;
            c->energy_J = c->longer_s + s->g.n_clocks;
            fr_pass_curve_make(s->g.device, &pass, c);
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

static void add_bound(struct passes *s, int32_t v, int32_t w, double slack_s, double step_s,
                      bool up) {
    if (slack_s < step_s - EXACT * s->deadline_s) add_difference(s, v, w, 0, INFINITY, up);
}

static void add_pass(struct passes *s, int32_t k, double step_s, bool up) {
    const struct fr_pass_curve *c = curve_of(s, k);
    double exact_s = EXACT * s->deadline_s, *at_s = s->at_s;
    double longer_s = at_s[2 * k + 1] - at_s[2 * k] - s->g.full_s[k];
    if (s->g.pinned[k] || c->n < 2) {
        add_bound(s, 2 * k, 2 * k + 1, longer_s, step_s, up);
    } else {
        double now_J = fr_pass_curve_J(c, longer_s, exact_s);
        add_difference(s, 2 * k, 2 * k + 1,
                       fr_pass_curve_J(c, longer_s + step_s, exact_s) - now_J,
                       fr_pass_curve_J(c, longer_s - step_s, exact_s) - now_J, up);
    }
    if (k % s->g.p->n_slots > 0)
        add_bound(s, 2 * (k - 1) + 1, 2 * k, at_s[2 * k] - at_s[2 * (k - 1) + 1], step_s, up);
    else if (!up && at_s[2 * k] < step_s - exact_s)
        fr_min_cut_cost(&s->cut, 2 * k, INFINITY);
    if (s->g.needs[k] >= 0)
        add_bound(s, 2 * s->g.needs[k] + 1, 2 * k,
                  at_s[2 * k] - at_s[2 * s->g.needs[k] + 1] - s->g.lag_s[k], step_s, up);
    if (up && k % s->g.p->n_slots == s->g.p->n_slots - 1 &&
        at_s[2 * k + 1] + s->g.tail_s[fr_pass_graph_stage(&s->g, k)] + step_s >
            s->deadline_s + exact_s)
        fr_min_cut_cost(&s->cut, 2 * k + 1, INFINITY);
}

/* Move the set of times by one step that lowers the energy most. @return did any? */
static bool move(struct passes *s, double step_s, bool up) {
    double all_J = 0;
    fr_min_cut_clear(&s->cut);
    for (int32_t k = 0; k < s->g.n; k++) {
        add_pass(s, k, step_s, up);
        all_J += curve_of(s, k)->n > 1 ? fabs(curve_of(s, k)->energy_J[0]) : 0;
    }
    if (fr_min_cut_solve(&s->cut, s->side) >= -EXACT * all_J) return false;
    for (int32_t v = 0; v < 2 * s->g.n; v++)
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
    for (int32_t k = 0; k < s->g.n; k++) {
        struct fr_clocked_pass pass = fr_pass_graph_pass(&s->g, k);
        double longer_s = s->at_s[2 * k + 1] - s->at_s[2 * k] - s->g.full_s[k],
               last_J = fr_clocked_J(s->g.device, &pass, clock_Hz(s, s->g.n_clocks - 1));
        s->g.clock[k] = (int16_t)(s->g.n_clocks - 1);
        if (s->g.pinned[k] || !(pass.compute_s > 0)) continue;
        for (int c = s->g.n_clocks - 2; c >= 0; c--) {
            double now_J = fr_clocked_J(s->g.device, &pass, clock_Hz(s, c));
            if (fr_clocked_longer_s(s->g.device, &pass, clock_Hz(s, c)) > longer_s + exact_s)
                break;
            if (now_J >= last_J) break;
            last_J = now_J;
            s->g.clock[k] = (int16_t)c;
        }
    }
}

/* Energy saved and time taken by the next lower clock of pass @p k. @return false: it has none, or takes no time */
static bool next_lower(const struct passes *s, int32_t k, double *saved_J, double *longer_s) {
    if (s->g.pinned[k] || s->g.clock[k] == 0) return false;
    struct fr_clocked_pass pass = fr_pass_graph_pass(&s->g, k);
    double now_Hz = clock_Hz(s, s->g.clock[k]), then_Hz = clock_Hz(s, s->g.clock[k] - 1);
    *saved_J =
        fr_clocked_J(s->g.device, &pass, now_Hz) - fr_clocked_J(s->g.device, &pass, then_Hz);
    *longer_s = fr_clocked_longer_s(s->g.device, &pass, then_Hz) -
                fr_clocked_longer_s(s->g.device, &pass, now_Hz);
    return *longer_s > 0;
}

/* One clock lower where most is saved for the time. @return false: no pass has room */
static bool lower_one(struct passes *s) {
    double exact_s = EXACT * s->deadline_s, most = 0, saved_J, longer_s;
    int32_t best = -1;
    fr_pass_graph_early(&s->g, s->at_s);
    fr_pass_graph_late(&s->g, s->deadline_s, s->late_s);
    for (int32_t k = 0; k < s->g.n; k++) {
        if (!next_lower(s, k, &saved_J, &longer_s)) continue;
        if (longer_s > s->late_s[k] - s->at_s[2 * k + 1] + exact_s) continue;
        if (saved_J / longer_s <= most) continue;
        most = saved_J / longer_s;
        best = k;
    }
    if (best >= 0) s->g.clock[best]--;
    return best >= 0;
}

/* What rounding left: it ends, since a clock is lower after every turn. */
static void reclaim(struct passes *s) {
    while (lower_one(s)) continue;
}

/* ---- all of it --------------------------------------------------------------------------------- */

static fr_status grow(struct passes *s, struct fr_error *err) {
    size_t n = (size_t)s->g.n, stages = (size_t)s->p->args.stages;
    s->at_s = fr_calloc(3 * n, sizeof *s->at_s);
    s->side = fr_calloc(2 * n, sizeof *s->side);
    s->curve = fr_calloc(4 * stages, sizeof *s->curve);
    s->corners = fr_calloc(8 * stages * (size_t)s->g.n_clocks, sizeof *s->corners);
    if (!s->at_s || !s->side || !s->curve || !s->corners)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the passes do not fit in memory");
    s->late_s = s->at_s + 2 * n;
    return fr_min_cut_open(&s->cut, 2 * s->g.n, 3 * s->g.n, err);
}

static void free_scratch(struct passes *s) {
    free(s->at_s);
    free(s->side);
    free(s->curve);
    free(s->corners);
    fr_min_cut_free(&s->cut);
    fr_pass_graph_free(&s->g);
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
    make_curves(s);
    FR_TRY(take_time(s, s->g.ordered ? INFINITY : 0, "the recurrence prices no such order",
                     &full_s, err));
    s->deadline_s = (1 + slowdown) * full_s;
    fr_pass_graph_early(&s->g, s->at_s); /* never later than the recurrence */
    relax(s);
    round_up(s);
    reclaim(s);
    FR_TRY(fr_clock_set_ops(s->g.device, s->g.clock, s->p, err));
    return take_time(s, s->deadline_s, "gradients under way take longer", &after_s, err);
}

static bool asks_for_none(const struct fr_job *job, const struct fr_plan *plan) {
    const struct fr_device *device = &job->cluster.device;
    return !device->clock.known || !device->power.known || plan->duplex || plan->cap_W ||
           !fr_job_is_pipeline(job, plan);
}

fr_status fr_pipeline_ops_choose(const struct fr_job *job, const struct fr_plan *plan,
                                 double slowdown, int16_t **clock, struct fr_error *err) {
    struct fr_plan full = *plan;
    struct fr_pipeline pipeline = {0};
    struct passes s = {.p = &pipeline};
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
    if (status == FR_OK)
        status = fr_pass_graph_make(&job->cluster.device, &pipeline, &s.g, err);
    if (status == FR_OK) status = grow(&s, err);
    if (status == FR_OK) status = solve(&s, slowdown, err);
    if (status == FR_OK) *clock = s.g.clock, s.g.clock = NULL;
    free_scratch(&s);
    fr_pipeline_free(&pipeline);
    return status;
}
