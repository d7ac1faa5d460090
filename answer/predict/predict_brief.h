/** @file
 *  A prediction on one screen: time, how sure, whether it fits, where the time goes, what would change it.
 *  The whole of it: answer/text/render.h. */
#ifndef FR_ANSWER_PREDICT_PREDICT_BRIEF_H
#define FR_ANSWER_PREDICT_PREDICT_BRIEF_H

#include "answer/predict/training.h"
#include "base/text/brief.h"
#include "models/outcome/outcome.h"

/** Rows of a priced plan, from the question to what would change it: of predict and of simulate.
 *  @param training  or NULL */
void fr_predict_rows(struct fr_brief *brief, const struct fr_job *job,
                     const struct fr_outcome *out, const struct fr_training *training);

/** @param again, search  the command that asked, and a search for a better plan (base/text/brief.h); "" where there is none */
void fr_predict_brief(struct fr_text *text, const struct fr_job *job,
                      const struct fr_outcome *out, const struct fr_training *training,
                      const char *again, const char *search);

#endif
