#include "search/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/sort.h"
#include "search/layer_grids.h"

const char *const fr_objective_names[] = {"time", "energy", "edp", NULL};

double fr_search_samples(const struct fr_outcome *out) {
    int64_t own = out->plan.global_batch;
    return own ? (double)own : out->job ? (double)out->job->workload.global_batch : 1;
}

static double ranked_s(fr_ranking by, const struct fr_outcome *out) {
    if (by == FR_RANK_TOTAL) return out->total_time_s;
    return by == FR_RANK_SAMPLE ? out->time_s / fr_search_samples(out) : out->time_s;
}

static double ranked_J(fr_ranking by, const struct fr_outcome *out) {
    if (by == FR_RANK_TOTAL) return out->total_energy_J;
    return by == FR_RANK_SAMPLE ? out->energy_J / fr_search_samples(out) : out->energy_J;
}

double fr_objective_value(fr_objective objective, fr_ranking by, const struct fr_outcome *out) {
    double time_s = ranked_s(by, out), energy_J = ranked_J(by, out);
    switch (objective) {
    case FR_OBJECTIVE_TIME:
        return time_s;
    case FR_OBJECTIVE_ENERGY:
        return energy_J;
    case FR_OBJECTIVE_EDP:
        return time_s * energy_J;
    }
    return time_s;
}

/* A grid per layer, chosen for this plan; it is "best" again in the outcome, whose plan owns
 * nothing. */
static void cost_best_grids(const struct fr_job *job, const struct fr_plan *given,
                            struct fr_outcome *out) {
    struct fr_plan plan = *given;
    int64_t *grids = fr_calloc((size_t)job->workload.n_layers + 1, sizeof *grids);
    if (grids && fr_layer_grids_best(job, &plan, grids, NULL) == FR_OK) {
        plan.layer_tp = grids;
        plan.n_layer_tp = job->workload.n_layers;
    }
    fr_cost(job, &plan, out);
    out->plan.layer_tp = NULL;
    out->plan.n_layer_tp = 0;
    free(grids);
}

bool fr_search_evaluate(const struct fr_job *job, const struct fr_space *space,
                        const struct fr_search_options *options, fr_ranking by, int64_t index,
                        struct fr_outcome *out) {
    struct fr_plan plan;
    bool mesh_fits = false;
    job = fr_space_job(space, job, index);
    if (!fr_space_plan(space, &job->workload, index, &plan, &mesh_fits)) return false;
    if (!mesh_fits) {
        int64_t plans = fr_space_plans(space), per_rank_count = plans / (int64_t)space->n_ranks;
        *out = (struct fr_outcome){.plan = plan,
                                   .job = space->variants ? job : NULL,
                                   .ranks = space->ranks[index % plans / per_rank_count],
                                   .reasons = FR_BECAUSE(FR_REASON_MESH)};
        return true;
    }
    if (plan.layer_tp_best)
        cost_best_grids(job, &plan, out);
    else
        fr_cost(job, &plan, out);
    out->job = space->variants ? job : NULL;
    if (out->reasons & ~FR_BECAUSE(FR_REASON_MEMORY)) return true;
    if (options->memory_limit_B > 0 && out->memory_peak_B > options->memory_limit_B)
        out->reasons |= FR_BECAUSE(FR_REASON_MEMORY);
    if (out->lossy_gradient > options->max_lossy || out->lossy_backward > options->max_lossy)
        out->reasons |= FR_BECAUSE(FR_REASON_LOSSY);
    if (by == FR_RANK_TOTAL && out->iterations_origin == FR_ITERATIONS_UNKNOWN)
        out->reasons |= FR_BECAUSE(FR_REASON_ITERATIONS);
    if (options->objective != FR_OBJECTIVE_TIME && !job->cluster.device.power.known)
        out->reasons |= FR_BECAUSE(FR_REASON_POWER);
    return true;
}

static bool append(struct fr_found_list *list, const struct fr_found *found) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 16;
        struct fr_found *grown = fr_realloc(list->items, capacity, sizeof *grown);
        if (!grown) return false;
        list->items = grown;
        list->capacity = capacity;
    }
    list->items[list->count++] = *found;
    return true;
}

/* The best of a list that grows to twice what is wanted before it is cut: kept[0..limit-1] is in
 * order once it was, and what does not go before its last is none of the best. */
struct best {
    struct fr_ranked_list kept;
    bool cut;
};

/* Plans that no other is as good as. */
struct front {
    struct point *items;
    size_t count, capacity;
};

/* One piece of the space and what came of it. */
struct piece {
    int64_t evaluated, feasible, because[FR_REASON_COUNT], example[FR_REASON_COUNT];
    fr_plan_key_set read;
    struct best top;
    struct front pareto;
    bool failed;
};

struct context {
    const struct fr_job *job;
    const struct fr_space *space;
    const struct fr_search_options *options;
    fr_ranking by;
    int64_t begin, end, piece_size;
    struct piece *pieces;
    struct fr_progress *progress;
};

/* Compression is lossy: of plans as good, the one that loses less is better. */
static double lossiness(const struct fr_outcome *out) {
    return out->lossy_gradient + out->lossy_backward;
}

/* Order of the result: by the objective; of equals the less lossy, then the one that came first. */
static int by_rank(const void *x, const void *y) {
    const struct fr_ranked *a = x, *b = y;
    if (a->value != b->value) return FR_ORDER(a->value, b->value);
    if (a->lossy != b->lossy) return FR_ORDER(a->lossy, b->lossy);
    return FR_ORDER(a->index, b->index);
}

static void cut(struct best *best, size_t limit) {
    struct fr_ranked_list *kept = &best->kept;
    fr_sort_items(kept->items, kept->count, sizeof *kept->items, by_rank);
    if (limit == 0 || kept->count < limit) return;
    kept->count = limit;
    best->cut = true;
}

static bool keep_best(const struct context *c, struct best *best,
                      const struct fr_ranked *ranked) {
    enum { LEAST = 64 };
    size_t limit = c->options->top;
    struct fr_ranked_list *kept = &best->kept;
    if (best->cut && by_rank(ranked, &kept->items[limit - 1]) > 0) return true;
    if (limit > 0 && kept->count >= 2 * limit + LEAST) cut(best, limit);
    if (kept->count == kept->capacity) {
        size_t capacity = kept->capacity ? 2 * kept->capacity : LEAST;
        struct fr_ranked *grown = fr_realloc(kept->items, capacity, sizeof *grown);
        if (!grown) return false;
        kept->items = grown;
        kept->capacity = capacity;
    }
    kept->items[kept->count++] = *ranked;
    return true;
}

/* A plan of the front: what it is held against, and its number. */
struct point {
    double time_s, energy_J, memory_B, lossy;
    int64_t index;
};

static struct point point_of(fr_ranking by, const struct fr_found *found) {
    const struct fr_outcome *out = &found->outcome;
    double energy_J = ranked_J(by, out);
    return (struct point){ranked_s(by, out), isfinite(energy_J) ? energy_J : 0,
                          out->memory_peak_B, lossiness(out), found->index};
}

static bool as_good(const struct point *a, const struct point *b) {
    return a->time_s <= b->time_s && a->energy_J <= b->energy_J && a->memory_B <= b->memory_B &&
           a->lossy <= b->lossy;
}

/* Add to the front unless something in it is as good; drop what it is as good as.  The first
 * of equals stays. */
static bool keep_pareto(struct front *front, const struct point *mine) {
    size_t kept = 0;
    for (size_t i = 0; i < front->count; i++) {
        const struct point *theirs = &front->items[i];
        if (as_good(theirs, mine))
            return true; /* nothing was dropped before: theirs dominate it too */
        if (!as_good(mine, theirs)) front->items[kept++] = *theirs;
    }
    front->count = kept;
    if (front->count == front->capacity) {
        size_t capacity = front->capacity ? 2 * front->capacity : 16;
        struct point *grown = fr_realloc(front->items, capacity, sizeof *grown);
        if (!grown) return false;
        front->items = grown;
        front->capacity = capacity;
    }
    front->items[front->count++] = *mine;
    return true;
}

static void work(void *argument, int64_t number) {
    const struct context *c = argument;
    struct piece *piece = &c->pieces[number];
    int64_t begin = c->begin + number * c->piece_size, end = begin + c->piece_size;
    if (end > c->end) end = c->end;
    memset(piece->example, -1, sizeof piece->example);
    for (int64_t i = begin; i < end; i++) {
        struct fr_found found;
        found.index = i;
        if (!fr_search_evaluate(c->job, c->space, c->options, c->by, i, &found.outcome))
            continue;
        piece->evaluated++;
        if (!(found.outcome.reasons & FR_BECAUSE(FR_REASON_MESH)))
            piece->read |= ~found.outcome.plan.settled;
        for (int r = 0; found.outcome.reasons >> r; r++)
            if (found.outcome.reasons >> r & 1) {
                piece->because[r]++;
                if (piece->example[r] < 0) piece->example[r] = i;
            }
        if (found.outcome.reasons) continue;
        piece->feasible++;
        const struct fr_ranked ranked = {
            fr_objective_value(c->options->objective, c->by, &found.outcome),
            lossiness(&found.outcome), i};
        const struct point point = point_of(c->by, &found);
        if (!keep_best(c, &piece->top, &ranked) || !keep_pareto(&piece->pareto, &point))
            piece->failed = true;
    }
    fr_progress_add(c->progress, 1);
}

static bool join(const struct context *c, const struct piece *piece, struct best *best,
                 struct front *front, struct fr_search_result *result) {
    bool ok = !piece->failed;
    result->evaluated += piece->evaluated;
    result->feasible += piece->feasible;
    result->read |= piece->read;
    for (int r = 0; r < FR_REASON_COUNT; r++) {
        result->because[r] += piece->because[r];
        if (result->example[r].index >= 0 || piece->example[r] < 0) continue;
        result->example[r].index = piece->example[r];
        fr_search_evaluate(c->job, c->space, c->options, c->by, piece->example[r],
                           &result->example[r].outcome);
    }
    for (size_t i = 0; i < piece->top.kept.count; i++)
        ok = keep_best(c, best, &piece->top.kept.items[i]) && ok;
    for (size_t i = 0; i < piece->pareto.count; i++)
        ok = keep_pareto(front, &piece->pareto.items[i]) && ok;
    return ok;
}

/* Order of the front: by time, else as by_rank. */
static int by_time(const void *x, const void *y) {
    const struct point *a = x, *b = y;
    const struct fr_ranked keys[] = {{a->time_s, a->lossy, a->index},
                                     {b->time_s, b->lossy, b->index}};
    return by_rank(&keys[0], &keys[1]);
}

/* What configuration @p index cost, once more: lists hold numbers until it is known which stay. */
static bool price(const struct context *c, int64_t index, struct fr_found_list *list) {
    struct fr_found found = {.index = index};
    return fr_search_evaluate(c->job, c->space, c->options, c->by, index, &found.outcome) &&
           append(list, &found);
}

static bool price_lists(const struct context *c, const struct front *front,
                        struct fr_search_result *result) {
    for (size_t i = 0; i < result->ranked.count && i < FR_SEARCH_PRICED; i++)
        if (!price(c, result->ranked.items[i].index, &result->top)) return false;
    for (size_t i = 0; i < front->count; i++)
        if (!price(c, front->items[i].index, &result->pareto)) return false;
    return true;
}

fr_ranking fr_search_ranking(const struct fr_job *job, const struct fr_space *space,
                             const struct fr_search_options *options) {
    /* Nobody says how many iterations any of these plans needs. */
    bool silent = space->base.iterations <= 0, batches = fr_space_has_batches(space);
    for (int64_t v = 0; v < space->n_variants; v++) {
        const struct fr_job *one = fr_space_job(space, job, v * fr_space_plans(space));
        bool told = batches
                        ? one->workload.n_iterations > 0
                        : fr_iterations_hold(&one->workload, fr_job_batch(one, &space->base));
        silent = silent && !told;
    }
    if (!options->per_iteration && (!silent || fr_space_has_ghost(space))) return FR_RANK_TOTAL;
    return batches ? FR_RANK_SAMPLE : FR_RANK_ITERATION;
}

fr_status fr_search(const struct fr_job *job, const struct fr_space *space,
                    const struct fr_search_options *options, struct fr_search_result *result,
                    struct fr_error *err) {
    /* A pipeline is priced pass by pass: pieces small enough to go round. */
    enum { PIECE = 4096, PIPELINES = 64, PIECES_MAX = 1024 };
    struct fr_progress progress;
    double start_s = fr_now_s();
    int64_t size = options->end ? options->end - options->begin : space->size;
    struct context c = {.job = job,
                        .space = space,
                        .options = options,
                        .by = fr_search_ranking(job, space, options),
                        .begin = options->begin,
                        .end = options->begin + size};
    c.piece_size = (size + PIECES_MAX - 1) / PIECES_MAX;
    int64_t least = job->workload.n_layers > 0 ? PIECE : PIPELINES;
    if (c.piece_size < least) c.piece_size = least;
    int64_t n_pieces = (size + c.piece_size - 1) / c.piece_size;
    *result = (struct fr_search_result){.by = c.by};
    for (int r = 0; r < FR_REASON_COUNT; r++) result->example[r].index = -1;
    c.pieces = fr_calloc((size_t)n_pieces + 1, sizeof *c.pieces);
    if (!c.pieces) return fr_fail(err, FR_ERR_NOMEM, "search", "out of memory");
    fr_progress_begin(&progress, "searching", n_pieces);
    c.progress = &progress;
    fr_parallel_for(options->threads ? options->threads : fr_processors(), n_pieces, work, &c);
    fr_progress_end(&progress);
    bool ok = true;
    struct best best = {.cut = false};
    struct front front = {.count = 0};
    for (int64_t i = 0; i < n_pieces; i++) {
        ok = join(&c, &c.pieces[i], &best, &front, result) && ok;
        free(c.pieces[i].top.kept.items);
        free(c.pieces[i].pareto.items);
    }
    free(c.pieces);
    cut(&best, options->top);
    result->ranked = best.kept;
    fr_sort_items(front.items, front.count, sizeof *front.items, by_time);
    ok = ok && price_lists(&c, &front, result);
    free(front.items);
    result->infeasible = result->evaluated - result->feasible;
    result->elapsed_s = fr_now_s() - start_s;
    return ok ? FR_OK : fr_fail(err, FR_ERR_NOMEM, "search", "out of memory");
}

/* Pieces of a few thousand of the ranked, priced side by side and seen in order. */
enum { BATCH = 4096, SHARE = 64 };

struct batch {
    const struct context *c;
    const struct fr_ranked *ranked;
    int64_t count;
    struct fr_outcome *outcome;
};

static void price_share(void *argument, int64_t share) {
    const struct batch *b = argument;
    for (int64_t i = share * SHARE; i < (share + 1) * SHARE && i < b->count; i++)
        fr_search_evaluate(b->c->job, b->c->space, b->c->options, b->c->by, b->ranked[i].index,
                           &b->outcome[i]);
}

static void see_rest(struct batch *b, const struct fr_search_result *result, int threads,
                     fr_found_fn *see, void *context) {
    for (size_t i = result->top.count; i < result->ranked.count; i += BATCH) {
        size_t left = result->ranked.count - i;
        b->count = left < BATCH ? (int64_t)left : BATCH;
        b->ranked = &result->ranked.items[i];
        fr_parallel_for(threads, (b->count + SHARE - 1) / SHARE, price_share, b);
        for (int64_t k = 0; k < b->count; k++)
            if (!see(context, i + (size_t)k, &b->outcome[k])) return;
    }
}

fr_status fr_search_each(const struct fr_job *job, const struct fr_space *space,
                         const struct fr_search_options *options,
                         const struct fr_search_result *result, fr_found_fn *see, void *context,
                         struct fr_error *err) {
    const struct context c = {.job = job, .space = space, .options = options, .by = result->by};
    struct batch batch = {.c = &c};
    for (size_t i = 0; i < result->top.count; i++)
        if (!see(context, i, &result->top.items[i].outcome)) return FR_OK;
    if (result->top.count == result->ranked.count) return FR_OK;
    batch.outcome = fr_malloc(BATCH, sizeof *batch.outcome);
    if (!batch.outcome) return fr_fail(err, FR_ERR_NOMEM, "search", "out of memory");
    see_rest(&batch, result, options->threads ? options->threads : fr_processors(), see,
             context);
    free(batch.outcome);
    return FR_OK;
}

void fr_search_result_free(struct fr_search_result *result) {
    free(result->ranked.items);
    free(result->top.items);
    free(result->pareto.items);
    *result = (struct fr_search_result){0};
}
