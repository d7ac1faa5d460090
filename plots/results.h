/** @file
 *  Results of `forerun search --json` and `forerun predict --json` as figures need them: a list
 *  of priced plans, the best one, and where it all came from. */
#ifndef FR_PLOTS_RESULTS_H
#define FR_PLOTS_RESULTS_H

#include "models/outcome/outcome.h"
#include "models/plan/common.h"
#include "plots/picture.h"

/** A value on an x axis in words; keys of model and cluster that a search varies. */
enum { FR_ALONG_TEXT = 96, FR_VARIED_MAX = 4 };
#define FR_ALONG_RANKS "ranks"

/** One outcome.  Time and energy are those that were ranked: to the loss, or an iteration. */
struct fr_result {
    struct fr_plan plan;         /**< whole */
    struct fr_plan_lists *lists; /**< that it points to */
    struct {
        char name[56], value[FR_ALONG_TEXT];
    } varied_key[FR_VARIED_MAX]; /**< of model and cluster */
    int n_varied;
    char varied[192]; /**< those in words, ", model.sequence 4096", or "" */
    double along; /**< where on the x axis of curves, and how that is written: the ranks, or */
    char along_text[FR_ALONG_TEXT]; /**< as fr_along_choose has it */
    char method[32];
    int64_t ranks, dp, pp, tp, ghost;
    int64_t global_batch; /**< 0: not said */
    char placement[64];
    bool subgrid;            /**< method subgraph with its common layers on one sub-grid */
    double lossy_gradient;   /**< share of gradient bytes that goes compressed */
    double time_s, energy_J; /**< energy NaN where it is unknown */
    double low_s, high_s;    /**< 90 % interval of time_s; NaN where the document has none */
    double low_J, high_J;    /**< likewise of energy_J */
    double iteration_time_s;
    double
        break_even; /**< its iterations over an exact plan's at which both cost the same; 0: none */
    double part_s[FR_PART_COUNT];
    bool extrapolated;
};

typedef enum { FR_RANKED_TIME, FR_RANKED_ENERGY, FR_RANKED_EDP } fr_ranked_by;

/** The work that a value is for: a training to target loss, an iteration, a sample. */
typedef enum { FR_PER_TRAINING, FR_PER_ITERATION, FR_PER_SAMPLE } fr_per;

/** One or more search results put together. */
struct fr_results {
    struct fr_result *items;
    size_t count;
    const struct fr_result *best; /**< in items */
    fr_ranked_by ranked;
    fr_per per;
    struct fr_plan_common common;                    /**< to all plans */
    bool varied_alike;                               /**< of all results */
    char along[64];                                  /**< the key that curves run along */
    int64_t feasible;                                /**< configurations the searches found */
    struct fr_text cluster, runtime, model, version; /**< each distinct one, joined */
    struct fr_text source; /**< of a cluster that was measured: host and date, likewise */
    struct fr_text power;  /**< quality of the energy, likewise */
};

/** Read "forerun/search/1" and "forerun/outcome/1" documents; their `ranked_by` must agree, an
 *  outcome counting as ranked by the time of an iteration.  `top` and `pareto` are joined, a
 *  plan found in both kept once.  Free with fr_results_free, also on error.
 *  @return FR_OK, FR_ERR_INPUT with the place, FR_ERR_NOMEM. */
fr_status fr_results_read(const struct fr_json *roots, int n_roots, struct fr_results *results,
                          struct fr_error *err);
void fr_results_free(struct fr_results *results);

/** Put what is varied of model and cluster in words once more, but for @p without. */
void fr_results_spell_varied(struct fr_results *results, const char *without);

/** The minimised value; infinite where the energy it needs is unknown. */
double fr_result_value(const struct fr_results *results, const struct fr_result *result);

/** Has any configuration an energy?  None has where the cluster states no power. */
bool fr_results_have_energy(const struct fr_results *results);
/** FR_ERR_INPUT at @p root unless some energy is known. */
fr_status fr_results_need_energy(const struct fr_results *results, const struct fr_json *root,
                                 struct fr_error *err);

/** Capacity for a label. */
enum { FR_RESULT_LABEL = FR_PLAN_LINE + 192 };

/** The line of its plan, as text and CSV have it, and what is varied of model and cluster; without
 *  what all results share, which fr_results_footer says.  Equal for equal plans alone.
 *  @return @p out. */
const char *fr_result_label(const struct fr_results *results, const struct fr_result *result,
                            char *out, size_t capacity);

/** Write footer and note: cluster, software, model, version, and quality of the energy (when
 *  @p energy).  They also name what is missing from the list and what extrapolates.  Keys that
 *  all plans share go to the title, or to the note where they are too long for it.  Call after
 *  the title. */
void fr_results_footer(const struct fr_results *results, struct fr_picture *p, bool energy);

/** Say in the note what bands are, where there are intervals. */
void fr_results_interval_note(const struct fr_results *results, struct fr_picture *p);

/** "time to the loss" or "time per iteration". */
const char *fr_results_time_name(const struct fr_results *results);
const char *fr_results_energy_name(const struct fr_results *results);

#endif
