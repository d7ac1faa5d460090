#include "base/text/log_time.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const double EPOCH_FROM_S = 1e9, EPOCH_TO_S = 3e9;

struct moment {
    int year, month, day, hour, minute;
    double second;
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Exactly @p n digits. */
static bool digits(const char **at, int n, int *out) {
    int value = 0;
    for (int i = 0; i < n; i++) {
        if (!is_digit((*at)[i])) return false;
        value = 10 * value + ((*at)[i] - '0');
    }
    *out = value;
    *at += n;
    return true;
}

/* Days from 1970-01-01 to the first of March before, then on (Hinnant, "chrono-compatible low-level date
 * algorithms", days_from_civil). */
static double days_from_civil(int year, int month, int day) {
    int y = year - (month <= 2), era = y / 400, of_era = y - era * 400;
    int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t days = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    return (double)(era * INT64_C(146097) + days - 719468);
}

static double seconds(const struct moment *m) {
    return 86400 * days_from_civil(m->year, m->month, m->day) + 3600.0 * m->hour +
           60.0 * m->minute + m->second;
}

/* Adds the digits at @p at, which stand behind a decimal mark. */
static void add_fraction(const char **at, double *value) {
    double scale = 0.1;
    for (; is_digit(**at); ++*at, scale /= 10) *value += scale * (**at - '0');
}

/* "03:57:48", "03:57:48.161", "03:57:48,161" (a comma only before three digits and no more). */
static bool clock_of(const char **at, struct moment *m) {
    const char *p = *at;
    int second = 0;
    if (!digits(&p, 2, &m->hour) || *p++ != ':' || !digits(&p, 2, &m->minute) || *p++ != ':' ||
        !digits(&p, 2, &second) || m->hour > 24 || m->minute > 59 || second > 60)
        return false;
    m->second = second;
    bool comma =
        *p == ',' && is_digit(p[1]) && is_digit(p[2]) && is_digit(p[3]) && !is_digit(p[4]);
    if ((*p == '.' && is_digit(p[1])) || comma) {
        p++;
        add_fraction(&p, &m->second);
    }
    if (is_digit(*p)) return false;
    *at = p;
    return true;
}

/* "Z", "+02:00", "+0200", " UTC"; what is none is passed over. */
static double zone_of(const char **at) {
    const char *p = *at;
    int hour = 0, minute = 0;
    if (*p == 'Z') *at = p + 1;
    if (strncmp(p, " UTC", 4) == 0 && !isalnum((unsigned char)p[4])) *at = p + 4;
    if (*p != '+' && *p != '-') return 0;
    int sign = *p++ == '-' ? -1 : 1;
    if (!digits(&p, 2, &hour)) return 0;
    if (*p == ':') p++;
    if (!digits(&p, 2, &minute)) return 0;
    *at = p;
    return sign * (3600.0 * hour + 60.0 * minute);
}

static bool day_exists(const struct moment *m) {
    return m->year >= 1970 && m->year <= 2200 && m->month >= 1 && m->month <= 12 &&
           m->day >= 1 && m->day <= 31;
}

static const char *behind_day(const char *p) {
    static const char *const days[] = {"Mon ", "Tue ", "Wed ", "Thu ",
                                       "Fri ", "Sat ", "Sun ", NULL};
    for (int i = 0; days[i]; i++)
        if (strncmp(p, days[i], 4) == 0) return p + 4;
    return p;
}

/* "2026-05-09T03:57:48" and its kin, "Sat 2026-05-09 03:57:48 UTC". */
static bool numeric(const char **at, double *time_s) {
    struct moment m = {0};
    const char *p = behind_day(*at);
    if (!digits(&p, 4, &m.year)) return false;
    char part = *p;
    if (part == '-' || part == '/' || part == '.') p++;
    if (!digits(&p, 2, &m.month)) return false;
    if (!is_digit(part) && *p++ != part) return false;
    if (!digits(&p, 2, &m.day) || (*p != 'T' && *p != ' ' && *p != '_')) return false;
    p++;
    if (!clock_of(&p, &m) || !day_exists(&m)) return false;
    double zone_s = zone_of(&p);
    *time_s = seconds(&m) - zone_s;
    *at = p;
    return true;
}

static int month_of(const char *text) {
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int i = 0; i < 12; i++)
        if (strncmp(text, names + 3 * i, 3) == 0) return i + 1;
    return 0;
}

/* "May  9 03:57:48", "Sat May  9 03:57:48 2026". */
static bool named(const char **at, double *time_s) {
    struct moment m = {.year = 1970};
    const char *p = behind_day(*at);
    if (!(m.month = month_of(p)) || p[3] != ' ') return false;
    p += 4;
    if (*p == ' ') p++;
    if (!digits(&p, is_digit(*p) && is_digit(p[1]) ? 2 : 1, &m.day) || *p++ != ' ' ||
        !clock_of(&p, &m))
        return false;
    int year = 0;
    const char *after = p + 1;
    if (*p == ' ' && digits(&after, 4, &year) && year >= 1970 && year <= 2200 &&
        (*after == '\0' || strchr(" \t[],:\r\n", *after))) {
        m.year = year;
        p = after;
    }
    if (!day_exists(&m)) return false;
    *time_s = seconds(&m);
    *at = p;
    return true;
}

size_t fr_log_time(const char *text, double *time_s) {
    struct moment m = {.year = 1970, .month = 1, .day = 1};
    const char *at = text;
    double found_s = 0;
    if (!numeric(&at, &found_s) && !named(&at, &found_s)) {
        if (!clock_of(&at, &m)) return 0;
        found_s = seconds(&m);
    }
    if (time_s) *time_s = found_s;
    return (size_t)(at - text);
}

size_t fr_log_time_epoch(const char *text, double *time_s) {
    const char *at = text;
    double value = 0;
    for (; is_digit(*at); at++) value = 10 * value + (*at - '0');
    bool milliseconds = at - text == 13;
    if (at - text != 10 && !milliseconds) return 0;
    if (*at == '.' && is_digit(at[1])) {
        at++;
        add_fraction(&at, &value);
    }
    if (milliseconds) value /= 1000;
    if (value < EPOCH_FROM_S || value > EPOCH_TO_S) return 0;
    if (time_s) *time_s = value;
    return (size_t)(at - text);
}
