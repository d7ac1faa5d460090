/** @file
 *  The rows of a reproduction as text: a paper's numbers beside ours. */
#ifndef FR_STUDIES_REPRODUCTION_H
#define FR_STUDIES_REPRODUCTION_H

#include "base/text.h"
#include "studies/reproduce.h"

/** Append the rows but for details, and how many of those judged hold.  In 80 columns the role is said
 *  once above the rows that share it, a note below its row and once; wide, a row is one line. */
void fr_reproduction_text(const struct fr_paper *paper, const struct fr_reproduction *r,
                          bool wide, struct fr_text *text);

#endif
