/** @file
 *  Clusters and models side by side, for people. */
#ifndef FR_ANSWER_CLUSTERS_CLUSTERS_TEXT_H
#define FR_ANSWER_CLUSTERS_CLUSTERS_TEXT_H

#include "answer/clusters/clusters.h"

/** A table of 80 columns, the best plan of each under its row, and which is best at what. */
void fr_render_rivals(struct fr_text *text, const struct fr_rivals *r);

#endif
