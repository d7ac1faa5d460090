#define _GNU_SOURCE /* POLLRDHUP */
#include "calibrate/measure/watch/watcher.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "calibrate/measure/watch/stopped.h"

enum { PEERS_MAX = 4096, DESCRIPTORS = 64 /* of other use */ };
/* A gap between two looks that is the watcher's own; what starts takes some seconds on any machine, and what gave
 * up is soon ended by its launcher. */
static const double FROZEN_S = 1, START_S = 10, GIVEN_UP_S = 5;

struct peer {
    struct fr_wire wire;
    struct fr_watch_word last;
    double heard_s, moved_s, busy_s;
};

struct fr_watcher {
    struct fr_watcher_options o;
    int listener, capacity;
    uint64_t token;
    int n; /* places of peer[] that were ever in use; one is kept when its rank has gone */
    struct peer *peer;     /* [capacity]; with `inside` the first is the watcher's own rank */
    struct pollfd *polled; /* [capacity + 2] */
    double looked_s, reported_s;
    double joined_s;  /* the last rank that connected */
    double stopped_s; /* since when the launcher is stopped; 0: it is not */
    double gone_s;    /* since when no rank is left; 0: some are */
    double given_s;   /* since when one has given up; 0: none has */
    int code;         /* with which exit code */
    bool elsewhere;   /* rank 0 watches: here the launcher alone is looked at */
    struct fr_watch_verdict verdict;
};

/* As many connections as this process may have. */
static int capacity(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return PEERS_MAX;
    if (files.rlim_cur < files.rlim_max) {
        rlim_t wanted = PEERS_MAX + DESCRIPTORS;
        struct rlimit more = {files.rlim_max < wanted ? files.rlim_max : wanted,
                              files.rlim_max};
        if (more.rlim_cur > files.rlim_cur && setrlimit(RLIMIT_NOFILE, &more) == 0)
            files = more;
    }
    if (files.rlim_cur >= PEERS_MAX + DESCRIPTORS) return PEERS_MAX;
    return files.rlim_cur > 2 * DESCRIPTORS ? (int)files.rlim_cur - DESCRIPTORS : DESCRIPTORS;
}

struct fr_watcher *fr_watcher_open(const struct fr_watcher_options *options,
                                   char address[FR_WATCH_ADDRESS_B]) {
    struct fr_watcher *w = fr_calloc(1, sizeof *w);
    if (!w) return NULL;
    w->o = *options;
    w->capacity = capacity();
    w->listener = fr_wire_listen(address, &w->token, w->capacity);
    w->peer = fr_calloc((size_t)w->capacity, sizeof *w->peer);
    w->polled = fr_calloc((size_t)w->capacity + 2, sizeof *w->polled);
    w->looked_s = fr_now_s();
    w->n = options->inside;
    if (w->n > 0 && w->peer) w->peer[0] = (struct peer){.wire.fd = -1, .moved_s = fr_now_s()};
    if (w->listener >= 0 && w->peer && w->polled) return w;
    fr_watcher_close(w);
    return NULL;
}

void fr_watcher_close(struct fr_watcher *w) {
    if (!w) return;
    for (int i = 0; w->peer && i < w->n; i++) fr_wire_close(&w->peer[i].wire);
    if (w->listener >= 0) close(w->listener);
    free(w->peer);
    free(w->polled);
    free(w);
}

/* ---- hearing --------------------------------------------------------------------------------- */

static bool is_known(const struct fr_watcher *w, int i) {
    return w->peer[i].last.token == w->token;
}

static bool is_there(const struct fr_watcher *w, int i) {
    return is_known(w, i) && (w->peer[i].wire.fd >= 0 || (w->o.inside && i == 0));
}

static bool has_left(const struct peer *p) { return p->last.point == FR_WATCH_LEAVES; }

static void decide(struct fr_watcher *w, enum fr_watch_verdict_kind kind, const struct peer *p,
                   int others, double waited_s) {
    if (w->verdict.kind != FR_VERDICT_NONE) return;
    w->verdict =
        (struct fr_watch_verdict){.kind = kind, .others = others, .waited_s = waited_s};
    if (p) w->verdict.who = p->last;
}

/* A stranger does not know the token; whoever connects says at once who it is. */
static void welcome(struct fr_watcher *w) {
    int fd;
    while (w->n < w->capacity && (fd = accept(w->listener, NULL, NULL)) >= 0) {
        double now_s = fr_now_s();
        w->peer[w->n++] = (struct peer){.wire = {.fd = fd},
                                        .last = {.rank = -1, .point = FR_WATCH_LEAVES},
                                        .heard_s = now_s,
                                        .moved_s = now_s,
                                        .busy_s = now_s};
    }
}

static void take(struct fr_watcher *w, struct peer *p, const struct fr_watch_word *word) {
    double now_s = fr_now_s();
    if (p->last.token != w->token) w->joined_s = now_s;
    if (word->moves != p->last.moves || word->point != p->last.point) p->moved_s = now_s;
    if (word->flags & FR_WATCH_BUSY) p->busy_s = now_s;
    if (word->point == FR_WATCH_GIVES_UP && w->given_s == 0) {
        w->given_s = now_s;
        w->code = (int)word->moves;
    }
    w->elsewhere = w->elsewhere || (word->flags & FR_WATCH_ELSEWHERE);
    p->heard_s = now_s;
    p->last = *word;
}

static void hear(struct fr_watcher *w, struct peer *p) {
    struct fr_watch_word word;
    int heard;
    while ((heard = fr_wire_hear(&p->wire, &word)) > 0) {
        if (word.token != w->token) { /* a stranger */
            heard = -1;
            break;
        }
        bool first = p->last.token != w->token;
        take(w, p, &word);
        if (first) fr_wire_say(&p->wire, &word);
    }
    if (heard == 0) return;
    fr_wire_close(&p->wire);
    if (!has_left(p) && p->last.point != FR_WATCH_GIVES_UP &&
        !(p->last.flags & FR_WATCH_REPORTED))
        decide(w, FR_VERDICT_DIED, p, 0, 0);
}

void fr_watcher_tell(struct fr_watcher *w, const struct fr_watch_word *word) {
    struct fr_watch_word announced = *word;
    announced.token = w->token;
    for (int i = 0; i < w->n; i++)
        if (w->peer[i].wire.fd >= 0 && is_known(w, i))
            fr_wire_say(&w->peer[i].wire, &announced);
}

/* Words can wait until the next look; a connection that ends, or begins, cannot. */
static void listen_for(struct fr_watcher *w, int timeout_ms) {
    struct pollfd *polled = w->polled;
    int n = w->n;
    polled[0] = (struct pollfd){.fd = w->o.wake, .events = POLLIN};
    polled[1] = (struct pollfd){.fd = n < w->capacity ? w->listener : -1, .events = POLLIN};
    for (int i = 0; i < n; i++)
        polled[i + 2] = (struct pollfd){.fd = w->peer[i].wire.fd,
                                        .events = is_known(w, i) ? POLLRDHUP : POLLIN};
    poll(polled, (nfds_t)n + 2, timeout_ms);
    for (int i = 0; i < n; i++)
        if (w->peer[i].wire.fd >= 0) hear(w, &w->peer[i]);
    welcome(w);
}

/* ---- judging --------------------------------------------------------------------------------- */

/* Whoever slept has heard nothing; nobody else is to blame. */
static void forgive(struct fr_watcher *w, double gap_s) {
    for (int i = 0; i < w->n; i++) {
        w->peer[i].heard_s += gap_s;
        w->peer[i].moved_s += gap_s;
        w->peer[i].busy_s += gap_s;
    }
    w->joined_s += gap_s;
    if (w->stopped_s > 0) w->stopped_s += gap_s;
    if (w->gone_s > 0) w->gone_s += gap_s;
}

static void judge_silence(struct fr_watcher *w, double now_s) {
    const struct peer *longest = NULL;
    int n = 0;
    for (int i = 0; i < w->n; i++) {
        const struct peer *p = &w->peer[i];
        if (p->wire.fd < 0 || !is_known(w, i) || now_s - p->heard_s <= w->o.patience_s)
            continue;
        n++;
        if (!longest || p->heard_s < longest->heard_s) longest = p;
    }
    if (longest) decide(w, FR_VERDICT_SILENT, longest, n - 1, now_s - longest->heard_s);
}

/* All that are not done are where they were; who measures is named before who waits. */
static void judge_progress(struct fr_watcher *w, double now_s) {
    const struct peer *stuck = NULL;
    double moved_s = 0, busy_s = 0;
    int n = 0;
    bool starts = false;
    for (int i = 0; i < w->n; i++) {
        const struct peer *p = &w->peer[i];
        if (!is_there(w, i)) continue;
        n++;
        moved_s = fmax(moved_s, p->moved_s);
        busy_s = fmax(busy_s, p->busy_s);
        starts = starts || p->last.point == FR_WATCH_STARTS;
        if (!stuck || (stuck->last.point < 0 && p->last.point >= 0)) stuck = p;
    }
    double patience_s = starts ? fmax(w->o.patience_s, START_S) : w->o.patience_s;
    if (!stuck || now_s - moved_s <= patience_s) return;
    if (now_s - busy_s <= patience_s && now_s - moved_s <= fmax(w->o.busy_s, patience_s))
        return;
    decide(w, FR_VERDICT_STUCK, stuck, n - 1, now_s - moved_s);
}

/* The lowest rank that has not come, where it is known how many are to. */
static void judge_missing(struct fr_watcher *w, pid_t launcher, double now_s) {
    int wanted = w->o.n_ranks, missing = 0, n = 0;
    for (int i = 0; i < w->n; i++) {
        if (!is_known(w, i)) continue;
        if (w->peer[i].last.point != FR_WATCH_STARTS) return; /* MPI is up: all are there */
        if (w->peer[i].last.n_ranks > wanted) wanted = w->peer[i].last.n_ranks;
        n++;
    }
    if (n == 0 || n >= wanted || wanted > w->capacity || now_s - w->joined_s <= w->o.patience_s)
        return;
    for (int i = 0; i < w->n; i++)
        if (is_known(w, i) && w->peer[i].last.rank == missing) {
            missing++;
            i = -1;
        }
    struct peer lost = {.last = {.rank = missing, .n_ranks = wanted}};
    lost.last.pid = launcher > 0 ? (int32_t)fr_stopped_rank(launcher, missing, &missing) : 0;
    if (lost.last.pid > 0) gethostname(lost.last.host, sizeof lost.last.host - 1);
    decide(w, lost.last.pid > 0 ? FR_VERDICT_SILENT : FR_VERDICT_MISSING, &lost, wanted - n - 1,
           now_s - w->joined_s);
}

static void judge_launcher(struct fr_watcher *w, pid_t launcher, double now_s) {
    bool stopped = launcher > 0 && fr_is_stopped(launcher);
    int n = 0, seen = 0;
    for (int i = 0; i < w->n; i++) {
        seen += is_known(w, i);
        if (!is_there(w, i)) continue;
        n++;
        stopped = stopped || (w->peer[i].last.flags & FR_WATCH_PARENT_STOPS);
    }
    if (!stopped) w->stopped_s = 0;
    if (stopped && w->stopped_s == 0) w->stopped_s = now_s;
    if (n > 0 || seen == 0) w->gone_s = 0;
    if (n == 0 && seen > 0 && w->gone_s == 0) w->gone_s = now_s;
    if (stopped && now_s - w->stopped_s > w->o.patience_s)
        decide(w, FR_VERDICT_STOPPED, NULL, 0, now_s - w->stopped_s);
    if (w->elsewhere) return;
    if (w->gone_s > 0 && now_s - w->gone_s > w->o.patience_s)
        decide(w, FR_VERDICT_LINGERS, NULL, 0, now_s - w->gone_s);
    if (w->given_s > 0 && now_s - w->given_s > fmin(w->o.patience_s, GIVEN_UP_S))
        decide(w, FR_VERDICT_LINGERS, NULL, 0, now_s - w->given_s);
}

const struct fr_watch_verdict *fr_watcher_step(struct fr_watcher *w,
                                               const struct fr_watch_word *own, pid_t launcher,
                                               int timeout_ms) {
    listen_for(w, timeout_ms);
    double now_s = fr_now_s(), gap_s = now_s - w->looked_s - 1e-3 * timeout_ms;
    if (gap_s > FROZEN_S) {
        forgive(w, gap_s);
        listen_for(w, FR_WATCH_BEAT_MS);
        now_s = fr_now_s();
    }
    w->looked_s = now_s;
    if (own && now_s - w->reported_s >= 0.9e-3 * FR_WATCH_BEAT_MS) {
        struct fr_watch_word sent = *own;
        sent.token = w->token;
        take(w, &w->peer[0], &sent);
        fr_watcher_tell(w, &sent);
        w->reported_s = now_s;
    }
    judge_silence(w, now_s);
    if (!w->o.inside) judge_launcher(w, launcher, now_s);
    if (!w->o.inside) judge_missing(w, launcher, now_s);
    judge_progress(w, now_s);
    return &w->verdict;
}

int fr_watcher_seen(const struct fr_watcher *w) {
    int n = 0;
    for (int i = 0; i < w->n; i++) n += is_known(w, i);
    return n;
}

bool fr_watcher_gave_up(const struct fr_watcher *w, int *code) {
    *code = w->code;
    return w->given_s > 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* A rank of this machine that has not ended; 0: it has, or is elsewhere. */
static pid_t lives(const struct peer *p) {
    return fr_leash_is_here(p->last.leash) && fr_leash_holds(p->last.leash) ? p->last.pid : 0;
}

void fr_watcher_end_ranks(struct fr_watcher *w, double grace_s) {
    const struct timespec nap = {.tv_nsec = 20000000};
    double end_s = fr_now_s() + grace_s;
    for (int i = 0; i < w->n; i++) fr_wire_close(&w->peer[i].wire); /* they notice, and end */
    for (int i = 0; i < w->n; i++) {
        while (lives(&w->peer[i]) && fr_now_s() < end_s) nanosleep(&nap, NULL);
        pid_t pid = lives(&w->peer[i]);
        if (pid > 0) kill(pid, SIGKILL);
    }
}

void fr_watch_verdict_sentence(const struct fr_watch_verdict *v, const char *how,
                               const char *launcher, char *text, size_t size) {
    size_t used = 0;
    bool of_rank = v->kind < FR_VERDICT_STOPPED;
    *text = '\0';
    if (of_rank) fr_line_addf(text, size, &used, "rank %d", (int)v->who.rank);
    if (of_rank && v->who.pid > 0)
        fr_line_addf(text, size, &used, " on host %s (process %d)", v->who.host,
                     (int)v->who.pid);
    switch (v->kind) {
    case FR_VERDICT_DIED:
        fr_line_addf(text, size, &used, " %s", how);
        break;
    case FR_VERDICT_SILENT:
        fr_line_addf(text, size, &used, " has stopped answering, %.3g s ago", v->waited_s);
        break;
    case FR_VERDICT_MISSING:
        fr_line_addf(text, size, &used, " has not begun, %.3g s after others", v->waited_s);
        break;
    case FR_VERDICT_STUCK:
        fr_line_addf(text, size, &used, " answers but has made no progress for %.3g s",
                     v->waited_s);
        break;
    case FR_VERDICT_STOPPED:
        fr_line_addf(text, size, &used, "%s has been stopped for %.3g s", launcher,
                     v->waited_s);
        break;
    case FR_VERDICT_LINGERS:
        fr_line_addf(text, size, &used, "%s has not ended, %.3g s after its ranks", launcher,
                     v->waited_s);
        break;
    case FR_VERDICT_NONE:
        break;
    }
    if (v->others > 0)
        fr_line_addf(text, size, &used, ", and so %s %d other%s",
                     v->others == 1 ? "has" : "have", v->others, v->others == 1 ? "" : "s");
}
