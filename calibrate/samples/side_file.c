#include "calibrate/samples/side_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/journal/lock.h"
#include "base/temporary.h"

enum { RANDOM = 6, ATTEMPTS = 100 };

/* Where the file system knows no locks nobody can tell whose a file is: then it stays. */
static fr_lock take(int fd) { return fr_lock_take(fd, FR_LOCK_SIDE_FILE); }

static bool is_named(int fd, const char *path) {
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && lstat(path, &named) == 0 && S_ISREG(named.st_mode) &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

static void remove_unless_held(const char *path) {
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return;
    if (is_named(fd, path) && take(fd) == FR_LOCK_TAKEN) unlink(path);
    close(fd);
}

/* Remove files that begin as @p pattern does and have six characters more. */
static void remove_left_ones(const char *pattern) {
    const char *slash = strrchr(pattern, '/'), *name = slash ? slash + 1 : pattern;
    char folder[FR_SIDE_FILE_PATH_B], path[FR_SIDE_FILE_PATH_B];
    size_t length = strlen(name) - RANDOM;
    snprintf(folder, sizeof folder, "%.*s.", (int)(name - pattern), pattern);
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        if (strlen(e->d_name) != length + RANDOM || strncmp(e->d_name, name, length) != 0)
            continue;
        snprintf(path, sizeof path, "%.*s%s", (int)(name - pattern), pattern, e->d_name);
        remove_unless_held(path);
    }
    if (dir) closedir(dir);
}

/* Somebody who removes what is left may come between a file's making and its holding. */
static bool make(const char *pattern, struct fr_side_file *b) {
    for (int i = 0; i < ATTEMPTS; i++) {
        strcpy(b->path, pattern);
        b->fd = fr_temporary_file(b->path);
        if (b->fd < 0) break;
        if (take(b->fd) != FR_LOCK_HELD && is_named(b->fd, b->path)) return true;
        fr_side_file_remove(b);
    }
    *b->path = '\0';
    return false;
}

fr_status fr_side_file_make(const char *samples, const char *what, struct fr_side_file *b,
                            struct fr_error *err) {
    char pattern[FR_SIDE_FILE_PATH_B];
    int length = snprintf(pattern, sizeof pattern, "%s.%s-XXXXXX", samples, what);
    *b = (struct fr_side_file){.fd = -1};
    if (length > 0 && length < FR_SIDE_FILE_PATH_B) {
        remove_left_ones(pattern);
        if (make(pattern, b)) return FR_OK;
    }
    return fr_fail(err, FR_ERR_IO, samples, "no file can be made beside it to measure into");
}

void fr_side_file_remove(struct fr_side_file *b) {
    if (*b->path) fr_temporary_remove(b->path);
    if (b->fd >= 0) close(b->fd);
    *b = (struct fr_side_file){.fd = -1};
}
