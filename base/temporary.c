#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file/put.h"

enum {
    LISTED_MAX = 64,
    NAME_CAPACITY = 34 /* a slash, a name, a zero */,
    NUMBER_CAPACITY = 12
};

/* A path is whole before it is listed, and no longer listed before it changes. */
static struct {
    atomic_bool listed;
    char path[FR_TEMPORARY_PATH_B];
} list[LISTED_MAX];
static atomic_int running;

/* A folder of files that have numbers for names. */
static struct {
    atomic_int n; /* 0: none; set last */
    char path[FR_TEMPORARY_PATH_B + NUMBER_CAPACITY];
} series;

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_ENDING = sizeof ending / sizeof *ending };

/* Between the making of a file and its place in the list no signal may come. */
static void hold_signals(sigset_t *before) {
    sigset_t blocked;
    sigemptyset(&blocked);
    for (int i = 0; i < N_ENDING; i++) sigaddset(&blocked, ending[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, before);
}

static void let_signals(const sigset_t *before) { pthread_sigmask(SIG_SETMASK, before, NULL); }

static void add(const char *path) {
    for (int i = 0; i < LISTED_MAX; i++) {
        if (list[i].listed || strlen(path) >= sizeof list[i].path) continue;
        strcpy(list[i].path, path);
        list[i].listed = true;
        return;
    }
}

static void forget(const char *path) {
    for (int i = 0; i < LISTED_MAX; i++)
        if (list[i].listed && strcmp(list[i].path, path) == 0) list[i].listed = false;
}

/* Safe in a signal handler. */
static void erase(const char *path) {
    if (unlink(path) != 0) rmdir(path);
}

/* The same: no library function that is not. */
static void erase_series(void) {
    int n = series.n;
    char *end = series.path + strlen(series.path);
    for (int i = n; i-- > 0;) {
        char digits[NUMBER_CAPACITY], *at = end;
        int length = 0, rest = i;
        do digits[length++] = (char)('0' + rest % 10);
        while ((rest /= 10) > 0);
        *at++ = '/';
        while (length > 0) *at++ = digits[--length];
        *at = '\0';
        unlink(series.path);
        *end = '\0';
    }
    if (n > 0) rmdir(series.path);
    series.n = 0;
}

void fr_temporary_clear(void) {
    int child = running;
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    for (int i = LISTED_MAX; i-- > 0;)
        if (list[i].listed) erase(list[i].path);
    erase_series();
    for (int i = LISTED_MAX; i-- > 0;) /* folders that a later file was in */
        if (list[i].listed) erase(list[i].path);
}

static void clean_up(int number) {
    fr_temporary_clear();
    signal(number, SIG_DFL);
    raise(number); /* held until the handler returns */
}

void fr_temporary_listen(void) {
    struct sigaction action = {.sa_handler = clean_up}, before;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < N_ENDING; i++) sigaddset(&action.sa_mask, ending[i]);
    for (int i = 0; i < N_ENDING; i++)
        if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(ending[i], &action, NULL);
}

void fr_temporary_child(pid_t child) { running = child; }

fr_status fr_temporary_folder(const char *purpose, char *path, struct fr_error *err) {
    const char *root = getenv("TMPDIR");
    sigset_t before;
    int length = snprintf(path, FR_TEMPORARY_PATH_B, "%s/forerun-%s-XXXXXX",
                          root && *root ? root : "/tmp", purpose);
    if (length < 0 || length >= FR_TEMPORARY_PATH_B - NAME_CAPACITY)
        return fr_fail(err, FR_ERR_IO, "TMPDIR", "is too long a name");
    hold_signals(&before);
    bool made = mkdtemp(path) != NULL;
    int why = errno;
    if (made) add(path);
    let_signals(&before);
    if (made) return FR_OK;
    return fr_fail(err, FR_ERR_IO, path, "a temporary folder cannot be made: %s",
                   strerror(why));
}

fr_status fr_temporary_series(const char *folder, int n, char *path, struct fr_error *err) {
    sigset_t before;
    int length = snprintf(path, FR_TEMPORARY_PATH_B, "%s/.forerun-XXXXXX", folder);
    if (length < 0 || length >= FR_TEMPORARY_PATH_B - NAME_CAPACITY)
        return fr_fail(err, FR_ERR_IO, NULL, "%.64s... is too long a name", folder);
    hold_signals(&before);
    bool made = mkdtemp(path) != NULL;
    int why = errno;
    if (made) {
        strcpy(series.path, path);
        series.n = n;
    }
    let_signals(&before);
    if (made) return FR_OK;
    return fr_fail(err, FR_ERR_IO, folder, "cannot be written: %s", strerror(why));
}

void fr_temporary_remove_series(void) {
    sigset_t before;
    hold_signals(&before);
    erase_series();
    let_signals(&before);
}

int fr_temporary_file(char *pattern) {
    sigset_t before;
    hold_signals(&before);
    int fd = mkstemp(pattern), why = errno;
    if (fd >= 0) add(pattern);
    let_signals(&before);
    errno = why;
    return fd;
}

void fr_temporary_in(const char *folder, const char *name, char *path) {
    sigset_t before;
    snprintf(path, FR_TEMPORARY_PATH_B, "%.*s/%s", FR_TEMPORARY_PATH_B - NAME_CAPACITY, folder,
             name);
    hold_signals(&before);
    add(path);
    let_signals(&before);
}

fr_status fr_temporary_write(const char *path, const char *data, size_t length,
                             struct fr_error *err) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), why = errno;
    bool ok = fd >= 0;
    if (ok && fr_put_all(fd, data, length) < length) ok = false, why = errno;
    if (fd >= 0 && close(fd) != 0 && ok) ok = false, why = errno;
    return ok ? FR_OK : fr_fail(err, FR_ERR_IO, path, "cannot be written: %s", strerror(why));
}

void fr_temporary_remove(const char *path) {
    sigset_t before;
    hold_signals(&before);
    erase(path);
    forget(path);
    let_signals(&before);
}

void fr_temporary_remove_folder(const char *folder) {
    size_t length = strlen(folder);
    sigset_t before;
    hold_signals(&before);
    for (int i = 0; i < LISTED_MAX; i++)
        if (list[i].listed && strncmp(list[i].path, folder, length) == 0 &&
            list[i].path[length] == '/') {
            unlink(list[i].path);
            list[i].listed = false;
        }
    rmdir(folder);
    forget(folder);
    let_signals(&before);
}

int fr_temporary_become(const char *path, const char *target) {
    sigset_t before;
    hold_signals(&before);
    int code = rename(path, target), why = errno;
    if (code == 0) forget(path);
    let_signals(&before);
    errno = why;
    return code;
}
