#include "base/duration.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *unit;
    double s;
} units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}};

fr_status fr_duration_parse(const char *text, const char *option, double min_s, double max_s,
                            double *time_s, struct fr_error *err) {
    char *end = NULL;
    double value = strtod(text, &end), found_s = -1;
    if (end != text)
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (strcmp(end + strspn(end, " "), units[i].unit) == 0)
                found_s = value * units[i].s;
    if (!(found_s >= min_s && found_s <= max_s))
        return fr_fail(err, FR_ERR_USAGE, option,
                       "\"%.32s\" is no time from %g s to %g s; write e.g. 90, 90s, 10m or 1h",
                       text, min_s, max_s);
    *time_s = found_s;
    return FR_OK;
}
