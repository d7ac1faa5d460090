/** @file
 *  A result file is replaced only by a result that is at least as complete; otherwise the new one goes beside it, as
 *  FILE.partial. */
#ifndef FR_APP_RESULT_H
#define FR_APP_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum { FR_RESULT_PATH_B = 4096 };

/** A result on its way. */
struct fr_result_file {
    const char *path; /**< where the user wants it; "-": standard output */
    const char *
        lacks; /**< what it lacks that a file there has, as words of a sentence; NULL: nothing */
    char written[FR_RESULT_PATH_B]; /**< out: where it went */
};

/** Write @p data to its path (fr_file_write_last), or beside a file there that it is less complete than.
 *  @return FR_OK; FR_ERR_PARTIAL where it went beside, with a sentence that names it; FR_ERR_IO, FR_ERR_NOMEM */
fr_status fr_result_write(struct fr_result_file *result, const char *data, size_t length,
                          struct fr_error *err);

/** A job ended early (@p early, FR_OK where it did not), and what it left was written with @p written: what to end with, its
 *  sentence in @p err. */
fr_status fr_result_end(fr_status written, const struct fr_error *early, struct fr_error *err);

#endif
