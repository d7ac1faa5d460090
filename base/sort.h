/** @file
 *  Sorting that keeps the order of equals.
 *
 *  qsort may order equals as it likes, and glibc's orders them in another way when it finds no
 *  memory to merge in: an answer must depend on neither.  Merges of runs, n log2 n comparisons at
 *  most, n / 2 items of scratch memory.
 */
#ifndef FR_BASE_SORT_H
#define FR_BASE_SORT_H

#include <stddef.h>

/** Below 0, 0 or above 0, as @p a goes before, is equal to or goes behind @p b. */
typedef int fr_compare_fn(const void *a, const void *b);

/** -1, 0 or 1, as @p a is less than, equal to or more than @p b: two numbers without side effects. */
#define FR_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/** Sort @p n items of @p size_B bytes in place.  Total: without memory it takes n^2 / 4 moves. */
void fr_sort_items(void *items, size_t n, size_t size_B, fr_compare_fn *compare);

#endif
