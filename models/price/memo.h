/** @file
 *  What plans share is priced once: results kept under the part of a plan that they hang on.
 *
 *  A table knows keys of a plan (models/plan/key_list.h) that its results do not hang on; every other
 *  byte of the plan is part of what a result is kept under, a key that is added tomorrow too.  So a wrong
 *  list is the only way to a wrong price, and tests/search/test_bounded.c varies every key of the table and
 *  holds prices with memory against prices without.
 *
 *  A table has a fixed number of places; what falls on a place that is taken replaces what is there. */
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

/** Forget a result that could not be made. */
void fr_memo_forget(struct fr_memo *memo, void *result);

/** What the prices of a job's plans share; one thread's. */
struct fr_price_memo {
    struct fr_memo *placed; /**< struct fr_stage_places */
    struct fr_memo *work;   /**< struct fr_stage_work */
};

/** @return FR_OK or FR_ERR_NOMEM.  Free with fr_price_memo_free, also on error. */
fr_status fr_price_memo_make(struct fr_price_memo *memo, struct fr_error *err);
void fr_price_memo_free(struct fr_price_memo *memo);

#endif
