/** @file
 *  A plan from wherever one stands: a plan file, or what forerun itself printed of one.
 *
 *  An answer of --json says its schema.  Its plan is its "plan"; else that of its "outcome", or of its "best", which is an
 *  outcome or the name of one among its "plans". */
#ifndef FR_MODELS_JOB_PLAN_DOCUMENT_H
#define FR_MODELS_JOB_PLAN_DOCUMENT_H

#include "base/json.h"

/** Read the plan that @p name stands for (models/job/preset.h).  Messages about one in an answer say where it stands there.
 *  @return FR_OK; FR_ERR_INPUT, also of an answer that has no plan, or of which none can be. */
fr_status fr_plan_document_read(const char *name, struct fr_json_document **document,
                                struct fr_error *err);

#endif
