/** @file
 *  Reading how many further tokens a model predicts in training (models/work/predicted.h). */
#ifndef FR_MODELS_WORKLOAD_PREDICTED_H
#define FR_MODELS_WORKLOAD_PREDICTED_H

#include "models/workload/workload.h"

/** Read `predicted_tokens` of a transformer's file, whose adapters and cross-attention are known. */
fr_status fr_predicted_read(const struct fr_json *object, struct fr_transformer *t,
                            struct fr_error *err);

#endif
