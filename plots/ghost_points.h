/** @file
 *  Points of energy and time against ghost neurons, read from results of validate and iterations. */
#ifndef FR_PLOTS_GHOST_POINTS_H
#define FR_PLOTS_GHOST_POINTS_H

#include "base/json.h"

enum { FR_GHOST_GROUPS_MAX = 6, FR_GHOST_PANELS = 2 };

struct fr_ghost_point {
    char group[64];
    int64_t width, tp, ghost; /**< ghost 0: tensor parallelism */
    /** Values of each panel: energy [J] and time [s] of an iteration or to target loss.  For
     *  trainings without runs: energy to target loss and of an iteration.  NaN: unknown. */
    double measured[FR_GHOST_PANELS], predicted[FR_GHOST_PANELS];
    double seeds_low,
        seeds_high; /**< range of the iterations over their median; 1: none known */
};

struct fr_ghost_points {
    struct fr_ghost_point *items;
    int n;
    bool to_loss;                        /**< times the iterations that training needed */
    bool trained_only;                   /**< no runs: predicted energy, measured iterations */
    double loss;                         /**< trained to */
    char group[FR_GHOST_GROUPS_MAX][64]; /**< of phantom's points, in order */
    int n_groups, left_out;
};

/** Read one result of validate, one of iterations, or both.  Free points->items, also on error. */
fr_status fr_ghost_points_read(const struct fr_json *roots, int n_inputs,
                               struct fr_ghost_points *points, struct fr_error *err);

#endif
