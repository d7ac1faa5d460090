/** @file
 *  How sure is a plan's memory?
 *
 *      low, high = M exp(-+ t s)          M predicted, s spread of ln(measured / predicted)
 *
 *  s is the root mean square over the plans whose peak a framework's allocator told: transformers under Megatron-LM
 *  and NeMo on B200, GB200 and H100, each plan once (`forerun reproduce memory`, which recomputes it); t Student's
 *  95 % quantile for so many.  It is of tensors alone.  A device shows more: free blocks that the allocator keeps
 *  (3 to 7 % more than the tensors of SimuMax's runs), contexts, communicators, buckets (nvidia-smi showed 1.1 to
 *  2.3 times the tensors that we count of Megatron-DeepSpeed's runs on V100 and A100).
 */
#ifndef FR_MODELS_OUTCOME_MEMORY_H
#define FR_MODELS_OUTCOME_MEMORY_H

#include "models/outcome/outcome.h"

#define FR_MEMORY_SPREAD 0.0349
#define FR_MEMORY_REACH 1.782 /**< t of 12 degrees of freedom */

/** The 90 % interval of out->memory_peak_B [B].
 *  @return false, and NaN, where memory is not priced, or of models that no such run trained: no transformers */
bool fr_memory_interval(const struct fr_job *job, const struct fr_outcome *out, double *low_B,
                        double *high_B);

#endif
