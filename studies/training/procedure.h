/** @file
 *  How the rows of a table are predicted: what is fitted to what.
 *
 *  No procedure predicts a row by coefficients that were fitted to it. */
#ifndef FR_STUDIES_TRAINING_PROCEDURE_H
#define FR_STUDIES_TRAINING_PROCEDURE_H

#include "studies/training/table.h"

/** A table to be made: its name, a sentence on its procedure, what it must reach, and the preset shown
 *  beside it where that is not the prior of the fit. */
struct fr_table_plan {
    const char *name, *procedure;
    const struct fr_table_limits *limits;
    const char *preset;
};

/** How all tables are tuned: many rows of a kind count as a hundred; a preset stays that its rows do not
 *  refute; on all processors. */
struct fr_tune_options fr_procedure_tuning(void);

/** Rows of equal @p columns are predicted from all the others.
 *  @param options  NULL: fr_procedure_tuning */
fr_status fr_procedure_cross(struct fr_reproduction *r, const struct fr_table_plan *table,
                             const struct fr_cluster *prior, const struct fr_table_set *set,
                             const char *const *columns, const struct fr_tune_options *options,
                             struct fr_error *err);

/** All rows are predicted from a fit to another set, which is left in @p tuned.
 *  @param options  NULL: fr_procedure_tuning */
fr_status fr_procedure_transfer(struct fr_reproduction *r, const struct fr_table_plan *table,
                                const struct fr_cluster *prior,
                                const struct fr_table_set *fitted,
                                const struct fr_table_set *set,
                                const struct fr_tune_options *options,
                                struct fr_tune_result *tuned, struct fr_error *err);

/** Each model of the set in turn gives the coefficients for all others; a row is predicted as often
 *  as there are other models.  No table where there is but one model. */
fr_status fr_procedure_across(struct fr_reproduction *r, const struct fr_table_plan *table,
                              const struct fr_cluster *prior, const struct fr_table_set *set,
                              struct fr_error *err);

/** Layer times are taken from the rows at pp = 1, and the rows at pp > 1 predicted. */
fr_status fr_procedure_profiled(struct fr_reproduction *r, const struct fr_table_plan *table,
                                const struct fr_cluster *prior, const struct fr_table_set *set,
                                struct fr_error *err);

#endif
