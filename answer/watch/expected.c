/* The prediction of a run that is watched, and what it is unsure of. */
#include <stdlib.h>

#include "answer/watch/watch.h"
#include "base/alloc.h"
#include "models/outcome/cost.h"
#include "trust/interval.h"
#include "trust/study.h"

static fr_watch_off off_of(int index) {
    if (index >= FR_KNOWN_SEEN) return FR_WATCH_MODEL;
    if (index >= FR_KNOWN_BEYOND) return FR_WATCH_COMPUTE;
    if (index >= FR_COEFFICIENT_MAX) return FR_WATCH_COMMUNICATION;
    if (fr_coefficients[index].place == FR_VALUE_LAUNCH) return FR_WATCH_HOST;
    switch (fr_coefficients[index].group) {
    case FR_GROUP_NETWORK:
        return FR_WATCH_COMMUNICATION;
    case FR_GROUP_HOST:
        return FR_WATCH_HOST;
    default:
        return FR_WATCH_COMPUTE;
    }
}

/* Terms below zero, of coefficients that are known together, count as none. */
static void share_variance(const struct fr_tune_result *known, const struct fr_run *run,
                           double share[FR_WATCH_UNSURE]) {
    double gradient[FR_KNOWN_MAX], sum = 0;
    const double spread = fr_tune_spread(known, run);
    fr_tune_gradient(known, run, gradient);
    for (int i = 0; i < FR_WATCH_UNSURE; i++) share[i] = 0;
    share[FR_WATCH_MODEL] = spread * spread;
    for (int i = 0; i < known->n_known; i++) {
        double term = 0;
        for (int k = 0; k < known->n_known; k++)
            term += known->covariance[i * known->n_known + k] * gradient[k];
        share[off_of(known->index[i])] += term * gradient[i];
    }
    for (int i = 0; i < FR_WATCH_UNSURE; i++) {
        if (!(share[i] > 0)) share[i] = 0;
        sum += share[i];
    }
    for (int i = 0; i < FR_WATCH_UNSURE && sum > 0; i++) share[i] /= sum;
}

fr_status fr_watch_expect(const struct fr_run *run, struct fr_watch_expected *e,
                          struct fr_error *err) {
    struct fr_tune_result *known = fr_calloc(1, sizeof *known);
    *e = (struct fr_watch_expected){
        .job = {.cluster = *run->cluster, .workload = run->workload, .plan = run->plan}};
    if (!known) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_interval_known(run->cluster, run->workload.dtype, known);
    fr_study_predict(known, &run, 1, 1, &e->scored);
    share_variance(known, run, e->share);
    fr_cost(&e->job, &e->job.plan, &e->out);
    free(known);
    return FR_OK;
}
