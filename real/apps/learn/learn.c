#include "real/apps/learn/learn.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "real/apps/ffn.h"
#include "real/apps/mesh/mesh.h"

double fr_learning_rate(double rate, int64_t i, int64_t steps) {
    const double warm_up = 0.1 * (double)steps, least = 0.1;
    double at = (double)i + 1;
    if (at < warm_up) return rate * at / warm_up;
    return rate * (1 - (1 - least) * (at - warm_up) / ((double)steps - warm_up));
}

fr_status fr_learn_check(const struct fr_learning *l, int n_ranks, struct fr_error *err) {
    const struct fr_transformer *t = &l->run.workload->transformer;
    bool regression = l->corpus->is_regression;
    int tokens = regression ? 0 : fr_corpus_tokens(l->corpus);
    if (!regression && t->layers == 0)
        return fr_fail(err, FR_ERR_INPUT, NULL, "the model is no transformer");
    if (regression && l->run.workload->n_layers == 0)
        return fr_fail(err, FR_ERR_INPUT, NULL, "the model is no feed-forward network");
    FR_TRY(fr_real_pipeline.check(&l->run, err));
    if (fr_plan_ranks(l->run.plan) != n_ranks)
        return fr_fail(err, FR_ERR_INPUT, NULL, "a plan of %" PRId64 " ranks in a job of %d",
                       fr_plan_ranks(l->run.plan), n_ranks);
    if (l->run.plan->cp > 1)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "cp = %" PRId64 ": a corpus is read in whole samples, of which context "
                       "parallel ranks have parts; 1 learns the same",
                       l->run.plan->cp);
    if (l->run.plan->layer_tp)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "a corpus is read by replicas; without layer_tp a plan learns the same");
    if (t->vocabulary < tokens)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "a vocabulary of %.0f is too small for the corpus' %d tokens",
                       (double)t->vocabulary, tokens);
    return fr_real_divides("the held-out part, in samples", l->held_out, "the global batch",
                           fr_real_batch(&l->run), err);
}

/* ---- one training ------------------------------------------------------------------------------ */

struct training {
    const struct fr_learning *l;
    struct fr_real_case run;
    struct fr_plan plan; /* of which the warm-up has no compression */
    struct fr_real real;
    struct fr_mesh_state *mesh;
    int *document; /* [sequence + 1] */
    struct fr_learnt *out;
};

/* This rank's part of the batch that begins at sample @p first, in place of the words before. */
static void take_words(struct training *t, int part, int64_t first) {
    int s = (int)t->run.workload->transformer.sequence;
    int64_t replica = fr_real_batch(&t->run) / t->plan.dp,
            n = (int64_t)t->mesh->n_micro * t->mesh->columns / s;
    int *inputs = t->mesh->inputs, *targets = t->mesh->targets;
    for (int64_t i = 0; i < n; i++) {
        int64_t sample =
            first + t->real.dp_rank * replica + fr_mesh_words_sample(&t->real, t->mesh, i * s);
        fr_corpus_sample(t->l->corpus, part, t->run.seed, sample, s, t->document);
        for (int j = 0; j < s; j++) {
            if (inputs) inputs[i * s + j] = t->document[j];
            if (targets) targets[i * s + j] = t->document[j + 1];
        }
    }
}

static fr_status take_batch(struct training *t, int part, int64_t first) {
    if (t->l->corpus->is_regression)
        return fr_mesh_regression_take(&t->real, fr_corpus_first(part) + first,
                                       FR_CORPUS_SAMPLES);
    take_words(t, part, first);
    return FR_OK;
}

/* Add up values that ranks have in parts. */
static fr_status add_up(struct fr_real *real, double *loss) {
    FR_REAL_TRY(real, MPI_Allreduce(MPI_IN_PLACE, loss, 1, MPI_DOUBLE, MPI_SUM, real->world));
    return FR_OK;
}

/* ---- evaluating: forward passes alone, whatever the schedule ----------------------------------- */

static fr_status forward(struct training *t, struct fr_mesh_chunk *c, int m) {
    void *dy = t->mesh->d[0];
    FR_TRY(fr_mesh_forward(&t->real, t->mesh, c, m));
    return c->last ? t->mesh->task->loss(&t->real, t->mesh, c, m, &dy) : FR_OK;
}

static fr_status evaluate(struct training *t, double *loss) {
    int64_t batch = fr_real_batch(&t->run), rounds = t->l->held_out / batch;
    t->plan.compression.forward_rank = 0; /* the model as it is, not as its messages arrive */
    *loss = 0;
    for (int64_t i = 0; i < rounds; i++) {
        FR_TRY(take_batch(t, FR_CORPUS_HELD_OUT, t->l->held_out_from + i * batch));
        t->mesh->loss = 0;
        for (int c = 0; c < t->mesh->n_chunks; c++)
            for (int m = 0; m < t->mesh->n_micro; m++)
                FR_TRY(forward(t, &t->mesh->chunk[c], m));
        *loss += t->mesh->loss / (double)rounds;
    }
    return add_up(&t->real, loss);
}

/* ---- training ---------------------------------------------------------------------------------- */

/* In a warm-up messages go whole, and no matrix of a batch is coded. */
static void compress(struct training *t, bool on) {
    const struct fr_plan_compression *asked = &t->l->run.plan->compression;
    t->plan.compression.scope = on ? asked->scope : FR_SCOPE_NONE;
    t->plan.compression.forward_rank = on ? asked->forward_rank : 0;
    for (int i = 0; i < t->mesh->n_batches; i++) {
        struct fr_mesh_batch *b = &t->mesh->batch[i];
        int next =
            i + 1 < t->mesh->n_batches ? t->mesh->batch[i + 1].coded_from : t->mesh->n_coded;
        b->coded_to = on ? next : b->coded_from;
    }
}

static double all_sent_B(const struct fr_real *real) {
    double sum = 0;
    for (int i = 0; i < FR_REAL_AXES; i++) sum += real->sent_B[i];
    return sum;
}

static fr_status step(struct training *t, int64_t i, double *loss) {
    compress(t, i >= t->l->run.plan->compression.warm_up);
    FR_TRY(take_batch(t, FR_CORPUS_TRAIN, i * fr_real_batch(&t->run)));
    t->real.update.rate = fr_learning_rate(t->l->rate, i, t->l->steps);
    return fr_real_step(&fr_real_pipeline, &t->real, loss, t->real.err);
}

/* The last before an evaluation: what is sent is counted, and what compression does. */
static fr_status watched_step(struct training *t, int64_t i, double *loss) {
    double before_B = all_sent_B(&t->real);
    fr_coded_watch_begin(&t->real, &t->out->watch);
    FR_TRY(step(t, i, loss));
    fr_coded_watch_end(&t->real, &t->out->watch);
    t->out->sent_B = all_sent_B(&t->real) - before_B;
    return FR_OK;
}

/* The steps from one evaluation to the next. */
static fr_status steps(struct training *t, int64_t first, double *mean) {
    int64_t last = first + t->l->every - 1;
    *mean = 0;
    for (int64_t i = first; i <= last; i++) {
        double loss = 0;
        FR_TRY(i < last ? step(t, i, &loss) : watched_step(t, i, &loss));
        *mean += loss / (double)t->l->every;
    }
    return add_up(&t->real, mean);
}

static fr_status train(struct training *t) {
    struct fr_learnt *out = t->out;
    int64_t n = fr_learning_points(t->l);
    for (int64_t i = 0; i < n; i++) out->loss[i] = out->train_loss[i] = NAN;
    for (int64_t i = 0; i < n; i++) {
        double *mean = &out->train_loss[i];
        if (i > 0) FR_TRY(steps(t, (i - 1) * t->l->every, mean));
        FR_TRY(evaluate(t, &out->loss[i]));
        if (i == 0) *mean = out->loss[0];
        if (!isfinite(out->loss[i])) break; /* diverged, and so it stays */
    }
    return add_up(&t->real, &out->sent_B);
}

fr_status fr_learnt_open(const struct fr_learning *l, struct fr_learnt *out,
                         struct fr_error *err) {
    size_t n = (size_t)fr_learning_points(l);
    *out = (struct fr_learnt){.loss = fr_calloc(2 * n, sizeof *out->loss)};
    if (!out->loss) return fr_fail(err, FR_ERR_NOMEM, NULL, "%zu losses", n);
    out->train_loss = out->loss + n;
    return FR_OK;
}

void fr_learnt_free(struct fr_learnt *out) {
    free(out->loss);
    fr_coded_watch_close(&out->watch);
    *out = (struct fr_learnt){0};
}

static fr_status open_training(struct training *t, MPI_Comm world, struct fr_error *err) {
    size_t tokens = (size_t)t->run.workload->transformer.sequence + 1;
    FR_TRY(fr_real_open(&fr_real_pipeline, &t->run, world, &t->real, err));
    t->mesh = t->real.state;
    t->document = fr_calloc(tokens, sizeof *t->document);
    if (!t->document) return fr_fail(err, FR_ERR_NOMEM, NULL, "a document");
    return fr_coded_watch_open(&t->real, &t->out->watch, err);
}

fr_status fr_learn(const struct fr_learning *l, MPI_Comm world, struct fr_learnt *out,
                   struct fr_error *err) {
    struct training t = {.l = l, .run = l->run, .plan = *l->run.plan, .out = out};
    t.run.plan = &t.plan;
    fr_status status = open_training(&t, world, err);
    if (status == FR_OK) status = train(&t);
    fr_real_close(&fr_real_pipeline, &t.real);
    free(t.document);
    return status;
}
