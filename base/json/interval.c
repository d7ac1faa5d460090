#include "base/json/interval.h"

#include <stdio.h>
#include <string.h>

/* The longer of two that fit stands first. */
static const struct unit {
    const char *ending;
    fr_quantity quantity;
    bool known, /* else a rate of something else */
        apart;  /* else a part of the name */
} units[] = {{"_B_per_s", FR_QUANTITY_RATE, true, true},
             {"_flop_per_s_per_device", FR_QUANTITY_WORK_RATE, true, false},
             {"_flop_per_s", FR_QUANTITY_WORK_RATE, true, true},
             {"_per_s", FR_QUANTITY_TIME, false, false},
             {"_s", FR_QUANTITY_TIME, true, true},
             {"_J", FR_QUANTITY_ENERGY, true, true},
             {"_W", FR_QUANTITY_POWER, true, true},
             {"_B", FR_QUANTITY_SIZE, true, true}};

static const struct unit *find(const char *key, size_t length) {
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t n = strlen(units[i].ending);
        if (length >= n && strncmp(key + length - n, units[i].ending, n) == 0) return &units[i];
    }
    return NULL;
}

bool fr_unit_of(const char *key, size_t length, fr_quantity *quantity) {
    const struct unit *unit = find(key, length);
    if (!unit || !unit->known) return false;
    *quantity = unit->quantity;
    return true;
}

size_t fr_unit_begins(const char *key, size_t length) {
    const struct unit *unit = find(key, length);
    return unit && unit->apart ? length - strlen(unit->ending) : length;
}

const char *fr_unit_key(const char *key, const char *word, char out[FR_UNIT_KEY]) {
    size_t at = fr_unit_begins(key, strlen(key));
    snprintf(out, FR_UNIT_KEY, "%.*s%s%s%s", (int)at, key, at ? "_" : "", word, key + at);
    return out;
}

void fr_json_add_interval(struct fr_json_writer *w, const char *key, double low, double high) {
    char name[FR_UNIT_KEY];
    fr_json_add_number(w, fr_unit_key(key, "low", name), low);
    fr_json_add_number(w, fr_unit_key(key, "high", name), high);
}
