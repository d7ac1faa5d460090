/** @file
 *  A search answered: the best plans with their odds, and what came of it as JSON and CSV. */
#ifndef FR_ANSWER_SEARCH_SEARCH_H
#define FR_ANSWER_SEARCH_SEARCH_H

#include "answer/predict/training.h"
#include "answer/search/choice/fold.h"
#include "answer/search/nearby.h"
#include "answer/search/spread.h"
#include "answer/search/user_plan.h"
#include "search/recipe.h"
#include "search/search.h"
#include "search/slowdown.h"
#include "trust/odds.h"

/** A lossy plan that is better than the best exact one by no more than noise (answer/search/choice/lossy.h). */
struct fr_within_noise {
    bool chosen;        /**< the exact plan was put first */
    double gain, noise; /**< as shares of the exact plan's value */
    double wins;        /**< probability that the lossy plan is better all the same */
    struct fr_outcome lossy;
};

/** A search and what came of it. */
struct fr_searched {
    struct fr_job job;
    struct fr_training training; /**< of the best plan */
    struct fr_slowdown slowdown;
    bool lossy;              /**< the user allows plans that lose something */
    bool fixed;              /**< what is varied narrows the recipe, instead of replacing it */
    const char *const *able; /**< "KEY=VALUES" to which a recipe is restricted; NULL ends it */
    struct fr_recipe recipe;
    struct fr_space space;
    struct fr_search_options options;
    struct fr_search_result result;
    struct fr_within_noise within;  /**< why the best is not the first by prediction */
    const struct fr_spread *spread; /**< block by block; NULL: in one piece */
    int64_t **ranks; /**< lists of ranks of stages that plans point to, n_ranks of them */
    size_t n_ranks;
    int64_t *layer_tp; /**< a grid per layer for the best plan, where it has a grid */
    struct fr_outcome per_layer;
    bool has_per_layer;
    struct fr_odds odds[FR_ODDS_PLANS_MAX]; /**< of the first of top */
    int n_odds;
    bool folds; /**< near-ties are folded into answers, where time ranks one job's plans */
    bool all;   /**< text lists plans one by one, too */
    struct fr_answers answers; /**< none: the list stays plain */
    bool explain;
    const char *const
        *include; /**< plans of the user's to stand beside the best, n_user_plans of them */
    const double *measured_s; /**< of each of these, 0: not measured; or NULL */
    bool tuned;               /**< these were tuned by measuring */
    struct fr_user_plan *user_plan;
    int n_user_plans;
    bool advise; /**< ask for other ranks and batches, too */
    struct fr_nearby nearby[FR_NEARBY_MAX];
    int n_nearby;
};

/** The request for several searches side by side, of clusters or of runtimes. */
struct fr_searches_asked {
    const char *ranks;
    struct fr_job_names names; /**< plan and sets; what differs between them is not read */
    const char *const *vary;
    int n_vary;
    bool fixed, lossy; /**< as of struct fr_searched */
    struct fr_search_options options;
};

/** One of them, of the job that @p names load.  @return as fr_job_load and fr_searched_make. */
fr_status fr_searched_load(const struct fr_searches_asked *asked,
                           const struct fr_job_names *names, const struct fr_training *training,
                           struct fr_searched *r, struct fr_error *err);

/** The keys `outcome` (null where @p best is NULL) and, where a training is asked for, `training` of a row. */
void fr_searched_put_best(struct fr_json_writer *w, const struct fr_job *job,
                          const struct fr_outcome *best, const struct fr_training *training,
                          const struct fr_training_cost *cost);

/** Search plans of @p r's job with its options.
 *  @param ranks, vary, names  as fr_space_make takes them; where nothing is varied, or what is narrows
 *                             it, the whole recipe is (search/recipe.h)
 *  @return FR_OK, also where nothing is feasible; FR_ERR_INPUT for a key that is set and that no plan
 *          reads.  Free with fr_searched_free, which frees the job too, also on error. */
fr_status fr_searched_make(const char *ranks, const char *const *vary, int n_vary,
                           const struct fr_job_names *names, struct fr_searched *r,
                           struct fr_error *err);
void fr_searched_free(struct fr_searched *r);

/** Name of the quantity that plans were ranked by. */
const char *fr_searched_ranked_by(const struct fr_searched *r);

/** Best by prediction, and what is expected of it because it was chosen (fr_odds_chosen); false: not known. */
bool fr_searched_expected(const struct fr_searched *r, struct fr_interval *of);

/** How much worse the second is than the best, as a share of the best; NaN when it stands alone. */
double fr_searched_margin(const struct fr_searched *r);

/** Were lossy plans asked for, of a kind of model that has none? */
bool fr_searched_has_nothing_lossy(const struct fr_searched *r);

/** A note on the meaning of ranking one iteration, given whenever that is done; else NULL. */
const char *fr_searched_note(const struct fr_searched *r);

/** Takes over what a long text holds so far, now and then: a million rows take the memory of few. */
typedef fr_status fr_part_fn(struct fr_text *text, struct fr_error *err);

/** The document of --json (docs/reference/outputs.md).
 *  @param part  called after each row, or NULL: all stays in @p text
 *  @return FR_OK, or what explaining it failed with. */
fr_status fr_searched_json(struct fr_text *text, const struct fr_searched *r, fr_part_fn *part,
                           struct fr_error *err);

/** The top plans, a line each. */
fr_status fr_searched_csv(struct fr_text *text, const struct fr_searched *r, fr_part_fn *part,
                          struct fr_error *err);

#endif
