#include "answer/watch/watch.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "models/outcome/rates.h"
#include "trust/numbers/statistics.h"

const char *const fr_watch_off_names[] = {
#define FR_WATCH_OFF_NAME(code, name, words) #name,
    FR_WATCH_OFF_LIST(FR_WATCH_OFF_NAME)
#undef FR_WATCH_OFF_NAME
        NULL};
const char *const fr_watch_off_words[] = {
#define FR_WATCH_OFF_WORDS(code, name, words) words,
    FR_WATCH_OFF_LIST(FR_WATCH_OFF_WORDS)
#undef FR_WATCH_OFF_WORDS
        NULL};
const char *const fr_watch_states[] = {"running",     "complete", "idle",
                                       "interrupted", "read",     NULL};

enum { RECENT = 5, AROUND = 2, NEAR = 64, TREND_MIN = 6, RANK_LINES_MIN = 3, RANKS_MAX = 4096 };
static const double STALL = 1.5;      /* times what is usual around a line */
static const double STATED = 0.02;    /* a share of the time that is told */
static const double CHANGED = 0.05;   /* a trend that is told */
static const double SLOW = 0.05;      /* a rank over the median of ranks */
static const double HAS_YEAR_S = 1e9; /* stamps before 2001 do not say their year */
static const double BEHIND = 0.95;    /* stamps that run slower than steps are wrong */
static const double STEPS_A_LINE = 1e6;
static const double STOPPED_LINES = 10; /* a silence of so many lines is no pause */

/* ---- lines ----------------------------------------------------------------------------------- */

/* The timed lines of a log, each with what it is. */
struct lines {
    const struct fr_logged_step *item;
    int n;
    fr_step_kind *kind;
    double *value_s, *steps; /* of a step on it; how many steps it is of */
    double *sorted;          /* scratch */
};

static double median_of(const struct lines *l, int from, int to, double *scratch, int *n) {
    *n = 0;
    for (int i = from; i < to; i++)
        if (l->kind[i] == FR_STEP_COUNTS && l->value_s[i] > 0) scratch[(*n)++] = l->value_s[i];
    fr_sort(scratch, (size_t)*n);
    return *n ? fr_sorted_median(scratch, (size_t)*n) : NAN;
}

/* Times of lines that say rates, and of those that stamps correct, in one scale: their median is the step's time. */
static void set_values(const struct lines *l, double time_s) {
    int n = 0;
    for (int i = 0; i < l->n; i++) {
        const struct fr_logged_step *s = &l->item[i];
        l->value_s[i] = isfinite(s->time_s)         ? s->time_s
                        : isfinite(s->tokens_per_s) ? 1 / s->tokens_per_s
                                                    : 1 / s->samples_per_s;
    }
    const double scale = time_s / median_of(l, 0, l->n, l->sorted, &n);
    for (int i = 0; i < l->n; i++) {
        const double apart = i > 0 ? l->item[i].number - l->item[i - 1].number : 1;
        l->steps[i] = !isfinite(apart) || apart > STEPS_A_LINE ? 1 : apart < 0 ? 0 : apart;
        if (isfinite(scale)) l->value_s[i] *= scale;
    }
}

/* The median of the steps around line @p i. */
static double usual_s(const struct lines *l, int i) {
    double values[2 * AROUND + 1];
    int n = 0;
    for (int k = i; k >= 0 && k > i - NEAR && n < AROUND + 1; k--)
        if (l->kind[k] == FR_STEP_COUNTS) values[n++] = l->value_s[k];
    for (int k = i + 1; k < l->n && k < i + NEAR && n < 2 * AROUND + 1; k++)
        if (l->kind[k] == FR_STEP_COUNTS) values[n++] = l->value_s[k];
    fr_sort(values, (size_t)n);
    return n ? fr_sorted_median(values, (size_t)n) : NAN;
}

static fr_watch_off lost_to(fr_step_kind kind) {
    return kind == FR_STEP_EVALUATION   ? FR_WATCH_EVALUATION
           : kind == FR_STEP_CHECKPOINT ? FR_WATCH_CHECKPOINT
                                        : FR_WATCH_STALL;
}

/* Seconds that went into other things than steps, and the steps and seconds that they are of. */
static void sum_lost(const struct lines *l, const struct fr_logged_time *timed, double *lost_s,
                     double *steps, double *all_s) {
    const bool stamps = isfinite(timed->stamped_s) && timed->stamped_s > BEHIND * timed->time_s;
    *steps = *all_s = 0;
    for (int i = 1; i < l->n; i++) {
        if (l->kind[i] == FR_STEP_WARM_UP || l->kind[i] == FR_STEP_RAMP_UP) continue;
        const double usual = usual_s(l, i), n = l->steps[i];
        if (!(n > 0 && usual > 0)) continue;
        const double apart_s = l->item[i].stamp_s - l->item[i - 1].stamp_s;
        double wall_s = n * l->value_s[i];
        if (stamps && apart_s > wall_s) wall_s = apart_s;
        *steps += n;
        *all_s += wall_s;
        if (wall_s - n * usual > (STALL - 1) * usual)
            lost_s[lost_to(l->kind[i])] += wall_s - n * usual;
    }
}

/* The rank whose steps take longest, where lines say whose they are; -1: none sticks out. */
static int64_t find_slow(const struct lines *l, double *excess) {
    double *median = fr_calloc(RANKS_MAX, sizeof *median), slowest = 0, middle;
    int n_ranks = 0;
    int64_t of = -1, most = -1;
    for (int i = 0; i < l->n; i++) most = l->item[i].rank > most ? l->item[i].rank : most;
    for (int64_t r = 0; median && r <= most && r < RANKS_MAX; r++) {
        int n = 0;
        for (int i = 0; i < l->n; i++)
            if (l->item[i].rank == r && l->kind[i] == FR_STEP_COUNTS)
                l->sorted[n++] = l->value_s[i];
        if (n < RANK_LINES_MIN) continue;
        fr_sort(l->sorted, (size_t)n);
        median[n_ranks] = fr_sorted_median(l->sorted, (size_t)n);
        if (median[n_ranks] > slowest) slowest = median[n_ranks], of = r;
        n_ranks++;
    }
    if (n_ranks > 1) {
        fr_sort(median, (size_t)n_ranks);
        middle = median[(n_ranks - 1) / 2];
        *excess = slowest / middle - 1;
    }
    free(median);
    if (n_ranks > 1 && *excess > SLOW) return of;
    *excess = 0;
    return -1;
}

static double trend_of(const struct lines *l) {
    int first = 0, n = 0, a = 0, b = 0, counted = 0;
    for (int i = 0; i < l->n; i++) counted += l->kind[i] == FR_STEP_COUNTS;
    if (counted < TREND_MIN) return NAN;
    for (int i = 0; i < l->n; i++) {
        n += l->kind[i] == FR_STEP_COUNTS;
        if (n <= counted / 3) a = i + 1;
        if (n <= counted - counted / 3) b = i + 1;
    }
    const double then_s = median_of(l, 0, a, l->sorted, &first);
    return median_of(l, b, l->n, l->sorted, &n) / then_s - 1;
}

static void set_recent(const struct lines *l, struct fr_watch *w) {
    int from = l->n, n = 0;
    while (from > 0 && n < RECENT) n += l->kind[--from] == FR_STEP_COUNTS;
    w->recent_s = median_of(l, from, l->n, l->sorted, &w->recent_n);
    if (w->recent_n == 0) w->recent_s = w->time_s;
}

/* ---- the answer -------------------------------------------------------------------------------- */

static bool within(const struct fr_scored *s, double time_s) {
    return !(s->high_s > 0) || (time_s >= s->low_s && time_s <= s->high_s);
}

static void judge(struct fr_watch *w) {
    const struct fr_scored *s = &w->of->expected->scored;
    w->error = s->predicted_s / w->time_s - 1;
    w->recent_error = s->predicted_s / w->recent_s - 1;
    w->inside = within(s, w->time_s);
    w->judged = w->recent_n >= RECENT;
    const bool recent_outside = w->judged && !within(s, w->recent_s);
    w->outside = recent_outside || w->stopped ||
                 (!w->inside && (w->judged || w->state != FR_WATCH_RUNNING));
}

static void set_rates(struct fr_watch *w) {
    struct fr_outcome measured = w->of->expected->out;
    measured.time_s = w->recent_s;
    const struct fr_rates rates = fr_rates_of(&w->of->expected->job, &measured);
    w->tokens_per_s = rates.tokens_per_s;
    w->samples_per_s = rates.samples_per_s;
    w->mfu = rates.mfu;
}

/* Steps of the whole run: as the user says, else as the log does. */
static double total_of(const struct fr_watch_ask *ask) {
    const struct fr_training *t = ask->training;
    const double batch = (double)fr_job_batch(&ask->expected->job, &ask->run->plan),
                 tokens = batch * (double)ask->run->workload.transformer.sequence;
    if (ask->steps > 0) return ask->steps;
    if (t->tokens > 0 && tokens > 0) return ceil(t->tokens / tokens * (1 - 1e-12));
    if (t->samples > 0 && batch > 0) return ceil(t->samples / batch * (1 - 1e-12));
    return ask->read->total_steps;
}

static void set_end(const struct lines *l, struct fr_watch *w) {
    const struct fr_logged_step *last = &l->item[l->n - 1];
    const bool from_zero = l->item[0].number == 0;
    w->total = total_of(w->of);
    const int n_steps = w->of->read->steps; /* 0: a log that says its mean alone */
    w->step = n_steps == 0 ? NAN : isfinite(last->number) ? last->number : n_steps;
    const double finished = w->step + (from_zero ? 1 : 0);
    /* NeMo counts steps, and prints the last of them, from 0. */
    if (from_zero && w->total == last->total && l->item[0].total == last->total) w->total++;
    w->done = finished / w->total;
    const double left = w->total - finished;
    if (left <= 0 && (w->state == FR_WATCH_RUNNING || w->state == FR_WATCH_READ))
        w->state = FR_WATCH_COMPLETE;
    w->left_s = isfinite(left) ? fmax(0, left) * w->step_wall_s : NAN;
    const double line_s = w->step_wall_s * fmax(1, l->steps[l->n - 1]);
    w->stopped = left > 0 && w->of->silent_s > STOPPED_LINES * line_s;
    w->ends_s = w->of->written_s > 0 ? w->of->written_s + w->left_s : NAN;
    w->ends_log_s = last->stamp_s > HAS_YEAR_S ? last->stamp_s + w->left_s : NAN;
}

static void set_cost(struct fr_watch *w) {
    const struct fr_outcome *out = &w->of->expected->out;
    const struct fr_training *t = w->of->training;
    w->whole_s = w->total * w->step_wall_s;
    w->device_s = (double)fr_plan_ranks(&w->of->run->plan) * w->whole_s;
    w->energy_J = out->energy_J / out->time_s * w->whole_s;
    w->price = t->price_per_s > 0 ? t->price_per_s * w->device_s : NAN;
    w->carbon_kg = t->carbon_kg_per_J > 0 ? t->carbon_kg_per_J * w->energy_J : NAN;
}

/* Parts of the machine and of the run go before what the model leaves open. */
static double weight_of(const struct fr_watch *w, int off) {
    return off == FR_WATCH_MODEL ? 0 : fabs(w->off[off]);
}

/* Time of the gradients' exchange that even the last of the ranks spends, over what was predicted to be exposed. */
static double late_gradients_s(const struct fr_watch *w) {
    const double *part_s = w->of->expected->out.part_s;
    double least_s = 0, most_s = 0;
    if (!fr_timers_of(&w->of->read->timers, FR_TIMER_GRADIENTS, &least_s, &most_s)) return 0;
    const double late_s = least_s - part_s[FR_PART_DP_COMM] - part_s[FR_PART_EMBEDDING_COMM];
    return late_s > 0 ? late_s : 0;
}

/* The same of timers: passes of a rank that are longer than the others', of which several stages differ by themselves. */
static void find_slow_by_timers(struct fr_watch *w, double *excess) {
    const struct fr_timers *t = &w->of->read->timers;
    double least_s = 0, most_s = 0, of_passes = 0;
    if (w->of->run->plan.pp > 1) return;
    const int64_t slowest = fr_timers_slowest(t, &of_passes);
    const bool passes = fr_timers_of(t, FR_TIMER_PASSES, &least_s, &most_s);
    double late_s = passes ? most_s - least_s : 0;
    if (slowest >= 0) late_s = of_passes / (1 + of_passes) * most_s;
    if (!(late_s > SLOW * w->recent_s)) return;
    *excess = late_s / (w->recent_s - late_s);
    w->slow_rank = slowest;
}

/* Each part's share of the difference to the predicted step; those that matter, in order. */
static void set_off(struct fr_watch *w, double slow_excess) {
    const struct fr_watch_expected *e = w->of->expected;
    const double wall = w->recent_s / e->scored.predicted_s;
    const double changed = isfinite(w->trend) && fabs(w->trend) > CHANGED ? w->trend : 0;
    const double exchange = late_gradients_s(w) / e->scored.predicted_s;
    double error = log(wall) - log1p(changed) - log1p(slow_excess) - log1p(exchange);
    for (int i = 0; i < FR_WATCH_UNSURE; i++) w->off[i] = expm1(error * e->share[i]);
    w->off[FR_WATCH_COMMUNICATION] += exchange;
    w->off[FR_WATCH_CHANGE] = changed;
    w->off[FR_WATCH_SLOW_RANK] = slow_excess;
    for (int i = FR_WATCH_STALL; i < FR_WATCH_OFF_COUNT; i++)
        w->off[i] = w->lost[i] * w->step_wall_s / e->scored.predicted_s;
    if (w->stopped) w->off[FR_WATCH_STALL] += w->of->silent_s / e->scored.predicted_s;
    for (int i = 0; i < FR_WATCH_OFF_COUNT; i++) {
        int at = w->n_off;
        if (!(fabs(w->off[i]) >= STATED)) continue;
        for (; at > 0 && weight_of(w, w->order[at - 1]) < weight_of(w, i); at--)
            w->order[at] = w->order[at - 1];
        w->order[at] = i;
        w->n_off++;
    }
}

static void answer(const struct lines *l, struct fr_watch *w) {
    double lost_s[FR_WATCH_OFF_COUNT] = {0}, steps = 0, all_s = 0, slow_excess = 0;
    set_values(l, w->time_s);
    set_recent(l, w);
    w->trend = trend_of(l);
    w->slow_rank = find_slow(l, &slow_excess);
    if (w->slow_rank < 0) find_slow_by_timers(w, &slow_excess);
    sum_lost(l, &w->of->read->timed, lost_s, &steps, &all_s);
    w->step_wall_s = w->recent_s;
    for (int i = 0; i < FR_WATCH_OFF_COUNT && all_s > 0; i++) {
        w->lost[i] = lost_s[i] / all_s;
        w->step_wall_s += lost_s[i] / steps;
    }
    set_end(l, w);
    judge(w);
    set_rates(w);
    set_cost(w);
    set_off(w, slow_excess);
}

fr_status fr_watch_of(const struct fr_watch_ask *ask, struct fr_watch *w,
                      struct fr_error *err) {
    const struct fr_logged_steps *steps = &ask->read->logged;
    const size_t n = (size_t)steps->n + 1;
    struct fr_logged_step only = fr_step_none(); /* of a log that says its mean alone */
    only.time_s = ask->run->measured_s;
    struct lines l = {.item = steps->n ? steps->item : &only,
                      .n = steps->n ? steps->n : 1,
                      .kind = fr_calloc(n, sizeof *l.kind),
                      .value_s = fr_calloc(n, sizeof *l.value_s),
                      .steps = fr_calloc(n, sizeof *l.steps),
                      .sorted = fr_calloc(n, sizeof *l.sorted)};
    *w = (struct fr_watch){.of = ask, .state = ask->state, .time_s = ask->run->measured_s};
    const bool fits = l.kind && l.value_s && l.steps && l.sorted;
    if (fits && steps->n) fr_steps_kinds(steps, l.kind);
    if (fits) answer(&l, w);
    free(l.kind);
    free(l.value_s);
    free(l.steps);
    free(l.sorted);
    return fits ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
}
