/** @file
 *  How likely are runs on a cluster whose values nobody fitted to them, if the model error is so large?
 *
 *      ln p(errors | scale, sizes) = ln of the integral over coefficients, effects and their sizes
 *
 *  (trust/numbers/components.h; coefficients as wide as the file states them).  Which stated sizes are likeliest is
 *  asked of many sources, each left out in turn: forerun reproduce effects. */
#ifndef FR_TRUST_EFFECTS_EVIDENCE_H
#define FR_TRUST_EFFECTS_EVIDENCE_H

#include "models/job/cluster.h"
#include "trust/numbers/components.h"
#include "trust/runs/runs.h"

struct fr_evidence;

/** Of those of @p n runs that the cluster can price, all of one dtype.  The runs are borrowed for the call alone.
 *  @return FR_OK; FR_ERR_INPUT where there are none; FR_ERR_NOMEM. */
fr_status fr_evidence_make(const struct fr_cluster *cluster, const struct fr_run *const *runs,
                           int n, struct fr_evidence **evidence, struct fr_error *err);
void fr_evidence_free(struct fr_evidence *evidence);

/** Runs that have a part in it, of how many plans of models, and their errors' root mean square, in logarithms. */
int fr_evidence_runs(const struct fr_evidence *evidence);
int fr_evidence_kinds(const struct fr_evidence *evidence);
double fr_evidence_rms(const struct fr_evidence *evidence);

/** How far off plan of a model @p kind lies, the mean of its runs, in standard deviations of what is stated of it: of
 *  coefficients and of the model error (fr_tune_deviation, fr_tune_spread). */
double fr_evidence_off(const struct fr_evidence *evidence, int kind);

/** What is stated of a plan of a model and of a run, in place of FR_TUNE_MODEL_ERROR and FR_TUNE_RUN. */
struct fr_evidence_stated {
    double model_error, run;
};

/** @param sizes    NULL: as usual
 *  @param[out] ln  the logarithm
 *  @return FR_OK; FR_ERR_NUMERIC; FR_ERR_NOMEM. */
fr_status fr_evidence_at(struct fr_evidence *evidence, struct fr_evidence_stated stated,
                         const struct fr_sizes *sizes, double *ln, struct fr_error *err);

#endif
