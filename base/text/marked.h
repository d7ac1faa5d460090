/** @file
 *  A part of a hand-written file that a program writes: what stands between two marks.
 *
 *      <!-- NAME: begin -->
 *      ...
 *      <!-- NAME: end -->
 */
#ifndef FR_BASE_TEXT_MARKED_H
#define FR_BASE_TEXT_MARKED_H

#include "base/status.h"
#include "base/text.h"

/** The text between the marks @p name of @p path.
 *  @param[out] part  to be freed by the caller
 *  @return FR_OK; FR_ERR_INPUT where the file or the marks are missing; FR_ERR_NOMEM. */
fr_status fr_marked_read(const char *path, const char *name, struct fr_text *part,
                         struct fr_error *err);

/** Put @p part there; the rest of the file keeps its bytes.
 *  @return as fr_marked_read, or FR_ERR_IO. */
fr_status fr_marked_write(const char *path, const char *name, const char *part,
                          struct fr_error *err);

#endif
