#include "search/space.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/job/assume.h"
#include "search/equivalent.h"
#include "search/repeats.h"
#include "search/vary.h"

enum { RANKS_MOST = 1000000000 };

fr_status fr_space_make(const char *ranks, const char *const *vary, int n_vary,
                        const struct fr_plan *base, bool dp_set, bool tp_set,
                        const struct fr_job_names *names, struct fr_space *space,
                        struct fr_error *err) {
    *space = (struct fr_space){.base = *base,
                               .plain = fr_plan_default(),
                               .dp_given = dp_set,
                               .tp_given = tp_set,
                               .n_variants = 1};
    FR_TRY(fr_range_parse(ranks, false, 1, "--ranks", &space->ranks, &space->n_ranks, err));
    for (size_t i = 0; i < space->n_ranks; i++)
        if (space->ranks[i] > RANKS_MOST)
            return fr_fail(err, FR_ERR_USAGE, "--ranks",
                           "%" PRId64 " is more than a search divides; expected at most %d",
                           space->ranks[i], RANKS_MOST);
    for (int i = 0; i < n_vary; i++) FR_TRY(fr_vary_parse(vary[i], names, space, err));
    FR_TRY(fr_vary_load(names, space, err));
    double size = (double)space->n_ranks * (double)space->n_variants;
    for (int i = 0; i < space->n_dimensions; i++) size *= (double)space->dimension[i].count;
    if (size > 1e12)
        return fr_fail(err, FR_ERR_USAGE, "--vary", "makes %g configurations; at most 1e12",
                       size);
    space->size = (int64_t)size;
    for (int k = 0; k < FR_PLAN_KEYS; k++) {
        const struct fr_plan_key *key = &fr_plan_keys[k];
        bool varied = space->varied >> k & 1;
        if (!varied && key->type->same(key, base, &space->plain)) continue;
        int d = space->n_dimensions;
        while (d-- > 0 && space->dimension[d].key != key) {
        }
        space->digit_of[space->n_watched] = d;
        space->needs_of[space->n_watched] = key->needs;
        space->watched[space->n_watched++] = k;
        space->asked |= key->needs;
        space->cp_watched = space->cp_watched || k == FR_PLAN_KEY_cp;
    }
    return FR_OK;
}

void fr_space_free(struct fr_space *space) {
    free(space->ranks);
    for (int i = 0; i < space->n_dimensions; i++) {
        struct fr_dimension *d = &space->dimension[i];
        for (size_t v = 0; d->lists && v < d->count; v++) fr_plan_lists_free(&d->lists[v]);
        free(d->lists);
        free(d->values);
    }
    for (int64_t v = 0; space->variants && v < space->n_variants; v++)
        fr_job_free(&space->variants[v]);
    for (int64_t v = 0; space->settings && v < space->n_variants * space->n_inputs; v++)
        free(space->settings[v]);
    for (int i = 0; i < space->n_inputs; i++) {
        for (size_t v = 0; v < space->input[i].count; v++) free(space->input[i].texts[v]);
        free(space->input[i].texts);
    }
    free(space->variants);
    free(space->settings);
    *space = (struct fr_space){0};
}

const struct fr_job *fr_space_job(const struct fr_space *space, const struct fr_job *job,
                                  int64_t index) {
    return space->variants ? &space->variants[index / fr_space_plans(space)] : job;
}

void fr_space_complete(struct fr_space *space, struct fr_job *job) {
    job->open &= ~space->varied;
    for (int64_t v = 0; space->variants && v < space->n_variants; v++)
        space->variants[v].open &= ~space->varied;
    space->completes = job;
}

/* Fill in the usual values of plans of the job; @p plan has its mesh. */
static void complete(const struct fr_job *job, struct fr_plan *plan) {
    if (!job || !job->usual) return;
    fr_job_forget(job, job->open, plan);
    fr_job_complete(job, job->open, plan);
}

/* Fill the axis that nobody gave; false when the ranks do not divide so. */
static bool fill_mesh(const struct fr_space *space, int64_t ranks, struct fr_plan *plan) {
    if (space->dp_given && space->tp_given) return fr_plan_ranks(plan) == ranks;
    int64_t *left = space->tp_given ? &plan->dp : &plan->tp;
    *left = 1;
    int64_t taken = fr_plan_ranks(plan);
    if (ranks % taken != 0) return false;
    *left = ranks / taken;
    return true;
}

static void put(const struct fr_dimension *d, size_t digit, struct fr_plan *plan) {
    const unsigned char *value = d->values + digit * d->key->size;
    char *field = (char *)plan + d->key->offset;
    if (d->key->size == sizeof(int64_t)) /* nearly all */
        memcpy(field, value, sizeof(int64_t));
    else
        memcpy(field, value, d->key->size);
}

/* An order of passes that is varied says how many stages and chunks there are, as one that is set. */
static void say_order(const struct fr_space *space, struct fr_plan *plan) {
    if (!plan->order || plan->order == space->base.order) return;
    if (plan->pp == 1) plan->pp = plan->order->stages;
    if (plan->chunks == 1) plan->chunks = plan->order->chunks;
}

/* Nothing reads the key of dimension @p d of @p plan: is this the first of its values of which that is so?
 *  Whether a schedule is read is its own affair; other keys hang on keys before them alone. */
static bool is_first_idle(const struct fr_space *space, const struct fr_workload *model, int d,
                          size_t digit, const struct fr_plan *plan) {
    const struct fr_plan_key *key = space->dimension[d].key;
    if (key != &fr_plan_keys[FR_PLAN_KEY_schedule]) return digit == 0;
    for (size_t v = 0; v < digit; v++) {
        struct fr_plan other = *plan;
        put(&space->dimension[d], v, &other);
        say_order(space, &other);
        if (key->needs & fr_plan_missing_of(space->asked, model, &other)) return false;
    }
    return true;
}

/* Bit by bit: nothing would change. */
static bool has_default(const struct fr_space *space, const struct fr_plan_key *key,
                        const struct fr_plan *plan) {
    return !memcmp((const char *)plan + key->offset, (const char *)&space->plain + key->offset,
                   key->size);
}

/* Keys that nothing reads go back to their defaults, and what hangs on these in turn.
 * @param[out] lacks  needs of that dimension's key that do not hold
 * @return -1, or the dimension by which another configuration says the same */
static int resolve(const struct fr_space *space, const struct fr_workload *model,
                   const size_t *digit, fr_plan_key_set which, struct fr_plan *plan,
                   uint64_t *lacks) {
    uint64_t missing = fr_plan_missing_of(space->asked, model, plan), before;
    const uint64_t mistakes = missing & fr_plan_needs_refused;
    do {
        before = missing;
        for (int i = 0; i < space->n_watched; i++) {
            *lacks = space->needs_of[i] & missing;
            if (!*lacks || !(which >> space->watched[i] & 1)) continue;
            const struct fr_plan_key *key = &fr_plan_keys[space->watched[i]];
            int d = space->digit_of[i];
            if (d >= 0 && !is_first_idle(space, model, d, digit[d], plan)) return d;
            if (key->needs & mistakes) plan->resolved |= FR_PLAN_KEY_BIT(space->watched[i]);
            if (has_default(space, key, plan)) continue;
            fr_plan_key_copy(key, &space->plain, plan);
            missing = fr_plan_missing_of(space->asked, model, plan);
        }
    } while (missing != before);
    return -1;
}

/* The value of a key by which @p plan equals another plan becomes the default.  False where the varied key also has
 * that name, or another such name before. */
static bool rename_key(const struct fr_space *space, const struct fr_workload *model,
                       const size_t *digit, const struct fr_equivalent *equivalent,
                       struct fr_plan *plan) {
    const struct fr_plan_key *key = &fr_plan_keys[equivalent->key];
    struct fr_plan other = *plan;
    fr_plan_key_copy(key, &space->plain, plan);
    for (int i = 0; i < space->n_dimensions; i++) {
        const struct fr_dimension *d = &space->dimension[i];
        if (d->key != key) continue;
        for (size_t v = 0; v < d->count; v++) {
            put(d, v, &other);
            if (key->type->same(key, &other, plan) ||
                (v < digit[i] && equivalent->is(model, &other)))
                return false;
        }
    }
    return true;
}

/* Values of different keys that make the same plan (models/plan/equivalent.h), one row of the table after the other. */
static bool rename_equivalents(const struct fr_space *space, const struct fr_workload *model,
                               const size_t *digit, struct fr_plan *plan) {
    for (const struct fr_equivalent *equivalent = fr_equivalent_keys; equivalent->is;
         equivalent++)
        if (equivalent->is(model, plan) && !rename_key(space, model, digit, equivalent, plan))
            return false;
    return true;
}

/* Number of the dimension of key @p number, or -1. */
static int dimension_of(const struct fr_space *space, int number) {
    int i = space->n_dimensions;
    while (i-- > 0 && space->dimension[i].key != &fr_plan_keys[number]) {
    }
    return i;
}

/* Value @p v of an axis that is varied, else 0. */
static int64_t value_of(const struct fr_space *space, int dimension, size_t v) {
    int64_t value = 0;
    if (dimension >= 0)
        memcpy(&value, space->dimension[dimension].values + v * sizeof value, sizeof value);
    return value;
}

/* Grids of layers are of all ranks, however tp and dp divide them: of the configurations that differ in
 * these alone the first that divides the ranks stands for all. */
static bool repeats_grids(const struct fr_space *space, const struct fr_workload *model,
                          const size_t *digit, const struct fr_plan *plan) {
    if (model && model->n_layers == 0) return false; /* a micro-batch is for its tp */
    if (!(plan->layer_tp || plan->layer_tp_best) || !plan->method->grids) return false;
    int tp = dimension_of(space, FR_PLAN_KEY_tp), dp = dimension_of(space, FR_PLAN_KEY_dp);
    const int64_t ranks = plan->dp * plan->tp;
    size_t n_tp = tp < 0 ? 1 : space->dimension[tp].count,
           n_dp = dp < 0 ? 1 : space->dimension[dp].count;
    for (size_t v = 0; v < n_tp; v++)
        for (size_t w = 0; w < n_dp; w++) {
            int64_t t = value_of(space, tp, v), d = value_of(space, dp, w);
            if ((tp < 0 || v == digit[tp]) && (dp < 0 || w == digit[dp])) return false;
            if (!t) t = space->tp_given ? plan->tp : 1;
            if (!d) d = space->dp_given ? plan->dp : 1;
            bool both = space->dp_given && space->tp_given;
            if (both ? t * d == ranks : ranks % (t * d) == 0) return true;
        }
    return false;
}

static bool among(const struct fr_space *space, int dimension, int64_t value) {
    for (size_t v = 0; v < space->dimension[dimension].count; v++)
        if (value_of(space, dimension, v) == value) return true;
    return false;
}

/* Is there a configuration of this mesh? */
static bool has_mesh(const struct fr_space *space, int64_t tp, int64_t dp) {
    int t = dimension_of(space, FR_PLAN_KEY_tp), d = dimension_of(space, FR_PLAN_KEY_dp);
    bool dp_stays = space->dp_given || !space->tp_given; /* else it is what is left */
    return (t >= 0 ? among(space, t, tp) : !space->tp_given || space->base.tp == tp) &&
           (d >= 0 ? among(space, d, dp) : !dp_stays || space->base.dp == dp);
}

/* Such grids that are all alike are the plan's own, of as many rows, the other axis what is left; false
 * where another configuration says so. */
static bool take_uniform(const struct fr_space *space, const struct fr_workload *model,
                         struct fr_plan *plan) {
    const struct fr_plan_key *key = &fr_plan_keys[FR_PLAN_KEY_layer_tp];
    if (!model || !plan->method->grids) return true;
    int64_t tp = fr_equivalent_uniform(plan), ranks = plan->dp * plan->tp;
    int grids = dimension_of(space, FR_PLAN_KEY_layer_tp);
    if (tp == 0) return true;
    if (plan->n_layer_tp != model->n_layers || ranks % tp != 0) return true;
    plan->tp = tp;
    plan->dp = ranks / tp;
    fr_plan_key_copy(key, &space->plain, plan);
    if (grids < 0 || !has_mesh(space, plan->tp, plan->dp)) return true;
    for (size_t v = 0; v < space->dimension[grids].count; v++) {
        struct fr_plan other = *plan;
        put(&space->dimension[grids], v, &other);
        if (key->type->same(key, &other, plan)) return false;
    }
    return true;
}

/* False where another configuration says itself how many stages and chunks an order has. */
static bool take_order(const struct fr_space *space, struct fr_plan *plan) {
    if (!plan->order) return true;
    const struct fr_plan given = *plan;
    say_order(space, plan);
    int pp = dimension_of(space, FR_PLAN_KEY_pp), v = dimension_of(space, FR_PLAN_KEY_chunks);
    return !(plan->pp != given.pp && pp >= 0 && among(space, pp, plan->pp)) &&
           !(plan->chunks != given.chunks && v >= 0 && among(space, v, plan->chunks));
}

/* Where tensor divides no such layers, sub-graphs on one rank are a grid of one row, whose name stands for both; false
 * where the varied method says so, too. */
static bool rename_row(const struct fr_space *space, const struct fr_workload *model,
                       const size_t *digit, struct fr_plan *plan) {
    if (!model || model->n_layers == 0 || !plan->method->branches || plan->tp > 1 ||
        plan->pp > 1)
        return true;
    int at = dimension_of(space, FR_PLAN_KEY_method);
    plan->method = FR_METHOD_WITH(grids);
    for (size_t v = 0; at >= 0 && v < space->dimension[at].count; v++) {
        struct fr_plan other = *plan;
        put(&space->dimension[at], v, &other);
        if (other.method == plan->method || (v < digit[at] && other.method->branches))
            return false;
    }
    return true;
}

/* To configuration @p index from anywhere. */
static void jump(const struct fr_space *space, int64_t index, struct fr_space_cursor *at) {
    at->begun = true;
    at->plan = space->base;
    if (space->variants) index %= fr_space_plans(space);
    for (int i = space->n_dimensions; i-- > 0;) {
        const struct fr_dimension *d = &space->dimension[i];
        at->digit[i] = (size_t)(index % (int64_t)d->count);
        index /= (int64_t)d->count;
        put(d, at->digit[i], &at->plan);
    }
    at->rank = (size_t)index;
}

/* To the next one with the same ranks: one digit more, and those behind it from the start; false: there is none. */
static bool step(const struct fr_space *space, struct fr_space_cursor *at) {
    int i = space->n_dimensions;
    while (i-- > 0) {
        const struct fr_dimension *d = &space->dimension[i];
        at->digit[i] = at->digit[i] + 1 < d->count ? at->digit[i] + 1 : 0;
        put(d, at->digit[i], &at->plan);
        if (at->digit[i] > 0) return true;
    }
    return false;
}

/* As resolve; true where another configuration says the same.  Nothing is passed over where a job fills in what is usual:
 * that may hang on any key. */
static bool repeats(const struct fr_space *space, const struct fr_workload *model,
                    const struct fr_job *job, fr_plan_key_set which, struct fr_space_cursor *at,
                    struct fr_plan *plan) {
    uint64_t lacks;
    int d = resolve(space, model, at->digit, which, plan, &lacks);
    if (d >= 0 && !(job && job->usual) && !at->alone)
        fr_repeats_pass(space, model, d, lacks, at);
    return d >= 0;
}

/* A configuration is a number in mixed radix: its digits choose a value for each varied key, the last key fastest. So
 * a space of 1e12 plans needs no list, threads share it by ranges, and a checkpoint names a plan by one number.
 *
 * Many numbers name the same plan: a key that nothing reads, an axis of 1, equal layer grids. Only one of these is priced, the first that has all unread keys at their first value. The others return false, and are not counted: "a
 * plan" is something that would run differently. */
bool fr_space_plan_after(const struct fr_space *space, const struct fr_workload *model,
                         int64_t index, struct fr_space_cursor *at, struct fr_plan *plan,
                         bool *mesh_fits) {
    static const fr_plan_key_set of_mesh = FR_PLAN_KEY_BIT(FR_PLAN_KEY_cp);
    const size_t *digit = at->digit;
    const struct fr_job *job =
        space->completes ? fr_space_job(space, space->completes, index) : NULL;
    if (!at->begun || index != at->index + 1 || !step(space, at)) jump(space, index, at);
    at->index = index;
    at->next = index + 1;
    *plan = at->plan;
    plan->resolved = FR_PLAN_RESOLVED;
    if (!take_order(space, plan)) return false;
    if (space->cp_watched && repeats(space, model, job, of_mesh, at, plan)) return false;
    *mesh_fits = fill_mesh(space, space->ranks[at->rank], plan);
    complete(job, plan);
    if (space->n_watched > 0 && repeats(space, model, job, ~of_mesh, at, plan)) return false;
    if (space->n_watched > 0) complete(job, plan);
    if (*mesh_fits && repeats_grids(space, model, digit, plan)) return false;
    if (*mesh_fits && !take_uniform(space, model, plan)) return false;
    return rename_equivalents(space, model, digit, plan) &&
           rename_row(space, model, digit, plan);
}

bool fr_space_plan(const struct fr_space *space, const struct fr_workload *model, int64_t index,
                   struct fr_plan *plan, bool *mesh_fits) {
    struct fr_space_cursor at = {.begun = false, .alone = true};
    return fr_space_plan_after(space, model, index, &at, plan, mesh_fits);
}

bool fr_space_has_batches(const struct fr_space *space) {
    const struct fr_plan_key *key = &fr_plan_keys[FR_PLAN_KEY_global_batch];
    for (int i = 0; i < space->n_dimensions; i++)
        if (space->dimension[i].key == key) return space->dimension[i].count > 1;
    for (int64_t v = 1;
         space->variants && space->base.global_batch == 0 && v < space->n_variants; v++)
        if (space->variants[v].workload.global_batch !=
            space->variants[0].workload.global_batch)
            return true;
    return false;
}

bool fr_space_has_ghost(const struct fr_space *space) {
    const struct fr_plan_key *key = &fr_plan_keys[FR_PLAN_KEY_method];
    for (int i = 0; i < space->n_dimensions; i++) {
        const struct fr_dimension *d = &space->dimension[i];
        struct fr_plan plan = space->base;
        if (d->key != key) continue;
        for (size_t v = 0; v < d->count; v++) {
            put(d, v, &plan);
            if (plan.method->uses_ghost) return true;
        }
        return false;
    }
    return space->base.method->uses_ghost;
}
