/** @file
 *  Which runs form groups that share a model error?
 *
 *      model    width and depth                       plan     degrees, pieces and sharding, of whatever model
 *      kind     a plan of a model at one sequence and micro-batch, on however many replicas
 *      release  a kind under one release of the software, where the row says which (note.release, note.round)
 *
 *  The model error of each is a random effect (trust/numbers/effects.h).  Standard deviations, in logarithms,
 *  before any row is seen:
 *
 *      model    0.035   MLPerf's runs under presets that knew none of them lay 5.5 % (H100) and 7 % (all) off in
 *      plan     0.035   the mean, 0.07 to 0.09 as a deviation: all three together; half the variance is the plan's of a
 *      kind     0.05    model, a quarter each the others', since fits to vTrain's and DGXC's rows leave most of it there
 *      release  0.041   one plan's times under several releases, root mean square over four sources: MLPerf's GPT-3
 *                       6.6 %, Megatron-Bridge's Llama 70B 3.2 %, DGXC's recipes 2.8 %, MLPerf's adapters 2.6 %
 *      run      0.02    runs of one kind and release, on other replicas or another day, as sources of runs say (forerun
 *                       reproduce effects); iterations of one run differ by about a percent (MLPerf's p05 and p95)
 *
 *  The model error of model, plan and kind is 1.9 times as large for mixtures of experts, whose exchanges and hosts
 *  differ, and for adapters beside frozen weights.  The factor is that of the errors of presets alone on mixtures
 *  (docs/explanation/intervals.md). */
#ifndef FR_TRUST_EFFECTS_GROUPS_H
#define FR_TRUST_EFFECTS_GROUPS_H

#include "models/device/tuning.h"
#include "trust/numbers/effects.h"
#include "trust/runs/runs.h"

/** Model error of a plan of a model, in logarithms: the error that counts as one. */
#define FR_TUNE_MODEL_ERROR 0.05

/** Standard deviation of the logarithm of one plan's time between releases of the software, as above. */
#define FR_TUNE_RELEASE 0.041

/** The same of runs of one kind and release. */
#define FR_TUNE_RUN 0.02

/** Half a 90 % interval over its standard deviation, on values that no run has moved: under presets nine plans of
 *  models in ten lie within 1.14, with equal weight for each source of measurements.  With each source left out it is
 *  1.12 to 1.17, a standard error of 0.09 (jackknife; forerun reproduce effects).  It was 1.25 when this was set, and
 *  stays: a little too wide for runs that were seen.  The sizes' distribution would make it 1.5, so errors are nearer to normal, and their deviation is less
 *  than these standard deviations add up to. */
#define FR_TUNE_STRETCH 1.25

bool fr_run_one_model(const struct fr_run *a, const struct fr_run *b);
/** The same model and plan, whatever the amount. */
bool fr_run_one_kind(const struct fr_run *a, const struct fr_run *b);

/** Which effect each is, FR_EFFECT_... */
extern const int fr_seen_effects[];
/** The model, plan or plan of a model that a run is of, whose model error is zero. */
struct fr_tuning_seen fr_run_seen(const struct fr_run *run, fr_seen what);
bool fr_run_is(const struct fr_run *run, const struct fr_tuning_seen *seen);

/** How many times as large the model error of its model and plan is as that of a dense one. */
double fr_run_model_error_times(const struct fr_run *run);

/** Number the groups of @p n runs in order of appearance, group[FR_EFFECT_...][n].
 *  @return whether any row names its release: else all are of one, and so is what they predict. */
bool fr_runs_grouped(const struct fr_run *const *runs, int n, int *group[FR_EFFECT_ROW]);

/** Groups of @p n runs, into @p rows: weights, the factor of each one's model error, groups.
 *  @param weight, times  [n], and @p groups [FR_EFFECT_ROW][n], are filled and stay the caller's
 *  @return as fr_runs_grouped */
bool fr_runs_share(const struct fr_run *const *runs, int n, double *weight, double *times,
                   int *groups, struct fr_effects_rows *rows);

/** Scales of the model error, @p model_error in place of 0.05; without @p releases next to none of these. */
void fr_effect_scales(double model_error, bool releases, double scale[FR_EFFECTS]);

/** Standard deviation of all effects together, of a run whose model error is @p times as large. */
double fr_effects_spread(const double sd[FR_EFFECTS], double times);
/** Deviation of its release and run, and of its model, plan and kind where they are @p unknown. */
double fr_effects_of(const double sd[FR_EFFECTS], double times,
                     const bool unknown[FR_SEEN_COUNT]);

#endif
