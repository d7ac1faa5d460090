/** @file
 *  Whole files in and out.  Reading has a limit; writing is all or nothing. */
#ifndef FR_BASE_FILE_H
#define FR_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/** Largest input file that is read whole [B]. */
#define FR_FILE_MAX_B ((size_t)256 << 20)

/** Read @p path whole; "-" is standard input, which is refused to a thread that collects (base/file/collect.h).  A directory, a
 *  device that never ends or a file over @p max_B is refused.  The writer of a named pipe is waited for.
 *  @param[out] data  NUL-terminated, to be freed by the caller; untouched on error.
 *  @return FR_OK, FR_ERR_INPUT (with the path as place) or FR_ERR_NOMEM. */
fr_status fr_file_read(const char *path, size_t max_B, char **data, size_t *length,
                       struct fr_error *err);

/** The text read from standard input, which may be read again; NULL: nothing was read, or over 16
 *  MiB. */
const char *fr_file_standard_head(size_t *length);

/** Write @p path through a temporary file beside it and a rename, so that a reader sees the old
 *  file or the new one, never a part, also after a power cut (fsync).  "-" is standard output, or what
 *  the thread collects.  A file that is replaced passes on its mode.  A symbolic link stays and its
 *  target is replaced, unless another user put the link into a shared folder (base/file/links.h).  Devices, pipes and
 *  /dev/stdout are written as they are.
 *  @return FR_OK or FR_ERR_IO (the old file, if any, is untouched). */
fr_status fr_file_write(const char *path, const char *data, size_t length,
                        struct fr_error *err);

/** The same for an output of a command: after fr_file_hold the file is written whole, but takes its
 *  name in fr_file_release, so that a command that fails replaces none of its outputs.  Not to be
 *  read back before. */
fr_status fr_file_write_last(const char *path, const char *data, size_t length,
                             struct fr_error *err);

/** From now on outputs wait (of the process, as temporaries do): for main. */
void fr_file_hold(void);
/** The outputs that wait take their names.  @return FR_OK or FR_ERR_IO */
fr_status fr_file_release(struct fr_error *err);
/** Those that wait are removed: the command failed. */
void fr_file_drop(void);

/** Can @p path be created or replaced?  Asked before long work starts, so that its result is
 *  not lost for a misspelt folder.  @return FR_OK or FR_ERR_IO. */
fr_status fr_file_check_writable(const char *path, struct fr_error *err);

/** Do both names lead to one regular file, through whatever links?  For files that do not
 *  exist yet: would they?  Pipes and devices are nobody's. */
bool fr_file_same(const char *a, const char *b);

bool fr_file_exists(const char *path);
/** Is it a regular file with something in it? */
bool fr_file_holds(const char *path);

#endif
