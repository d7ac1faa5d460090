/** @file
 *  Results that plans share are priced once: they are cached under the part of a plan that they depend on.
 *
 *  A table lists the keys of a plan (models/plan/key_list.h) that its results do not depend on.  Every other byte of
 *  the plan is part of a result's cache key, and so is a key that is added tomorrow.  So a wrong list is the only way
 *  to a wrong price.  tests/search/test_bounded.c varies every key of the table and compares prices with the cache
 *  and without.
 *
 *  A table has a fixed number of places; a new result replaces the one of a few that was not asked for longest. */
#ifndef FR_MODELS_PRICE_MEMO_H
#define FR_MODELS_PRICE_MEMO_H

#include "models/plan/key.h"

struct fr_memo;

/** A table of @p places results of @p size bytes, that do not hang on the keys of @p without.
 *  @param drop  of a result that is replaced, or NULL
 *  @return NULL without memory.  Free with fr_memo_free. */
struct fr_memo *fr_memo_make(size_t places, size_t size, fr_plan_key_set without,
                             void (*drop)(void *result));
void fr_memo_free(struct fr_memo *memo);

/** The place of the result for @p plan and @p also, a number beside it; zeroes where @p fresh: it is for
 *  the caller to fill in. */
void *fr_memo_find(struct fr_memo *memo, const struct fr_plan *plan, int64_t also, bool *fresh);

/** The same of the plan that was asked for last. */
void *fr_memo_find_next(struct fr_memo *memo, int64_t also, bool *fresh);
/** Ask for results of @p plan, by the function above. */
void fr_memo_ask(struct fr_memo *memo, const struct fr_plan *plan);

/** How often results were asked for so far: a number of its own for one that is fresh. */
uint64_t fr_memo_asked(const struct fr_memo *memo);

/** Forget a result that could not be made. */
void fr_memo_forget(struct fr_memo *memo, void *result);
/** Forget all. */
void fr_memo_clear(struct fr_memo *memo);

/** Cached results that the prices of a job's plans share; each thread has its own. */
struct fr_price_memo {
    struct fr_memo *placed;    /**< struct fr_stage_places */
    struct fr_memo *crossings; /**< struct fr_crossings */
    struct fr_memo *work;      /**< struct fr_stage_work */
    struct fr_memo *stage;     /**< struct fr_priced_stage, of those whose gradients go whole */
    struct fr_memo *coded;     /**< the same of those whose gradients go compressed */
};

/** @return FR_OK or FR_ERR_NOMEM.  Free with fr_price_memo_free, also on error. */
fr_status fr_price_memo_make(struct fr_price_memo *memo, struct fr_error *err);
void fr_price_memo_clear(struct fr_price_memo *memo);
void fr_price_memo_free(struct fr_price_memo *memo);

#endif
