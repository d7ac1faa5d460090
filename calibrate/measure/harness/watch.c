#include "calibrate/measure/harness/watch.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "calibrate/measure/harness/mpi_try.h"
#include "calibrate/measure/harness/stop.h"

enum { GIVES_UP = -2 }; /* in place of a point */
enum { HOST_B = 64, RANKS_MAX = 4096, ADDRESSES_MAX = 8, BEAT_MS = 250, FROZEN_BEATS = 20 };

/* Where rank 0 listens, for all of its interfaces. */
struct meeting {
    uint64_t token;
    int32_t count;
    uint16_t port; /* in network order */
    struct in_addr address[ADDRESSES_MAX];
};

/* A rank's word: who, where, and how many places it has been at; of one that gives up its exit code. */
struct word {
    uint64_t token;
    int32_t rank, point;
    int64_t moves;
};

struct peer {
    int fd;
    struct word last;
    double heard_s, moved_s;
};

struct fr_watch {
    int rank, n_ranks, listener, up; /* up: the connection to rank 0 */
    uint64_t token;
    pid_t parent;
    atomic_int point, quitting;
    atomic_llong moves;
    double patience_s;
    char (*host)[HOST_B]; /* [n_ranks] */
    struct peer *peer;    /* [n_ranks], on rank 0 */
    struct pollfd *polled;
    char samples[256];
    pthread_t thread;
};

static _Atomic(struct fr_watch *) the_watch; /* of this process, while its thread runs */

/* To all that this rank is connected to. */
static void tell_all(const struct fr_watch *w, int64_t code) {
    const struct word last = {
        .token = w->token, .rank = w->rank, .point = GIVES_UP, .moves = code};
    if (w->up >= 0) send(w->up, &last, sizeof last, MSG_NOSIGNAL | MSG_DONTWAIT);
    for (int r = 1; w->rank == 0 && r < w->n_ranks; r++)
        if (w->peer[r].fd >= 0)
            send(w->peer[r].fd, &last, sizeof last, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void fr_watch_farewell(int code) {
    struct fr_watch *w = atomic_load(&the_watch);
    if (w) tell_all(w, code);
}

/* Somebody gave up, and has said why; the launcher may end us first. */
static void follow_out(const struct fr_watch *w, int64_t code) {
    if (w->rank == 0) tell_all(w, code);
    poll(NULL, 0, 4 * BEAT_MS);
    _exit((int)code);
}

void fr_watch_point(struct fr_watch *watch, int point) {
    if (!watch) return;
    atomic_store(&watch->point, point);
    atomic_fetch_add(&watch->moves, 1);
}

static void end_job(const struct fr_watch *w, int rank, const char *what) {
    char line[640];
    int n = snprintf(line, sizeof line,
                     "forerun-mpi: rank %d on host %s %s; every finished sample is in %s, and "
                     "--resume goes on from there\n",
                     rank, w->host[rank], what, w->samples);
    if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0) _exit(5);
    _exit(fr_status_exit_code(FR_ERR_PARTIAL));
}

/* What every rank's thread checks. */
static void check_self(const struct fr_watch *w, double *stop_since_s) {
    double now_s = fr_now_s();
    if (getppid() != w->parent && !atomic_load(&w->quitting)) {
        if (w->rank == 0) end_job(w, 0, "has lost its launcher");
        _exit(fr_status_exit_code(FR_ERR_PARTIAL));
    }
    if (!fr_stop_requested()) return;
    if (*stop_since_s == 0) *stop_since_s = now_s;
    if (now_s - *stop_since_s > FR_STOP_GRACE_S)
        _exit(fr_status_exit_code(FR_ERR_PARTIAL)); /* told to stop, and still busy */
}

static struct word own_word(struct fr_watch *w) {
    return (struct word){.token = w->token,
                         .rank = w->rank,
                         .point = atomic_load(&w->point),
                         .moves = atomic_load(&w->moves)};
}

static void *follow(void *context) {
    struct fr_watch *w = context;
    double stop_since_s = 0;
    while (!atomic_load(&w->quitting)) {
        struct word word = own_word(w);
        struct pollfd up = {.fd = w->up, .events = POLLIN};
        ssize_t sent = send(w->up, &word, sizeof word, MSG_NOSIGNAL);
        int ready = poll(&up, 1, BEAT_MS);
        ssize_t got = ready > 0 ? recv(w->up, &word, sizeof word, 0) : 1;
        bool gone = sent < 0 || got <= 0;
        if (got == (ssize_t)sizeof word && word.point == GIVES_UP) follow_out(w, word.moves);
        if (gone && !atomic_load(&w->quitting)) {
            /* After a signal the launcher is ending us all, and has said why. */
            if (w->rank == 1 && !fr_stop_requested()) end_job(w, 0, "ended without a word");
            poll(NULL, 0, 4 * BEAT_MS); /* rank 1 speaks, if it lives */
            _exit(fr_status_exit_code(FR_ERR_PARTIAL));
        }
        check_self(w, &stop_since_s);
    }
    return NULL;
}

static void hear(struct fr_watch *w, int rank) {
    struct peer *peer = &w->peer[rank];
    struct word word;
    for (;;) {
        ssize_t got = recv(peer->fd, &word, sizeof word, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (got <= 0) {
            if (!atomic_load(&w->quitting)) end_job(w, rank, "ended without a word");
            close(peer->fd);
            peer->fd = -1;
            return;
        }
        if (got != (ssize_t)sizeof word) return;
        if (word.point == GIVES_UP) follow_out(w, word.moves);
        peer->heard_s = fr_now_s();
        if (word.moves != peer->last.moves) peer->moved_s = peer->heard_s;
        peer->last = word;
    }
}

/* Nobody has moved for too long: who is silent is frozen; else who is inside a point is stuck. */
static void check_progress(struct fr_watch *w) {
    double now_s = fr_now_s(), silent_s = FROZEN_BEATS * BEAT_MS * 1e-3;
    if (silent_s > w->patience_s / 2) silent_s = w->patience_s / 2;
    struct word mine = own_word(w);
    if (mine.moves != w->peer[0].last.moves) w->peer[0].moved_s = now_s;
    w->peer[0].last = mine;
    w->peer[0].heard_s = now_s;
    for (int r = 0; r < w->n_ranks; r++)
        if (now_s - w->peer[r].moved_s < w->patience_s) return;
    for (int r = 0; r < w->n_ranks; r++)
        if (now_s - w->peer[r].heard_s > silent_s) end_job(w, r, "does not answer any more");
    for (int r = w->n_ranks - 1; r >= 0; r--)
        if (w->peer[r].last.point != FR_WATCH_BETWEEN)
            end_job(w, r, "hangs in a measurement, others may too");
    end_job(w, 0, "and all others make no progress");
}

static void *lead(void *context) {
    struct fr_watch *w = context;
    double stop_since_s = 0;
    while (!atomic_load(&w->quitting)) {
        for (int r = 1; r < w->n_ranks; r++)
            w->polled[r - 1] = (struct pollfd){.fd = w->peer[r].fd, .events = POLLIN};
        poll(w->polled, (nfds_t)(w->n_ranks - 1), BEAT_MS);
        for (int r = 1; r < w->n_ranks; r++)
            if (w->peer[r].fd >= 0) hear(w, r);
        check_self(w, &stop_since_s);
        check_progress(w);
    }
    return NULL;
}

static bool listen_anywhere(struct fr_watch *w, struct meeting *meeting) {
    struct sockaddr_in any = {.sin_family = AF_INET};
    socklen_t length = sizeof any;
    struct ifaddrs *all = NULL;
    w->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (w->listener < 0 || bind(w->listener, (struct sockaddr *)&any, sizeof any) != 0 ||
        listen(w->listener, w->n_ranks) != 0 ||
        getsockname(w->listener, (struct sockaddr *)&any, &length) != 0 ||
        getrandom(&meeting->token, sizeof meeting->token, 0) != sizeof meeting->token ||
        getifaddrs(&all) != 0)
        return false;
    meeting->port = any.sin_port;
    for (struct ifaddrs *i = all; i && meeting->count < ADDRESSES_MAX; i = i->ifa_next) {
        if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET) continue;
        struct sockaddr_in address;
        memcpy(&address, i->ifa_addr, sizeof address);
        if (address.sin_addr.s_addr != htonl(INADDR_LOOPBACK))
            meeting->address[meeting->count++] = address.sin_addr;
    }
    freeifaddrs(all);
    return true;
}

static int try_connect(struct in_addr address, uint16_t port, int timeout_ms) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = port, .sin_addr = address};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), failed = 0;
    socklen_t length = sizeof failed;
    if (fd < 0) return -1;
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 &&
        (errno != EINPROGRESS || poll(&ready, 1, timeout_ms) != 1 ||
         getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &length) != 0 || failed != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool connect_up(struct fr_watch *w, const struct meeting *meeting, bool same_node) {
    struct in_addr here = {.s_addr = htonl(INADDR_LOOPBACK)};
    w->up = same_node ? try_connect(here, meeting->port, 2000) : -1;
    for (int i = 0; w->up < 0 && i < meeting->count; i++)
        w->up = try_connect(meeting->address[i], meeting->port, 2000);
    struct word word = own_word(w);
    return w->up >= 0 && send(w->up, &word, sizeof word, MSG_NOSIGNAL) == sizeof word;
}

/* All who could connect, within a few seconds; a stranger without the token is sent away. */
static int accept_all(struct fr_watch *w, int wanted) {
    double end_s = fr_now_s() + 5;
    int n = 0;
    while (n < wanted && fr_now_s() < end_s) {
        struct pollfd ready = {.fd = w->listener, .events = POLLIN};
        if (poll(&ready, 1, 200) != 1) continue;
        int fd = accept(w->listener, NULL, NULL);
        struct word word = {0};
        struct timeval patience = {.tv_sec = 1};
        if (fd < 0) continue;
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        if (recv(fd, &word, sizeof word, MSG_WAITALL) != sizeof word ||
            word.token != w->token || word.rank < 1 || word.rank >= w->n_ranks ||
            w->peer[word.rank].fd >= 0) {
            close(fd);
            continue;
        }
        double now_s = fr_now_s();
        w->peer[word.rank] =
            (struct peer){.fd = fd, .last = word, .heard_s = now_s, .moved_s = now_s};
        n++;
    }
    return n;
}

static void free_watch(struct fr_watch *w) {
    for (int r = 1; w->peer && r < w->n_ranks; r++)
        if (w->peer[r].fd >= 0) close(w->peer[r].fd);
    if (w->up >= 0) close(w->up);
    if (w->listener >= 0) close(w->listener);
    free(w->host);
    free(w->peer);
    free(w->polled);
    free(w);
}

static struct fr_watch *make(int rank, int n_ranks, const struct fr_watch_options *options) {
    struct fr_watch *w = fr_calloc(1, sizeof *w);
    if (!w) return NULL;
    *w = (struct fr_watch){.rank = rank,
                           .n_ranks = n_ranks,
                           .listener = -1,
                           .up = -1,
                           .parent = getppid(),
                           .point = FR_WATCH_BETWEEN,
                           .patience_s = options->patience_s};
    snprintf(w->samples, sizeof w->samples, "%s", options->samples);
    w->host = fr_calloc((size_t)n_ranks, sizeof *w->host);
    w->peer = fr_calloc((size_t)n_ranks, sizeof *w->peer);
    w->polled = fr_calloc((size_t)n_ranks, sizeof *w->polled);
    if (w->host && w->peer && w->polled) {
        for (int r = 0; r < n_ranks; r++) w->peer[r].fd = -1;
        w->peer[0].moved_s = fr_now_s();
        return w;
    }
    free_watch(w);
    return NULL;
}

/* Everybody must be able to be watched, or nobody is. */
static fr_status connect_all(struct fr_watch *w, MPI_Comm world, const int *node_of,
                             bool *connected, struct fr_error *err) {
    struct meeting meeting = {0};
    int mine = 1, all = 0;
    if (w->rank == 0) mine = listen_anywhere(w, &meeting);
    FR_MPI_TRY(MPI_Bcast(&meeting, (int)sizeof meeting, MPI_BYTE, 0, world));
    w->token = meeting.token;
    if (w->rank > 0)
        mine = meeting.port != 0 && connect_up(w, &meeting, node_of[w->rank] == node_of[0]);
    FR_MPI_TRY(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, world));
    if (w->rank == 0 && all) all = accept_all(w, w->n_ranks - 1) == w->n_ranks - 1;
    FR_MPI_TRY(MPI_Bcast(&all, 1, MPI_INT, 0, world));
    *connected = all != 0;
    return FR_OK;
}

fr_status fr_watch_open(MPI_Comm world, const struct fr_watch_options *options,
                        struct fr_watch **watch, struct fr_error *err) {
    int rank = 0, n_ranks = 1, length = 0;
    bool connected = false;
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    *watch = NULL;
    FR_MPI_TRY(MPI_Comm_rank(world, &rank));
    FR_MPI_TRY(MPI_Comm_size(world, &n_ranks));
    FR_MPI_TRY(MPI_Get_processor_name(host, &length));
    host[HOST_B - 1] = '\0';
    struct fr_watch *w = n_ranks > RANKS_MAX ? NULL : make(rank, n_ranks, options);
    int made = w != NULL, all = 0;
    FR_MPI_TRY(MPI_Allreduce(&made, &all, 1, MPI_INT, MPI_MIN, world));
    if (!all) {
        if (w) free_watch(w);
        return FR_OK;
    }
    FR_MPI_TRY(MPI_Allgather(host, HOST_B, MPI_CHAR, w->host, HOST_B, MPI_CHAR, world));
    FR_TRY(connect_all(w, world, options->node_of, &connected, err));
    if (!connected || pthread_create(&w->thread, NULL, rank == 0 ? lead : follow, w) != 0) {
        if (rank == 0)
            fputs("forerun-mpi: the ranks cannot connect to rank 0 apart from MPI, so one that "
                  "hangs will not be noticed\n",
                  stderr);
        free_watch(w);
        return FR_OK;
    }
    atomic_store(&the_watch, w);
    *watch = w;
    return FR_OK;
}

void fr_watch_close(struct fr_watch *watch, MPI_Comm world) {
    if (!watch) return;
    atomic_store(&the_watch, NULL);
    atomic_store(&watch->quitting, 1); /* from here on an ended connection is no death */
    MPI_Barrier(world);
    pthread_join(watch->thread, NULL);
    free_watch(watch);
}
