#include "calibrate/measure/watch/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"

struct fr_watcher_thread {
    struct fr_watcher *watcher;
    pthread_t thread, waits;
    bool runs;
    int wake;
    atomic_int child, seen, ends;
    _Atomic(const struct fr_watch_verdict *) verdict;
};

static void *look(void *context) {
    struct fr_watcher_thread *t = context;
    while (!atomic_load(&t->ends)) {
        const struct fr_watch_verdict *verdict =
            fr_watcher_step(t->watcher, NULL, (pid_t)atomic_load(&t->child), FR_WATCH_BEAT_MS);
        atomic_store(&t->seen, fr_watcher_seen(t->watcher));
        if (verdict->kind == FR_VERDICT_NONE) continue;
        atomic_store(&t->verdict, verdict);
        pthread_kill(t->waits, SIGALRM);
        break;
    }
    return NULL;
}

struct fr_watcher_thread *fr_watcher_thread_open(const struct fr_watcher_options *options,
                                                 char address[FR_WATCH_ADDRESS_B]) {
    struct fr_watcher_thread *t = fr_calloc(1, sizeof *t);
    struct fr_watcher_options o = *options;
    if (!t) return NULL;
    t->wake = o.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    t->waits = pthread_self();
    t->watcher = t->wake >= 0 ? fr_watcher_open(&o, address) : NULL;
    if (t->watcher) return t;
    fr_watcher_thread_close(t);
    *address = '\0';
    return NULL;
}

void fr_watcher_thread_begin(struct fr_watcher_thread *t) {
    sigset_t all, before;
    atomic_store(&t->ends, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    t->runs = pthread_create(&t->thread, NULL, look, t) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void fr_watcher_thread_of(struct fr_watcher_thread *t, pid_t child) {
    atomic_store(&t->child, (int)child);
}

bool fr_watcher_thread_seen(const struct fr_watcher_thread *t) {
    return atomic_load(&t->seen) > 0;
}

const struct fr_watch_verdict *fr_watcher_thread_verdict(const struct fr_watcher_thread *t) {
    return atomic_load(&t->verdict);
}

/* The last messages of ranks are still read. */
void fr_watcher_thread_end(struct fr_watcher_thread *t) {
    const uint64_t one = 1;
    atomic_store(&t->ends, 1);
    if (!t->runs) return;
    if (write(t->wake, &one, sizeof one) == sizeof one) pthread_join(t->thread, NULL);
    t->runs = false;
    for (int i = 0; i < 2 && !atomic_load(&t->verdict); i++) {
        const struct fr_watch_verdict *verdict = fr_watcher_step(t->watcher, NULL, 0, 0);
        atomic_store(&t->seen, fr_watcher_seen(t->watcher));
        if (verdict->kind == FR_VERDICT_DIED) atomic_store(&t->verdict, verdict);
    }
}

void fr_watcher_thread_end_ranks(struct fr_watcher_thread *t, double grace_s) {
    fr_watcher_end_ranks(t->watcher, grace_s);
}

void fr_watcher_thread_close(struct fr_watcher_thread *t) {
    if (!t) return;
    fr_watcher_close(t->watcher);
    if (t->wake >= 0) close(t->wake);
    free(t);
}
