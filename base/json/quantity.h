/** @file
 *  A value with its unit as a member: "bandwidth": "25 GB/s". */
#ifndef FR_BASE_JSON_QUANTITY_H
#define FR_BASE_JSON_QUANTITY_H

#include "base/json.h"
#include "base/units.h"

/** Member @p key with all digits of @p si, so that reading it gives the same number (fr_quantity_write). */
void fr_json_add_quantity(struct fr_json_writer *w, const char *key, double si,
                          fr_quantity quantity);

#endif
