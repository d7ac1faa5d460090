/** @file
 *  What timings of others say of presets' values: products, best shapes, attention, links, jitter.
 *
 *  Functions that studies/paper/presets.study calls; each sets the names that its comment tells.  A file that is absent
 *  has no rows.  @return FR_OK, or an error with the file and its line */
#ifndef FR_STUDIES_PRESETS_TIMINGS_H
#define FR_STUDIES_PRESETS_TIMINGS_H

#include "models/job/cluster.h"
#include "studies/engine/study.h"

/** The cluster that a call names first. */
struct fr_cluster *fr_presets_cluster(const struct fr_study_call *c);

fr_status fr_presets_products(struct fr_study_call *c);
fr_status fr_presets_best(struct fr_study_call *c);
fr_status fr_presets_best_scatter(struct fr_study_call *c);
fr_status fr_presets_attention(struct fr_study_call *c);
fr_status fr_presets_logged(struct fr_study_call *c);
fr_status fr_presets_rings(struct fr_study_call *c);
fr_status fr_presets_steps(struct fr_study_call *c);

#endif
