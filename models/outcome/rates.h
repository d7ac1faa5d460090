/** @file
 *  The numbers that people compare training runs by.
 *
 *      samples/s = B / T        tokens/s = B s / T       T of an iteration, B its global batch
 *      model FLOP/s a device = B flop / (T ranks)        models/workload/flop.h
 *      forward alone: a third of it (one product of three)
 *      MFU = that / the data sheet's peak in the model's dtype (fr_gemm_nominal_flop_per_s)
 *      hardware FLOP/s a device, HFU: the same with what the plan recomputes counted again
 *      iterations an epoch = S / B, its time and energy so many iterations'   S samples of the training set
 *
 *  Model FLOP utilisation leaves out what is done twice (recomputation), as Chowdhery et al., PaLM,
 *  2022 define it; which scores count, and what ghost neurons make of the network: models/workload/flop.h.  No plan is above
 *  100 % by convention causal. */
#ifndef FR_MODELS_OUTCOME_RATES_H
#define FR_MODELS_OUTCOME_RATES_H

#include "models/job/job.h"
#include "models/outcome/outcome.h"

/** NaN what is not known: tokens of a model without, MFU of measured stages or without a data sheet's peak. */
struct fr_rates {
    double samples_per_s, tokens_per_s, tokens_per_s_per_device;
    double model_flop_per_s_per_device, mfu, hardware_flop_per_s_per_device, hfu;
    double iterations_per_epoch, epoch_time_s,
        epoch_energy_J; /**< of a model that says its samples */
};

/** How @p job's scores are counted, "causal" or "palm" (models/workload/flop.h). */
extern const char *const fr_rates_conventions[]; /* then NULL */
const char *fr_rates_convention(const struct fr_job *job);

/** Rates of a priced outcome; all NaN for one that is not priced. */
struct fr_rates fr_rates_of(const struct fr_job *job, const struct fr_outcome *out);

#endif
