/* One MPI job a rank count, all appending to the file that the cases were written to. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/journal/journal.h"
#include "base/journal/keep.h"
#include "base/json.h"
#include "base/text/version.h"
#include "real/validate/validate.h"

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

/* Behind the cases those that are known not to run here. */
static void put_refused(struct fr_text *text, const struct fr_validation *v) {
    for (int i = 0; i < v->n_rows; i++) {
        struct fr_json_writer w = {.text = text};
        if (!*v->rows[i].refused) continue;
        fr_json_begin_object(&w);
        fr_json_add_string(&w, "kind", "refused");
        fr_json_add_integer(&w, "id", v->rows[i].run.id);
        fr_json_add_string(&w, "why", v->rows[i].refused);
        fr_json_end_object(&w);
        fr_text_add(text, "\n", 1);
    }
}

/* The head of a file: the options that its samples depend on, and the cases. */
static void put_head(struct fr_text *text, const struct fr_validation *v,
                     const struct fr_validate_options *o) {
    struct fr_json_writer w = {.text = text};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", "provenance");
    fr_json_add_string(&w, "schema", FR_RUNS_SCHEMA);
    fr_json_add_string(&w, "version", fr_version);
    fr_json_add_integer(&w, "seed", o->seed);
    fr_json_add_number(&w, "visit_s", o->visit_s);
    fr_json_end_object(&w);
    fr_text_add(text, "\n", 1);
    for (int i = 0; i < v->n_rows; i++) put_case(text, &v->rows[i].run);
}

/* Does @p old, an earlier run's file, begin with @p head?  Else say where it differs. */
static fr_status same_head(const char *old, const char *head, const char *path,
                           struct fr_error *err) {
    for (int line = 1; *head; line++) {
        size_t length = strcspn(head, "\n") + 1, was = strcspn(old, "\n");
        if (strncmp(old, head, length) != 0)
            return fr_fail(err, FR_ERR_INPUT, path,
                           "cannot be resumed: line %d, %s, was %.*s, is %.*s; name another "
                           "--samples file",
                           line, line == 1 ? "the options" : "a configuration",
                           (int)(was < 200 ? was : 200), old,
                           (int)(length < 200 ? length - 1 : 200), head);
        head += length;
        old += length;
    }
    return strncmp(old, "{\"kind\": \"case\"", 16) == 0
               ? fr_fail(err, FR_ERR_INPUT, path,
                         "cannot be resumed: it holds more configurations; name another "
                         "--samples file")
               : FR_OK;
}

/* Is @p old of these options and configurations?  Lines without digest, of an older version, are held against
 * @p head one by one. */
static fr_status same_question(const struct fr_journal *old, const struct fr_text *head,
                               uint64_t question, const char *path, struct fr_error *err) {
    if (old->sealed && old->question == question) return FR_OK;
    FR_TRY(same_head(old->text, head->data, path, err));
    return old->sealed ? fr_fail(err, FR_ERR_INPUT, path,
                                 "cannot be resumed: it is of other configurations; name "
                                 "another --samples file")
                       : FR_OK;
}

static fr_status check_header(const struct fr_journal_line *line, void *context,
                              struct fr_error *err) {
    (void)context;
    if (line->number > 1) return FR_OK;
    return fr_journal_schema(line->root, FR_RUNS_SCHEMA, err);
}

/* Copy the measurements; the head is written anew. */
static void add_measured(struct fr_text *text, const char *old) {
    static const char *const heads[] = {"{\"kind\": \"case\"", "{\"kind\": \"provenance\""};
    for (const char *at = old; at[strcspn(at, "\n")]; at += strcspn(at, "\n") + 1) {
        bool head = strncmp(at, heads[0], strlen(heads[0])) == 0 ||
                    strncmp(at, heads[1], strlen(heads[1])) == 0;
        if (!head) fr_text_add(text, at, strcspn(at, "\n") + 1);
    }
}

/* @param[out] asked  which cases cannot run here is in the file */
static fr_status keep_samples(struct fr_text *head, uint64_t question, const char *path,
                              bool *asked, struct fr_error *err) {
    struct fr_journal old;
    fr_status status = fr_journal_read_each(path, FR_FILE_MAX_B, &old, check_header, NULL, err);
    if (status == FR_OK) status = same_question(&old, head, question, path, err);
    if (status == FR_OK) add_measured(head, old.text);
    *asked = old.n_dropped == 0;
    fr_journal_free(&old);
    return status;
}

static fr_status write_cases(const struct fr_validation *v, const struct fr_validate_options *o,
                             bool *asked, struct fr_error *err) {
    struct fr_text text = {0};
    fr_status status = FR_OK;
    put_head(&text, v, o);
    uint64_t question = fr_digest_bytes(FR_DIGEST_START, fr_text_get(&text), text.length);
    *asked = false;
    if (!text.failed && o->resume && fr_file_holds(o->samples))
        status = keep_samples(&text, question, o->samples, asked, err);
    else
        put_refused(&text, v);
    if (status == FR_OK && text.failed)
        status = fr_fail(err, FR_ERR_NOMEM, o->samples, "cases do not fit in memory");
    if (status == FR_OK)
        status = fr_journal_write(o->samples, text.data, text.length, question, err);
    fr_text_free(&text);
    return status;
}

/* Every program is asked whether it can run what it is to run, before any begins. */
static fr_status check_cases(const struct fr_validate_options *o, struct fr_error *err) {
    const char *words[] = {"run", "--check", "--cases", o->samples, "--out", o->samples, NULL};
    struct fr_launch_options launch = o->launch;
    launch.n_ranks = 1;
    fr_status status = fr_launch_mpi(&launch, words, err);
    if (status != FR_ERR_INPUT)
        return status; /* a job that was ended says nothing of its cases */
    return fr_fail(err, FR_ERR_INPUT, o->samples,
                   "holds what a program cannot run, as said above; nothing was run");
}

/* Those that a program refuses are written behind the cases; what the file says of any is known then. */
static fr_status ask_each(struct fr_validation *v, const struct fr_validate_options *o,
                          bool asked, struct fr_error *err) {
    const char *words[] = {"run",      "--check", "--each",   "--cases",
                           o->samples, "--out",   o->samples, NULL};
    struct fr_launch_options launch = o->launch;
    struct fr_validation file = {0};
    launch.n_ranks = 1;
    if (!asked) FR_TRY(fr_launch_mpi(&launch, words, err));
    fr_status status = fr_validate_read(o->samples, &file, err);
    for (int i = 0; status == FR_OK && i < v->n_rows; i++)
        memcpy(v->rows[i].refused, file.rows[i].refused, sizeof v->rows[i].refused);
    fr_validation_free(&file);
    return status;
}

/* The work of the budget: jobs of several rank counts, each in one or two launches. */
struct spending {
    const struct fr_validate_options *o;
    double start_s, end_s; /* end_s: HUGE_VAL without a budget */
    int n_counts;          /* rank counts left, the present one included */
    bool begun;            /* a job has been launched */
};

static double left_s(const struct spending *m) { return fmax(0, m->end_s - fr_now_s()); }

/* A visit that is under way at the end takes its time; what takes more than a quarter of the budget, and this,
 * is ended. */
static double limit_s(const struct spending *m) {
    static const double BEYOND = 0.25, LEAST_BEYOND_S = 3;
    double budget_s = m->end_s - m->start_s;
    return isfinite(m->end_s) ? left_s(m) + BEYOND * budget_s + LEAST_BEYOND_S : 0;
}

/* Passes up to @p n_passes, without those that the file holds, in @p budget_s. */
static fr_status run_job(struct spending *m, int64_t ranks, int64_t n_passes, double budget_s,
                         struct fr_error *err) {
    const struct fr_validate_options *o = m->o;
    char passes[24], seed[24], visit[40], budget[40], since[40], rank[24], fail_visit[24];
    struct fr_launch_options launch = o->launch;
    bool simulated = launch.launcher && strncmp(launch.launcher, "smpi:", 5) == 0;
    snprintf(passes, sizeof passes, "%" PRId64, n_passes);
    snprintf(seed, sizeof seed, "%" PRId64, o->seed);
    snprintf(visit, sizeof visit, "%.6g", o->visit_s);
    snprintf(budget, sizeof budget, "%.6g", isfinite(budget_s) ? budget_s : 0);
    snprintf(since, sizeof since, "%.0f", simulated ? 0 : (double)time(NULL));
    snprintf(rank, sizeof rank, "%" PRId64, o->fail_rank);
    snprintf(fail_visit, sizeof fail_visit, "%" PRId64, o->fail_visit);
    char patience[40];
    const char *words[30] = {"run",    "--cases",  o->samples, "--out",   o->samples,
                             "--seed", seed,       "--passes", passes,    "--visit",
                             visit,    "--budget", budget,     "--since", since};
    int n = 15;
    if (o->progress) words[n++] = "--progress";
    if (o->launch.patience_s > 0) {
        snprintf(patience, sizeof patience, "%.17g", o->launch.patience_s);
        words[n++] = "--patience", words[n++] = patience;
    }
    if (o->fail_rank >= 0) {
        words[n++] = "--fail-rank", words[n++] = rank;
        words[n++] = "--fail-visit", words[n++] = fail_visit;
    }
    launch.n_ranks = ranks;
    launch.limit_s = limit_s(m);
    m->begun = true;
    return fr_launch_mpi(&launch, words, err);
}

/* Two launches, with half of the passes each.  A launch draws some properties at its start
 * (pages, how messages between two ranks go, a factor of two in small ones), which stay while
 * it lasts.  A prediction is of the next launch, and so is the floor, which compares the two
 * halves.  None is begun for less than it takes to start one. */
static fr_status run_jobs(struct spending *m, int64_t ranks, struct fr_error *err) {
    static const double LEAST_S = 3;
    const struct fr_validate_options *o = m->o;
    double share_s = left_s(m) / m->n_counts, end_s = fr_now_s() + share_s;
    if (m->begun && share_s < LEAST_S) return FR_OK;
    if (o->passes < 2 || share_s < 2 * LEAST_S)
        return run_job(m, ranks, o->passes, share_s, err);
    FR_TRY(run_job(m, ranks, (o->passes + 1) / 2, share_s / 2, err));
    share_s = end_s - fr_now_s();
    return share_s < LEAST_S ? FR_OK : run_job(m, ranks, o->passes, share_s, err);
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

static fr_status none_runs(const struct fr_validation *v, const char *path,
                           struct fr_error *err) {
    for (int i = 0; i < v->n_rows; i++)
        if (!*v->rows[i].refused) return FR_OK;
    return fr_fail(err, FR_ERR_PARTIAL, path, "nothing was run: no plan can be run here");
}

/* The next rank count above @p done of what can be run; INT64_MAX: there is none. */
static int64_t next_ranks(const struct fr_validation *v, int64_t done) {
    int64_t ranks = INT64_MAX;
    for (int i = 0; i < v->n_rows; i++)
        if (v->rows[i].run.ranks > done && v->rows[i].run.ranks < ranks && !*v->rows[i].refused)
            ranks = v->rows[i].run.ranks;
    return ranks;
}

static fr_status measure(struct fr_validation *v, const struct fr_validate_options *o,
                         struct fr_keep *keep, struct fr_error *err) {
    struct spending m = {.o = o, .start_s = fr_now_s()};
    bool asked = false;
    m.end_s = o->budget_s > 0 ? m.start_s + o->budget_s : HUGE_VAL;
    FR_TRY(write_cases(v, o, &asked, err));
    FR_TRY(fr_keep_hold_again(keep, err));
    if (o->check) FR_TRY(o->each ? ask_each(v, o, asked, err) : check_cases(o, err));
    FR_TRY(none_runs(v, o->samples, err));
    for (int64_t r = 0; (r = next_ranks(v, r)) != INT64_MAX;) m.n_counts++;
    for (int64_t ranks = 0; (ranks = next_ranks(v, ranks)) != INT64_MAX; m.n_counts--) {
        fr_status status = run_jobs(&m, ranks, err);
        /* The end of a budget, what was under way being lost, is what was asked for. */
        if (status == FR_ERR_PARTIAL && fr_launch_was_over() && measured_anything(o->samples))
            return FR_OK;
        if (status == FR_ERR_EXTERNAL && measured_anything(o->samples))
            status = fr_fail(err, FR_ERR_PARTIAL, o->samples,
                             "the job ended early; what it had measured is kept here");
        if (status != FR_OK) return status;
    }
    return FR_OK;
}

fr_status fr_validate_measure(struct fr_validation *v, const struct fr_validate_options *o,
                              struct fr_error *err) {
    struct fr_keep keep;
    fr_status status = fr_keep_hold(o->samples, o->resume, o->force, &keep, err);
    if (status == FR_OK) status = measure(v, o, &keep, err);
    fr_keep_release(&keep);
    return status;
}
