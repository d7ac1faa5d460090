/** @file
 *  Which few coefficients fit many rows best?
 *
 *      minimise  sum over i of (y_i - sum over j of c_j x_ij)^2
 *
 *  The rows are rotated one by one (Givens) into a triangle R c = q of at most FR_LEAST_SQUARES_MAX
 *  columns, so a system of any length fits into this struct and asks for no memory.  Rotations keep
 *  lengths, so that the condition is that of x and not its square, as it would be of normal equations
 *  (Golub and Van Loan, Matrix Computations, 5.1.8 and 5.2.5).
 */
#ifndef FR_TRUST_NUMBERS_LEAST_SQUARES_H
#define FR_TRUST_NUMBERS_LEAST_SQUARES_H

#include <stdbool.h>

enum { FR_LEAST_SQUARES_MAX = 3 };

/** Begins as {.columns = m}, 1 <= m <= FR_LEAST_SQUARES_MAX. */
struct fr_least_squares {
    int columns;
    double r[FR_LEAST_SQUARES_MAX][FR_LEAST_SQUARES_MAX]; /**< upper triangle */
    double q[FR_LEAST_SQUARES_MAX];
    double
        squares; /**< sum of squared residuals of the rows so far, at their best coefficients */
};

/** One more row: @p y is to be sum of c_j x_j.  @param x  x[columns] */
void fr_least_squares_add(struct fr_least_squares *s, const double *x, double y);

/** The best coefficients, c[columns].
 *  @return false, and @p c as it was, where the rows do not tell the columns apart: a column is a combination of those
 *          before it but for the share @p tolerance of its length */
bool fr_least_squares_solve(const struct fr_least_squares *s, double tolerance, double *c);

#endif
