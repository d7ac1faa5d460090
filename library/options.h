/** @file
 *  Options of a call, from a caller that may have been compiled with another version: shorter ones
 *  leave the last members at their defaults, longer ones may say nothing there. */
#ifndef FR_LIBRARY_OPTIONS_H
#define FR_LIBRARY_OPTIONS_H

#include <stddef.h>

#include "base/status.h"

/** Copy @p given over the defaults in @p own of @p size bytes; both begin with a size_t, their own
 *  size.  NULL: the defaults.
 *  @param name  of the defaults' macro, for the sentence
 *  @return FR_OK or FR_ERR_USAGE */
fr_status fr_options_take(void *own, size_t size, const void *given, const char *name,
                          struct fr_error *err);

/** Index of @p word among @p choices (NULL-terminated), for option @p name.
 *  @return FR_OK or FR_ERR_USAGE */
fr_status fr_options_choice(const char *name, const char *word, const char *const *choices,
                            int *index, struct fr_error *err);

#endif
