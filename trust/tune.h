/** @file
 *  Coefficients of a cluster from measured training runs.
 *
 *  With x_j the logarithm of coefficient j over its value in the cluster file, sigma_j the width
 *  of its prior, and e_i = ln(predicted_i / measured_i), the maximum a posteriori minimises
 *
 *      sum_i w_i rho(e_i / 0.05)  +  sum_j (x_j / sigma_j)^2,
 *      rho(r) = 2 d^2 (sqrt(1 + (r/d)^2) - 1), d = 2                 pseudo-Huber
 *
 *  Errors are relative and a few wild rows cost little.  Rows of the same kind share a model error
 *  (trust/effects/groups.h), so a thousand of them are not a thousand opinions.  Where the rows' weights sum to more
 *  than `rows_max`, all are scaled down to that; else the priors would not count.
 *
 *  On request the cluster's own values stay unless the runs reject them (`unmoved`, trust/effects/rejected.h).  The
 *  model error of a kind is 0.05 there, and 0.2 for mixtures of experts.  The runs to predict may be of another
 *  release of the software than those at hand.  An error then includes the difference of releases (`release`:
 *  FR_TUNE_RELEASE); within the model error that is an effect of its own (trust/effects/groups.h).
 *
 *  Among the values that the runs would move, only those that they identify move (trust/effects/identifiable.h).
 *  trust/effects/posterior.h gives the uncertainty of all values, moved or not.  A value that stayed has beforehand
 *  the width that the cluster file states (models/job/uncertainty.h), else that of its prior.  A value that moved has
 *  the width of its prior alone, since the runs show that their machine is not the file's.
 *
 *  Collectives have errors of their own: their fits' intervals, in the cluster file.  The errors of one operation are
 *  taken as common, those of different operations as independent.  So each operation is one more unknown z, standard
 *  normal.  Its times are multiplied by exp(z times the standard deviation of its interval for that group and size).
 *  Products beyond the largest measured are one more unknown: exp(z times the spread of a doubling times the
 *  doublings).  So variances add,
 *      deviation^2 = g' covariance g + sum over these (d ln T / dz)^2.
 */
#ifndef FR_TRUST_TUNE_H
#define FR_TRUST_TUNE_H

#include "trust/coefficient.h"
#include "trust/effects/groups.h"
#include "trust/runs/runs.h"

/** Time of a run's iteration on @p cluster with the run's software (fr_runtime_carry) [s]; NaN where the plan cannot be.
 *  So runs of one machine under several releases are fitted together, and what is fitted holds for all of them. */
double fr_run_predict_s(const struct fr_cluster *cluster, const struct fr_run *run);

struct fr_tune_options {
    uint32_t fixed;     /**< bit j: coefficient j stays as it is */
    double model_error; /**< of a plan of a model; 0: FR_TUNE_MODEL_ERROR */
    /** Standard deviation between the release of these runs and that of the runs to predict.  An error that counts as
     *  one is the model error and this combined.  0: they are of one */
    double release;
    double rows_max; /**< 0: no limit */
    const double *
        sigmas; /**< [FR_COEFFICIENT_MAX] in place of the table's where > 0; or NULL.  A coefficient
                      that is fixed and has one is uncertain by it, else certain */
    bool values_only;    /**< how sure they are is not asked, and left zero */
    bool keep_unrefuted; /**< leave all as it is where the runs do not refute it */
    bool one_release; /**< these and those to be predicted are of one release of the software */
    const struct fr_tune_result *start; /**< where to start from; NULL: the priors */
    int threads;
};

/** Result of a coefficient. */
struct fr_tuned {
    bool present; /**< in the cluster file */
    bool fitted;  /**< else held, or refused for too few rows */
    bool known;   /**< uncertain, fitted or not: the covariance has it */
    int rows;     /**< that feel it: 10 % of it move the prediction by more than 0.05 % */
    double prior, value;       /**< in SI units */
    double sigma_prior, sigma; /**< in logarithms */
    double learned;            /**< share of the prior's variance that the rows took away */
};

struct fr_tune_result {
    struct fr_cluster cluster; /**< tuned; borrows what the prior's owns */
    fr_dtype dtype;
    struct fr_tuned tuned[FR_COEFFICIENT_MAX];
    int n_fitted; /**< the first entries of index */
    int n_known;  /**< and those that stayed, at the widths of their priors; then operations */
    /** Which coefficients the covariance is of; an operation is FR_COEFFICIENT_MAX + op, products
     *  beyond those measured FR_KNOWN_BEYOND, entry i of `seen` FR_KNOWN_SEEN + i. */
    int index[FR_KNOWN_MAX];
    double covariance[FR_KNOWN_MAX * FR_KNOWN_MAX]; /**< [n_known][n_known] */
    struct fr_tuning_seen
        seen[FR_TUNING_SEEN_MAX]; /**< models, plans, plans of models of the rows */
    int n_seen;
    int rows;     /**< that took part */
    bool unmoved; /**< nothing was moved: the runs do not refute the cluster's values */
    double effect
        [FR_EFFECTS]; /**< standard deviations of the model error of a model, a plan, ... */
    double spread;    /**< of all of them together, of a dense run */
    double stretch;   /**< half a 90 % interval over its standard deviation: see below */
    bool experts, sharded, pipelined; /**< such were among the rows */
    bool
        distant; /**< values are a preset's or a file's own: distance from known runs decides the width
                     (trust/distance.h) */
    double
        model_error; /**< of a plan before any row was seen: FR_TUNE_MODEL_ERROR, or what the options say */
    double mean_error; /**< of |predicted / measured - 1| on the rows fitted */
};

/** Tune @p prior to the @p n runs, all of one dtype of matrix products.
 *  @param runs  pointers, so that subsets need no copies
 *  @return FR_OK; FR_ERR_INPUT with too few rows, or when none can be predicted; FR_ERR_NUMERIC;
 *          FR_ERR_NOMEM. */
fr_status fr_tune(const struct fr_cluster *prior, const struct fr_run *const *runs, int n,
                  const struct fr_tune_options *options, struct fr_tune_result *result,
                  struct fr_error *err);

/** Step of derivatives, in logarithms of a coefficient. */
#define FR_TUNE_STEP 0.02

/** Where the run's model, plan or plan of a model stands in `seen`; n_seen: nowhere. */
int fr_tune_seen_at(const struct fr_tune_result *result, const struct fr_run *run,
                    fr_seen what);

/** Append the operations whose times the cluster file says may be off, and products beyond those
 *  measured, to the index. */
void fr_tune_add_operations(struct fr_tune_result *result);

/** Derivatives of ln(predicted time) by what is known, in order of `index`, and what the model
 *  predicts [s].  Where the time jumps within the step, the slope over the coefficient's own deviation. */
double fr_tune_gradient(const struct fr_tune_result *result, const struct fr_run *run,
                        double gradient[FR_KNOWN_MAX]);

/** Standard deviation of ln(predicted) that the coefficients' posterior and the collectives'
 *  intervals leave. */
double fr_tune_deviation(const struct fr_tune_result *result,
                         const double gradient[FR_KNOWN_MAX]);

/** Mean excess of the measured time of runs of the same model or plan over the prediction, in logarithms, and the
 *  stated change of the software since its facts. */
double fr_tune_model_error(const struct fr_tune_result *result,
                           const double gradient[FR_KNOWN_MAX]);

/** Standard deviation of the model error of @p run, in logarithms: all effects combined.  Effects of a model, a plan
 *  or a plan of a model that was among the rows are left out, since the deviation has them.
 *
 *  The rows' errors say nothing of a kind of run that they do not contain.  FR_TUNE_UNSEEN is therefore added for a
 *  mixture of experts and for sharded gradients.  For a pipeline it is the model error of any plan before rows. */
double fr_tune_spread(const struct fr_tune_result *result, const struct fr_run *run);
#define FR_TUNE_UNSEEN 0.1

/** Part of it that is the plan's own and not common to all plans of one model. */
double fr_tune_own(const struct fr_tune_result *result, const struct fr_run *run);

/** Stated time of an iteration, with its interval [s]. */
struct fr_interval {
    double model_s;       /**< by the model alone */
    double expected_s;    /**< and by what it missed of runs of the same model or plan */
    double low_s, high_s; /**< hold 90 % */
};

/** Half the 90 % interval of a run, in logarithms: stretch sqrt(deviation^2 + fr_tune_spread^2).  The measured
 *  variation of collectives and products is normal, with 1.645 in place of stretch, and so is the drift of releases
 *  (models/job/drift.h).  `stretch` is half a 90 % interval of the mixture of normals over the effects' sizes, over
 *  its standard deviation.  Where the runs moved nothing and none was of this plan of its model, it is at most that
 *  of presets, FR_TUNE_STRETCH.  For values that nobody tuned or calibrated, the distance from known runs then decides
 *  (trust/distance.h), before drift. */
double fr_tune_half(const struct fr_tune_result *result, const struct fr_run *run,
                    const double gradient[FR_KNOWN_MAX]);

/** Standard deviations of a normal distribution with that interval, over those of all but what was measured: of plans
 *  that none of the runs was of. */
double fr_tune_drawn(const struct fr_tune_result *result);

/** Prediction of a run and its 90 % interval,
 *      expected = model exp(fr_tune_model_error), expected exp(+- fr_tune_half). */
void fr_tune_interval(const struct fr_tune_result *result, const struct fr_run *run,
                      struct fr_interval *interval);

#endif
