/** @file
 *  A file beside the samples, of a command that measures something without touching them.
 *
 *  It is called SAMPLES.WHAT-XXXXXX, since ranks on other hosts write to it too and find it by name,
 *  and goes with the command.  One that was killed leaves it; the next command of the kind removes what
 *  nobody holds: whoever measures holds byte 2 of his file (keep.h). */
#ifndef FR_CALIBRATE_SAMPLES_SIDE_FILE_H
#define FR_CALIBRATE_SAMPLES_SIDE_FILE_H

#include "base/status.h"

enum { FR_SIDE_FILE_PATH_B = 4096 };

struct fr_side_file {
    char path[FR_SIDE_FILE_PATH_B]; /**< "": there is none */
    int fd;
};

/** Remove what killed commands left, and make one.  @p what: "check".
 *  @return FR_OK or FR_ERR_IO.  Remove it with fr_side_file_remove, also on error. */
fr_status fr_side_file_make(const char *samples, const char *what, struct fr_side_file *beside,
                            struct fr_error *err);
void fr_side_file_remove(struct fr_side_file *beside);

#endif
