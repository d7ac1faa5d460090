/** @file
 *  Why this answer: what binds, what would change it, why the others lost. */
#ifndef FR_ANSWER_PREDICT_EXPLAIN_H
#define FR_ANSWER_PREDICT_EXPLAIN_H

#include "search/search.h"

/** A change of the machine that is tried. */
struct fr_scenario {
    const char *name, *sentence;
};
enum { FR_SCENARIOS = 4 };
extern const struct fr_scenario fr_scenarios[FR_SCENARIOS];

/** Time of an iteration of @p plan under scenario @p which [s]; NaN where it cannot be. */
double fr_scenario_s(const struct fr_job *job, const struct fr_plan *plan, int which);

/** The part of an iteration that takes longest. */
int fr_explain_binds(const struct fr_outcome *out);
/** How much more of what a search of @p objective ranked @p by @p other needs than @p best, as a share of the
 *  best's. */
double fr_explain_slower(fr_objective objective, fr_ranking by, const struct fr_outcome *best,
                         const struct fr_outcome *other);
/** The part in which @p other loses most to @p best, and how much over the best one's samples [s]. */
int fr_explain_loses_in(const struct fr_outcome *best, const struct fr_outcome *other,
                        double *lost_s);
/** The best plan of the same search under scenario @p which; none where nothing is feasible there. */
fr_status fr_explain_best_if(const struct fr_job *job, const struct fr_space *space,
                             const struct fr_search_options *options, int which,
                             struct fr_found *best, bool *found, struct fr_error *err);

/** The fullest moment of the fullest stage, and its largest tensors, largest first, into tensor[@p most].
 *  @param[out] total_B  what it holds in all [B]  @return how many; 0 where memory is not known */
struct fr_explained_tensor {
    int tensor; /**< of fr_tensor_names */
    double size_B;
};
int fr_explain_memory(const struct fr_job *job, const struct fr_outcome *out, int most,
                      int *moment, double *total_B, struct fr_explained_tensor *tensor);

/** What binds an iteration, and what changes of the machine would make of it. */
void fr_explain_plan_json(struct fr_json_writer *w, const struct fr_job *job,
                          const struct fr_outcome *out);

/** Of a search, the same of the best plan and whether the best would be another; and of every other
 *  plan at the top, what binds it, where and how much it loses, and under which changes it would be
 *  faster than the best.  @p result has one at least. */
fr_status fr_explain_search_json(struct fr_json_writer *w, const struct fr_job *job,
                                 const struct fr_space *space,
                                 const struct fr_search_options *options,
                                 const struct fr_search_result *result, struct fr_error *err);

#endif
