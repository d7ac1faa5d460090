/** @file
 *  The rows of a reproduction as a table to be pasted: LaTeX (booktabs, longtable) or Markdown. */
#ifndef FR_STUDIES_ROWS_TABLE_H
#define FR_STUDIES_ROWS_TABLE_H

#include "base/text.h"
#include "studies/reproduce.h"

/** Append the rows that the text output has, points of curves left out. */
void fr_rows_latex(const struct fr_paper *paper, const struct fr_reproduction *r,
                   struct fr_text *out);
void fr_rows_markdown(const struct fr_paper *paper, const struct fr_reproduction *r,
                      struct fr_text *out);

#endif
