#include "real/validate/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "trust/numbers/statistics.h"

/* The share that intervals of predictions claim to hold. */
static const double STATED = 0.9;

fr_confirmation fr_validate_confirmed(const struct fr_cluster *cluster,
                                      const struct fr_validation *v) {
    if (v->n_scored == 0) return FR_NOT_JUDGED;
    if (strcmp(cluster->calibration.verdict, "FAIL") == 0) return FR_NOT_CONFIRMED;
    return v->coverage >= STATED ? FR_CONFIRMED : FR_NOT_CONFIRMED;
}

/* Median over rows of how far an interval reaches, times the prediction. */
static double usual_reach(const struct fr_validation *v) {
    double *reach = fr_malloc((size_t)v->n_rows + 1, sizeof *reach), usual = NAN;
    size_t n = 0;
    for (int i = 0; reach && i < v->n_rows; i++) {
        const struct fr_validate_row *row = &v->rows[i];
        if (row->scored && row->n_samples > 0 && !row->reasons && row->predicted_s > 0)
            reach[n++] = row->predicted_high_s / row->predicted_s;
    }
    if (n > 0) {
        fr_sort(reach, n);
        usual = fr_sorted_median(reach, n);
    }
    free(reach);
    return usual;
}

void fr_validate_judge(const struct fr_cluster *cluster, const struct fr_validation *v,
                       struct fr_text *text) {
    fr_confirmation confirmed = fr_validate_confirmed(cluster, v);
    double reach = usual_reach(v);
    if (confirmed == FR_NOT_JUDGED) {
        fr_text_addf(text, "not confirmed nor refuted: nothing was scored, as no configuration "
                           "had a core for every rank");
        return;
    }
    fr_text_addf(text, "%s%s: ", confirmed == FR_CONFIRMED ? "confirmed" : "not confirmed",
                 v->n_not_run > 0 && confirmed == FR_CONFIRMED ? " as far as they were run"
                                                               : "");
    if (strcmp(cluster->calibration.verdict, "FAIL") == 0)
        fr_text_addf(text, "the calibration failed, whatever the runs say; ");
    fr_text_addf(text, "%.0f %% of the 90 %% intervals", 100 * v->coverage);
    if (isfinite(reach))
        fr_text_addf(text, ", %.2f to %.2f times the time predicted,", 1 / reach, reach);
    fr_text_addf(text, " meet the runs");
    if (v->n_not_run > 0)
        fr_text_addf(text, " of %d of %d configurations, the others not having been run",
                     v->n_run, v->n_run + v->n_not_run);
    fr_text_addf(text, "; the error is %.1f %% in the median", 100 * v->median_error);
    if (v->floor > 0)
        fr_text_addf(text, ", %.1f times what the machine changes by itself",
                     v->median_error / v->floor);
}
