/** @file
 *  Reading how evenly a mixture's router spreads tokens over its experts (models/work/experts.h). */
#ifndef FR_MODELS_WORKLOAD_ROUTING_H
#define FR_MODELS_WORKLOAD_ROUTING_H

#include "models/workload/workload.h"

/** Words of `balance` in the order of fr_balance, then NULL. */
extern const char *const fr_balance_names[];

/** Read `capacity`, `imbalance` and `balance` of a transformer's file, whose experts are known. */
fr_status fr_routing_read(const struct fr_json *object, struct fr_transformer *t,
                          struct fr_error *err);

#endif
