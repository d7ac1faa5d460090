/** @file
 *  From the number of a configuration to its outcome, as a search ranks it. */
#ifndef FR_SEARCH_EVALUATE_H
#define FR_SEARCH_EVALUATE_H

#include "models/outcome/bounded.h"
#include "search/search.h"

/** Configuration @p index as a plan of @p job, or as one whose mesh does not fit; false: a repetition. */
bool fr_search_lay_out(const struct fr_job *job, const struct fr_space *space, int64_t index,
                       struct fr_space_cursor *at, struct fr_plan *plan,
                       struct fr_outcome *out);

/** Reasons of the search itself, beyond those of the layout. */
void fr_search_add_reasons(const struct fr_job *job, const struct fr_search_options *options,
                           fr_ranking by, struct fr_outcome *out);

/** As fr_search_evaluate, but that parts are 0; for many configurations of one job, whose model and cluster are not
 *  varied.
 *  @param pricer  of @p job; NULL: each is priced by itself, parts too */
bool fr_search_evaluate_bare(struct fr_pricer *pricer, const struct fr_job *job,
                             const struct fr_space *space,
                             const struct fr_search_options *options, fr_ranking by,
                             int64_t index, struct fr_outcome *out);

/** As fr_search_evaluate, where @p pricer shares with it what plans of @p job share. */
bool fr_search_evaluate_cached(struct fr_pricer *pricer, const struct fr_job *job,
                               const struct fr_space *space,
                               const struct fr_search_options *options, fr_ranking by,
                               int64_t index, struct fr_outcome *out);

#endif
