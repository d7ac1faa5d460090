/** @file
 *  Words of short answers about a job and a plan: the question, the plan, its parts, how
 *  surely it fits, and what it is priced with. */
#ifndef FR_ANSWER_BRIEF_WORDS_H
#define FR_ANSWER_BRIEF_WORDS_H

#include "answer/predict/training.h"
#include "base/text/brief.h"
#include "models/outcome/outcome.h"
#include "models/plan/key.h"

/** "llama-3-70b on 512 GPUs of dgx-h100 (64 nodes), 2,048 x 8,192 tokens, bf16": a row without a label.
 *  @param plan   NULL: the job's
 *  @param where  "each of 2 clusters" in place of the job's own; or NULL */
void fr_brief_question(struct fr_brief *brief, const struct fr_job *job,
                       const struct fr_plan *plan, int64_t ranks, const char *where);

/** The last part of a path, or the name, 40 letters of it at most.  @return @p out */
const char *fr_brief_name(const char *name, char out[48]);

/** The name of one of the cluster's devices: "GPU", "TPU", else "rank". */
const char *fr_brief_device(const struct fr_cluster *cluster);

/** "tp 4, pp 4 with 10 chunks, dp 32, ZeRO 1, micro-batch 1", without some keys. */
void fr_brief_plan(const struct fr_outcome *out, fr_plan_key_set without, struct fr_text *to);

/** "30.0 s a step (90 %: 26.9 to 33.6 s), 1,091 tokens/s a GPU, MFU 50 %". */
void fr_brief_step(const struct fr_job *job, const struct fr_outcome *out,
                   struct fr_text *words);

/** "fits with over 99.9 %: 71.1 of 85.5 GB, 66.3 to 75.8; 16.4 MJ a step". */
void fr_brief_fits(const struct fr_job *job, const struct fr_outcome *out,
                   struct fr_text *words);

/** The row "time": shares of the step, the largest first. */
void fr_brief_parts(struct fr_brief *brief, const struct fr_outcome *out);

/** Rows of the software, of keys taken from it, of a calibration that is in doubt and of nodes that are not full. */
void fr_brief_inputs(struct fr_brief *brief, const struct fr_job *job,
                     const struct fr_outcome *out);

/** "20.7 days (18.6 to 23.1), 2,000 USD, 1.2 GWh, 400 t of CO2" of a training whose time is known.
 *  @param counts  its steps and device-hours, too */
void fr_brief_cost(const struct fr_training *training, const struct fr_training_cost *cost,
                   bool counts, struct fr_text *words);

/** Rows of the training that is asked for: days, money, energy, CO2, failures. */
void fr_brief_training(struct fr_brief *brief, const struct fr_training *training,
                       const struct fr_training_cost *cost);

/** A row for each reason why the plan cannot be. */
void fr_brief_reasons(struct fr_brief *brief, const struct fr_job *job,
                      const struct fr_outcome *out);

/** Rows of what is lost and of what is extrapolated. */
void fr_brief_caveats(struct fr_brief *brief, const struct fr_outcome *out);

#endif
