/** @file
 *  Which plans of a ranked list differ in substance?
 *
 *  Near-ties are one answer.  The list is gone through from its best; a plan joins the first answer whose best is
 *      near:   distance <= 5 %, sqrt(v) without what two runs of one plan differ by (trust/effects/differences.h), and
 *      a tie:  ln(value / the best's) <= 1.645 sqrt(v), so that it is truly faster with 5 % or more;
 *  else it is an answer of its own.  A plan that loses information joins none that does not.  So each answer's best is the first of its plans, and no two answers' bests are near
 *  ties. */
#ifndef FR_ANSWER_SEARCH_CHOICE_FOLD_H
#define FR_ANSWER_SEARCH_CHOICE_FOLD_H

#include "models/outcome/outcome.h"
#include "trust/odds.h"

/** Distance below which plans may be one answer. */
#define FR_FOLD_DISTANCE 0.05

/** Bounds on the number of plans that are folded: at most so many of a list, at least so many
 *  of a short list. */
enum { FR_FOLD_MOST = FR_ODDS_PLANS_MAX, FR_FOLD_LEAST = 32 };

/** Plans to fold so that @p top answers are likely found; 0: the list is too long to be folded. */
size_t fr_fold_depth(size_t top);

struct fr_answer {
    size_t rank;               /**< of its best in the list, from 0 */
    size_t count;              /**< plans, its best included */
    double within;             /**< furthest that one is behind its best, as a share */
    struct fr_outcome outcome; /**< of its best */
    struct fr_odds odds;       /**< among all answers; zeros: not known */
    char varies[400]; /**< what its plans differ in: "chunks 7 to 12, either rank_order" */
};

struct fr_answers {
    struct fr_answer *items;
    int n;                /**< among which odds are */
    int shown;            /**< of these, as many as were asked for */
    int plans;            /**< of the list that were looked at */
    int of[FR_FOLD_MOST]; /**< the answer of each; -1: beyond the last that was asked for */
};

/** Odds are among so many answers at least, however few are shown: what is expected of the best does not hang on that. */
enum { FR_FOLD_ANSWERS = 10 };

/** Fold the first @p n plans (FR_FOLD_MOST at most) of a list, best first, into @p most answers at most, all shown.
 *  @param value  what ranked each
 *  @return FR_OK or FR_ERR_NOMEM.  Free with fr_answers_free, also on error. */
fr_status fr_answers_make(const struct fr_workload *model,
                          const struct fr_outcome *const *plans, const double *value, int n,
                          int most, struct fr_answers *answers, struct fr_error *err);
void fr_answers_free(struct fr_answers *answers);

/** Expected gain of running the first three answers and keeping the fastest, over running the
 *  first alone, as a share; NaN: not known. */
double fr_answers_tried(const struct fr_answers *answers);

#endif
