/** @file
 *  Memory, asked for in one place.
 *
 *  Blocks are n items of size bytes, the product checked; free() gives them back.  A program ends
 *  where memory runs out: its main registers the action (fr_alloc_on_failure).  No function below
 *  main goes on with half an answer, in any thread or in any library that is given these functions.
 *  A program that registers nothing gets NULL, which callers pass on as FR_ERR_NOMEM.
 *
 *  tests/repo/allocations.sh keeps malloc, calloc, realloc and strdup out of the other modules.
 */
#ifndef FR_BASE_ALLOC_H
#define FR_BASE_ALLOC_H

#include <stdatomic.h>
#include <stddef.h>

#if defined(__GNUC__)
#define FR_ALLOC_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#else
#define FR_ALLOC_ATTRIBUTE(...)
#endif

/** Capacity for @p n items of @p size bytes each, unset; as malloc(n size). */
FR_ALLOC_ATTRIBUTE(malloc, alloc_size(1, 2))
void *fr_malloc(size_t n, size_t size);

/** The same, zeroed. */
FR_ALLOC_ATTRIBUTE(malloc, alloc_size(1, 2))
void *fr_calloc(size_t n, size_t size);

/** @p block grown or shrunk to @p n items; it stays as it was where NULL is returned. */
FR_ALLOC_ATTRIBUTE(alloc_size(2, 3))
void *fr_realloc(void *block, size_t n, size_t size);

/** A block of @p size_B that begins at a multiple of @p step_B, a power of two; its length is
 *  rounded up to whole steps. */
FR_ALLOC_ATTRIBUTE(malloc)
void *fr_malloc_aligned(size_t step_B, size_t size_B);

/** A copy of @p text. */
FR_ALLOC_ATTRIBUTE(malloc)
char *fr_strdup(const char *text);

/** The action of a program where memory runs out: report it and end.  @p wanted_B is the requested
 *  size, 0 where it is unknown (a library's own allocation).  The action may be called in any
 *  thread, and must not ask for memory.  Where it returns, NULL goes to the caller. */
typedef void fr_alloc_end(size_t wanted_B);

/** Register @p end (NULL: none), before any thread is started and anything is read; jansson asks
 *  here from then on.  GSL has its own hook (trust/numbers/gsl_errors.h). */
void fr_alloc_on_failure(fr_alloc_end *end);

/** Memory ran out elsewhere (a library, the C library's own buffers): ends as above. */
void fr_alloc_failed(size_t wanted_B);

/** A library cannot end its caller's program: it watches its own call instead.  Whatever asks for
 *  memory and gets none, in this thread or in those that fr_parallel_for starts for it, sets `failed`;
 *  an answer that goes on without is then not given. */
struct fr_alloc_watch {
    atomic_bool failed;
};
/** Let this thread note failures in @p watch (NULL: nowhere).  @return where it did before */
struct fr_alloc_watch *fr_alloc_watch(struct fr_alloc_watch *watch);
/** Where it does now, for a thread that works for it. */
struct fr_alloc_watch *fr_alloc_watched(void);

#endif
