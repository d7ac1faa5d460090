/** @file
 *  Cross-validation: predict every run from coefficients fitted without it and its like. */
#ifndef FR_TRUST_STUDY_H
#define FR_TRUST_STUDY_H

#include "trust/score.h"
#include "trust/tune.h"

/** Predict @p n runs with a tuned cluster, with intervals. */
void fr_study_predict(const struct fr_tune_result *tuned, const struct fr_run *const *runs,
                      int n, int threads, struct fr_scored *scored);

/** Predict @p n runs, each with the cluster that it ran on as it is (never NULL), nothing fitted, with intervals.
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_study_each(const struct fr_run *const *runs, int n, int threads,
                        struct fr_scored *scored, struct fr_error *err);

/** Key of a run by the values of @p columns (NULL-terminated; of its row, or "model" for its
 *  sizes, "runtime" for its software, named or not); runs with equal keys are left out together. */
void fr_study_key(const struct fr_run *run, const char *const *columns, char *key,
                  size_t capacity);

/** For each key among the runs: fit to @p extra and to all runs with another key, predict those
 *  with this key.  Folds run in parallel; the answer does not depend on the number of threads.
 *  @param extra  further runs to fit to, or NULL
 *  @param[out] folds  how many keys there were; may be NULL */
fr_status fr_study_cross(const struct fr_cluster *prior, const struct fr_run *const *runs,
                         int n, const struct fr_run *const *extra, int n_extra,
                         const char *const *columns, const struct fr_tune_options *options,
                         struct fr_scored *scored, int *folds, struct fr_error *err);

#endif
