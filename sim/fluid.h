/** @file
 *  Flows that share links: how fast each goes, and when the next one ends.
 *
 *  Rates are max-min fair: raise all flows' rates together; where a link is full, its flows stop
 *  there, the others go on (progressive filling; Bertsekas & Gallager, Data Networks, 2nd ed.,
 *  section 6.5.2).  A flow counts `weight` times on a link, for so many replicas of it that do the
 *  same at the same time.  When flows start or end only those are worked out anew that are joined
 *  to them by shared links, directly or through others.  Nothing is allocated while flows come and
 *  go, but when more are under way at once than ever before.  Same calls, same bits.
 *
 *  Symbols:  c  rate of a link [B/s]   w  weight   x  rate of a flow [B/s]:  sum of w x <= c
 */
#ifndef FR_SIM_FLUID_H
#define FR_SIM_FLUID_H

#include "topology/path.h"

struct fr_fluid; /* opaque */

/** Links 0 .. n_links-1 of the rates given; a flow uses up to @p uses_max of them.
 *  @return NULL when memory is exhausted. */
struct fr_fluid *fr_fluid_new(int32_t n_links, const double *rate_B_per_s, int32_t uses_max);
void fr_fluid_free(struct fr_fluid *fluid);
/** No flows, time 0. */
void fr_fluid_reset(struct fr_fluid *fluid);

/** Rate of a flow that has its links to itself: the least c/w. */
double fr_fluid_alone_B_per_s(const struct fr_fluid *fluid, const struct fr_link_use *uses,
                              int32_t n_uses);

/** Does no flow under way use any of these links? */
bool fr_fluid_is_free(const struct fr_fluid *fluid, const struct fr_link_use *uses,
                      int32_t n_uses);

/** Start a flow of @p size_B > 0 at the current time, to be known by @p tag.
 *  @param alone_B_per_s  fr_fluid_alone_B_per_s of its links, which those who start many know
 *  @return false when memory is exhausted. */
bool fr_fluid_start(struct fr_fluid *fluid, int64_t tag, double size_B, double alone_B_per_s,
                    const struct fr_link_use *uses, int32_t n_uses);

/** When the next flow ends if none is started before; INFINITY without flows. */
double fr_fluid_next_s(struct fr_fluid *fluid);

/** Let time pass until @p now_s, at most fr_fluid_next_s. */
void fr_fluid_advance(struct fr_fluid *fluid, double now_s);

/** Take away the flow that ends next (the first started among equals) and let time pass until then.
 *  @param[out] slowed  whether it ever shared a link it could have filled alone
 *  @return its tag */
int64_t fr_fluid_finish(struct fr_fluid *fluid, bool *slowed);

/** The rates of up to @p max flows under way, by tag. @return how many there are. */
int32_t fr_fluid_rates(struct fr_fluid *fluid, int32_t max, int64_t *tag, double *rate_B_per_s);

#endif
