#include "base/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

/* Symbols of each quantity; `si` is the value of one in the SI unit.  Time takes its own
 * prefixes (m, u, n, p), everything else the large ones. */
static const struct quantity {
    const char *name, *example, *symbol;
} quantities[] = {
    [FR_QUANTITY_TIME] = {"time", "2 us", "s"},
    [FR_QUANTITY_SIZE] = {"size", "64 GiB", "B"},
    [FR_QUANTITY_RATE] = {"data rate", "25 GB/s", "B/s"},
    [FR_QUANTITY_WORK_RATE] = {"compute rate", "312 TFLOP/s", "FLOP/s"},
    [FR_QUANTITY_POWER] = {"power", "560 W", "W"},
    [FR_QUANTITY_ENERGY] = {"energy", "74.6 J", "J"},
    [FR_QUANTITY_INVERSE_RATE] = {"time per byte", "0.52 ns/B", "s/B"},
    [FR_QUANTITY_FREQUENCY] = {"frequency", "1.2 GHz", "Hz"},
};

static const struct symbol {
    const char *text;
    fr_quantity quantity;
    double si;
} symbols[] = {
    {"s", FR_QUANTITY_TIME, 1},           {"min", FR_QUANTITY_TIME, 60},
    {"h", FR_QUANTITY_TIME, 3600},        {"d", FR_QUANTITY_TIME, 86400},
    {"B", FR_QUANTITY_SIZE, 1},           {"b", FR_QUANTITY_SIZE, 0.125},
    {"B/s", FR_QUANTITY_RATE, 1},         {"b/s", FR_QUANTITY_RATE, 0.125},
    {"FLOP/s", FR_QUANTITY_WORK_RATE, 1}, {"flop/s", FR_QUANTITY_WORK_RATE, 1},
    {"W", FR_QUANTITY_POWER, 1},          {"J", FR_QUANTITY_ENERGY, 1},
    {"Wh", FR_QUANTITY_ENERGY, 3600},     {"s/B", FR_QUANTITY_INVERSE_RATE, 1},
    {"Hz", FR_QUANTITY_FREQUENCY, 1},
};

static const struct prefix {
    const char *text;
    double factor;
} prefixes[] = {
    {"", 1},
    {"Ki", 1024.0},
    {"Mi", 1048576.0},
    {"Gi", 1073741824.0},
    {"Ti", 0x1p40},
    {"Pi", 0x1p50},
    {"K", 1e3},
    {"k", 1e3},
    {"M", 1e6},
    {"G", 1e9},
    {"T", 1e12},
    {"P", 1e15},
    {"E", 1e18},
    {"m", 1e-3},
    {"u", 1e-6},
    {"\xc2\xb5", 1e-6},
    {"\xce\xbc", 1e-6}, /* micro as a Greek letter */
    {"n", 1e-9},
    {"p", 1e-12},
    {"f", 1e-15},
};

static bool prefix_fits(const struct prefix *prefix, const struct symbol *symbol) {
    bool binary = strlen(prefix->text) == 2 && prefix->text[1] == 'i';
    bool small = prefix->factor<1, large = prefix->factor> 1;
    switch (symbol->quantity) {
    case FR_QUANTITY_TIME:
        return !large && (!small || symbol->si == 1.0);
    case FR_QUANTITY_INVERSE_RATE:
        return !large;
    case FR_QUANTITY_SIZE:
    case FR_QUANTITY_RATE:
        return !small;
    case FR_QUANTITY_WORK_RATE:
    case FR_QUANTITY_FREQUENCY:
        return !small && !binary;
    case FR_QUANTITY_POWER:
    case FR_QUANTITY_ENERGY:
        return !binary;
    }
    return false;
}

/* Value of one @p unit in SI, and what it measures; false when the unit is unknown. */
static bool unit_find(const char *unit, double *si, fr_quantity *quantity) {
    for (size_t s = 0; s < sizeof symbols / sizeof *symbols; s++)
        for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++) {
            size_t length = strlen(prefixes[p].text);
            if (strncmp(unit, prefixes[p].text, length) != 0 ||
                strcmp(unit + length, symbols[s].text) != 0 ||
                !prefix_fits(&prefixes[p], &symbols[s]))
                continue;
            *si = prefixes[p].factor * symbols[s].si;
            *quantity = symbols[s].quantity;
            return true;
        }
    return false;
}

/* How else units are written: behind the same prefixes, capitals aside. */
static const struct {
    const char *written, *symbol;
} spellings[] = {
    {"bps", "b/s"},     {"Bps", "B/s"},        {"bit/s", "b/s"},     {"bits/s", "b/s"},
    {"byte/s", "B/s"},  {"bytes/s", "B/s"},    {"B/sec", "B/s"},     {"b/sec", "b/s"},
    {"B/s", "B/s"},     {"b/s", "b/s"},        {"FLOPS", "FLOP/s"},  {"FLOPs", "FLOP/s"},
    {"FLOP", "FLOP/s"}, {"FLOPs/s", "FLOP/s"}, {"FLOP/s", "FLOP/s"}, {"OPS", "FLOP/s"},
    {"B", "B"},         {"bytes", "B"},        {"byte", "B"},        {"", "B"},
    {"bit", "b"},       {"bits", "b"},         {"sec", "s"},         {"secs", "s"},
    {"second", "s"},    {"seconds", "s"},      {"s", "s"},           {"min", "min"},
    {"mins", "min"},    {"minute", "min"},     {"minutes", "min"},   {"h", "h"},
    {"hr", "h"},        {"hrs", "h"},          {"hour", "h"},        {"hours", "h"},
    {"d", "d"},         {"day", "d"},          {"days", "d"},        {"W", "W"},
    {"watt", "W"},      {"watts", "W"},        {"J", "J"},           {"joule", "J"},
    {"joules", "J"},    {"Wh", "Wh"},          {"Hz", "Hz"}};

/* The unit of @p quantity that @p written most likely means, into @p unit of 32 bytes. @return whether there is one */
static bool unit_meant(const char *written, fr_quantity quantity, char unit[32]) {
    int (*const same[])(const char *, const char *) = {strcmp, strcasecmp};
    for (int loose = 0; loose < 2; loose++)
        for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++)
            for (size_t s = 0; s < sizeof spellings / sizeof *spellings; s++) {
                char candidate[32];
                double si;
                fr_quantity found;
                snprintf(candidate, sizeof candidate, "%s%s", prefixes[p].text,
                         spellings[s].written);
                snprintf(unit, 32, "%s%s", prefixes[p].text, spellings[s].symbol);
                if (same[loose](candidate, written) == 0 && unit_find(unit, &si, &found) &&
                    found == quantity)
                    return true;
            }
    return false;
}

/* Behind a number of digits alone, in which the comma divides thousands. @return its value, or 0 */
static double thousands(const char *text, char **end) {
    char digits[32];
    size_t n = 0, group = strspn(text, "0123456789");
    bool any = false;
    while (group > 0 && n + group < sizeof digits) {
        memcpy(digits + n, text, group);
        n += group;
        text += group;
        size_t next = *text == ',' ? strspn(text + 1, "0123456789") : 0;
        if (next != 3) break;
        text++;
        group = next;
        any = true;
    }
    digits[n < sizeof digits ? n : 0] = '\0';
    *end = (char *)text;
    return any ? strtod(digits, NULL) : 0;
}

/* Units to choose from for a number without one: of options, which people type, the large ones. */
static const char *units_offered(fr_quantity quantity, const char *where, int i) {
    static const char *const offered[][4] = {[FR_QUANTITY_TIME] = {"s", "min", "h", NULL},
                                             [FR_QUANTITY_SIZE] = {"GiB", "GB", NULL},
                                             [FR_QUANTITY_RATE] = {"GB/s", "Gb/s", NULL},
                                             [FR_QUANTITY_WORK_RATE] = {"TFLOP/s", NULL},
                                             [FR_QUANTITY_POWER] = {"W", "kW", NULL},
                                             [FR_QUANTITY_ENERGY] = {"J", "kWh", NULL},
                                             [FR_QUANTITY_INVERSE_RATE] = {"ns/B", NULL},
                                             [FR_QUANTITY_FREQUENCY] = {"GHz", "MHz", NULL}};
    bool option = where && strncmp(where, "--", 2) == 0 && where[2] && !strchr(where, '#');
    return option ? offered[quantity][i] : NULL;
}

static fr_status without_unit(const char *text, fr_quantity quantity, const char *where,
                              struct fr_error *err) {
    char list[160];
    size_t used = 0;
    int n = 0;
    *list = '\0';
    while (units_offered(quantity, where, n)) n++;
    if (n == 0)
        return fr_fail(err, FR_ERR_INPUT, where, "\"%.64s\" has no unit; write e.g. \"%s\"",
                       text, quantities[quantity].example);
    for (int i = 0; i < n; i++)
        fr_line_addf(list, sizeof list, &used, "%s\"%.40s %s\"",
                     i == 0      ? ""
                     : i + 1 < n ? ", "
                                 : " or ",
                     text, units_offered(quantity, where, i));
    return fr_fail(err, FR_ERR_INPUT, where, "\"%.64s\" has no unit; write %s", text, list);
}

static fr_status unknown_unit(const char *text, double number, const char *unit,
                              fr_quantity quantity, const char *where, struct fr_error *err) {
    char meant[32], *rest = NULL;
    double grouped = *unit == ',' ? thousands(text, &rest) : 0;
    if (grouped > 0) {
        rest += strspn(rest, " ");
        return fr_fail(err, FR_ERR_INPUT, where,
                       "\"%.64s\" has a comma in its number; write \"%.15g %.20s\"", text,
                       grouped, *rest ? rest : quantities[quantity].symbol);
    }
    if (unit_meant(unit, quantity, meant))
        return fr_fail(err, FR_ERR_INPUT, where,
                       "unknown unit \"%s\" in \"%.64s\"; write \"%.12g %s\"", unit, text,
                       number, meant);
    return fr_fail(err, FR_ERR_INPUT, where,
                   "unknown unit \"%s\" in \"%.64s\"; write e.g. \"%s\"", unit, text,
                   quantities[quantity].example);
}

const char *fr_quantity_name(fr_quantity q) { return quantities[q].name; }
const char *fr_quantity_example(fr_quantity q) { return quantities[q].example; }

/* strtod also takes hexadecimal, "inf" and "nan": only decimal numbers are input. */
static bool decimal(const char *text) {
    if (*text == '-' || *text == '+') text++;
    if (*text == '.') text++;
    return *text >= '0' && *text <= '9' &&
           !(text[0] == '0' && (text[1] == 'x' || text[1] == 'X'));
}

fr_status fr_quantity_parse(const char *text, fr_quantity quantity, const char *where,
                            double *si, struct fr_error *err) {
    const char *example = quantities[quantity].example, *start = text;
    char *unit = NULL, copy[32];
    while (*start == ' ') start++;
    if (!decimal(start))
        return fr_fail(err, FR_ERR_INPUT, where, "\"%.64s\" is no %s; write e.g. \"%s\"", text,
                       quantities[quantity].name, example);
    double number = strtod(start, &unit);
    if (!isfinite(number))
        return fr_fail(err, FR_ERR_INPUT, where, "\"%.64s\" is too large a number", text);
    while (*unit == ' ') unit++;
    size_t length = strlen(unit);
    while (length > 0 && unit[length - 1] == ' ') length--;
    if (length == 0) return without_unit(text, quantity, where, err);
    snprintf(copy, sizeof copy, "%.*s", (int)(length < 31 ? length : 31), unit);
    double factor;
    fr_quantity found;
    if (!unit_find(copy, &factor, &found))
        return unknown_unit(text, number, copy, quantity, where, err);
    if (found != quantity)
        return fr_fail(err, FR_ERR_INPUT, where,
                       "\"%.64s\" is %s, where %s is expected; write e.g. \"%s\"", text,
                       quantities[found].name, quantities[quantity].name, example);
    number *= factor;
    if (!isfinite(number))
        return fr_fail(err, FR_ERR_INPUT, where, "\"%.64s\" is too large a number", text);
    *si = number;
    return FR_OK;
}

static const struct prefix decimal_prefixes[] = {
    {"f", 1e-15}, {"p", 1e-12}, {"n", 1e-9}, {"u", 1e-6}, {"m", 1e-3}, {"", 1},
    {"k", 1e3},   {"M", 1e6},   {"G", 1e9},  {"T", 1e12}, {"P", 1e15}, {"E", 1e18}};
enum { N_DECIMAL = sizeof decimal_prefixes / sizeof *decimal_prefixes, NO_PREFIX = 5 };

/* Index of the prefix that leaves 1 <= |si| / factor < 1000, within what the unit takes. */
static int fitting_prefix(double si, fr_quantity quantity) {
    bool small = quantity == FR_QUANTITY_TIME || quantity == FR_QUANTITY_INVERSE_RATE ||
                 quantity == FR_QUANTITY_POWER || quantity == FR_QUANTITY_ENERGY;
    bool large = quantity != FR_QUANTITY_TIME && quantity != FR_QUANTITY_INVERSE_RATE;
    int first = small ? 0 : NO_PREFIX, last = large ? N_DECIMAL - 1 : NO_PREFIX;
    if (si == 0) return NO_PREFIX;
    int i = first;
    while (i < last && fabs(si) >= 0.99995 * decimal_prefixes[i + 1].factor) i++;
    return i;
}

const char *fr_quantity_format(double si, fr_quantity quantity, char *out, size_t capacity) {
    int i = fitting_prefix(si, quantity);
    double shown = si / decimal_prefixes[i].factor;
    int digits = fabs(shown) >= 999.95 || shown == 0 ? 0
                 : fabs(shown) >= 99.995             ? 1
                 : fabs(shown) >= 9.9995             ? 2
                                                     : 3;
    if (quantity == FR_QUANTITY_SIZE && i == NO_PREFIX) digits = 0;
    snprintf(out, capacity, "%.*f %s%s", digits, shown, decimal_prefixes[i].text,
             quantities[quantity].symbol);
    return out;
}

const char *fr_quantity_write(double si, fr_quantity quantity, char *out, size_t capacity) {
    int i = fitting_prefix(si, quantity);
    double factor = decimal_prefixes[i].factor;
    for (int digits = 6; digits <= 17; digits++) {
        char number[40];
        snprintf(number, sizeof number, "%.*g", digits, si / factor);
        if (strtod(number, NULL) * factor == si) {
            snprintf(out, capacity, "%s %s%s", number, decimal_prefixes[i].text,
                     quantities[quantity].symbol);
            return out;
        }
    }
    snprintf(out, capacity, "%.17g %s", si, quantities[quantity].symbol);
    return out;
}
