/** @file
 *  A test program in which the n-th allocation fails: malloc and its like of this program, counted.
 *
 *  glibc only, and under no sanitizer, whose allocator is not ours to replace: else FR_FAILING is not defined.
 *  Its own names of the functions stand behind ours. */
#ifndef FR_TESTS_FAILING_H
#define FR_TESTS_FAILING_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FR_FAILING 1
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t step, size_t size);
void __libc_free(void *block);

static atomic_bool counting;
static atomic_long n_made, n_live, fails_at; /* of allocations while counting; 0: none fails */

static bool fails(void) {
    if (!atomic_load(&counting)) return false;
    if (atomic_fetch_add(&n_made, 1) + 1 != atomic_load(&fails_at)) return false;
    errno = ENOMEM;
    return true;
}

static void *counted(void *block) {
    if (block) atomic_fetch_add(&n_live, 1);
    return block;
}

void *malloc(size_t size) { return fails() ? NULL : counted(__libc_malloc(size)); }
void *calloc(size_t n, size_t size) { return fails() ? NULL : counted(__libc_calloc(n, size)); }
void *realloc(void *old, size_t size) {
    void *block = fails() ? NULL : __libc_realloc(old, size);
    return old ? block : counted(block);
}
void *aligned_alloc(size_t step, size_t size) {
    return fails() ? NULL : counted(__libc_memalign(step, size));
}
void free(void *block) {
    if (block) atomic_fetch_sub(&n_live, 1);
    __libc_free(block);
}

/** From here on the @p nth allocation fails, 0: none; and until the end they are counted. */
static inline void failing_begin(long nth) {
    atomic_store(&n_made, 0);
    atomic_store(&fails_at, nth);
    atomic_store(&counting, true);
}
static inline long failing_end(void) {
    atomic_store(&counting, false);
    return atomic_load(&n_made);
}
#endif

#endif
