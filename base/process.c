#define _GNU_SOURCE /* pipe2, execvpe */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/temporary.h"

extern char **environ;

enum { NOT_STARTED = 127, N_STREAMS = 3, OTHERS_MAX = 1024, CLOSE_AT_EXEC = 4 };
static const double LOOK_S = 0.02;

/* Resources that a start needs and its end gives back. */
struct start {
    const struct fr_process *p;
    char program[FR_PROCESS_PATH_B];
    char **environment;   /* NULL-terminated */
    int given[N_STREAMS]; /* the child's ends, none below N_STREAMS; -1: as ours */
    int heard[N_STREAMS]; /* ours of the streams that become a text, else -1 */
    pid_t parent;
};

/* ---- streams --------------------------------------------------------------------------------- */

/* Where one of our own streams is closed a new descriptor takes its number, and would be written
 * over in the child. */
static int above_streams(int fd) {
    if (fd < 0 || fd >= N_STREAMS) return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, N_STREAMS), why = errno;
    close(fd);
    errno = why;
    return high;
}

static bool make_pipe(int ends[2]) {
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    for (int i = 0; i < 2; i++) ends[i] = above_streams(ends[i]);
    if (ends[0] >= 0 && ends[1] >= 0) return true;
    int why = errno;
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0) close(ends[i]);
    errno = why;
    return false;
}

static bool open_stream(const struct fr_process_stream *s, bool input, int *given, int *heard) {
    int ends[2] = {-1, -1}, how = input ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC;
    if (s->inherited) return true;
    if (s->text && make_pipe(ends)) {
        *heard = ends[0];
        *given = ends[1];
    } else if (!s->text)
        *given = above_streams(open(s->file ? s->file : "/dev/null", how | O_CLOEXEC, 0600));
    return *given >= 0;
}

static void shut(int fd[N_STREAMS]) {
    for (int i = 0; i < N_STREAMS; i++) {
        if (fd[i] >= 0) close(fd[i]);
        fd[i] = -1;
    }
}

static fr_status open_streams(struct start *s, struct fr_error *err) {
    const struct fr_process_stream *stream[N_STREAMS] = {&s->p->in, &s->p->out, &s->p->err};
    for (int i = 0; i < N_STREAMS; i++)
        if (!open_stream(stream[i], i == 0, &s->given[i], &s->heard[i]))
            return fr_fail(err, FR_ERR_IO, stream[i]->file, "cannot be opened for %s: %s",
                           s->p->words[0], strerror(errno));
    return FR_OK;
}

/* ---- what is started ------------------------------------------------------------------------- */

/* Ours, those of @p p in place of what they name.  @return NULL when memory is exhausted. */
static char **make_environment(const struct fr_process *p) {
    static const char *const none[] = {NULL};
    const char *const *added = p->variables ? p->variables : none;
    size_t n = 0, n_added = 0, kept = 0;
    while (environ[n]) n++;
    while (added[n_added]) n_added++;
    char **made = fr_calloc(n + n_added + 1, sizeof *made);
    for (size_t i = 0; made && i < n; i++) {
        bool replaced = false;
        for (size_t j = 0; j < n_added; j++)
            replaced |= strncmp(environ[i], added[j], strcspn(added[j], "=") + 1) == 0;
        if (!replaced) made[kept++] = environ[i];
    }
    for (size_t j = 0; made && j < n_added; j++) made[kept++] = (char *)(uintptr_t)added[j];
    return made;
}

static fr_status find(struct start *s, struct fr_error *err) {
    const char *name = s->p->words[0], *package = s->p->package;
    if (s->p->body) return FR_OK;
    if (strlen(name) >= sizeof s->program)
        return fr_fail(err, FR_ERR_EXTERNAL, name, "is too long a name for a program");
    strcpy(s->program, name);
    if (strchr(name, '/') || fr_process_find(name, s->program)) return FR_OK;
    return fr_fail(err, FR_ERR_EXTERNAL, name, "is not installed%s%s",
                   package ? "; on Debian: apt-get install " : ": no folder of PATH has it",
                   package ? package : "");
}

/* ---- the child: only calls that are safe between fork and exec of a process with threads ------ */

/* No signal is blocked, none leads into our handlers; what is ignored stays so. */
static void usual_signals(void) {
    struct sigaction usual = {.sa_handler = SIG_DFL}, ours;
    sigset_t none;
    for (int i = 1; i < NSIG; i++)
        if (sigaction(i, NULL, &ours) == 0 &&
            (ours.sa_handler != SIG_IGN || i == SIGPIPE || i == SIGXFSZ))
            sigaction(i, &usual, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void close_others_at_exec(void) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, N_STREAMS, ~0U, CLOSE_AT_EXEC) == 0) return;
#endif
    for (int fd = N_STREAMS; fd < OTHERS_MAX; fd++) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* Where it cannot become the program it tells why. */
_Noreturn static void become(const struct start *s, int tell) {
    const struct fr_process *p = s->p;
    bool ready = true;
    if (p->limit_s > 0) setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, p->parting ? p->parting : SIGKILL);
    if (getppid() != s->parent) _exit(NOT_STARTED);
    for (int i = 0; i < N_STREAMS; i++)
        if (s->given[i] >= 0) ready = ready && dup2(s->given[i], i) == i;
    if (p->folder) ready = ready && chdir(p->folder) == 0;
    usual_signals();
    if (ready && p->body) {
        close(tell);
        p->body(p->context);
        _exit(0);
    }
    close_others_at_exec();
    if (ready) execvpe(s->program, (char *const *)(uintptr_t)p->words, s->environment);
    int why = errno;
    _exit(write(tell, &why, sizeof why) == sizeof why ? NOT_STARTED : NOT_STARTED - 1);
}

/* No signal comes between the child's beginning and its place beside the temporary files, nor
 * reaches our handlers in the child.  vfork copies no pages: those that a network adapter writes
 * to stay ours, and it takes the same time however large we are.  @return 0, or the errno of what could not be done */
static int begin(struct start *s, pid_t *child) {
    sigset_t all, before;
    int stated[2], why = 0;
    if (!make_pipe(stated)) return errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    s->parent = getpid();
    *child = s->p->body ? fork() : vfork();
    if (*child == 0) become(s, stated[1]);
    int failed = *child < 0 ? errno : 0;
    if (*child > 0 && !s->p->parting) fr_temporary_child(*child);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(stated[1]);
    while (!failed && read(stated[0], &why, sizeof why) < 0 && errno == EINTR) continue;
    close(stated[0]);
    return failed ? failed : why;
}

/* ---- its end --------------------------------------------------------------------------------- */

/* Read what has come on a stream; close it at its end. */
static void hear(int *fd, struct fr_text *text, size_t text_B) {
    char block[16384];
    ssize_t got = read(*fd, block, sizeof block);
    if (got <= 0) {
        close(*fd);
        *fd = -1;
        return;
    }
    size_t capacity = text->length < text_B ? text_B - text->length : 0;
    fr_text_add(text, block, (size_t)got < capacity ? (size_t)got : capacity);
}

/* Wait for words, @p nap_s at the most.  @return false when no stream is open any more */
static bool listen_for(struct start *s, double nap_s) {
    struct fr_text *text[N_STREAMS] = {NULL, s->p->out.text, s->p->err.text};
    struct pollfd open[N_STREAMS];
    bool any = false;
    for (int i = 0; i < N_STREAMS; i++) {
        open[i] = (struct pollfd){.fd = s->heard[i], .events = POLLIN};
        any = any || s->heard[i] >= 0;
    }
    if (!any) return false;
    if (poll(open, N_STREAMS, nap_s < INT_MAX / 1000 ? (int)ceil(nap_s * 1e3) : -1) <= 0)
        return true;
    for (int i = 0; i < N_STREAMS; i++)
        if (s->heard[i] >= 0 && open[i].revents)
            hear(&s->heard[i], text[i], s->p->text_B ? s->p->text_B : FR_PROCESS_TEXT_B);
    return true;
}

/* Until its streams are closed and it has ended.  @return 0, or the errno of waiting */
static int wait_for(struct start *s, pid_t child, int *how, bool *late) {
    const struct fr_process *p = s->p;
    double end_s = p->limit_s > 0 ? fr_now_s() + p->limit_s : INFINITY, nap_s = LOOK_S / 256;
    for (;;) {
        bool look = p->watch && p->watch(p->context, child);
        double left_s = end_s - fr_now_s();
        if (left_s <= 0 && !*late) {
            *late = true;
            kill(-child, SIGKILL);
            shut(s->heard);
        }
        if (listen_for(s, look ? LOOK_S : left_s)) continue;
        look = look || (!*late && isfinite(left_s));
        pid_t got = waitpid(child, how, look ? WNOHANG : 0);
        if (got == child) return 0;
        if (got < 0 && errno != EINTR) return errno;
        if (look) nanosleep(&(struct timespec){.tv_nsec = (long)(nap_s * 1e9)}, NULL);
        nap_s = fmin(2 * nap_s, LOOK_S);
    }
}

static fr_status run(struct start *s, struct fr_ended *ended, struct fr_error *err) {
    pid_t child = 0;
    int how = 0;
    FR_TRY(find(s, err));
    FR_TRY(open_streams(s, err));
    s->environment = make_environment(s->p);
    if (!s->environment) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    int why = begin(s, &child);
    shut(s->given);
    if (why && child > 0) waitpid(child, NULL, 0);
    int lost = why ? 0 : wait_for(s, child, &how, &ended->late);
    if (!s->p->parting) fr_temporary_child(0);
    if (why || lost)
        return fr_fail(err, FR_ERR_EXTERNAL, s->p->words[0], "cannot be %s: %s",
                       why ? "started" : "waited for", strerror(why ? why : lost));
    ended->signal = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
    ended->code = WIFEXITED(how) ? WEXITSTATUS(how) : -1;
    return FR_OK;
}

fr_status fr_process_run(const struct fr_process *p, struct fr_ended *ended,
                         struct fr_error *err) {
    struct start s = {.p = p, .given = {-1, -1, -1}, .heard = {-1, -1, -1}};
    struct fr_ended own = {.code = -1};
    char words[FR_ENDED_B];
    fr_status status = run(&s, &own, err);
    shut(s.given);
    shut(s.heard);
    free(s.environment);
    if (ended) *ended = own;
    if (status != FR_OK || ended || own.code == 0) return status;
    return fr_fail(err, FR_ERR_EXTERNAL, p->words[0], "%s", fr_ended_words(&own, words));
}

int fr_process_descriptor(pid_t pid) {
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

/* Streams are not held open: who reads them would wait for us. */
void fr_process_leave_killer(int descriptor, double grace_s) {
#if defined SYS_pidfd_send_signal && defined SYS_close_range
    if (descriptor < 0 || fork() != 0) return;
    setpgid(0, 0); /* a launcher ends groups */
    if (dup2(descriptor, 0) != 0) _exit(1);
    syscall(SYS_close_range, 1U, ~0U, 0);
    struct pollfd ended = {.fd = 0, .events = POLLIN};
    if (poll(&ended, 1, (int)(grace_s * 1e3)) == 0)
        syscall(SYS_pidfd_send_signal, 0, SIGKILL, NULL, 0);
    _exit(0);
#else
    (void)descriptor, (void)grace_s;
#endif
}

const char *fr_ended_words(const struct fr_ended *ended, char words[FR_ENDED_B]) {
    static const struct {
        int number;
        const char *name;
    } named[] = {{SIGKILL, "SIGKILL"}, {SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"},
                 {SIGHUP, "SIGHUP"},   {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},
                 {SIGFPE, "SIGFPE"},   {SIGABRT, "SIGABRT"}, {SIGILL, "SIGILL"},
                 {SIGPIPE, "SIGPIPE"}, {SIGQUIT, "SIGQUIT"}};
    if (ended->late)
        snprintf(words, FR_ENDED_B, "took too long and was ended");
    else if (ended->signal == 0)
        snprintf(words, FR_ENDED_B, "ended with exit code %d", ended->code);
    else
        snprintf(words, FR_ENDED_B, "was killed by signal %d", ended->signal);
    for (size_t i = 0; !ended->late && i < sizeof named / sizeof *named; i++)
        if (named[i].number == ended->signal)
            snprintf(words, FR_ENDED_B, "was killed by %s", named[i].name);
    return words;
}
