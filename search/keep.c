#include "search/keep.h"

#include <inttypes.h>
#include <math.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "search/evaluate.h"

double fr_lossiness(const struct fr_outcome *out) {
    return out->lossy_gradient + out->lossy_backward + out->lossy_forward;
}

/* ---- the best ------------------------------------------------------------------------------------ */

int fr_by_rank(const void *x, const void *y) {
    const struct fr_ranked *a = x, *b = y;
    if (a->value != b->value) return FR_ORDER(a->value, b->value);
    if (a->lossy != b->lossy) return FR_ORDER(a->lossy, b->lossy);
    return FR_ORDER(a->index, b->index);
}

void fr_best_cut(struct fr_best *best, size_t limit) {
    struct fr_ranked_list *listed = &best->list;
    fr_sort_items(listed->items, listed->count, sizeof *listed->items, fr_by_rank);
    if (limit == 0 || listed->count < limit) return;
    listed->count = limit;
    best->cut = true;
}

bool fr_best_keep(struct fr_best *best, size_t limit, const struct fr_ranked *ranked) {
    enum { LEAST = 64 };
    struct fr_ranked_list *listed = &best->list;
    if (best->cut && fr_by_rank(ranked, &listed->items[limit - 1]) > 0) return true;
    if (limit > 0 && listed->count >= 2 * limit + LEAST) fr_best_cut(best, limit);
    if (listed->count == listed->capacity) {
        size_t capacity = listed->capacity ? 2 * listed->capacity : LEAST;
        struct fr_ranked *grown = fr_realloc(listed->items, capacity, sizeof *grown);
        if (!grown) return false;
        listed->items = grown;
        listed->capacity = capacity;
    }
    listed->items[listed->count++] = *ranked;
    return true;
}

void fr_ranked_begin(struct fr_ranked *best, int n) {
    for (int i = 0; i < n; i++) best[i] = (struct fr_ranked){INFINITY, 0, -1};
}

void fr_ranked_keep(struct fr_ranked *best, const struct fr_ranked *own) {
    if (own->index >= 0 && (best->index < 0 || fr_by_rank(own, best) < 0)) *best = *own;
}

int fr_unsure_band(const struct fr_outcome *out) {
    static const double QUARTILE = 0.6744897501960817; /* Phi(-+ this) = 0.25, 0.75 */
    const double z = out->memory_spare;
    return (z >= -QUARTILE) + (z >= 0) + (z >= QUARTILE);
}

/* ---- the front ----------------------------------------------------------------------------------- */

/* To 41 bits (Veltkamp's splitting): sums in another order are one number, which no plan is better by. */
static double to_12_digits(double x) {
    double c = 4097 * x; /* 2^12 + 1 */
    return isfinite(c) ? c - (c - x) : x;
}

struct fr_front_point fr_front_point_of(fr_ranking by, const struct fr_outcome *out,
                                        int64_t index) {
    double energy_J = fr_objective_value(FR_OBJECTIVE_ENERGY, by, out);
    return (struct fr_front_point){to_12_digits(fr_objective_value(FR_OBJECTIVE_TIME, by, out)),
                                   isfinite(energy_J) ? to_12_digits(energy_J) : 0,
                                   to_12_digits(out->memory_peak_B), fr_lossiness(out), index};
}

bool fr_front_as_good(const struct fr_front_point *a, const struct fr_front_point *b) {
    return a->time_s <= b->time_s && a->energy_J <= b->energy_J && a->memory_B <= b->memory_B &&
           a->lossy <= b->lossy;
}

bool fr_front_keep(struct fr_front *front, const struct fr_front_point *own) {
    size_t listed = 0;
    for (size_t i = 0; i < front->count; i++) {
        const struct fr_front_point *theirs = &front->items[i];
        if (fr_front_as_good(theirs, own))
            return true; /* nothing was dropped before: theirs dominate it too */
        if (!fr_front_as_good(own, theirs)) front->items[listed++] = *theirs;
    }
    front->count = listed;
    if (front->count == front->capacity) {
        size_t capacity = front->capacity ? 2 * front->capacity : 16;
        struct fr_front_point *grown = fr_realloc(front->items, capacity, sizeof *grown);
        if (!grown) return false;
        front->items = grown;
        front->capacity = capacity;
    }
    front->items[front->count++] = *own;
    return true;
}

static int by_time(const void *x, const void *y) {
    const struct fr_front_point *a = x, *b = y;
    const struct fr_ranked keys[] = {{a->time_s, a->lossy, a->index},
                                     {b->time_s, b->lossy, b->index}};
    return fr_by_rank(&keys[0], &keys[1]);
}

void fr_front_sort(struct fr_front *front) {
    fr_sort_items(front->items, front->count, sizeof *front->items, by_time);
}

/* ---- what they cost ------------------------------------------------------------------------------ */

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

/* A search to whose result is added. */
struct pricing {
    const struct fr_job *job;
    const struct fr_space *space;
    const struct fr_search_options *options;
    fr_ranking by;
    struct fr_pricer *pricer;
};

static bool evaluate(const struct pricing *x, int64_t index, struct fr_outcome *out) {
    return fr_search_evaluate_cached(x->pricer, x->job, x->space, x->options, x->by, index,
                                     out);
}

/* Price configuration @p index once more: lists hold numbers until it is known which plans stay. */
static fr_status price(const struct pricing *x, int64_t index, struct fr_found_list *list,
                       struct fr_error *err) {
    struct fr_found found = {.index = index};
    if (!evaluate(x, index, &found.outcome))
        return fr_fail(err, FR_ERR_INPUT, "search", "plan %" PRId64 " is none of this search",
                       index);
    return append(list, &found) ? FR_OK : fr_fail(err, FR_ERR_NOMEM, "search", "out of memory");
}

/* From the surest band down: who is better than the best and all that are surer, so the best comes last. */
static fr_status price_unsure(const struct pricing *x, struct fr_search_result *result,
                              struct fr_error *err) {
    const struct fr_ranked *surest = &result->unsure[FR_UNSURE_BANDS];
    const bool any = result->ranked.count > 0;
    double least = any ? result->ranked.items[0].value : INFINITY;
    struct fr_found_list *list = &result->less_sure;
    result->surest = (struct fr_found){.index = -1};
    for (int b = FR_UNSURE_BANDS - 1; b >= 0; b--) {
        const struct fr_ranked *one = &result->unsure[b];
        if (one->index < 0 || !(one->value < least)) continue;
        FR_TRY(price(x, one->index, list, err));
        list->items[list->count - 1].outcome.reasons = 0;
        least = one->value;
    }
    for (size_t i = 0; i < list->count / 2; i++) {
        struct fr_found first = list->items[i];
        list->items[i] = list->items[list->count - 1 - i];
        list->items[list->count - 1 - i] = first;
    }
    if (any || surest->index < 0) return FR_OK;
    result->surest.index = surest->index;
    evaluate(x, surest->index, &result->surest.outcome);
    return FR_OK;
}

/* Break-evens are against it; one whose number is none of the space stays unknown. */
static void price_exact(const struct pricing *x, struct fr_search_result *result) {
    struct fr_found *best = &result->best_exact;
    best->index = result->exact.index;
    if (best->index >= 0 && !evaluate(x, best->index, &best->outcome)) best->index = -1;
}

static fr_status price_all(const struct pricing *x, const struct fr_front *front,
                           struct fr_search_result *result, struct fr_error *err) {
    for (size_t i = 0; i < result->ranked.count && i < FR_SEARCH_PRICED; i++)
        FR_TRY(price(x, result->ranked.items[i].index, &result->top, err));
    for (size_t i = 0; i < front->count; i++)
        FR_TRY(price(x, front->items[i].index, &result->pareto, err));
    FR_TRY(price_unsure(x, result, err));
    price_exact(x, result);
    return FR_OK;
}

fr_status fr_cached_price(const struct fr_job *job, const struct fr_space *space,
                          const struct fr_search_options *options, const struct fr_front *front,
                          struct fr_pricer *pricer, struct fr_search_result *result,
                          struct fr_error *err) {
    struct fr_pricer *own = pricer ? NULL : fr_pricer_make(job);
    const struct pricing x = {job, space, options, result->by, pricer ? pricer : own};
    if (!x.pricer) return fr_fail(err, FR_ERR_NOMEM, "search", "out of memory");
    fr_status status = price_all(&x, front, result, err);
    fr_pricer_free(own);
    return status;
}
