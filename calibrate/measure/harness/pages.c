#include "calibrate/measure/harness/pages.h"

#include <sys/mman.h>

#include "base/alloc.h"

enum { LINE_B = 64, WORTH_B = 512 << 10, PAGE_B = 2 << 20 };

void *fr_pages_alloc(size_t size_B) {
    size_t step_B = size_B < WORTH_B ? LINE_B : PAGE_B;
    void *block = fr_malloc_aligned(step_B, size_B);
#ifdef MADV_HUGEPAGE
    /* A request: where it is refused, pages stay small. */
    if (block && step_B == PAGE_B)
        (void)madvise(block, (size_B + step_B - 1) / step_B * step_B, MADV_HUGEPAGE);
#endif
    return block;
}
