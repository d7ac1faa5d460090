#include "base/alloc.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Set once by main, before there are threads: what a process does is the process's own. */
static fr_alloc_end *end_of_program;

static _Thread_local struct fr_alloc_watch *watched;

struct fr_alloc_watch *fr_alloc_watch(struct fr_alloc_watch *watch) {
    struct fr_alloc_watch *before = watched;
    watched = watch;
    return before;
}

struct fr_alloc_watch *fr_alloc_watched(void) {
    return watched;
}

void fr_alloc_failed(size_t wanted_B) {
    if (watched) atomic_store(&watched->failed, true);
    if (end_of_program) end_of_program(wanted_B);
}

/* n size, at least 1, or SIZE_MAX, which no allocator grants. */
static size_t bytes(size_t n, size_t size) {
    if (n == 0 || size == 0) return 1;
    return n > SIZE_MAX / size ? SIZE_MAX : n * size;
}

static void *checked(void *block, size_t wanted_B) {
    if (!block) fr_alloc_failed(wanted_B);
    return block;
}

void *fr_malloc(size_t n, size_t size) {
    size_t wanted_B = bytes(n, size);
    return checked(wanted_B == SIZE_MAX ? NULL : malloc(wanted_B), wanted_B);
}

static void *for_jansson(size_t wanted_B) { return fr_malloc(wanted_B, 1); }

void fr_alloc_on_failure(fr_alloc_end *end) {
    end_of_program = end;
    json_set_alloc_funcs(for_jansson, free);
}

void *fr_calloc(size_t n, size_t size) {
    size_t wanted_B = bytes(n, size);
    return checked(wanted_B == SIZE_MAX ? NULL : calloc(1, wanted_B), wanted_B);
}

void *fr_realloc(void *block, size_t n, size_t size) {
    size_t wanted_B = bytes(n, size);
    return checked(wanted_B == SIZE_MAX ? NULL : realloc(block, wanted_B), wanted_B);
}

void *fr_malloc_aligned(size_t step_B, size_t size_B) {
    if (size_B > SIZE_MAX - step_B) return checked(NULL, SIZE_MAX);
    size_t whole_B = (size_B + step_B - 1) / step_B * step_B;
    if (whole_B == 0) whole_B = step_B;
    return checked(aligned_alloc(step_B, whole_B), whole_B);
}

char *fr_strdup(const char *text) {
    size_t length = strlen(text) + 1;
    char *copy = fr_malloc(length, 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}
