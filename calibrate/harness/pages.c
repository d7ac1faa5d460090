#include "calibrate/harness/pages.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { LINE_B = 64, WORTH_B = 512 << 10, PAGE_B = 2 << 20 };

void *fr_pages_alloc(size_t size_B) {
    size_t step_B = size_B < WORTH_B ? LINE_B : PAGE_B;
    size_t whole_B = (size_B + step_B - 1) / step_B * step_B;
    void *block = aligned_alloc(step_B, whole_B ? whole_B : step_B);
#ifdef MADV_HUGEPAGE
    /* A request: where it is refused, pages stay small. */
    if (block && step_B == PAGE_B) (void)madvise(block, whole_B, MADV_HUGEPAGE);
#endif
    return block;
}
