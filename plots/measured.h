/** @file
 *  Results of `forerun fit --json` as figures need them: measured collectives with the curves
 *  fitted to them, and measured matrix products. */
#ifndef FR_PLOTS_MEASURED_H
#define FR_PLOTS_MEASURED_H

#include <stddef.h>

#include "plots/picture.h"

struct fr_measured_point {
    double size_B, median_s;
    double low_s, high_s;   /**< confidence interval of the median; NaN where not given */
    double log_s, chosen_s; /**< the papers' form, the form that was chosen; NaN likewise */
    double held_s;          /**< of the chosen form fitted without this point; NaN likewise */
};

/** One collective on one set of ranks. */
struct fr_measured_series {
    char op[32], level[32];
    char chosen[24]; /**< form; "segments" where the document does not say */
    int64_t ranks;
    struct fr_measured_point *points; /**< by size; none of size 0 */
    int n;
};

/** C = A B with A m x k and B k x n. */
struct fr_measured_gemm {
    char dtype[16];
    int64_t m, n, k;
    double median_s;
};

struct fr_measured {
    struct fr_measured_series *series;
    int n_series;
    struct fr_measured_gemm *gemms;
    int n_gemms;
    struct fr_text footer;
};

/** Read a "forerun/fit/1" document; `series` and `gemm` may each be absent.  Free with
 *  fr_measured_free, also on error.  @return FR_OK, FR_ERR_INPUT with the place, FR_ERR_NOMEM. */
fr_status fr_measured_read(const struct fr_json *root, struct fr_measured *measured,
                           struct fr_error *err);
void fr_measured_free(struct fr_measured *measured);

#endif
