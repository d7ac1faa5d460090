/* RTLD_NEXT */
#define _GNU_SOURCE
#include "app/verb.h"
#include "base/alloc.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ALLOCATOR_TAKEN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ALLOCATOR_TAKEN
#endif

/* hwloc, the C library and other linked libraries have no hook for memory that runs out.
 * hwloc then crashes, or leaves out parts for which it has no memory, and the answer is
 * another one.  A program's own malloc stands before the C library's for all of them.  This
 * one hands on, and ends the command where nothing comes back (base/alloc.h).  Sanitizers
 * bring their own. */
#ifndef ALLOCATOR_TAKEN
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* POSIX lets a data pointer be a function; ISO C needs the detour. */
static void look_up(const char *name, void *function) {
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

/* The first call comes before main and before threads; what the look-up itself asks for, it can do
 * without. */
#define NEXT(name, ...)                                                                        \
    static void *(*next)(__VA_ARGS__);                                                         \
    static int looking;                                                                        \
    if (!next && !looking) {                                                                   \
        looking = 1;                                                                           \
        look_up(name, (void *)&next);                                                          \
        looking = 0;                                                                           \
    }                                                                                          \
    if (!next) return NULL

void *malloc(size_t size) {
    NEXT("malloc", size_t);
    void *block = next(size);
    if (!block) fr_alloc_failed(size);
    return block;
}

void *calloc(size_t n, size_t size) {
    NEXT("calloc", size_t, size_t);
    void *block = next(n, size);
    if (!block) fr_alloc_failed(size && n > SIZE_MAX / size ? SIZE_MAX : n * size);
    return block;
}

void *realloc(void *old, size_t size) {
    NEXT("realloc", void *, size_t);
    void *block = next(old, size);
    if (!block && size > 0) fr_alloc_failed(size);
    return block;
}
#endif

int main(int argc, char **argv) { return fr_app_main(argc, argv); }
