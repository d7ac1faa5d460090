/** @file
 *  What is assumed of a plan and its model where nobody says otherwise?
 *
 *  fr_plan_default is how transformers were trained in 2019: scores in memory, gradients reduced after the last pass,
 *  norms on every rank.  A model whose file says `"defaults": "modern"` starts from the later defaults of its
 *  frameworks (a Hugging Face config does so unless its file states another).  This is the one place that completes a
 *  plan, for every verb, by the facts of a runtime (runtime.h): each a key, when it is taken, its value and why.  A
 *  stated value wins over an assumed one.  Assumed values are printed beside the answer, in the form that `--set`
 *  takes.
 *
 *  Rows of keys of a plan hold for each plan of a search by itself: what is left to do depends on its mesh.
 *  Rows of keys of the model depend on the model and the cluster alone.
 *
 *  To add one: a fact in a runtime file; a key that none has yet: a row in fact_list.h. */
#ifndef FR_MODELS_JOB_ASSUME_H
#define FR_MODELS_JOB_ASSUME_H

#include "models/job/job.h"
#include "models/job/runtime.h"

/** A fact of plan or model, as users read it. */
struct fr_assumption {
    const char *key;  /**< as --set takes it: of the plan, or "model...." */
    char value[96];   /**< likewise, or the word of a rule of assume.c */
    const char *when; /**< it is taken, in words */
    const char *why;  /**< its source */
};
/** The i-th of @p runtime, in the order in which they are taken. @return false behind the last. */
bool fr_assumption_at(const struct fr_runtime *runtime, int i, struct fr_assumption *out);

/** The value of key @p key (a row of models/plan/key.h) as a fact of a runtime states it, @p text as JSON, into a plan of its
 *  own; of the word of a rule nothing.  @return FR_OK; FR_ERR_INPUT for what is no value of it. */
fr_status fr_assume_read(int key, const char *text, struct fr_plan *plan, struct fr_error *err);

/** Complete the model and the plan of @p job, as it stands: once, when it has been read.
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_job_assume(struct fr_job *job, struct fr_error *err);

/** Keys of rows that the document of a plan does not state. */
uint64_t fr_job_open(const struct fr_json *plan);

/** Complete @p plan, a plan of @p job that leaves the keys @p open. @return the keys taken. */
uint64_t fr_job_complete(const struct fr_job *job, uint64_t open, struct fr_plan *plan);

/** @p plan without what it took of @p keys. */
void fr_job_forget(const struct fr_job *job, uint64_t keys, struct fr_plan *plan);

/** Words behind what was assumed of @p plan: recipes for speed are left out where nobody names a release; else "". */
const char *fr_job_left_out(const struct fr_plan *plan);

/** Capacity for what fr_job_assumed writes. */
enum { FR_ASSUMED = 640 };

/** "attention flash, overlap gradient, ..." of @p plan, a plan of @p job (NULL: its own); "" where nothing was taken.
 *  @return @p out. */
const char *fr_job_assumed(const struct fr_job *job, const struct fr_plan *plan, char *out,
                           size_t capacity);

#endif
