#include "base/file/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PIECE_B = 1 << 16, PATH_B = 4096 };
static const double LOOK_S = 0.5; /* where inotify is silent */

static bool is_input(const struct fr_follow *f) { return strcmp(f->path, "-") == 0; }

static void watch_folder(const struct fr_follow *f) {
    char folder[PATH_B];
    const char *slash = strrchr(f->path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - f->path) + 1 : 1,
             slash ? f->path : ".");
    inotify_add_watch(f->notify, folder, IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE);
}

/* Open the file that has the name now.  One that is not there is no error. */
static fr_status open_now(struct fr_follow *f, struct fr_error *err) {
    struct stat s;
    f->at = 0;
    f->file = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (f->file < 0 && errno == ENOENT) return FR_OK;
    if (f->file < 0)
        return fr_fail(err, FR_ERR_INPUT, f->path, "cannot be opened: %s", strerror(errno));
    if (fstat(f->file, &s) != 0 || S_ISDIR(s.st_mode))
        return fr_fail(err, FR_ERR_INPUT, f->path, "is a folder, no log");
    if (!S_ISREG(s.st_mode))
        return fr_fail(err, FR_ERR_INPUT, f->path,
                       "is no file that grows; hand its text over as standard input, LOG -");
    if (f->notify >= 0) inotify_add_watch(f->notify, f->path, IN_MODIFY | IN_ATTRIB);
    return FR_OK;
}

fr_status fr_follow_open(const char *path, struct fr_follow *f, struct fr_error *err) {
    *f = (struct fr_follow){.path = path, .file = -1, .notify = -1};
    if (is_input(f)) {
        f->file = STDIN_FILENO;
        return FR_OK;
    }
    f->notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (f->notify >= 0) watch_folder(f);
    return open_now(f, err);
}

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Take all that the pipe holds now; more may come. */
static fr_status read_input(struct fr_follow *f, struct fr_text *text, struct fr_error *err) {
    char piece[PIECE_B];
    struct pollfd ready = {.fd = f->file, .events = POLLIN};
    while (!f->ended && poll(&ready, 1, 0) > 0) {
        ssize_t n = read(f->file, piece, sizeof piece);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) return FR_OK;
        if (n < 0) return fr_fail(err, FR_ERR_IO, "<stdin>", "%s", strerror(errno));
        f->ended = n == 0;
        if (n > 0) f->written_s = now_s();
        fr_text_add(text, piece, (size_t)n);
    }
    return FR_OK;
}

static fr_status read_rest(struct fr_follow *f, struct fr_text *text, struct fr_error *err) {
    char piece[PIECE_B];
    struct stat s;
    for (;;) {
        ssize_t n = read(f->file, piece, sizeof piece);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            return fr_fail(err, FR_ERR_IO, f->path, "cannot be read: %s", strerror(errno));
        if (n == 0) break;
        fr_text_add(text, piece, (size_t)n);
        f->at += n;
    }
    if (fstat(f->file, &s) == 0)
        f->written_s = (double)s.st_mtim.tv_sec + 1e-9 * (double)s.st_mtim.tv_nsec;
    return FR_OK;
}

static void begin_anew(struct fr_text *text, size_t *anew) {
    if (text->length > 0 && text->data[text->length - 1] != '\n') fr_text_add(text, "\n", 1);
    *anew = text->length;
}

fr_status fr_follow_read(struct fr_follow *f, struct fr_text *text, size_t *anew,
                         struct fr_error *err) {
    struct stat named, opened;
    if (is_input(f)) return read_input(f, text, err);
    if (f->file < 0) FR_TRY(open_now(f, err));
    if (f->file < 0) return FR_OK;
    if (fstat(f->file, &opened) == 0 && opened.st_size < f->at) {
        f->at = lseek(f->file, 0, SEEK_SET);
        begin_anew(text, anew);
    }
    FR_TRY(read_rest(f, text, err));
    if (stat(f->path, &named) != 0 || fstat(f->file, &opened) != 0) return FR_OK;
    if (named.st_ino == opened.st_ino && named.st_dev == opened.st_dev) return FR_OK;
    FR_TRY(read_rest(f, text, err)); /* what came between the last reading and the new name */
    close(f->file);
    begin_anew(text, anew);
    FR_TRY(open_now(f, err));
    return f->file < 0 ? FR_OK : read_rest(f, text, err);
}

void fr_follow_wait(const struct fr_follow *f, double longest_s) {
    struct pollfd ready = {.fd = is_input(f) ? f->file : f->notify, .events = POLLIN};
    char events[4096];
    double wait_s = is_input(f) || longest_s < LOOK_S ? longest_s : LOOK_S;
    if (wait_s < 0) wait_s = 0;
    if (wait_s > 3600) wait_s = 3600;
    poll(&ready, ready.fd >= 0 ? 1 : 0, (int)(1e3 * wait_s + 0.5));
    if (!is_input(f) && f->notify >= 0)
        while (read(f->notify, events, sizeof events) > 0) continue;
}

void fr_follow_close(struct fr_follow *f) {
    if (f->file > STDIN_FILENO) close(f->file);
    if (f->notify >= 0) close(f->notify);
    f->file = f->notify = -1;
}
