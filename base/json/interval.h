/** @file
 *  Keys carry their unit, and an interval is two keys: where is the unit in a key, and how are the ends called?
 *
 *      "iteration_time_s"  unit "_s"  ->  "iteration_time_low_s", "iteration_time_high_s"
 *      "_s"                           ->  "low_s", "high_s" */
#ifndef FR_BASE_JSON_INTERVAL_H
#define FR_BASE_JSON_INTERVAL_H

#include <stdbool.h>

#include "base/json.h"
#include "base/units.h"

/** The quantity that the unit of @p key, @p length of it, is of.  @return false where it ends with none of ours */
bool fr_unit_of(const char *key, size_t length, fr_quantity *quantity);
/** Where that unit begins; @p length where there is none, or where it is a rate of something else ("tokens_per_s"). */
size_t fr_unit_begins(const char *key, size_t length);

enum { FR_UNIT_KEY = 96 };
/** @p key with @p word before its unit.  @return @p out */
const char *fr_unit_key(const char *key, const char *word, char out[FR_UNIT_KEY]);

/** The two ends of an interval of what @p key names. */
void fr_json_add_interval(struct fr_json_writer *w, const char *key, double low, double high);

#endif
