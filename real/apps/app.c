#include "real/apps/app.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "calibrate/measure/harness/pages.h"
#include "calibrate/measure/harness/watch.h"
#include "real/apps/division.h"
#include "real/apps/ranks.h"

void *fr_real_alloc(const struct fr_kernels *k, int64_t n) {
    size_t size_B = (size_t)(n > 0 ? n : 1) * k->size_B;
#ifdef SMPI_H
    /* Nobody looks at the numbers of a simulated run, and hundreds of ranks are one process. */
    enum { SHARED_B = 1 << 16 };
    if (size_B >= SHARED_B) return SMPI_SHARED_MALLOC(size_B);
#endif
    void *block = fr_pages_alloc(size_B);
    if (block) memset(block, 0, size_B);
    return block;
}

bool fr_real_alloc_all(const struct fr_kernels *k, const struct fr_real_buffer *all,
                       size_t count) {
    bool whole = true;
    for (size_t i = 0; i < count; i++) {
        *all[i].at = fr_real_alloc(k, all[i].n);
        whole = whole && *all[i].at;
    }
    return whole;
}

fr_status fr_real_divides(const char *what, int64_t size, const char *into, int64_t parts,
                          struct fr_error *err) {
    if (parts > 0 && size % parts == 0) return FR_OK;
    return fr_fail(err, FR_ERR_INPUT, NULL, "%s, %" PRId64 ", does not divide by %s, %" PRId64,
                   what, size, into, parts);
}

static bool runs(const struct fr_layer *layer, bool convolves) {
    return layer->fully_connected || (convolves && layer->window.kernel > 0);
}

static int64_t places(const struct fr_window *w) {
    int64_t around = 2 * w->padding - w->kernel;
    return ((w->height + around) / w->stride + 1) * ((w->width + around) / w->stride + 1);
}

static struct fr_real_layer written_out(const struct fr_layer *layer) {
    double pooled =
        layer->pool.kernel > 0 ? layer->rows * (double)places(&layer->pool) : layer->outputs;
    return (struct fr_real_layer){.inputs = (int64_t)layer->inputs,
                                  .outputs = (int64_t)pooled,
                                  .bias = layer->biases > 0,
                                  .convolution = layer->fully_connected ? NULL : layer};
}

/* A part of a layer that no program trains, or NULL. */
static const char *lacking_of(const struct fr_layer *layer) {
    return layer->norm      ? "a batch norm"
           : layer->adds    ? "a shortcut"
           : layer->average ? "average pooling"
                            : NULL;
}

fr_status fr_real_layers(const struct fr_workload *workload, bool convolves,
                         struct fr_real_layer **layers, int *n, struct fr_error *err) {
    double count = 0;
    for (int i = 0; i < workload->n_layers; i++) {
        const char *lacking = lacking_of(&workload->layers[i]);
        if (lacking)
            return fr_fail(err, FR_ERR_INPUT, NULL,
                           "layer %d has %s; the program trains cnn without residual blocks, "
                           "batch norm and average pooling",
                           i, lacking);
        if (!runs(&workload->layers[i], convolves))
            return fr_fail(err, FR_ERR_INPUT, NULL,
                           "layer %d is no fully connected one%s; the program trains ffn%s", i,
                           convolves ? ", nor a convolution" : "",
                           convolves ? ", mlp and cnn" : " and mlp");
        count += workload->layers[i].repeat;
    }
    if (count < 1 || count > 10000)
        return fr_fail(err, FR_ERR_INPUT, NULL, "expected 1 to 10000 layers, not %g", count);
    struct fr_real_layer *made = fr_calloc((size_t)count, sizeof *made);
    if (!made) return fr_fail(err, FR_ERR_NOMEM, NULL, "%g layers", count);
    *n = 0;
    for (int i = 0; i < workload->n_layers; i++)
        for (double r = 0; r < workload->layers[i].repeat; r++)
            made[(*n)++] = written_out(&workload->layers[i]);
    *layers = made;
    return FR_OK;
}

/* ---- open, step, close ------------------------------------------------------------------- */

static fr_status no_memory(const struct fr_real *real) {
    return fr_fail(real->err, FR_ERR_NOMEM, NULL, "%" PRId64 " parameters on a rank",
                   real->n_parameters);
}

/* With capacity for shares that end beyond it. */
static fr_status make_blocks(const struct fr_real_app *app, struct fr_real *real) {
    const struct fr_plan *plan = real->run->plan;
    real->n_parameters = app->n_parameters(real);
    real->division =
        fr_division_of(fr_real_dividing(plan, FR_HELD_BY_REPLICAS), real->n_parameters);
    if (!real->division.part) return no_memory(real);
    int64_t all = fr_division_share(&real->division) *
                  fr_division_holders(&real->division, FR_DIVISION_SCATTERED);
    real->parameters = fr_real_alloc(real->k, all);
    real->gradients = fr_real_alloc(real->k, all);
    return real->parameters && real->gradients ? FR_OK : no_memory(real);
}

/* Once the program has said what is divided by itself. */
static fr_status make_moments(struct fr_real *real) {
    double state = real->run->workload->optimizer_state_B;
    const struct fr_division *d = &real->division;
    int64_t share = fr_division_share(d);
    real->n_moments = state <= 0 ? 0 : state <= 4 ? 1 : 2;
    real->moments = fr_real_alloc(real->k, share * real->n_moments);
    real->packed = fr_real_alloc(real->k, fr_shares_scratch(d));
    return real->moments && real->packed ? FR_OK : no_memory(real);
}

fr_status fr_real_open(const struct fr_real_app *app, const struct fr_real_case *run,
                       MPI_Comm world, struct fr_real *real, struct fr_error *err) {
    *real = (struct fr_real){
        .run = run,
        .err = err,
        .k = fr_kernels_of(run->workload->dtype),
        .update = {.rate = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8}};
    fr_ranks_none(real);
    if (!real->k)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "dtype %s is not computed here; fp32 and fp64 are",
                       fr_dtype_names[run->workload->dtype]);
    FR_TRY(app->check(run, err));
    FR_TRY(fr_ranks_open(real, world));
    FR_TRY(make_blocks(app, real));
    FR_TRY(app->open(real));
    return make_moments(real);
}

void fr_real_close(const struct fr_real_app *app, struct fr_real *real) {
    if (real->state) app->close(real);
    fr_ranks_close(real);
    free(real->parameters);
    free(real->gradients);
    free(real->moments);
    free(real->packed);
    fr_division_free(&real->division);
    *real = (struct fr_real){0};
}

/* @p n values from @p at of the block on, whose moments are from @p moment on. */
static void update(struct fr_real *real, size_t n, size_t at, size_t moment) {
    const struct fr_kernels *k = real->k;
    const void *g = fr_at(k, real->gradients, at);
    void *w = fr_at(k, real->parameters, at), *m = fr_at(k, real->moments, moment),
         *v = fr_at(k, m, (size_t)fr_division_share(&real->division));
    if (real->n_moments == 0)
        FR_COMPUTE(real, k->sgd(n, &real->update, g, w));
    else if (real->n_moments == 1)
        FR_COMPUTE(real, k->momentum(n, &real->update, g, m, w));
    else
        FR_COMPUTE(real, k->adam(n, &real->update, g, m, v, w));
}

void fr_real_update(struct fr_real *real) {
    const struct fr_division *d = &real->division;
    real->update.t++;
    for (int part = 0; part < d->n_parts; part++)
        for (int i = 0; i < d->part[part].n_spans; i++) {
            size_t at, to;
            int own = fr_shares_own(real, fr_division_holder(part));
            int64_t n = fr_division_piece(d, part, own, i, &at, &to);
            if (n > 0) update(real, (size_t)n, at, (size_t)fr_division_before(d, part) + to);
        }
}

fr_status fr_real_step(const struct fr_real_app *app, struct fr_real *real, double *loss,
                       struct fr_error *err) {
    real->phases = (struct fr_phases){0};
    real->err = err;
    FR_TRY(app->gradients(real, loss));
    fr_watch_move();
    fr_real_update(real);
    return real->gathers ? FR_OK : fr_shares_gather(real);
}

/* ---- collectives --------------------------------------------------------------------------- */

/* Where a step is profiled the ranks meet first, and what that takes is waiting. */
static fr_status meet(struct fr_real *real, MPI_Comm comm, double *start_s) {
    *start_s = fr_real_clock_s(real);
    if (!real->profile) return FR_OK;
    FR_TRY(fr_mpi_barrier(comm, real->err));
    double met_s = fr_now_s();
    real->phases.wait_s += met_s - *start_s;
    *start_s = met_s;
    return FR_OK;
}

static fr_status met(struct fr_real *real, double start_s) {
    real->phases.collective_s += fr_real_clock_s(real) - start_s;
    return FR_OK;
}

/* The rest of a function: a call over @p comm in which this rank books @p share of @p values; those that @p waits for
 * others meet before. */
#define CALL(real, comm, waits, values, share, call)                                           \
    do {                                                                                       \
        double start_s = fr_real_clock_s(real);                                                \
        if (waits) FR_TRY(meet(real, comm, &start_s));                                         \
        FR_REAL_TRY(real, call);                                                               \
        book(real, comm, (double)(values), share);                                             \
        return met(real, start_s);                                                             \
    } while (0)

/* @p values times what @p p ranks make of it: 2 (p-1)/p where each is sent twice, and so on. */
static void book(struct fr_real *real, MPI_Comm comm, double values, double share) {
    bool replicas = false, divides = comm == real->tp;
    for (int h = 0; h < FR_HOLDERS; h++)
        replicas =
            replicas ||
            (h != FR_HELD_BY_STAGE &&
             (comm == real->held[h] || comm == real->dividing[h] || comm == real->across[h]));
    for (int g = 0; g < FR_GRIDS; g++)
        divides = divides || comm == real->rows[g] || comm == real->between[g];
    int axis = divides            ? FR_REAL_TP
               : replicas         ? FR_REAL_DP
               : comm == real->pp ? FR_REAL_PP
               : comm == real->cp ? FR_REAL_CP
                                  : FR_REAL_OTHER;
    real->sent_B[axis] += values * share * (double)real->k->size_B;
}

static double others(MPI_Comm comm) {
    int n = 1;
    MPI_Comm_size(comm, &n);
    return n - 1;
}

#define TYPE real->k->mpi

static double twice(MPI_Comm comm) { return 2 * others(comm) / (others(comm) + 1); }

fr_status fr_real_broadcast(struct fr_real *real, MPI_Comm comm, void *buffer, int64_t count) {
    CALL(real, comm, true, count, 1, MPI_Bcast(buffer, (int)count, TYPE, 0, comm));
}

fr_status fr_real_all_gather(struct fr_real *real, MPI_Comm comm, const void *send,
                             int64_t count, void *recv) {
    CALL(real, comm, true, count, others(comm),
         MPI_Allgather(send, (int)count, TYPE, recv, (int)count, TYPE, comm));
}

fr_status fr_real_all_gather_bytes(struct fr_real *real, MPI_Comm comm, const void *send,
                                   size_t size_B, void *recv) {
    CALL(real, comm, true, (double)size_B / (double)real->k->size_B, others(comm),
         MPI_Allgather(send, (int)size_B, MPI_BYTE, recv, (int)size_B, MPI_BYTE, comm));
}

fr_status fr_real_all_gather_begin(struct fr_real *real, MPI_Comm comm, const void *send,
                                   int64_t count, void *recv, MPI_Request *request) {
    CALL(real, comm, true, count, others(comm),
         MPI_Iallgather(send, (int)count, TYPE, recv, (int)count, TYPE, comm, request));
}

fr_status fr_real_wait(struct fr_real *real, MPI_Request *request) {
    CALL(real, MPI_COMM_NULL, false, 0, 0, MPI_Wait(request, MPI_STATUS_IGNORE));
}

/* One of the two books it. */
fr_status fr_real_send_begin(struct fr_real *real, MPI_Comm comm, int to, int tag,
                             const void *values, int64_t count, MPI_Request *request) {
    CALL(real, comm, false, count, 1,
         MPI_Isend(values, (int)count, TYPE, to, tag, comm, request));
}

fr_status fr_real_receive_begin(struct fr_real *real, MPI_Comm comm, int from, int tag,
                                void *values, int64_t count, MPI_Request *request) {
    CALL(real, comm, true, 0, 0, MPI_Irecv(values, (int)count, TYPE, from, tag, comm, request));
}

fr_status fr_real_reduce_scatter(struct fr_real *real, MPI_Comm comm, const void *send,
                                 void *recv, int64_t count) {
    CALL(real, comm, true, count, others(comm),
         MPI_Reduce_scatter_block(send, recv, (int)count, TYPE, MPI_SUM, comm));
}

fr_status fr_real_all_reduce(struct fr_real *real, MPI_Comm comm, void *buffer, int64_t count) {
    CALL(real, comm, true, count, twice(comm),
         MPI_Allreduce(MPI_IN_PLACE, buffer, (int)count, TYPE, MPI_SUM, comm));
}

fr_status fr_real_all_reduce_begin(struct fr_real *real, MPI_Comm comm, void *buffer,
                                   int64_t count, MPI_Request *request) {
    CALL(real, comm, false, count, twice(comm),
         MPI_Iallreduce(MPI_IN_PLACE, buffer, (int)count, TYPE, MPI_SUM, comm, request));
}

fr_status fr_real_all_to_all(struct fr_real *real, MPI_Comm comm, const void *send,
                             int64_t count, void *recv) {
    CALL(real, comm, true, count, others(comm),
         MPI_Alltoall(send, (int)count, TYPE, recv, (int)count, TYPE, comm));
}

fr_status fr_real_scatter_sum_begin(struct fr_real *real, MPI_Comm comm, const void *send,
                                    int64_t count, void *recv, MPI_Request *request) {
    CALL(real, comm, true, count, others(comm),
         MPI_Ialltoall(send, (int)count, TYPE, recv, (int)count, TYPE, comm, request));
}

fr_status fr_real_scatter_sum_end(struct fr_real *real, MPI_Comm comm, int64_t count,
                                  void *recv, MPI_Request *request) {
    FR_TRY(fr_real_wait(real, request));
    for (size_t i = 1; i <= (size_t)others(comm); i++)
        FR_COMPUTE(real,
                   real->k->add((size_t)count, fr_at(real->k, recv, i * (size_t)count), recv));
    return FR_OK;
}

fr_status fr_real_scatter(struct fr_real *real, MPI_Comm comm, const void *send, int64_t count,
                          void *recv) {
    CALL(real, comm, true, count, others(comm),
         MPI_Scatter(send, (int)count, TYPE, recv, (int)count, TYPE, 0, comm));
}

fr_status fr_real_gather(struct fr_real *real, MPI_Comm comm, const void *send, int64_t count,
                         void *recv) {
    CALL(real, comm, true, count, others(comm),
         MPI_Gather(send, (int)count, TYPE, recv, (int)count, TYPE, 0, comm));
}

fr_status fr_real_reduce(struct fr_real *real, MPI_Comm comm, const void *send, void *recv,
                         int64_t count) {
    CALL(real, comm, true, count, 1,
         MPI_Reduce(send, recv, (int)count, TYPE, MPI_SUM, 0, comm));
}
