/** @file
 *  Every row of paper_list.h by its name, for the table and for whoever tests or draws one. */
#ifndef FR_STUDIES_PAPER_TABLE_H
#define FR_STUDIES_PAPER_TABLE_H

#include "studies/reproduce.h"

#define FR_PAPER(name) extern const struct fr_paper fr_paper_##name;
#include "studies/paper_list.h"
#undef FR_PAPER

#endif
