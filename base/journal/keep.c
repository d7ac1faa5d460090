#include "base/journal/keep.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/file/links.h"
#include "base/journal/lock.h"

static const double NAP_S = 0.05, REPLACED_S = 2;

fr_status fr_keep_measurements(const char *path, bool resume, bool force,
                               struct fr_error *err) {
    if (resume && force)
        return fr_fail(err, FR_ERR_USAGE, "--force",
                       "would replace what --resume goes on with: choose one");
    if (!resume && !force && fr_file_holds(path))
        return fr_fail(err, FR_ERR_USAGE, path,
                       "holds measurements already: --resume goes on with them, --force (-f) "
                       "replaces them; or name another --samples file");
    return fr_file_check_writable(path, err);
}

static fr_status lock(int fd, int purpose, const char *path, double patience_s,
                      struct fr_error *err) {
    const struct timespec nap = {.tv_nsec = (long)(1e9 * NAP_S)};
    char holder[FR_LOCK_HOLDER_B];
    for (double waited_s = 0; fr_lock_take(fd, purpose) == FR_LOCK_HELD; waited_s += NAP_S) {
        if (waited_s >= patience_s)
            return fr_fail(err, FR_ERR_IO, path,
                           "is being written by %s; wait until that ends, or name another file",
                           fr_lock_holder(fd, purpose, holder));
        nanosleep(&nap, NULL);
    }
    return FR_OK;
}

/* Is what was opened still what the name leads to? */
static bool is_current(int fd, const char *path) {
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && stat(path, &named) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

static fr_status open_and_lock(const char *path, double patience_s, int *fd,
                               struct fr_error *err) {
    enum { ATTEMPTS = 100 };
    for (int i = 0; i < ATTEMPTS; i++) {
        FR_TRY(fr_file_open_checked(path, O_RDWR | O_CREAT | O_NONBLOCK, 0666, fd, err));
        fr_status status = lock(*fd, FR_LOCK_COMMAND, path, patience_s, err);
        if (status == FR_OK && is_current(*fd, path)) return FR_OK;
        close(*fd);
        *fd = -1;
        if (status != FR_OK) return status;
    }
    return fr_fail(err, FR_ERR_IO, path, "is replaced again and again by another command");
}

fr_status fr_keep_take(const char *path, struct fr_keep *keep, struct fr_error *err) {
    *keep = (struct fr_keep){path, -1};
    return open_and_lock(path, 0, &keep->fd, err);
}

fr_status fr_keep_hold(const char *path, bool resume, bool force, struct fr_keep *keep,
                       struct fr_error *err) {
    FR_TRY(fr_keep_take(path, keep, err));
    return fr_keep_measurements(path, resume, force, err);
}

/* Whoever took the new file first finds that it holds something and lets go of it. */
fr_status fr_keep_hold_again(struct fr_keep *keep, struct fr_error *err) {
    int fd = -1;
    FR_TRY(open_and_lock(keep->path, REPLACED_S, &fd, err));
    if (keep->fd >= 0) close(keep->fd);
    keep->fd = fd;
    return FR_OK;
}

void fr_keep_release(struct fr_keep *keep) {
    struct stat opened;
    if (!keep->path || keep->fd < 0) return;
    if (fstat(keep->fd, &opened) == 0 && opened.st_size == 0 && S_ISREG(opened.st_mode) &&
        is_current(keep->fd, keep->path))
        unlink(keep->path);
    close(keep->fd);
    keep->fd = -1;
}

fr_status fr_keep_append(int fd, const char *path, double patience_s, struct fr_error *err) {
    return lock(fd, FR_LOCK_APPENDER, path, patience_s, err);
}
