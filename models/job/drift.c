#include "models/job/drift.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The middle of the year, month or day that a date names. */
static double middle(const char *date) {
    size_t length = strlen(date);
    double year = atof(date);
    if (length < 7) return year + 0.5;
    double month = atof(date + 5) - 1;
    return year +
           (length < 10 ? (month + 0.5) / 12 : month / 12 + (atof(date + 8) - 0.5) / 365.25);
}

double fr_drift_years(const char *date, const char *other) {
    return middle(date) - middle(other);
}

double fr_drift_deviation(const struct fr_drift *drift) {
    return drift->width * sqrt(drift->years);
}

double fr_drift_moved(const struct fr_drift *drift) {
    return (drift->older ? -drift->mean : drift->mean) * drift->years;
}

const char *fr_drift_line(const struct fr_drift *drift, char *out, size_t capacity) {
    double deviation = fr_drift_deviation(drift), moved = expm1(fr_drift_moved(drift));
    char wider[96] = "";
    *out = '\0';
    if (!(drift->years > 0) || (!(deviation > 0) && moved == 0)) return out;
    if (moved != 0) snprintf(wider, sizeof wider, "time %+.0f %%, ", 100 * moved);
    if (*drift->date)
        snprintf(out, capacity,
                 "software of %s is %.1f years %s %s: %sinterval wider by %.0f %% (standard "
                 "deviation)",
                 drift->date, drift->years, drift->older ? "before" : "beyond", drift->since,
                 wider, 100 * expm1(deviation));
    else
        snprintf(out, capacity,
                 "software without a date, with facts of %s: %sinterval wider by %.0f %% "
                 "(standard deviation)",
                 drift->since, wider, 100 * expm1(deviation));
    return out;
}
