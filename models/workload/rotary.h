/** @file
 *  Which base do a model's rotary positions have?
 *
 *  Position m turns a pair of a head's values by m base^(-2i/d) (Su et al., RoFormer, 2021, Eq. 15).  No time depends on
 *  it, so no workload has it; a launch script must state it where the trainer's own is another. */
#ifndef FR_MODELS_WORKLOAD_ROTARY_H
#define FR_MODELS_WORKLOAD_ROTARY_H

#include "base/json.h"

/** `rotary_base` of a model file; of a config.json `rope_theta`, or that of its `rope_parameters`.  NaN: not said, or
 *  @p model is NULL. */
double fr_rotary_base(const struct fr_json_document *model);

/** Check `rotary_base` of a transformer's file.
 *  @return FR_OK; FR_ERR_INPUT for a base that is none, or beside positions that do not turn */
fr_status fr_rotary_check(const struct fr_json *object, bool rotary, struct fr_error *err);

#endif
