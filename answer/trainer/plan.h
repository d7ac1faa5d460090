/** @file
 *  The plan and the model of a trainer's row, as documents that every verb reads. */
#ifndef FR_ANSWER_TRAINER_PLAN_H
#define FR_ANSWER_TRAINER_PLAN_H

#include "base/json.h"
#include "trust/runs/runs.h"

/** Is there a file at @p path, and of a trainer? */
bool fr_trainer_is_file(const char *path);
/** Read file @p path as answer/trainer/trainer.h does; sentences for the user are appended to @p stated.
 *  @return FR_OK; FR_ERR_INPUT; FR_ERR_NOMEM. */
fr_status fr_trainer_read_file(const char *path, const char *const *ignore, int n_ignore,
                               struct fr_run_row *row, struct fr_text *stated,
                               struct fr_error *err);
/** The row's keys of a plan, as the text of a plan file. */
fr_status fr_trainer_plan_text(const struct fr_run_row *row, struct fr_text *text,
                               struct fr_error *err);
/** Does the row hold a model's sizes, or a preset? */
/** Does @p row say how many devices trained?  @return FR_OK; FR_ERR_INPUT with how to state it */
fr_status fr_trainer_check_ranks(const struct fr_run_row *row, const char *path,
                                 struct fr_error *err);
/** Does @p row state all that a model of its own needs?  @p option states what is missing: "--set" or "--column".
 *  @return FR_OK, also for a row that names a preset or a file; FR_ERR_INPUT with the missing key and how to state it */
fr_status fr_trainer_check_model(const struct fr_run_row *row, const char *path,
                                 const char *option, struct fr_error *err);
bool fr_trainer_has_model(const struct fr_run_row *row);

#endif
