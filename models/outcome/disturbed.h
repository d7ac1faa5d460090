/** @file
 *  A job on its machine as that usually is: interrupted, with a plan's ranks waiting for each other.
 *
 *  First the plan is priced without interruptions.  Its compute time, divided by how often the ranks
 *  of a layer meet, is their chunk; replicas and stages meet once a step.  The share by which all
 *  computing is lengthened is
 *
 *      share = s(tp, chunk) + s(ranks / tp, step) - s(1, step)
 *
 *  with s of models/device/interruptions.h: what those of a layer cost each other, and what of that replicas
 *  add by waiting for the slowest.  Ranks meet four times in a layer where tp divides it (twice each
 *  way), else once a micro-batch in a pipeline, else once a step. */
#ifndef FR_MODELS_OUTCOME_DISTURBED_H
#define FR_MODELS_OUTCOME_DISTURBED_H

#include "models/job/job.h"

/** Must @p job be priced as fr_job_disturbed leaves it? */
static inline bool fr_job_is_disturbed(const struct fr_job *job) {
    return job->cluster.device.interruptions.every_s > 0;
}

/** Write to @p own a copy of @p job, sharing what it points to, in which the device is lengthened by
 *  that share and is not interrupted any more. */
void fr_job_disturbed(const struct fr_job *job, const struct fr_plan *plan, struct fr_job *own);

#endif
