/** @file
 *  How fast networks run, and beside SimGrid. */
#ifndef FR_TESTS_BENCH_NETWORK_H
#define FR_TESTS_BENCH_NETWORK_H

#include "base/status.h"

/** Print the lines.  @return FR_OK, or what could not be measured. */
fr_status fr_bench_network(struct fr_error *err);

#endif
