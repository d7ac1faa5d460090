/** @file
 *  How far may the time of one collective, or of one product, be off?
 *
 *  Widths are standard deviations of the logarithm of a time; they add in squares, and 90 % of a normal one reach 1.645 of
 *  them to either side.  In a collective's, or a product's:
 *    - what the file states of its form: residuals, an interval of its own, what was held out;
 *    - the file's values, each moved by how sure it is of it (trust/interval.h);
 *    - how much the machine varied while it was calibrated;
 *    - where the file states nothing of the form, what such forms miss of measurements that they were not fitted to:
 *      the reach of nine in ten in the tables of `forerun reproduce collectives` (rank counts held out) and `forerun
 *      reproduce gemm` (shapes held out), the median over their series.  No interval is of no width. */
#ifndef FR_ANSWER_PIECE_PIECE_H
#define FR_ANSWER_PIECE_PIECE_H

#include "models/job/cluster.h"

/** Nine in ten measurements lie within a factor of 1 + this of what the form says. */
double fr_form_miss(const char *form);
/** The same of products. */
extern const double fr_product_miss;

/** Widen [*low_s, *high_s] around @p time_s by what is not in it: the machine's variation, and, where it has no width, what
 *  @p form ("algorithm" where levels price it) misses.  @p half is half a width more, in logarithms. */
void fr_collective_widen(const struct fr_cluster *cluster, const char *form, double half,
                         double time_s, double *low_s, double *high_s);

/** The 90 % interval around @p time_s, of a product.  @p cluster is as it was again when this returns. */
void fr_product_interval(struct fr_cluster *cluster, fr_dtype dtype,
                         const struct fr_gemm_shape *shape, double time_s, bool extrapolated,
                         double *low_s, double *high_s);

#endif
