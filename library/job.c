#include "library/job.h"

#include <stdlib.h>
#include <string.h>

struct fr_job_names fr_library_names(const forerun_job *job) {
    return (struct fr_job_names){.cluster = job->cluster,
                                 .model = job->model,
                                 .plan = job->plan,
                                 .sets = (const char *const *)job->sets,
                                 .n_sets = job->n_sets};
}

struct fr_job fr_library_copy(const forerun_job *job) {
    struct fr_job copy = job->job;
    copy.lists.layer_tp = copy.lists.stage_layers =
        NULL; /* one that is chosen is the copy's own */
    return copy;
}

void fr_library_forget(struct fr_job *copy) {
    free(copy->lists.layer_tp);
    free(copy->lists.stage_layers);
}

fr_status fr_library_needs_model(const forerun_job *job, struct fr_error *err) {
    if (!job) return fr_fail(err, FR_ERR_USAGE, "job", "is NULL; forerun_load makes one");
    return job->model ? FR_OK : fr_fail(err, FR_ERR_USAGE, "job", "was loaded without a model");
}

static void free_sets(char **sets, int n) {
    for (int i = 0; i < n; i++) free(sets[i]);
    free(sets);
}

void forerun_job_free(forerun_job *job) {
    if (!job) return;
    fr_job_free(&job->job);
    free_sets(job->sets, job->n_sets);
    free(job->cluster);
    free(job->model);
    free(job->plan);
    free(job);
}

/* ---- loading --------------------------------------------------------------------------------- */

static fr_status no_memory(struct fr_error *err) {
    return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
}

static fr_status refuse_standard(const char *what, const char *name, struct fr_error *err) {
    if (strcmp(name, "-") != 0) return FR_OK;
    return fr_fail(err, FR_ERR_USAGE, what,
                   "\"-\" is standard input, which is the program's; read it, and give the "
                   "text");
}

static fr_status copy_name(const char *what, const char *name, char **copy,
                           struct fr_error *err) {
    FR_TRY(refuse_standard(what, name, err));
    *copy = fr_strdup(name);
    return *copy ? FR_OK : no_memory(err);
}

/* Nor is the software read from there. */
static fr_status check_set(const char *key_value, struct fr_error *err) {
    static const char equal[] = "runtime=";
    bool names = strncmp(key_value, equal, sizeof equal - 1) == 0;
    return names ? refuse_standard("runtime", key_value + sizeof equal - 1, err) : FR_OK;
}

static fr_status copy_sets(const char *const *sets, forerun_job *job, struct fr_error *err) {
    int n = 0;
    for (; sets && sets[n]; n++) FR_TRY(check_set(sets[n], err));
    job->sets = fr_calloc((size_t)n + 1, sizeof *job->sets);
    if (!job->sets) return no_memory(err);
    for (int i = 0; i < n; i++) {
        job->sets[i] = fr_strdup(sets[i]);
        if (!job->sets[i]) return no_memory(err);
        job->n_sets++;
    }
    return FR_OK;
}

static fr_status load(const char *cluster, const char *model, const char *plan,
                      const char *const *sets, forerun_job *job, struct fr_error *err) {
    if (!cluster) return fr_fail(err, FR_ERR_USAGE, "cluster", "is NULL");
    FR_TRY(copy_name("cluster", cluster, &job->cluster, err));
    if (model) FR_TRY(copy_name("model", model, &job->model, err));
    if (plan) FR_TRY(copy_name("plan", plan, &job->plan, err));
    FR_TRY(copy_sets(sets, job, err));
    struct fr_job_names names = fr_library_names(job);
    return fr_job_load(&names, &job->job, err);
}

forerun_status forerun_load(const char *cluster, const char *model, const char *plan,
                            const char *const *sets, forerun_job **job, forerun_error *error) {
    struct fr_call call;
    fr_call_begin(&call);
    forerun_job *made = fr_calloc(1, sizeof *made);
    fr_status status = made ? load(cluster, model, plan, sets, made, &call.err) : FR_ERR_NOMEM;
    if (status == FR_OK && !job)
        status = fr_fail(&call.err, FR_ERR_USAGE, "job", "is NULL: nowhere to leave the job");
    forerun_status code = fr_call_end(&call, status, error);
    if (code != FORERUN_OK) {
        forerun_job_free(made);
        made = NULL;
    }
    if (job) *job = made;
    return code;
}

/* ---- one change more ------------------------------------------------------------------------- */

static bool same_key(const char *a, const char *b) {
    size_t length = strcspn(a, "=");
    return length == strcspn(b, "=") && strncmp(a, b, length) == 0;
}

/* Is @p set about something inside what @p key_value sets? */
static bool inside(const char *set, const char *key_value) {
    size_t length = strcspn(key_value, "=");
    return strncmp(set, key_value, length) == 0 && set[length] == '.';
}

/* Which earlier set the new one makes idle, or -1: the same key, nothing inside it since. */
static int idle_set(const forerun_job *job, const char *key_value) {
    for (int i = job->n_sets; i-- > 0;) {
        if (same_key(job->sets[i], key_value)) return i;
        if (inside(job->sets[i], key_value)) return -1;
    }
    return -1;
}

static fr_status set(forerun_job *job, const char *key_value, struct fr_error *err) {
    if (!job) return fr_fail(err, FR_ERR_USAGE, "job", "is NULL; forerun_load makes one");
    if (!key_value) return fr_fail(err, FR_ERR_USAGE, "key_value", "is NULL");
    FR_TRY(check_set(key_value, err));
    int idle = idle_set(job, key_value), n = 0;
    struct fr_job loaded = {.n_varied = 0};
    char *copy = fr_strdup(key_value);
    char **sets = fr_calloc((size_t)job->n_sets + 2, sizeof *sets);
    fr_status status = copy && sets ? FR_OK : no_memory(err);
    for (int i = 0; status == FR_OK && i < job->n_sets; i++)
        if (i != idle) sets[n++] = job->sets[i];
    if (status == FR_OK) {
        struct fr_job_names names = fr_library_names(job);
        sets[n++] = copy;
        names.sets = (const char *const *)sets;
        names.n_sets = n;
        status = fr_job_load(&names, &loaded, err);
    }
    if (status == FR_OK && atomic_load(&fr_alloc_watched()->failed)) status = FR_ERR_NOMEM;
    if (status != FR_OK) {
        fr_job_free(&loaded);
        free(copy);
        free(sets);
        return status;
    }
    if (idle >= 0) free(job->sets[idle]);
    free(job->sets);
    fr_job_free(&job->job);
    job->job = loaded;
    job->sets = sets;
    job->n_sets = n;
    return FR_OK;
}

forerun_status forerun_set(forerun_job *job, const char *key_value, forerun_error *error) {
    struct fr_call call;
    fr_call_begin(&call);
    return fr_call_end(&call, set(job, key_value, &call.err), error);
}
