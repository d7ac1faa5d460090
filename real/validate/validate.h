/** @file
 *  Are predictions right?  Real runs of a designed set of configurations beside their predictions.
 *
 *  design   what to run, or what the user chooses (choose.h): cases, each an app with the texts
 *           of a model and a plan file.
 *  measure  forerun-mpi run, two MPI jobs a rank count.  Samples are appended to one file, which
 *           starts with the cases, so that it can be scored again with another cluster file.
 *  score    each case's prediction from the cluster file by the ordinary way (job, plan, closed
 *           form) beside the median of its visits' means; error, correlation, regret, the floor of the
 *           error on this machine, and the term that is off
 *
 *  A group holds the configurations of one problem (same network, batch and ranks), among
 *  which a user would choose; regret = measured time of the predicted best / of the measured
 *  best - 1.  A group that was not run completely, because time was over, has no best that
 *  could be named.
 */
#ifndef FR_REAL_VALIDATE_VALIDATE_H
#define FR_REAL_VALIDATE_VALIDATE_H

#include "calibrate/measure/launch.h"
#include "models/outcome/cost.h"

#define FR_RUNS_SCHEMA "forerun/runs/1"

struct fr_validate_case {
    int64_t id, ranks;
    char app[16], group[96], label[160];
    char model[8192], plan[2048];
};

/** Terms of one step, in order; the same for clocks and for predictions. */
enum { FR_TERM_COMPUTE, FR_TERM_LAUNCH, FR_TERM_COLLECTIVE, FR_TERM_WAIT, FR_TERM_COUNT };
extern const char *const fr_term_names[];

struct fr_validate_row {
    struct fr_validate_case run;
    char refused[240]; /**< why it cannot be run here, or "" */
    bool scored;       /**< its ranks had a core each */
    bool whole; /**< all of its group was run but what was refused: a best can be named */
    int predicted_place,
        measured_place; /**< 1, 2, ... among those of its group that were predicted and
                                              measured; 0: not, or the group is not whole */
    int n_samples;      /**< 0: not measured */
    double *time_s;     /**< [n_samples], ascending */
    double early_s,
        late_s; /**< medians of the earlier and the later half of its visits; 0 where
                                 there was one visit */
    int n_visits;
    double (*visit)[2]; /**< [n_visits] pass and mean, in the order of the file */
    double measured_s, measured_low_s,
        measured_high_s; /**< median of the visits' means, and its 95 % interval */
    bool sure; /**< visits are enough for such an interval (6); else it is their range */
    bool profiled;
    double measured_term_s[FR_TERM_COUNT];
    fr_reasons reasons; /**< why there is no prediction; 0: there is */
    double predicted_s, predicted_low_s, predicted_high_s;
    double predicted_term_s[FR_TERM_COUNT];
    double predicted_peak_B; /**< memory of the fullest rank */
    double predicted_J; /**< of one iteration, all ranks; NaN where the power is not known */
    /** The same from the clocks: power of the cluster file times the measured terms, stretched to
     *  the measured step; an estimate, since no meter was read. */
    double measured_J;
    bool extrapolated;
    double error; /**< predicted / measured - 1 */
    int off;      /**< the term furthest from its prediction where the intervals do not meet;
                         -1 where they do */
};

/** One timing of the reference loops beside the runs (real/apps/run.c). */
struct fr_validate_reference {
    int64_t ranks;
    double set_B, stream_s_per_B, edge, product_s;
};

/** Time of the reference loops over that of the cluster file: median, least and most. */
struct fr_validate_drift {
    int n; /**< timings compared; 0: none, or the file cannot tell */
    double median, low, high;
};

struct fr_validation {
    char path[300]; /**< of the file it was read from, or "" */
    struct fr_validate_row *rows;
    int n_rows;
    struct fr_validate_reference *references;
    int n_references;
    struct fr_validate_drift products, memory; /**< of jobs with a core for every rank */
    /* Over rows that are scored, measured and predicted. */
    int n_scored, n_groups; /**< groups that are whole */
    int n_run, n_not_run;   /**< of those that nobody refused */
    int n_open;             /**< groups of two and more that are not whole, so not judged */
    double median_error, p90_error; /**< of |error| */
    double rank_correlation;        /**< Kendall's tau-b */
    double regret, regret_worst;    /**< median and largest over groups */
    double coverage;                /**< share of rows whose intervals meet */
    /** Median over rows of |early / late - 1|: how well a configuration's own earlier measurement
     *  predicts its later one, below which no model can be expected to come; NaN where no row was
     *  visited twice. */
    double floor;
};

/** Cases of @p app ("" or "all": every app) for @p ranks, appended to validation->rows.
 *  @return FR_OK, FR_ERR_USAGE for an unknown app, FR_ERR_NOMEM. */
fr_status fr_validate_design(const char *app, int64_t ranks, struct fr_validation *validation,
                             struct fr_error *err);

struct fr_validate_options {
    struct fr_launch_options launch; /**< n_ranks is set per job */
    const char *samples;             /**< file to write */
    int64_t passes, seed;
    double visit_s;
    double
        budget_s; /**< of all jobs, their starts included; no visit is begun after it.  0: none */
    bool progress;
    bool resume;                   /**< keep what the file holds, if it is of the same runs */
    bool force;                    /**< or replace it (base/journal/keep.h) */
    bool check;                    /**< ask the programs first: of sizes that a user chose */
    bool each;                     /**< and leave out what they refuse, each with its reason */
    int64_t fail_rank, fail_visit; /**< -1: never; for tests */
};

/** Write the cases to options->samples and run those that nobody refuses, smaller jobs first.
 *  @return FR_OK; FR_ERR_PARTIAL when a job ended early (what it measured is in the file);
 *          FR_ERR_INPUT when a program refuses a case; FR_ERR_IO, FR_ERR_EXTERNAL. */
fr_status fr_validate_measure(struct fr_validation *validation,
                              const struct fr_validate_options *options, struct fr_error *err);

/** Read cases and samples of @p path into @p validation, which is empty. */
fr_status fr_validate_read(const char *path, struct fr_validation *validation,
                           struct fr_error *err);

/** Predict every row from @p cluster and score.  @p cores: ranks beyond it are not scored. */
fr_status fr_validate_score(const struct fr_cluster *cluster, int64_t cores,
                            struct fr_validation *validation, struct fr_error *err);

/** Price a row's configuration: reads its texts into @p job, whose cluster is set, and @p lists, which
 *  the caller frees, also on error. */
fr_status fr_validate_price(struct fr_job *job, const struct fr_validate_row *row,
                            struct fr_plan_lists *lists, struct fr_outcome *out,
                            struct fr_error *err);

/** Fill products and memory from the references; part of fr_validate_score. */
fr_status fr_validate_drifts(const struct fr_cluster *cluster, int64_t cores,
                             struct fr_validation *validation, struct fr_error *err);

/** The real program (real/apps/programs.c) for @p plan of @p workload: the skeleton for any plan,
 *  but for sub-graphs, for layers with a grid of their own, and for transformers.  Whether it can run this one,
 *  it says itself. */
const char *fr_validate_program(const struct fr_workload *workload, const struct fr_plan *plan);

void fr_validation_free(struct fr_validation *validation);

/** Append a row of @p run; FR_OK or FR_ERR_NOMEM. */
fr_status fr_validation_add(struct fr_validation *validation,
                            const struct fr_validate_case *run, struct fr_error *err);

#endif
