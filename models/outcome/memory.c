#include "models/outcome/memory.h"

#include <math.h>

#include "models/job/job.h"

bool fr_memory_interval(const struct fr_job *job, const struct fr_outcome *out, double *low_B,
                        double *high_B) {
    double reach = exp(FR_MEMORY_REACH * FR_MEMORY_SPREAD);
    *low_B = *high_B = NAN;
    if (job->workload.transformer.layers == 0 || !isfinite(out->parameters)) return false;
    *low_B = out->memory_peak_B / reach;
    *high_B = out->memory_peak_B * reach;
    return true;
}
