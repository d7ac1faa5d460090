#include "studies/interval.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "models/outcome/energy.h"
#include "trust/interval.h"

void fr_paper_interval(const struct fr_job *job, struct fr_outcome *out) {
    struct fr_tune_result *known = fr_calloc(1, sizeof *known);
    if (known) {
        fr_interval_known(&job->cluster, job->workload.dtype, known);
        fr_interval_state(known, &job->workload, out);
    }
    free(known);
}

void fr_reproduce_time_interval(struct fr_reproduction *r, const struct fr_outcome *out,
                                double scale) {
    fr_reproduce_interval(r, out->low_s * scale, out->high_s * scale);
}

void fr_reproduce_energy_interval(struct fr_reproduction *r, const struct fr_cluster *cluster,
                                  const struct fr_outcome *out, double scale) {
    double low_J = NAN, high_J = NAN;
    fr_energy_interval(cluster, out, &low_J, &high_J);
    fr_reproduce_interval(r, low_J * scale, high_J * scale);
}
