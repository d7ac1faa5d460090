#include "models/device/interruptions.h"

#include <math.h>

static const char *const keys[] = {"every", "length", NULL};

/* The sum ends where F(k) is 1 to the last digit.  Beyond a mean of 1000 the excess over it grows
 * with the standard deviation, as a normal distribution's does. */
double fr_poisson_max(double mean, double ranks) {
    const double LARGEST = 1000;
    if (!(mean > 0)) return 0;
    if (ranks <= 1) return mean;
    if (mean > LARGEST)
        return mean + (fr_poisson_max(LARGEST, ranks) - LARGEST) * sqrt(mean / LARGEST);
    double sum = 0, below = 0; /* F(k - 1) */
    for (int k = 0; k < mean + 60 * sqrt(mean) + 60; k++) {
        below += exp(k * log(mean) - mean - lgamma(k + 1.0));
        /* 1 - F^p without losing what is small */
        sum += below < 1 ? -expm1(ranks * log(below)) : 0;
    }
    return sum;
}

double fr_interruptions_share(const struct fr_interruptions *i, double ranks, double chunk_s) {
    if (!(i->every_s > 0)) return 0;
    if (!(chunk_s > 0)) return ranks * i->length_s / i->every_s;
    return fr_poisson_max(chunk_s / i->every_s, ranks) * i->length_s / chunk_s;
}

fr_status fr_interruptions_read(const struct fr_json *object, struct fr_interruptions *i,
                                struct fr_error *err) {
    FR_TRY(fr_json_object(object, keys, err));
    FR_TRY(fr_json_get_quantity(object, "every", true, FR_QUANTITY_TIME, 1e-9, 1e12,
                                &i->every_s, err));
    return fr_json_get_quantity(object, "length", true, FR_QUANTITY_TIME, 0, 1e6, &i->length_s,
                                err);
}
