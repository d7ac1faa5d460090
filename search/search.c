#include "search/search.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/sort.h"
#include "models/outcome/bounded.h"
#include "models/plan/copies.h"
#include "search/break_even.h"
#include "search/chosen.h"
#include "search/evaluate.h"
#include "search/keep.h"

/* One piece of the space and what came of it. */
struct piece {
    int64_t evaluated, feasible, unpriced, because[FR_REASON_COUNT], example[FR_REASON_COUNT];
    struct fr_ranked of_method[FR_SEARCH_METHODS], exact, unsure[FR_UNSURE];
    double least; /* value of what is ranked */
    fr_plan_key_set read;
    struct fr_best top;
    struct fr_front pareto;
    bool failed;
};

/* Results found so far when a plan is priced. */
struct known {
    const struct context *c;
    const struct fr_job *job;
    const struct piece *piece;
    int64_t index;
};

struct context {
    const struct fr_job *job;
    const struct fr_space *space;
    const struct fr_search_options *options;
    fr_ranking by;
    int64_t begin, end, piece_size;
    struct piece *pieces;    /* of a round */
    int64_t n_pieces, first; /* all; of the round */
    struct piece sample;     /* some plans from all over the space, seen before all others */
    struct fr_best best;     /* of the rounds before */
    struct fr_front front;   /* likewise */
    struct desk *desks;
    int n_desks;
    struct fr_progress *progress;
    struct fr_ranked of_method[FR_SEARCH_METHODS], exact, unsure[FR_UNSURE];
    double least; /* value of what is ranked in the rounds before */
};

/* Where one thread works at a time, with what the plans it has seen share. */
struct desk {
    atomic_flag taken;
    struct fr_pricer *pricer;
    const struct fr_job *job; /* whose plans */
    struct fr_space_cursor at;
};

/* ---- which prices matter ------------------------------------------------------------------------- */

/* Is there a plan that beats @p least, strictly sooner and nowhere worse?  Then it beats whatever lies
 * above these bounds, and all that this would beat: no front has that plan. */
static bool beaten(const struct fr_front *front, const struct fr_front_point *least) {
    for (size_t i = 0; i < front->count; i++)
        if (front->items[i].time_s < least->time_s && fr_front_as_good(&front->items[i], least))
            return true;
    return false;
}

/* Are as many plans better as are to be listed? */
static bool is_slower(const struct context *c, const struct fr_best *best, double least) {
    return best->cut && least > best->list.items[c->options->top - 1].value;
}

/* Its row, those beyond the last that is kept with it. */
static int method_number(const struct fr_outcome *out) {
    int m = 0;
    while (m < FR_SEARCH_METHODS - 1 && fr_methods[m] && fr_methods[m] != out->plan.method) m++;
    return m;
}

/* May the plan, not as sure as asked for, be the best of its band, and better than all that are as sure? */
static bool wanted_unsure(const struct known *k, const struct fr_outcome *out) {
    const struct context *c = k->c;
    const int b = fr_unsure_band(out);
    double value = fr_objective_value(c->options->objective, c->by, out);
    return value <= k->piece->unsure[b].value && value <= c->sample.unsure[b].value &&
           value <= c->unsure[b].value && value < k->piece->least && value < c->sample.least &&
           value < c->least;
}

/* May the plan be the best that loses nothing? */
static bool wanted_exact(const struct known *k, const struct fr_outcome *out, double value) {
    return value <= k->piece->exact.value && value <= k->c->sample.exact.value &&
           value <= k->c->exact.value && fr_outcome_is_exact(out);
}

/* May the plan still be in the list, on the front, or the best of its method, or of exact plans? */
static bool wanted(const void *context, struct fr_outcome *out) {
    const struct known *k = context;
    const struct context *c = k->c;
    out->job = c->space->variants ? k->job : NULL;
    fr_search_add_reasons(k->job, c->options, c->by, out);
    const bool all = c->options->top == 0 || c->options->exhaustive;
    if (out->reasons == FR_BECAUSE(FR_REASON_UNSURE)) return all || wanted_unsure(k, out);
    if (out->reasons) return false;
    if (all) return true;
    const struct fr_front_point least = fr_front_point_of(c->by, out, k->index);
    double value = fr_objective_value(c->options->objective, c->by, out);
    bool listed = !is_slower(c, &k->piece->top, value) &&
                  !is_slower(c, &c->sample.top, value) && !is_slower(c, &c->best, value);
    int m = method_number(out);
    bool first = value <= k->piece->of_method[m].value &&
                 value <= c->sample.of_method[m].value && value <= c->of_method[m].value;
    return listed || first || wanted_exact(k, out, value) ||
           (!beaten(&c->front, &least) && !beaten(&c->sample.pareto, &least) &&
            !beaten(&k->piece->pareto, &least));
}

/* As fr_search_evaluate, without parts; @p priced: time and energy are more than bounds. */
static bool evaluate(const struct known *k, struct desk *desk, struct fr_outcome *out,
                     bool *priced) {
    const struct context *c = k->c;
    struct fr_plan plan;
    *priced = true;
    if (!fr_search_lay_out(k->job, c->space, k->index, &desk->at, &plan, out)) return false;
    if (out->reasons) return true;
    if (fr_plan_chooses(&plan) || !desk->pricer)
        return fr_search_evaluate(c->job, c->space, c->options, c->by, k->index, out);
    *priced = fr_cost_bounded(desk->pricer, &plan, wanted, k, out);
    out->job = c->space->variants ? k->job : NULL;
    return true;
}

/* The surest needs no price. */
static void keep_unsure(const struct context *c, const struct fr_outcome *out, int64_t index,
                        bool priced, struct piece *piece) {
    const double lossy = fr_lossiness(out);
    const struct fr_ranked surest = {-out->memory_spare, lossy, index},
                           ranked = {fr_objective_value(c->options->objective, c->by, out),
                                     lossy, index};
    fr_ranked_keep(&piece->unsure[FR_UNSURE_BANDS], &surest);
    if (priced) fr_ranked_keep(&piece->unsure[fr_unsure_band(out)], &ranked);
}

static void look_at(const struct context *c, struct desk *desk, int64_t index,
                    struct piece *piece) {
    const struct known known = {c, fr_space_job(c->space, c->job, index), piece, index};
    struct fr_outcome out;
    bool priced;
    if (desk->job != known.job) {
        fr_pricer_free(desk->pricer);
        desk->pricer = fr_pricer_make(known.job);
        desk->job = known.job;
    }
    if (!evaluate(&known, desk, &out, &priced)) return;
    piece->evaluated++;
    if (!(out.reasons & FR_BECAUSE(FR_REASON_MESH))) piece->read |= ~out.plan.resolved;
    for (int r = 0; out.reasons >> r; r++)
        if (out.reasons >> r & 1) {
            piece->because[r]++;
            if (piece->example[r] < 0) piece->example[r] = index;
        }
    if (out.reasons == FR_BECAUSE(FR_REASON_UNSURE)) keep_unsure(c, &out, index, priced, piece);
    if (out.reasons) return;
    piece->feasible++;
    piece->unpriced += !priced;
    if (!priced) return;
    const struct fr_ranked ranked = {fr_objective_value(c->options->objective, c->by, &out),
                                     fr_lossiness(&out), index};
    const struct fr_front_point point = fr_front_point_of(c->by, &out, index);
    piece->least = fmin(piece->least, ranked.value);
    fr_ranked_keep(piece->of_method + method_number(&out), &ranked);
    if (fr_outcome_is_exact(&out)) fr_ranked_keep(&piece->exact, &ranked);
    if (!fr_best_keep(&piece->top, c->options->top, &ranked) ||
        !fr_front_keep(&piece->pareto, &point))
        piece->failed = true;
}

static bool make_desks(struct context *c, int threads) {
    c->n_desks = threads;
    c->desks = fr_calloc((size_t)c->n_desks, sizeof *c->desks);
    for (int i = 0; c->desks && i < c->n_desks; i++) atomic_flag_clear(&c->desks[i].taken);
    return c->desks;
}

static void free_desks(struct context *c) {
    for (int i = 0; c->desks && i < c->n_desks; i++) fr_pricer_free(c->desks[i].pricer);
    free(c->desks);
}

/* A free desk, by trying: there are as many desks as threads, so one is free. */
static struct desk *take_desk(const struct context *c) {
    for (int i = 0;; i = (i + 1) % c->n_desks)
        if (!atomic_flag_test_and_set(&c->desks[i].taken)) return &c->desks[i];
}

static void begin_piece(struct piece *piece) {
    *piece = (struct piece){.least = INFINITY};
    memset(piece->example, -1, sizeof piece->example);
    fr_ranked_begin(piece->of_method, FR_SEARCH_METHODS);
    fr_ranked_begin(&piece->exact, 1);
    fr_ranked_begin(piece->unsure, FR_UNSURE);
}

/* A piece knows the rounds before it and the sample, never its neighbours in the same round. The plans that it skips depend on its number alone, so the answer has the same bytes with one thread and with sixty-four. */
static void work(void *argument, int64_t number) {
    const struct context *c = argument;
    struct piece *piece = &c->pieces[number];
    struct desk *desk = take_desk(c);
    int64_t begin = c->begin + (c->first + number) * c->piece_size, end = begin + c->piece_size;
    if (end > c->end) end = c->end;
    begin_piece(piece);
    for (int64_t i = begin; i < end; i = desk->at.next) look_at(c, desk, i, piece);
    atomic_flag_clear(&desk->taken);
    fr_progress_add(c->progress, 1);
}

/* Price some plans from all over a large space before all others.  Pruning is only as good as the best plans seen so
 * far, and neighbours in the enumeration are alike, so the first piece alone would know little.  The k-th sample is at
 * k times a large odd constant, modulo the size: spread out (Knuth's multiplicative hashing), the same whatever the
 * threads. */
static void take_sample(struct context *c) {
    enum { PLANS = 2048, TIMES = 16 };
    uint64_t size = (uint64_t)(c->end - c->begin);
    if (size < PLANS * TIMES || c->options->top == 0) return;
    for (uint64_t k = 0; k < PLANS; k++)
        look_at(c, &c->desks[0], c->begin + (int64_t)(k * FR_DIGEST_GOLDEN % size), &c->sample);
    fr_best_cut(&c->sample.top, c->options->top);
}

static void free_piece(struct piece *piece) {
    free(piece->top.list.items);
    free(piece->pareto.items);
}

/* Pieces are joined in the order of their numbers, whoever finished first. Ties (same value, same lossiness) go to the
 * lower index, hence the order of joining decides nothing. */
static bool join(struct context *c, const struct piece *piece,
                 struct fr_search_result *result) {
    bool ok = !piece->failed;
    result->evaluated += piece->evaluated;
    result->feasible += piece->feasible;
    result->unpriced += piece->unpriced;
    result->read |= piece->read;
    for (int r = 0; r < FR_REASON_COUNT; r++) {
        result->because[r] += piece->because[r];
        if (result->example[r].index >= 0 || piece->example[r] < 0) continue;
        result->example[r].index = piece->example[r];
        fr_search_evaluate(c->job, c->space, c->options, c->by, piece->example[r],
                           &result->example[r].outcome);
    }
    for (int m = 0; m < FR_SEARCH_METHODS; m++)
        fr_ranked_keep(&c->of_method[m], &piece->of_method[m]);
    fr_ranked_keep(&c->exact, &piece->exact);
    for (int b = 0; b < FR_UNSURE; b++) fr_ranked_keep(&c->unsure[b], &piece->unsure[b]);
    c->least = fmin(c->least, piece->least);
    for (size_t i = 0; i < piece->top.list.count; i++)
        ok = fr_best_keep(&c->best, c->options->top, &piece->top.list.items[i]) && ok;
    for (size_t i = 0; i < piece->pareto.count; i++)
        ok = fr_front_keep(&c->front, &piece->pareto.items[i]) && ok;
    return ok;
}

/* Plans are ranked by what a user pays. An iteration is the measure while all plans train equally well per iteration.
 * With several batch sizes an iteration is no measure, so a sample is. Where a plan's number of iterations is known,
 * the training's total is. */
fr_ranking fr_search_ranking(const struct fr_job *job, const struct fr_space *space,
                             const struct fr_search_options *options) {
    /* Nobody says how many iterations any of these plans needs. */
    bool silent = space->base.iterations <= 0, batches = fr_space_has_batches(space);
    if (options->total) return FR_RANK_TOTAL;
    for (int64_t v = 0; v < space->n_variants; v++) {
        const struct fr_job *one = fr_space_job(space, job, v * fr_space_plans(space));
        bool stated = batches
                          ? one->workload.n_iterations > 0
                          : fr_iterations_hold(&one->workload, fr_job_batch(one, &space->base));
        silent = silent && !stated;
    }
    bool once = options->per_iteration || silent || space->base.forward;
    if (!once) return FR_RANK_TOTAL;
    return batches ? FR_RANK_SAMPLE : FR_RANK_ITERATION;
}

/* Pieces a round, after which all know what was found: more than any threads there are. */
enum { ROUND = 64 };

/* A pipeline is priced pass by pass: pieces small enough to go round. */
static void cut_pieces(struct context *c) {
    enum { PIECE = 4096, PIPELINES = 64, PIECES_MAX = 1024 };
    int64_t least = c->job->workload.n_layers > 0 ? PIECE : PIPELINES, size = c->end - c->begin;
    c->piece_size = (size + PIECES_MAX - 1) / PIECES_MAX;
    if (c->piece_size < least) c->piece_size = least;
    c->n_pieces = (size + c->piece_size - 1) / c->piece_size;
}

/* All pieces, a round at a time.  @return false without memory */
static bool go_through(struct context *c, int threads, struct fr_search_result *result) {
    bool ok = true;
    for (; c->first < c->n_pieces; c->first += ROUND) {
        int64_t left = c->n_pieces - c->first, n = left < ROUND ? left : ROUND;
        fr_parallel_for(threads, n, work, c);
        for (int64_t i = 0; i < n; i++) {
            ok = join(c, &c->pieces[i], result) && ok;
            free_piece(&c->pieces[i]);
        }
        if (c->options->top > 0) fr_best_cut(&c->best, c->options->top);
    }
    fr_best_cut(&c->best, c->options->top);
    return ok;
}

/* Search by pruned enumeration: every plan of the space is laid out, and priced only as far as it may still matter.
 *
 *     lower bound of the plan  >  value of the K-th best so far     it is not listed
 *     beaten on the front by a point that is strictly faster        it is not on the front
 *     lower bound  >  best of its method                            it is not its method's best
 *     lossy, or lower bound  >  best exact plan                     it is not the best exact plan
 *
 * A plan of which all four hold is counted and dropped without its exact price (fr_cost_bounded,
 * models/outcome/bounded.h). Bounds are exact lower bounds, so pruning changes the time of a search and never its
 * answer; tests/search/test_bounded.c holds it against pricing everything. */
fr_status fr_search(const struct fr_job *job, const struct fr_space *space,
                    const struct fr_search_options *options, struct fr_search_result *result,
                    struct fr_error *err) {
    struct fr_progress progress;
    double start_s = fr_now_s();
    int threads = options->threads ? options->threads : fr_processors();
    struct context c = {.job = job,
                        .space = space,
                        .options = options,
                        .by = fr_search_ranking(job, space, options),
                        .begin = options->begin,
                        .end = options->end ? options->end : space->size,
                        .least = INFINITY,
                        .progress = &progress};
    cut_pieces(&c);
    *result = (struct fr_search_result){.by = c.by, .surest.index = -1, .best_exact.index = -1};
    for (int r = 0; r < FR_REASON_COUNT; r++) result->example[r].index = -1;
    fr_ranked_begin(c.of_method, FR_SEARCH_METHODS);
    fr_ranked_begin(&c.exact, 1);
    fr_ranked_begin(c.unsure, FR_UNSURE);
    begin_piece(&c.sample);
    c.pieces = fr_calloc(ROUND, sizeof *c.pieces);
    bool ok = make_desks(&c, threads) && c.pieces;
    fr_progress_begin(&progress, "searching", c.n_pieces);
    if (ok) take_sample(&c);
    ok = ok && go_through(&c, threads, result);
    fr_progress_end(&progress);
    result->ranked = c.best.list;
    memcpy(result->of_method, c.of_method, sizeof c.of_method);
    result->exact = c.exact;
    memcpy(result->unsure, c.unsure, sizeof c.unsure);
    fr_front_sort(&c.front);
    struct fr_pricer *pricer = ok && c.desks[0].job == job ? c.desks[0].pricer : NULL;
    ok = ok && fr_cached_price(job, space, options, &c.front, pricer, result, NULL) == FR_OK;
    free_piece(&c.sample);
    free_desks(&c);
    free(c.pieces);
    free(c.front.items);
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
        if (!fr_search_evaluate(b->c->job, b->c->space, b->c->options, b->c->by,
                                b->ranked[i].index, &b->outcome[i]))
            b->outcome[i].reasons = FR_BECAUSE(FR_REASON_MESH);
}

/* @return false: a plan of the list cannot be, as in a checkpoint that somebody changed. */
static bool see_rest(struct batch *b, const struct fr_search_result *result, int threads,
                     fr_found_fn *see, void *context) {
    for (size_t i = result->top.count; i < result->ranked.count; i += BATCH) {
        size_t left = result->ranked.count - i;
        b->count = left < BATCH ? (int64_t)left : BATCH;
        b->ranked = &result->ranked.items[i];
        fr_parallel_for(threads, (b->count + SHARE - 1) / SHARE, price_share, b);
        for (int64_t k = 0; k < b->count; k++) {
            if (b->outcome[k].reasons) return false;
            if (!see(context, i + (size_t)k, &b->outcome[k])) return true;
        }
    }
    return true;
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
    bool good = see_rest(&batch, result, options->threads ? options->threads : fr_processors(),
                         see, context);
    free(batch.outcome);
    return good ? FR_OK
                : fr_fail(err, FR_ERR_INPUT, "search", "a plan that it ranks cannot be");
}

void fr_search_refuse(struct fr_search_result *result, int reason,
                      const struct fr_outcome *example) {
    result->infeasible = result->evaluated;
    result->feasible = result->unpriced = 0;
    result->ranked.count = result->top.count = result->pareto.count = result->less_sure.count =
        0;
    result->surest.index = result->best_exact.index = -1;
    fr_ranked_begin(result->of_method, FR_SEARCH_METHODS);
    fr_ranked_begin(&result->exact, 1);
    fr_ranked_begin(result->unsure, FR_UNSURE);
    result->because[reason] = result->evaluated;
    result->example[reason] = (struct fr_found){.outcome = *example};
}

void fr_search_result_free(struct fr_search_result *result) {
    free(result->ranked.items);
    free(result->top.items);
    free(result->pareto.items);
    free(result->less_sure.items);
    *result = (struct fr_search_result){0};
}
