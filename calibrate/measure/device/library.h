/** @file
 *  A library of others, opened at run time: nothing of it is needed to build.
 *
 *  A table of functions is a struct of pointers and, beside it, a list of their names and places, made from one
 *  X-macro (calibrate/measure/device/cuda/driver_api.h is one).
 */
#ifndef FR_CALIBRATE_MEASURE_DEVICE_LIBRARY_H
#define FR_CALIBRATE_MEASURE_DEVICE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct fr_library_symbol {
    const char *name;
    size_t at; /**< of its pointer in the table */
};

struct fr_library {
    const char *id;           /**< of doctor's line */
    const char *name;         /**< as people call it */
    const char *const *files; /**< tried in turn, then NULL */
    const char *brings;       /**< what its package is, for who lacks it */
    const char *gives;        /**< what is measured with it */
    const struct fr_library_symbol *symbols;
    size_t n_symbols;
};

/** Open the first of the files that is there and fill @p table with all functions.
 *  @return FR_OK; FR_ERR_EXTERNAL: the library or a function is not there, in one sentence. */
fr_status fr_library_open(const struct fr_library *library, void **handle, void *table,
                          struct fr_error *err);
/** The same without a table: is it there, with all functions? */
fr_status fr_library_is_there(const struct fr_library *library, struct fr_error *err);
/** The libraries of all drivers, then NULL. */
extern const struct fr_library *const fr_device_libraries[];
/** NULL is nothing. */
void fr_library_close(void *handle);

#endif
