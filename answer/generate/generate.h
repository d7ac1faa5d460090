/** @file
 *  What does generating text cost: time and energy of a token, and the memory of its cache.
 *
 *  b samples of a prompt of n tokens get N tokens each.  A pass over the prompt makes the first one and fills the cache.
 *  Each of the other N - 1 is a step: a pass of one token a sample behind c = n, n + 1, ... n + N - 2 cached ones
 *  (models/workload/cache.h).  A step's time hardly bends with c, so Simpson's rule over the first, the middle and the
 *  last one gives the mean:
 *
 *      token = (first + 4 middle + last) / 6         all = prompt + (N - 1) token
 *
 *  Memory is that behind the last step.  A step begins when all samples have their last token, so a pipeline drains
 *  between two; micro-batches fill it within one.
 *
 *  Taken unless plan file or settings say otherwise: an engine that serves models (runtime vllm-2025: fused attention, a
 *  step as one graph, fused kernels) and one micro-batch a step.  Unless settings say otherwise: none of a training loop's
 *  fixed time, and no heads for further tokens.  The prompt's pass has about FR_PROMPT_TOKENS in a micro-batch, as servers
 *  do it in pieces, and logits of all its tokens, which servers make of the last one alone.
 *
 *  Left out: speculative decoding, samples that come and go (continuous batching), sharing of prompts, how a server
 *  schedules and samples, and tokens on their way to users. */
#ifndef FR_ANSWER_GENERATE_GENERATE_H
#define FR_ANSWER_GENERATE_GENERATE_H

#include "models/job/job.h"
#include "models/outcome/outcome.h"

enum { FR_PROMPT_TOKENS = 2048 };

struct fr_generation_asked {
    int64_t prompt, tokens, batch;
};

struct fr_generation {
    struct fr_generation_asked asked;
    struct fr_job job;         /**< of the last step */
    struct fr_outcome last;    /**< its outcome; with reasons where the plan cannot be */
    double prompt_s, prompt_J; /**< until the first token */
    double token_s,
        token_J;            /**< a step's time in the mean; energy of one token of one sample */
    double low_s, high_s;   /**< 90 % interval of token_s; equal where nothing states one */
    double first_s, last_s; /**< of the first and the last step */
    double tokens_per_s;    /**< of all samples, while steps go on */
    double all_s, all_J;    /**< prompt and steps */
};

/** @param names  cluster, model, plan and settings of the user; `pass`, `global_batch`, `model.sequence` and
 *                `model.cached` are the question's
 *  @return FR_OK, also for a plan that cannot be (last.reasons); FR_ERR_INPUT for a model that does not generate;
 *          FR_ERR_USAGE for settings of what is the question's; what loading gave.  Free with fr_generation_free, also on error. */
fr_status fr_generate(const struct fr_job_names *names, const struct fr_generation_asked *asked,
                      struct fr_generation *out, struct fr_error *err);
void fr_generation_free(struct fr_generation *generation);

/** The answer on one screen; the document of --json. */
void fr_generation_text(struct fr_text *text, const struct fr_generation *generation);
void fr_generation_json(struct fr_text *text, const struct fr_generation *generation);

#endif
