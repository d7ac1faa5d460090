#include "real/apps/learn/learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

fr_status fr_observed_open(const struct fr_kernels *k, int n_micro, int hidden, int tokens,
                           struct fr_observed *o, struct fr_error *err) {
    int64_t values = (int64_t)hidden * tokens, square = (int64_t)hidden * hidden;
    *o = (struct fr_observed){.n_micro = n_micro, .hidden = hidden, .tokens = tokens};
    const struct fr_real_buffer all[] = {{&o->eps, values},       {&o->before, values},
                                         {&o->scratch, values},   {&o->exact, square},
                                         {&o->sum_saved, square}, {&o->sum_lazy, square}};
    o->micro = fr_calloc((size_t)n_micro, sizeof *o->micro);
    bool whole = fr_real_alloc_all(k, all, sizeof all / sizeof *all);
    return whole && o->micro ? FR_OK
                             : fr_fail(err, FR_ERR_NOMEM, NULL, "what compression does");
}

void fr_observed_close(struct fr_observed *o) {
    void *const owned[] = {o->micro, o->eps,       o->before,  o->scratch,
                           o->exact, o->sum_saved, o->sum_lazy};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    *o = (struct fr_observed){0};
}

static double norm(const struct fr_kernels *k, size_t n, const void *x) {
    return sqrt(k->dot(n, x, x));
}

static double over(double a, double b) { return b > 0 ? a / b : 0; }

/* Mean over root mean square. */
static double mean_share(const struct fr_kernels *k, size_t n, const void *x) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += k->get(x, i);
    return over(sum / sqrt((double)n), norm(k, n, x));
}

/* sum += alpha x y^T of h x T matrices. */
static void add_product(const struct fr_kernels *k, const struct fr_observed *o, double alpha,
                        const void *x, const void *y, void *sum) {
    int h = o->hidden, t = o->tokens;
    k->gemm(false, true, h, h, t, alpha, x, t, y, t, 1, sum, h);
}

void fr_observe_begin(const struct fr_kernels *k, struct fr_observed *o) {
    size_t size_B = (size_t)o->hidden * (size_t)o->hidden * k->size_B;
    void *const sums[] = {o->exact, o->sum_saved, o->sum_lazy};
    for (int i = 0; i < 3; i++) memset(sums[i], 0, size_B);
}

/* Compare the next micro-batch with the error before it. */
static void look_back(const struct fr_kernels *k, struct fr_observed *o,
                      struct fr_observation *sum, const void *y, const void *y_before) {
    size_t n = (size_t)o->hidden * (size_t)o->tokens;
    k->scale(n, 1, y, o->scratch);
    k->subtract(n, y_before, o->scratch); /* y_before - y */
    sum->cosine +=
        over(k->dot(n, o->before, o->scratch), o->norm_before * norm(k, n, o->scratch));
    sum->alike += over(k->dot(n, o->before, o->eps), o->norm_before * norm(k, n, o->eps));
    sum->pairs++;
    sum->difference_mean += mean_share(k, n, o->scratch);
    add_product(k, o, -1, o->before, y, o->sum_lazy);
}

void fr_observe(const struct fr_kernels *k, struct fr_observed *o, int m, const void *encoded,
                const void *decoded, const void *y, const void *y_before) {
    size_t n = (size_t)o->hidden * (size_t)o->tokens;
    k->scale(n, 1, decoded, o->eps);
    k->subtract(n, encoded, o->eps);
    double lost = norm(k, n, o->eps);
    o->micro[m].error += over(lost, norm(k, n, encoded));
    o->micro[m].coded++;
    o->micro[m].error_mean += mean_share(k, n, o->eps);
    add_product(k, o, 1, encoded, y, o->exact);
    add_product(k, o, 1, o->eps, y, o->sum_saved);
    add_product(k, o, 1, o->eps, y, o->sum_lazy);
    if (y_before) look_back(k, o, &o->micro[m - 1], y, y_before);
    void *swapped = o->before;
    o->before = o->eps;
    o->eps = swapped;
    o->norm_before = lost;
}

void fr_observe_end(const struct fr_kernels *k, struct fr_observed *o) {
    size_t square = (size_t)o->hidden * (size_t)o->hidden;
    o->saved += over(norm(k, square, o->sum_saved), norm(k, square, o->exact));
    o->lazy += over(norm(k, square, o->sum_lazy), norm(k, square, o->exact));
    o->passes++;
}

/* ---- messages of a rank on the mesh, as its codec encodes them ------------------------------------ */

static bool is_coded(const struct fr_coded_watch *w, int m) {
    const bool *epilogue = w->mesh->before_reads;
    int chunk = (w->chunk->number - 1) / w->mesh->stages;
    return !epilogue || epilogue[chunk * w->mesh->n_micro + m];
}

/* Micro-batches are encoded in turn, those that go compressed. */
static void tell(struct fr_codec_watcher *watcher, struct fr_real *real,
                 const struct fr_real_codec *c, const void *matrix, const void *packet) {
    struct fr_coded_watch *w = (struct fr_coded_watch *)watcher; /* its first member */
    const struct fr_mesh_micro *micro = w->chunk->micro;
    struct fr_observed *o = &w->observed;
    while (w->next < o->n_micro && !is_coded(w, w->next)) w->next++;
    if (w->next >= o->n_micro) return;
    int m = w->next++;
    bool before = m > 0 && is_coded(w, m - 1);
    fr_real_codec_decode(real, c, packet, 1, 0, o->scratch);
    fr_observe(real->k, o, m, matrix, o->scratch, micro[m].saved[0].x,
               before ? micro[m - 1].saved[0].x : NULL);
}

fr_status fr_coded_watch_open(const struct fr_real *real, struct fr_coded_watch *w,
                              struct fr_error *err) {
    struct fr_mesh_state *mesh = real->state;
    struct fr_mesh_chunk *c = &mesh->chunk[mesh->n_chunks - 1];
    *w = (struct fr_coded_watch){.watcher = {tell}, .mesh = mesh};
    if (c->first || !fr_real_codec_is_open(&c->codec) || real->run->plan->tp > 1) return FR_OK;
    w->chunk = c;
    return fr_observed_open(real->k, mesh->n_micro, c->unit[0].in, mesh->columns, &w->observed,
                            err);
}

void fr_coded_watch_close(struct fr_coded_watch *w) {
    fr_observed_close(&w->observed);
    *w = (struct fr_coded_watch){0};
}

void fr_coded_watch_begin(const struct fr_real *real, struct fr_coded_watch *w) {
    if (!w->chunk) return;
    w->next = 0;
    w->chunk->codec.watcher = &w->watcher;
    fr_observe_begin(real->k, &w->observed);
}

void fr_coded_watch_end(const struct fr_real *real, struct fr_coded_watch *w) {
    if (!w->chunk) return;
    w->chunk->codec.watcher = NULL;
    if (w->next > 0)
        fr_observe_end(real->k, &w->observed); /* nothing goes coded in a warm-up */
}

/* ---- on every rank, written by rank 0 ------------------------------------------------------------- */

/* A rank's message: how many passes and micro-batches, kept and lazy, then each micro-batch's. */
enum { HEAD = 4, EACH = 5 };
static const char *const names[EACH] = {"cosine", "alike", "error", "error_mean",
                                        "difference_mean"};

static void pack(const struct fr_observed *o, double *out) {
    double passes = o->passes > 0 ? o->passes : 1;
    out[0] = o->passes;
    out[1] = o->n_micro;
    out[2] = o->saved / passes;
    out[3] = o->lazy / passes;
    for (int m = 0; m < o->n_micro; m++) {
        const struct fr_observation *at = &o->micro[m];
        double *each = out + HEAD + m * EACH;
        each[0] = at->cosine / at->pairs; /* NaN where there are none */
        each[1] = at->alike / at->pairs;
        each[2] = at->error / at->coded;
        each[3] = at->error_mean / at->coded;
        each[4] = at->difference_mean / at->pairs;
    }
}

static void put(struct fr_json_writer *w, int rank, const double *from) {
    fr_json_begin_object(w);
    fr_json_add_integer(w, "rank", rank);
    fr_json_add_number(w, "kept", from[2]);
    fr_json_add_number(w, "lazy", from[3]);
    for (int i = 0; i < EACH; i++) {
        fr_json_add_array(w, names[i]);
        for (int m = 0; m < (int)from[1]; m++) fr_json_put_number(w, from[HEAD + m * EACH + i]);
        fr_json_end_array(w);
    }
    fr_json_end_object(w);
}

fr_status fr_learnt_put_observed(const struct fr_learnt *learnt, MPI_Comm world,
                                 struct fr_json_writer *w, struct fr_error *err) {
    int rank = 0, n_ranks = 1, most = learnt->watch.observed.n_micro;
    FR_MPI_TRY(MPI_Comm_rank(world, &rank));
    FR_MPI_TRY(MPI_Comm_size(world, &n_ranks));
    FR_MPI_TRY(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, world));
    size_t one = HEAD + (size_t)most * EACH;
    double *all = fr_calloc(one * (size_t)(n_ranks + 1), sizeof *all);
    if (!all) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d ranks", n_ranks);
    double *local = all + one * (size_t)n_ranks;
    pack(&learnt->watch.observed, local);
    FR_MPI_TRY(MPI_Gather(local, (int)one, MPI_DOUBLE, all, (int)one, MPI_DOUBLE, 0, world));
    fr_json_add_array(w, "observed");
    for (int i = 0; rank == 0 && i < n_ranks; i++)
        if (all[one * (size_t)i] > 0) put(w, i, all + one * (size_t)i);
    fr_json_end_array(w);
    free(all);
    return FR_OK;
}
