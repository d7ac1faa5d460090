#include "answer/spread.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/progress.h"

static const char schema[] = "forerun/search-checkpoint/1";

/* ---- the file ------------------------------------------------------------------------------- */

static fr_status write_line(struct fr_spread_work *work, const char *line,
                            struct fr_error *err) {
    struct fr_text whole = {0};
    const char *path = work->spread->checkpoint;
    fr_text_addf(&whole, "%s\n", line);
    bool written =
        !whole.failed && write(work->fd, whole.data, whole.length) == (ssize_t)whole.length;
    fr_text_free(&whole);
    return written ? FR_OK
                   : fr_fail(err, FR_ERR_IO, path, "cannot be written: %s", strerror(errno));
}

static fr_status write_head(struct fr_spread_work *work, struct fr_error *err) {
    char head[160];
    snprintf(head, sizeof head, "%s %016" PRIx64 " %" PRId64 " blocks of %" PRId64, schema,
             work->print, work->blocks.n, work->blocks.size);
    return write_line(work, head, err);
}

/* Lines that are whole; one that a kill has cut is passed over. */
static fr_status read_lines(struct fr_spread_work *work, char *text, size_t *whole_B,
                            struct fr_error *err) {
    const char *path = work->spread->checkpoint;
    char head[160];
    snprintf(head, sizeof head, "%s %016" PRIx64 " ", schema, work->print);
    if (strncmp(text, head, strlen(head)) != 0)
        return fr_fail(
            err, FR_ERR_INPUT, path,
            "is of another search: its cluster, model, plans or options differ, or the "
            "program does; --force starts it anew");
    char *at = strchr(text, '\n');
    int number = 1;
    *whole_B = at ? (size_t)(at + 1 - text) : 0;
    for (char *line = at ? at + 1 : NULL; line && *line; line = at + 1) {
        at = strchr(line, '\n');
        if (!at) break;
        *at = '\0';
        number++;
        fr_status status = fr_blocks_take(&work->blocks, line, err);
        if (status == FR_ERR_INPUT)
            return fr_fail(err, status, path, "line %d is no block of this search: %.60s",
                           number, line);
        FR_TRY(status);
        *whole_B = (size_t)(at + 1 - text);
    }
    return FR_OK;
}

/* What an earlier run left; a line that was cut is taken off the file. */
static fr_status go_on(struct fr_spread_work *work, struct fr_error *err) {
    const char *path = work->spread->checkpoint;
    char *text = NULL;
    size_t length = 0, whole_B = 0;
    FR_TRY(fr_file_read(path, (size_t)4 << 30, &text, &length, err));
    fr_status status = read_lines(work, text, &whole_B, err);
    free(text);
    if (status != FR_OK) return status;
    work->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (work->fd < 0 || ftruncate(work->fd, (off_t)whole_B) != 0)
        return fr_fail(err, FR_ERR_IO, path, "cannot be written: %s", strerror(errno));
    if (whole_B == 0) FR_TRY(write_head(work, err));
    work->found = work->blocks.n_done;
    return FR_OK;
}

static fr_status open_file(struct fr_spread_work *work, struct fr_error *err) {
    const struct fr_spread *s = work->spread;
    struct stat there;
    if (!s->checkpoint || !s->reads) return FR_OK;
    bool is = stat(s->checkpoint, &there) == 0 && there.st_size > 0;
    if (is && !S_ISREG(there.st_mode))
        return fr_fail(err, FR_ERR_USAGE, s->checkpoint, "is no file of lines");
    if (is && s->resume) return go_on(work, err);
    if (is && !s->force)
        return fr_fail(
            err, FR_ERR_USAGE, s->checkpoint,
            "holds a search that has not ended; --resume goes on with it, --force starts "
            "it anew");
    work->fd = open(s->checkpoint, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (work->fd < 0)
        return fr_fail(err, FR_ERR_IO, s->checkpoint, "cannot be written: %s", strerror(errno));
    return write_head(work, err);
}

/* ---- the blocks ----------------------------------------------------------------------------- */

/* Every other second: how far, and how long it will take at the rate of this run. */
static void say(struct fr_spread_work *work) {
    char line[160];
    double now_s = fr_now_s();
    int64_t done = work->blocks.n_done - work->found, all = work->blocks.n - work->found;
    if (!work->spread->progress || now_s - work->said_s < 2 || done == 0) return;
    work->said_s = now_s;
    fr_progress_text("searching", done, all, now_s - work->start_s, line, sizeof line);
    fprintf(stderr, "forerun: %s (block %" PRId64 " of %" PRId64 ")\n", line,
            work->blocks.n_done, work->blocks.n);
}

fr_status fr_spread_done(struct fr_spread_work *work, const char *line, struct fr_error *err) {
    int64_t before = work->blocks.n_done;
    FR_TRY(fr_blocks_take(&work->blocks, line, err));
    if (work->fd >= 0 && work->blocks.n_done > before) FR_TRY(write_line(work, line, err));
    say(work);
    return FR_OK;
}

static fr_status here(struct fr_spread_work *work, struct fr_error *err) {
    for (int64_t i = fr_blocks_next(&work->blocks, 0); i >= 0;
         i = fr_blocks_next(&work->blocks, i)) {
        struct fr_text line = {0};
        fr_status status = fr_blocks_search(&work->blocks, i, work->threads, &line, err);
        if (status == FR_OK) status = fr_spread_done(work, fr_text_get(&line), err);
        fr_text_free(&line);
        if (status != FR_OK) return status;
    }
    return FR_OK;
}

static fr_status work_through(struct fr_spread_work *work, struct fr_search_result *result,
                              struct fr_error *err) {
    const struct fr_spread *s = work->spread;
    FR_TRY(open_file(work, err));
    FR_TRY((s->hand_out ? s->hand_out : here)(work, err));
    struct fr_error why = {.status = FR_OK};
    fr_status status = fr_blocks_join(&work->blocks, result, &why);
    if (status == FR_ERR_INPUT && s->checkpoint)
        return fr_fail(err, status, s->checkpoint, "%s", why.detail);
    if (status != FR_OK && err) *err = why;
    FR_TRY(status);
    if (work->fd >= 0 && s->passing) unlink(s->checkpoint);
    return FR_OK;
}

fr_status fr_spread_search(const struct fr_spread *spread, const struct fr_job *job,
                           const struct fr_space *space,
                           const struct fr_search_options *options,
                           struct fr_search_result *result, struct fr_error *err) {
    struct fr_spread_work work = {
        .spread = spread, .threads = options->threads, .fd = -1, .start_s = fr_now_s()};
    work.said_s = work.start_s;
    fr_status status = fr_blocks_open(job, space, options, &work.blocks, err);
    if (status == FR_OK) work.print = fr_blocks_print(&work.blocks);
    if (status == FR_OK) status = work_through(&work, result, err);
    if (work.fd >= 0) close(work.fd);
    fr_blocks_free(&work.blocks);
    return status;
}
