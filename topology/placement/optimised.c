/* The cheapest placement found.  It tries every named one first, then all placements where they are few.  Else a
 * local search exchanges two ranks of different units (of the innermost level, inside which slots are equal) and
 * keeps a placement that costs no more.  The result is never worse than the best named one, and the same seed gives
 * the same placement. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "topology/placement.h"

enum { EXHAUSTIVE_MAX = 3000, EXCHANGES_MAX = 2000, LOCAL_RANKS_MAX = 4096 };

struct search {
    const struct fr_placement_ask *s;
    int64_t n, capacity; /* ranks; slots of an innermost unit */
    int64_t *best, *now; /* slot of each rank */
    double best_cost;
};

static void consider(struct search *x) {
    double cost = x->s->cost(x->s->context, x->now);
    if (cost >= x->best_cost) return;
    x->best_cost = cost;
    memcpy(x->best, x->now, (size_t)x->n * sizeof *x->best);
}

/* Linear, round-robin and every order of the axes. */
static fr_status named(struct search *x, struct fr_error *err) {
    static const uint8_t orders[6][FR_MESH_AXES] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const struct fr_placement *const rows[] = {&fr_placement_linear,
                                                      &fr_placement_round_robin};
    struct fr_placement_choice choice = *x->s->choice;
    struct fr_placement_ask other = *x->s;
    other.choice = &choice;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        FR_TRY(rows[i]->place(&other, x->now, err));
        consider(x);
    }
    for (int i = 0; i < 6; i++) {
        memcpy(choice.order, orders[i], sizeof choice.order);
        FR_TRY(fr_placement_by_axis.place(&other, x->now, err));
        consider(x);
    }
    return FR_OK;
}

/* Ways to distribute n ranks among units of `capacity` slots: n! / (capacity!)^units, or more than asked. */
static int64_t ways_up_to(int64_t n, int64_t capacity, int64_t most) {
    double ways = 1;
    for (int64_t r = 0; r < n; r++) {
        ways *= (double)(r + 1) / (double)(r % capacity + 1);
        if (ways > (double)most) return most + 1;
    }
    return (int64_t)(ways + 0.5);
}

static void exchange(int64_t *a, int64_t *b) {
    int64_t swapped = *a;
    *a = *b;
    *b = swapped;
}

/* The next arrangement of unit numbers in lexicographic order; false after the last. */
static bool next_arrangement(int64_t *unit, int64_t n) {
    int64_t i = n - 2, j = n - 1;
    while (i >= 0 && unit[i] >= unit[i + 1]) i--;
    if (i < 0) return false;
    while (unit[j] <= unit[i]) j--;
    exchange(&unit[i], &unit[j]);
    for (int64_t a = i + 1, b = n - 1; a < b; a++, b--) exchange(&unit[a], &unit[b]);
    return true;
}

static fr_status exhaustive(struct search *x, struct fr_error *err) {
    int64_t units = (x->n + x->capacity - 1) / x->capacity;
    int64_t *unit = fr_malloc((size_t)x->n, sizeof *unit);
    int64_t *taken = fr_malloc((size_t)units, sizeof *taken);
    fr_status status =
        unit && taken ? FR_OK : fr_fail(err, FR_ERR_NOMEM, "placement", "out of memory");
    for (int64_t r = 0; status == FR_OK && r < x->n; r++) unit[r] = r / x->capacity;
    if (status == FR_OK) do {
            memset(taken, 0, (size_t)units * sizeof *taken);
            for (int64_t r = 0; r < x->n; r++)
                x->now[r] = unit[r] * x->capacity + taken[unit[r]]++;
            consider(x);
        } while (next_arrangement(unit, x->n));
    free(unit);
    free(taken);
    return status;
}

static void local(struct search *x) {
    uint64_t state = x->s->choice->seed * FR_DIGEST_GOLDEN + 1;
    double now_cost = x->best_cost;
    memcpy(x->now, x->best, (size_t)x->n * sizeof *x->now);
    if (state == 0) state = 1;
    for (int i = 0; i < EXCHANGES_MAX; i++) {
        int64_t a = (int64_t)(fr_random_xorshift(&state) % (uint64_t)x->n),
                b = (int64_t)(fr_random_xorshift(&state) % (uint64_t)x->n);
        if (x->now[a] / x->capacity == x->now[b] / x->capacity) continue;
        exchange(&x->now[a], &x->now[b]);
        double cost = x->s->cost(x->s->context, x->now);
        if (cost > now_cost) { /* put them back */
            exchange(&x->now[a], &x->now[b]);
            continue;
        }
        now_cost = cost;
        if (cost >= x->best_cost) continue;
        x->best_cost = cost;
        memcpy(x->best, x->now, (size_t)x->n * sizeof *x->best);
    }
}

static fr_status place(const struct fr_placement_ask *s, int64_t *slot, struct fr_error *err) {
    struct search x = {.s = s,
                       .n = fr_mesh_ranks(s->mesh),
                       .capacity = s->levels->level[0].ranks,
                       .best = slot,
                       .best_cost = 1e300};
    FR_TRY(fr_placement_linear.place(s, slot, err));
    if (x.n <= x.capacity) return FR_OK; /* one unit: all placements are equal */
    x.now = fr_malloc((size_t)x.n, sizeof *x.now);
    if (!x.now) return fr_fail(err, FR_ERR_NOMEM, "placement", "out of memory");
    fr_status status = named(&x, err);
    if (status == FR_OK && ways_up_to(x.n, x.capacity, EXHAUSTIVE_MAX) <= EXHAUSTIVE_MAX)
        status = exhaustive(&x, err);
    else if (status == FR_OK && x.n <= LOCAL_RANKS_MAX)
        local(&x);
    free(x.now);
    return status;
}

const struct fr_placement fr_placement_optimised = {
    .name = "optimised",
    .argument = "SEED",
    .summary = "the cheapest for the plan's own traffic: all where few, else a local search",
    .source = "ours",
    .searches = true,
    .place = place,
};
