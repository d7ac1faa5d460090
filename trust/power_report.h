/** @file
 *  What a fit of power found: as a table for people, and in the cluster file. */
#ifndef FR_TRUST_POWER_REPORT_H
#define FR_TRUST_POWER_REPORT_H

#include "base/json.h"
#include "trust/power_fit.h"

/** Each term with its prior, posterior and how much the runs said; nothing where no run was metered. */
void fr_power_fit_print(const struct fr_power_fit *fit, struct fr_text *text);

/** An object: rows, kinds, errors, terms. */
void fr_power_fit_json(struct fr_json_writer *w, const struct fr_power_fit *fit);

/** Set the fitted terms of @p cluster, and how sure they are, in @p document, the file it was read from. */
fr_status fr_power_fit_apply(struct fr_json_document *document,
                             const struct fr_cluster *cluster, const struct fr_power_fit *fit,
                             struct fr_error *err);

#endif
