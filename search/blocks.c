#include "search/blocks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "base/sort.h"
#include "search/break_even.h"

static fr_status no_memory(struct fr_error *err) {
    return fr_fail(err, FR_ERR_NOMEM, "search", "out of memory");
}

/* The cut depends on the size of the space alone, never on the number of processes, so that a checkpoint of eight
 * processes can be continued by three. A block holds at least 2048 plans: pruning needs some plans to learn from. */
fr_status fr_blocks_open(const struct fr_job *job, const struct fr_space *space,
                         const struct fr_search_options *options, struct fr_blocks *b,
                         struct fr_error *err) {
    enum { LEAST = 2048, BLOCKS_MAX = 512 };
    *b = (struct fr_blocks){.job = job, .space = space, .options = options};
    b->size = (space->size + BLOCKS_MAX - 1) / BLOCKS_MAX;
    if (b->size < LEAST) b->size = LEAST;
    b->n = (space->size + b->size - 1) / b->size;
    b->block = fr_calloc((size_t)b->n + 1, sizeof *b->block);
    return b->block ? FR_OK : no_memory(err);
}

void fr_blocks_free(struct fr_blocks *b) {
    for (int64_t i = 0; b->block && i < b->n; i++) {
        free(b->block[i].ranked);
        free(b->block[i].front);
    }
    free(b->block);
    *b = (struct fr_blocks){.n = 0};
}

int64_t fr_blocks_next(const struct fr_blocks *b, int64_t from) {
    for (int64_t i = from; i < b->n; i++)
        if (!b->block[i].done) return i;
    return -1;
}

/* ---- one block as a line -------------------------------------------------------------------- */

/* %a writes a double in hexadecimal, exact to the last bit. Decimal digits would round, and two plans that tie would
 * change places after a restart. */
static void write_line(const struct fr_search_result *r, int64_t number, struct fr_text *line) {
    fr_text_addf(line, "block %" PRId64 " %" PRId64 " %" PRId64 " %" PRIx64 " %d", number,
                 r->evaluated, r->feasible, (uint64_t)r->read, (int)FR_REASON_COUNT);
    for (int i = 0; i < FR_REASON_COUNT; i++)
        fr_text_addf(line, " %" PRId64 " %" PRId64, r->because[i], r->example[i].index);
    for (int m = 0; m < FR_SEARCH_METHODS && fr_methods[m]; m++)
        fr_text_addf(line, " %a %a %" PRId64, r->of_method[m].value, r->of_method[m].lossy,
                     r->of_method[m].index);
    fr_text_addf(line, " %a %a %" PRId64, r->exact.value, r->exact.lossy, r->exact.index);
    for (int b = 0; b < FR_UNSURE; b++)
        fr_text_addf(line, " %a %a %" PRId64, r->unsure[b].value, r->unsure[b].lossy,
                     r->unsure[b].index);
    fr_text_addf(line, " %zu", r->ranked.count);
    for (size_t i = 0; i < r->ranked.count; i++) {
        const struct fr_ranked *one = &r->ranked.items[i];
        fr_text_addf(line, " %a %a %" PRId64, one->value, one->lossy, one->index);
    }
    fr_text_addf(line, " %zu", r->pareto.count);
    for (size_t i = 0; i < r->pareto.count; i++) {
        const struct fr_front_point p =
            fr_front_point_of(r->by, &r->pareto.items[i].outcome, r->pareto.items[i].index);
        fr_text_addf(line, " %a %a %a %a %" PRId64, p.time_s, p.energy_J, p.memory_B, p.lossy,
                     p.index);
    }
    fr_text_addf(line, " end");
}

fr_status fr_blocks_search(const struct fr_blocks *b, int64_t number, int threads,
                           struct fr_text *line, struct fr_error *err) {
    struct fr_search_options part = *b->options;
    struct fr_search_result result = {0};
    part.begin = number * b->size;
    part.end = part.begin + b->size < b->space->size ? part.begin + b->size : b->space->size;
    part.threads = threads;
    fr_status status = fr_search(b->job, b->space, &part, &result, err);
    if (status == FR_OK) write_line(&result, number, line);
    fr_search_result_free(&result);
    return status == FR_OK && line->failed ? no_memory(err) : status;
}

/* ---- a line as a block ---------------------------------------------------------------------- */

/* Numbers of a line, one after the other; once one is none, all that follow are none. */
struct words {
    const char *at;
    bool bad;
};

static int64_t whole(struct words *w) {
    char *end = NULL;
    int64_t value = strtoll(w->at, &end, 10);
    w->bad = w->bad || end == w->at;
    w->at = end;
    return value;
}

static uint64_t hexadecimal(struct words *w) {
    char *end = NULL;
    uint64_t value = strtoull(w->at, &end, 16);
    w->bad = w->bad || end == w->at;
    w->at = end;
    return value;
}

static double number(struct words *w) {
    char *end = NULL;
    double value = strtod(w->at, &end);
    w->bad = w->bad || end == w->at || isnan(value);
    w->at = end;
    return value;
}

/* How many follow, of as many bytes of text at least; 0 where that cannot be. */
static size_t count(struct words *w, size_t least) {
    int64_t n = whole(w);
    w->bad = w->bad || n < 0 || (uint64_t)n > strlen(w->at) / least;
    return w->bad ? 0 : (size_t)n;
}

static void read_each(struct words *w, struct fr_ranked *best) {
    best->value = number(w);
    best->lossy = number(w);
    best->index = whole(w);
}

static void read_ranked(struct words *w, struct fr_part *block) {
    block->n_ranked = count(w, 6);
    block->ranked = fr_calloc(block->n_ranked + 1, sizeof *block->ranked);
    for (size_t i = 0; block->ranked && i < block->n_ranked && !w->bad; i++)
        read_each(w, &block->ranked[i]);
}

static void read_methods(struct words *w, struct fr_part *block) {
    for (int m = 0; m < FR_SEARCH_METHODS && fr_methods[m]; m++)
        read_each(w, &block->of_method[m]);
    read_each(w, &block->exact);
    for (int b = 0; b < FR_UNSURE; b++) read_each(w, &block->unsure[b]);
}

static void read_front(struct words *w, struct fr_part *block) {
    block->n_front = count(w, 10);
    block->front = fr_calloc(block->n_front + 1, sizeof *block->front);
    for (size_t i = 0; block->front && i < block->n_front && !w->bad; i++) {
        struct fr_front_point *p = &block->front[i];
        p->time_s = number(w);
        p->energy_J = number(w);
        p->memory_B = number(w);
        p->lossy = number(w);
        p->index = whole(w);
    }
}

static bool inside(const struct fr_blocks *b, int64_t block, int64_t index) {
    return index >= block * b->size && index < (block + 1) * b->size && index < b->space->size;
}

/* No more of anything than the block has plans: sums of them are counts again. */
static bool counts(const struct fr_blocks *b, const struct fr_part *block) {
    bool all = block->feasible >= 0 && block->feasible <= block->evaluated &&
               block->evaluated <= b->size;
    for (int r = 0; r < FR_REASON_COUNT; r++)
        all = all && block->because[r] >= 0 && block->because[r] <= block->evaluated;
    return all;
}

/* Numbers of plans are the block's own: they are priced again. */
static bool fits(const struct fr_blocks *b, int64_t number, const struct fr_part *block) {
    for (int r = 0; r < FR_REASON_COUNT; r++)
        if (block->example[r] != -1 && !inside(b, number, block->example[r])) return false;
    for (int m = 0; m < FR_SEARCH_METHODS && fr_methods[m]; m++)
        if (block->of_method[m].index != -1 && !inside(b, number, block->of_method[m].index))
            return false;
    if (block->exact.index != -1 && !inside(b, number, block->exact.index)) return false;
    for (int u = 0; u < FR_UNSURE; u++)
        if (block->unsure[u].index != -1 && !inside(b, number, block->unsure[u].index))
            return false;
    for (size_t i = 0; i < block->n_ranked; i++)
        if (!inside(b, number, block->ranked[i].index)) return false;
    for (size_t i = 0; i < block->n_front; i++)
        if (!inside(b, number, block->front[i].index)) return false;
    return true;
}

/* A line comes from a file that anybody may have changed. So everything in it is checked: counts against the block's
 * size, plan numbers against its range; prices are computed again later (fr_blocks_join). A line that fails any check
 * is refused whole. */
fr_status fr_blocks_take(struct fr_blocks *b, const char *line, struct fr_error *err) {
    struct words w = {.at = line, .bad = strncmp(line, "block ", 6) != 0};
    struct fr_part block = {.done = true};
    if (!w.bad) w.at += 6;
    int64_t number = whole(&w);
    block.evaluated = whole(&w);
    block.feasible = whole(&w);
    block.read = (fr_plan_key_set)hexadecimal(&w);
    w.bad = w.bad || whole(&w) != FR_REASON_COUNT || number < 0 || number >= b->n;
    for (int r = 0; r < FR_REASON_COUNT && !w.bad; r++) {
        block.because[r] = whole(&w);
        block.example[r] = whole(&w);
    }
    if (!w.bad) read_methods(&w, &block);
    if (!w.bad) read_ranked(&w, &block);
    if (!w.bad) read_front(&w, &block);
    bool memory = w.bad || (block.ranked && block.front);
    bool good = !w.bad && memory && strcmp(w.at, " end") == 0 && counts(b, &block) &&
                fits(b, number, &block);
    if (good && !b->block[number].done) {
        b->block[number] = block;
        b->n_done++;
        return FR_OK;
    }
    free(block.ranked);
    free(block.front);
    if (!memory) return no_memory(err);
    return good ? FR_OK
                : fr_fail(err, FR_ERR_INPUT, "block", "is none of this search: %.60s", line);
}

/* ---- all blocks ----------------------------------------------------------------------------- */

static int by_index(const void *x, const void *y) {
    const struct fr_front_point *a = x, *b = y;
    return FR_ORDER(a->index, b->index);
}

/* In order of the numbers, so that of equals the first stays. @return false without memory */
static bool join_cached(const struct fr_blocks *b, struct fr_best *best, struct fr_front *front,
                        struct fr_search_result *result) {
    bool ok = true;
    fr_ranked_begin(result->of_method, FR_SEARCH_METHODS);
    fr_ranked_begin(&result->exact, 1);
    fr_ranked_begin(result->unsure, FR_UNSURE);
    for (int64_t i = 0; i < b->n; i++) {
        const struct fr_part *block = &b->block[i];
        fr_sort_items(block->front, block->n_front, sizeof *block->front, by_index);
        for (size_t k = 0; k < block->n_ranked; k++)
            ok = fr_best_keep(best, b->options->top, &block->ranked[k]) && ok;
        for (size_t k = 0; k < block->n_front; k++)
            ok = fr_front_keep(front, &block->front[k]) && ok;
        for (int m = 0; m < FR_SEARCH_METHODS && fr_methods[m]; m++)
            fr_ranked_keep(&result->of_method[m], &block->of_method[m]);
        fr_ranked_keep(&result->exact, &block->exact);
        for (int u = 0; u < FR_UNSURE; u++)
            fr_ranked_keep(&result->unsure[u], &block->unsure[u]);
    }
    fr_best_cut(best, b->options->top);
    fr_front_sort(front);
    return ok;
}

/* A line may tell of plans of this search what is not so of them. */
static fr_status untrue(int64_t index, struct fr_error *err) {
    return fr_fail(err, FR_ERR_INPUT, "block",
                   "plan %" PRId64 " of this search is not as a block says", index);
}

/* Counts add up; the example of a reason is the first plan that has it. */
static fr_status join_counts(const struct fr_blocks *b, struct fr_search_result *result,
                             struct fr_error *err) {
    for (int64_t i = 0; i < b->n; i++) {
        const struct fr_part *block = &b->block[i];
        result->evaluated += block->evaluated;
        result->feasible += block->feasible;
        result->read |= block->read;
        for (int r = 0; r < FR_REASON_COUNT; r++) {
            result->because[r] += block->because[r];
            if (result->example[r].index >= 0 || block->example[r] < 0) continue;
            struct fr_found *example = &result->example[r];
            example->index = block->example[r];
            if (!fr_search_evaluate(b->job, b->space, b->options, result->by, example->index,
                                    &example->outcome) ||
                !(example->outcome.reasons & FR_BECAUSE(r)))
                return untrue(example->index, err);
        }
    }
    result->infeasible = result->evaluated - result->feasible;
    return FR_OK;
}

/* Is the plan what a line ranks it by?  Two ways of pricing agree but for rounding. */
static bool has_value(const struct fr_blocks *b, const struct fr_search_result *result,
                      const struct fr_ranked *ranked, const struct fr_outcome *out) {
    static const double ROUNDING = 1e-9;
    double value = fr_objective_value(b->options->objective, result->by, out);
    return out->reasons == 0 && fabs(value - ranked->value) <= ROUNDING * fabs(value);
}

static fr_status check_best(const struct fr_blocks *b, const struct fr_search_result *result,
                            const struct fr_ranked *best, bool exact, struct fr_error *err) {
    struct fr_outcome out;
    if (best->index < 0) return FR_OK;
    if (!fr_search_evaluate(b->job, b->space, b->options, result->by, best->index, &out) ||
        !has_value(b, result, best, &out) || (exact && !fr_outcome_is_exact(&out)))
        return untrue(best->index, err);
    return FR_OK;
}

static fr_status check_methods(const struct fr_blocks *b, const struct fr_search_result *result,
                               struct fr_error *err) {
    for (int m = 0; m < FR_SEARCH_METHODS; m++)
        FR_TRY(check_best(b, result, &result->of_method[m], false, err));
    return check_best(b, result, &result->exact, true, err);
}

/* Bands are of plans that fit less surely than asked for, by their value, the surest by its deviations. */
static fr_status check_unsure(const struct fr_blocks *b, const struct fr_search_result *result,
                              struct fr_error *err) {
    for (int u = 0; u < FR_UNSURE; u++) {
        const struct fr_ranked *best = &result->unsure[u];
        struct fr_outcome out;
        if (best->index < 0) continue;
        bool is =
            fr_search_evaluate(b->job, b->space, b->options, result->by, best->index, &out) &&
            out.reasons == FR_BECAUSE(FR_REASON_UNSURE);
        out.reasons = 0;
        if (!is || (u < FR_UNSURE_BANDS
                        ? fr_unsure_band(&out) != u || !has_value(b, result, best, &out)
                        : -out.memory_spare != best->value))
            return untrue(best->index, err);
    }
    return FR_OK;
}

/* Every plan in the lists must be feasible. */
static fr_status check_lists(const struct fr_blocks *b, const struct fr_search_result *result,
                             struct fr_error *err) {
    for (size_t i = 0; i < result->top.count; i++)
        if (!has_value(b, result, &result->ranked.items[i], &result->top.items[i].outcome))
            return untrue(result->top.items[i].index, err);
    const struct fr_found_list *lists[] = {&result->top, &result->pareto};
    for (int l = 0; l < 2; l++)
        for (size_t i = 0; i < lists[l]->count; i++)
            if (lists[l]->items[i].outcome.reasons)
                return untrue(lists[l]->items[i].index, err);
    return FR_OK;
}

/* The best K of the whole are among the best K of each block. The front of the whole is a subset of the union of
 * the blocks' fronts. So each block keeps K plans and a front, and the answer is that of one search. */
fr_status fr_blocks_join(const struct fr_blocks *b, struct fr_search_result *result,
                         struct fr_error *err) {
    struct fr_best best = {.cut = false};
    struct fr_front front = {.count = 0};
    *result = (struct fr_search_result){.by = fr_search_ranking(b->job, b->space, b->options),
                                        .unpriced = -1,
                                        .best_exact.index = -1,
                                        .elapsed_s = NAN};
    for (int r = 0; r < FR_REASON_COUNT; r++) result->example[r].index = -1;
    FR_TRY(join_counts(b, result, err));
    bool ok = join_cached(b, &best, &front, result);
    result->ranked = best.list;
    fr_status status =
        ok ? fr_cached_price(b->job, b->space, b->options, &front, NULL, result, err)
           : no_memory(err);
    free(front.items);
    if (status == FR_OK) status = check_lists(b, result, err);
    if (status == FR_OK) status = check_methods(b, result, err);
    return status == FR_OK ? check_unsure(b, result, err) : status;
}

/* ---- which search --------------------------------------------------------------------------- */

static void mix(uint64_t *hash, const void *bytes, size_t n) {
    *hash = fr_digest_bytes(*hash, bytes, n);
}

static void mix_number(uint64_t *hash, double number) { mix(hash, &number, sizeof number); }

uint64_t fr_blocks_print(const struct fr_blocks *b) {
    enum { PLANS = 64 };
    const struct fr_search_options *o = b->options;
    uint64_t hash = FR_DIGEST_START;
    fr_ranking by = fr_search_ranking(b->job, b->space, o);
    const double numbers[] = {
        (double)b->space->size, (double)b->size,   (double)o->objective, (double)by,
        (double)o->top,         o->memory_limit_B, o->max_lossy,         o->fit};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) mix_number(&hash, numbers[i]);
    mix(&hash, b->job->cluster.name, strlen(b->job->cluster.name));
    mix(&hash, b->job->workload.name, strlen(b->job->workload.name));
    for (int64_t v = 0; v < (b->space->variants ? b->space->n_variants : 1); v++) {
        const struct fr_job *job = b->space->variants ? &b->space->variants[v] : b->job;
        mix(&hash, job->cluster.runtime, strlen(job->cluster.runtime) + 1);
    }
    for (int64_t i = 0; i < PLANS; i++) {
        struct fr_outcome out = {.reasons = 0};
        int64_t index = (int64_t)((double)b->space->size * (double)i / PLANS);
        bool is = fr_search_evaluate(b->job, b->space, o, by, index, &out);
        mix_number(&hash, is ? (double)out.reasons : -1);
        if (!is || out.reasons & FR_BECAUSE(FR_REASON_MESH) || isnan(out.time_s)) continue;
        mix_number(&hash, out.time_s);
        mix_number(&hash, out.memory_peak_B);
        mix_number(&hash, isnan(out.memory_spare) ? 0 : out.memory_spare);
    }
    return hash;
}
