/** @file
 *  Work that may crash, done in a child: libraries that trust their input.
 *
 *  The child makes its text, the parent takes it over; where the child is ended by a signal or
 *  takes longer than a minute, the parent lives on and says what was being read. */
#ifndef FR_BASE_ISOLATED_H
#define FR_BASE_ISOLATED_H

#include "base/status.h"
#include "base/text.h"

typedef fr_status fr_isolated_work(void *context, struct fr_text *text, struct fr_error *err);

/** Run @p work on @p context and append to @p text what it wrote.
 *  @param reader, where  the library and what it reads, for the message: "libhwloc", the file
 *  @return what @p work returned; FR_ERR_INPUT when it crashed or did not end, FR_ERR_EXTERNAL
 *          when no child can be made, FR_ERR_NOMEM. */
fr_status fr_isolated(fr_isolated_work *work, void *context, const char *reader,
                      const char *where, struct fr_text *text, struct fr_error *err);

#endif
