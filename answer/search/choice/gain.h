/** @file
 *  What does the best found gain over a plan of the user's, and how sure is that?
 *
 *  With g = ln(time of the user's plan / time of the best), for as many samples, v the variance of the difference of their
 *  errors (fr_odds_pair), e = ln(predicted / measured) of the user's plan,
 *
 *      anybody's plan    mean g                  deviation sqrt(v)
 *      a measured one    mean g - (1 - rho) e    deviation min(0.08, sqrt(v))
 *      P(faster) = Phi(mean / deviation),   gain = exp(mean) - 1,   90 %: exp(mean +- 1.645 deviation) - 1
 *
 *  rho is the share of our error on that plan which we make of the best, too: 0.35 by regression over groups of measured
 *  plans (0.22 to 0.50 with a source left out; 0.08 is the model error of such gains, root mean square), and of plans that
 *  are alike 1 - v / (2 x 0.05^2) where that is more.
 *  A plan that experts tuned by measuring is the best of many: gains claimed below 15 % over the best of eight measured
 *  plans were none in the mean, from 15 to 30 % on they held in 59 to 88 of 100.  So over it nothing below 15 % is
 *  claimed, and no probability.  Below 2 % either way one is as good as the other. */
#ifndef FR_ANSWER_SEARCH_CHOICE_GAIN_H
#define FR_ANSWER_SEARCH_CHOICE_GAIN_H

#include "models/job/job.h"
#include "models/outcome/outcome.h"

#define FR_GAIN_RHO 0.35
#define FR_GAIN_SIMILAR 0.05
#define FR_GAIN_MEASURED_SD 0.08
#define FR_GAIN_AS_GOOD 0.02
#define FR_GAIN_OVER_TUNED 0.15

/** In order of fr_gain_claims. */
typedef enum {
    FR_CLAIM_UNKNOWN,
    FR_CLAIM_NONE,    /**< over a tuned plan, too little to be worth a word */
    FR_CLAIM_AS_GOOD, /**< within 2 % */
    FR_CLAIM_FASTER,
    FR_CLAIM_PERHAPS, /**< faster than a tuned plan, perhaps */
    FR_CLAIM_SLOWER   /**< the user's is faster */
} fr_claim;
extern const char *const fr_gain_claims[];

/** What is known of the user's plan beside its prediction. */
struct fr_gain_ask {
    double measured_s; /**< of its iteration; 0: not measured */
    bool tuned;        /**< it was tuned by measuring */
};

struct fr_gain {
    fr_claim claim;
    double gain, low,
        high; /**< samples a second above the user's, as a share, and its 90 %; NaN: not claimed */
    double faster; /**< probability that the best is faster; NaN: not known */
    double
        as_good; /**< probability that the user's plan is no slower, measurement aside; NaN not known */
};

/** rho, of two plans whose times' difference has @p deviation. */
double fr_gain_rho(double deviation);

/** Gain of @p best over @p user_plan; all NaN where one of them has no time. */
struct fr_gain fr_gain_over(const struct fr_job *job, const struct fr_outcome *best,
                            const struct fr_outcome *user_plan, const struct fr_gain_ask *ask);

/** It in words: "gains 12.1 % (3.0 to 21.9 %), faster with a probability of 98.2 %"; "" where nothing is known. */
void fr_gain_say(const struct fr_gain *gain, const struct fr_gain_ask *ask,
                 struct fr_text *out);

#endif
