/** @file
 *  How does compression affect learning?  Plans of one transformer are trained for real on a
 *  corpus, several seeds each, and compared.
 *
 *  A comparison at one learning rate decides little, since a lossy plan may want a smaller
 *  one.  So each plan's rate is found first, on two seeds and held-out samples of their own.
 *  It is the rate of a grid with the lowest held-out loss at the end; the grid grows while its
 *  best is at an end.  Then seeds 1, 2, ... train at that rate.  A seed gives initial weights
 *  and samples, the same for all plans, so that plans are compared seed by seed:
 *      loss         d_i = loss_i(b) - loss_i(a)                   after the last step
 *      iterations   d_i = ln (iterations_i(b) / iterations_i(a))  to the target loss, where all
 *                                                                 seeds of both reached it
 *      interval     mean d +- t s / sqrt(n), t Student's quantile for n - 1 degrees of freedom
 *  Two plans are distinguished where the interval of d leaves out 0.  Some of many comparisons
 *  would do so by chance.  So the 5 % are shared among all of them (Bonferroni), and all
 *  statements hold together with 95 %.
 *
 *  cells.c  the table of trainings (real/cells.h)  ladder.c   what to train next
 *  rows.c   what they say, over seeds             compare.c  which plans are distinguished
 */
#ifndef FR_REAL_QUALITY_QUALITY_H
#define FR_REAL_QUALITY_QUALITY_H

#include "base/text.h"
#include "calibrate/measure/launch.h"

enum { FR_QUALITY_RATES_MAX = 12, FR_QUALITY_TUNINGS = 2 };

/** Seed @p i of those that a rate is found with, which no comparison uses. */
static inline int64_t fr_quality_tuning_seed(int i) {
    return i == 0 ? 0 : ((int64_t)1 << 40) + i;
}
static inline bool fr_quality_is_tuning(int64_t seed) {
    return seed == 0 || seed > (int64_t)1 << 40;
}

struct fr_quality_options {
    struct fr_launch_options launch; /**< its ranks train together */
    const char *samples;             /**< file of trainings and results */
    const char *corpus;              /**< as fr_corpus_open has it */
    uint64_t digest;                 /**< of it */
    const char *model;               /**< text of a model file */
    const char *const *plans;        /**< n_plans texts of plan files */
    int n_plans;
    const double *rates; /**< n_rates of them, ascending */
    int n_rates;
    int64_t seeds, steps, every, held_out;
    double target; /**< loss to reach [nat a token]; NaN: none */
    bool resume;   /**< keep what the file holds */
    bool force;    /**< or replace it (base/journal/keep.h) */
    bool progress;
};

/** Evaluations of a training: before the first step, then every `every`. */
static inline int fr_quality_points(const struct fr_quality_options *o) {
    return (int)(o->steps / o->every) + 1;
}

/** A number over seeds: mean with its 95 % interval, NaN where it is not known. */
struct fr_quality_mean {
    double mean, low, high;
};

/** Effects of the codec of a rank that sends compressed messages, means over seeds, and over
 *  the steps that were watched (real/apps/learn/observe.h). */
#define FR_QUALITY_OBSERVED(X) X(cosine) X(alike) X(error) X(error_mean) X(difference_mean)
enum {
#define FR_QUALITY_ENUM(name) FR_QUALITY_OBSERVED_##name,
    FR_QUALITY_OBSERVED(FR_QUALITY_ENUM)
#undef FR_QUALITY_ENUM
        FR_QUALITY_OBSERVED_COUNT
};
extern const char *const fr_quality_observed_names[];
struct fr_quality_observed {
    int64_t rank;
    double kept, lazy;
    int n_micro;
    double *micro[FR_QUALITY_OBSERVED_COUNT]; /**< [n_micro] each, in one block */
};

/** One plan over seeds. */
struct fr_quality_row {
    int plan;
    double rate;                        /**< the best; NaN while it is sought */
    double tried[FR_QUALITY_RATES_MAX]; /**< rates, ascending, and their mean loss */
    double tried_loss[FR_QUALITY_RATES_MAX];
    int n_tried;
    int n_seeds, n_reached;
    double sent_B;                   /**< by all ranks in the last step */
    struct fr_quality_mean *curve;   /**< held-out loss, fr_quality_points of them */
    struct fr_quality_mean loss;     /**< the last of them */
    struct fr_quality_mean steps;    /**< iterations to the target; the mean is geometric */
    double *loss_of, *iterations_of; /**< of each seed 1..seeds, NaN: unknown */
    struct fr_quality_observed *observed; /**< n_observed ranks */
    int n_observed;
};

enum { FR_QUALITY_BY_LOSS, FR_QUALITY_BY_ITERATIONS };

/** Plan b against plan a. */
struct fr_quality_pair {
    int a, b, by;
    struct fr_quality_mean d; /**< difference of losses, or ratio of iterations */
    int n;                    /**< seeds */
    bool apart;               /**< d's interval leaves out 0, of a ratio 1 */
};

struct fr_quality {
    struct fr_quality_row *rows; /**< one a plan, in order */
    int n_rows;
    struct fr_quality_pair *pairs;
    int n_pairs;
    double confidence; /**< of a pair's interval */
};

/** Defaults but for launch, samples, corpus, model and plans. */
struct fr_quality_options fr_quality_defaults(void);

/** Train what is missing, and compare.  Free with fr_quality_free in any case.
 *  @return FR_OK; FR_ERR_PARTIAL when the job ended early, with what is known; FR_ERR_INPUT when the
 *          file cannot be resumed; FR_ERR_IO, FR_ERR_EXTERNAL, FR_ERR_NOMEM. */
fr_status fr_quality_run(const struct fr_quality_options *options, struct fr_quality *quality,
                         struct fr_error *err);
void fr_quality_free(struct fr_quality *quality);

/** Mean of @p n values and its interval of @p confidence, by Student's t. */
struct fr_quality_mean fr_quality_mean_of(const double *x, int n, double confidence);

/** First place where @p loss is no more than @p target, between evaluations linearly [iterations];
 *  NaN where it is never. */
double fr_quality_reached(const struct fr_quality_options *options, const double *loss);

#endif
