/** @file
 *  The line at a figure's foot that says where its numbers come from. */
#ifndef FR_PLOTS_PROVENANCE_H
#define FR_PLOTS_PROVENANCE_H

#include "plots/picture.h"

/** Append "VERB   cluster C, measured on HOST, DATE   model M   forerun V" to the footer, of what @p from
 *  says: its cluster, cluster_source, model and version, each where it is there. */
void fr_provenance_line(struct fr_picture *p, const char *verb, const struct fr_json *from);

/** Is a cluster's source short, "measured on HOST, DATE, ..."?  A preset's source is a list of
 *  data sheets. */
bool fr_provenance_measured(const char *source);

#endif
