/** @file
 *  Which real program runs a plan. */
#ifndef FR_REAL_VALIDATE_PROGRAM_H
#define FR_REAL_VALIDATE_PROGRAM_H

#include "models/plan/plan.h"
#include "models/workload/workload.h"

/** The program (real/apps/app_list.h) for @p plan of @p workload: the skeleton for any plan,
 *  but for sub-graphs, for layers with a grid of their own, and for transformers.  Whether it can run this one,
 *  it says itself. */
const char *fr_validate_program(const struct fr_workload *workload, const struct fr_plan *plan);

#endif
