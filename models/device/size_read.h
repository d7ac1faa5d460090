/** @file
 *  A size in an object of a cluster file, for what states memory of software. */
#ifndef FR_MODELS_DEVICE_SIZE_READ_H
#define FR_MODELS_DEVICE_SIZE_READ_H

#include "base/json.h"

/** Read @p key of @p object, where it is there, up to 1 TB [B]. */
static inline fr_status fr_size_read(const struct fr_json *object, const char *key,
                                     double *size_B, struct fr_error *err) {
    return fr_json_get_quantity(object, key, false, FR_QUANTITY_SIZE, 0, 1e12, size_B, err);
}

#endif
