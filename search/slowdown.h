/** @file
 *  Least energy within a little more time than the fastest plan's.
 *
 *  The search ranks by time.  Those among its 16 best plans that are within (1 + slowdown) of the fastest stay.
 *  Where the device states its clocks, each plan gets the stage clocks that need least energy within that time
 *  (models/outcome/clocks.h).  Then the plans are ordered by energy. */
#ifndef FR_SEARCH_SLOWDOWN_H
#define FR_SEARCH_SLOWDOWN_H

#include "search/search.h"

/** Clocks are chosen for so many of the fastest plans. */
enum { FR_SLOWDOWN_PLANS = 16 };

struct fr_slowdown {
    bool asked;
    double most;                         /**< relative */
    double fastest_s, fastest_J;         /**< of the fastest plan, at its highest clocks */
    double own_J;                        /**< of the best, at its highest clocks */
    bool clocks;                         /**< did the device state any? */
    int64_t *clock_Hz[FR_SEARCH_PRICED]; /**< owned: of the plans in the result's top, and their
                                            stages' layers where those were chosen */
};

/** A point of the energy/time curve of one plan: least energy within a time. */
struct fr_curve_point {
    double time_s, energy_J, low_J, high_J; /**< of an iteration; its 90 % interval */
};
enum { FR_CURVE_POINTS = 9 };

/** The curve of @p best, from its fastest clocks to those that the whole slowdown allows, in equal steps of
 *  time; a point that saves nothing more than the one before is left out.
 *  @return how many; 0 where the device states no clocks */
int fr_slowdown_curve(const struct fr_job *job, const struct fr_slowdown *slowdown,
                      const struct fr_outcome *best, struct fr_curve_point *curve);

/** Turn @p result, ranked by time, into that.
 *  @return FR_OK or FR_ERR_NOMEM.  Free with fr_slowdown_free, also on error. */
fr_status fr_slowdown_apply(const struct fr_job *job, struct fr_slowdown *slowdown,
                            struct fr_search_result *result, struct fr_error *err);
void fr_slowdown_free(struct fr_slowdown *slowdown);

#endif
