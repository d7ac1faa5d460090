/** @file
 *  Is a plan that loses information enough better than the best exact one to be chosen?
 *
 *      g     = ln (V / v)                              V, v: value of the exact, of the lossy plan (search/search.h)
 *      sd^2  = sd_time^2 + sd_iterations^2             what the two do not share
 *      P(the lossy plan wins) = Phi(g / sd)
 *      noise = sd
 *
 *  sd_time is of the difference of both predictions (fr_odds_pair): errors that the plans share cancel.  It stands for
 *  energy as well, which has no such model; energy times time has twice the deviation.  sd_iterations is of the ratio of iterations by a law of growth
 *  (models/plan/growth.h); 0 where iterations are measured, given or not counted.  A lossy plan is chosen where g is more
 *  than the noise, so where it wins with 84 %.  Otherwise the best exact plan is: it needs no proof that it learns. */
#ifndef FR_ANSWER_SEARCH_CHOICE_LOSSY_H
#define FR_ANSWER_SEARCH_CHOICE_LOSSY_H

#include "answer/search/search.h"

/** g and sd of a lossy plan against an exact one; false where one is not known. */
bool fr_lossy_against(const struct fr_searched *r, const struct fr_tune_result *known,
                      const struct fr_outcome *exact, const struct fr_outcome *lossy,
                      double *gain, double *deviation);

/** Put the best exact plan first where the best is lossy and gains no more than noise; r->within says so.
 *  r->options.noise becomes that of the first lossy plan, so that whoever asks for another choice asks as this does.
 *  @return FR_OK or FR_ERR_NOMEM */
fr_status fr_lossy_choose(struct fr_searched *r, struct fr_error *err);

/** State the probability that each listed lossy plan wins, where iterations are ranked.
 *  @return FR_OK or FR_ERR_NOMEM */
fr_status fr_lossy_state_wins(struct fr_searched *r, struct fr_error *err);

/** "exact: the best lossy plan, tp 8, ..., is 1.1 % less, and 2.9 % is noise"; nothing where none was passed over. */
void fr_lossy_say(const struct fr_searched *r, struct fr_text *words);

/** The member "within_noise" of the document, where a lossy plan was passed over. */
void fr_lossy_put(const struct fr_searched *r, struct fr_json_writer *w);

#endif
