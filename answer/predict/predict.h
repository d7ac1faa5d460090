/** @file
 *  One plan answered: what an iteration costs, with an interval, and the document of it. */
#ifndef FR_ANSWER_PREDICT_PREDICT_H
#define FR_ANSWER_PREDICT_PREDICT_H

#include "answer/predict/training.h"

/** Who prices it, in the order of fr_engine_names (answer/outcome/report.h). */
typedef enum { FR_ENGINE_CLOSED, FR_ENGINE_EVENT, FR_ENGINE_SIMGRID } fr_engine;

/** Cost of an iteration of the job's plan by @p engine.  A grid per layer that was left open is
 *  chosen, and kept in @p job.
 *  @return FR_OK, also for a plan that cannot be (out->reasons); what choosing or simulating gave;
 *          FR_ERR_NOMEM. */
fr_status fr_predict(struct fr_job *job, fr_engine engine, struct fr_outcome *out,
                     struct fr_error *err);

/** The document of --json: the outcome; with a training that is asked for, or an explanation (what
 *  binds, and what would change it), they and the outcome are members of one of its own.
 *  @param training  or NULL */
void fr_predict_json(struct fr_text *text, const struct fr_job *job,
                     const struct fr_outcome *outcome, const struct fr_training *training,
                     bool explain);

#endif
