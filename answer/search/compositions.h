/** @file
 *  Which methods go with which axes, and which axes with each other: every pair priced, or refused with
 *  a reason.
 *
 *  For each axis the table names a model and its settings; the answer is computed, not written
 *  down.  `forerun list compositions` prints it, and docs/reference/compositions.md shows it.  A
 *  test compares the two, and compares every priced pair with the event engine.
 */
#ifndef FR_ANSWER_SEARCH_COMPOSITIONS_H
#define FR_ANSWER_SEARCH_COMPOSITIONS_H

#include "models/outcome/cost.h"

enum { FR_COMPOSITION_SETS_MAX = 4 };

struct fr_composition {
    const char *axis;  /**< or kind of model */
    const char *model; /**< preset */
    const char
        *sets[FR_COMPOSITION_SETS_MAX]; /**< besides tp = dp = 2, batch 16, 4 ghost neurons */
};

/** Ended by a row without axis. */
extern const struct fr_composition fr_compositions[];

/** Load the job of a pair, on preset lassen.  Free with fr_job_free, also on error. */
fr_status fr_composition_load(const struct fr_composition *composition,
                              const struct fr_method *method, struct fr_job *job,
                              struct fr_error *err);

/** An axis that meets other axes on a transformer, and what sets it. */
struct fr_axis_setting {
    const char *name;
    const char *key;   /**< of the plan; two settings of one key do not meet */
    const char *model; /**< preset that has it, or NULL: any */
    const char *sets[4];
};

/** Ended by a row without name. */
extern const struct fr_axis_setting fr_axis_settings[];

/** Do the two meet, in the order of the table? */
bool fr_axes_meet(const struct fr_axis_setting *a, const struct fr_axis_setting *b);

/** Load the job of a pair under @p method on preset dgx-b300: tp = pp = 2, dp = 4, 32 samples by ones, of
 *  sub-graphs by twos.  Either may be NULL: the other alone.  @p model  NULL: what the pair needs.  Free
 *  with fr_job_free, also on error. */
fr_status fr_axes_load(const struct fr_method *method, const struct fr_axis_setting *a,
                       const struct fr_axis_setting *b, const char *model, struct fr_job *job,
                       struct fr_error *err);
/** The model that the pair is priced on. */
const char *fr_axes_model(const struct fr_axis_setting *a, const struct fr_axis_setting *b);

/** "priced", or the name of the first reason against it (fr_reason_names). */
const char *fr_composition_verdict(const struct fr_outcome *out);

#endif
