#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file/collect.h"
#include "base/file/links.h"
#include "base/file/put.h"
#include "base/temporary.h"
#include "base/text.h"

static bool same(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The descriptor that already leads to @p info, as /dev/stdout does; -1 when none. */
static int open_already(const struct stat *info) {
    struct stat ours;
    if (fstat(STDOUT_FILENO, &ours) == 0 && same(&ours, info)) return STDOUT_FILENO;
    if (fstat(STDERR_FILENO, &ours) == 0 && same(&ours, info)) return STDERR_FILENO;
    return -1;
}

static fr_status cannot(const char *path, int why, struct fr_error *err) {
    return fr_fail(err, FR_ERR_IO, path, "cannot be written: %s", strerror(why));
}

/* Devices, pipes and open descriptors cannot be replaced by a rename. */
static fr_status write_through(const char *path, int fd, const char *data, size_t length,
                               struct fr_error *err) {
    int own = -1, why = 0;
    if (fd < 0) FR_TRY(fr_file_open_checked(path, O_WRONLY, 0, &own, err));
    bool ok = (fd >= 0 || own >= 0) && fflush(stdout) == 0 &&
              fr_put_all(fd >= 0 ? fd : own, data, length) == length;
    if (!ok) why = errno;
    if (own >= 0) close(own);
    return ok ? FR_OK : cannot(path, why, err);
}

static fr_status collect(const char *data, size_t length, struct fr_error *err) {
    struct fr_text *out = &fr_collecting()->out;
    fr_text_add(out, data, length);
    return out->failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory") : FR_OK;
}

/* On the disk before it takes the old one's name; file systems that know no fsync say EINVAL. */
static bool flush(int fd) {
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOSYS || errno == ENOTSUP;
}

/* The new name too: a folder that cannot be opened for that holds a whole file all the same. */
static void flush_folder(const char *path) {
    char folder[FR_TEMPORARY_PATH_B];
    snprintf(folder, sizeof folder, "%.*s.", (int)fr_folder_length(path), path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) fsync(fd), close(fd);
}

/* Files that are whole and wait for the end of the command to take their names. */
enum { WAITING_MAX = 60 }; /* as many as are listed to be removed (temporary.c), but a few */
static struct {
    bool holding;
    int n;
    struct {
        char *temporary, *target;
    } file[WAITING_MAX];
} waiting;

/* @return whether both names were taken over: they are freed when the file has its name */
static bool wait_for_release(char *temporary, const char *target) {
    if (!waiting.holding || waiting.n == WAITING_MAX) return false;
    char *copy = fr_strdup(target);
    if (!copy) return false;
    waiting.file[waiting.n].temporary = temporary;
    waiting.file[waiting.n++].target = copy;
    return true;
}

void fr_file_hold(void) { waiting.holding = true; }

/* No memory is asked for here: nothing but the disk can come between two outputs. */
fr_status fr_file_release(struct fr_error *err) {
    fr_status status = FR_OK;
    for (int i = 0; i < waiting.n; i++) {
        char *temporary = waiting.file[i].temporary, *target = waiting.file[i].target;
        if (status == FR_OK && fr_temporary_become(temporary, target) != 0)
            status = cannot(target, errno, err);
        if (status == FR_OK)
            flush_folder(target);
        else
            fr_temporary_remove(temporary);
        free(temporary);
        free(target);
    }
    waiting.n = 0;
    return status;
}

void fr_file_drop(void) {
    for (int i = 0; i < waiting.n; i++) {
        fr_temporary_remove(waiting.file[i].temporary);
        free(waiting.file[i].temporary);
        free(waiting.file[i].target);
    }
    waiting.n = 0;
}

/* The mode of a file that is replaced, and its owner where we may; else what umask leaves. */
static bool take_mode(int fd, const struct stat *old) {
    mode_t mask = umask(0);
    umask(mask);
    if (old && (old->st_uid != geteuid() || old->st_gid != getegid()))
        if (fchown(fd, old->st_uid, old->st_gid) != 0) errno = 0;
    return fchmod(fd, old ? old->st_mode & 0777 : 0666 & ~mask) == 0;
}

static fr_status replace(const char *path, const struct stat *old, bool last, const char *data,
                         size_t length, struct fr_error *err) {
    struct fr_text temporary = {0};
    fr_text_addf(&temporary, "%.*s.forerun-XXXXXX", (int)fr_folder_length(path), path);
    if (temporary.failed) return fr_fail(err, FR_ERR_NOMEM, path, "out of memory");
    int fd = fr_temporary_file(temporary.data);
    bool ok =
        fd >= 0 && fr_put_all(fd, data, length) == length && take_mode(fd, old) && flush(fd);
    int why = errno;
    if (fd >= 0 && close(fd) != 0 && ok) ok = false, why = errno;
    if (ok && last && wait_for_release(temporary.data, path)) return FR_OK;
    if (ok && fr_temporary_become(temporary.data, path) != 0) ok = false, why = errno;
    if (ok) flush_folder(path);
    if (!ok && fd >= 0) fr_temporary_remove(temporary.data);
    fr_text_free(&temporary);
    return ok ? FR_OK : cannot(path, why, err);
}

static fr_status write_file(const char *path, bool last, const char *data, size_t length,
                            struct fr_error *err) {
    if (strcmp(path, "-") == 0 && fr_collecting()) return collect(data, length, err);
    if (strcmp(path, "-") == 0)
        return write_through("<stdout>", STDOUT_FILENO, data, length, err);
    struct stat info, own;
    char *target = NULL;
    FR_TRY(fr_file_target(path, &target, err));
    bool exists = stat(path, &info) == 0,
         named = lstat(target, &own) == 0 && S_ISREG(own.st_mode);
    int fd = exists ? open_already(&info) : -1;
    fr_status status = FR_OK;
    if (exists && S_ISDIR(info.st_mode))
        status = fr_fail(err, FR_ERR_IO, path, "is a directory, not a file");
    else if (fd >= 0 || (exists && !S_ISREG(info.st_mode)))
        status = write_through(path, fd, data, length, err);
    else
        status = replace(target, named ? &own : NULL, last, data, length, err);
    free(target);
    return status;
}

fr_status fr_file_write(const char *path, const char *data, size_t length,
                        struct fr_error *err) {
    return write_file(path, false, data, length, err);
}

fr_status fr_file_write_last(const char *path, const char *data, size_t length,
                             struct fr_error *err) {
    return write_file(path, true, data, length, err);
}

/* Check what must be writable: the folder of a file, and the file or device itself if it is
 * there. */
fr_status fr_file_check_writable(const char *path, struct fr_error *err) {
    if (strcmp(path, "-") == 0) return FR_OK;
    if (!*path) return fr_fail(err, FR_ERR_IO, path, "an empty name is no file");
    struct stat info;
    bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return fr_fail(err, FR_ERR_IO, path, "is a directory, not a file");
    char *target = NULL;
    struct fr_text folder = {0};
    FR_TRY(fr_file_target(path, &target, err));
    fr_text_addf(&folder, "%.*s.", (int)fr_folder_length(target), target);
    bool memory = !folder.failed;
    bool ok = memory && (!exists || access(path, W_OK) == 0) &&
              ((exists && !S_ISREG(info.st_mode)) || access(folder.data, W_OK) == 0);
    int why = errno;
    fr_text_free(&folder);
    free(target);
    if (!memory) return fr_fail(err, FR_ERR_NOMEM, path, "out of memory");
    return ok ? FR_OK : cannot(path, why, err);
}

/* Which file a path leads to.  One that does not exist yet is its folder and its name. */
struct identity {
    struct stat info;
    char *target;
    bool exists;
};

static bool identify(const char *path, struct identity *who) {
    who->target = NULL;
    who->exists = stat(path, &who->info) == 0;
    if (who->exists) return S_ISREG(who->info.st_mode);
    struct fr_text folder = {0};
    if (fr_file_target(path, &who->target, NULL) == FR_OK)
        fr_text_addf(&folder, "%.*s.", (int)fr_folder_length(who->target), who->target);
    bool known = who->target && !folder.failed && stat(folder.data, &who->info) == 0;
    fr_text_free(&folder);
    return known;
}

bool fr_file_same(const char *a, const char *b) {
    struct identity one = {.target = NULL}, other = {.target = NULL};
    bool alike = identify(a, &one) && identify(b, &other) && one.exists == other.exists &&
                 same(&one.info, &other.info) &&
                 (one.exists || strcmp(one.target + fr_folder_length(one.target),
                                       other.target + fr_folder_length(other.target)) == 0);
    free(one.target);
    free(other.target);
    return alike;
}

bool fr_file_exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

bool fr_file_holds(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
}
