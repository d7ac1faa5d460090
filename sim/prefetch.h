/** @file
 *  A hint that memory will be read soon.
 *
 *  It changes no result, and an address that nothing lies at does no harm: near the end of an array nobody has to ask.
 */
#ifndef FR_SIM_PREFETCH_H
#define FR_SIM_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

/** Fetch what lies @p ahead_B after @p at. */
static inline void fr_prefetch(const void *at, size_t ahead_B) {
    __builtin_prefetch((const void *)((uintptr_t)at + ahead_B));
}

#endif
