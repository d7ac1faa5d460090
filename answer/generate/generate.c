#include "answer/generate/generate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/outcome/outcome_fact.h"
#include "answer/predict/predict.h"
#include "base/alloc.h"
#include "models/job/release.h"

/* A pass: new tokens of each sample behind cached ones, so many samples a micro-batch. */
struct pass {
    int64_t sequence, cached, micro_batch;
};

enum { USUAL = 4, OWN = 5, WORD = 64 };

/* Taken where the user says nothing else, with an engine or with other software.  The file of a cluster has the fixed time of
 * training loops, that of a model its heads for further tokens; --set alone brings them back. */
static const struct {
    const char *key, *set;
    bool engine, other;
} usual[USUAL] = {{"attention", "attention=flash", true, false},
                  {"graphs", "graphs=iteration", true, false},
                  {"model.predicted_tokens", "model.predicted_tokens=0", true, true},
                  {"cluster.device.fixed", "cluster.device.fixed=0 s", false, true}};

/* The user's question, and what follows from the plan for all passes. */
struct question {
    const struct fr_job_names *names;
    const struct fr_generation_asked *asked;
    bool said[USUAL];                     /* by the plan */
    int64_t step_samples, prompt_samples; /* of a micro-batch; 0: the plan's default */
};

static const char engine[] = "vllm-2025";

/* Does nobody name other software? */
static bool on_engine(const struct fr_job_names *names) {
    const char *set = fr_release_name_set(names->sets, names->n_sets),
               *name = set ? set : names->runtime;
    if (names->made || fr_release_date_set(names->sets, names->n_sets)) return false;
    return !name || strcmp(name, engine) == 0;
}

/* An engine has its attention and graphs whatever the plan's method, of which runtimes know tensor alone.  Other software has
 * a training loop's fixed time, which no step has.  The user's settings come between those that they may change and those
 * that are the question's. */
static fr_status load(const struct question *q, const struct pass *p, struct fr_job *job,
                      struct fr_error *err) {
    const bool with_engine = on_engine(q->names);
    char own[OWN][WORD];
    struct fr_job_names all = *q->names;
    const char **sets = fr_calloc((size_t)all.n_sets + USUAL + OWN, sizeof *sets);
    int n = 0;
    if (!sets) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    snprintf(own[0], WORD, "pass=forward");
    snprintf(own[1], WORD, "global_batch=%" PRId64, q->asked->batch);
    snprintf(own[2], WORD, "model.sequence=%" PRId64, p->sequence);
    snprintf(own[3], WORD, "model.cached=%" PRId64, p->cached);
    snprintf(own[4], WORD, "micro_batch=%" PRId64, p->micro_batch);
    for (int i = 0; i < USUAL; i++)
        if (!q->said[i] && (with_engine ? usual[i].engine : usual[i].other))
            sets[n++] = usual[i].set;
    for (int i = 0; i < q->names->n_sets; i++) sets[n++] = q->names->sets[i];
    for (int i = 0; i < OWN - (p->micro_batch == 0); i++) sets[n++] = own[i];
    all.sets = sets;
    all.n_sets = n;
    if (with_engine) all.runtime = engine;
    fr_status status = fr_job_load(&all, job, err);
    free(sets);
    return status;
}

/* Price one pass; @p job is the caller's to free. */
static fr_status price(const struct question *q, const struct pass *p, struct fr_job *job,
                       struct fr_outcome *out, struct fr_error *err) {
    FR_TRY(load(q, p, job, err));
    return fr_predict(job, FR_ENGINE_CLOSED, out, err);
}

/* The same of a job that nobody asks for. */
static fr_status price_alone(const struct question *q, const struct pass *p,
                             struct fr_outcome *out, struct fr_outcome_ends *time,
                             struct fr_error *err) {
    struct fr_job job = {0};
    struct fr_outcome_view view;
    fr_status status = price(q, p, &job, out, err);
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

/* --set of what the options say would be lost. */
static fr_status check_sets(const struct fr_job_names *names, struct fr_error *err) {
    static const struct {
        const char *key, *says;
    } own[] = {{"pass", "it is forward"},
               {"global_batch", "write --batch"},
               {"model.sequence", "write --prompt and --tokens"},
               {"model.cached", "write --prompt and --tokens"}};
    for (int i = 0; i < names->n_sets; i++) {
        const char *set = names->sets[i];
        if (strncmp(set, "plan.", 5) == 0) set += 5;
        size_t length = strcspn(set, "=");
        for (size_t k = 0; strcmp(set, "pass=forward") != 0 && k < sizeof own / sizeof *own;
             k++)
            if (strlen(own[k].key) == length && strncmp(own[k].key, set, length) == 0)
                return fr_fail(err, FR_ERR_USAGE, NULL, "--set %s: generate sets %s itself; %s",
                               names->sets[i], own[k].key, own[k].says);
    }
    return FR_OK;
}

/* Samples of a micro-batch are what the plan says.  Else a step has all of a replica's, and the prompt as many as are near
 * FR_PROMPT_TOKENS. */
static void choose_samples(const struct fr_job *job, struct question *q) {
    int64_t own = q->asked->batch / job->plan.dp, fits = FR_PROMPT_TOKENS / q->asked->prompt,
            prompt = own > 0 ? own : 1;
    if (fr_job_plan_says(job, "micro_batch")) {
        q->step_samples = q->prompt_samples = job->plan.micro_batch;
        return;
    }
    q->step_samples = prompt;
    while (prompt > 1 && (prompt > fits || own % prompt != 0)) prompt--;
    q->prompt_samples = prompt;
}

static fr_status read_question(struct question *q, struct fr_error *err) {
    struct fr_job job = {0};
    FR_TRY(check_sets(q->names, err));
    fr_status status = fr_job_load(q->names, &job, err);
    if (status == FR_OK) status = check_model(&job, q->asked, err);
    if (status == FR_OK) {
        for (int i = 0; i < USUAL; i++) q->said[i] = fr_job_plan_says(&job, usual[i].key);
        choose_samples(&job, q);
    }
    fr_job_free(&job);
    return status;
}

static double simpson(const double at[3]) { return (at[0] + 4 * at[1] + at[2]) / 6; }

/* The prompt's memory is left out: servers make no logits of all its tokens. */
static fr_status price_prompt(const struct question *q, struct fr_generation *g,
                              struct fr_error *err) {
    struct fr_outcome out;
    struct fr_outcome_ends ignored;
    const struct pass prompt = {q->asked->prompt, 0, q->prompt_samples};
    FR_TRY(price_alone(q, &prompt, &out, &ignored, err));
    g->prompt_s = out.time_s;
    g->prompt_J = out.energy_J;
    return FR_OK;
}

fr_status fr_generate(const struct fr_job_names *names, const struct fr_generation_asked *asked,
                      struct fr_generation *g, struct fr_error *err) {
    struct question q = {.names = names, .asked = asked};
    double time_s[3], energy_J[3], n = (double)(asked->tokens - 1),
                                   batch = (double)asked->batch;
    *g = (struct fr_generation){.asked = *asked};
    FR_TRY(read_question(&q, err));
    FR_TRY(price_prompt(&q, g, err));
    for (int k = 0; k < 3; k++) {
        struct pass step = {1, asked->prompt + k * (asked->tokens - 2) / 2, q.step_samples};
        struct fr_outcome out;
        struct fr_outcome_ends ends = {0};
        if (k == 2)
            FR_TRY(price(&q, &step, &g->job, &g->last, err));
        else
            FR_TRY(price_alone(&q, &step, &out, &ends, err));
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
