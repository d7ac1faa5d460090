/** @file
 *  Parts of the cluster file of a fit, shared by write.c and write_card.c. */
#ifndef FR_CALIBRATE_FIT_WRITE_H
#define FR_CALIBRATE_FIT_WRITE_H

#include "calibrate/fit/parts.h"

/** For values whose last digits are noise: four significant digits are kept. */
void fr_fit_add_rounded(struct fr_json_writer *w, const char *key, double si,
                        fr_quantity quantity);
/** The same of a number without unit: four digits behind the point. */
void fr_fit_add_share(struct fr_json_writer *w, const char *key, double share);
void fr_fit_add_residuals(struct fr_json_writer *w, const struct fr_fit_quality *quality,
                          double beyond_octave);
void fr_fit_add_power(struct fr_json_writer *w, const struct fr_fit_result *result);

/** Were a dtype's products of others fitted? */
bool fr_fit_any_single(const struct fr_fit_result *result);
/** The base's device with what was measured in place of its own. */
void fr_fit_add_base_device(struct fr_json_writer *w, const struct fr_fit_result *result);
/** How wide measurements leave these values, beside the base's widths. */
void fr_fit_add_single_widths(struct fr_json_writer *w, const struct fr_fit_result *result);

#endif
