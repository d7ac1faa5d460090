/** @file
 *  What do messages cost one another?
 *
 *  A closed form takes each collective by itself.  Message by message on links that are shared, collectives of several
 *  stages, replicas and axes meet, and messages between stages meet them (Gholami et al. 2017 name such conflicts as a
 *  limit of their model).  Two numbers say what that does: the iteration with each message alone, and how much longer the
 *  messages of each part took than alone. */
#ifndef FR_SIM_RANKS_CONFLICTS_H
#define FR_SIM_RANKS_CONFLICTS_H

#include "sim/price.h"

struct fr_conflicts {
    bool played;    /**< collectives were, message by message */
    double merged;  /**< equal collectives of a pass that were played as one, the most */
    double alone_s; /**< the iteration with each message alone; 0: on a network where each is */
    /** Time of a rank's messages beyond that of each alone, in the mean over ranks, by part; below 0: a link that the
     *  closed form takes to be shared was free. */
    double lost_s[FR_PRICE_PARTS];
};

/** Add up lost_s of a run that took @p start_s and @p end_s, each class alone @p class_s. */
void fr_conflicts_add(const struct fr_program *program, const struct fr_class_price *price,
                      const double *class_s, const double *start_s, const double *end_s,
                      struct fr_conflicts *conflicts);

/** The part that lost most, FR_PRICE_TP say; 0: none lost anything. */
int fr_conflicts_most(const struct fr_conflicts *conflicts);

/** Names of parts in documents: "tp", "cp", ...; NULL for those that are no messages. */
extern const char *const fr_conflict_names[FR_PRICE_PARTS];

#endif
