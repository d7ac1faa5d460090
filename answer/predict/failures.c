#include "answer/predict/failures.h"

#include <math.h>

double fr_failures_expected_s(const struct fr_failures *f, double work_s) {
    double mean_s = f->mtbf_s;
    return mean_s * exp(f->restart_s / mean_s) * expm1((work_s + f->checkpoint_s) / mean_s);
}

double fr_failures_goodput(const struct fr_failures *f, double work_s) {
    double expected_s = fr_failures_expected_s(f, work_s);
    return isfinite(expected_s) && expected_s > 0 ? work_s / expected_s : 0;
}

/* ln(1 - x) + x + delta/M = 0 for x = tau/M in (0, 1): it falls from delta/M, so halving finds it. */
double fr_failures_best_s(const struct fr_failures *f) {
    double low = 0, high = 1, delta = f->checkpoint_s / f->mtbf_s;
    for (int i = 0; i < 200; i++) {
        double x = (low + high) / 2;
        if (log1p(-x) + x + delta > 0)
            low = x;
        else
            high = x;
    }
    return high * f->mtbf_s;
}

double fr_failures_young_s(const struct fr_failures *f) {
    return sqrt(2 * f->checkpoint_s * f->mtbf_s);
}

double fr_failures_daly_s(const struct fr_failures *f) {
    double x = sqrt(f->checkpoint_s / (2 * f->mtbf_s));
    if (f->checkpoint_s >= 2 * f->mtbf_s) return f->mtbf_s;
    return fr_failures_young_s(f) * (1 + x / 3 + x * x / 9) - f->checkpoint_s;
}

double fr_failures_iterations(const struct fr_failures *f, double iteration_s) {
    double n = floor(fr_failures_best_s(f) / iteration_s);
    if (n < 1) return 1;
    bool more =
        fr_failures_goodput(f, (n + 1) * iteration_s) > fr_failures_goodput(f, n * iteration_s);
    return more ? n + 1 : n;
}
