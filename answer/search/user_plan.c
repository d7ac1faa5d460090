#include "answer/search/user_plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/trainer/plan.h"
#include "base/alloc.h"
#include "models/job/assume.h"
#include "models/job/plan_document.h"
#include "models/job/preset.h"
#include "models/outcome/cost.h"
#include "models/plan/key.h"
#include "search/break_even.h"
#include "search/chosen.h"

static bool says(const struct fr_user_plan *user_plan, const char *key) {
    struct fr_json root = fr_json_root(user_plan->document),
                   member = fr_json_member(&root, key);
    return fr_json_present(&member);
}

/* Stages, replicas and the batch of the plan, as the ranks and the job state them. */
static fr_status take_rest(const struct fr_job *job, int64_t ranks,
                           struct fr_user_plan *user_plan, struct fr_error *err) {
    struct fr_plan *plan = &user_plan->plan;
    if (job->workload.stages.listed && !says(user_plan, "pp"))
        plan->pp = job->workload.stages.listed;
    int64_t others = fr_plan_ranks(plan) / plan->dp;
    if (!plan->global_batch) plan->global_batch = job->plan.global_batch;
    if (ranks == 0 || fr_plan_ranks(plan) == ranks) return FR_OK;
    if (says(user_plan, "dp"))
        return fr_fail(err, FR_ERR_USAGE, user_plan->name,
                       "the plan has %" PRId64
                       " ranks (dp x cp x pp x tp), the search %" PRId64,
                       fr_plan_ranks(plan), ranks);
    if (ranks % others != 0)
        return fr_fail(err, FR_ERR_USAGE, user_plan->name,
                       "%" PRId64 " ranks cannot be divided by its %" PRId64 " (cp x pp x tp)",
                       ranks, others);
    plan->dp = ranks / others;
    return FR_OK;
}

/* A trainer's file trains a model of its own: it must be the search's. */
static fr_status check_model(const struct fr_job *job, const char *name,
                             const struct fr_run_row *row, struct fr_error *err) {
    const struct fr_transformer *t = &job->workload.transformer;
    const struct {
        const char *key;
        int64_t ours;
    } sizes[] = {{"model.layers", t->layers}, {"model.hidden", t->hidden}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *value = fr_run_row_get(row, sizes[i].key);
        if (value && strtoll(value, NULL, 10) != sizes[i].ours)
            return fr_fail(err, FR_ERR_INPUT, name,
                           "is of another model than the search: %s %s, not %" PRId64,
                           sizes[i].key, value, sizes[i].ours);
    }
    return FR_OK;
}

/* A plan file, what predict or search printed, or a trainer's script, configuration or log. */
static fr_status read_document(const struct fr_job *job, const char *name,
                               struct fr_user_plan *user_plan, struct fr_error *err) {
    struct fr_text plan = {0}, stated = {0};
    if (!fr_trainer_is_file(name))
        return fr_plan_document_read(name, &user_plan->document, err);
    struct fr_run_row *row = fr_calloc(1, sizeof *row);
    if (!row) return fr_fail(err, FR_ERR_NOMEM, name, "out of memory");
    fr_status status = fr_trainer_read_file(name, NULL, 0, row, &stated, err);
    if (status == FR_OK) status = check_model(job, name, row, err);
    if (status == FR_OK) status = fr_trainer_plan_text(row, &plan, err);
    if (status == FR_OK)
        status = fr_json_parse(plan.data, plan.length, name, &user_plan->document, err);
    fr_text_free(&plan);
    fr_text_free(&stated);
    free(row);
    return status;
}

fr_status fr_user_plan_read(const struct fr_job *job, const char *name, int64_t ranks,
                            struct fr_user_plan *user_plan, struct fr_error *err) {
    *user_plan = (struct fr_user_plan){.slower = NAN,
                                       .as_good = NAN,
                                       .faster = -1,
                                       .gain = {FR_CLAIM_UNKNOWN, NAN, NAN, NAN, NAN, NAN}};
    snprintf(user_plan->name, sizeof user_plan->name, "%s",
             fr_preset_or_file_shown("plan", name));
    FR_TRY(read_document(job, name, user_plan, err));
    FR_TRY(fr_plan_read(user_plan->document, &user_plan->plan, &user_plan->lists, err));
    FR_TRY(take_rest(job, ranks, user_plan, err));
    struct fr_json root = fr_json_root(user_plan->document);
    fr_job_complete(job, fr_job_open(&root), &user_plan->plan);
    fr_cost_chosen(job, &user_plan->plan, &user_plan->outcome);
    fr_break_even_state(job, &user_plan->outcome);
    return FR_OK;
}

void fr_user_plan_free(struct fr_user_plan *user_plan) {
    fr_plan_lists_free(&user_plan->lists);
    fr_json_free(user_plan->document);
    *user_plan = (struct fr_user_plan){.faster = -1};
}

void fr_user_plan_name(struct fr_user_plan *user_plan, int n) {
    for (int i = 0; i < n; i++)
        if (strcmp(user_plan[i].name, "plan") == 0)
            snprintf(user_plan[i].name, sizeof user_plan[i].name, "plan %d", i + 1);
}

static double batch_of(const struct fr_job *job, const struct fr_outcome *out) {
    return (double)fr_job_batch(job, &out->plan);
}

double fr_user_plan_slower(const struct fr_job *job, const struct fr_outcome *user_plan,
                           const struct fr_outcome *best) {
    return user_plan->time_s / best->time_s * batch_of(job, best) / batch_of(job, user_plan) -
           1;
}

double fr_user_plan_as_good(const struct fr_job *job, const struct fr_outcome *user_plan,
                            const struct fr_outcome *best) {
    char differs[64];
    if (!isfinite(user_plan->time_s) || !isfinite(best->time_s)) return NAN;
    if (!*fr_user_plan_differs(job, &user_plan->plan, &best->plan, differs, sizeof differs))
        return 1;
    return fr_gain_over(job, best, user_plan, &(struct fr_gain_ask){.tuned = false}).as_good;
}

/* With what is left open filled in, and without what nothing reads. */
static struct fr_plan as_read(const struct fr_job *job, const struct fr_plan *plan) {
    const struct fr_plan plain = fr_plan_default();
    struct fr_plan full = *plan;
    fr_job_fill(job, &full);
    struct fr_plan as_read = fr_job_stated(job, &full);
    for (int k = 0; k < FR_PLAN_KEYS; k++) {
        uint64_t lacks = fr_plan_missing_of(fr_plan_keys[k].needs, &job->workload, &as_read);
        if (lacks) fr_plan_key_copy(&fr_plan_keys[k], &plain, &as_read);
    }
    return as_read;
}

const char *fr_user_plan_differs(const struct fr_job *job, const struct fr_plan *user_plan,
                                 const struct fr_plan *best, char *out, size_t capacity) {
    const struct fr_plan a = as_read(job, user_plan), b = as_read(job, best);
    size_t used = 0;
    out[0] = '\0';
    for (int k = 0; k < FR_PLAN_KEYS; k++) {
        const struct fr_plan_key *key = &fr_plan_keys[k];
        char ours[FR_PLAN_WORD], theirs[FR_PLAN_WORD];
        if (key->type->same(key, &a, &b)) continue;
        fr_line_addf(out, capacity, &used, "%s%s %s (%s)", used ? ", " : "", key->name,
                     key->type->text(key, &a, ours, sizeof ours),
                     key->type->text(key, &b, theirs, sizeof theirs));
    }
    return out;
}
