#include "answer/search/answers.h"

#include <math.h>
#include <stdio.h>

#include "base/text/wrap.h"
#include "base/units.h"

bool fr_answers_shown(const struct fr_searched *r) { return r->answers.n > 0; }

void fr_answers_survey(const struct fr_searched *r, struct fr_search_survey *s) {
    for (int i = 0; i < r->answers.shown; i++)
        fr_search_survey_add(s, &r->answers.items[i].outcome);
}

double fr_answers_above(double share) { return fmax(0, ceil(1000 * share - 1e-9) / 1000); }

static void say_folded(const struct fr_answer *a, struct fr_text *words) {
    if (a->count < 2) return;
    fr_text_addf(words, "and %zu more within %.1f %%: %s", a->count - 1,
                 100 * fr_answers_above(a->within), a->varies);
}

/* How much of the list the answers are, where any is more than one plan. */
static void say_of(const struct fr_answers *answers, struct fr_text *words) {
    int plans = 0;
    for (int i = 0; i < answers->shown; i++) plans += (int)answers->items[i].count;
    if (plans == answers->shown) return;
    if (plans < answers->plans)
        fr_text_addf(words, "%d of the best %d plans", plans, answers->plans);
    else
        fr_text_addf(words, "the best %d plans", plans);
    fr_text_addf(words, " in %d answer%s: near-ties are folded under their best",
                 answers->shown, answers->shown == 1 ? "" : "s");
}

void fr_answers_rows(struct fr_search_table *table) {
    enum { INDENT = 5, FOOT = 2 };
    const struct fr_answers *answers = &table->r->answers;
    struct fr_text foot = {0};
    for (int i = 0; i < answers->shown; i++) {
        struct fr_text words = {0};
        fr_search_table_row(table, (size_t)i, &answers->items[i].outcome);
        say_folded(&answers->items[i], &words);
        if (words.length) {
            fr_text_addf(table->text, "%*s", INDENT, "");
            fr_wrap_list(table->text, words.data, INDENT, INDENT, table->columns);
            fr_end_line(table->text);
        }
        fr_text_free(&words);
    }
    say_of(answers, &foot);
    if (foot.length) {
        fr_text_addf(table->text, "%*s", FOOT, "");
        fr_wrap(table->text, foot.data, FOOT, FOOT, table->columns);
        fr_end_line(table->text);
    }
    fr_text_free(&foot);
}

void fr_answers_sure(struct fr_text *text, const struct fr_searched *r,
                     const char *coefficients) {
    const struct fr_answers *answers = &r->answers;
    const double tried = fr_answers_tried(answers);
    char low[40], high[40];
    if (answers->n < 2 || !(answers->items[0].odds.predicted_s > 0)) return;
    fr_text_addf(text, "\nhow sure (%s)\n  #%25s %9s %10s\n", coefficients, "90 % interval",
                 "best", "regret");
    for (int i = 0; i < answers->shown; i++) {
        const struct fr_odds *o = &answers->items[i].odds;
        fr_text_addf(text, "%3d %10s to %10s %7.1f %% %8.2f %%\n", i + 1,
                     fr_quantity_format(o->low_s, FR_QUANTITY_TIME, low, sizeof low),
                     fr_quantity_format(o->high_s, FR_QUANTITY_TIME, high, sizeof high),
                     100 * o->best, 100 * o->regret);
    }
    snprintf(low, sizeof low, "%d answers", answers->n);
    fr_text_addf(text,
                 "  best: probability of being the fastest of %s; regret: expected loss\n",
                 answers->shown < answers->n ? low : "these");
    if (isfinite(tried))
        fr_text_addf(
            text, "  expected gain of trying the first %s and keeping the fastest: %.1f %%\n",
            answers->n > 2 ? "three" : "two", 100 * tried);
}

void fr_answers_expected(struct fr_text *text, const struct fr_searched *r, int columns) {
    enum { HEAD = 11 };
    struct fr_interval of;
    struct fr_text words = {0};
    char time[40], low[40], high[40];
    if (!fr_searched_expected(r, &of)) return;
    fr_text_addf(&words,
                 "%s an iteration once it runs, %s to %s with 90 %%, %.1f %% above its "
                 "prediction, since the best of many looks better than it is",
                 fr_quantity_format(of.expected_s, FR_QUANTITY_TIME, time, sizeof time),
                 fr_quantity_format(of.low_s, FR_QUANTITY_TIME, low, sizeof low),
                 fr_quantity_format(of.high_s, FR_QUANTITY_TIME, high, sizeof high),
                 100 * (of.expected_s / of.model_s - 1));
    fr_text_addf(text, "%-*s", HEAD, "expected");
    fr_wrap_list(text, fr_text_get(&words), HEAD, HEAD, columns);
    fr_end_line(text);
    fr_text_free(&words);
}

void fr_answers_gain(struct fr_text *words, const struct fr_user_plan *user_plan) {
    fr_gain_say(&user_plan->gain, &user_plan->ask, words);
}
