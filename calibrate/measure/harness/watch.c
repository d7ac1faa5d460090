#define _GNU_SOURCE /* POLLRDHUP */
#include "calibrate/measure/harness/watch.h"

#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/process.h"
#include "base/text.h"
#include "calibrate/measure/harness/mpi_try.h"
#include "calibrate/measure/harness/stop.h"
#include "calibrate/measure/watch/stopped.h"
#include "calibrate/measure/watch/watcher.h"

#ifndef SMPI_H

enum { STACK_B = 128 << 10, RANKS_MAX = 4096 };
static const double BUSY_SHARE = 0.02, TURN_S = 1.2, JOIN_S = 5, FROZEN_S = 1;

enum mode { ALONE, LEADS, FOLLOWS };

/* State of this process, which is one rank. */
static struct {
    /* Said by the main thread. */
    atomic_int point, rank, n_ranks, mode, elsewhere;
    atomic_llong moves;
    _Atomic(double) patience_s;
    /* Said by the watch's thread. */
    atomic_int asked; /* has it tried to reach the front program? 1: in vain, 2: it watches */
    atomic_uint reported;
    bool runs;
    /* The thread's own; up and watcher are made before the mode says so. */
    int wake,
        voice; /* voice: where standard error led at first, which a program may close later */
    double grace_s, reported_s, beat_s, cpu_s, stopped_s, started_s;
    pid_t parent;
    int launcher,
        local; /* a descriptor of the parent, where it is a launcher; this rank's number on its host */
    bool speaks, waited,
        orphaned; /* it has said a sentence, after the patience; the front program has died */
    const char *leash, *address;
    char results[256], own_leash[FR_LEASH_B], host[FR_WATCH_HOST_B];
    struct fr_wire front, up; /* to the front program; to rank 0 */
    uint64_t front_token, up_token;
    struct fr_watch_word first; /* what rank 0 said last */
    double first_s;             /* when */
    struct fr_watcher *watcher; /* of rank 0 */
} watch = {.point = FR_WATCH_STARTS,
           .rank = -1,
           .n_ranks = -1,
           .wake = -1,
           .launcher = -1,
           .patience_s = FR_PATIENCE_S,
           .front.fd = -1,
           .up.fd = -1};

static double cpu_s(void) {
    struct timespec t = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct fr_watch_word own_word(void) {
    struct fr_watch_word word = {.moves = atomic_load(&watch.moves),
                                 .rank = atomic_load(&watch.rank),
                                 .n_ranks = atomic_load(&watch.n_ranks),
                                 .pid = (int32_t)getpid(),
                                 .point = atomic_load(&watch.point)};
    double now_s = fr_now_s(), used_s = cpu_s();
    if (used_s - watch.cpu_s > BUSY_SHARE * (now_s - watch.beat_s)) word.flags |= FR_WATCH_BUSY;
    if (fr_stop_requested() || getppid() != watch.parent) word.flags |= FR_WATCH_REPORTED;
    if (watch.launcher >= 0 && fr_is_stopped(watch.parent)) word.flags |= FR_WATCH_PARENT_STOPS;
    watch.beat_s = now_s;
    watch.cpu_s = used_s;
    memcpy(word.host, watch.host, sizeof word.host);
    memcpy(word.leash, watch.own_leash, sizeof word.leash);
    return word;
}

static void nap(double s) { poll(NULL, 0, (int)(s * 1e3)); }

/* ---- the end --------------------------------------------------------------------------------- */

/* Open MPI 4 with PMIx 4.2 may wait for ever in PMIx_server_finalize once its ranks have ended early, for a lock
 * whose thread is gone.  The program in front ends it then; where there is none, or it has died, nobody else is left. */
static void leave_killer(void) {
    static const double WAITED_S = 3.5, ALONE_S = 1.5, CLEANS_S = 2;
    double grace_s =
        atomic_load(&watch.patience_s) + CLEANS_S; /* a large job takes a while to end */
    if (watch.launcher < 0 || watch.front.fd >= 0 || (watch.local > 1 && !watch.speaks)) return;
    if (watch.waited) grace_s = WAITED_S;
    if (watch.orphaned) grace_s = ALONE_S;
    fr_process_leave_killer(watch.launcher, grace_s);
}

static _Noreturn void end_with(int code) {
    leave_killer();
    _exit(code);
}

static _Noreturn void end_partial(void) { end_with(fr_status_exit_code(FR_ERR_PARTIAL)); }

static void speak(const char *sentence) {
    char line[1024];
    size_t used = 0;
    watch.speaks = true;
    fr_line_addf(line, sizeof line, &used, "forerun-mpi: %s", sentence);
    if (*watch.results)
        fr_line_addf(line, sizeof line, &used,
                     "; what was finished is in %s, and --resume goes on from there",
                     watch.results);
    fr_line_addf(line, sizeof line, &used, "\n");
    if (write(watch.voice, line, used) < 0) end_partial();
}

static _Noreturn void end_job(const struct fr_watch_verdict *verdict) {
    char sentence[512];
    const struct fr_watch_word last = {.token = watch.up_token,
                                       .point = FR_WATCH_GIVES_UP,
                                       .moves = fr_status_exit_code(FR_ERR_PARTIAL)};
    fr_watch_verdict_sentence(verdict, "has died", "", sentence, sizeof sentence);
    if (watch.watcher) fr_watcher_tell(watch.watcher, &last);
    fr_wire_say(&watch.up, &last);
    watch.waited = verdict->kind != FR_VERDICT_DIED;
    speak(sentence);
    end_partial();
}

/* Somebody gave up, and has said why; the launcher may end us first. */
static _Noreturn void follow_out(int code) {
    const struct fr_watch_word last = {.point = FR_WATCH_GIVES_UP, .moves = code};
    if (watch.watcher) fr_watcher_tell(watch.watcher, &last);
    nap(4e-3 * FR_WATCH_BEAT_MS);
    end_with(code);
}

/* Rank 1 speaks, if it lives, upon which the launcher ends the others; else the next. */
static void wait_for_turn(void) {
    int rank = atomic_load(&watch.rank);
    nap(TURN_S * (rank > 3 ? 2 : rank > 1 ? rank - 1 : 0));
}

/* Nobody but its ranks can end a launcher that is stopped: the first of them on its host, or the next. */
static void end_launcher(double waited_s) {
    static const double ENDS_S = 2, NEXT_S = 0.4;
    const struct fr_watch_verdict verdict = {.kind = FR_VERDICT_STOPPED, .waited_s = waited_s};
    char launcher[128], sentence[512];
    nap(NEXT_S * (watch.local > 3 ? 3 : watch.local > 0 ? watch.local : 0));
    if (!fr_is_stopped(watch.parent)) return;
    snprintf(launcher, sizeof launcher, "the launcher on host %s (process %d)", watch.host,
             (int)watch.parent);
    fr_watch_verdict_sentence(&verdict, "", launcher, sentence, sizeof sentence);
    speak(sentence);
    if (getppid() == watch.parent) kill(watch.parent, SIGTERM);
    if (getppid() == watch.parent) kill(watch.parent, SIGCONT);
    nap(ENDS_S);
    if (getppid() == watch.parent) kill(watch.parent, SIGKILL);
    end_partial();
}

static _Noreturn void front_is_gone(void) {
    fr_wire_close(&watch.front);
    watch.orphaned = true;
    end_partial();
}

/* ---- what every rank's thread checks --------------------------------------------------------- */

static void check_launcher(const struct fr_watch_word *word, double now_s) {
    bool stopped = word->flags & FR_WATCH_PARENT_STOPS;
    if (getppid() != watch.parent) {
        if (watch.front.fd < 0 && word->rank == 0 && word->point != FR_WATCH_LEAVES)
            speak("rank 0 has lost its launcher");
        end_partial();
    }
    if (!stopped) watch.stopped_s = 0;
    if (stopped && watch.stopped_s == 0) watch.stopped_s = now_s;
    if (stopped && watch.front.fd < 0 &&
        now_s - watch.stopped_s > atomic_load(&watch.patience_s))
        end_launcher(now_s - watch.stopped_s);
}

/* Where nobody watches yet, a rank beside this one may be stopped while MPI waits for it. */
static void check_start(const struct fr_watch_word *word, double now_s) {
    double waited_s = now_s - watch.started_s;
    struct fr_watch_verdict verdict = {.kind = FR_VERDICT_SILENT, .waited_s = waited_s};
    int rank = -1;
    if (word->point != FR_WATCH_STARTS || watch.front.fd >= 0 ||
        waited_s <= atomic_load(&watch.patience_s))
        return;
    watch.started_s = now_s;
    pid_t pid = fr_stopped_rank(watch.parent, -1, &rank);
    if (pid <= 0) return;
    verdict.who.rank = rank;
    verdict.who.pid = (int32_t)pid;
    memcpy(verdict.who.host, watch.host, sizeof verdict.who.host);
    wait_for_turn();
    end_job(&verdict);
}

static void check_self(const struct fr_watch_word *word) {
    double now_s = fr_now_s(), grace_s = word->point == FR_WATCH_STARTS ? 0 : watch.grace_s;
    if (watch.leash && !fr_leash_holds(watch.leash)) front_is_gone();
    check_launcher(word, now_s);
    check_start(word, now_s);
    if (!fr_stop_requested()) return;
    if (watch.reported_s == 0) watch.reported_s = now_s;
    if (now_s - watch.reported_s >= grace_s) end_partial(); /* asked to stop, and still busy */
}

/* ---- who is heard ---------------------------------------------------------------------------- */

/* The front program's socket ends with it. */
static void heed_front(struct fr_watch_word *word) {
    struct fr_watch_word heard;
    if (watch.front.fd < 0) return;
    if (atomic_load(&watch.elsewhere)) {
        word->flags |= FR_WATCH_ELSEWHERE;
        word->point = FR_WATCH_LEAVES;
    }
    word->token = watch.front_token;
    bool there = fr_wire_say(&watch.front, word);
    for (int n; there && (n = fr_wire_hear(&watch.front, &heard)) != 0;) there = n > 0;
    if (atomic_load(&watch.elsewhere))
        fr_wire_close(&watch.front);
    else if (!there)
        front_is_gone();
}

static void rank_0_is_gone(void) {
    const struct fr_watch_verdict verdict = {.kind = FR_VERDICT_DIED, .who = watch.first};
    fr_wire_close(&watch.up);
    if (watch.first.point == FR_WATCH_LEAVES) return;
    /* After a signal the launcher is ending us all, and has said why. */
    if (fr_stop_requested() || (watch.first.flags & FR_WATCH_REPORTED)) {
        nap(4e-3 * FR_WATCH_BEAT_MS);
        end_partial();
    }
    wait_for_turn();
    end_job(&verdict);
}

static void heed_rank_0(struct fr_watch_word *word, double gap_s) {
    struct fr_watch_word heard;
    int n = 0;
    if (watch.up.fd < 0) return;
    word->token = watch.up_token;
    bool there = fr_wire_say(&watch.up, word);
    watch.first_s += gap_s;
    while ((n = fr_wire_hear(&watch.up, &heard)) > 0) {
        if (heard.point == FR_WATCH_GIVES_UP) follow_out((int)heard.moves);
        watch.first = heard;
        watch.first_s = fr_now_s();
    }
    if (n < 0 || !there) {
        rank_0_is_gone();
        return;
    }
    double silent_s = fr_now_s() - watch.first_s;
    if (silent_s <= atomic_load(&watch.patience_s)) return;
    wait_for_turn();
    end_job(&(struct fr_watch_verdict){
        .kind = FR_VERDICT_SILENT, .who = watch.first, .waited_s = silent_s});
}

static void lead(const struct fr_watch_word *word) {
    int code = 0;
    const struct fr_watch_verdict *verdict =
        fr_watcher_step(watch.watcher, word, 0, FR_WATCH_BEAT_MS);
    if (fr_watcher_gave_up(watch.watcher, &code)) follow_out(code);
    if (verdict->kind != FR_VERDICT_NONE && !fr_stop_requested()) end_job(verdict);
}

/* Until the next beat, a connection ends, or somebody wakes us.  Messages to us can wait:
 * where each answered the other at once they would never rest. */
static void rest(void) {
    struct pollfd polled[] = {{.fd = watch.wake, .events = POLLIN},
                              {.fd = watch.front.fd, .events = POLLRDHUP},
                              {.fd = watch.up.fd, .events = POLLRDHUP}};
    poll(polled, 3, FR_WATCH_BEAT_MS);
}

static void reach_front(void) {
    struct fr_watch_word hello = own_word();
    bool here = watch.leash && fr_leash_is_here(watch.leash);
    bool reached = watch.address && fr_wire_connect(watch.address, here, &hello, &watch.front);
    watch.front_token = hello.token;
    atomic_store(&watch.asked, reached ? 2 : 1);
}

static void *attend(void *context) {
    double looked_s = fr_now_s();
    (void)context;
    reach_front();
    for (;;) {
        uint64_t wakes;
        enum mode mode = (enum mode)atomic_load(&watch.mode);
        struct fr_watch_word word = own_word();
        double now_s = fr_now_s(), gap_s = now_s - looked_s;
        looked_s = now_s;
        heed_front(&word);
        if (mode == FOLLOWS) heed_rank_0(&word, gap_s > FROZEN_S ? gap_s : 0);
        check_self(&word);
        if (mode == LEADS)
            lead(&word);
        else
            rest();
        /* A word that was asked for is said by the next turn. */
        if (read(watch.wake, &wakes, sizeof wakes) == sizeof wakes) {
            word = own_word();
            heed_front(&word);
            if (mode == FOLLOWS) heed_rank_0(&word, 0);
            if (mode == LEADS) fr_watcher_tell(watch.watcher, &word);
        }
        atomic_fetch_add(&watch.reported, 1);
    }
    return NULL;
}

/* ---- the rank -------------------------------------------------------------------------------- */

static double patience_of(int argc, char **argv, bool *watched) {
    double patience_s = FR_PATIENCE_S;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--no-watch") == 0) *watched = false;
        if (i + 1 < argc && strcmp(argv[i], "--patience") == 0 &&
            fr_duration_parse(argv[i + 1], argv[i], 1, 1e6, &patience_s, NULL) != FR_OK)
            patience_s = FR_PATIENCE_S; /* refused once MPI is up */
    }
    return patience_s;
}

static int number_in(const char *variable) {
    const char *text = getenv(variable);
    return text && *text ? atoi(text) : -1;
}

void fr_watch_begin(int argc, char **argv, double grace_s) {
    bool watched = true;
    pthread_t thread;
    pthread_attr_t small;
    sigset_t all, before;
    const char *address = getenv(FR_WATCH_VARIABLE), *leash = getenv(FR_LEASH_VARIABLE);
    watch.patience_s = patience_of(argc, argv, &watched);
    watch.parent = getppid();
    watch.launcher = fr_is_launcher(watch.parent) ? fr_process_descriptor(watch.parent) : -1;
    watch.local = number_in("OMPI_COMM_WORLD_LOCAL_RANK");
    watch.grace_s = grace_s;
    watch.started_s = watch.beat_s = fr_now_s();
    watch.address = watched && address && *address ? address : NULL;
    watch.leash = leash && *leash ? leash : NULL;
    watch.voice = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (watch.voice < 0) watch.voice = STDERR_FILENO;
    gethostname(watch.host, sizeof watch.host - 1);
    fr_leash_make(watch.own_leash);
    atomic_store(&watch.rank, fr_rank_own());
    atomic_store(&watch.n_ranks, number_in("OMPI_COMM_WORLD_SIZE"));
    watch.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(
        &small, STACK_B); /* too small where libraries keep much for each thread */
    watch.runs = watch.wake >= 0 && (pthread_create(&thread, &small, attend, NULL) == 0 ||
                                     pthread_create(&thread, NULL, attend, NULL) == 0);
    if (watch.runs) pthread_detach(thread);
    pthread_attr_destroy(&small);
    if (watch.runs || grace_s > 0) fr_stop_listen(watch.wake);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void fr_watch_move(void) { atomic_fetch_add_explicit(&watch.moves, 1, memory_order_relaxed); }

void fr_watch_point(int point) {
    atomic_store(&watch.point, point);
    fr_watch_move();
}

/* Until the thread has said what we are, or for half a second. */
static void have_it_stated(void) {
    const struct timespec moment = {.tv_nsec = 200000};
    const uint64_t one = 1;
    unsigned reported = atomic_load(&watch.reported);
    if (!watch.runs || write(watch.wake, &one, sizeof one) != sizeof one) return;
    for (int i = 0; i < 2500 && atomic_load(&watch.reported) - reported < 1; i++)
        nanosleep(&moment, NULL);
}

void fr_watch_farewell(int code) {
    atomic_store(&watch.moves, code);
    atomic_store(&watch.point, FR_WATCH_GIVES_UP);
    have_it_stated();
}

void fr_watch_leave(void) {
    if (atomic_load(&watch.point) == FR_WATCH_GIVES_UP) return;
    fr_watch_point(FR_WATCH_LEAVES);
    have_it_stated();
}

/* ---- all ranks meet -------------------------------------------------------------------------- */

/* Where rank 0 can be met. */
struct meeting {
    char address[FR_WATCH_ADDRESS_B];
    struct fr_watch_word rank_0; /* before it has said anything */
};

static bool open_watcher(int n_ranks, double busy_s, struct meeting *meeting) {
    const struct fr_watcher_options options = {.patience_s = watch.patience_s,
                                               .busy_s = busy_s,
                                               .n_ranks = n_ranks,
                                               .inside = true,
                                               .wake = watch.wake};
    watch.watcher = fr_watcher_open(&options, meeting->address);
    return watch.watcher != NULL;
}

/* All who can connect, within a few seconds. */
static bool all_join(int n_ranks) {
    double end_s = fr_now_s() + JOIN_S;
    while (fr_watcher_seen(watch.watcher) < n_ranks - 1 && fr_now_s() < end_s)
        fr_watcher_step(watch.watcher, NULL, 0, 50);
    return fr_watcher_seen(watch.watcher) == n_ranks - 1;
}

/* Everybody must be able to be watched, or nobody is. */
static fr_status watch_each_other(int rank, int n_ranks, double busy_s, bool *watched,
                                  struct fr_error *err) {
    struct meeting meeting = {.rank_0 = {0}};
    int own = watch.runs && n_ranks <= RANKS_MAX, all = 0;
    struct fr_watch_word hello = {
        .rank = rank, .n_ranks = n_ranks, .pid = (int32_t)getpid(), .point = FR_WATCH_BETWEEN};
    memcpy(hello.host, watch.host, sizeof hello.host);
    memcpy(hello.leash, watch.own_leash, sizeof hello.leash);
    meeting.rank_0 = hello;
    if (rank == 0) own = own && open_watcher(n_ranks, busy_s, &meeting);
    FR_MPI_TRY(MPI_Bcast(&meeting, (int)sizeof meeting, MPI_BYTE, 0, MPI_COMM_WORLD));
    if (rank == 0 && own)
        own = all_join(n_ranks);
    else if (rank != 0)
        own = own && *meeting.address &&
              fr_wire_connect(meeting.address, fr_leash_is_here(meeting.rank_0.leash), &hello,
                              &watch.up);
    FR_MPI_TRY(MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    *watched = all;
    if (!all) return FR_OK;
    watch.up_token = hello.token;
    watch.first = meeting.rank_0;
    watch.first_s = fr_now_s();
    atomic_store(&watch.mode, rank == 0 ? LEADS : FOLLOWS);
    return FR_OK;
}

fr_status fr_watch_open(const char *results, double patience_s, double busy_s,
                        struct fr_error *err) {
    int rank = 0, n_ranks = 1, own, all = 0;
    bool watched = true;
    const struct timespec moment = {.tv_nsec = 1000000};
    FR_MPI_TRY(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    FR_MPI_TRY(MPI_Comm_size(MPI_COMM_WORLD, &n_ranks));
    while (watch.runs && !atomic_load(&watch.asked)) nanosleep(&moment, NULL);
    own = atomic_load(&watch.asked) == 2;
    FR_MPI_TRY(MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    snprintf(watch.results, sizeof watch.results, "%s", results);
    atomic_store(&watch.patience_s, patience_s);
    atomic_store(&watch.rank, rank);
    atomic_store(&watch.n_ranks, n_ranks);
    if (!all) atomic_store(&watch.elsewhere, 1);
    if (!all && n_ranks > 1) FR_TRY(watch_each_other(rank, n_ranks, busy_s, &watched, err));
    fr_watch_point(FR_WATCH_BETWEEN);
    if (!watched && rank == 0)
        fputs("forerun-mpi: the ranks cannot connect to rank 0 apart from MPI, so one that "
              "hangs will not be noticed\n",
              stderr);
    return FR_OK;
}

#else /* simulated ranks: one process without threads of ours, which the kernel ends with its parent */

void fr_watch_begin(int argc, char **argv, double grace_s) {
    (void)argc, (void)argv, (void)grace_s;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}
fr_status fr_watch_open(const char *results, double patience_s, double busy_s,
                        struct fr_error *err) {
    (void)results, (void)patience_s, (void)busy_s, (void)err;
    return FR_OK;
}
void fr_watch_point(int point) { (void)point; }
void fr_watch_move(void) {}
void fr_watch_farewell(int code) { (void)code; }
void fr_watch_leave(void) {}

#endif
