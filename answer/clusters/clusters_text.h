/** @file
 *  Clusters and models side by side, for people. */
#ifndef FR_ANSWER_CLUSTERS_CLUSTERS_TEXT_H
#define FR_ANSWER_CLUSTERS_CLUSTERS_TEXT_H

#include "answer/clusters/clusters.h"

/** A table of 80 columns, the best plan of each under its row, and which is best at what. */
void fr_render_rivals(struct fr_text *text, const struct fr_rivals *r);

/** Which is best at aim @p aim (fastest, least energy, CO2, money), and how far the others are behind; no words where it is
 *  not known or they are not to be compared.  @return what the aim is called; NULL past the last */
const char *fr_rivals_best_at(const struct fr_rivals *r, int aim, struct fr_text *words);

enum { FR_RIVAL_NAME = 84 };
/** The name of a row: its cluster, and its model where they are several.  @return @p out */
const char *fr_rivals_name(const struct fr_rivals *r, int i, char out[FR_RIVAL_NAME]);

#endif
