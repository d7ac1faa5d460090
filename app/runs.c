#include "app/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/trainer/plan.h"
#include "app/from/expand.h"
#include "base/alloc.h"
#include "base/text/wrap.h"
#include "models/job/release.h"
#include "trust/runs/peak.h"

fr_status fr_runs_none(const struct fr_runs *runs, const char *first, struct fr_error *err) {
    struct fr_text why = {0};
    for (int i = 1; i < FR_RUN_SKIP_COUNT; i++)
        if (runs->skipped[i])
            fr_text_addf(&why, "%s%d row%s: %s", *fr_text_get(&why) ? "; " : ": ",
                         runs->skipped[i], runs->skipped[i] == 1 ? "" : "s",
                         fr_run_skip_names[i]);
    if (*runs->impossible) fr_text_addf(&why, " (%s)", runs->impossible);
    fr_fail(err, FR_ERR_INPUT, first, "holds no run that can be used%s", fr_text_get(&why));
    fr_text_free(&why);
    return FR_ERR_INPUT;
}

/* The software of rows that name none. */
static fr_status ask_software(const struct fr_args *args, struct fr_asked *asked,
                              struct fr_runs *runs, struct fr_error *err) {
    int n = fr_args_all(args, "set", asked->sets);
    const char *set = fr_release_name_set(asked->sets, n);
    runs->ask.runtime = set ? set : fr_args_get(args, "runtime");
    if (runs->ask.runtime && strcmp(runs->ask.runtime, "-") == 0)
        return fr_fail(err, FR_ERR_USAGE, "--runtime",
                       "\"-\" is read once, and rows of several models need it; give a file");
    return FR_OK;
}

/* All rows on one cluster, or each on its own. */
static fr_status ask_clusters(const struct fr_args *args, struct fr_asked *asked,
                              struct fr_job *job, struct fr_runs *runs, struct fr_error *err) {
    FR_TRY(ask_software(args, asked, runs, err));
    const struct fr_job_names names = {.cluster = fr_args_get(args, "cluster"),
                                       .runtime = runs->ask.runtime,
                                       .sets = asked->sets,
                                       .n_sets = fr_args_all(args, "set", asked->sets)};
    runs->ask.sets = asked->sets;
    runs->ask.n_sets = names.n_sets;
    if (names.cluster) {
        FR_TRY(fr_job_load(&names, job, err));
        runs->ask.on = &job->cluster;
        runs->ask.document = job->documents[FR_JOB_CLUSTER];
        return FR_OK;
    }
    FR_TRY(fr_own_cluster(asked->own, NULL, err));
    runs->ask.placed = runs->ask.needed = true;
    runs->ask.cluster = *asked->own ? asked->own : NULL;
    return FR_OK;
}

fr_status fr_app_columns(const struct fr_args *args, struct fr_run_row *row,
                         struct fr_error *err) {
    const char *given[FR_ARGS_MAX];
    int n = fr_args_all(args, "column", given);
    for (int i = 0; i < n; i++) {
        const char *equals = strchr(given[i], '=');
        if (!equals || equals == given[i])
            return fr_fail(err, FR_ERR_USAGE, "--column", "\"%.60s\" is not KEY=VALUE",
                           given[i]);
        char key[48];
        snprintf(key, sizeof key, "%.*s", (int)(equals - given[i]), given[i]);
        fr_run_row_set(row, key, "%s", equals + 1);
    }
    return FR_OK;
}

/* A trainer's log is a run of its own. */
static fr_status add_log(const struct fr_args *args, const char *path, struct fr_runs *runs,
                         struct fr_error *err) {
    struct fr_run_row *row = fr_calloc(1, sizeof *row);
    struct fr_text stated = {0};
    const char *ignore[FR_ARGS_MAX];
    if (!row) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    int n = fr_args_all(args, "ignore", ignore);
    fr_status status = fr_app_columns(args, row, err);
    if (status == FR_OK) status = fr_trainer_read_file(path, ignore, n, row, &stated, err);
    if (status == FR_OK && !fr_run_row_get(row, "measured_s"))
        status = fr_fail(err, FR_ERR_INPUT, path, "times no step; is it a log?");
    if (status == FR_OK && !fr_trainer_has_model(row))
        status = fr_fail(err, FR_ERR_INPUT, path,
                         "does not describe the model; give --column model=PRESET|FILE");
    if (status == FR_OK) status = fr_trainer_check_model(row, path, "--column", err);
    if (status == FR_OK) status = fr_trainer_check_ranks(row, path, err);
    if (status == FR_OK && !fr_run_row_get(row, "id")) fr_run_row_set(row, "id", "%.90s", path);
    if (status == FR_OK) fr_app_tell(&stated);
    if (status == FR_OK) status = fr_runs_add(path, row, runs, err);
    fr_text_free(&stated);
    free(row);
    return status;
}

fr_status fr_app_runs(const struct fr_args *args, struct fr_asked *asked, struct fr_job *job,
                      struct fr_runs *runs, struct fr_error *err) {
    static const char *const years[] = {"2019", "modern", NULL};
    const char *files[FR_ARGS_MAX], *first = NULL;
    int year = -1;
    if (!fr_args_has(args, "from")) FR_TRY(fr_args_required(args, "runs", &first, err));
    FR_TRY(fr_args_choice(args, "defaults", years, &year, err));
    if (args->n_words > 0)
        return fr_fail(err, FR_ERR_USAGE, NULL, "unexpected word \"%.64s\"", args->word[0]);
    FR_TRY(ask_clusters(args, asked, job, runs, err));
    runs->ask.defaults = year >= 0 ? years[year] : NULL;
    runs->ask.where = asked->where;
    runs->ask.n_where = fr_args_all(args, "where", asked->where);
    int n = fr_args_all(args, "runs", files);
    for (int i = 0; i < n; i++)
        FR_TRY(fr_trainer_is_file(files[i]) ? add_log(args, files[i], runs, err)
                                            : fr_runs_read(files[i], runs, err));
    n = fr_args_all(args, "from", files);
    for (int i = 0; i < n; i++) FR_TRY(add_log(args, files[i], runs, err));
    if (!first && n > 0) first = files[0];
    fr_runs_drop_impossible(runs);
    return runs->count ? FR_OK : fr_runs_none(runs, first, err);
}
