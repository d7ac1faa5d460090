#include "plots/scale.h"

#include <math.h>
#include <stdio.h>

#include "base/text/readable.h"

void fr_scale_include(struct fr_scale *scale, double value) {
    if (!isfinite(value) || value <= 0) return;
    if (scale->low == 0 || value < scale->low) scale->low = value;
    if (value > scale->high) scale->high = value;
}

struct fr_scale fr_scale_padded(struct fr_scale seen) {
    if (seen.low == 0) return (struct fr_scale){1, 10};
    double span = log(seen.high / seen.low);
    double margin = fmax(span / 14, (log(2) - span) / 2);
    return (struct fr_scale){seen.low * exp(-margin), seen.high * exp(margin)};
}

static const char *unit_of(fr_quantity quantity) {
    switch (quantity) {
    case FR_QUANTITY_TIME:
        return "s";
    case FR_QUANTITY_ENERGY:
        return "J";
    case FR_QUANTITY_WORK_RATE:
        return "FLOP/s";
    default:
        return "B";
    }
}

const char *fr_scale_number(double value, int digits, char *out, size_t capacity) {
    char plain[64];
    int decimals = value != 0 ? digits - 1 - (int)floor(log10(fabs(value) * (1 + 1e-12))) : 0;
    if (!isfinite(value) || fabs(value) >= 1e15 || (value != 0 && fabs(value) < 1e-4)) {
        snprintf(out, capacity, "%.*g", digits, value);
        return out;
    }
    if (decimals < 0) { /* three digits of 16,437 are 16,400 */
        double unit = pow(10, -decimals);
        value = round(value / unit) * unit;
        decimals = 0;
    }
    int length = snprintf(plain, sizeof plain, "%.*f", decimals, value);
    while (decimals > 0 && plain[length - 1] == '0') length--, decimals--;
    if (length > 0 && plain[length - 1] == '.') length--;
    plain[length] = '\0';
    return fr_group_thousands(plain, out, capacity);
}

void fr_scale_linear(struct fr_picture *p, const char *axis, double high) {
    enum { TICKS = 8 };
    double unit = pow(10, floor(log10(high / TICKS))), step = unit;
    static const double steps[] = {1, 2, 5, 10};
    char text[40];
    for (int i = 0; i < 4 && (step = unit * steps[i]) * TICKS < high;) i++;
    fr_text_addf(&p->script, "set %srange [0:%.9g]\nset %stics (", axis, high, axis);
    for (int i = 0; i * step <= high * (1 + 1e-9); i++)
        fr_text_addf(&p->script, "%s'%s' %.9g", i ? ", " : "",
                     fr_scale_number(i * step, 6, text, sizeof text), i * step);
    fr_text_addf(&p->script, ")\n");
}

static const char *decimal_text(double si, fr_quantity quantity, char *out, size_t capacity) {
    static const char *const prefixes[] = {"p", "n", "u", "m", "", "k",
                                           "M", "G", "T", "P", "E"};
    int most = quantity == FR_QUANTITY_TIME ? 0 : 6; /* nobody reads kiloseconds */
    int thousands = si > 0 ? (int)floor(log10(si * (1 + 1e-12)) / 3) : 0;
    if (thousands < -4) thousands = -4;
    if (thousands > most) thousands = most;
    char number[40];
    snprintf(out, capacity, "%s %s%s",
             fr_scale_number(si / pow(1000, thousands), 4, number, sizeof number),
             prefixes[thousands + 4], unit_of(quantity));
    return out;
}

static const char *binary_text(double si, char *out, size_t capacity) {
    static const char *const prefixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    int step = si >= 1 ? (int)floor(log2(si) / 10) : 0;
    if (step > 5) step = 5;
    char number[40];
    snprintf(out, capacity, "%s %sB",
             fr_scale_number(ldexp(si, -10 * step), 4, number, sizeof number), prefixes[step]);
    return out;
}

const char *fr_scale_text(double si, fr_quantity quantity, char *out, size_t capacity) {
    if (quantity == FR_QUANTITY_SIZE) return binary_text(si, out, capacity);
    if (!isfinite(si)) {
        snprintf(out, capacity, "-");
        return out;
    }
    double digit = si != 0 ? pow(10, floor(log10(fabs(si))) - 2) : 1; /* three digits */
    return decimal_text(round(si / digit) * digit, quantity, out, capacity);
}

/* A set of ticks being written; ticks outside the range are left out. */
struct ticks {
    struct fr_text *script; /* NULL: only count */
    struct fr_scale range;
    fr_quantity quantity;
    int count;
    double apart, last; /* least ratio of a tick to the one before; 0: any */
    bool crowded;
};

static void add_tick(struct ticks *t, double at) {
    char label[40];
    if (at < t->range.low || at > t->range.high) return;
    t->count++;
    t->crowded = t->crowded || (t->last > 0 && at < t->last * t->apart);
    t->last = at;
    if (!t->script) return;
    if (t->quantity == FR_QUANTITY_SIZE)
        binary_text(at, label, sizeof label);
    else
        decimal_text(at, t->quantity, label, sizeof label);
    fr_text_addf(t->script, "%s'%s' %.9g", t->count > 1 ? ", " : "", label, at);
}

/* Mantissas by density; the last entries take every second, third, ... decade only. */
static const struct density {
    double mantissas[12]; /* then 0 */
    int every;
} densities[] = {{{1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}, 1},
                 {{1, 2, 3, 5, 7}, 1},
                 {{1, 2, 5}, 1},
                 {{1, 3}, 1},
                 {{1}, 1},
                 {{1}, 2},
                 {{1}, 3},
                 {{1}, 6},
                 {{1}, 12},
                 {{1}, 60}};
enum { N_DENSITIES = sizeof densities / sizeof *densities };

static void decimal_ticks(struct ticks *t, const struct density *d) {
    int first = (int)floor(log10(t->range.low)), last = (int)floor(log10(t->range.high));
    for (int decade = first; decade <= last; decade++) {
        if (decade % d->every != 0) continue;
        for (const double *m = d->mantissas; *m > 0; m++) add_tick(t, *m * pow(10, decade));
    }
}

static void binary_ticks(struct ticks *t, int every) {
    int first = (int)floor(log2(t->range.low)), last = (int)floor(log2(t->range.high));
    for (int power = first; power <= last; power++)
        if (power % every == 0) add_tick(t, ldexp(1, power));
}

/* The densest ticks that keep to the limit, written or counted. */
static void write_ticks(struct ticks *t, int ticks_max) {
    struct ticks counted = *t;
    int choice = 0, every = 1;
    counted.script = NULL;
    if (t->quantity == FR_QUANTITY_SIZE) {
        for (;; every = every == 4 ? 5 : every * 2) {
            counted.count = 0, counted.last = 0, counted.crowded = false;
            binary_ticks(&counted, every);
            if ((counted.count <= ticks_max && !counted.crowded) || every > 200) break;
        }
        binary_ticks(t, every);
        return;
    }
    for (; choice < N_DENSITIES - 1; choice++) {
        counted.count = 0, counted.last = 0, counted.crowded = false;
        decimal_ticks(&counted, &densities[choice]);
        if (counted.count <= ticks_max && !counted.crowded) break;
    }
    decimal_ticks(t, &densities[choice]);
}

static void begin_axis(struct fr_picture *p, const char *axis, struct fr_scale range) {
    fr_text_addf(&p->script, "set logscale %s\nset %srange [%.9g:%.9g]\nset %stics (", axis,
                 axis, range.low, range.high, axis);
}

/* Labels of an x axis, "200 ms", stand beside each other; those of a narrow panel are small. */
static double least_apart(const struct fr_picture *p, const char *axis, struct fr_scale range) {
    enum { NARROW_PX = 40, LABEL_PX = 56 };
    if (*axis != 'x' || !(p->placed.width > 0)) return 0;
    return pow(range.high / range.low, (p->stack.on ? NARROW_PX : LABEL_PX) / p->placed.width);
}

void fr_scale_axis(struct fr_picture *p, const char *axis, struct fr_scale seen,
                   fr_quantity quantity, int ticks_max) {
    struct ticks ticks = {
        .script = &p->script, .range = fr_scale_padded(seen), .quantity = quantity};
    ticks.apart = least_apart(p, axis, ticks.range);
    begin_axis(p, axis, ticks.range);
    write_ticks(&ticks, ticks_max);
    fr_text_addf(&p->script, ")\n");
}

void fr_scale_plain(struct fr_picture *p, const char *axis, struct fr_scale range) {
    static const double mantissas[] = {1, 2, 5};
    const int most = range.high / range.low > 2000 ? 1 : 3;
    int written = 0;
    begin_axis(p, axis, range);
    for (int power = (int)floor(log10(range.low)); pow(10, power) <= range.high; power++)
        for (int m = 0; m < most; m++) {
            double at = mantissas[m] * pow(10, power);
            if (at < range.low || at > range.high || written > 30) continue;
            fr_text_addf(&p->script, "%s'%g' %g", written++ ? ", " : "", at, at);
        }
    fr_text_addf(&p->script, ")\n");
}

void fr_scale_counts(struct fr_picture *p, const int64_t *values, int n, int ticks_max) {
    struct fr_scale seen = FR_SCALE_EMPTY;
    for (int i = 0; i < n; i++) fr_scale_include(&seen, (double)values[i]);
    seen = fr_scale_padded(seen);
    begin_axis(p, "x", seen);
    int written = 0;
    char text[40];
    double last = 0, apart = pow(seen.high / seen.low, 1.0 / (ticks_max + 1));
    bool all_fit = true;
    for (int i = 1; i < n; i++)
        all_fit = all_fit && (double)values[i] >= (double)values[i - 1] * apart;
    for (int power = 0; !all_fit && power < 63; power++) {
        double at = ldexp(1, power);
        if (at < seen.low || at > seen.high || at < last * apart) continue;
        fr_text_addf(&p->script, "%s'%s' %.0f", written++ ? ", " : "",
                     fr_scale_number(at, 15, text, sizeof text), at);
        last = at;
    }
    for (int i = 0; all_fit && i < n; i++)
        fr_text_addf(&p->script, "%s'%s' %lld", i ? ", " : "",
                     fr_scale_number((double)values[i], 15, text, sizeof text),
                     (long long)values[i]);
    fr_text_addf(&p->script, ")\n");
}

void fr_scale_percent(struct fr_picture *p, const char *axis, double low, double high) {
    fr_text_addf(&p->script, "set %srange [%.9g:%.9g]\nset format %s '%%g %%%%'\n", axis, low,
                 high, axis);
}
