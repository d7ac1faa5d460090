#define _GNU_SOURCE /* F_OFD_SETLK */
#include "base/journal/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_B = 6, PIECES = 11, REGIONS = 16 }; /* 11: hosts have at most 64 bytes */

static off_t region(int purpose, int r) {
    return ((off_t)1 << 50) * (1 + REGIONS * purpose + r);
}

static bool lock_byte(int fd, off_t at) {
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    return fcntl(fd, F_OFD_SETLK, &range) == 0;
}

/* The place within a region that somebody else has locked; -1: none. */
static int64_t locked_place(int fd, int purpose, int r) {
    struct flock range = {.l_type = F_WRLCK,
                          .l_whence = SEEK_SET,
                          .l_start = region(purpose, r),
                          .l_len = (off_t)1 << 48};
    if (fcntl(fd, F_OFD_GETLK, &range) != 0 || range.l_type == F_UNLCK) return -1;
    return range.l_start - region(purpose, r);
}

/* Who we are; where the file system takes no such places, nobody learns it. */
static void spell(int fd, int purpose) {
    char host[PIECES * PIECE_B + 1] = "";
    if (gethostname(host, sizeof host - 1) != 0) *host = '\0';
    lock_byte(fd, region(purpose, 0) + getpid());
    for (int i = 0; i < PIECES && host[i * PIECE_B]; i++) {
        int64_t piece = 0;
        for (int k = 0; k < PIECE_B; k++)
            piece = piece << 8 | (unsigned char)host[i * PIECE_B + k];
        lock_byte(fd, region(purpose, 1 + i) + piece);
    }
}

fr_lock fr_lock_take(int fd, int purpose) {
    if (lock_byte(fd, purpose)) {
        spell(fd, purpose);
        return FR_LOCK_TAKEN;
    }
    return errno == EAGAIN || errno == EACCES ? FR_LOCK_HELD : FR_LOCK_NONE;
}

const char *fr_lock_holder(int fd, int purpose, char out[FR_LOCK_HOLDER_B]) {
    char host[PIECES * PIECE_B + 1] = "";
    int64_t process = locked_place(fd, purpose, 0);
    for (int i = 0; i < PIECES; i++) {
        int64_t piece = locked_place(fd, purpose, 1 + i);
        if (piece < 0) break;
        for (int k = 0; k < PIECE_B; k++)
            host[i * PIECE_B + k] = (char)(piece >> 8 * (PIECE_B - 1 - k) & 0xff);
    }
    if (process < 0)
        snprintf(out, FR_LOCK_HOLDER_B, "another process");
    else
        snprintf(out, FR_LOCK_HOLDER_B, "process %lld on host %s", (long long)process,
                 *host ? host : "(no name)");
    return out;
}
