/** @file
 *  Sorts outcomes into curves along the rank count, or along the key that plots/along.h chose.
 *  A curve is a method, or a method and a ghost width, for each value of the varied keys of
 *  model and cluster.  At each place it has its best plan. */
#ifndef FR_PLOTS_CURVE_H
#define FR_PLOTS_CURVE_H

#include "plots/results.h"
#include "plots/scale.h"

struct fr_curve {
    char label[256];
    const struct fr_result *const *at; /**< in ascending order along, into the list's storage */
    int n;
    double best; /**< least value on it */
    int urgency; /**< when some must be left out, the smallest stay */
};

struct fr_curves {
    struct fr_curve *items;
    int count; /**< kept */
    int left_out;
    const struct fr_result **along; /**< one of every place on the kept curves, ascending */
    int n_along;
    const struct fr_result **storage;
};

typedef double (*fr_curve_value)(const struct fr_results *results,
                                 const struct fr_result *result);

/** Make the curves, tensor first, then by method and ghost width.  If there are more than @p
 *  max, those without a ghost width stay, then the best one, widths that are powers of two,
 *  and the next best.  The others are counted.  Results whose value is not finite are left
 *  out.  Free with fr_curves_free, also on error.
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_curves_make(const struct fr_results *results, bool by_ghost, fr_curve_value value,
                         int max, struct fr_curves *curves, struct fr_error *err);
/** How curve @p i is drawn, "lc rgb '#0072B2' dt 2": where several methods are drawn each has its own
 *  colour, the same in all figures, and its curves differ by dashes and marks.  @return @p out. */
const char *fr_curve_style(const struct fr_curves *curves, int i, char out[64]);
/** Value and 90 % interval of what is drawn; NaN where it is not known. */
struct fr_curve_interval {
    double value, low, high;
};
typedef struct fr_curve_interval (*fr_curve_interval_of)(const struct fr_result *result);
struct fr_curve_interval fr_curve_time(const struct fr_result *result);
struct fr_curve_interval fr_curve_energy(const struct fr_result *result);

/** Add the intervals under the curves, where they are known: a band, or a bar at a single
 *  point.  Before the curves. */
void fr_curves_bands(struct fr_picture *p, const struct fr_curves *curves,
                     fr_curve_interval_of of);
/** Include the intervals in a scale. */
void fr_curves_include(const struct fr_curves *curves, fr_curve_interval_of of,
                       struct fr_scale *seen);

void fr_curves_free(struct fr_curves *curves);

#endif
