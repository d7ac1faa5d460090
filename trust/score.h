/** @file
 *  How good were the predictions?
 *
 *      error       e_i = predicted_i / measured_i - 1
 *      mape        mean of |e_i|;  median and 90 % quantile of the same;  bias: mean of e_i
 *      tau         Kendall's tau-b between predicted and measured over all pairs of rows
 *                  (Kendall, Biometrika 33, 1945); within: over the pairs of one group alone
 *      regret      of a group: measured time of the row predicted fastest, over that of the row
 *                  measured fastest, minus 1: what choosing by prediction costs
 *      coverage    share of rows whose measured time lies in the stated interval
 *
 *  Rows that could not be predicted (NaN) are counted and take no part.
 */
#ifndef FR_TRUST_SCORE_H
#define FR_TRUST_SCORE_H

#include <stdbool.h>

#include "base/status.h"

struct fr_scored {
    const char *id, *group; /**< of rows that compete; "" alone */
    double measured_s, predicted_s;
    double low_s, high_s; /**< NaN: no interval stated */
};

struct fr_score {
    int n, missing, groups; /**< groups of two and more */
    double mape, median_error, p90_error, worst_error, bias;
    double kendall_tau, kendall_tau_within;          /**< NaN: no pairs */
    double regret_mean, regret_median, regret_worst; /**< NaN: no group of two */
    double coverage;                                 /**< NaN: no intervals */
};

/** @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_score_make(const struct fr_scored *rows, int n, struct fr_score *score,
                        struct fr_error *err);

#endif
