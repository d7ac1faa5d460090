/** @file
 *  Runs of the recurrence, kept under all the numbers that they hang on, to the last bit: plans that
 *  differ in what is done with gradients or state have the same passes and messages.
 *
 *  A memory has a fixed number of places; what falls on a place that is taken replaces what is there. */
#ifndef FR_MODELS_OUTCOME_RECURRENCE_CACHE_H
#define FR_MODELS_OUTCOME_RECURRENCE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fr_recurrence_cache;

/** A memory of @p places runs; one thread's.  @return NULL without memory.  Free with fr_recurrence_cache_free. */
struct fr_recurrence_cache *fr_recurrence_cache_make(size_t places);
void fr_recurrence_cache_free(struct fr_recurrence_cache *cache);

/** Capacity for the words of the next key, to be written there before fr_recurrence_cache_find; NULL without memory. */
uint64_t *fr_recurrence_cache_key(struct fr_recurrence_cache *cache, size_t words);
/** The @p n numbers kept under the key written last; NULL: none are. */
const double *fr_recurrence_cache_find(struct fr_recurrence_cache *cache, size_t n);
/** Keep @p n numbers under that key; without memory they are not. */
void fr_recurrence_cache_keep(struct fr_recurrence_cache *cache, const double *numbers,
                              size_t n);

#endif
