#include "search/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/sort.h"

const char *const fr_objective_names[] = {"time", "energy", "edp", NULL};

double fr_objective_value(fr_objective objective, bool by_iteration,
                          const struct fr_outcome *out) {
    double time_s = by_iteration ? out->time_s : out->total_time_s;
    double energy_J = by_iteration ? out->energy_J : out->total_energy_J;
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

bool fr_search_evaluate(const struct fr_job *job, const struct fr_space *space,
                        const struct fr_search_options *options, bool by_iteration,
                        int64_t index, struct fr_outcome *out) {
    struct fr_plan plan;
    bool mesh_fits = false;
    if (!fr_space_plan(space, index, &plan, &mesh_fits)) return false;
    if (!mesh_fits) {
        int64_t per_rank_count = space->size / (int64_t)space->n_ranks;
        *out = (struct fr_outcome){.plan = plan,
                                   .ranks = space->ranks[index / per_rank_count],
                                   .reasons = FR_BECAUSE(FR_REASON_MESH)};
        return true;
    }
    fr_cost(job, &plan, out);
    if (out->reasons & ~FR_BECAUSE(FR_REASON_MEMORY)) return true;
    if (options->memory_limit_B > 0 && out->memory_peak_B > options->memory_limit_B)
        out->reasons |= FR_BECAUSE(FR_REASON_MEMORY);
    if (out->lossy_gradient > options->max_lossy || out->lossy_backward > options->max_lossy)
        out->reasons |= FR_BECAUSE(FR_REASON_LOSSY);
    if (!by_iteration && out->iterations_origin == FR_ITERATIONS_UNKNOWN)
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

/* One piece of the space and what came of it. */
struct piece {
    int64_t evaluated, feasible, because[FR_REASON_COUNT], example[FR_REASON_COUNT];
    struct fr_found_list top, pareto;
    bool failed;
};

struct context {
    const struct fr_job *job;
    const struct fr_space *space;
    const struct fr_search_options *options;
    bool by_iteration;
    int64_t piece_size;
    struct piece *pieces;
    struct fr_progress *progress;
};

static double value_of(const struct context *c, const struct fr_found *found) {
    return fr_objective_value(c->options->objective, c->by_iteration, &found->outcome);
}

/* Compression is lossy: of plans as good, the one that loses less is better. */
static double lossiness(const struct fr_outcome *out) {
    return out->lossy_gradient + out->lossy_backward;
}

static bool better(const struct context *c, const struct fr_found *a,
                   const struct fr_found *b) {
    double x = value_of(c, a), y = value_of(c, b);
    if (x != y) return x < y;
    double lossy = lossiness(&a->outcome), other = lossiness(&b->outcome);
    return lossy != other ? lossy < other : a->index < b->index;
}

/* Keep the best `top` in order; insertion into a short sorted list. */
static bool keep_top(const struct context *c, struct fr_found_list *list,
                     const struct fr_found *found) {
    size_t limit = c->options->top;
    if (limit == 0) return append(list, found);
    if (list->count == limit) {
        if (!better(c, found, &list->items[limit - 1])) return true;
        list->count--;
    }
    if (!append(list, found)) return false;
    for (size_t i = list->count - 1; i > 0 && better(c, &list->items[i], &list->items[i - 1]);
         i--) {
        struct fr_found swap = list->items[i];
        list->items[i] = list->items[i - 1];
        list->items[i - 1] = swap;
    }
    return true;
}

struct point {
    double time_s, energy_J, memory_B, lossy;
};

static struct point point_of(bool by_iteration, const struct fr_outcome *out) {
    double energy_J = by_iteration ? out->energy_J : out->total_energy_J;
    return (struct point){by_iteration ? out->time_s : out->total_time_s,
                          isfinite(energy_J) ? energy_J : 0, out->memory_peak_B,
                          lossiness(out)};
}

static bool as_good(const struct point *a, const struct point *b) {
    return a->time_s <= b->time_s && a->energy_J <= b->energy_J && a->memory_B <= b->memory_B &&
           a->lossy <= b->lossy;
}

/* Add to the front unless something in it is as good; drop what it is as good as.  The first
 * of equals stays. */
static bool keep_pareto(const struct context *c, struct fr_found_list *list,
                        const struct fr_found *found) {
    struct point mine = point_of(c->by_iteration, &found->outcome);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct point theirs = point_of(c->by_iteration, &list->items[i].outcome);
        if (as_good(&theirs, &mine))
            return true; /* nothing was dropped before: theirs dominate it too */
        if (as_good(&mine, &theirs)) continue;
        if (kept != i) list->items[kept] = list->items[i];
        kept++;
    }
    list->count = kept;
    return append(list, found);
}

static void work(void *argument, int64_t number) {
    const struct context *c = argument;
    struct piece *piece = &c->pieces[number];
    int64_t end = (number + 1) * c->piece_size;
    if (end > c->space->size) end = c->space->size;
    memset(piece->example, -1, sizeof piece->example);
    for (int64_t i = number * c->piece_size; i < end; i++) {
        struct fr_found found;
        found.index = i;
        if (!fr_search_evaluate(c->job, c->space, c->options, c->by_iteration, i,
                                &found.outcome))
            continue;
        piece->evaluated++;
        for (int r = 0; found.outcome.reasons >> r; r++)
            if (found.outcome.reasons >> r & 1) {
                piece->because[r]++;
                if (piece->example[r] < 0) piece->example[r] = i;
            }
        if (found.outcome.reasons) continue;
        piece->feasible++;
        if (!keep_top(c, &piece->top, &found) || !keep_pareto(c, &piece->pareto, &found))
            piece->failed = true;
    }
    fr_progress_add(c->progress, 1);
}

static bool join(const struct context *c, const struct piece *piece,
                 struct fr_search_result *result) {
    bool ok = !piece->failed;
    result->evaluated += piece->evaluated;
    result->feasible += piece->feasible;
    for (int r = 0; r < FR_REASON_COUNT; r++) {
        result->because[r] += piece->because[r];
        if (result->example[r].index >= 0 || piece->example[r] < 0) continue;
        result->example[r].index = piece->example[r];
        fr_search_evaluate(c->job, c->space, c->options, c->by_iteration, piece->example[r],
                           &result->example[r].outcome);
    }
    for (size_t i = 0; i < piece->top.count; i++)
        ok = keep_top(c, &result->top, &piece->top.items[i]) && ok;
    for (size_t i = 0; i < piece->pareto.count; i++)
        ok = keep_pareto(c, &result->pareto, &piece->pareto.items[i]) && ok;
    return ok;
}

/* A comparison has no context argument: the key is stored beside each item. */
struct keyed {
    double key, lossy;
    struct fr_found found;
};

static int by_key(const void *x, const void *y) {
    const struct keyed *a = x, *b = y;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    if (a->lossy != b->lossy) return a->lossy < b->lossy ? -1 : 1;
    return (a->found.index > b->found.index) - (a->found.index < b->found.index);
}

static bool sort_found(const struct context *c, struct fr_found_list *list, bool by_objective) {
    struct keyed *keyed = fr_malloc(list->count + 1, sizeof *keyed);
    if (!keyed) return false;
    for (size_t i = 0; i < list->count; i++) {
        keyed[i].found = list->items[i];
        keyed[i].lossy = lossiness(&list->items[i].outcome);
        keyed[i].key = by_objective ? value_of(c, &list->items[i])
                                    : point_of(c->by_iteration, &list->items[i].outcome).time_s;
    }
    fr_sort_items(keyed, list->count, sizeof *keyed, by_key);
    for (size_t i = 0; i < list->count; i++) list->items[i] = keyed[i].found;
    free(keyed);
    return true;
}

fr_status fr_search(const struct fr_job *job, const struct fr_space *space,
                    const struct fr_search_options *options, struct fr_search_result *result,
                    struct fr_error *err) {
    /* A pipeline is priced pass by pass: pieces small enough to go round. */
    enum { PIECE = 4096, PIPELINES = 64, PIECES_MAX = 1024 };
    struct fr_progress progress;
    double start_s = fr_now_s();
    bool silent = job->workload.n_iterations == 0 && space->base.iterations <= 0;
    struct context c = {.job = job, .space = space, .options = options};
    c.by_iteration = options->per_iteration || (silent && !fr_space_has_ghost(space));
    c.piece_size = (space->size + PIECES_MAX - 1) / PIECES_MAX;
    int64_t least = job->workload.n_layers > 0 ? PIECE : PIPELINES;
    if (c.piece_size < least) c.piece_size = least;
    int64_t n_pieces = (space->size + c.piece_size - 1) / c.piece_size;
    *result = (struct fr_search_result){.by_iteration = c.by_iteration};
    for (int r = 0; r < FR_REASON_COUNT; r++) result->example[r].index = -1;
    c.pieces = fr_calloc((size_t)n_pieces + 1, sizeof *c.pieces);
    if (!c.pieces) return fr_fail(err, FR_ERR_NOMEM, "search", "out of memory");
    fr_progress_begin(&progress, "searching", n_pieces);
    c.progress = &progress;
    fr_parallel_for(options->threads ? options->threads : fr_processors(), n_pieces, work, &c);
    fr_progress_end(&progress);
    bool ok = true;
    for (int64_t i = 0; i < n_pieces; i++) {
        ok = join(&c, &c.pieces[i], result) && ok;
        free(c.pieces[i].top.items);
        free(c.pieces[i].pareto.items);
    }
    free(c.pieces);
    ok = ok && sort_found(&c, &result->top, true) && sort_found(&c, &result->pareto, false);
    result->infeasible = result->evaluated - result->feasible;
    result->elapsed_s = fr_now_s() - start_s;
    return ok ? FR_OK : fr_fail(err, FR_ERR_NOMEM, "search", "out of memory");
}

void fr_search_result_free(struct fr_search_result *result) {
    free(result->top.items);
    free(result->pareto.items);
    *result = (struct fr_search_result){0};
}
