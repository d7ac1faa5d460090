/** @file
 *  A table of fitted terms for people, 80 columns wide: what a run's time or its joules were fitted with. */
#ifndef FR_TRUST_FITTED_ROW_H
#define FR_TRUST_FITTED_ROW_H

#include <stdbool.h>

#include "base/text.h"

struct fr_fitted_row {
    const char *name, *group;
    const char *prior, *value; /**< with their units */
    double sigma_prior, sigma; /**< of the logarithm */
    double learned;            /**< share of the prior's width that the rows took away */
    int rows;
    const char *fixed; /**< why it was not fitted, up to 12 letters; NULL: it was */
};

/** @param what  heads the names: "coefficient", "term" */
void fr_fitted_head_print(const char *what, struct fr_text *text);

/** @return whether the row is marked: the rows say next to nothing of it */
bool fr_fitted_row_print(const struct fr_fitted_row *row, struct fr_text *text);

/** What the mark of a row means. */
void fr_fitted_mark_print(struct fr_text *text);

#endif
