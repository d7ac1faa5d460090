/** @file
 *  Which runs are alike, so that they share what the model misses?
 *
 *      model    width and depth                       plan     degrees, pieces and sharding, of whatever model
 *      kind     a plan of a model at one sequence and micro-batch, on however many replicas
 *      release  a kind under one release of the software, where the row says which (note.release, note.round)
 *
 *  What is missed of each is a random effect (calibrate/numbers/effects.h).  Standard deviations, in logarithms,
 *  before any row is seen, all from runs that no table of `reproduce training` holds:
 *
 *      model    0.05    MLPerf's runs under presets that knew none of them lie 5.5 % (H100) and 7 % (all) off in
 *      plan     0.05    the mean, 0.07 to 0.09 as a deviation: both together; the plan's half is shared by models
 *      release  0.065   GPT-3 on 512 and 768 H100 took 9 % less in MLPerf Training v3.1 than in v3.0 (three pairs)
 *      run      0.01    iterations of one run differ by about a percent (the same rows' p05 and p95)
 *
 *  Of mixtures of experts, whose exchanges and hosts differ, four times as much is missed of model and plan. */
#ifndef FR_CALIBRATE_RUNS_SHARED_ALIKE_H
#define FR_CALIBRATE_RUNS_SHARED_ALIKE_H

#include "calibrate/numbers/effects.h"
#include "calibrate/runs/runs.h"
#include "models/device/tuning.h"

/** What the model misses of a plan, in logarithms: the error that counts as one. */
#define FR_TUNE_MISSED 0.05

/** Standard deviation of the logarithm of one plan's time between releases of the software: GPT-3 on 512 and 768
 *  H100 took 9 % less in MLPerf Training v3.1 than in v3.0, three pairs of runs. */
#define FR_TUNE_RELEASE 0.065

/** The same of iterations of one run. */
#define FR_TUNE_REPEAT 0.01

bool fr_run_one_model(const struct fr_run *a, const struct fr_run *b);
/** Of one model and plan, but for how much of it. */
bool fr_run_one_kind(const struct fr_run *a, const struct fr_run *b);

/** The model, or the plan, that a run is of. */
struct fr_tuning_seen fr_run_seen(const struct fr_run *run, bool plan);
bool fr_run_is(const struct fr_run *run, const struct fr_tuning_seen *seen);

/** How many times as much is missed of its model and plan as of a dense one. */
double fr_run_missed_times(const struct fr_run *run);

/** Number the groups of @p n runs in order of appearance, group[FR_EFFECT_...][n].
 *  @return whether any row names its release: else all are of one, and so is what they predict. */
bool fr_runs_alike(const struct fr_run *const *runs, int n, int *group[FR_EFFECT_ROW]);

/** Scales of what is missed, @p missed in place of 0.05; without @p releases next to none of these. */
void fr_effect_scales(double missed, bool releases, double scale[FR_EFFECTS]);

/** Standard deviation of all effects together, of a run that is missed @p times as much. */
double fr_effects_spread(const double sd[FR_EFFECTS], double times);
/** Of its kind, release and run, and of its @p model and @p plan where they count. */
double fr_effects_of(const double sd[FR_EFFECTS], double times, bool model, bool plan);

#endif
