#include "answer/search/mine.h"

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
#include "search/chosen.h"

static bool says(const struct fr_mine *mine, const char *key) {
    struct fr_json root = fr_json_root(mine->document), member = fr_json_member(&root, key);
    return fr_json_present(&member);
}

/* Stages, replicas and the batch of the plan, as the ranks and the job state them. */
static fr_status take_rest(const struct fr_job *job, int64_t ranks, struct fr_mine *mine,
                           struct fr_error *err) {
    struct fr_plan *plan = &mine->plan;
    if (job->workload.stages.listed && !says(mine, "pp"))
        plan->pp = job->workload.stages.listed;
    int64_t others = fr_plan_ranks(plan) / plan->dp;
    if (!plan->global_batch) plan->global_batch = job->plan.global_batch;
    if (ranks == 0 || fr_plan_ranks(plan) == ranks) return FR_OK;
    if (says(mine, "dp"))
        return fr_fail(err, FR_ERR_USAGE, mine->name,
                       "the plan has %" PRId64
                       " ranks (dp x cp x pp x tp), the search %" PRId64,
                       fr_plan_ranks(plan), ranks);
    if (ranks % others != 0)
        return fr_fail(err, FR_ERR_USAGE, mine->name,
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
static fr_status read_document(const struct fr_job *job, const char *name, struct fr_mine *mine,
                               struct fr_error *err) {
    struct fr_text plan = {0}, told = {0};
    if (!fr_trainer_is_file(name)) return fr_plan_document_read(name, &mine->document, err);
    struct fr_run_row *row = fr_calloc(1, sizeof *row);
    if (!row) return fr_fail(err, FR_ERR_NOMEM, name, "out of memory");
    fr_status status = fr_trainer_read_file(name, NULL, 0, row, &told, err);
    if (status == FR_OK) status = check_model(job, name, row, err);
    if (status == FR_OK) status = fr_trainer_plan_text(row, &plan, err);
    if (status == FR_OK)
        status = fr_json_parse(plan.data, plan.length, name, &mine->document, err);
    fr_text_free(&plan);
    fr_text_free(&told);
    free(row);
    return status;
}

fr_status fr_mine_read(const struct fr_job *job, const char *name, int64_t ranks,
                       struct fr_mine *mine, struct fr_error *err) {
    *mine = (struct fr_mine){.behind = NAN,
                             .as_good = NAN,
                             .faster = -1,
                             .gain = {FR_CLAIM_UNKNOWN, NAN, NAN, NAN, NAN, NAN}};
    snprintf(mine->name, sizeof mine->name, "%s", fr_preset_or_file_shown("plan", name));
    FR_TRY(read_document(job, name, mine, err));
    FR_TRY(fr_plan_read(mine->document, &mine->plan, &mine->lists, err));
    FR_TRY(take_rest(job, ranks, mine, err));
    struct fr_json root = fr_json_root(mine->document);
    fr_job_complete(job, fr_job_open(&root), &mine->plan);
    fr_cost_chosen(job, &mine->plan, &mine->outcome);
    return FR_OK;
}

void fr_mine_free(struct fr_mine *mine) {
    fr_plan_lists_free(&mine->lists);
    fr_json_free(mine->document);
    *mine = (struct fr_mine){.faster = -1};
}

void fr_mine_name(struct fr_mine *mine, int n) {
    for (int i = 0; i < n; i++)
        if (strcmp(mine[i].name, "plan") == 0)
            snprintf(mine[i].name, sizeof mine[i].name, "plan %d", i + 1);
}

static double batch_of(const struct fr_job *job, const struct fr_outcome *out) {
    return (double)fr_job_batch(job, &out->plan);
}

double fr_mine_behind(const struct fr_job *job, const struct fr_outcome *mine,
                      const struct fr_outcome *best) {
    return mine->time_s / best->time_s * batch_of(job, best) / batch_of(job, mine) - 1;
}

double fr_mine_as_good(const struct fr_job *job, const struct fr_outcome *mine,
                       const struct fr_outcome *best) {
    char differs[64];
    if (!isfinite(mine->time_s) || !isfinite(best->time_s)) return NAN;
    if (!*fr_mine_differs(job, &mine->plan, &best->plan, differs, sizeof differs)) return 1;
    return fr_gain_over(job, best, mine, &(struct fr_gain_ask){.tuned = false}).as_good;
}

/* With what is left open filled in, and without what nothing reads. */
static struct fr_plan said(const struct fr_job *job, const struct fr_plan *plan) {
    const struct fr_plan plain = fr_plan_default();
    struct fr_plan full = *plan;
    fr_job_fill(job, &full);
    struct fr_plan said = fr_job_said(job, &full);
    for (int k = 0; k < FR_PLAN_KEYS; k++) {
        uint64_t lacks = fr_plan_missing_of(fr_plan_keys[k].needs, &job->workload, &said);
        if (lacks) fr_plan_key_copy(&fr_plan_keys[k], &plain, &said);
    }
    return said;
}

const char *fr_mine_differs(const struct fr_job *job, const struct fr_plan *mine,
                            const struct fr_plan *best, char *out, size_t capacity) {
    const struct fr_plan a = said(job, mine), b = said(job, best);
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
