/** @file
 *  Power terms of a cluster from runs whose energy was metered (measured_J).
 *
 *  Given how long its ranks compute and how long they communicate or wait, a run's energy follows from a
 *  few watts (models/outcome/energy.h); what the time is wrong by is not the power's: mean powers are
 *  compared, predicted energy over predicted time with measured over measured.  With x_j the logarithm
 *  of term j over its value in the cluster file, sigma_j the width of its prior, and
 *  e_i = ln(predicted W / measured W), the maximum a posteriori minimises
 *
 *      sum_i w_i rho(e_i / 0.05) + sum_j (x_j / sigma_j)^2          rho as in trust/tune.h
 *
 *  Runs of one model and plan, metered at one place, share what the model gets wrong: their weights add
 *  up to one.  Each such kind is then predicted from the others, and the prediction's interval comes from
 *  those errors.  What a term's meter does not see (switches, of runs metered at the device) stays.
 *
 *  Priors: data sheets' limits miss the power of work by a quarter; of what waits, hosts, supplies and
 *  switches files know the order.  Clocks of plans with a cap or "slack" are those of the cluster file. */
#ifndef FR_TRUST_POWER_FIT_H
#define FR_TRUST_POWER_FIT_H

#include "models/job/cluster.h"
#include "trust/runs/runs.h"

struct fr_power_term {
    const char *name;
    const char *words;
    double sigma; /**< of the prior, in logarithms */
    bool share;   /**< of something, not W */
    /** NaN or 0: this cluster has no such term. */
    double (*value)(const struct fr_cluster *cluster);
    void (*scale)(struct fr_cluster *cluster, double factor);
};

enum { FR_POWER_TERMS = 6 };
extern const struct fr_power_term fr_power_terms[FR_POWER_TERMS];
/** Index of the term called @p name, or -1. */
int fr_power_term_find(const char *name);

struct fr_power_fitted {
    double prior, value;       /**< in W, or a share */
    double sigma_prior, sigma; /**< in logarithms */
    double learned;            /**< share of the prior's variance that the runs took away */
    int rows;             /**< that feel it: 10 % of it move their power by more than 0.05 % */
    bool present, fitted; /**< in the cluster file; moved */
};

struct fr_power_fit {
    struct fr_power_fitted term[FR_POWER_TERMS];
    int rows, kinds; /**< that took part */
    int unsaid;      /**< rows with joules that do not say where they were metered */
    int joules;      /**< rows with joules in all */
    bool known;      /**< the cluster file states a power to start from */
    int metered[FR_METER_COUNT];
    double mean_error;     /**< of |predicted W / measured W - 1|, on the rows fitted */
    double held_out_error; /**< the same of each kind from the others; NaN: of one kind alone */
    double spread;         /**< of e, about nothing and 0.05 for three kinds */
    double uncertainty;    /**< half a 90 % interval of the power of another kind, relative */
};

/** Energy of an iteration of @p run on @p cluster as its meter would read it, at the predicted time [J],
 *  and mean power [W]; NaN where the plan cannot be, the file states no power or the run not where it was
 *  metered.  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_run_predict_J(const struct fr_cluster *cluster, const struct fr_run *run,
                           double *energy_J, double *power_W, struct fr_error *err);

/** Fit @p cluster's power to those of the @p n runs that have measured_J, and set it.
 *  @param fixed  bit j: term j stays as it is
 *  @return FR_OK; with rows = 0 and the cluster as it was where no run can be used; FR_ERR_NUMERIC;
 *          FR_ERR_NOMEM. */
fr_status fr_power_fit_runs(struct fr_cluster *cluster, const struct fr_run *const *runs, int n,
                            uint32_t fixed, struct fr_power_fit *fit, struct fr_error *err);

#endif
