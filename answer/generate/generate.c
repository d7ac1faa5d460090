#include "answer/generate/generate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/predict/predict.h"
#include "base/alloc.h"
#include "models/job/release.h"
#include "models/outcome/facts/outcome_fact.h"

/* A pass: new tokens of each sample behind cached ones, so many samples a micro-batch. */
struct pass {
    int64_t sequence, cached, micro_batch;
};

enum { BEFORE = 4, AFTER = 5, WORD = 64 };

static const char engine[] = "vllm-2025";

/* Does nobody name other software? */
static bool on_engine(const struct fr_job_names *names) {
    static const char equal[] = "runtime=";
    const char *name = names->runtime;
    if (names->made || fr_release_date_set(names->sets, names->n_sets)) return false;
    for (int i = 0; i < names->n_sets; i++)
        if (strncmp(names->sets[i], equal, sizeof equal - 1) == 0)
            name = names->sets[i] + sizeof equal - 1;
    return !name || strcmp(name, engine) == 0;
}

/* An engine has its attention and graphs whatever the plan's method, of which runtimes know tensor alone; other software
 * a training loop's fixed time, which no step has.  The user's
 * settings come between those that they may change and those that are the question's. */
static fr_status load(const struct fr_job_names *names, int64_t batch, const struct pass *p,
                      struct fr_job *job, struct fr_error *err) {
    static const char *const before[BEFORE] = {"attention=flash", "graphs=iteration",
                                               "model.predicted_tokens=0",
                                               "cluster.device.fixed=0 s"};
    const bool with_engine = on_engine(names);
    char after[AFTER][WORD];
    struct fr_job_names all = *names;
    const char **sets = fr_calloc((size_t)names->n_sets + BEFORE + AFTER + 1, sizeof *sets);
    int n = 0;
    if (!sets) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    snprintf(after[0], WORD, "pass=forward");
    snprintf(after[1], WORD, "global_batch=%" PRId64, batch);
    snprintf(after[2], WORD, "model.sequence=%" PRId64, p->sequence);
    snprintf(after[3], WORD, "model.cached=%" PRId64, p->cached);
    snprintf(after[4], WORD, "micro_batch=%" PRId64, p->micro_batch);
    for (int i = with_engine ? 0 : 2; i < (with_engine ? 3 : BEFORE); i++)
        sets[n++] = before[i];
    for (int i = 0; i < names->n_sets; i++) sets[n++] = names->sets[i];
    for (int i = 0; i < AFTER - (p->micro_batch == 0); i++) sets[n++] = after[i];
    all.sets = sets;
    all.n_sets = n;
    if (with_engine) all.runtime = engine;
    fr_status status = fr_job_load(&all, job, err);
    free(sets);
    return status;
}

/* Price one pass; @p job is the caller's to free. */
static fr_status price(const struct fr_job_names *names, int64_t batch, const struct pass *p,
                       struct fr_job *job, struct fr_outcome *out, struct fr_error *err) {
    FR_TRY(load(names, batch, p, job, err));
    return fr_predict(job, FR_ENGINE_CLOSED, out, err);
}

/* The same of a job that nobody asks for. */
static fr_status price_alone(const struct fr_job_names *names, int64_t batch,
                             const struct pass *p, struct fr_outcome *out,
                             struct fr_outcome_ends *time, struct fr_error *err) {
    struct fr_job job = {0};
    struct fr_outcome_view view;
    fr_status status = price(names, batch, p, &job, out, err);
    if (status == FR_OK) {
        fr_outcome_view(&job, out, &view);
        *time = view.time;
    }
    fr_job_free(&job);
    return status;
}

static fr_status check_model(const struct fr_job *job, const struct fr_generation_asked *asked,
                             struct fr_error *err) {
    const struct fr_transformer *t = &job->workload.transformer;
    if (t->layers == 0)
        return fr_fail(err, FR_ERR_INPUT, job->model_from,
                       "generates no tokens; a model of kind transformer does");
    if (t->positions && asked->prompt + asked->tokens > t->sequence)
        return fr_fail(err, FR_ERR_INPUT, job->model_from,
                       "has learned positions for %" PRId64 " tokens; prompt and tokens are "
                       "%" PRId64,
                       t->sequence, asked->prompt + asked->tokens);
    return FR_OK;
}

/* Samples of a micro-batch: in a step all of a replica's, of the prompt as many as are near FR_PROMPT_TOKENS; or what
 * the plan says. */
struct micro {
    int64_t step, prompt;
};
static fr_status choose(const struct fr_job_names *names,
                        const struct fr_generation_asked *asked, struct micro *micro,
                        struct fr_error *err) {
    struct fr_job job = {0};
    fr_status status = fr_job_load(names, &job, err);
    if (status == FR_OK) status = check_model(&job, asked, err);
    if (status == FR_OK && fr_job_plan_says(&job, "micro_batch"))
        *micro = (struct micro){job.plan.micro_batch, job.plan.micro_batch};
    else if (status == FR_OK) {
        int64_t own = asked->batch / job.plan.dp, fits = FR_PROMPT_TOKENS / asked->prompt;
        micro->step = micro->prompt = own > 0 ? own : 1;
        while (micro->prompt > 1 && (micro->prompt > fits || own % micro->prompt != 0))
            micro->prompt--;
    }
    fr_job_free(&job);
    return status;
}

static double simpson(const double at[3]) { return (at[0] + 4 * at[1] + at[2]) / 6; }

/* The prompt's memory is left out: servers make no logits of all its tokens. */
static fr_status price_prompt(const struct fr_job_names *names,
                              const struct fr_generation_asked *asked, int64_t micro,
                              struct fr_generation *g, struct fr_error *err) {
    struct fr_outcome out;
    struct fr_outcome_ends ignored;
    FR_TRY(price_alone(names, asked->batch, &(struct pass){asked->prompt, 0, micro}, &out,
                       &ignored, err));
    g->prompt_s = out.time_s;
    g->prompt_J = out.energy_J;
    return FR_OK;
}

fr_status fr_generate(const struct fr_job_names *names, const struct fr_generation_asked *asked,
                      struct fr_generation *g, struct fr_error *err) {
    struct micro micro = {0};
    double time_s[3], energy_J[3], n = (double)(asked->tokens - 1),
                                   batch = (double)asked->batch;
    *g = (struct fr_generation){.asked = *asked};
    FR_TRY(choose(names, asked, &micro, err));
    FR_TRY(price_prompt(names, asked, micro.prompt, g, err));
    for (int k = 0; k < 3; k++) {
        struct pass step = {1, asked->prompt + k * (asked->tokens - 2) / 2, micro.step};
        struct fr_outcome out;
        struct fr_outcome_ends ends = {0};
        if (k == 2)
            FR_TRY(price(names, asked->batch, &step, &g->job, &g->last, err));
        else
            FR_TRY(price_alone(names, asked->batch, &step, &out, &ends, err));
        const struct fr_outcome *priced = k == 2 ? &g->last : &out;
        time_s[k] = priced->time_s;
        energy_J[k] = priced->energy_J;
        if (k == 1 && ends.stated)
            g->low_s = ends.low / out.time_s, g->high_s = ends.high / out.time_s;
    }
    g->token_s = simpson(time_s);
    g->low_s *= g->token_s;
    g->high_s *= g->token_s;
    g->token_J = simpson(energy_J) / batch;
    g->first_s = time_s[0];
    g->last_s = time_s[2];
    g->tokens_per_s = batch / g->token_s;
    g->all_s = g->prompt_s + n * g->token_s;
    g->all_J = g->prompt_J + n * batch * g->token_J;
    return FR_OK;
}

void fr_generation_free(struct fr_generation *generation) { fr_job_free(&generation->job); }
