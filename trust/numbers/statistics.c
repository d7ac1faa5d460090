#include "trust/numbers/statistics.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "base/sort.h"

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return FR_ORDER(x, y);
}

void fr_sort(double *x, size_t n) { fr_sort_items(x, n, sizeof *x, ascending); }

double fr_sorted_quantile(const double *x, size_t n, double q) {
    double position = (double)(n - 1) * q;
    size_t i = (size_t)position;
    if (i + 1 >= n) return x[n - 1];
    return x[i] + (position - (double)i) * (x[i + 1] - x[i]);
}

/* The deviations below the median, read downwards, and those above, read upwards, are both
 * ascending; so merging them visits the deviations in order without a copy. */
double fr_sorted_mad(const double *x, size_t n) {
    double median = fr_sorted_median(x, n), deviation = 0, before = 0;
    size_t above = 0;
    while (above < n && x[above] < median) above++;
    size_t below = above;
    for (size_t taken = 0; taken <= n / 2; taken++) {
        double down = below > 0 ? median - x[below - 1] : HUGE_VAL;
        double up = above < n ? x[above] - median : HUGE_VAL;
        before = deviation;
        deviation = fmin(down, up);
        if (down <= up)
            below--;
        else
            above++;
    }
    return n % 2 ? deviation : (before + deviation) / 2;
}

bool fr_sorted_median_interval(const double *x, size_t n, double confidence, double *low,
                               double *high) {
    double tail = (1 - confidence) / 2;
    size_t l = 0;
    while (l < n / 2 && gsl_cdf_binomial_P((unsigned)l, 0.5, (unsigned)n) <= tail) l++;
    size_t i = l > 0 ? l - 1 : 0;
    *low = x[i];
    *high = x[n - 1 - i];
    return l > 0;
}

double fr_binomial_likely(size_t k, size_t n, double share) {
    double few = gsl_cdf_binomial_P((unsigned)k, share, (unsigned)n),
           many = k ? gsl_cdf_binomial_Q((unsigned)k - 1, share, (unsigned)n) : 1;
    return fmin(1, 2 * fmin(few, many));
}

double fr_sorted_median_uncertainty(const double *x, size_t n, double confidence) {
    double low, high, median = fr_sorted_median(x, n);
    if (!fr_sorted_median_interval(x, n, confidence, &low, &high)) return 1e9;
    return fmax(high - median, median - low) / median;
}

double fr_log_deviation(const double *x, size_t n) {
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++) mean += log(x[i]) / (double)n;
    for (size_t i = 0; i < n; i++) squares += pow(log(x[i]) - mean, 2);
    return n > 1 ? sqrt(squares / (double)(n - 1)) : NAN;
}

double fr_reach_90(int degrees) {
    return degrees > 0 ? gsl_cdf_tdist_Pinv(0.95, degrees) : 1.6448536269514722;
}

double fr_sorted_slow_limit(const double *x, size_t n) {
    double median = fr_sorted_median(x, n);
    return median + 5 * fmax(1.4826 * fr_sorted_mad(x, n), 0.001 * fabs(median));
}

size_t fr_sorted_near_fastest(const double *x, size_t n) {
    static const double NEAR = 1.08;
    double limit = NEAR * fr_sorted_quantile(x, n, 0.1);
    size_t kept = 1;
    while (kept < n && x[kept] <= limit) kept++;
    return kept;
}

double fr_sorted_own(const double *x, size_t n) {
    return fr_sorted_median(x, fr_sorted_near_fastest(x, n));
}
