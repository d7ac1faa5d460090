/** @file
 *  What a rank does and holds for tokens whose keys and values are cached (models/workload/cache.h).
 *
 *  n attentions on a rank of p, b samples of a micro-batch with s new tokens each, w bytes a value:
 *
 *      flop      n b s 2 (pair seen + scored) / p
 *      bytes     n b w ((divided / p + whole - index) (seen + s) + index (cached + s))      read, and s of them written
 *      memory    n b w (divided / p + whole) kept
 *
 *  A step reads each byte of the cache once, whatever the number of query heads that share it, as a kernel that splits a
 *  sample's tokens over the device does (FlashDecoding, Dao et al. 2023).  So its time is the larger one of flop at the
 *  fused kernel's rate and bytes at the memory's.
 *
 *  With few new tokens a product is as slow as the memory that its matrix comes from, so each takes at least its bytes.
 *  Only experts that a token goes to are read: T tokens with k choices meet E (1 - (1 - k/E)^T) of E. */
#ifndef FR_MODELS_WORK_CACHE_H
#define FR_MODELS_WORK_CACHE_H

#include "models/work/transformer.h"

/** On one rank of @p ranks, for @p batch samples of a micro-batch. */
struct fr_cache_share {
    double attentions, batch, ranks;
    double value_B;
};
/** Add the attention to cached tokens, and the cache; nothing where none are. */
void fr_cache_add(const struct fr_transformer *t, const struct fr_cache_share *share,
                  struct fr_rank_work *work);

/** Experts among the @p held ones of a rank that @p tokens of all ranks meet; all where nothing is cached. */
double fr_cache_experts(const struct fr_transformer *t, double held, double tokens);

/** Products of a pass behind cached tokens read their matrices from memory. */
void fr_cache_stream(const struct fr_transformer *t, struct fr_rank_work *work);

/** The end of a sentence: why a pass behind cached tokens of @p t by @p plan is not priced; NULL: it is. */
const char *fr_cache_lacks(const struct fr_transformer *t, const struct fr_plan *plan);

#endif
