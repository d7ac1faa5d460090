/** @file
 *  What the lines of several plans have in common, to be said once for all of them.
 *
 *  A key is common where every line says it with the same value.  Method and mesh stay in every
 *  line, and so does a key that another one in the line hangs on ("SC 3 r128") and that differs. */
#ifndef FR_MODELS_PLAN_COMMON_H
#define FR_MODELS_PLAN_COMMON_H

#include "models/plan/key.h"

/** Begin with zeros. */
struct fr_plan_common {
    struct fr_plan first;   /**< its lists must outlive this */
    fr_plan_key_set same;   /**< of all plans */
    fr_plan_key_set stated; /**< by any */
    fr_plan_key_set always; /**< by every one */
    size_t plans;
};

void fr_plan_common_add(struct fr_plan_common *common, const struct fr_plan *plan);

/** The keys to leave out of every line; none of one plan alone. */
fr_plan_key_set fr_plan_common_keys(const struct fr_plan_common *common);

/** Text of the common keys: "flash, batch 512", or "".
 *  @return @p out. */
const char *fr_plan_common_line(const struct fr_plan_common *common, char *out,
                                size_t capacity);

/** By how much lines become shorter without it. */
size_t fr_plan_common_length(const struct fr_plan_common *common);

#endif
