#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

static fr_status read_all(int fd, const char *path, size_t max_B, struct fr_text *text,
                          struct fr_error *err) {
    char block[65536];
    for (;;) {
        ssize_t got = read(fd, block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return fr_fail(err, FR_ERR_INPUT, path, "cannot be read: %s", strerror(errno));
        if (got == 0) break;
        if (text->length + (size_t)got > max_B)
            return fr_fail(err, FR_ERR_INPUT, path, "is larger than the limit of %zu bytes",
                           max_B);
        fr_text_add(text, block, (size_t)got);
    }
    if (text->failed) return fr_fail(err, FR_ERR_NOMEM, path, "does not fit in memory");
    fr_text_add(text, "", 0);
    return FR_OK;
}

fr_status fr_file_read(const char *path, size_t max_B, char **data, size_t *length,
                       struct fr_error *err) {
    bool standard = strcmp(path, "-") == 0;
    struct stat info;
    struct fr_text text = {0};
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fr_fail(err, FR_ERR_INPUT, path, "cannot be opened: %s", strerror(errno));
    /* Opening a pipe must not wait for a writer that never comes; reading must wait for it. */
    if (!standard) (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    fr_status status = FR_OK;
    if (!standard && fstat(fd, &info) == 0 && S_ISDIR(info.st_mode))
        status = fr_fail(err, FR_ERR_INPUT, path, "is a directory, not a file");
    else
        status = read_all(fd, standard ? "<stdin>" : path, max_B, &text, err);
    if (!standard) close(fd);
    if (status != FR_OK) {
        fr_text_free(&text);
        return status;
    }
    *data = text.data;
    *length = text.length;
    return FR_OK;
}

static bool write_all(int fd, const char *data, size_t length) {
    while (length > 0) {
        ssize_t put = write(fd, data, length);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        data += put;
        length -= (size_t)put;
    }
    return true;
}

fr_status fr_file_write(const char *path, const char *data, size_t length,
                        struct fr_error *err) {
    if (strcmp(path, "-") == 0) {
        if (fflush(stdout) != 0 || !write_all(STDOUT_FILENO, data, length))
            return fr_fail(err, FR_ERR_IO, "<stdout>", "cannot be written: %s",
                           strerror(errno));
        return FR_OK;
    }
    struct stat info;
    bool special = stat(path, &info) == 0 && !S_ISREG(info.st_mode);
    if (special && S_ISDIR(info.st_mode))
        return fr_fail(err, FR_ERR_IO, path, "is a directory, not a file");
    if (special) { /* a device or pipe cannot be replaced by a rename */
        int device = open(path, O_WRONLY | O_CLOEXEC);
        bool ok = device >= 0 && write_all(device, data, length);
        int why = errno;
        if (device >= 0) close(device);
        return ok ? FR_OK
                  : fr_fail(err, FR_ERR_IO, path, "cannot be written: %s", strerror(why));
    }

    struct fr_text temporary = {0};
    fr_text_addf(&temporary, "%s.XXXXXX", path);
    if (temporary.failed) return fr_fail(err, FR_ERR_NOMEM, path, "out of memory");
    mode_t mask = umask(0);
    umask(mask);
    int fd = mkstemp(temporary.data);
    bool ok = fd >= 0 && write_all(fd, data, length) && fchmod(fd, 0666 & ~mask) == 0;
    int why = errno;
    if (fd >= 0 && close(fd) != 0 && ok) {
        ok = false;
        why = errno;
    }
    if (ok && rename(temporary.data, path) != 0) {
        ok = false;
        why = errno;
    }
    if (!ok && fd >= 0) unlink(temporary.data);
    fr_text_free(&temporary);
    return ok ? FR_OK : fr_fail(err, FR_ERR_IO, path, "cannot be written: %s", strerror(why));
}

fr_status fr_file_check_writable(const char *path, struct fr_error *err) {
    if (strcmp(path, "-") == 0) return FR_OK;
    if (!*path) return fr_fail(err, FR_ERR_IO, path, "an empty name is no file");
    struct stat info;
    bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return fr_fail(err, FR_ERR_IO, path, "is a directory, not a file");
    struct fr_text place = {0}; /* what must be writable: the folder, or the device itself */
    const char *slash = strrchr(path, '/');
    if (exists && !S_ISREG(info.st_mode))
        fr_text_addf(&place, "%s", path);
    else
        fr_text_addf(&place, "%.*s/.", slash ? (int)(slash - path) : 1, slash ? path : ".");
    bool ok = !place.failed && access(place.data, W_OK) == 0;
    int why = errno;
    fr_text_free(&place);
    return ok ? FR_OK : fr_fail(err, FR_ERR_IO, path, "cannot be written: %s", strerror(why));
}

bool fr_file_exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}
