/** @file
 *  Clusters and models side by side, on one screen.  The whole of it: answer/clusters/clusters_text.h. */
#ifndef FR_ANSWER_CLUSTERS_CLUSTERS_BRIEF_H
#define FR_ANSWER_CLUSTERS_CLUSTERS_BRIEF_H

#include "answer/clusters/clusters.h"

/** @param search  the search on the fastest cluster, to be typed next (base/text/brief.h); "" where there is none */
void fr_rivals_brief(struct fr_text *text, const struct fr_rivals *r, const char *search);

/** The fastest that can run, by its place; -1: none can. */
int fr_rivals_fastest(const struct fr_rivals *r);

#endif
