/** @file
 *  A file that a command goes on with: JSON lines, each with its digest.
 *
 *      {"kind": "...", "schema": "...", "version": "...", ..., "question": "Q", "digest": "D"}
 *      {..., "digest": "D"}
 *
 *  D is FNV-1a (base/digest.h) over the bytes of the line before `, "digest"`, sixteen hexadecimal digits.  The first
 *  line is the header; Q is the digest of what the file answers: the search, the configurations, the machine.
 *
 *  A header with digest says that every line has one.  A line that does not verify, is cut, is empty or stands there twice is
 *  dropped and told (fr_journal_on_message), and whoever reads on measures or computes again what it held.  A header that does not
 *  verify is refused.  Files without digests, of older versions and of other people, are read as they are; a line with a
 *  digest is checked there too.
 *
 *  Readers see the lines without digests.  Who may write to a file is decided in keep.h. */
#ifndef FR_BASE_JOURNAL_JOURNAL_H
#define FR_BASE_JOURNAL_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/status.h"
#include "base/text.h"

/** What a file holds.  Free with fr_journal_free. */
struct fr_journal {
    char *text; /**< its lines without digests, NUL-terminated; one that was dropped is empty */
    size_t length;
    bool sealed;       /**< the header has a digest */
    uint64_t question; /**< of the header; 0 where it says none */
    int n_dropped;     /**< lines that did not verify, one that was cut included */
};

/** Read @p path ("-" is standard input), at most @p max_B of it, and check every line.
 *  @return FR_OK; FR_ERR_INPUT where it cannot be read or the header does not verify; FR_ERR_NOMEM. */
fr_status fr_journal_read(const char *path, size_t max_B, struct fr_journal *journal,
                          struct fr_error *err);
/** Check @p text of @p length bytes in place; @p journal takes it over, also on error. */
fr_status fr_journal_check(char *text, size_t length, const char *name,
                           struct fr_journal *journal, struct fr_error *err);
void fr_journal_free(struct fr_journal *journal);

/** One line, parsed. */
struct fr_journal_line {
    int number;        /**< from 1 */
    const char *place; /**< "FILE: line 7" */
    const char *text;  /**< of @p length bytes, without its end */
    size_t length;
    const struct fr_json *root;
};
typedef fr_status fr_journal_line_fn(const struct fr_journal_line *line, void *context,
                                     struct fr_error *err);
/** Parse each line of @p text that is not empty and hand it to @p each, until one fails.  A last line without an end is left
 *  out: its writer was killed.
 *  @return FR_OK; FR_ERR_INPUT where a line is no JSON, or where there is nothing but a line without an end; what @p each
 *          failed with. */
fr_status fr_journal_each(const char *text, size_t length, const char *name,
                          fr_journal_line_fn *each, void *context, struct fr_error *err);

/** Both: read @p path, and hand each line that verifies to @p each, whose @p context may hold the journal.
 *  @param[out] journal  free with fr_journal_free, also on error */
fr_status fr_journal_read_each(const char *path, size_t max_B, struct fr_journal *journal,
                               fr_journal_line_fn *each, void *context, struct fr_error *err);

/** Does the header say @p schema ("forerun/runs/1")?  @return FR_OK, or FR_ERR_INPUT naming both. */
fr_status fr_journal_schema(const struct fr_json *header, const char *schema,
                            struct fr_error *err);

/** Open @p path to append to it; what a killed writer left behind the last line's end goes.
 *  @return FR_OK or FR_ERR_IO */
fr_status fr_journal_open(const char *path, int *fd, struct fr_error *err);

/** Append the lines of @p text (each ended) to the file open as @p fd (O_APPEND), with their digests, and free @p lines.  A
 *  short write is gone on with; where the disk is full the file keeps its whole lines.
 *  @return FR_OK, FR_ERR_IO with what the system says, or FR_ERR_NOMEM. */
fr_status fr_journal_put(int fd, const char *path, struct fr_text *lines, struct fr_error *err);
/** The same of a header alone. */
fr_status fr_journal_put_header(int fd, const char *path, struct fr_text *line,
                                uint64_t question, struct fr_error *err);

/** Replace @p path by the lines of @p text, as fr_journal.text has them: the first is the header, empty ones are left out.
 *  As fr_file_write. */
fr_status fr_journal_write(const char *path, const char *text, size_t length, uint64_t question,
                           struct fr_error *err);

/** Who hears of dropped lines (of the process: main says so once; until then nobody is).
 *  @p place "FILE: line 7", @p why a clause. */
typedef void fr_journal_message_fn(const char *place, const char *why);
void fr_journal_on_message(fr_journal_message_fn *stated);

/** Say on standard error "PROGRAM: FILE: line 7 WHY". */
fr_journal_message_fn fr_journal_say;

#endif
