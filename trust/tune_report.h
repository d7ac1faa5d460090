/** @file
 *  What a tuning found: as a table for people, and in the cluster file. */
#ifndef FR_TRUST_TUNE_REPORT_H
#define FR_TRUST_TUNE_REPORT_H

#include "trust/tune.h"

/** Each coefficient with its prior, posterior and how much the rows said. */
void fr_tune_print(const struct fr_tune_result *result, struct fr_text *text);

/** The object "tuning" of a cluster file, with the names of the runs. */
void fr_tune_json(struct fr_json_writer *w, const struct fr_tune_result *result,
                  const struct fr_run *const *runs, int n);

/** Set the fitted coefficients and "tuning" in @p document, the cluster file that was tuned, and leave out the widths of
 *  what "tuning" has. */
fr_status fr_tune_apply(struct fr_json_document *document, const struct fr_tune_result *result,
                        const struct fr_run *const *runs, int n, struct fr_error *err);

/** Set coefficient @p j of @p document, a cluster file, to result->tuned[j].value. */
fr_status fr_tune_set_value(struct fr_json_document *document,
                            const struct fr_tune_result *result, int j, struct fr_error *err);

#endif
