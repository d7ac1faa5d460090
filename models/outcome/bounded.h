/** @file
 *  A plan's price for a search: work that plans share is priced once, and values that nobody will read are not
 *  computed.
 *
 *  Cheap steps come first: reasons, a rank's memory, and the lower bound of the iteration
 *  (models/outcome/lower_bound.h).  Only a plan that may still be among the best is priced by the exact recurrence.
 *  The parts of the time are not computed.  All other results equal those of fr_cost to the last bit. */
#ifndef FR_MODELS_OUTCOME_BOUNDED_H
#define FR_MODELS_OUTCOME_BOUNDED_H

#include "models/job/job.h"
#include "models/outcome/outcome.h"

/** Cache of results that the plans of one job share, on one thread; of bounded size. */
struct fr_pricer;

/** @return NULL without memory.  Free with fr_pricer_free. */
struct fr_pricer *fr_pricer_make(const struct fr_job *job);
void fr_pricer_free(struct fr_pricer *pricer);
/** Go on with another job, which takes over what does not depend on one. */
void fr_pricer_take(struct fr_pricer *pricer, const struct fr_job *job);

/** Asked of every plan that can be laid out, and again where its messages would share links.  Reasons, memory, bytes and loss of @p out are the
 *  plan's; time and energy, an iteration's and to the loss, are so small or smaller.  May add reasons.
 *  @return false where its price does not matter */
typedef bool fr_wanted_fn(const void *context, struct fr_outcome *out);

/** As fr_cost of @p pricer's job, but that parts are 0.
 *  @return false where @p wanted said so: time and energy are then bounds */
bool fr_cost_bounded(struct fr_pricer *pricer, const struct fr_plan *plan, fr_wanted_fn *wanted,
                     const void *context, struct fr_outcome *out);

/** As fr_cost of @p pricer's job to the last bit, parts too. */
void fr_cost_cached(struct fr_pricer *pricer, const struct fr_plan *plan,
                    struct fr_outcome *out);

#endif
