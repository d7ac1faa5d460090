/** @file
 *  A search on many processes: what the program that starts them says of it. */
#ifndef FR_APP_SPREAD_H
#define FR_APP_SPREAD_H

#include "answer/search/spread.h"

/** From now on `search` is handed out so (of the process: for main). */
void fr_app_search_everywhere(const struct fr_spread *spread);

#endif
