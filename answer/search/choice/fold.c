#include "answer/search/choice/fold.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "search/break_even.h"
#include "trust/effects/differences.h"
#include "trust/numbers/statistics.h"

size_t fr_fold_depth(size_t top) {
    if (top == 0 || top > FR_FOLD_MOST) return 0;
    size_t depth = 3 * top < FR_FOLD_LEAST ? FR_FOLD_LEAST : 3 * top;
    return depth < FR_FOLD_MOST ? depth : FR_FOLD_MOST;
}

/* The list that is folded. */
struct folding {
    const struct fr_workload *model;
    const struct fr_outcome *const *plans;
    const double *value;
    struct fr_differ_point *point;
    struct fr_answers *answers;
};

static bool joins(const struct folding *f, int plan, size_t best) {
    double v = fr_differ_variance(&f->point[plan], &f->point[best]);
    if (fr_outcome_is_exact(f->plans[plan]) != fr_outcome_is_exact(f->plans[best]))
        return false;
    return fr_differ_distance(&f->point[plan], &f->point[best]) <= FR_FOLD_DISTANCE &&
           fabs(log(f->value[plan] / f->value[best])) <= FR_NORMAL_90 * sqrt(v);
}

static void place(const struct folding *f, int plan, int most) {
    struct fr_answers *a = f->answers;
    int k = 0;
    while (k < a->n && !joins(f, plan, a->items[k].rank)) k++;
    a->of[plan] = k < most ? k : -1;
    if (k == most) return;
    if (k == a->n)
        a->items[a->n++] = (struct fr_answer){.rank = (size_t)plan, .outcome = *f->plans[plan]};
    struct fr_answer *answer = &a->items[k];
    answer->count++;
    answer->within = fmax(answer->within, fabs(f->value[plan] / f->value[answer->rank] - 1));
}

/* ---- what varies ------------------------------------------------------------------------------- */

enum { WORDS_MAX = 4 };

/* Values of a key among the plans of an answer. */
struct values {
    char word[WORDS_MAX][FR_PLAN_WORD];
    int words, n; /* words kept; values in all */
    uint64_t seen[FR_FOLD_MOST];
    double least, most; /* of numbers */
};

static void add_value(const struct folding *f, int plan, int key, struct values *v) {
    const struct fr_plan *p = &f->plans[plan]->plan;
    const struct fr_plan plain = fr_plan_default();
    uint64_t value = f->point[plan].value[key];
    bool doubling;
    fr_differ_size(key, &doubling);
    for (int i = 0; i < v->n; i++)
        if (v->seen[i] == value) return;
    v->seen[v->n++] = value;
    if (doubling) {
        v->least = fmin(v->least, (double)value);
        v->most = fmax(v->most, (double)value);
    } else if (v->words < WORDS_MAX)
        fr_plan_keys[key].type->text(
            &fr_plan_keys[key],
            fr_plan_missing_of(fr_plan_keys[key].needs, f->model, p) ? &plain : p,
            v->word[v->words++], FR_PLAN_WORD);
}

/* Is it one of two words, and both are there? */
static bool either(const struct fr_plan_key *key, const struct values *v) {
    int words = 0;
    if (v->n != 2) return false;
    if (key->type == &fr_plan_bool) return true;
    while (key->type == &fr_plan_choice && key->words[words]) words++;
    return words == 2;
}

static void say(const struct fr_plan_key *key, bool numbers, const struct values *v, char *out,
                size_t capacity, size_t *used) {
    const char *name = key == &fr_plan_keys[FR_PLAN_KEY_dp] ? "ranks" : key->name;
    fr_line_addf(out, capacity, used, "%s", *used ? ", " : "");
    if (either(key, v))
        fr_line_addf(out, capacity, used, "either %s", name);
    else if (numbers)
        fr_line_addf(out, capacity, used, "%s %.0f %s %.0f", name, v->least,
                     v->n == 2 ? "or" : "to", v->most);
    else if (v->n > WORDS_MAX || key->type == &fr_plan_list)
        fr_line_addf(out, capacity, used, "%s in %d ways", name, v->n);
    else
        for (int i = 0; i < v->words; i++)
            fr_line_addf(out, capacity, used, "%s %s",
                         i == 0              ? name
                         : i == v->words - 1 ? " or"
                                             : ",",
                         v->word[i]);
}

static void tell_varies(const struct folding *f, int k) {
    struct fr_answer *answer = &f->answers->items[k];
    size_t used = 0;
    for (int key = 0; key < FR_PLAN_KEYS; key++) {
        struct values v = {.least = INFINITY};
        bool doubling;
        fr_differ_size(key, &doubling);
        for (int i = 0; i < f->answers->plans; i++)
            if (f->answers->of[i] == k) add_value(f, i, key, &v);
        if (v.n > 1)
            say(&fr_plan_keys[key], doubling, &v, answer->varies, sizeof answer->varies, &used);
    }
}

fr_status fr_answers_make(const struct fr_workload *model,
                          const struct fr_outcome *const *plans, const double *value, int n,
                          int most, struct fr_answers *answers, struct fr_error *err) {
    *answers = (struct fr_answers){.plans = n};
    struct folding f = {.model = model,
                        .plans = plans,
                        .value = value,
                        .point = fr_calloc((size_t)n + 1, sizeof *f.point),
                        .answers = answers};
    answers->items = fr_calloc((size_t)most + 1, sizeof *answers->items);
    if (!f.point || !answers->items) {
        free(f.point);
        return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    }
    for (int i = 0; i < n; i++) fr_differ_point_of(model, &plans[i]->plan, &f.point[i]);
    for (int i = 0; i < n; i++) place(&f, i, most);
    for (int k = 0; k < answers->n; k++) tell_varies(&f, k);
    answers->shown = answers->n;
    free(f.point);
    return FR_OK;
}

void fr_answers_free(struct fr_answers *answers) {
    free(answers->items);
    *answers = (struct fr_answers){.n = 0};
}

double fr_answers_tried(const struct fr_answers *answers) {
    int last = answers->n < 3 ? answers->n - 1 : 2;
    return last > 0 && answers->items[0].odds.predicted_s > 0 ? answers->items[last].odds.tried
                                                              : NAN;
}
