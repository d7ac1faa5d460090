/** @file
 *  A file that somebody else is writing: what came since the last look.
 *
 *  Progress is waited for with inotify, on the file and on its folder; where that says nothing (a file of another machine
 *  on a shared file system) the file is looked at twice a second.  A file that is replaced by another of its name
 *  (rotation) is read to its end, then the new one from its beginning; one that becomes shorter is read from its beginning
 *  again.  A file that is not there yet is waited for.  "-" is standard input, read until it ends. */
#ifndef FR_BASE_FILE_FOLLOW_H
#define FR_BASE_FILE_FOLLOW_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"
#include "base/text.h"

struct fr_follow {
    const char *path;
    int file, notify; /**< descriptors; -1: none */
    bool ended;       /**< standard input: nothing more can come */
    off_t at;
    double written_s; /**< when the file was last written, since 1970; 0: not known */
};

/** Begin; the file need not be there.  End with fr_follow_close, also on error. */
fr_status fr_follow_open(const char *path, struct fr_follow *f, struct fr_error *err);
/** Append to @p text what is there now and was not read yet; what comes of another file begins on a line of its own.
 *  @param[out] anew  where in @p text a new file begins; as it was where none does
 *  @return FR_OK, FR_ERR_INPUT or FR_ERR_IO */
fr_status fr_follow_read(struct fr_follow *f, struct fr_text *text, size_t *anew,
                         struct fr_error *err);
/** Return when something may have come, after a signal, or after @p longest_s. */
void fr_follow_wait(const struct fr_follow *f, double longest_s);
void fr_follow_close(struct fr_follow *f);

#endif
