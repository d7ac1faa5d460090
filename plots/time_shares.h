/** @file
 *  Slices too many to draw one by one: time is cut into bins, and of each bin of a lane it is known
 *  which share of it each kind of task takes. */
#ifndef FR_PLOTS_TIME_SHARES_H
#define FR_PLOTS_TIME_SHARES_H

#include "base/status.h"

enum { FR_SHARES_KINDS = 24 };

struct fr_shares {
    int n_lanes, n_bins;
    double weight; /**< of what is added; 1 at first */
    float *share;  /**< [n_lanes][n_bins][FR_SHARES_KINDS] */
};

/** Begin with nothing taken.  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_shares_begin(struct fr_shares *shares, int n_lanes, int n_bins,
                          struct fr_error *err);
void fr_shares_free(struct fr_shares *shares);

/** Cover [low, high] of @p lane, in bins from 0, with a kind. */
void fr_shares_add(struct fr_shares *shares, int lane, int kind, double low, double high);

/** Shares of the kinds in one bin [FR_SHARES_KINDS]; lanes of a stream may overlap, so that their
 *  sum may exceed 1. */
const float *fr_shares_at(const struct fr_shares *shares, int lane, int bin);

#endif
