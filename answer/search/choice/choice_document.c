#include "answer/search/choice/choice_document.h"

#include <math.h>

#include "answer/outcome/report.h"
#include "base/json/interval.h"

static void put_expected(const struct fr_searched *r, struct fr_json_writer *w) {
    struct fr_interval of;
    fr_json_key(w, "expected");
    if (!fr_searched_expected(r, &of)) {
        fr_json_put_null(w);
        return;
    }
    fr_json_begin_object(w);
    fr_json_add_number(w, "iteration_time_s", of.expected_s);
    fr_json_add_interval(w, "_s", of.low_s, of.high_s);
    fr_json_add_number(w, "predicted_s", of.model_s);
    fr_json_add_number(w, "selection_share", of.expected_s / of.model_s - 1);
    fr_json_end_object(w);
}

static void put_answer(const struct fr_searched *r, const struct fr_answer *a,
                       struct fr_json_writer *w) {
    const struct fr_outcome *out = &a->outcome;
    const double first = r->result.ranked.items[0].value;
    char line[FR_PLAN_LINE];
    bool known = a->odds.predicted_s > 0;
    fr_json_begin_object(w);
    fr_json_add_integer(w, "rank", (int64_t)a->rank + 1);
    fr_json_add_string(w, "plan", fr_report_outcome_line(out, line, sizeof line));
    fr_json_add_number(w, "iteration_time_s", out->time_s);
    fr_json_add_number(w, "behind",
                       fr_objective_value(r->options.objective, r->result.by, out) / first - 1);
    fr_json_add_interval(w, "_s", known ? a->odds.low_s : NAN, known ? a->odds.high_s : NAN);
    fr_json_add_number(w, "memory_peak_B", out->memory_peak_B);
    fr_json_add_number(w, "probability_best", known ? a->odds.best : NAN);
    fr_json_add_number(w, "expected_regret", known ? a->odds.regret : NAN);
    fr_json_add_integer(w, "count", (int64_t)a->count);
    fr_json_add_number(w, "within_share", a->within);
    fr_json_add_string(w, "varies", a->varies);
    fr_json_end_object(w);
}

void fr_choice_put(const struct fr_searched *r, struct fr_json_writer *w) {
    put_expected(r, w);
    fr_json_add_integer(w, "answers_of", r->answers.plans);
    fr_json_add_array(w, "answers");
    for (int i = 0; i < r->answers.shown; i++) put_answer(r, &r->answers.items[i], w);
    fr_json_end_array(w);
    fr_json_add_number(w, "trying_three_gain", fr_answers_tried(&r->answers));
}

void fr_gain_put(const struct fr_user_plan *user_plan, struct fr_json_writer *w) {
    const struct fr_gain *g = &user_plan->gain;
    struct fr_text words = {0};
    fr_gain_say(g, &user_plan->ask, &words);
    fr_json_add_string(w, "claim", fr_gain_claims[g->claim]);
    fr_json_add_string(w, "says", fr_text_get(&words));
    fr_json_add_number(w, "gain", g->gain);
    fr_json_add_interval(w, "gain", g->low, g->high);
    fr_json_add_number(w, "probability_faster", g->faster);
    fr_json_add_number(w, "measured_s",
                       user_plan->ask.measured_s > 0 ? user_plan->ask.measured_s : NAN);
    fr_json_add_bool(w, "tuned", user_plan->ask.tuned);
    fr_text_free(&words);
}
