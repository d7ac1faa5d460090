/** @file
 *  One fitter for each form of models/network/form/.  It turns measured points of one operation
 *  into the price that a cluster file holds.  So a fit is judged through the very code that will
 *  price with it.
 *
 *  All fit relative errors: a model is used over six decades of message size, and an absolute
 *  fit sees only the largest.
 *
 *  To add one: calibrate/fit/fitter/<name>.c exporting fr_fitter_<name>, row FR_FITTER(<name>) in
 *  calibrate/fit/fitter_list.h. */
#ifndef FR_CALIBRATE_FIT_FITTER_H
#define FR_CALIBRATE_FIT_FITTER_H

#include "calibrate/fit/fit.h"

struct fr_fitter {
    const char *name; /**< of the form */
    /** Fit @p points (n >= 1, by level, p, nodes, size; sizes > 0) of one operation.
     *  price->form stays NULL when the points are too few.  Free with fr_price_free.
     *  @param gpu  a GPU library's collective (NCCL, RCCL), not MPI's
     *  @return FR_OK or FR_ERR_NOMEM. */
    fr_status (*fit)(const struct fr_fit_point *points, int n, bool gpu,
                     struct fr_price *price);
};

/** Rows that others name. */
extern const struct fr_fitter fr_fitter_log, fr_fitter_segments, fr_fitter_algorithm,
    fr_fitter_similarity;
/** Rows in table order, then NULL. */
extern const struct fr_fitter *const fr_fitters[];

/** The ranks of a point as a form is asked about them; level 0 is a node, 1 more than one. */
struct fr_group fr_fit_group(const struct fr_fit_point *point);

/** a, b >= 0 that make a u + b v come near 1, where u and v are the two terms over the measured
 *  time: least squares reweighted by Huber's rule (Ann. Math. Stat. 35, 1964), so that some
 *  disturbed points do not pull the others. */
void fr_fit_two_terms(const double *u, const double *v, int n, double *a, double *b);

#endif
