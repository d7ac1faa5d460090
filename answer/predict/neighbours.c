#include "answer/predict/neighbours.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/outcome/cost.h"
#include "search/chosen.h"
#include "trust/coefficient.h"

/* ---- one key changed ------------------------------------------------------------------------ */

/* Price with the reasons that the search adds to those of the closed form. */
static void price(const struct fr_job *job, const struct fr_search_options *options,
                  const struct fr_plan *plan, struct fr_outcome *out) {
    fr_cost_chosen(job, plan, out);
    fr_search_limit(options, out);
}

/* The value that the choice compares; infinite for a plan that cannot be, or whose value is unknown. */
static double value_of(const struct fr_search_options *options, fr_ranking by,
                       const struct fr_outcome *out) {
    double value = fr_choice_value(options, by, out);
    return out->reasons || !isfinite(value) ? INFINITY : value;
}

static bool of_mesh(int key) {
    return key == FR_PLAN_KEY_tp || key == FR_PLAN_KEY_pp || key == FR_PLAN_KEY_cp ||
           key == FR_PLAN_KEY_dp;
}

/* Replicas take what is left of the ranks; @return false where nothing is. */
static bool keep_ranks(int key, int64_t ranks, struct fr_plan *plan) {
    if (!of_mesh(key)) return true;
    int64_t *rest = key == FR_PLAN_KEY_dp ? &plan->tp : &plan->dp;
    int64_t others = fr_plan_ranks(plan) / *rest;
    if (ranks % others != 0) return false;
    *rest = ranks / others;
    return true;
}

/* Does the key do anything in this plan? */
static bool is_read(const struct fr_job *job, int key, const struct fr_plan *plan) {
    return fr_plan_missing_of(fr_plan_keys[key].needs, &job->workload, plan) == 0;
}

/* Keys that do nothing in the best plan, and do something in @p plan, are as the job says: the best has lost
 * them, since plans that differ in idle keys alone are one. */
static void put_back(const struct fr_job *job, int changed, const struct fr_plan *best,
                     struct fr_plan *plan) {
    for (int k = 0; k < FR_PLAN_KEYS; k++) {
        const struct fr_plan_key *key = &fr_plan_keys[k];
        if (k == changed || is_read(job, k, best) || !is_read(job, k, plan)) continue;
        memcpy((char *)plan + key->offset, (const char *)&job->plan + key->offset, key->size);
    }
}

int fr_neighbours(const struct fr_job *job, const struct fr_space *space,
                  const struct fr_search_options *options, fr_ranking by,
                  const struct fr_outcome *best,
                  struct fr_neighbour neighbour[FR_NEIGHBOURS_MAX]) {
    double best_value = fr_objective_value(options->objective, by, best);
    int n = 0;
    for (int i = 0; i < space->n_dimensions; i++) {
        const struct fr_dimension *d = &space->dimension[i];
        int key = (int)(d->key - fr_plan_keys);
        for (size_t v = 0; v < d->count && n < FR_NEIGHBOURS_MAX; v++) {
            struct fr_neighbour *one = &neighbour[n];
            *one = (struct fr_neighbour){.key = key, .plan = best->plan, .slower = NAN};
            memcpy((char *)&one->plan + d->key->offset, d->values + v * d->key->size,
                   d->key->size);
            one->plan.resolved = 0;
            if (d->key->type->same(d->key, &one->plan, &best->plan)) continue;
            if (!keep_ranks(key, best->ranks, &one->plan)) continue;
            if (!is_read(job, key, &one->plan) && !is_read(job, key, &best->plan)) continue;
            put_back(job, key, &best->plan, &one->plan);
            d->key->type->text(d->key, &one->plan, one->value, sizeof one->value);
            price(job, options, &one->plan, &one->outcome);
            if (one->outcome.reasons & FR_BECAUSE(FR_REASON_IDLE_KEY)) continue;
            double value = fr_objective_value(options->objective, by, &one->outcome);
            if (isfinite(value)) one->slower = value / best_value - 1;
            n++;
        }
    }
    return n;
}

bool fr_neighbours_surer(const struct fr_job *job, const struct fr_space *space,
                         const struct fr_search_options *options, fr_ranking by,
                         const struct fr_outcome *unsure, struct fr_neighbour *surer) {
    struct fr_neighbour *all = fr_calloc(FR_NEIGHBOURS_MAX, sizeof *all);
    int n = all ? fr_neighbours(job, space, options, by, unsure, all) : 0, best = -1;
    for (int i = 0; i < n; i++)
        if (value_of(options, by, &all[i].outcome) <
            (best < 0 ? INFINITY : value_of(options, by, &all[best].outcome)))
            best = i;
    if (best >= 0) *surer = all[best];
    free(all);
    return best >= 0;
}

/* ---- one input moved -------------------------------------------------------------------------- */

struct race {
    const struct fr_job *job;
    const struct fr_search_options *options;
    fr_ranking by;
    const struct fr_plan *best;
    const struct fr_plan *const *others;
    int n;
    int coefficient; /* -1: the device's memory */
};

/* The job with its input times @p factor; false where it cannot be moved there. */
static bool move(const struct race *r, double factor, struct fr_job *moved) {
    *moved = *r->job;
    if (r->coefficient < 0) {
        moved->cluster.device.memory_B *= factor;
        return moved->cluster.device.memory_B > 0;
    }
    const struct fr_coefficient *c = &fr_coefficients[r->coefficient];
    double *at = fr_coefficient_at(r->coefficient, &moved->cluster, moved->workload.dtype);
    if (!at) return false;
    *at *= factor;
    return !(c->most > c->least && (*at > c->most || *at < c->least));
}

static double value_there(const struct race *r, const struct fr_job *job,
                          const struct fr_plan *plan) {
    struct fr_outcome out;
    price(job, r->options, plan, &out);
    return value_of(r->options, r->by, &out);
}

/* Who is better than the best there; -1: nobody, or it cannot be moved so far. */
static int winner(const struct race *r, double factor) {
    struct fr_job moved;
    int first = -1;
    if (!move(r, factor, &moved)) return -1;
    double least = value_there(r, &moved, r->best) * (1 - 1e-9);
    for (int i = 0; i < r->n; i++) {
        double value = value_there(r, &moved, r->others[i]);
        if (value >= least) continue;
        least = value;
        first = i;
    }
    return first;
}

/* Steps of a half doubling, then halves of the one in which somebody overtakes. */
static bool find(const struct race *r, bool up, struct fr_turn *turn) {
    double near = 0, far = 0;
    int who = -1;
    for (double k = 0.5; who < 0 && k <= log2(FR_TURN_MOST); k += 0.5) {
        near = far;
        far = up ? k : -k;
        who = winner(r, exp2(far));
    }
    if (who < 0) return false;
    while (fabs(far - near) > 0.01) {
        double middle = (near + far) / 2;
        int there = winner(r, exp2(middle));
        if (there < 0) {
            near = middle;
            continue;
        }
        far = middle;
        who = there;
    }
    turn->factor = exp2(far);
    turn->plan = *r->others[who];
    return true;
}

int fr_turns(const struct fr_job *job, const struct fr_search_options *options, fr_ranking by,
             const struct fr_plan *best, const struct fr_plan *const *others, int n,
             struct fr_turn turn[FR_TURNS_MAX]) {
    struct race r = {
        .job = job, .options = options, .by = by, .best = best, .others = others, .n = n};
    int found = 0, last = fr_coefficient_count();
    for (int c = 0; c <= last; c++)
        for (int up = 1; up >= 0 && found < FR_TURNS_MAX; up--) {
            r.coefficient = c < last ? c : -1;
            if (!find(&r, up, &turn[found])) continue;
            snprintf(turn[found].input, sizeof turn->input, "%s",
                     c < last ? fr_coefficients[c].name : "device memory");
            found++;
        }
    return found;
}

void fr_around_best(const struct fr_job *job, const struct fr_space *space,
                    const struct fr_search_options *options,
                    const struct fr_search_result *result, struct fr_around *a) {
    enum { NEXT = 10, RIVALS_MAX = 40 };
    const struct fr_plan *rivals[RIVALS_MAX];
    const struct fr_outcome *best = &result->top.items[0].outcome;
    a->n_neighbours = fr_neighbours(job, space, options, result->by, best, a->neighbour);
    a->n_rivals = 0;
    for (size_t i = 1; i < result->top.count && i <= NEXT; i++)
        rivals[a->n_rivals++] = &result->top.items[i].outcome.plan;
    for (int i = 0; i < a->n_neighbours && a->n_rivals < RIVALS_MAX; i++)
        if (a->neighbour[i].slower < 1) rivals[a->n_rivals++] = &a->neighbour[i].plan;
    a->n_turns = fr_turns(job, options, result->by, &best->plan, rivals, a->n_rivals, a->turn);
}
