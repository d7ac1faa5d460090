/** @file
 *  Blocks of numbers in large pages, where the system has them.
 *
 *  With pages of 4 KiB the processor looks up addresses more often than it waits for data.  Beyond
 *  the caches a stream then runs at half its rate.  In a virtual machine that rate drifts by a
 *  factor of two with the work of the host.  So blocks of half a mebibyte and more are requested in
 *  large pages.  Benchmarks and real runs get theirs here, so that both see the same memory. */
#ifndef FR_CALIBRATE_MEASURE_HARNESS_PAGES_H
#define FR_CALIBRATE_MEASURE_HARNESS_PAGES_H

#include <stddef.h>

/** @p size_B bytes, not cleared, aligned to a cache line at least; to be freed with free().
 *  @return NULL where memory is short. */
void *fr_pages_alloc(size_t size_B);

#endif
