#include "trust/runs/peak.h"

#include <math.h>
#include <stdio.h>

#include "models/outcome/rates.h"

double fr_run_peak_share(const struct fr_run *run) {
    if (!run->cluster || !(run->measured_s > 0)) return NAN;
    const struct fr_job job = {
        .cluster = *run->cluster, .workload = run->workload, .plan = run->plan};
    const struct fr_outcome out = {
        .time_s = run->measured_s, .plan = run->plan, .ranks = fr_plan_ranks(&run->plan)};
    return fr_rates_of(&job, &out).mfu;
}

void fr_runs_drop_impossible(struct fr_runs *runs) {
    int kept = 0;
    for (int i = 0; i < runs->count; i++) {
        struct fr_run run = runs->items[i];
        double share = fr_run_peak_share(&run);
        if (!(share > 1)) {
            runs->items[kept++] = run;
            continue;
        }
        if (!runs->skipped[FR_RUN_IMPOSSIBLE]++)
            snprintf(runs->impossible, sizeof runs->impossible,
                     "%.60s: %.6g s would be %.0f %% of the peak of %lld devices", run.id,
                     run.measured_s, 100 * share, (long long)fr_plan_ranks(&run.plan));
        fr_run_free(&run);
    }
    runs->count = kept;
}
