/* All trainings of a file, one after another. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/journal/journal.h"
#include "real/apps/case.h"
#include "real/apps/learn/learn.h"
#include "real/apps/resume.h"
#include "real/trainings.h"

struct job {
    const struct fr_learn_job *asked;
    struct fr_corpus corpus;
    int64_t *done; /* ids */
    int n_done, n_all, n_seen, rank, n_ranks, fd;
};

static fr_status read_learning(const struct fr_json *root, struct fr_learning *l,
                               struct fr_error *err) {
    int64_t seed = 0;
    FR_TRY(fr_json_get_integer(root, "seed", true, 0, INT64_MAX / 2, &seed, err));
    FR_TRY(fr_json_get_number(root, "rate", true, 0, 1e6, &l->rate, err));
    FR_TRY(fr_json_get_integer(root, "steps", true, 1, 1 << 30, &l->steps, err));
    FR_TRY(fr_json_get_integer(root, "every", true, 1, l->steps, &l->every, err));
    FR_TRY(fr_json_get_integer(root, "held_out", true, 1, 1 << 30, &l->held_out, err));
    FR_TRY(
        fr_json_get_integer(root, "held_out_from", true, 0, 1 << 30, &l->held_out_from, err));
    l->run.seed = (uint64_t)seed;
    return fr_real_divides("steps", l->steps, "every", l->every, err);
}

/* ---- results --------------------------------------------------------------------------------- */

static void put_list(struct fr_json_writer *w, const char *key, const double *values,
                     int64_t n) {
    fr_json_add_array(w, key);
    for (int64_t i = 0; i < n; i++) fr_json_put_number(w, values[i]);
    fr_json_end_array(w);
}

/* Collective: the observations of all ranks stand in it. */
static fr_status put_result(const struct job *job, int64_t id, const struct fr_learning *l,
                            const struct fr_learnt *learnt, double train_s,
                            struct fr_error *err) {
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    int64_t n = fr_learning_points(l);
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", "learnt");
    fr_json_add_integer(&w, "id", id);
    fr_json_add_number(&w, "train_s", train_s);
    fr_json_add_number(&w, "sent_B", learnt->sent_B);
    put_list(&w, "loss", learnt->loss, n);
    put_list(&w, "train_loss", learnt->train_loss, n);
    fr_status status = fr_learnt_put_observed(learnt, MPI_COMM_WORLD, &w, err);
    fr_json_end_object(&w);
    fr_text_add(&text, "\n", 1);
    if (status == FR_OK && job->rank == 0)
        return fr_journal_put(job->fd, job->asked->out, &text, err);
    fr_text_free(&text);
    return status;
}

static fr_status learn(struct job *job, int64_t id, const struct fr_learning *l,
                       struct fr_error *err) {
    struct fr_learnt learnt;
    double start_s = fr_now_s();
    if (job->asked->progress && job->rank == 0)
        fprintf(stderr, "\rtraining %d of %d\033[K", ++job->n_seen, job->n_all);
    fr_status status = fr_learnt_open(l, &learnt, err);
    if (status == FR_OK) status = fr_learn(l, MPI_COMM_WORLD, &learnt, err);
    if (status == FR_OK) status = put_result(job, id, l, &learnt, fr_now_s() - start_s, err);
    fr_learnt_free(&learnt);
    return status;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static fr_status note_done(const struct fr_json *root, void *context, struct fr_error *err) {
    struct job *job = context;
    return fr_json_get_integer(root, "id", true, 0, INT64_MAX / 2, &job->done[job->n_done++],
                               err);
}

typedef fr_status learning_fn(struct job *job, int64_t id, const struct fr_learning *l,
                              struct fr_error *err);

static bool is_done(const struct job *job, int64_t id) {
    for (int i = 0; i < job->n_done; i++)
        if (job->done[i] == id) return true;
    return false;
}

/* Read the line and hand it to @p each, unless it is done. */
static fr_status with_line(const struct fr_json *root, struct job *job, learning_fn *each,
                           struct fr_error *err) {
    struct fr_real_item item = {0};
    struct fr_learning l = {.corpus = &job->corpus};
    FR_TRY(fr_json_get_integer(root, "id", true, 0, INT64_MAX / 2, &item.id, err));
    if (is_done(job, item.id)) return FR_OK;
    fr_status status = read_learning(root, &l, err);
    if (status == FR_OK) status = fr_real_item_inputs(root, job->asked->name, &item, err);
    l.run.workload = &item.workload;
    l.run.plan = &item.plan;
    l.run.options = "";
    if (status == FR_OK) status = each(job, item.id, &l, err);
    fr_workload_free(&item.workload);
    fr_plan_lists_free(&item.lists);
    return status;
}

static fr_status check(struct job *job, int64_t id, const struct fr_learning *l,
                       struct fr_error *err) {
    struct fr_error inner = {.status = FR_OK};
    job->n_all++;
    if (fr_learn_check(l, job->n_ranks, &inner) == FR_OK) return FR_OK;
    return fr_fail(err, inner.status, job->asked->name, "training %" PRId64 ": %s", id,
                   inner.detail);
}

static fr_status check_line(const struct fr_json *root, void *context, struct fr_error *err) {
    return with_line(root, context, check, err);
}

static fr_status learn_line(const struct fr_json *root, void *context, struct fr_error *err) {
    return with_line(root, context, learn, err);
}

static fr_status prepare(struct job *job, struct fr_error *err) {
    const struct fr_learn_job *o = job->asked;
    size_t lines = 1;
    for (const char *at = o->text; *at; at++) lines += *at == '\n';
    job->done = fr_calloc(lines, sizeof *job->done);
    if (!job->done) return fr_fail(err, FR_ERR_NOMEM, o->name, "%zu trainings", lines);
    FR_TRY(fr_real_schema_check(o->text, o->name, FR_TRAININGS_OF_PLANS_SCHEMA, err));
    FR_TRY(fr_real_each_line(o->text, o->name, "learnt", note_done, job, err));
    return fr_real_each_line(o->text, o->name, "learn", check_line, job, err);
}

static fr_status run(struct job *job, struct fr_error *err) {
    const struct fr_learn_job *o = job->asked;
    if (job->rank == 0) FR_TRY(fr_real_append(o->out, &job->fd, err));
    fr_status status = fr_real_each_line(o->text, o->name, "learn", learn_line, job, err);
    if (job->fd >= 0) close(job->fd);
    if (o->progress && job->rank == 0) fputs("\r\033[K", stderr);
    return status;
}

/* ---- the corpus ------------------------------------------------------------------------------ */

/* Rank 0 reads the file: nodes need not share a file system. */
static fr_status read_corpus(const char *name, int rank, struct fr_corpus *corpus,
                             struct fr_error *err) {
    bool grammar = false;
    uint64_t language = 0;
    char *text = NULL;
    size_t length = 0;
    int64_t all = -1;
    FR_TRY(fr_corpus_grammar(name, &grammar, &language, err));
    if (grammar || fr_corpus_is_regression(name))
        return fr_corpus_open(name, NULL, 0, 0, corpus, err);
    if (rank == 0 && fr_file_read(name, INT32_MAX / 2, &text, &length, err) == FR_OK)
        all = (int64_t)length;
    FR_MPI_TRY(MPI_Bcast(&all, 1, MPI_INT64_T, 0, MPI_COMM_WORLD));
    if (all < 0)
        return rank == 0 ? err->status
                         : fr_fail(err, FR_ERR_INPUT, name, "cannot be read on rank 0");
    if (rank != 0) text = fr_calloc((size_t)all + 1, 1);
    if (!text) return fr_fail(err, FR_ERR_NOMEM, name, "does not fit in memory");
    FR_MPI_TRY(MPI_Bcast(text, (int)all, MPI_CHAR, 0, MPI_COMM_WORLD));
    fr_status status = fr_corpus_open(name, text, (size_t)all, 1, corpus, err);
    free(text);
    return status;
}

fr_status fr_learn_run(const struct fr_learn_job *asked, bool *refused, struct fr_error *err) {
    struct job job = {.asked = asked, .fd = -1};
    FR_MPI_TRY(MPI_Comm_rank(MPI_COMM_WORLD, &job.rank));
    FR_MPI_TRY(MPI_Comm_size(MPI_COMM_WORLD, &job.n_ranks));
    fr_status status = read_corpus(asked->corpus, job.rank, &job.corpus, err);
    if (status == FR_OK) status = prepare(&job, err);
    *refused = status != FR_OK;
    if (status == FR_OK) status = run(&job, err);
    free(job.done);
    fr_corpus_free(&job.corpus);
    return status;
}
