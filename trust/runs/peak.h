/** @file
 *  Can a run be as fast as it says?
 *
 *      share = flop of an iteration / (measured s x ranks x peak of a device)
 *
 *  with the flop of the model alone, scores counted causally, and the data sheet's peak in the run's dtype: no run on
 *  those devices is above 1 (models/outcome/rates.h).  One that is has another time, other ranks or another model. */
#ifndef FR_TRUST_RUNS_PEAK_H
#define FR_TRUST_RUNS_PEAK_H

#include "trust/runs/runs.h"

/** The share; NaN where time, cluster or peak is not known. */
double fr_run_peak_share(const struct fr_run *run);

/** Take the runs above 1 out; they are counted and the first is named (fr_runs_print_skipped). */
void fr_runs_drop_impossible(struct fr_runs *runs);

#endif
