#include "answer/search/choice/lossy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/outcome/report.h"
#include "base/alloc.h"
#include "models/job/assume.h"
#include "search/break_even.h"
#include "trust/interval.h"

static double value_of(const struct fr_searched *r, const struct fr_outcome *out) {
    return fr_objective_value(r->options.objective, r->result.by, out);
}

bool fr_lossy_against(const struct fr_searched *r, const struct fr_tune_result *known,
                      const struct fr_outcome *exact, const struct fr_outcome *lossy,
                      double *gain, double *deviation) {
    double difference, time_sd;
    const double learning_sd = r->result.by == FR_RANK_TOTAL ? lossy->iterations_deviation : 0;
    if (fr_odds_pair(known, &r->job.workload, &exact->plan, &lossy->plan, &difference, &time_sd,
                     NULL) != FR_OK)
        return false;
    *gain = log(value_of(r, exact) / value_of(r, lossy));
    *deviation =
        hypot(time_sd, learning_sd) *
        (r->options.objective == FR_OBJECTIVE_EDP ? 2 : 1); /* of time, and of energy */
    return isfinite(*gain) && isfinite(*deviation);
}

/* Put @p exact first in both lists; what stood before it moves back, and the last goes where the list was full. */
static void put_first(struct fr_search_result *result, const struct fr_found *exact) {
    size_t at = 0, last = result->ranked.count - 1;
    while (at < last && result->ranked.items[at].index != exact->index) at++;
    memmove(&result->ranked.items[1], &result->ranked.items[0], at * sizeof(struct fr_ranked));
    result->ranked.items[0] = result->exact;
    if (at >= result->top.count) at = result->top.count - 1;
    memmove(&result->top.items[1], &result->top.items[0], at * sizeof(struct fr_found));
    result->top.items[0] = *exact;
}

/* The first of the list that loses information; NULL: none. */
static const struct fr_outcome *first_lossy(const struct fr_search_result *result) {
    for (size_t i = 0; i < result->top.count; i++)
        if (!fr_outcome_is_exact(&result->top.items[i].outcome))
            return &result->top.items[i].outcome;
    return NULL;
}

fr_status fr_lossy_choose(struct fr_searched *r, struct fr_error *err) {
    struct fr_search_result *result = &r->result;
    const struct fr_outcome *lossy = first_lossy(result);
    double gain, deviation;
    r->options.noise = 0;
    if (r->space.variants || r->slowdown.asked || result->best_exact.index < 0 || !lossy)
        return FR_OK;
    struct fr_tune_result *known = fr_calloc(1, sizeof *known);
    if (!known) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_interval_known(&r->job.cluster, r->job.workload.dtype, known);
    const bool sure =
        fr_lossy_against(r, known, &result->best_exact.outcome, lossy, &gain, &deviation) &&
        deviation > 0;
    free(known);
    if (!sure) return FR_OK;
    r->options.noise = deviation;
    if (lossy != &result->top.items[0].outcome || gain > deviation) return FR_OK;
    r->within = (struct fr_within_noise){true, -expm1(-gain), -expm1(-deviation),
                                         fr_odds_normal(gain / deviation), *lossy};
    put_first(result, &result->best_exact);
    return FR_OK;
}

static void state(const struct fr_searched *r, const struct fr_tune_result *known,
                  struct fr_outcome *out) {
    double gain, deviation;
    if (!(out->break_even_iterations > 0) || out->break_even_from != FR_BREAK_EVEN_BEST ||
        !isfinite(out->total_time_s) ||
        !fr_lossy_against(r, known, &r->result.best_exact.outcome, out, &gain, &deviation) ||
        !(deviation > 0))
        return;
    out->wins = fr_odds_normal(gain / deviation);
}

fr_status fr_lossy_state_wins(struct fr_searched *r, struct fr_error *err) {
    if (r->result.by != FR_RANK_TOTAL || r->result.best_exact.index < 0 ||
        !(r->options.noise > 0))
        return FR_OK;
    struct fr_tune_result *known = fr_calloc(1, sizeof *known);
    if (!known) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_interval_known(&r->job.cluster, r->job.workload.dtype, known);
    for (size_t i = 0; i < r->result.top.count; i++)
        state(r, known, &r->result.top.items[i].outcome);
    for (int i = 0; i < r->answers.n; i++) state(r, known, &r->answers.items[i].outcome);
    free(known);
    return FR_OK;
}

/* ---- words ------------------------------------------------------------------------------------- */

void fr_lossy_say(const struct fr_searched *r, struct fr_text *words) {
    char line[FR_PLAN_LINE];
    if (!r->within.chosen) return;
    fr_text_addf(words,
                 "the best is exact: the best lossy plan is %.1f %% less, and %.1f %% is noise "
                 "(the deviation of what the two do not share); it wins with %.0f %%: %s",
                 100 * r->within.gain, 100 * r->within.noise, 100 * r->within.wins,
                 fr_report_outcome_line(&r->within.lossy, line, sizeof line));
}

void fr_lossy_put(const struct fr_searched *r, struct fr_json_writer *w) {
    if (!r->within.chosen) return;
    fr_json_add_object(w, "within_noise");
    fr_json_add_number(w, "gain", r->within.gain);
    fr_json_add_number(w, "noise", r->within.noise);
    fr_json_add_number(w, "probability_wins", r->within.wins);
    fr_json_key(w, "lossy");
    fr_report_json(w, &r->job, &r->within.lossy);
    fr_json_end_object(w);
}
