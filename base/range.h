/** @file
 *  Ranges as the command line takes them: "1..64" (every whole number), "1..64*2" (doubling),
 *  "8..64+8" (steps of eight), "a,b,c" (a list, whose entries may be ranges). */
#ifndef FR_BASE_RANGE_H
#define FR_BASE_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { FR_RANGE_MAX = 1000000 };

/** Parse @p text into ascending-as-written values >= @p min, each once.
 *  @param sizes   numbers may carry a size unit ("16MiB"); without one they are bytes
 *  @param where   for messages, e.g. "--ranks"
 *  @param[out] values  *count of them, freed by the caller
 *  @return FR_OK, FR_ERR_USAGE, or FR_ERR_NOMEM. */
fr_status fr_range_parse(const char *text, bool sizes, int64_t min, const char *where,
                         int64_t **values, size_t *count, struct fr_error *err);

#endif
