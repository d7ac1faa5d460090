/** @file
 *  At which link rate the choice changes: the rate of one network level goes up or down, all else stays,
 *  until another plan is best, or another method.
 *
 *  Priced again are the plans that the search kept: its first ones, the best of each method, the best exact one, and its Pareto front,
 *  FR_CROSSOVER_PLANS at most.  From the rate as it is one steps outward by 2 up to FR_SWITCH_FAR times, either way;
 *  the first step where the best is another is narrowed by bisection to one in 10^3.  A change back and forth within
 *  one step is not seen.  A lossy plan has to be better than an exact one by the noise of the choice
 *  (fr_choice_value).  Where a cluster's collectives are fitted as c1 log2 p + c2 m, the outermost level's factor
 *  divides c2.  Other fits know no link, and stay. */
#ifndef FR_SEARCH_CROSSOVER_H
#define FR_SEARCH_CROSSOVER_H

#include "search/search.h"

enum { FR_CROSSOVER_PLANS = 24, FR_CROSSOVERS_MAX = 4 * FR_LEVEL_MAX };
#define FR_SWITCH_FAR 64.0

struct fr_crossover {
    int level;
    bool method;          /**< another method, not merely another plan */
    double factor;        /**< of the level's rate at which both are as good */
    double rate_B_per_s;  /**< that rate of one link */
    struct fr_outcome to; /**< best beyond it, as priced there */
};

/** Fill @p s[FR_CROSSOVERS_MAX]: of each level the nearest change of plan below and above, and of method where
 *  that is another one.  @return how many; 0 also where clusters or models are varied. */
int fr_crossovers_find(const struct fr_job *job, const struct fr_space *space,
                       const struct fr_search_options *options,
                       const struct fr_search_result *result, struct fr_crossover *s);

#endif
