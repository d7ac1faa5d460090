/** @file
 *  Functions for every writer of files. */
#ifndef FR_BASE_FILE_PUT_H
#define FR_BASE_FILE_PUT_H

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/** Write all of @p length bytes: a short write is gone on with, an interrupted one done again.
 *  @return bytes that are written; fewer than @p length: errno says why */
static inline size_t fr_put_all(int fd, const char *bytes, size_t length) {
    size_t done = 0;
    while (done < length) {
        ssize_t put = write(fd, bytes + done, length - done);
        if (put < 0 && errno == EINTR) continue;
        if (put == 0) errno = ENOSPC;
        if (put <= 0) break;
        done += (size_t)put;
    }
    return done;
}

/** Bytes of the folder in @p path, 0 or with a slash at its end. */
static inline size_t fr_folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

#endif
