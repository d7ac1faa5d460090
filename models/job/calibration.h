/** @file
 *  What a cluster file says of the calibration that it comes from. */
#ifndef FR_MODELS_JOB_CALIBRATION_H
#define FR_MODELS_JOB_CALIBRATION_H

#include "base/json.h"
#include "base/text.h"

struct fr_calibration {
    bool oversubscribed; /**< measured with more ranks than cores: see the scheduler in it */
    char verdict[8];     /**< "PASS", "WARN", "FAIL"; "": not stated */
    char reason[320];    /**< the first of the verdict's */
    double held_out; /**< larger median error of products and collectives on what was held out,
                              relative; 0: not stated */
    double
        variation; /**< standard deviation of the logarithm of the machine's time for the same
                              work, while it was calibrated; 0: not stated */
};

/** Read the object "calibration" of a cluster file; members for people are passed over. */
fr_status fr_calibration_read(const struct fr_json *object, struct fr_calibration *calibration,
                              struct fr_error *err);

/** Does the file come from a calibration, by what it states of one? */
static inline bool fr_calibration_is_stated(const struct fr_calibration *calibration) {
    return calibration->verdict[0] || calibration->held_out > 0;
}

/** "from a calibration that failed: ...", or "" where nothing is to be said. */
void fr_calibration_tell(const struct fr_calibration *calibration, struct fr_text *text);

/** The member "calibration" of an answer, where a verdict was stated. */
void fr_calibration_put(const struct fr_calibration *calibration, struct fr_json_writer *w);

#endif
