/** @file
 *  Numbers as people write them: three significant digits, thousands apart.
 *
 *      30.0365 s -> "30.0 s"     1639.6 B/s -> "1.64 kB/s"     558562.3 -> "558,562"     0.01234 -> "0.0123"
 *
 *  Tables that are compared digit by digit use fr_quantity_format, which has four. */
#ifndef FR_BASE_TEXT_READABLE_H
#define FR_BASE_TEXT_READABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

enum { FR_READABLE = 40 };

/** "30.1 s", "16.2 MJ", "1,640 s"; "-" where it is not finite.  @return @p out */
const char *fr_readable(double si, fr_quantity quantity, char out[FR_READABLE]);

/** "27.2 to 34.1 s": both ends in one unit where they have the same.  @return @p out */
const char *fr_readable_range(double low, double high, fr_quantity quantity,
                              char out[2 * FR_READABLE]);

/** A number without a unit: whole and in thousands from 1000 on; "-" where it is not finite.  @return @p out */
const char *fr_readable_number(double value, char out[FR_READABLE]);

/** A number that is already text with a comma before each three of the digits that it begins with; the rest stays.
 *  @return @p out */
const char *fr_group_thousands(const char *number, char *out, size_t capacity);

/** "2,048".  @return @p out */
const char *fr_readable_count(int64_t count, char out[FR_READABLE]);

/** A share of 0.0312 as "3.1 %", of 0.312 as "31 %", of -0.0456 as "-4.6 %".  @return @p out */
const char *fr_readable_percent(double share, char out[FR_READABLE]);

#endif
