#include "answer/search/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/outcome/report.h"
#include "answer/search/choice/even.h"
#include "answer/search/choice/lossy.h"
#include "answer/search/choice/ranks.h"
#include "base/alloc.h"
#include "base/range.h"
#include "models/job/assume.h"
#include "search/layer_grids.h"
#include "trust/interval.h"

/* Intervals of the plans behind those with odds, each by itself. */
static void add_intervals(struct fr_searched *r, const struct fr_tune_result *known) {
    struct fr_found_list *top = &r->result.top;
    for (size_t i = (size_t)r->n_odds; i < top->count && i < FR_SEARCH_PRICED; i++) {
        struct fr_outcome *out = &top->items[i].outcome;
        if (out->job && out->job != &r->job)
            continue; /* what is varied has intervals of its own */
        fr_interval_state(known, &r->job.workload, out);
    }
}

/* How many iterations the ranking counts of each. */
static double times_of(const struct fr_searched *r, const struct fr_outcome *out) {
    return r->result.by == FR_RANK_TOTAL    ? out->iterations
           : r->result.by == FR_RANK_SAMPLE ? 1 / fr_search_samples(out)
                                            : 1;
}

/* Odds between @p n plans, into @p odds and their intervals. */
static bool make_odds_of(const struct fr_searched *r, const struct fr_tune_result *known,
                         struct fr_outcome *const *outcome, int n, struct fr_odds *odds) {
    const struct fr_plan *plans[FR_ODDS_PLANS_MAX] = {NULL};
    double times[FR_ODDS_PLANS_MAX] = {0};
    for (int i = 0; i < n; i++) {
        plans[i] = &outcome[i]->plan;
        times[i] = times_of(r, outcome[i]);
    }
    if (fr_odds_make(known, &r->job.workload, plans, times, n, odds, NULL) != FR_OK)
        return false;
    for (int i = 0; i < n; i++) {
        outcome[i]->expected_s = odds[i].predicted_s;
        outcome[i]->low_s = odds[i].low_s;
        outcome[i]->high_s = odds[i].high_s;
    }
    return true;
}

static void make_odds_of_answers(struct fr_searched *r, const struct fr_tune_result *known) {
    struct fr_outcome *outcome[FR_ODDS_PLANS_MAX];
    struct fr_odds odds[FR_ODDS_PLANS_MAX];
    struct fr_answers *answers = &r->answers;
    for (int i = 0; i < answers->n; i++) outcome[i] = &answers->items[i].outcome;
    if (answers->n > 0 && make_odds_of(r, known, outcome, answers->n, odds))
        for (int i = 0; i < answers->n; i++) answers->items[i].odds = odds[i];
}

/* Odds of the top plans, and of answers, where time was ranked and all compute in one dtype. */
static void make_odds(struct fr_searched *r) {
    struct fr_outcome *outcome[FR_ODDS_PLANS_MAX];
    struct fr_found_list *top = &r->result.top;
    int n = top->count < 10 ? (int)top->count : 10;
    if (r->options.objective != FR_OBJECTIVE_TIME) return;
    struct fr_tune_result *known = fr_calloc(1, sizeof *known);
    if (!known) return;
    fr_interval_known(&r->job.cluster, r->job.workload.dtype, known);
    for (int i = 0; i < n; i++) outcome[i] = &top->items[i].outcome;
    if (make_odds_of(r, known, outcome, n, r->odds)) r->n_odds = n;
    if (r->n_odds > 0) add_intervals(r, known);
    make_odds_of_answers(r, known);
    free(known);
}

_Static_assert((int)FR_FOLD_MOST <= (int)FR_SEARCH_PRICED, "what is folded has its price");

/* Near-ties of the list's beginning. */
static fr_status fold(struct fr_searched *r, size_t depth, size_t most, struct fr_error *err) {
    const struct fr_outcome *plans[FR_FOLD_MOST] = {NULL};
    double value[FR_FOLD_MOST] = {0};
    const struct fr_found_list *top = &r->result.top;
    int n = 0;
    for (; n < (int)depth && (size_t)n < top->count; n++) {
        plans[n] = &top->items[n].outcome;
        value[n] = r->result.ranked.items[n].value;
    }
    size_t answers = most > FR_FOLD_ANSWERS ? most : FR_FOLD_ANSWERS;
    FR_TRY(fr_answers_make(&r->job.workload, plans, value, n, (int)answers, &r->answers, err));
    if (r->answers.shown > (int)most) r->answers.shown = (int)most;
    return FR_OK;
}

bool fr_searched_expected(const struct fr_searched *r, struct fr_interval *of) {
    if (r->answers.n == 0 || !(r->answers.items[0].odds.predicted_s > 0)) return false;
    *of = fr_odds_chosen(&r->answers.items[0].odds);
    return true;
}

/* Offered wherever the best plan is a grid over several layers: what the paper leaves open. */
static fr_status price_per_layer(struct fr_searched *r, struct fr_error *err) {
    if (r->result.top.count == 0) return FR_OK;
    const struct fr_outcome *best = &r->result.top.items[0].outcome;
    const struct fr_job *job = best->job ? best->job : &r->job;
    struct fr_plan plan = best->plan;
    if (!plan.method->grids || job->workload.n_layers < 2 || plan.layer_tp ||
        plan.layer_tp_best)
        return FR_OK;
    plan.domain = 0; /* with it all layers are on one grid */
    r->layer_tp = fr_calloc((size_t)job->workload.n_layers, sizeof *r->layer_tp);
    if (!r->layer_tp) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (fr_layer_grids_best(job, &plan, r->layer_tp, err) != FR_OK) return FR_OK;
    plan.layer_tp = r->layer_tp;
    plan.n_layer_tp = job->workload.n_layers;
    fr_cost(job, &plan, &r->per_layer);
    r->has_per_layer = isfinite(r->per_layer.time_s);
    return FR_OK;
}

/* A plan of this search as it was asked for: with the key that it was spared. */
static bool as_asked(const struct fr_searched *r, const struct fr_plan_key *key,
                     struct fr_outcome *out) {
    const struct fr_search_result *result = &r->result;
    const struct fr_outcome *any = result->top.count > 0 ? &result->top.items[0].outcome : NULL;
    for (int i = 0; !any && i < FR_REASON_COUNT; i++)
        if (result->because[i]) any = &result->example[i].outcome;
    if (!any) return false;
    const struct fr_job *job = any->job ? any->job : &r->job;
    struct fr_plan plan = any->plan;
    fr_plan_key_copy(key, &r->space.base, &plan);
    plan.resolved = 0;
    fr_cost(job, &plan, out);
    out->job = any->job;
    return out->reasons & FR_BECAUSE(FR_REASON_IDLE_KEY);
}

/* A key that is set, and that no plan reads, is a mistake: none of them can be, as predict has it. */
static fr_status all_read(struct fr_searched *r, struct fr_error *err) {
    const struct fr_space *space = &r->space;
    struct fr_search_result *result = &r->result;
    struct fr_outcome asked;
    if (result->read == 0) return FR_OK; /* no plan at all */
    for (int i = 0; i < space->n_watched; i++) {
        int k = space->watched[i];
        const char *needs = "";
        struct fr_plan plan = space->base;
        if ((result->read | space->varied) >> k & 1) continue;
        const struct fr_plan_key *key = &fr_plan_keys[k];
        if (as_asked(r, key, &asked)) {
            fr_search_refuse(result, FR_REASON_IDLE_KEY, &asked);
            return FR_OK;
        }
        uint64_t lacks = key->needs & fr_plan_needs_refused;
        if (lacks) needs = fr_plan_need_names[__builtin_ctzll(lacks)];
        fr_plan_idle_key(&fr_space_job(space, &r->job, 0)->workload, &plan, &needs);
        return fr_fail(err, FR_ERR_INPUT, "plan",
                       "%s would have no effect on any plan of this search: it needs %s",
                       key->name, needs);
    }
    return FR_OK;
}

/* Largest of the rank counts. */
static fr_status most_ranks(const char *ranks, int64_t *most, struct fr_error *err) {
    int64_t *list = NULL;
    size_t n = 0;
    FR_TRY(fr_range_parse(ranks, false, 1, "--ranks", &list, &n, err));
    *most = 1;
    for (size_t i = 0; i < n; i++) *most = list[i] > *most ? list[i] : *most;
    free(list);
    return FR_OK;
}

static bool same_key(const char *text, const char *key) {
    size_t length = strlen(key);
    return strncmp(text, key, length) == 0 && text[length] == '=';
}

/* The recipe, narrowed by what the user varies; or that alone. */
static void choose(const char *const *vary, int n_vary, int64_t ranks, struct fr_searched *r) {
    struct fr_recipe *recipe = &r->recipe;
    if (n_vary == 0 || r->fixed) fr_recipe_choose(&r->job, ranks, r->lossy, recipe);
    for (int i = 0; recipe->chosen && r->able && r->able[i]; i++)
        fr_recipe_restrict(r->able[i], recipe);
    for (int i = 0; i < n_vary; i++) fr_recipe_narrow(vary[i], recipe);
}

static bool says_mesh(const char *vary) {
    static const char *const keys[] = {"method", "tp", "dp", "pp", "cp", NULL};
    for (int i = 0; keys[i]; i++)
        if (same_key(vary, keys[i])) return true;
    return strncmp(vary, "model.", strlen("model.")) == 0;
}

/* Without a word of the mesh the ranks are tp's, each of which has whole heads.  Is there no rank count where they can? */
static fr_status lacks_heads(const char *ranks, const char *const *vary, int n_vary,
                             const struct fr_searched *r, bool *lacks, struct fr_error *err) {
    const struct fr_plan *plan = &r->job.plan;
    const struct fr_transformer *t = &r->job.workload.transformer;
    int64_t *list = NULL, taken = plan->pp * plan->cp;
    size_t n = 0;
    *lacks = !r->recipe.chosen && t->layers > 0 && t->heads > 0 && plan->method->megatron &&
             taken > 0;
    for (int i = 0; i < n_vary && *lacks; i++) *lacks = !says_mesh(vary[i]);
    if (!*lacks) return FR_OK;
    FR_TRY(fr_range_parse(ranks, false, 1, "--ranks", &list, &n, err));
    for (size_t i = 0; i < n; i++)
        if (list[i] % taken == 0 && t->heads % (list[i] / taken) == 0) *lacks = false;
    free(list);
    return FR_OK;
}

/* Keys that the user varies, else the recipe. */
static fr_status make_space(const char *ranks, const char *const *vary, int n_vary,
                            const struct fr_job_names *names, struct fr_searched *r,
                            struct fr_error *err) {
    enum { ROWS = sizeof r->recipe.row / sizeof *r->recipe.row };
    struct fr_recipe *recipe = &r->recipe;
    char texts[ROWS][sizeof recipe->row->key + sizeof recipe->row->values];
    const char *words[ROWS];
    int64_t most = 1;
    bool dp_is_left = false;
    FR_TRY(most_ranks(ranks, &most, err));
    choose(vary, n_vary, most, r);
    for (int i = 0; i < recipe->n && recipe->chosen; i++) {
        snprintf(texts[i], sizeof texts[i], "%s=%s", recipe->row[i].key, recipe->row[i].values);
        words[i] = texts[i];
        for (int k = 0; k < n_vary; k++) /* in full, however long */
            if (same_key(vary[k], recipe->row[i].key)) words[i] = vary[k];
    }
    FR_TRY(lacks_heads(ranks, vary, n_vary, r, &dp_is_left, err));
    struct fr_plan base = r->job.plan; /* each plan takes what is usual of it by itself */
    fr_job_forget(&r->job, r->job.open, &base);
    FR_TRY(fr_space_make(ranks, recipe->chosen ? words : vary,
                         recipe->chosen ? recipe->n : n_vary, &base,
                         fr_job_plan_says(&r->job, "dp"),
                         fr_job_plan_says(&r->job, "tp") || dp_is_left, names, &r->space, err));
    fr_space_complete(&r->space, &r->job);
    return FR_OK;
}

/* ---- the user's own plans ------------------------------------------------------------------- */

/* Rank counts are many: of a plan that names its replicas its own, else the most. */
static fr_status read_user_plans(const char *ranks, struct fr_searched *r,
                                 struct fr_error *err) {
    int64_t most = 1;
    if (r->n_user_plans == 0) return FR_OK;
    if (r->space.n_inputs)
        return fr_fail(err, FR_ERR_USAGE, "--include",
                       "is for one model on one cluster; what is varied of them is not");
    r->user_plan = fr_calloc((size_t)r->n_user_plans, sizeof *r->user_plan);
    if (!r->user_plan) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    FR_TRY(most_ranks(ranks, &most, err));
    for (int i = 0; i < r->n_user_plans; i++) {
        FR_TRY(fr_user_plan_read(&r->job, r->include[i], r->space.n_ranks > 1 ? 0 : most,
                                 &r->user_plan[i], err));
        r->user_plan[i].ask =
            (struct fr_gain_ask){r->measured_s ? r->measured_s[i] : 0, r->tuned};
    }
    fr_user_plan_name(r->user_plan, r->n_user_plans);
    return FR_OK;
}

/* All that is feasible was ranked, best first. */
static void rank_user_plans(struct fr_searched *r) {
    const struct fr_ranked_list *ranked = &r->result.ranked;
    for (int i = 0; i < r->n_user_plans; i++) {
        struct fr_user_plan *user_plan = &r->user_plan[i];
        const struct fr_outcome *out = &user_plan->outcome;
        double value = fr_objective_value(r->options.objective, r->result.by, out);
        if (!isfinite(value) || ranked->count == 0) continue;
        user_plan->slower = value / ranked->items[0].value - 1;
        const struct fr_outcome *best = &r->result.top.items[0].outcome;
        bool timed = r->options.objective == FR_OBJECTIVE_TIME;
        if (timed && (!out->reasons || user_plan->ask.measured_s > 0)) /* it ran */
            user_plan->gain = fr_gain_over(&r->job, best, out, &user_plan->ask);
        if (out->reasons) continue; /* it has no place among those that can be */
        for (user_plan->faster = 0;
             (size_t)user_plan->faster < ranked->count &&
             ranked->items[user_plan->faster].value < value * (1 - 1e-12);)
            user_plan->faster++;
        if (timed) user_plan->as_good = fr_user_plan_as_good(&r->job, out, best);
    }
}

/* A list as long as it would be had not all been ranked for them. */
static void cut_ranked(struct fr_search_result *result, size_t top) {
    if (top > 0 && result->ranked.count > top) result->ranked.count = top;
    if (result->top.count > result->ranked.count) result->top.count = result->ranked.count;
}

/* Plans to keep for answers; 0: the list stays plain. */
static size_t folds_to(const struct fr_searched *r, size_t top) {
    bool one =
        r->options.objective == FR_OBJECTIVE_TIME && !r->slowdown.asked && !r->space.variants;
    return r->folds && one ? fr_fold_depth(top) : 0;
}

fr_status fr_searched_make(const char *ranks, const char *const *vary, int n_vary,
                           const struct fr_job_names *names, struct fr_searched *r,
                           struct fr_error *err) {
    FR_TRY(fr_training_check(&r->training, &r->job, err));
    FR_TRY(make_space(ranks, vary, n_vary, names, r, err));
    if (r->space.n_inputs && r->explain)
        return fr_fail(err, FR_ERR_USAGE, "--explain",
                       "is for one model on one cluster; it explains no varied keys of them");
    /* The margin needs the second best even when one is asked for. */
    size_t shown = r->options.top;
    if (shown == 1) r->options.top = 2;
    if (r->slowdown.asked) {
        if (r->n_user_plans > 0)
            return fr_fail(err, FR_ERR_USAGE, "--include",
                           "and --max-slowdown, which chooses clocks, do not go together");
        r->options.top = FR_SLOWDOWN_PLANS;
        r->options.objective = FR_OBJECTIVE_TIME;
    }
    FR_TRY(read_user_plans(ranks, r, err));
    size_t kept = r->options.top, depth = folds_to(r, shown);
    if (depth > kept) r->options.top = depth;
    if (r->n_user_plans > 0) r->options.top = 0;
    if (r->spread)
        FR_TRY(fr_spread_search(r->spread, &r->job, &r->space, &r->options, &r->result, err));
    else
        FR_TRY(fr_search(&r->job, &r->space, &r->options, &r->result, err));
    if (r->slowdown.asked) {
        r->options.objective = FR_OBJECTIVE_ENERGY;
        FR_TRY(fr_slowdown_apply(&r->job, &r->slowdown, &r->result, err));
        kept = shown == 1 ? 2 : shown;
    }
    if (r->slowdown.asked) r->result.less_sure.count = 0; /* they are of the fastest */
    FR_TRY(all_read(r, err));
    FR_TRY(fr_ranks_list(r, err));
    FR_TRY(fr_lossy_choose(r, err));
    rank_user_plans(r);
    if (depth > 0) FR_TRY(fold(r, depth, shown, err));
    fr_even_state_all(r);
    cut_ranked(&r->result, kept);
    FR_TRY(price_per_layer(r, err));
    if (!r->space.variants) make_odds(r);
    FR_TRY(fr_lossy_state_wins(r, err));
    if (err) err->detail[0] = '\0';
    r->options.top = shown;
    return fr_nearby_search(vary, n_vary, names, r, err);
}

fr_status fr_searched_load(const struct fr_searches_asked *asked,
                           const struct fr_job_names *names, const struct fr_training *training,
                           struct fr_searched *r, struct fr_error *err) {
    r->options = asked->options;
    r->fixed = asked->fixed;
    r->lossy = asked->lossy;
    r->training = *training;
    FR_TRY(fr_job_load(names, &r->job, err));
    return fr_searched_make(asked->ranks, asked->vary, asked->n_vary, names, r, err);
}

void fr_searched_put_best(struct fr_json_writer *w, const struct fr_job *job,
                          const struct fr_outcome *best, const struct fr_training *training,
                          const struct fr_training_cost *cost) {
    fr_json_key(w, "outcome");
    if (best)
        fr_report_json(w, job, best);
    else
        fr_json_put_null(w);
    if (!best || !fr_training_asked(training)) return;
    fr_json_key(w, "training");
    fr_training_put(w, training, cost);
}

void fr_searched_free(struct fr_searched *r) {
    free(r->layer_tp);
    fr_ranks_free(r);
    fr_answers_free(&r->answers);
    for (int i = 0; r->user_plan && i < r->n_user_plans; i++)
        fr_user_plan_free(&r->user_plan[i]);
    free(r->user_plan);
    fr_slowdown_free(&r->slowdown);
    fr_search_result_free(&r->result);
    fr_space_free(&r->space);
    fr_job_free(&r->job);
    *r = (struct fr_searched){.n_odds = 0};
}
