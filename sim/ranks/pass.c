/* A pass on all ranks of its stage: pieces of work, between them collectives, beside them lanes (sim/ranks/lay_out.h). */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "sim/ranks/laying.h"

/* Times of all messages on the way, and those that lanes cost, by part. */
static void sum_parts(const struct fr_ranks_played *at, double sum_s[FR_PRICE_PARTS]) {
    const struct fr_exchanges *x = &at->e->x;
    for (int k = 0; k < FR_PRICE_PARTS; k++) sum_s[k] = 0;
    for (int k = 0; k < x->n; k++)
        if (x->list[k].lane < 0)
            sum_s[fr_ranks_part(x->list[k].with)] += at->share * x->list[k].alone_s;
    for (int lane = 0; lane < x->n_lanes; lane++)
        sum_s[fr_ranks_part(x->lane[lane].with)] += at->share * fr_lane_shown_s(x, lane);
}

/* Take the messages out of the task: work is left, and waits of parts without messages. */
static void take_messages_out(struct fr_ranks_played *at) {
    double sum_s[FR_PRICE_PARTS];
    sum_parts(at, sum_s);
    at->own = *at->price;
    at->own.size_B = 0;
    at->measured = 0;
    for (int k = 0; k < FR_PRICE_PARTS; k++) {
        double left_s = at->price->part_s[k] - sum_s[k];
        if (left_s < -1e-9 * sum_s[k])
            at->measured |= 1u << k;
        else
            at->own.part_s[k] = fmax(0, left_s);
    }
}

static bool is_played(const struct fr_ranks_played *at, int with) {
    return !(at->measured >> fr_ranks_part(with) & 1);
}

static bool is_block(const struct fr_ranks_played *at, int lane) {
    const struct fr_lane *of = &at->e->x.lane[lane];
    return at->blocks && of->own_s > 0 && is_played(at, of->with);
}

/* Stretches beside which lanes go are played with them. */
static void take_blocks_out(struct fr_ranks_played *at) {
    const struct fr_exchanges *x = &at->e->x;
    double blocks_s = 0;
    at->blocks = true;
    for (int lane = 0; lane < x->n_lanes; lane++)
        if (is_block(at, lane)) blocks_s += at->share * x->lane[lane].own_s;
    at->whole = at->own;
    at->blocks = blocks_s <= at->own.part_s[FR_PRICE_ALWAYS] * (1 + 1e-12);
    if (at->blocks)
        at->own.part_s[FR_PRICE_ALWAYS] = fmax(0, at->own.part_s[FR_PRICE_ALWAYS] - blocks_s);
}

/* A stretch of its own work. */
static void add_piece(struct fr_ranks_laying *l, const struct fr_ranks_played *at,
                      double share) {
    struct fr_class_price price = at->own;
    if (share <= 0) return;
    for (int k = 0; k < FR_PRICE_PARTS; k++) price.part_s[k] *= share;
    price.again_s *= share;
    fr_ranks_everywhere(&l->b, at->class->kind, &price, at->task->micro);
}

/* A collective on the way at a point of the pass, or a stretch of work with a lane beside it. */
struct occurrence {
    double at, share; /* share: of its times */
    int k, lane;      /* lane: -1, or k is -1 */
};

static int by_place(const void *a, const void *b) {
    const struct occurrence *x = a, *y = b;
    if (x->at != y->at) return FR_ORDER(x->at, y->at);
    if (x->lane != y->lane)
        return FR_ORDER(y->lane, x->lane); /* what is beside work goes first */
    return FR_ORDER(x->k, y->k);
}

double fr_ranks_repeats(const struct fr_ranks_laying *l, const struct fr_exchange *x,
                        double share) {
    bool spread = x->to > x->from;
    double n = spread ? fmax(1, round(share * fmax(x->times, x->repeats))) : 1;
    return fmin(n, l->most);
}

/* A lane's stretches are as many as the layers. */
static double repeats_of_lane(const struct fr_ranks_laying *l, const struct fr_ranks_played *at,
                              int lane) {
    const struct fr_exchanges *x = &at->e->x;
    int k = 0;
    while (k < x->n - 1 && x->list[k].lane != lane) k++;
    struct fr_exchange layers = x->list[k];
    layers.times = 0;
    return fr_ranks_repeats(l, &layers, at->share);
}

static void add_occurrences(const struct fr_exchange *of, double repeats, int k, int lane,
                            struct occurrence *o, int *n) {
    for (double j = 1; j <= repeats; j++)
        o[(*n)++] = (struct occurrence){of->from + (of->to - of->from) * j / repeats,
                                        1 / repeats, k, lane};
}

static bool on_the_way(const struct fr_ranks_played *at, const struct fr_exchange *x) {
    return x->lane < 0 && is_played(at, x->with);
}

/* All of the way, in order. */
static struct occurrence *find_occurrences(struct fr_ranks_laying *l,
                                           const struct fr_ranks_played *at, int *n) {
    const struct fr_exchanges *x = &at->e->x;
    double all = 0;
    for (int k = 0; k < x->n; k++) all += fr_ranks_repeats(l, &x->list[k], at->share);
    struct occurrence *o = fr_malloc((size_t)all + 1, sizeof *o);
    bool found[FR_LANES] = {false};
    *n = 0;
    for (int k = 0; o && k < x->n; k++) {
        const struct fr_exchange *of = &x->list[k];
        if (on_the_way(at, of))
            add_occurrences(of, fr_ranks_repeats(l, of, at->share), k, -1, o, n);
        if (of->lane < 0 || found[of->lane] || !is_block(at, of->lane)) continue;
        add_occurrences(of, repeats_of_lane(l, at, of->lane), -1, of->lane, o, n);
        found[of->lane] = true;
    }
    if (o) fr_sort_items(o, (size_t)*n, sizeof *o, by_place);
    l->b.failed = l->b.failed || !o;
    return o;
}

static bool has_own(const struct fr_ranks_played *at) {
    for (int k = 0; k < FR_PRICE_PARTS; k++)
        if (at->own.part_s[k] > 0) return true;
    return false;
}

/* The pass without its lanes from @p lane on, which cannot hide lane @p lane where it is longer than what hides it. */
static struct fr_class_price rest_of(const struct fr_ranks_played *at, int lane) {
    const struct fr_exchanges *x = &at->e->x;
    struct fr_class_price rest = at->whole;
    double hides_s = at->share * x->lane[lane].beside_s, all_s = 0;
    for (int k = 0; k < x->n; k++)
        if (on_the_way(at, &x->list[k]))
            rest.part_s[fr_ranks_part(x->list[k].with)] += at->share * x->list[k].alone_s;
    for (int k = 0; k < x->n_lanes; k++)
        if (is_block(at, k) || (k < lane && is_played(at, x->lane[k].with)))
            rest.part_s[fr_ranks_part(x->lane[k].with)] += at->share * fr_lane_shown_s(x, k);
    rest.again_s = rest.waiting = 0;
    if (rest.part_s[FR_PRICE_ALWAYS] >= hides_s) {
        rest.part_s[FR_PRICE_ALWAYS] -= hides_s;
        return rest;
    }
    for (int k = 0; k < FR_PRICE_PARTS; k++) all_s += rest.part_s[k];
    struct fr_class_price whole = {0};
    whole.part_s[fr_ranks_part(x->lane[lane].with)] = fmax(0, all_s - hides_s);
    return whole;
}

static void set_last(struct fr_ranks_laying *l, const int32_t *last) {
    for (int32_t k = 0; k < l->b.n_here; k++)
        l->b.ranks[l->b.here[k]].last = last[l->b.here[k]];
}

static void get_last(const struct fr_ranks_laying *l, int32_t *last) {
    for (int32_t k = 0; k < l->b.n_here; k++)
        last[l->b.here[k]] = l->b.ranks[l->b.here[k]].last;
}

/* Waiting, which is no work: a task that a rank's own work runs beside. */
static int32_t wait_everywhere(struct fr_ranks_laying *l, const struct fr_class_price *price,
                               int32_t micro) {
    return fr_ranks_everywhere(&l->b, FR_TASK_COLLECTIVE, price, micro);
}

/* A lane's collectives, @p share of their times. */
static void play_beside(struct fr_ranks_laying *l, const struct fr_ranks_played *at, int lane,
                        double share) {
    const struct fr_exchanges *x = &at->e->x;
    for (int k = 0; k < x->n; k++)
        if (x->list[k].lane == lane)
            fr_ranks_play(l, at->e, k, at->share * share * x->list[k].times, at->task->micro);
}

static void play_lane(struct fr_ranks_laying *l, const struct fr_ranks_played *at, int lane,
                      int32_t *end) {
    struct fr_class_price rest = rest_of(at, lane);
    set_last(l, l->start);
    play_beside(l, at, lane, 1);
    rest.waiting = 1;
    int32_t class_id = wait_everywhere(l, &rest, at->task->micro);
    if (class_id >= 0) l->b.program->classes[class_id].unseen = true;
    get_last(l, end);
}

/* The pass waits for a lane, and for what @p share of it costs the pass. */
static void join_lane(struct fr_ranks_laying *l, const struct fr_ranks_played *at, int lane,
                      double share, const int32_t *end) {
    struct fr_class_price price = {0};
    const struct fr_lane *of = &at->e->x.lane[lane];
    price.part_s[fr_ranks_part(of->with)] = at->share * share * of->slow_s;
    for (int32_t k = 0; k < l->b.n_here; k++)
        l->b.ranks[l->b.here[k]].also[0] = end[l->b.here[k]];
    int32_t class_id = wait_everywhere(l, &price, at->task->micro);
    if (class_id >= 0 && of->slow_s <= 0) l->b.program->classes[class_id].unseen = true;
}

/* A stretch of work with its share of a lane beside it. */
static void play_block(struct fr_ranks_laying *l, const struct fr_ranks_played *at, int lane,
                       double share) {
    struct fr_class_price price = {.waiting = at->own.waiting};
    fr_ranks_join(&l->b, at->task->micro);
    get_last(l, l->block_start);
    play_beside(l, at, lane, share);
    get_last(l, l->block_end);
    set_last(l, l->block_start);
    price.part_s[FR_PRICE_ALWAYS] = at->share * share * at->e->x.lane[lane].own_s;
    fr_ranks_everywhere(&l->b, at->class->kind, &price, at->task->micro);
    join_lane(l, at, lane, share, l->block_end);
}

/* Pieces and collectives in turn; at least one piece, where there is any work. */
static void play_way(struct fr_ranks_laying *l, const struct fr_ranks_played *at) {
    int n;
    struct occurrence *o = find_occurrences(l, at, &n);
    double done = 0;
    bool works = has_own(at);
    for (int i = 0; o && i < n && !l->b.failed; i++) {
        if (works) add_piece(l, at, o[i].at - done);
        done = fmax(done, o[i].at);
        fr_ranks_join(&l->b, at->task->micro);
        if (o[i].lane >= 0)
            play_block(l, at, o[i].lane, o[i].share);
        else
            fr_ranks_play(l, at->e, o[i].k,
                          at->share * o[i].share * at->e->x.list[o[i].k].times,
                          at->task->micro);
    }
    if (works) add_piece(l, at, 1 - done);
    free(o);
}

/* Does a lane go from the pass's start to its end? */
static bool is_long(const struct fr_ranks_played *at, int lane) {
    return is_played(at, at->e->x.lane[lane].with) && !is_block(at, lane);
}

static int32_t *end_of(const struct fr_ranks_laying *l, int lane) {
    return l->lane_end + (int64_t)lane * l->b.program->n_ranks;
}

void fr_ranks_play_work(struct fr_ranks_laying *l, struct fr_ranks_played *at) {
    const struct fr_exchanges *x = &at->e->x;
    take_messages_out(at);
    take_blocks_out(at);
    if (x->n_lanes > 0) fr_ranks_join(&l->b, at->task->micro);
    get_last(l, l->start);
    for (int lane = 0; lane < x->n_lanes && !l->b.failed; lane++)
        if (is_long(at, lane)) play_lane(l, at, lane, end_of(l, lane));
    if (x->n_lanes > 0) set_last(l, l->start);
    play_way(l, at);
    for (int lane = 0; lane < x->n_lanes && !l->b.failed; lane++)
        if (is_long(at, lane)) join_lane(l, at, lane, 1, end_of(l, lane));
    fr_ranks_join(&l->b, at->task->micro);
}
