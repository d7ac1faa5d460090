/** @file
 *  What is each ingredient of the model worth?  Taken away one at a time, refitted, predicted again.  */
#ifndef FR_STUDIES_TRAINING_ABLATION_H
#define FR_STUDIES_TRAINING_ABLATION_H

#include "studies/training/table.h"

/** Add a row for each ingredient: mean error without it minus mean error with it, cross-validated
 *  over @p columns.  One that makes no difference of a tenth of a percent says that the rows do not
 *  resolve it; one that no row's prediction feels is left out. */
fr_status fr_ablation_add(struct fr_reproduction *r, const char *table, const char *preset,
                          const struct fr_table_set *set, const char *const *columns,
                          const struct fr_tune_options *options, struct fr_error *err);

#endif
