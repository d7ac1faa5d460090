/** @file
 *  Several clusters, or models, side by side: the best plan of each by a search of its own, and what a
 *  training costs there. */
#ifndef FR_ANSWER_CLUSTERS_CLUSTERS_H
#define FR_ANSWER_CLUSTERS_CLUSTERS_H

#include "answer/search/search.h"

enum { FR_RIVALS_MAX = 32 };

/** One cluster with one model. */
struct fr_rival {
    const char *cluster, *model; /**< as the user named them */
    struct fr_training
        training; /**< what is asked of all, with this cluster's price and carbon */
    struct fr_searched *searched; /**< owned */
    struct fr_training_cost cost; /**< of its best plan, where a training is asked for */
};

struct fr_rivals {
    struct fr_rival of[FR_RIVALS_MAX];
    int n;
};

/** Search for each of @p r, whose clusters, models and trainings are set.
 *  @return FR_OK, also where nothing is feasible on some; else what a search failed with.  Free with
 *          fr_rivals_free, also on error. */
fr_status fr_rivals_search(const struct fr_searches_asked *asked, struct fr_rivals *r,
                           struct fr_error *err);
void fr_rivals_free(struct fr_rivals *r);

/** The best plan, or NULL: none is feasible. */
const struct fr_outcome *fr_rival_best(const struct fr_rival *rival);
/** The job that its numbers are of. */
const struct fr_job *fr_rival_job(const struct fr_rival *rival);

/** The document of --json (docs/reference/outputs.md). */
void fr_rivals_json(struct fr_text *text, const struct fr_rivals *r);

#endif
