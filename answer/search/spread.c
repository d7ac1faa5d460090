#include "answer/search/spread.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/file/collect.h"
#include "base/journal/journal.h"
#include "base/progress.h"
#include "base/text/version.h"

#define SCHEMA "forerun/search-checkpoint/2"
#define CHECKPOINT_MAX_B ((size_t)4 << 30)

/* ---- the file ------------------------------------------------------------------------------- */

static void put_header(struct fr_text *line, const struct fr_blocks *blocks) {
    struct fr_json_writer w = {.text = line};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", "search");
    fr_json_add_string(&w, "schema", SCHEMA);
    fr_json_add_string(&w, "version", fr_version);
    fr_json_add_integer(&w, "plans", blocks->space->size);
    fr_json_add_integer(&w, "blocks", blocks->n);
    fr_json_add_integer(&w, "block_plans", blocks->size);
    fr_json_end_object(&w);
    fr_text_add(line, "\n", 1);
}

/* Which plans a block is of stands in the line too: 'the first' and 'the last' of the space's numbers. */
static fr_status put_block(struct fr_spread_work *work, int64_t number, const char *found,
                           struct fr_error *err) {
    const struct fr_blocks *b = &work->blocks;
    int64_t first = number * b->size, end = first + b->size;
    struct fr_text line = {0};
    struct fr_json_writer w = {.text = &line};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", "block");
    fr_json_add_integer(&w, "block", number);
    fr_json_add_integer(&w, "first", first);
    fr_json_add_integer(&w, "last", (end < b->space->size ? end : b->space->size) - 1);
    fr_json_add_string(&w, "found", found);
    fr_json_end_object(&w);
    fr_text_add(&line, "\n", 1);
    return fr_journal_put(work->fd, work->spread->checkpoint, &line, err);
}

static fr_status check_header(struct fr_spread_work *work, const struct fr_json *root,
                              uint64_t question, struct fr_error *err) {
    FR_TRY(fr_journal_schema(root, SCHEMA, err));
    if (question == work->print) return FR_OK;
    return fr_fail(err, FR_ERR_INPUT, work->spread->checkpoint,
                   "is of another search: its cluster, model, plans or options differ, or the "
                   "program does; --force starts it anew");
}

struct reading {
    struct fr_spread_work *work;
    struct fr_journal journal;
    bool header;
};

static fr_status read_line(const struct fr_journal_line *line, void *context,
                           struct fr_error *err) {
    struct reading *r = context;
    struct fr_json node = fr_json_member(line->root, "found");
    const char *found = NULL;
    if (!r->header) {
        r->header = true;
        return check_header(r->work, line->root, r->journal.question, err);
    }
    FR_TRY(fr_json_text(&node, &found, err));
    fr_status status = fr_blocks_take(&r->work->blocks, found, err);
    return status == FR_ERR_INPUT
               ? fr_fail(err, status, line->place, "is no block of this search: %.60s", found)
               : status;
}

/* The file is put in its place whole, and held again: whoever reads it meanwhile has the old one or the new. */
static fr_status replace(struct fr_spread_work *work, const char *text, size_t length,
                         struct fr_error *err) {
    FR_TRY(fr_journal_write(work->spread->checkpoint, text, length, work->print, err));
    return fr_keep_hold_again(&work->keep, err);
}

/* The blocks that an earlier run left.  A line that does not verify is taken off the file, and its block searched again. */
static fr_status go_on(struct fr_spread_work *work, struct fr_error *err) {
    const char *path = work->spread->checkpoint;
    struct reading r = {.work = work};
    fr_status status = fr_journal_read(path, CHECKPOINT_MAX_B, &r.journal, err);
    if (status == FR_OK && !r.journal.sealed)
        status =
            fr_fail(err, FR_ERR_INPUT, path,
                    "line 1 is none of a checkpoint of this version; name another file, or "
                    "--force replaces it");
    if (status == FR_OK)
        status = fr_journal_each(r.journal.text, r.journal.length, path, read_line, &r, err);
    if (status == FR_OK && r.journal.n_dropped > 0)
        status = replace(work, r.journal.text, r.journal.length, err);
    fr_journal_free(&r.journal);
    work->found = work->blocks.n_done;
    return status;
}

static fr_status begin(struct fr_spread_work *work, struct fr_error *err) {
    struct fr_text line = {0};
    put_header(&line, &work->blocks);
    fr_status status = line.failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory")
                                   : replace(work, line.data, line.length, err);
    fr_text_free(&line);
    return status;
}

static fr_status open_file(struct fr_spread_work *work, struct fr_error *err) {
    const struct fr_spread *s = work->spread;
    struct stat there;
    if (!s->checkpoint || !s->reads) return FR_OK;
    if (stat(s->checkpoint, &there) == 0 && !S_ISREG(there.st_mode))
        return fr_fail(err, FR_ERR_USAGE, s->checkpoint, "is no file of lines");
    FR_TRY(fr_keep_take(s->checkpoint, &work->keep, err));
    bool is = fr_file_holds(s->checkpoint);
    if (is && !s->resume && !s->force)
        return fr_fail(
            err, FR_ERR_USAGE, s->checkpoint,
            "holds a search that has not ended; --resume goes on with it, --force starts "
            "it anew");
    FR_TRY(is && s->resume ? go_on(work, err) : begin(work, err));
    return fr_journal_open(s->checkpoint, &work->fd, err);
}

/* ---- the blocks ----------------------------------------------------------------------------- */

/* Every other second: how far, and how long it will take at the rate of this run. */
static void say(struct fr_spread_work *work) {
    char line[160];
    double now_s = fr_now_s();
    int64_t done = work->blocks.n_done - work->found, all = work->blocks.n - work->found;
    if (!work->spread->progress || now_s - work->printed_s < 2 || done == 0) return;
    work->printed_s = now_s;
    fr_progress_text("searching", done, all, now_s - work->start_s, line, sizeof line);
    fr_note("forerun: %s (block %" PRId64 " of %" PRId64 ")\n", line,
            work->blocks.n_done, work->blocks.n);
}

fr_status fr_spread_done(struct fr_spread_work *work, const char *line, struct fr_error *err) {
    int64_t before = work->blocks.n_done, number = 0;
    FR_TRY(fr_blocks_take(&work->blocks, line, err));
    if (work->fd >= 0 && work->blocks.n_done > before &&
        sscanf(line, "block %" SCNd64, &number) == 1)
        FR_TRY(put_block(work, number, line, err));
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
    work.keep.fd = -1;
    work.printed_s = work.start_s;
    fr_status status = fr_blocks_open(job, space, options, &work.blocks, err);
    if (status == FR_OK) work.print = fr_blocks_print(&work.blocks);
    if (status == FR_OK) status = work_through(&work, result, err);
    if (work.fd >= 0) close(work.fd);
    fr_keep_release(&work.keep);
    fr_blocks_free(&work.blocks);
    return status;
}
