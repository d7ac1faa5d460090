/* One MPI job a rank count, all appending to the file that the cases were written to. */
#include <inttypes.h>
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "calibrate/validate/validate.h"

static void put_case(struct fr_text *text, const struct fr_validate_case *run) {
    struct fr_json_writer w = {.text = text};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", "case");
    fr_json_add_integer(&w, "id", run->id);
    fr_json_add_string(&w, "app", run->app);
    fr_json_add_integer(&w, "ranks", run->ranks);
    fr_json_add_string(&w, "group", run->group);
    fr_json_add_string(&w, "label", run->label);
    fr_json_add_string(&w, "model", run->model);
    fr_json_add_string(&w, "plan", run->plan);
    fr_json_end_object(&w);
    fr_text_add(text, "\n", 1);
}

static fr_status write_cases(const struct fr_validation *v, const struct fr_validate_options *o,
                             struct fr_error *err) {
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", "provenance");
    fr_json_add_string(&w, "schema", "forerun/runs/1");
    fr_json_add_string(&w, "version", FR_VERSION);
    fr_json_add_integer(&w, "seed", o->seed);
    fr_json_end_object(&w);
    fr_text_add(&text, "\n", 1);
    for (int i = 0; i < v->n_rows; i++) put_case(&text, &v->rows[i].run);
    fr_status status =
        text.failed ? fr_fail(err, FR_ERR_NOMEM, o->samples, "cases do not fit in memory")
                    : fr_file_write(o->samples, text.data, text.length, err);
    fr_text_free(&text);
    return status;
}

static fr_status run_job(const struct fr_validate_options *o, int64_t ranks,
                         struct fr_error *err) {
    char passes[24], seed[24], visit[40], budget[40], rank[24], fail_visit[24];
    struct fr_launch_options launch = o->launch;
    snprintf(passes, sizeof passes, "%" PRId64, o->passes);
    snprintf(seed, sizeof seed, "%" PRId64, o->seed);
    snprintf(visit, sizeof visit, "%.6g", o->visit_s);
    snprintf(budget, sizeof budget, "%.6g", o->budget_s);
    snprintf(rank, sizeof rank, "%" PRId64, o->fail_rank);
    snprintf(fail_visit, sizeof fail_visit, "%" PRId64, o->fail_visit);
    const char *words[24] = {"run",    "--cases",  o->samples, "--out", o->samples,
                             "--seed", seed,       "--passes", passes,  "--visit",
                             visit,    "--budget", budget};
    int n = 13;
    if (o->progress) words[n++] = "--progress";
    if (o->fail_rank >= 0) {
        words[n++] = "--fail-rank", words[n++] = rank;
        words[n++] = "--fail-visit", words[n++] = fail_visit;
    }
    launch.n_ranks = ranks;
    return fr_launch_mpi(&launch, words, err);
}

/* A job that failed after it began has left its samples in the file. */
static bool measured_anything(const char *path) {
    struct fr_validation v = {0};
    bool any = false;
    if (fr_validate_read(path, &v, NULL) == FR_OK)
        for (int i = 0; i < v.n_rows; i++) any = any || v.rows[i].n_samples > 0;
    fr_validation_free(&v);
    return any;
}

fr_status fr_validate_measure(const struct fr_validation *v,
                              const struct fr_validate_options *o, struct fr_error *err) {
    FR_TRY(write_cases(v, o, err));
    int64_t done = 0;
    for (;;) {
        int64_t ranks = INT64_MAX;
        for (int i = 0; i < v->n_rows; i++)
            if (v->rows[i].run.ranks > done && v->rows[i].run.ranks < ranks)
                ranks = v->rows[i].run.ranks;
        if (ranks == INT64_MAX) return FR_OK;
        fr_status status = run_job(o, ranks, err);
        if (status == FR_ERR_EXTERNAL && measured_anything(o->samples))
            status = fr_fail(err, FR_ERR_PARTIAL, o->samples,
                             "the job ended early; what it had measured is kept here");
        if (status != FR_OK) return status;
        done = ranks;
    }
}
