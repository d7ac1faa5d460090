/** @file
 *  How fast a search goes through the recipe of a transformer's pipeline. */
#ifndef FR_TESTS_BENCH_TRANSFORMER_H
#define FR_TESTS_BENCH_TRANSFORMER_H

#include "base/status.h"

/** Print what a second decides and prices of gpt3-175b on 4096 ranks, and how long seven million of its
 *  plans take. */
fr_status fr_bench_transformer(struct fr_error *err);

#endif
