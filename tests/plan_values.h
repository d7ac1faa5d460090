/** @file
 *  Random plans over all keys, each value as --set takes it. */
#ifndef FR_TESTS_PLAN_VALUES_H
#define FR_TESTS_PLAN_VALUES_H

#include <stdio.h>
#include <string.h>

#include "models/plan/key.h"

/** A number 0..n-1 (xorshift). */
static inline uint64_t fr_test_random(uint64_t *state, uint64_t n) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state % n;
}

static inline const char *fr_test_one_of(uint64_t *state, const char *const *words) {
    uint64_t n = 0;
    while (words[n]) n++;
    return words[fr_test_random(state, n)];
}

/** A value of @p key: small numbers, any word, lists that may fit. @return @p out. */
static inline const char *fr_test_value(const struct fr_plan_key *key, uint64_t *state,
                                        char *out, size_t capacity) {
    static const char *const bools[] = {"true", "false", NULL};
    static const char *const lists[] = {"[1,2]", "[2,1,1,2]", "[6,6]", "[4]", "[5,7]", NULL};
    static const char *const orders[] = {"1f1b",
                                         "gpipe",
                                         "interleaved",
                                         "zero-bubble",
                                         "1f1b-double",
                                         "[\"F0 B0 F1 B1\"]",
                                         "[\"F0 F1 B0 B1\"]",
                                         "[\"F0 F1 B0 B1\",\"F0 B0 F1 B1\"]",
                                         NULL};
    static const char *const rank_map[] = {
        "linear",      "round-robin", "by-axis:dp", "by-axis:pp-dp-tp", "optimised",
        "optimised:7", "[1,0]",       "[3,2,1,0]",  "[0,1,2,3]",        NULL};
    static const char *const sizes[] = {"25 MiB", "1 MiB", "1000003 B", "0.3 GB", NULL};
    static const char *const clocks[] = {
        "full",         "full", "full",  "full",    "full",
        "full",         "full", "slack", "1.2 GHz", "[\"1.41 GHz\",\"1200 MHz\"]",
        "999999999 Hz", NULL};
    static const char *const caps[] = {"none", "300 W", "[\"400 W\",\"250 W\"]", NULL};
    static const char *const numbers[] = {"0.1", "157", "1e6", "3.0000000000000004", NULL};
    if (key->type == &fr_plan_integer) {
        double span = key->most - key->least < 3 ? key->most - key->least : 3;
        snprintf(out, capacity, "%lld",
                 (long long)key->least +
                     (key->least < 1 || fr_test_random(state, 4) == 0
                          ? (long long)fr_test_random(state, (uint64_t)span + 1)
                          : (1LL << fr_test_random(state, 3)) - 1));
        return out;
    }
    const char *word = key->type == &fr_plan_bool        ? fr_test_one_of(state, bools)
                       : key->type == &fr_plan_number    ? fr_test_one_of(state, numbers)
                       : key->type == &fr_plan_size      ? fr_test_one_of(state, sizes)
                       : key->type == &fr_plan_order     ? fr_test_one_of(state, orders)
                       : key->type == &fr_plan_placement ? fr_test_one_of(state, rank_map)
                       : key->type == &fr_plan_quantities && fr_test_random(state, 8)
                           ? key->words[0] /* few devices state their clocks */
                       : key == &fr_plan_keys[FR_PLAN_KEY_clock] ? fr_test_one_of(state, clocks)
                       : key == &fr_plan_keys[FR_PLAN_KEY_power_cap]
                           ? fr_test_one_of(state, caps)
                       : key->type == &fr_plan_list && fr_test_random(state, 2)
                           ? fr_test_one_of(state, lists)
                           : fr_test_one_of(state, key->words);
    snprintf(out, capacity, "%s", word);
    return out;
}

/** Say about every @p one_in -th key something. */
static inline fr_status fr_test_plan_document(uint64_t *state, uint64_t one_in,
                                              struct fr_json_document **document) {
    char text[160];
    FR_TRY(fr_json_parse("{}", 2, "plan", document, NULL));
    for (int i = 0; i < FR_PLAN_KEYS; i++)
        if (fr_test_random(state, one_in) == 0)
            FR_TRY(fr_json_set(*document, fr_plan_keys[i].name,
                               fr_test_value(&fr_plan_keys[i], state, text, sizeof text),
                               "test", NULL));
    return FR_OK;
}

#endif
