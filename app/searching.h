/** @file
 *  How to search, from the command line, the same way for every verb that searches. */
#ifndef FR_APP_SEARCHING_H
#define FR_APP_SEARCHING_H

#include "app/options.h"
#include "search/search.h"

/** Read --objective, --per-iteration, --top, --memory-limit, --max-lossy and --threads, those that a
 *  verb has. */
fr_status fr_app_search_options(const struct fr_args *args, struct fr_search_options *o,
                                struct fr_error *err);

/** Does the user allow plans that lose something? */
bool fr_app_search_lossy(const struct fr_args *args, const struct fr_search_options *o);

#endif
