#include "models/job/job.h"
#include "models/job/assume.h"
#include "models/plan/copies.h"
#include "models/plan/iterations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "models/job/key_meant.h"
#include "models/job/plan_document.h"
#include "models/job/preset.h"
#include "models/job/release.h"
#include "models/job/runtime.h"
#include "models/plan/key.h"
#include "models/workload/family.h"

enum {
    CLUSTER = FR_JOB_CLUSTER,
    MODEL = FR_JOB_MODEL,
    PLAN = FR_JOB_PLAN,
    N_DOCUMENTS = FR_JOB_DOCUMENTS
};
static const char *const prefixes[] = {"cluster", "model", "plan"};

/* Which document a KEY of --set is about; *rest is the path inside.  A bare KEY is the plan's,
 * whose reader refuses what it does not know. */
static int find_document(const char *key, const char **rest) {
    for (int d = 0; d < N_DOCUMENTS; d++) {
        size_t length = strlen(prefixes[d]);
        if (strncmp(key, prefixes[d], length) != 0 || key[length] != '.') continue;
        *rest = key + length + 1;
        return d;
    }
    *rest = key;
    return PLAN;
}

/* The iterations of a model file, as forerun quality --out writes one: of those the value is meant. */
static void member_of_model(const struct fr_json_document *file, const char *path,
                            struct fr_text *text) {
    struct fr_json root = fr_json_root(file), member = fr_json_member(&root, path);
    struct fr_json_writer w = {.text = text};
    if (fr_json_is_object(&root) && fr_json_present(&member)) fr_json_put_copy(&w, &member);
}

/* model.iterations=FILE: the text of the file stands for the value. */
static fr_status set_from_file(struct fr_json_document *document, const char *path,
                               const char *file, struct fr_error *err) {
    char *text = NULL;
    size_t length = 0;
    struct fr_json_document *check = NULL;
    FR_TRY(fr_file_read(file, FR_FILE_MAX_B, &text, &length, err));
    struct fr_text inside = {0};
    fr_status status = fr_json_parse(text, length, file, &check, err);
    if (status == FR_OK) member_of_model(check, path, &inside);
    fr_json_free(check);
    if (status == FR_OK)
        status =
            fr_json_set(document, path, inside.length ? fr_text_get(&inside) : text, file, err);
    fr_text_free(&inside);
    free(text);
    return status;
}

static bool names_a_file(const char *path, const char *value) {
    return (strcmp(path, "iterations") == 0 || strcmp(path, "layer_profile") == 0) &&
           strspn(value, "+-.0123456789eE") != strlen(value) &&
           value[strspn(value, " ")] != '{' && value[strspn(value, " ")] != '[';
}

/* A key that leads nowhere is answered here, where all keys are known; what stands in a file its reader refuses. */
static fr_status check_key(int which, const char *path, struct fr_error *err) {
    char key[FR_KEY_NAME];
    const char *hint;
    size_t length = strcspn(path, ".");
    if (which == MODEL) return FR_OK;
    if (which == CLUSTER) {
        bool alias = !path[length] && fr_key_meant(path, key, &hint) == FR_MEANT_ALIAS &&
                     strncmp(key, "cluster.", 8) == 0;
        return alias ? fr_key_unknown(path, "--set", FR_ERR_INPUT, err) : FR_OK;
    }
    for (int i = 0; i < FR_PLAN_KEYS; i++)
        if (strncmp(fr_plan_keys[i].name, path, length) == 0 &&
            (!fr_plan_keys[i].name[length] || fr_plan_keys[i].name[length] == '.'))
            return FR_OK;
    return fr_key_unknown(path, "--set", FR_ERR_INPUT, err);
}

static fr_status apply_set(struct fr_job *job, const char *set, struct fr_error *err) {
    const char *equals = strchr(set, '='), *rest = NULL;
    char key[160];
    if (!equals || equals == set || (size_t)(equals - set) >= sizeof key)
        return fr_fail(err, FR_ERR_USAGE, "--set", "\"%.64s\" is not of the form KEY=VALUE",
                       set);
    snprintf(key, sizeof key, "%.*s", (int)(equals - set), set);
    if (fr_runtime_is_set(set))
        return strcmp(key, "runtime") == 0 ? FR_OK
                                           : fr_runtime_set(job->runtime, key, equals + 1, err);
    int which = find_document(key, &rest);
    if (!job->documents[which])
        return fr_fail(err, FR_ERR_USAGE, "--set", "\"%s\": no %s is read by this command", key,
                       prefixes[which]);
    FR_TRY(check_key(which, rest, err));
    if (which == MODEL) {
        struct fr_json root = fr_json_root(job->documents[MODEL]);
        if (fr_family_is_config(&root)) FR_TRY(fr_family_check_set(&root, rest, err));
    }
    if (which == MODEL && names_a_file(rest, equals + 1))
        return set_from_file(job->documents[which], rest, equals + 1, err);
    if (which == CLUSTER)
        return fr_cluster_set(job->documents[which], rest, equals + 1, "--set", err);
    return fr_json_set(job->documents[which], rest, equals + 1, "--set", err);
}

static fr_status read_runtime(struct fr_job *job, const char *name, struct fr_error *err) {
    job->runtime = fr_calloc(1, sizeof *job->runtime);
    if (!job->runtime) return fr_fail(err, FR_ERR_NOMEM, name, "out of memory");
    return fr_runtime_read(name, job->runtime, err);
}

/* One that the caller made of others. */
static fr_status take_made(struct fr_job *job, const struct fr_runtime *made,
                           struct fr_error *err) {
    job->runtime = fr_calloc(1, sizeof *job->runtime);
    if (!job->runtime) return fr_fail(err, FR_ERR_NOMEM, made->name, "out of memory");
    return fr_runtime_copy(made, job->runtime, err);
}

static fr_status load_documents(const struct fr_job_names *names, struct fr_job *job,
                                struct fr_error *err) {
    FR_TRY(fr_preset_or_file_read("cluster", names->cluster, &job->documents[CLUSTER], err));
    snprintf(job->cluster_from, sizeof job->cluster_from, "%s",
             fr_preset_or_file_shown("cluster", names->cluster));
    if (names->model) {
        FR_TRY(fr_preset_or_file_read("model", names->model, &job->documents[MODEL], err));
        snprintf(job->model_from, sizeof job->model_from, "%s",
                 fr_preset_or_file_shown("model", names->model));
    }
    return names->plan ? fr_plan_document_read(names->plan, &job->documents[PLAN], err)
                       : fr_json_parse("{}", 2, "plan", &job->documents[PLAN], err);
}

/* The runtime that is named, if any: what a model starts from, it says, unless --set says otherwise. */
static fr_status read_named(const struct fr_job_names *names, struct fr_job *job,
                            struct fr_error *err) {
    const char *set = fr_release_name_set(names->sets, names->n_sets),
               *name = set ? set : names->runtime;
    if (!name && !names->made) return FR_OK;
    FR_TRY(names->made ? take_made(job, names->made, err) : read_runtime(job, name, err));
    if (!job->documents[MODEL]) return FR_OK;
    return fr_json_set(job->documents[MODEL], "defaults",
                       job->runtime->modern ? "modern" : "2019", job->runtime->name, err);
}

fr_status fr_job_runtime(struct fr_job *job, const char *until, struct fr_error *err) {
    char name[FR_RUNTIME_NAME];
    bool modern = !job->documents[MODEL] || job->workload.modern;
    if (job->runtime) return FR_OK;
    fr_release_newest(modern, job->cluster.device.generation, until, name);
    FR_TRY(read_runtime(job, name, err));
    job->runtime->guessed = !until;
    return FR_OK;
}

void fr_job_fill(const struct fr_job *job, struct fr_plan *plan) {
    if (fr_job_is_pipeline(job, plan) && plan->pp == 1 && !plan->order &&
        !plan->schedule->phases) {
        plan->schedule = &fr_schedule_one_f_one_b;
        plan->chunks = 1;
    }
    int64_t all = fr_job_batch(job, plan) / plan->dp, customary = job->workload.micro_batch;
    bool subgraph = plan->method->branches;
    if (plan->micro_batch || !job->workload.transformer.layers || all < 1) return;
    if (customary < 0 || (customary == 0 && subgraph && plan->pp == 1))
        plan->micro_batch = all;
    else if (customary > 0)
        plan->micro_batch = customary;
    else if (subgraph)
        plan->micro_batch = plan->tp;
}

fr_status fr_job_finish(struct fr_job *job, struct fr_error *err) {
    if (job->workload.stages.listed && !fr_job_plan_says(job, "pp"))
        job->plan.pp = job->workload.stages.listed; /* listed stages say how many there are */
    return fr_job_assume(job, err);
}

/* Its runtime, with the facts that --set puts before it, and what the devices reach with that. */
static fr_status equip(const struct fr_job_names *names, struct fr_job *job,
                       struct fr_error *err) {
    FR_TRY(fr_job_runtime(job, fr_release_date_set(names->sets, names->n_sets), err));
    for (int i = 0; i < names->n_sets; i++)
        if (fr_runtime_is_set(names->sets[i])) FR_TRY(apply_set(job, names->sets[i], err));
    return fr_runtime_equip(job->runtime, job->documents[CLUSTER], &job->cluster, err);
}

fr_status fr_job_load(const struct fr_job_names *names, struct fr_job *job,
                      struct fr_error *err) {
    *job = (struct fr_job){.plan = fr_plan_default()};
    FR_TRY(load_documents(names, job, err));
    FR_TRY(read_named(names, job, err));
    for (int i = 0; i < names->n_sets; i++)
        if (!fr_runtime_is_set(names->sets[i])) FR_TRY(apply_set(job, names->sets[i], err));
    FR_TRY(fr_cluster_read_bare(job->documents[CLUSTER], &job->cluster, err));
    if (names->pue > 0) job->cluster.pue = names->pue;
    job->palm_flop = names->palm_flop;
    if (job->documents[MODEL] && job->cluster.device.memory_rate_B_per_s <= 0)
        return fr_fail(err, FR_ERR_INPUT, job->cluster_from,
                       "says nothing of the device, so no model can be priced on it; give "
                       "\"device\", or fit it with forerun fit --base");
    if (job->documents[MODEL])
        FR_TRY(fr_model_read(job->documents[MODEL], &job->workload, err));
    FR_TRY(fr_plan_read(job->documents[PLAN], &job->plan, &job->lists, err));
    FR_TRY(equip(names, job, err));
    return fr_job_finish(job, err);
}

struct fr_plan fr_job_stated(const struct fr_job *job, const struct fr_plan *plan) {
    struct fr_plan stated = *plan;
    int64_t batch = fr_job_batch(job, plan);
    int64_t whole = job->workload.n_layers == 0 || plan->pp > 1 ? 1 : batch / plan->dp;
    stated.global_batch = batch;
    /* With a grid per layer each has its own share of the batch; etp left open stays tp. */
    if (!stated.micro_batch && !stated.layer_tp && !stated.layer_tp_best)
        stated.micro_batch = whole;
    return stated;
}

const struct fr_json_document *fr_job_model(const struct fr_job *job) {
    return job->documents[MODEL];
}

const struct fr_json_document *fr_job_plan(const struct fr_job *job) {
    return job->documents[PLAN];
}

bool fr_job_plan_says(const struct fr_job *job, const char *key) {
    struct fr_json at = fr_json_root(job->documents[PLAN]);
    for (const char *dot; (dot = strchr(key, '.')); key = dot + 1) {
        char object[32];
        snprintf(object, sizeof object, "%.*s", (int)(dot - key), key);
        struct fr_json inside = fr_json_member(&at, object);
        if (!fr_json_present(&inside)) return false;
        at = inside;
    }
    struct fr_json member = fr_json_member(&at, key);
    return fr_json_present(&member);
}

bool fr_job_model_says(const struct fr_job *job, const char *key) {
    if (!job->documents[MODEL]) return false;
    struct fr_json root = fr_json_root(job->documents[MODEL]);
    struct fr_json member =
        fr_json_member(&root, strncmp(key, "model.", 6) == 0 ? key + 6 : key);
    return fr_json_present(&member);
}

void fr_job_free(struct fr_job *job) {
    if (job->runtime) fr_runtime_free(job->runtime);
    free(job->runtime);
    free(job->usual);
    free(job->lighter);
    fr_cluster_free(&job->cluster);
    fr_workload_free(&job->workload);
    fr_plan_lists_free(&job->lists);
    for (int d = 0; d < N_DOCUMENTS; d++) fr_json_free(job->documents[d]);
    *job = (struct fr_job){0};
}
