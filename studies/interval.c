#include "studies/interval.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "trust/interval.h"

void fr_paper_interval(const struct fr_job *job, struct fr_outcome *out) {
    struct fr_tune_result *known = fr_calloc(1, sizeof *known);
    if (known) {
        fr_interval_known(&job->cluster, job->workload.dtype, known);
        fr_interval_state(known, &job->workload, out);
    }
    free(known);
}
