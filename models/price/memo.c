#include "models/price/memo.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "base/random.h"
#include "models/price/crossing.h"
#include "models/price/lines.h"
#include "models/price/stage_price.h"
#include "models/price/stage_work.h"

/* BLOCK words are compared at once. */
enum { BLOCK = 8, WORDS = sizeof(struct fr_plan) / sizeof(uint64_t) };
_Static_assert(sizeof(struct fr_plan) % sizeof(uint64_t) == 0, "a plan is whole words");

/* Apart from the keys, so that the places that a key may be at are looked through in one line of a cache. */
struct place {
    uint64_t used; /* when it was last asked for; 0: it is empty */
    uint64_t digest;
};

struct key {
    int64_t also;
    uint64_t words[WORDS];
};

/* A key may be at any of so many places beside each other, so that two keys of one digest do not replace each other in
 * turn. */
enum { WAYS = 4 };

struct fr_memo {
    size_t places, size; /* places: a multiple of WAYS */
    uint64_t n_asked;
    uint64_t mask[WORDS];
    uint64_t asked[WORDS];        /* the plan that was asked for last; 0 before */
    uint64_t last[WORDS], digest; /* its key */
    void (*drop)(void *result);
    struct place *place;
    struct key *key;
    unsigned char *results;
};

struct fr_memo *fr_memo_make(size_t places, size_t size, fr_plan_key_set without,
                             void (*drop)(void *result)) {
    struct fr_memo *memo = fr_calloc(1, sizeof *memo);
    if (!memo) return NULL;
    places = (places + WAYS - 1) / WAYS * WAYS;
    *memo = (struct fr_memo){.places = places, .size = (size + 15) / 16 * 16, .drop = drop};
    memset(memo->mask, -1, sizeof memo->mask);
    for (int k = 0; k < FR_PLAN_KEYS; k++)
        if (without >> k & 1)
            memset((char *)memo->mask + fr_plan_keys[k].offset, 0, fr_plan_keys[k].size);
    memset((char *)memo->mask + offsetof(struct fr_plan, resolved), 0, sizeof(uint64_t));
    memo->place = fr_calloc(places, sizeof *memo->place);
    memo->key = fr_calloc(places, sizeof *memo->key);
    memo->results = fr_calloc(places, memo->size);
    if (memo->place && memo->key && memo->results) return memo;
    fr_memo_free(memo);
    return NULL;
}

static void *result_of(struct fr_memo *memo, size_t place) {
    return memo->results + place * memo->size;
}

void fr_memo_clear(struct fr_memo *memo) {
    for (size_t i = 0; i < memo->places; i++) {
        if (memo->place[i].used && memo->drop) memo->drop(result_of(memo, i));
        memo->place[i].used = 0;
    }
}

void fr_memo_free(struct fr_memo *memo) {
    if (!memo) return;
    if (memo->place) fr_memo_clear(memo);
    free(memo->place);
    free(memo->key);
    free(memo->results);
    free(memo);
}

/* A word's part in the digest. */
static uint64_t mixed(uint64_t word, int place) {
    return fr_random_mix(word + (uint64_t)(place + 1) * FR_DIGEST_GOLDEN);
}

/* Words @p from to @p to of the plan are other ones than before: the digest takes in what of them is of the key. */
static void take_words(struct fr_memo *memo, int from, int to) {
    for (int i = from; i < to; i++) {
        const uint64_t word = memo->asked[i] & memo->mask[i];
        if (word == memo->last[i]) continue;
        memo->digest ^= mixed(memo->last[i], i) ^ mixed(word, i);
        memo->last[i] = word;
    }
}

/* Plans that are asked for in turn differ in a word or two. */
void fr_memo_ask(struct fr_memo *memo, const struct fr_plan *plan) {
    for (int from = 0; from < WORDS; from += BLOCK) {
        const int to = from + BLOCK < WORDS ? from + BLOCK : WORDS;
        const size_t size = (size_t)(to - from) * sizeof(uint64_t);
        const char *words = (const char *)plan + (size_t)from * sizeof(uint64_t);
        if (memcmp(memo->asked + from, words, size) == 0) continue;
        memcpy(memo->asked + from, words, size);
        take_words(memo, from, to);
    }
}

static bool is_at(const struct fr_memo *memo, size_t at, uint64_t digest, int64_t also) {
    return memo->place[at].used && memo->place[at].digest == digest &&
           memo->key[at].also == also &&
           memcmp(memo->key[at].words, memo->last, sizeof memo->last) == 0;
}

/* Where it is, or else the one of its places that was not asked for longest. */
static size_t place_of(const struct fr_memo *memo, uint64_t digest, int64_t also, bool *found) {
    size_t first = (size_t)(digest % (memo->places / WAYS)) * WAYS, oldest = first;
    for (size_t at = first; at < first + WAYS; at++) {
        *found = is_at(memo, at, digest, also);
        if (*found) return at;
        if (memo->place[at].used < memo->place[oldest].used) oldest = at;
    }
    return oldest;
}

void *fr_memo_find_next(struct fr_memo *memo, int64_t also, bool *fresh) {
    bool found;
    const uint64_t digest =
        fr_digest_place(memo->digest + (uint64_t)also * FR_DIGEST_GOLDEN, NULL, 0);
    size_t at = place_of(memo, digest, also, &found);
    struct place *place = &memo->place[at];
    void *result = result_of(memo, at);
    *fresh = !found;
    if (*fresh) {
        if (place->used && memo->drop) memo->drop(result);
        place->digest = digest;
        memo->key[at].also = also;
        memcpy(memo->key[at].words, memo->last, sizeof memo->last);
        memset(result, 0, memo->size);
    }
    place->used = ++memo->n_asked;
    return result;
}

void *fr_memo_find(struct fr_memo *memo, const struct fr_plan *plan, int64_t also,
                   bool *fresh) {
    fr_memo_ask(memo, plan);
    return fr_memo_find_next(memo, also, fresh);
}

uint64_t fr_memo_asked(const struct fr_memo *memo) { return memo->n_asked; }

void fr_memo_forget(struct fr_memo *memo, void *result) {
    memo->place[(size_t)((unsigned char *)result - memo->results) / memo->size].used = 0;
}

/* ---- of a job's prices ------------------------------------------------------------------------- */

#define KEY(word) FR_PLAN_KEY_BIT(FR_PLAN_KEY_##word)

/* The order of passes, messages once they are there, which stages compress gradients, and how the ends sum the embedding:
 * each is asked by itself. */
#define NOT_OF_STAGE                                                                           \
    (KEY(schedule) | KEY(p2p) | KEY(iterations) | KEY(backward_scope) | KEY(backward_rank) |   \
     KEY(lazy_error) | KEY(forward_rank) | KEY(gradient_stages) | KEY(embedding))
/* That, and how gradients are compressed. */
#define NOT_OF_WHOLE (NOT_OF_STAGE | KEY(codec) | KEY(gradient_rank) | KEY(gradient_ranks))
/* That, and what is done with gradients. */
#define LATER                                                                                  \
    (NOT_OF_WHOLE | KEY(overlap) | KEY(bucket) | KEY(zero) | KEY(offload) |                    \
     KEY(offload_layers) | KEY(reshard) | KEY(gradient_sync) | KEY(zero_exchange))
/* Messages have their sizes and their codec, whatever stages do in their passes and after them. */
#define NOT_CROSSED                                                                            \
    (KEY(iterations) | KEY(gradient_stages) | KEY(gradient_rank) | KEY(gradient_ranks) |       \
     KEY(embedding) | KEY(overlap) | KEY(bucket) | KEY(zero) | KEY(offload) |                  \
     KEY(offload_layers) | KEY(reshard) | KEY(gradient_sync) | KEY(zero_exchange) |            \
     KEY(recompute) | KEY(recompute_layers) | KEY(attention) | KEY(overlap_experts) |          \
     KEY(overlap_tp) | KEY(graphs) | KEY(accumulation) | KEY(loss))
/* Who sits where hangs on the mesh alone, and who sums the embedding on how. */
#define NOT_PLACED                                                                             \
    ((LATER & ~KEY(embedding)) | KEY(chunks) | KEY(recompute) | KEY(recompute_layers) |        \
     KEY(attention) | KEY(micro_batch) | KEY(global_batch) | KEY(sequence_parallel) |          \
     KEY(overlap_experts) | KEY(overlap_tp) | KEY(graphs) | KEY(ghost) | KEY(phantom_parts) |  \
     KEY(launches) | KEY(accumulation) | KEY(loss))

static void drop_placed(void *result) {
    struct fr_stage_places *placed = result;
    fr_rank_map_free(&placed->rank_map);
    free(placed->above);
    free(placed->like);
    fr_pair_lines_free(placed->lines);
    placed->above = NULL;
    placed->like = NULL;
    placed->lines = NULL;
}

static void drop_crossings(void *result) {
    struct fr_crossings *crossings = result;
    free(crossings->above);
    crossings->above = NULL;
}

fr_status fr_price_memo_make(struct fr_price_memo *memo, struct fr_error *err) {
    memo->placed = fr_memo_make(256, sizeof(struct fr_stage_places), NOT_PLACED, drop_placed);
    memo->crossings =
        fr_memo_make(512, sizeof(struct fr_crossings), NOT_CROSSED, drop_crossings);
    memo->work = fr_memo_make(1024, sizeof(struct fr_stage_work), LATER, NULL);
    memo->stage = fr_memo_make(2048, sizeof(struct fr_priced_stage), NOT_OF_WHOLE, NULL);
    memo->coded = fr_memo_make(2048, sizeof(struct fr_priced_stage), NOT_OF_STAGE, NULL);
    return memo->placed && memo->crossings && memo->work && memo->stage && memo->coded
               ? FR_OK
               : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
}

void fr_price_memo_clear(struct fr_price_memo *memo) {
    fr_memo_clear(memo->placed);
    fr_memo_clear(memo->crossings);
    fr_memo_clear(memo->work);
    fr_memo_clear(memo->stage);
    fr_memo_clear(memo->coded);
}

void fr_price_memo_free(struct fr_price_memo *memo) {
    fr_memo_free(memo->placed);
    fr_memo_free(memo->crossings);
    fr_memo_free(memo->work);
    fr_memo_free(memo->stage);
    fr_memo_free(memo->coded);
    *memo = (struct fr_price_memo){0};
}
