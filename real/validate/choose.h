/** @file
 *  Configurations that a user chooses, in the words of search: a model and a plan file, --set and
 *  --vary KEY=RANGE, every combination of the values, for each program and rank count.
 *
 *  Keys that are not given are as in the first configuration of the designed set, and so is a
 *  model that is not given.  The method is the program's.  The axis that is neither set nor
 *  varied takes what is left of the ranks: dp where tp is given and for the program pipeline,
 *  else tp.
 */
#ifndef FR_REAL_VALIDATE_CHOOSE_H
#define FR_REAL_VALIDATE_CHOOSE_H

#include "real/validate/validate.h"

struct fr_validate_choice {
    const char *model, *plan;              /**< files or presets, or NULL */
    const char *const *sets, *const *vary; /**< "KEY=VALUE", "KEY=RANGE"; sets of the cluster
                                                 are passed over */
    int n_sets, n_vary;
};

/** Does @p choice say anything, or is the designed set meant? */
bool fr_validate_chosen(const struct fr_validate_choice *choice);

/** Append every combination of program @p app ("": of each plan its own, with a model) on @p ranks.
 *  @return FR_OK; FR_ERR_USAGE for what cannot be read; FR_ERR_INPUT for a bad value. */
fr_status fr_validate_choose(const char *app, int64_t ranks,
                             const struct fr_validate_choice *choice,
                             struct fr_validation *validation, struct fr_error *err);

/** Ranks of the plan that @p choice says, 0 where it says none. */
fr_status fr_validate_choice_ranks(const struct fr_validate_choice *choice, int64_t *ranks,
                                   struct fr_error *err);

/** FR_ERR_INPUT with the sentence of the first row that @p cluster's models refuse for any other
 *  reason than its memory. */
fr_status fr_validate_refuse(const struct fr_cluster *cluster,
                             const struct fr_validation *validation, struct fr_error *err);

#endif
