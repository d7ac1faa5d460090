#include "answer/search/choice/gain.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "models/job/assume.h"
#include "trust/numbers/statistics.h"
#include "trust/odds.h"

const char *const fr_gain_claims[] = {"unknown", "none",   "as_good", "faster",
                                      "perhaps", "slower", NULL};

/* ln(time of mine / of best) for as many samples, what it may be off by, and what is predicted of mine. */
struct pair {
    double g, deviation, user_plan_s;
};

static bool compare(const struct fr_job *job, const struct fr_outcome *best,
                    const struct fr_outcome *user_plan, struct pair *pair) {
    const struct fr_run run = {.workload = job->workload, .plan = user_plan->plan};
    struct fr_interval of;
    if (!isfinite(user_plan->time_s) || !isfinite(best->time_s)) return false;
    struct fr_tune_result *known = fr_calloc(1, sizeof *known);
    if (!known) return false;
    fr_interval_known(&job->cluster, job->workload.dtype, known);
    fr_status status = fr_odds_pair(known, &job->workload, &user_plan->plan, &best->plan,
                                    &pair->g, &pair->deviation, NULL);
    fr_tune_interval(known, &run, &of);
    pair->user_plan_s = of.expected_s;
    pair->g += log((double)fr_job_batch(job, &best->plan) /
                   (double)fr_job_batch(job, &user_plan->plan));
    free(known);
    return status == FR_OK && isfinite(pair->g) && isfinite(pair->deviation);
}

/* Between identical plans nothing is uncertain but rounding. */
static double probability(double mean, double deviation) {
    if (deviation > 1e-5) return fr_odds_normal(mean / deviation);
    return fabs(mean) < 1e-9 ? 0.5 : mean > 0;
}

double fr_gain_rho(double deviation) {
    return fmax(FR_GAIN_RHO,
                1 - deviation * deviation / (2 * FR_GAIN_SIMILAR * FR_GAIN_SIMILAR));
}

/* What was measured of the user's plan is worth more than what is predicted of it. */
static void anchor(double measured_s, struct pair *pair) {
    pair->g -= (1 - fr_gain_rho(pair->deviation)) * log(pair->user_plan_s / measured_s);
    pair->deviation = fmin(pair->deviation, FR_GAIN_MEASURED_SD);
}

static fr_claim claim_of(const struct fr_gain *gain, bool tuned) {
    if (gain->gain <= -FR_GAIN_AS_GOOD) return FR_CLAIM_SLOWER;
    if (gain->gain < FR_GAIN_AS_GOOD) return FR_CLAIM_AS_GOOD;
    if (!tuned) return FR_CLAIM_FASTER;
    return gain->gain < FR_GAIN_OVER_TUNED ? FR_CLAIM_NONE : FR_CLAIM_PERHAPS;
}

struct fr_gain fr_gain_over(const struct fr_job *job, const struct fr_outcome *best,
                            const struct fr_outcome *user_plan, const struct fr_gain_ask *ask) {
    struct fr_gain gain = {FR_CLAIM_UNKNOWN, NAN, NAN, NAN, NAN, NAN};
    struct pair pair;
    bool tuned = ask->tuned && !(ask->measured_s > 0);
    if (!compare(job, best, user_plan, &pair)) return gain;
    gain.as_good = fabs(pair.g) < 1e-9 && pair.deviation < 1e-5
                       ? 1
                       : 1 - probability(pair.g, pair.deviation);
    if (ask->measured_s > 0) anchor(ask->measured_s, &pair);
    gain.gain = expm1(pair.g);
    gain.low = expm1(pair.g - FR_NORMAL_90 * pair.deviation);
    gain.high = expm1(pair.g + FR_NORMAL_90 * pair.deviation);
    gain.faster = probability(pair.g, pair.deviation);
    gain.claim = claim_of(&gain, tuned);
    if (tuned) gain.faster = NAN;
    if (gain.claim == FR_CLAIM_NONE) gain.gain = gain.low = gain.high = NAN;
    return gain;
}

void fr_gain_say(const struct fr_gain *gain, const struct fr_gain_ask *ask,
                 struct fr_text *out) {
    const char *since = ask->measured_s > 0 ? ", from its measured time" : "";
    if (gain->claim == FR_CLAIM_UNKNOWN) return;
    if (gain->claim == FR_CLAIM_NONE) {
        fr_text_addf(
            out,
            "no gain is claimed: over plans that were tuned by measuring, claims below "
            "%.0f %% do not hold",
            100 * FR_GAIN_OVER_TUNED);
        return;
    }
    if (gain->low == gain->high && gain->claim == FR_CLAIM_AS_GOOD) {
        fr_text_addf(out, "as good as the best: the same plan");
        return;
    }
    if (gain->claim == FR_CLAIM_AS_GOOD)
        fr_text_addf(out, "as good as the best: it would gain %.1f %% (%.1f to %.1f %%)%s",
                     100 * gain->gain, 100 * gain->low, 100 * gain->high, since);
    else if (gain->claim == FR_CLAIM_SLOWER)
        fr_text_addf(out, "faster than the best, which would lose %.1f %% (%.1f to %.1f %%)%s",
                     -100 * gain->gain, -100 * gain->high, -100 * gain->low, since);
    else
        fr_text_addf(out, "the best %sgains %.1f %% (%.1f to %.1f %%)%s",
                     gain->claim == FR_CLAIM_PERHAPS ? "perhaps " : "", 100 * gain->gain,
                     100 * gain->low, 100 * gain->high, since);
    if (isfinite(gain->faster))
        fr_text_addf(out, "; %s with a probability %s %.1f %%",
                     gain->claim == FR_CLAIM_SLOWER ? "the best is faster" : "faster",
                     gain->faster > 0.999   ? "above"
                     : gain->faster < 0.001 ? "below"
                                            : "of",
                     100 * fmin(0.999, fmax(0.001, gain->faster)));
    else
        fr_text_addf(out, "; over plans that were tuned by measuring such claims held in 59 to "
                          "88 of 100 cases");
}
