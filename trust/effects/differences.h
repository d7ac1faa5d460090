/** @file
 *  How far apart can the model's errors on two plans of one problem be?
 *
 *  Similar plans have similar errors.  The variance of the difference of two plans' errors, in logarithms of time, is
 *  a sum over what the plans differ in,
 *
 *      v_ij = 2 o^2 + sum_k s_k^2 |log2 k_i/k_j| + sum_q s_q^2 [q_i != q_j]       and 0 for one plan under two names,
 *
 *  with k the keys that count by doublings, q those that count as a change, o = FR_DIFFER_RUN of two runs of one plan.
 *  The sizes s stand in a table a key (differ.c), each measured or assumed.
 *
 *  The same as random draws, so that near-ties share their error: a walk over each key's values present (steps
 *  s_k sqrt(doublings) z) and a draw for each changed value (s_q z / sqrt 2), all z standard normal and independent.  So
 *  plan i's error is row i of a matrix A times z, and |A_i - A_j|^2 = v_ij.  Without 2 o^2, which is of runs and not of
 *  plans, the root is the distance by which plans are distinguished (fr_differ_distance).
 *
 *  To change a size: its row in differ.c. */
#ifndef FR_TRUST_EFFECTS_DIFFERENCES_H
#define FR_TRUST_EFFECTS_DIFFERENCES_H

#include "models/plan/key.h"
#include "models/workload/workload.h"

/** Standard deviation of a run's own error, of whatever plan, in logarithms. */
#define FR_DIFFER_RUN 0.01

/** The plan as what it is compared by: of each key a number that tells its values apart, and the logarithm of those that
 *  count by doublings. */
struct fr_differ_point {
    uint64_t value[FR_PLAN_KEYS];
    double log2_of[FR_PLAN_KEYS];
};

/** Keys that @p model and the plan do not read count as their defaults; replicas count as ranks. */
void fr_differ_point_of(const struct fr_workload *model, const struct fr_plan *plan,
                        struct fr_differ_point *point);

/** v_ij: 0 where all keys agree, else more than 0; symmetric. */
double fr_differ_variance(const struct fr_differ_point *a, const struct fr_differ_point *b);

/** sqrt(v_ij - 2 o^2), 0 of one plan. */
double fr_differ_distance(const struct fr_differ_point *a, const struct fr_differ_point *b);

/** Size s of a key; @p doubling whether it counts by doublings, else as a change. */
double fr_differ_size(int key, bool *doubling);

/** The matrix A of @p n plans: A[n][*terms].  Its columns do not depend on the order of the plans.
 *  @return what free() takes; NULL without memory */
double *fr_differ_matrix(const struct fr_differ_point *points, int n, int *terms);

#endif
