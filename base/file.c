#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file/collect.h"
#include "base/text.h"

/* Standard input can be read once, so what it held is remembered: of the process, as the stream itself is. */
enum { REMEMBERED_MAX_B = 16 << 20 };
static char *standard_text;
static size_t standard_length;

static void remember(const struct fr_text *text) {
    if (standard_text || text->length > REMEMBERED_MAX_B) return;
    standard_text = fr_malloc(text->length + 1, 1);
    if (!standard_text) return;
    memcpy(standard_text, text->data, text->length + 1);
    standard_length = text->length;
}

const char *fr_file_standard_head(size_t *length) {
    *length = standard_length;
    return standard_text;
}

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

/* A named pipe that nobody has opened to write reads as if it were empty: its writer is waited for, as cat does. */
static void wait_for_writer(int fd) {
    struct pollfd coming = {.fd = fd, .events = POLLIN};
    while (poll(&coming, 1, -1) < 0 && errno == EINTR) continue;
}

fr_status fr_file_read(const char *path, size_t max_B, char **data, size_t *length,
                       struct fr_error *err) {
    bool standard = strcmp(path, "-") == 0;
    if (standard && fr_collecting())
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "\"-\" is standard input, which is the program's; name a file");
    struct stat info;
    struct fr_text text = {0};
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fr_fail(err, FR_ERR_INPUT, path, "cannot be opened: %s", strerror(errno));
    if (!standard) (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    bool known = !standard && fstat(fd, &info) == 0;
    fr_status status = FR_OK;
    if (known && S_ISFIFO(info.st_mode)) wait_for_writer(fd);
    if (known && S_ISDIR(info.st_mode))
        status = fr_fail(err, FR_ERR_INPUT, path, "is a directory, not a file");
    else if (standard && standard_text)
        fr_text_add(&text, standard_text, standard_length);
    else
        status = read_all(fd, standard ? "<stdin>" : path, max_B, &text, err);
    if (!standard) close(fd);
    if (standard && status == FR_OK) remember(&text);
    if (status != FR_OK) {
        fr_text_free(&text);
        return status;
    }
    *data = text.data;
    *length = text.length;
    return FR_OK;
}
