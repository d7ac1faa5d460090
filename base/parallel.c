#define _GNU_SOURCE /* sched_getaffinity */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/alloc.h"

struct loop {
    fr_piece_fn *work;
    void *context;
    int64_t n_pieces;
    atomic_llong next;
    struct fr_alloc_watch *watch;
};

static void *run(void *argument) {
    struct loop *loop = argument;
    fr_alloc_watch(loop->watch);
    for (;;) {
        int64_t piece = atomic_fetch_add(&loop->next, 1);
        if (piece >= loop->n_pieces) return NULL;
        loop->work(loop->context, piece);
    }
}

enum { THREADS_MAX = 256 };

void fr_parallel_for(int n_threads, int64_t n_pieces, fr_piece_fn *work, void *context) {
    struct loop loop = {work, context, n_pieces, 0, fr_alloc_watched()};
    pthread_t threads[THREADS_MAX];
    int started = 0, wanted = n_threads - 1;
    if (wanted > THREADS_MAX) wanted = THREADS_MAX;
    if (wanted > n_pieces - 1) wanted = (int)(n_pieces - 1);
    while (started < wanted && pthread_create(&threads[started], NULL, run, &loop) == 0)
        started++;
    run(&loop);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

int fr_processors(void) {
    cpu_set_t own; /* a batch system or taskset may leave us fewer than there are */
    if (sched_getaffinity(0, sizeof own, &own) == 0) return CPU_COUNT(&own);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}
