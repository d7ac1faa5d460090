/** @file
 *  How long a job of ours is waited for when a rank gives no sign of life. */
#ifndef FR_APP_PATIENCE_H
#define FR_APP_PATIENCE_H

#include "app/verb.h"
#include "base/duration.h"
#include "calibrate/measure/watch/wire.h"

#define FR_OPTION_PATIENCE                                                                     \
    {                                                                                          \
        "patience", "TIME",                                                                    \
            "without a sign of life or progress of a rank, or of the launcher, before the "    \
            "job is "                                                                          \
            "ended (default " FR_PATIENCE_TEXT ")",                                            \
            0                                                                                  \
    }

/** @param[out] patience_s  left as it is where the option is absent */
static inline fr_status fr_patience_read(const struct fr_args *args, double *patience_s,
                                         struct fr_error *err) {
    const char *text = fr_args_get(args, "patience");
    return text ? fr_duration_parse(text, "--patience", 1, 1e6, patience_s, err) : FR_OK;
}

#endif
