/** @file
 *  A user's own plan beside others: what it costs, how far behind the best it is, and how likely it is
 *  as good. */
#ifndef FR_ANSWER_SEARCH_USER_PLAN_H
#define FR_ANSWER_SEARCH_USER_PLAN_H

#include "answer/search/choice/gain.h"
#include "models/job/job.h"
#include "models/outcome/outcome.h"

enum { FR_USER_PLANS_MAX = 32 };

struct fr_user_plan {
    char name[200]; /**< as the user named it */
    struct fr_plan plan;
    struct fr_plan_lists lists;
    struct fr_json_document *document;
    struct fr_outcome outcome; /**< with reasons where it cannot be */
    double slower;             /**< of the best, as a share of it; NaN where it has no price */
    double as_good;            /**< probability to be no slower than the best; NaN not known */
    struct fr_gain_ask ask;    /**< what the user says of it */
    struct fr_gain gain;       /**< of the best over it; unknown where none was ranked */
    int64_t faster;            /**< plans of a search that are better; -1: none was ranked */
};

/** Read plan @p name (a file, or the JSON itself) and price it for @p job.  dp follows from @p ranks
 *  where the plan leaves it open (0: it stays 1), the batch is the job's where it names none.
 *  @return FR_OK, also for a plan that cannot be (its outcome says why); FR_ERR_INPUT; FR_ERR_USAGE
 *  where it does not divide the ranks.  Free with fr_user_plan_free, also on error. */
fr_status fr_user_plan_read(const struct fr_job *job, const char *name, int64_t ranks,
                            struct fr_user_plan *user_plan, struct fr_error *err);
void fr_user_plan_free(struct fr_user_plan *user_plan);

/** Plans given as JSON have no name: "plan 1", "plan 2", ... by their places among @p n. */
void fr_user_plan_name(struct fr_user_plan *user_plan, int n);

/** Samples a second of a plan over another's: what iterations of different batches are compared by.
 *  @return T(mine) B(best) / (T(best) B(mine)) - 1 */
double fr_user_plan_slower(const struct fr_job *job, const struct fr_outcome *user_plan,
                           const struct fr_outcome *best);

/** Probability that @p user_plan takes no longer than @p best for as many samples; NaN not known. */
double fr_user_plan_as_good(const struct fr_job *job, const struct fr_outcome *user_plan,
                            const struct fr_outcome *best);

/** Keys in which two plans differ: "pp 8 (4), schedule interleaved (1f1b)", the second's in
 *  brackets; "" where they are equal.  @return @p out */
const char *fr_user_plan_differs(const struct fr_job *job, const struct fr_plan *user_plan,
                                 const struct fr_plan *best, char *out, size_t capacity);

#endif
