/* Repeated measurements of a point become one: the median, how sure it is, how many were slow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fit_parts.h"
#include "calibrate/statistics.h"

static int by_point(const void *x, const void *y) {
    const struct fr_sample_collective *a = x, *b = y;
    if (a->op != b->op) return a->op < b->op ? -1 : 1;
    if (a->level != b->level) return a->level < b->level ? -1 : 1;
    if (a->n_ranks != b->n_ranks) return a->n_ranks < b->n_ranks ? -1 : 1;
    return (a->size_B > b->size_B) - (a->size_B < b->size_B);
}

static struct fr_fit_point summarise(const struct fr_sample_collective *first, double *times_s,
                                     size_t n) {
    struct fr_fit_point point = {.op = first->op,
                                 .level = first->level,
                                 .n_ranks = first->n_ranks,
                                 .size_B = first->size_B,
                                 .n = (int)n};
    fr_sort(times_s, n);
    point.time_s = fr_sorted_median(times_s, n);
    point.uncertainty = fr_sorted_median_uncertainty(times_s, n, 0.95);
    double limit_s = fr_sorted_slow_limit(times_s, n);
    while ((size_t)point.n_slow < n && times_s[n - 1 - (size_t)point.n_slow] > limit_s)
        point.n_slow++;
    return point;
}

fr_status fr_fit_medians(const struct fr_samples *samples, struct fr_fit_point **points,
                         int *n_points) {
    size_t n = samples->n_collective, begin = 0, stop;
    if (n == 0) return FR_OK;
    struct fr_sample_collective *sorted = malloc(n * sizeof *sorted);
    double *times_s = malloc(n * sizeof *times_s);
    *points = calloc(n, sizeof **points);
    fr_status status = sorted && times_s && *points ? FR_OK : FR_ERR_NOMEM;
    if (status == FR_OK) {
        memcpy(sorted, samples->collective, n * sizeof *sorted);
        qsort(sorted, n, sizeof *sorted, by_point);
    }
    for (; status == FR_OK && begin < n; begin = stop) {
        for (stop = begin; stop < n && by_point(&sorted[begin], &sorted[stop]) == 0; stop++)
            times_s[stop - begin] = sorted[stop].time_s;
        (*points)[(*n_points)++] = summarise(&sorted[begin], times_s, stop - begin);
    }
    free(sorted);
    free(times_s);
    return status;
}

fr_status fr_fit_measure(const double *predicted_s, const double *measured_s, int n,
                         struct fr_fit_quality *quality) {
    double squares = 0;
    *quality = (struct fr_fit_quality){.n = n};
    if (n == 0) return FR_OK;
    double *errors = malloc((size_t)n * sizeof *errors);
    if (!errors) return FR_ERR_NOMEM;
    for (int i = 0; i < n; i++) {
        double ratio = predicted_s[i] / measured_s[i];
        double octaves = log2(fmax(ratio, 1e-12)); /* a fit may say 0 s */
        errors[i] = fabs(ratio - 1);
        squares += octaves * octaves;
    }
    fr_sort(errors, (size_t)n);
    quality->median = fr_sorted_median(errors, (size_t)n);
    quality->p90 = fr_sorted_quantile(errors, (size_t)n, 0.9);
    quality->rmse_log2 = sqrt(squares / n);
    free(errors);
    return FR_OK;
}
