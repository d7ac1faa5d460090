/** @file
 *  Measurements cost time that nobody gets back: a file of them is not replaced unasked, and two
 *  commands do not write to one at once.
 *
 *  A command that measures or searches for minutes holds the file, and the rank of a job that appends samples
 *  holds it beside its command: two locks of lock.h.  Where a file system carries none nobody is refused. */
#ifndef FR_BASE_JOURNAL_KEEP_H
#define FR_BASE_JOURNAL_KEEP_H

#include <stdbool.h>

#include "base/status.h"

/** May measurements be written to @p path?  A file that holds something is only gone on with
 *  (@p resume) or replaced because the user said so (@p force).
 *  @return FR_OK; FR_ERR_USAGE with a sentence that names both options; FR_ERR_IO when it
 *          cannot be written at all. */
fr_status fr_keep_measurements(const char *path, bool resume, bool force, struct fr_error *err);

/** A file that this command alone writes to, with the jobs that it starts. */
struct fr_keep {
    const char *path;
    int fd; /**< -1: nothing is held */
};

/** Hold @p path, which is created where there is none.
 *  @return FR_OK; FR_ERR_IO when another command holds it, with its process and host.  Release with fr_keep_release, also on
 *          error. */
fr_status fr_keep_take(const char *path, struct fr_keep *keep, struct fr_error *err);
/** The same, then ask fr_keep_measurements.  @return as these */
fr_status fr_keep_hold(const char *path, bool resume, bool force, struct fr_keep *keep,
                       struct fr_error *err);
/** The same of a file that was replaced by fr_file_write, whose new self nobody holds yet. */
fr_status fr_keep_hold_again(struct fr_keep *keep, struct fr_error *err);
/** An empty file goes: nothing came of it. */
void fr_keep_release(struct fr_keep *keep);

/** How long a job may take to end whose launcher was killed. */
#define FR_KEEP_KILLED_S 10.0
/** Hold @p fd for a rank that appends to it; another one is waited for @p patience_s.  @return FR_OK or FR_ERR_IO. */
fr_status fr_keep_append(int fd, const char *path, double patience_s, struct fr_error *err);

#endif
