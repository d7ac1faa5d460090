/* Lines with digests: appended, or a whole file. */
#define _GNU_SOURCE /* memrchr */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/file/links.h"
#include "base/file/put.h"
#include "base/journal/journal.h"
#include "base/journal/seal.h"

/* Half a line that is the end of the file goes. */
static void take_back(int fd, size_t written_B) {
    struct stat now;
    off_t end = lseek(fd, 0, SEEK_CUR), begin = end - (off_t)written_B;
    if (written_B == 0 || end < 0 || begin < 0 || fstat(fd, &now) != 0) return;
    if (!S_ISREG(now.st_mode) || now.st_size != end) return;
    if (ftruncate(fd, begin) != 0) return; /* it stays, and is dropped by whoever reads */
}

/* Where the last line that has an end ends. */
static off_t end_of_lines(int fd, off_t size) {
    char block[4096];
    while (size > 0) {
        off_t begin = size > (off_t)sizeof block ? size - (off_t)sizeof block : 0;
        ssize_t got = pread(fd, block, (size_t)(size - begin), begin);
        if (got != (ssize_t)(size - begin)) return -1;
        const char *end = memrchr(block, '\n', (size_t)got);
        if (end) return begin + (off_t)(end - block) + 1;
        size = begin;
    }
    return 0;
}

fr_status fr_journal_open(const char *path, int *fd, struct fr_error *err) {
    struct stat now;
    FR_TRY(fr_file_open_checked(path, O_RDWR | O_CREAT | O_APPEND, 0666, fd, err));
    if (fstat(*fd, &now) != 0 || !S_ISREG(now.st_mode)) return FR_OK;
    off_t end = end_of_lines(*fd, now.st_size);
    if (end < 0 || end == now.st_size || ftruncate(*fd, end) == 0) return FR_OK;
    int why = errno;
    close(*fd);
    *fd = -1;
    return fr_fail(err, FR_ERR_IO, path, "cannot be cut to whole lines: %s", strerror(why));
}

static void seal_lines(struct fr_text *out, const char *text, size_t length,
                       const uint64_t *question) {
    for (const char *at = text, *stop = text + length, *end; at < stop; at = end + 1) {
        end = memchr(at, '\n', (size_t)(stop - at));
        if (!end) break;
        if (end > at) {
            fr_seal_add(out, at, (size_t)(end - at), question);
            question = NULL;
        }
    }
}

static fr_status put(int fd, const char *path, struct fr_text *lines, const uint64_t *question,
                     struct fr_error *err) {
    struct fr_text sealed = {0};
    if (!lines->failed) seal_lines(&sealed, fr_text_get(lines), lines->length, question);
    bool memory = !lines->failed && !sealed.failed;
    size_t done = memory ? fr_put_all(fd, fr_text_get(&sealed), sealed.length) : 0;
    bool whole = memory && done == sealed.length;
    int why = errno;
    if (!whole) take_back(fd, done);
    fr_text_free(&sealed);
    fr_text_free(lines);
    if (!memory) return fr_fail(err, FR_ERR_NOMEM, path, "a line does not fit in memory");
    return whole ? FR_OK
                 : fr_fail(err, FR_ERR_IO, path,
                           "cannot be written: %s; it keeps its whole lines", strerror(why));
}

fr_status fr_journal_put(int fd, const char *path, struct fr_text *lines,
                         struct fr_error *err) {
    return put(fd, path, lines, NULL, err);
}

fr_status fr_journal_put_header(int fd, const char *path, struct fr_text *line,
                                uint64_t question, struct fr_error *err) {
    return put(fd, path, line, &question, err);
}

fr_status fr_journal_write(const char *path, const char *text, size_t length, uint64_t question,
                           struct fr_error *err) {
    struct fr_text sealed = {0};
    seal_lines(&sealed, text, length, &question);
    fr_status status = sealed.failed
                           ? fr_fail(err, FR_ERR_NOMEM, path, "does not fit in memory")
                           : fr_file_write(path, fr_text_get(&sealed), sealed.length, err);
    fr_text_free(&sealed);
    return status;
}
