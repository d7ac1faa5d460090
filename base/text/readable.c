#include "base/text/readable.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *fr_group_thousands(const char *number, char *out, size_t capacity) {
    size_t sign = number[0] == '-', digits = strspn(number + sign, "0123456789"), used = 0;
    for (size_t i = 0; i < sign + digits && used + 2 < capacity; i++) {
        if (i > sign && (digits - (i - sign)) % 3 == 0) out[used++] = ',';
        out[used++] = number[i];
    }
    snprintf(out + used, capacity - used, "%s", number + sign + digits);
    return out;
}

static double three_digits(double value) {
    char text[FR_READABLE];
    snprintf(text, sizeof text, "%.2e", value);
    double rounded = 0;
    return sscanf(text, "%lf", &rounded) == 1 ? rounded : value;
}

const char *fr_readable(double si, fr_quantity quantity, char out[FR_READABLE]) {
    char four[FR_READABLE];
    snprintf(out, FR_READABLE, "-");
    if (!isfinite(si)) return out;
    fr_quantity_format(three_digits(si), quantity, four, sizeof four);
    char *point = strchr(four, '.'), *unit = strchr(four, ' ');
    if (point && unit) { /* the fourth digit is a 0 */
        char *end = unit - 1 - (unit - point == 2);
        memmove(end, unit, strlen(unit) + 1);
    }
    return fr_group_thousands(four, out, FR_READABLE);
}

const char *fr_readable_range(double low, double high, fr_quantity quantity,
                              char out[2 * FR_READABLE]) {
    char a[FR_READABLE], b[FR_READABLE];
    fr_readable(low, quantity, a);
    fr_readable(high, quantity, b);
    const char *one = strchr(a, ' '), *other = strchr(b, ' ');
    const bool same = one && other && strcmp(one, other) == 0;
    snprintf(out, 2 * FR_READABLE, "%.*s to %.35s", same ? (int)(one - a) : 35, a, b);
    return out;
}

const char *fr_readable_number(double value, char out[FR_READABLE]) {
    char plain[FR_READABLE];
    snprintf(out, FR_READABLE, "-");
    if (!isfinite(value)) return out;
    snprintf(plain, sizeof plain, fabs(value) >= 999.5 && fabs(value) < 1e15 ? "%.0f" : "%.3g",
             value);
    return fr_group_thousands(plain, out, FR_READABLE);
}

const char *fr_readable_count(int64_t count, char out[FR_READABLE]) {
    char plain[FR_READABLE];
    snprintf(plain, sizeof plain, "%" PRId64, count);
    return fr_group_thousands(plain, out, FR_READABLE);
}

const char *fr_readable_percent(double share, char out[FR_READABLE]) {
    char number[FR_READABLE];
    const double percent = 100 * share;
    if (!isfinite(share)) {
        snprintf(out, FR_READABLE, "-");
        return out;
    }
    snprintf(number, sizeof number, "%.*f", fabs(percent) < 9.95, percent);
    fr_group_thousands(number, out, FR_READABLE);
    size_t used = strlen(out);
    snprintf(out + used, FR_READABLE - used, " %%");
    return out;
}
