/* Preloaded: the FR_FAIL_NTH-th allocation of the process fails (and, with FR_FAIL_ON=1, every one
 * after it); 0 fails none.  FR_FAIL_COUNT names a file that gets the number of allocations made.  Programs that the process
 * starts are left alone.  glibc only: its own names of the functions stand behind ours. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t step, size_t size);

static atomic_long made, nth = -1;
static bool all_after;
static char count_path[512];

/* Allocations before main count too, so the settings are read at the first. */
static void settle(void) {
    const char *word = getenv("FR_FAIL_NTH"), *path = getenv("FR_FAIL_COUNT");
    all_after = getenv("FR_FAIL_ON") != NULL;
    if (path) snprintf(count_path, sizeof count_path, "%s", path);
    nth = word ? atol(word) : 0;
}

static bool fails(void) {
    if (nth < 0) settle();
    long now = atomic_fetch_add(&made, 1) + 1;
    if (nth == 0 || now < nth || (now > nth && !all_after)) return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
void *realloc(void *block, size_t size) { return fails() ? NULL : __libc_realloc(block, size); }
void *aligned_alloc(size_t step, size_t size) {
    return fails() ? NULL : __libc_memalign(step, size);
}
int posix_memalign(void **block, size_t step, size_t size) {
    void *made_here = fails() ? NULL : __libc_memalign(step, size);
    if (made_here) *block = made_here;
    return made_here ? 0 : ENOMEM;
}

__attribute__((constructor)) static void begin(void) {
    if (nth < 0) settle();
    unsetenv("LD_PRELOAD");
}

__attribute__((destructor)) static void finish(void) {
    long in_all = made;
    nth = 0; /* what follows is ours */
    FILE *file = *count_path ? fopen(count_path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld\n", in_all);
    fclose(file);
}
