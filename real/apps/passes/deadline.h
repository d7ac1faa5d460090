/** @file
 *  How long may a job of real runs take, and how far is it?
 *
 *  The budget counts from when the job was asked for, its start included.  No visit is begun after
 *  it but the first; a visit of the first pass gets an equal share of what is left for that pass,
 *      share = (end - now) / visits left in the pass                                         [s]
 *  so that slow ones shorten themselves and not the number of those that are visited at all.
 *  Rank 0's clock decides for all.
 */
#ifndef FR_REAL_APPS_PASSES_DEADLINE_H
#define FR_REAL_APPS_PASSES_DEADLINE_H

#include <stdbool.h>

#include "base/status.h"

struct fr_deadline {
    double start_s;        /**< of this job's visits */
    double end_s;          /**< HUGE_VAL: there is no budget */
    double share_s;        /**< of the visit that is to begin; HUGE_VAL: as long as it wants */
    double until_s;        /**< when that share is over; at most end_s */
    double shown_s;        /**< when how far it is was last said */
    int n_begun, n_wanted; /**< visits of this job */
};

/** @param budget_s  0: none
 *  @param since_s   of the epoch, from which it counts; 0: from now */
struct fr_deadline fr_deadline_begin(double budget_s, double since_s, int n_wanted);

/** Before each visit: is the time over?  Else its share is found.
 *  @param n_pass  visits left in the first pass, this one included; 0: in a later pass */
fr_status fr_deadline_visit(struct fr_deadline *deadline, int n_pass, bool *over,
                            struct fr_error *err);

/** Is the share of the visit that is under way over?  Never without a budget. */
fr_status fr_deadline_is_over(const struct fr_deadline *deadline, bool *over,
                              struct fr_error *err);

/** On rank 0: say how far it is, on a terminal (@p screen) at once, else once a minute.
 *  @param what  "2 ranks, pass 1 of 4" */
void fr_deadline_show(struct fr_deadline *deadline, const char *what, bool screen);

#endif
