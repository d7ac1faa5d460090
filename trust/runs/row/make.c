/* From the keys of a row to a run. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/job/assume.h"
#include "models/plan/iterations.h"
#include "trust/runs/row/machine.h"
#include "trust/runs/row/software.h"
#include "trust/runs/runs.h"

static const double MOST = 1e18; /* seconds, joules, weights: sums of them stay numbers */

static fr_status number_key(const struct fr_run_row *row, const char *key, const char *where,
                            double min, double max, double *out, struct fr_error *err) {
    const char *value = fr_run_row_get(row, key);
    char *end = NULL;
    if (!value || !*value) return FR_OK;
    double number = strtod(value, &end);
    if (*end || !(number >= min && number <= max))
        return fr_fail(err, FR_ERR_INPUT, where, "%s: \"%.40s\" is not a number of %g to %g",
                       key, value, min, max);
    *out = number;
    return FR_OK;
}

/* The document of `model` with the keys that start with @p prefix set in it. */
static fr_status set_keys(const struct fr_run_row *row, const char *prefix, const char *where,
                          struct fr_json_document *document, struct fr_error *err) {
    size_t length = strlen(prefix);
    for (int i = 0; i < row->n; i++) {
        if (strncmp(row->item[i].key, prefix, length) != 0 || !row->item[i].value[0]) continue;
        FR_TRY(
            fr_json_set(document, row->item[i].key + length, row->item[i].value, where, err));
    }
    return FR_OK;
}

/* The row states a model's defaults, else the named software does, else --defaults. */
static fr_status model_document(const struct fr_run_row *row, const struct fr_run_place *place,
                                const struct fr_runtime *named,
                                struct fr_json_document **document, struct fr_error *err) {
    static const char empty[] = "{\"kind\": \"transformer\"}";
    const char *base = fr_run_row_get(row, "model"),
               *defaults = fr_run_row_get(row, "model.defaults");
    FR_TRY(base && *base ? fr_machine_document("model", base, place->folder, document, err)
                         : fr_json_parse(empty, sizeof empty - 1, place->where, document, err));
    const char *start = named ? named->modern ? "modern" : "2019" : place->defaults;
    if (start && !(defaults && *defaults))
        FR_TRY(fr_json_set(*document, "defaults", start, place->where, err));
    return set_keys(row, "model.", place->where, *document, err);
}

static fr_status check_ranks(const struct fr_run_row *row, const char *where,
                             struct fr_run *run, struct fr_error *err) {
    double ranks = 0;
    const char *dp = fr_run_row_get(row, "plan.dp");
    FR_TRY(number_key(row, "ranks", where, 1, (double)FR_RANKS_MAX, &ranks, err));
    if (ranks == 0) return FR_OK;
    if (ranks != floor(ranks))
        return fr_fail(err, FR_ERR_INPUT, where, "ranks: %g is no whole number", ranks);
    int64_t others = fr_plan_ranks(&run->plan) / run->plan.dp, all = (int64_t)ranks;
    if (all % others != 0)
        return fr_fail(err, FR_ERR_INPUT, where,
                       "%" PRId64 " ranks cannot be divided by the other degrees, %" PRId64,
                       all, others);
    if (!dp || !*dp) run->plan.dp = all / others;
    if (fr_plan_ranks(&run->plan) != all)
        return fr_fail(err, FR_ERR_INPUT, where,
                       "the degrees make %" PRId64 " ranks, but the run had %" PRId64,
                       fr_plan_ranks(&run->plan), all);
    return FR_OK;
}

static fr_status check_batch(const char *where, const struct fr_run *run,
                             struct fr_error *err) {
    int64_t batch =
        run->plan.global_batch ? run->plan.global_batch : run->workload.global_batch;
    int64_t micro = run->plan.micro_batch ? run->plan.micro_batch : 1;
    if (batch % run->plan.dp != 0 || batch / run->plan.dp % micro != 0)
        return fr_fail(err, FR_ERR_INPUT, where,
                       "a global batch of %" PRId64 " does not divide by dp %" PRId64
                       " times a micro-batch of %" PRId64,
                       batch, run->plan.dp, micro);
    return FR_OK;
}

/* Model and plan of the row, completed in the one place that completes a plan. */
static fr_status make_job(const struct fr_run_row *row, const struct fr_run_place *place,
                          struct fr_runs *owner, struct fr_job *job, struct fr_run *run,
                          fr_run_skip *skip, struct fr_error *err) {
    FR_TRY(fr_software_named(owner, row, place->folder, &job->runtime, err));
    FR_TRY(model_document(row, place, job->runtime, &job->documents[FR_JOB_MODEL], err));
    FR_TRY(fr_json_parse("{}", 2, place->where, &job->documents[FR_JOB_PLAN], err));
    FR_TRY(set_keys(row, "plan.", place->where, job->documents[FR_JOB_PLAN], err));
    FR_TRY(fr_model_read(job->documents[FR_JOB_MODEL], &run->workload, err));
    FR_TRY(fr_plan_read(job->documents[FR_JOB_PLAN], &run->plan, run->lists, err));
    *skip = FR_RUN_DEGREES;
    FR_TRY(check_ranks(row, place->where, run, err));
    job->workload = run->workload;
    job->plan = run->plan;
    FR_TRY(fr_software_find(owner, row, place->folder, run->workload.modern,
                            job->cluster.device.generation, &job->runtime, err));
    snprintf(run->runtime, sizeof run->runtime, "%s", job->runtime->name);
    fr_status status = fr_job_finish(job, err);
    run->workload = job->workload;
    run->plan = job->plan;
    run->lighter = job->lighter;
    FR_TRY(status);
    fr_job_assumed(job, NULL, run->assumed, sizeof run->assumed);
    return check_batch(place->where, run, err);
}

static fr_status make_complete(const struct fr_run_row *row, const struct fr_run_place *place,
                               struct fr_run *run, fr_run_skip *skip, struct fr_error *err) {
    struct fr_job *job = fr_calloc(1, sizeof *job);
    if (!job) return fr_fail(err, FR_ERR_NOMEM, NULL, "the runs do not fit in memory");
    struct fr_runs alone = {0};
    if (place->cluster) job->cluster = *place->cluster; /* borrowed, as the runtime is */
    fr_status status =
        make_job(row, place, place->runs ? place->runs : &alone, job, run, skip, err);
    fr_software_free(&alone);
    for (int d = 0; d < FR_JOB_DOCUMENTS; d++) fr_json_free(job->documents[d]);
    free(job->usual);
    free(job);
    return status;
}

/* Leaves @p which as it is where the row does not say. */
static fr_status word_key(const struct fr_run_row *row, const char *key, const char *where,
                          const char *const *names, const char *what, int *which,
                          struct fr_error *err) {
    const char *text = fr_run_row_get(row, key);
    struct fr_text all = {0};
    if (!text || !*text) return FR_OK;
    for (int i = 0; names[i]; i++) {
        fr_text_addf(&all, "%s%s", i ? names[i + 1] ? ", " : " or " : "", names[i]);
        if (strcmp(text, names[i]) != 0) continue;
        *which = i;
        fr_text_free(&all);
        return FR_OK;
    }
    fr_fail(err, FR_ERR_INPUT, where, "%s: \"%.40s\" is %s; expected %s", key, text, what,
            fr_text_get(&all));
    fr_text_free(&all);
    return FR_ERR_INPUT;
}

static fr_status read_measured(const struct fr_run_row *row, const char *where,
                               struct fr_run *run, struct fr_error *err) {
    int meter = FR_METER_UNSAID, counted = FR_COUNTED_ALLOCATED;
    run->measured_J = run->measured_memory_B = NAN;
    FR_TRY(number_key(row, "measured_J", where, 0, MOST, &run->measured_J, err));
    FR_TRY(word_key(row, "measured_at", where, fr_run_meter_names, "no place of a meter",
                    &meter, err));
    FR_TRY(number_key(row, "measured_memory_B", where, 1, MOST, &run->measured_memory_B, err));
    FR_TRY(word_key(row, "measured_memory_at", where, fr_run_counted_names,
                    "no count of memory", &counted, err));
    run->meter = (fr_run_meter)meter;
    run->counted = (fr_run_counted)counted;
    return FR_OK;
}

static fr_status make(const struct fr_run_row *row, const struct fr_run_place *place,
                      struct fr_run *run, fr_run_skip *skip, struct fr_error *err) {
    static const char *const own[] = {"id",
                                      "group",
                                      "cluster",
                                      "runtime",
                                      "model",
                                      "measured_s",
                                      "weight",
                                      "ranks",
                                      "measured_J",
                                      "measured_at",
                                      "measured_memory_B",
                                      "measured_memory_at",
                                      NULL};
    const char *text, *where = place->where;
    for (int i = 0; i < row->n; i++) {
        const char *key = row->item[i].key, *hint;
        bool known = strncmp(key, "model.", 6) == 0 || strncmp(key, "plan.", 5) == 0 ||
                     strncmp(key, "note.", 5) == 0 || strncmp(key, "cluster.", 8) == 0 ||
                     fr_software_key(key);
        for (int k = 0; own[k] && !known; k++) known = strcmp(own[k], key) == 0;
        if (known) continue;
        hint = fr_suggest(key, own);
        return fr_fail(
            err, FR_ERR_INPUT, where,
            "unknown column \"%.40s\"%s%s%s; expected cluster, cluster.*, runtime, runtime.*, "
            "model.*, plan.*, note.*, measured_s, measured_J, measured_at, measured_memory_B, "
            "measured_memory_at, "
            "ranks, weight, group or id",
            key, hint ? ": did you mean \"" : "", hint ? hint : "", hint ? "\"?" : "");
    }
    run->weight = 1;
    run->measured_s = NAN;
    if ((text = fr_run_row_get(row, "id"))) snprintf(run->id, sizeof run->id, "%s", text);
    if ((text = fr_run_row_get(row, "group")))
        snprintf(run->group, sizeof run->group, "%s", text);
    *skip = FR_RUN_NO_TIME;
    FR_TRY(number_key(row, "measured_s", where, 1e-9, MOST, &run->measured_s, err));
    if (isnan(run->measured_s)) return fr_fail(err, FR_ERR_INPUT, where, "has no measured_s");
    FR_TRY(read_measured(row, where, run, err));
    FR_TRY(number_key(row, "weight", where, 0, MOST, &run->weight, err));
    *skip = FR_RUN_INVALID;
    return make_complete(row, place, run, skip, err);
}

fr_status fr_run_make(const struct fr_run_row *row, const struct fr_run_place *place,
                      struct fr_run *run, fr_run_skip *skip, struct fr_error *err) {
    *run = (struct fr_run){.row = fr_malloc(1, sizeof *row),
                           .lists = fr_calloc(1, sizeof *run->lists),
                           .cluster = place->cluster,
                           .plan = fr_plan_default()};
    if (!run->row || !run->lists)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the runs do not fit in memory");
    *run->row = *row;
    fr_status status = make(row, place, run, skip, err);
    if (status == FR_OK) *skip = FR_RUN_USABLE;
    return status;
}

void fr_run_free(struct fr_run *run) {
    fr_workload_free(&run->workload);
    if (run->lists) fr_plan_lists_free(run->lists);
    free(run->lists);
    free(run->lighter);
    free(run->row);
    *run = (struct fr_run){0};
}
