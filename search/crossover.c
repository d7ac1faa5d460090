#include "search/crossover.h"

#include <math.h>

#include "search/evaluate.h"

/* The plans that compete, by their numbers in the space; the best first. */
struct rivals {
    const struct fr_job *job;
    const struct fr_space *space;
    const struct fr_search_options *options;
    const struct fr_search_result *result;
    struct fr_pricer *pricer; /* NULL without memory for it */
    int64_t index[FR_CROSSOVER_PLANS];
    int n;
};

static void add_rival(struct rivals *x, int64_t index) {
    for (int i = 0; i < x->n; i++)
        if (x->index[i] == index) return;
    if (x->n < FR_CROSSOVER_PLANS) x->index[x->n++] = index;
}

static struct rivals add_rivals(struct rivals x) {
    const struct fr_search_result *result = x.result;
    const struct fr_found_list *top = &result->top, *front = &result->pareto;
    for (size_t i = 0; i < top->count && i < FR_CROSSOVER_PLANS / 3; i++)
        add_rival(&x, top->items[i].index);
    for (int m = 0; m < FR_SEARCH_METHODS; m++)
        if (result->of_method[m].index >= 0) add_rival(&x, result->of_method[m].index);
    if (result->best_exact.index >= 0) add_rival(&x, result->best_exact.index);
    for (size_t i = 0; i < front->count; i++) add_rival(&x, front->items[i].index);
    return x;
}

static void scale(struct fr_job *job, int level, double factor) {
    struct fr_levels *levels = &job->cluster.levels;
    levels->level[level].rate_B_per_s *= factor;
    for (int op = 0; op < FR_OP_COUNT && level == levels->count - 1; op++)
        if (job->cluster.price[op].form == &fr_form_log)
            job->cluster.price[op].c2_s_per_B /= factor;
}

/* The best at a factor, without parts. */
static struct fr_found best_at(const struct rivals *x, int level, double factor) {
    struct fr_job changed = *x->job;
    struct fr_found best = {.index = -1};
    double least = INFINITY;
    scale(&changed, level, factor);
    if (x->pricer) fr_pricer_take(x->pricer, &changed);
    for (int i = 0; i < x->n; i++) {
        struct fr_outcome out;
        if (!fr_search_evaluate_bare(x->pricer, &changed, x->space, x->options, x->result->by,
                                     x->index[i], &out))
            continue;
        double value = fr_choice_value(x->options, x->result->by, &out);
        if (out.reasons || !(value < least)) continue;
        least = value;
        best = (struct fr_found){x->index[i], out};
    }
    return best;
}

static void price_whole(const struct rivals *x, int level, double factor, int64_t index,
                        struct fr_outcome *out) {
    struct fr_job changed = *x->job;
    scale(&changed, level, factor);
    fr_search_evaluate(&changed, x->space, x->options, x->result->by, index, out);
}

static bool differs(const struct fr_found *best, const struct fr_found *now, bool method) {
    return method ? best->outcome.plan.method != now->outcome.plan.method
                  : best->index != now->index;
}

/* Where the choice is another between factors @p from, where it is not, and @p to. */
static void narrow(const struct rivals *x, const struct fr_found *now, double from, double to,
                   struct fr_crossover *s) {
    struct fr_found other = best_at(x, s->level, to);
    while (fabs(log(to / from)) > 1e-3) {
        double middle = sqrt(from * to);
        struct fr_found there = best_at(x, s->level, middle);
        if (differs(&there, now, s->method)) {
            to = middle;
            other = there;
        } else
            from = middle;
    }
    s->factor = sqrt(from * to);
    s->rate_B_per_s = s->factor * x->job->cluster.levels.level[s->level].rate_B_per_s;
    s->to = other.outcome;
    if (other.index >= 0) price_whole(x, s->level, to, other.index, &s->to);
}

/* Steps outward until plan, and then method, is another. @return switches found */
static int trace_crossover(const struct rivals *x, const struct fr_found *now, int level,
                           double step, struct fr_crossover *s) {
    int n = 0;
    bool plan_found = false;
    double before = 1;
    for (double factor = step; factor < FR_SWITCH_FAR * 1.01 && factor > 0.99 / FR_SWITCH_FAR;
         before = factor, factor *= step) {
        struct fr_found there = best_at(x, level, factor);
        bool method = differs(now, &there, true);
        if (there.index < 0 || !(method || (!plan_found && differs(now, &there, false))))
            continue;
        if (!plan_found) {
            s[n] = (struct fr_crossover){.level = level};
            narrow(x, now, before, factor, &s[n]);
            plan_found = true;
            if (s[n++].to.plan.method != now->outcome.plan.method) {
                s[n - 1].method = true;
                return n;
            }
        }
        if (!method) continue;
        s[n] = (struct fr_crossover){.level = level, .method = true};
        narrow(x, now, before, factor, &s[n]);
        return n + 1;
    }
    return n;
}

int fr_crossovers_find(const struct fr_job *job, const struct fr_space *space,
                       const struct fr_search_options *options,
                       const struct fr_search_result *result, struct fr_crossover *s) {
    struct rivals x = add_rivals((struct rivals){job, space, options, result, .n = 0});
    int n = 0;
    if (space->variants || x.n < 2) return 0;
    x.pricer = fr_pricer_make(job);
    for (int l = 0; l < job->cluster.levels.count; l++) {
        const struct fr_found now = best_at(&x, l, 1);
        if (now.index < 0) continue;
        n += trace_crossover(&x, &now, l, 0.5, s + n);
        n += trace_crossover(&x, &now, l, 2, s + n);
    }
    fr_pricer_free(x.pricer);
    return n;
}
