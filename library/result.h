/** @file
 *  The library's answer to a question. */
#ifndef FR_LIBRARY_RESULT_H
#define FR_LIBRARY_RESULT_H

#include "base/text.h"
#include "library/call.h"
#include "models/outcome/outcome.h"

struct forerun_result {
    struct fr_text json, text, notes;
    forerun_outcome *outcomes; /**< [count], their plans owned */
    size_t count, capacity;
};

/** An empty result, or NULL. */
forerun_result *fr_result_new(void);

/** Add what @p out of @p job costs.  @return FR_OK or FR_ERR_NOMEM */
fr_status fr_result_add(forerun_result *result, const struct fr_job *job,
                        const struct fr_outcome *out, struct fr_error *err);

/** Sentences of why @p out cannot be, as the error of the call. @return FR_ERR_INFEASIBLE */
fr_status fr_result_infeasible(const struct fr_job *job, const struct fr_outcome *out,
                               struct fr_error *err);

#endif
