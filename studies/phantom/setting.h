/** @file
 *  The networks of Seal et al. 2025, phantom parallelism, on preset frontier. */
#ifndef FR_STUDIES_PHANTOM_SETTING_H
#define FR_STUDIES_PHANTOM_SETTING_H

#include "models/outcome/cost.h"

/** What is varied around the preset: convention of m, the three fitted numbers, the network. */
struct fr_phantom_setting {
    struct fr_job job;
    double batch;
};

/** Outcome at a batch that need not be whole: a line between the two whole ones. */
struct fr_outcome fr_phantom_at(const struct fr_phantom_setting *s,
                                const struct fr_method *method, int64_t p, int64_t k);
/** The same with its interval. */
struct fr_outcome fr_phantom_stated(const struct fr_phantom_setting *s,
                                    const struct fr_method *method, int64_t p, int64_t k);

#endif
