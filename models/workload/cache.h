/** @file
 *  What does attention read of tokens that were there before: a cache of keys and values.
 *
 *  A pass of a model with `cached` = c tokens is one of s = `sequence` new tokens of each sample behind c others, whose
 *  keys and values are in memory.  s = 1 is a step of generation, s > 1 a piece of a prompt.  A new token attends to the
 *  c cached ones and, causally, to the new ones:
 *
 *      kept a token and layer     plain    k (d + v) values: keys and values of k key-value heads
 *                                 latent   c' + r values, which all heads share (DeepSeek-V2, 2024, section 2.1.2)
 *                                 indexer  e values beside them, one key
 *      pairs of a new token       c;  with a window of w tokens min(c, w);  with an indexer min(c, chosen)
 *      products of a pair         plain    d + v of each of a heads
 *                                 latent   (c' + r) + c' of each head: keys and values are absorbed into the products
 *                                          before and after, which are as large (section 2.1.2)
 *                                 indexer  I e for each of all c
 *
 *  A layer with a window keeps its last w tokens alone. */
#ifndef FR_MODELS_WORKLOAD_CACHE_H
#define FR_MODELS_WORKLOAD_CACHE_H

#include "models/workload/workload.h"

/** One attention's, in the mean over the layers; over all tp ranks. */
struct fr_cache_sizes {
    double divided, whole; /**< values of a token: of heads, which tp divides; on every rank */
    double kept;           /**< tokens of a sample that are in memory behind a pass */
    double seen;           /**< cached tokens that a new one attends to */
    double pair;           /**< multiplications of a pair, of all heads */
    double scored;         /**< multiplications of an indexer for a new token */
    double index;          /**< of `whole`, values that an indexer reads of all cached tokens */
};

/** All 0 where nothing is cached. */
struct fr_cache_sizes fr_cache_of(const struct fr_transformer *t);

/** Read `cached` of a transformer's file. */
fr_status fr_cache_read(const struct fr_json *object, struct fr_transformer *t,
                        struct fr_error *err);

/** Why a pass behind cached tokens is not priced of this model, as a sentence's end; NULL: it is. */
const char *fr_cache_refused(const struct fr_transformer *t);

#endif
