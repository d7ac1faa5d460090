/** @file
 *  What is assumed of a plan and its model where nobody says otherwise?
 *
 *  fr_plan_default is how transformers were trained in 2019: scores in memory, gradients reduced after the
 *  last pass, norms on every rank.  A model whose file says `"defaults": "modern"` (a Hugging Face config
 *  does unless told otherwise) starts from what its frameworks have done since.  This is the one place that
 *  completes a plan, for every verb: a table of rows, each a key, when it is taken, its value and why
 *  (assume.c).  What anyone states goes before, and what was taken is printed beside the answer as
 *  `--set` takes it.
 *
 *  Rows of keys of a plan hold for each plan of a search by itself: what is left to do depends on its mesh.
 *  Rows of keys of the model depend on the model and the cluster alone.
 *
 *  To add one: a row in assume.c. */
#ifndef FR_MODELS_JOB_ASSUME_H
#define FR_MODELS_JOB_ASSUME_H

#include "models/job/job.h"

/** A row, as users read it. */
struct fr_assumption {
    const char *key;   /**< as --set takes it: of the plan, or "model...." */
    const char *value; /**< likewise; NULL: it depends on the plan */
    const char *when;  /**< it is taken, in words */
    const char *why;   /**< with its source */
};
/** Rows in table order, which is the order in which they are taken; @return NULL after the last. */
const struct fr_assumption *fr_assumption_at(int i);

/** Complete the model and the plan of @p job, as it stands: once, when it has been read.
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_job_assume(struct fr_job *job, struct fr_error *err);

/** Keys of rows that the document of a plan does not state. */
uint64_t fr_job_open(const struct fr_json *plan);

/** Complete @p plan, a plan of @p job that leaves the keys @p open. @return the keys taken. */
uint64_t fr_job_complete(const struct fr_job *job, uint64_t open, struct fr_plan *plan);

/** @p plan without what it took of @p keys. */
void fr_job_forget(const struct fr_job *job, uint64_t keys, struct fr_plan *plan);

/** Room for what fr_job_assumed writes. */
enum { FR_ASSUMED = 640 };

/** "attention flash, overlap gradient, ..." of @p plan, a plan of @p job (NULL: its own); "" where nothing was taken.
 *  @return @p out. */
const char *fr_job_assumed(const struct fr_job *job, const struct fr_plan *plan, char *out,
                           size_t capacity);

#endif
