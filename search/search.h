/** @file
 *  Every configuration of a space priced, the best kept.
 *
 *  The result does not depend on the number of threads: the space is cut into pieces of fixed size, each piece keeps
 *  its own best and its own front, and pieces are joined in order.  Among equal objectives the less compressed plan
 *  wins, then the configuration with the smaller number. */
#ifndef FR_SEARCH_SEARCH_H
#define FR_SEARCH_SEARCH_H

#include "models/outcome/cost.h"
#include "search/space.h"

typedef enum { FR_OBJECTIVE_TIME, FR_OBJECTIVE_ENERGY, FR_OBJECTIVE_EDP } fr_objective;
extern const char *const fr_objective_names[];
/** The same, then each as the way to the loss and nothing else: "total-time", ... */
extern const char *const fr_objective_words[];

/** Quantity that a ranking compares: the training to target loss; one iteration; or one sample, where plans of
 *  different global batches are ranked by an iteration. */
typedef enum { FR_RANK_TOTAL, FR_RANK_ITERATION, FR_RANK_SAMPLE } fr_ranking;

struct fr_search_options {
    fr_objective objective;
    bool per_iteration;    /**< rank one iteration, not the way to the loss */
    bool total;            /**< rank the way to the loss, also where nobody knows it */
    size_t top;            /**< best configurations kept; 0: all feasible ones */
    double memory_limit_B; /**< of tensors; 0: the device's memory alone */
    double fit; /**< P(fits) that ranked plans have at least; 0: whatever is not refused */
    double fit_spare; /**< the same in standard deviations; see fr_search_ask_fit */
    double max_lossy; /**< of gradient bytes and of backward messages; 1: no limit */
    double
        noise; /**< ln of the gain over an exact plan with which a lossy one is chosen; 0: any */
    int threads;        /**< 0: as many as processors */
    int64_t begin, end; /**< of the configurations, those alone; end 0: all */
    bool exhaustive;    /**< price also what can be neither listed nor on the front */
};

/** Ask that plans that are ranked fit with @p probability, above 0 and below 1; 0: whatever is not refused. */
void fr_search_ask_fit(struct fr_search_options *options, double probability);

struct fr_found {
    int64_t index; /**< in the space */
    struct fr_outcome outcome;
};

struct fr_found_list {
    struct fr_found *items;
    size_t count, capacity;
};

/** A feasible configuration by what orders it: small, since all of a space may be kept. */
struct fr_ranked {
    double value; /**< of the objective */
    double lossy;
    int64_t index; /**< in the space */
};

struct fr_ranked_list {
    struct fr_ranked *items;
    size_t count, capacity;
};

/** So many of the best are kept with what they cost; others are priced again where they are
 *  wanted (fr_search_each). */
enum { FR_SEARCH_PRICED = 64 };
/** Rows of fr_methods whose best is kept. */
enum { FR_SEARCH_METHODS = 16 };
/** Plans that are not refused, but fit less surely than asked for: of each band of probability, to 0.25, 0.5, 0.75
 *  and above, the best; and the surest, by its deviations. */
enum { FR_UNSURE_BANDS = 4, FR_UNSURE = FR_UNSURE_BANDS + 1 };

struct fr_search_result {
    int64_t evaluated, feasible, infeasible;
    int64_t
        unpriced; /**< of the feasible: by bounds neither listed nor on the front; -1: not counted */
    int64_t because
        [FR_REASON_COUNT]; /**< infeasible configurations by reason; one may have several */
    /** An infeasible example of each reason, for a sentence with numbers; index -1: none. */
    struct fr_found example[FR_REASON_COUNT];
    struct fr_ranked_list ranked; /**< the best, as many as were asked for; best first */
    struct fr_found_list top;     /**< the first FR_SEARCH_PRICED of them */
    struct fr_found_list
        pareto; /**< no other is as good in time, energy, memory and loss; by time */
    struct fr_ranked of_method[FR_SEARCH_METHODS]; /**< the best of each; index -1: none */
    struct fr_ranked exact;             /**< the best that loses nothing; index -1: none */
    struct fr_found best_exact;         /**< what it costs; index -1: none */
    struct fr_ranked unsure[FR_UNSURE]; /**< index -1: none */
    struct fr_found_list
        less_sure; /**< of the bands' the best first: each better than all that are surer; reasons 0 */
    struct fr_found surest; /**< where nothing is ranked: what comes nearest; index -1: none */
    fr_plan_key_set read;   /**< keys that some plan reads */
    fr_ranking by;          /**< what was ranked */
    double elapsed_s;
};

/** Inputs of a search; see fr_search. */
fr_ranking fr_search_ranking(const struct fr_job *job, const struct fr_space *space,
                             const struct fr_search_options *options);

/** Add to the reasons of @p out what @p options ask for beyond what can be: tensors within the limit, the level of
 *  P(fits), what may be lossy. */
void fr_search_limit(const struct fr_search_options *options, struct fr_outcome *out);

/** Search.  A total objective leaves out plans whose iterations are unknown.  Where the model states the iterations
 *  of no plan, one iteration ranks them (`by` says so), or one sample with several global batches.  For exact methods
 *  that is also the order to target loss.  For ghost neurons and compression it is not, and the answer's note says
 *  so.
 *  @return FR_OK or FR_ERR_NOMEM.  Free with fr_search_result_free, also on error. */
fr_status fr_search(const struct fr_job *job, const struct fr_space *space,
                    const struct fr_search_options *options, struct fr_search_result *result,
                    struct fr_error *err);
void fr_search_result_free(struct fr_search_result *result);

/** None of the plans can be after all, for one more @p reason (FR_REASON_...), of which @p example is one. */
void fr_search_refuse(struct fr_search_result *result, int reason,
                      const struct fr_outcome *example);

/** Called for one entry of result->ranked: @p rank from 0.
 *  @return false to see no more */
typedef bool fr_found_fn(void *context, size_t rank, const struct fr_outcome *outcome);

/** Call @p see for each of result->ranked in order.  Those behind result->top are priced again, a
 *  few thousand at a time on options->threads, so that a million take the memory of few.
 *  @return FR_OK or FR_ERR_NOMEM */
fr_status fr_search_each(const struct fr_job *job, const struct fr_space *space,
                         const struct fr_search_options *options,
                         const struct fr_search_result *result, fr_found_fn *see, void *context,
                         struct fr_error *err);

/** Global batch of an outcome of a space that has several: its plan's, or its model's. */
double fr_search_samples(const struct fr_outcome *out);

/** The objective, which is minimised: time [s], energy [J] or their product [J s]. */
double fr_objective_value(fr_objective objective, fr_ranking by, const struct fr_outcome *out);

/** Factor by which a choice counts a plan: exp(options->noise) of one that loses information, else 1. */
double fr_choice_factor(const struct fr_search_options *options, const struct fr_outcome *out);

/** The objective times that factor, which a choice compares.  A search lists by the objective alone. */
double fr_choice_value(const struct fr_search_options *options, fr_ranking by,
                       const struct fr_outcome *out);

/** Price configuration @p index; false when it is left out as a repetition.  The search itself adds reasons to the
 *  closed form: mesh, iterations, power and memory limit. */
bool fr_search_evaluate(const struct fr_job *job, const struct fr_space *space,
                        const struct fr_search_options *options, fr_ranking by, int64_t index,
                        struct fr_outcome *out);

#endif
