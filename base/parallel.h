/** @file
 *  A loop over independent pieces, on several threads.
 *
 *  Pieces are numbered.  One thread works on each, in no particular order, and stores the result in
 *  a place of its own.  The caller joins results in order of number, so the outcome does not depend
 *  on the number of threads. */
#ifndef FR_BASE_PARALLEL_H
#define FR_BASE_PARALLEL_H

#include <stdint.h>

typedef void fr_piece_fn(void *context, int64_t piece);

/** Call @p work for 0..n_pieces-1 on up to @p n_threads threads (at least one: the caller's).
 *  Where threads cannot be had, fewer do the work. */
void fr_parallel_for(int n_threads, int64_t n_pieces, fr_piece_fn *work, void *context);

/** Processors this process may use, at least 1. */
int fr_processors(void);

#endif
