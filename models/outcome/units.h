/** @file
 *  Which units of the machine does a job not fill alike?
 *
 *  12 ranks on nodes of 8 sit as 8 + 4, and 160 on racks of which jobs take 64 of 72 as 2 x 64 + 32.  Groups
 *  of ranks that straddle such units are slower, so an answer names them. */
#ifndef FR_MODELS_OUTCOME_UNITS_H
#define FR_MODELS_OUTCOME_UNITS_H

#include "models/outcome/outcome.h"

/** Units of one level. */
struct fr_filled {
    const char *level; /**< its name, of the job's cluster */
    int64_t units;     /**< that the job has, > 1 */
    int64_t ranks;     /**< in each but the last */
    int64_t last;      /**< in that, <= ranks */
    int64_t holds;     /**< ranks that a unit has, >= ranks */
    int64_t
        equal; /**< in each, did all have as many (placement balanced); 0 where they do, or where
                            it would be less than half of a unit */
};

/** Levels of which the plan of @p out fills several units, not alike or not whole, innermost first.
 *  @return how many */
int fr_outcome_filled(const struct fr_job *job, const struct fr_outcome *out,
                      struct fr_filled filled[FR_LEVEL_MAX]);

#endif
