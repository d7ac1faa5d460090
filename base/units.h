/** @file
 *  Units live in three places and nowhere else:
 *    - in input strings ("25 GB/s"), parsed here into SI;
 *    - in names (`latency_s`, `size_B`, `rate_B_per_s`, `work_flop`, `energy_J`);
 *    - in report column heads and axis labels.
 *  Every double between input and report is in the SI unit its name ends with.
 *
 *  A unit is a prefix and one of the symbols s min h d, B b, B/s b/s, FLOP/s, W, J Wh, s/B.  Case
 *  carries meaning: b is a bit, B a byte.  K (or k) M G T P E are powers of 1000, Ki Mi Gi Ti Pi
 *  powers of 1024.  m u n p f divide time, power and energy.
 */
#ifndef FR_BASE_UNITS_H
#define FR_BASE_UNITS_H

#include <stddef.h>

#include "base/status.h"

typedef enum {
    FR_QUANTITY_TIME,         /**< s */
    FR_QUANTITY_SIZE,         /**< B */
    FR_QUANTITY_RATE,         /**< B/s */
    FR_QUANTITY_WORK_RATE,    /**< FLOP/s */
    FR_QUANTITY_POWER,        /**< W */
    FR_QUANTITY_ENERGY,       /**< J */
    FR_QUANTITY_INVERSE_RATE, /**< s/B */
    FR_QUANTITY_FREQUENCY,    /**< Hz */
} fr_quantity;

/** Parse "<number> <unit>" (blanks between optional) into the SI unit of @p quantity.
 *  @param where  place for the message, e.g. "cluster.json#/levels/0/latency"
 *  @return FR_OK; FR_ERR_INPUT when the number is missing or not finite, the unit is absent,
 *          unknown or of another quantity, or anything follows it. */
fr_status fr_quantity_parse(const char *text, fr_quantity quantity, const char *where,
                            double *si, struct fr_error *err);

/** "time", "size", ...: for messages. */
const char *fr_quantity_name(fr_quantity quantity);
/** An example with a unit, "2 us": for messages. */
const char *fr_quantity_example(fr_quantity quantity);

/** Write @p si for a person, four significant digits with the fitting decimal prefix:
 *  "36.31 ms", "65.54 MB", "47.90 TFLOP/s".  @return @p out. */
const char *fr_quantity_format(double si, fr_quantity quantity, char *out, size_t capacity);

/** Write @p si exactly (it parses back to the same double) with a convenient unit, as files
 *  hold it: "2 us", "25 GB/s".  @return @p out. */
const char *fr_quantity_write(double si, fr_quantity quantity, char *out, size_t capacity);

/** Limits of values in files: rates [B/s], and the longest time of a message or a launch [s]. */
#define FR_RATE_MIN_B_PER_S 1.0
#define FR_RATE_MAX_B_PER_S 1e18
#define FR_COST_MAX_S 3600.0

#endif
