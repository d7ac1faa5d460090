/* Feed-forward networks learn y = relu(W relu(x)) (ffn.h): a replica's samples, cut into
 * micro-batches of features x columns. */
#include <stdlib.h>

#include "real/apps/ffn.h"
#include "real/apps/mesh/task.h"

/* @p from, features x (n_micro columns), as one matrix a micro-batch. */
static void cut(const struct fr_real *real, const struct fr_mesh_state *mesh, int features,
                const void *from, void *to) {
    int b = mesh->columns, all = b * mesh->n_micro;
    for (int m = 0; m < mesh->n_micro; m++)
        real->k->copy(features, b, fr_at(real->k, from, (size_t)(m * b)), all,
                      fr_at(real->k, to, (size_t)m * (size_t)features * (size_t)b), b);
}

/* Where the replica's samples stand among which. */
struct row_of {
    int64_t first, all;
};

/* The features from row @p row on that a rank has of the inputs, or of the targets. */
static fr_status make(struct fr_real *real, struct fr_mesh_state *mesh,
                      const struct fr_chain *chain, const struct row_of *among, bool inputs,
                      int row, int rows, void **out, struct fr_error *err) {
    int64_t samples = (int64_t)mesh->columns * mesh->n_micro;
    struct fr_ffn_part part = {.sample = among->first + real->dp_rank * samples,
                               .samples = samples,
                               .all_samples = among->all};
    void *x = NULL, *t = NULL;
    if (inputs)
        part.x_row = row, part.x_rows = rows;
    else
        part.t_row = row, part.t_rows = rows;
    fr_status status =
        fr_ffn_data(real->k, real->run->seed, chain->layer[0].inputs,
                    chain->layer[chain->n_layers - 1].outputs, &part, &x, &t, err);
    free(*out);
    *out = fr_real_alloc(real->k, rows * samples);
    if (status == FR_OK && !*out) status = fr_fail(err, FR_ERR_NOMEM, NULL, "samples");
    if (status == FR_OK) cut(real, mesh, rows, inputs ? x : t, *out);
    free(x);
    free(t);
    return status;
}

static fr_status make_data(struct fr_real *real, struct fr_mesh_state *mesh,
                           const struct fr_chain *chain, const struct row_of *among,
                           struct fr_error *err) {
    const struct fr_mesh_chunk *head = &mesh->chunk[0],
                               *tail = &mesh->chunk[mesh->n_chunks - 1];
    const struct fr_unit *in = head->unit, *out = &tail->unit[tail->n_units - 1];
    bool divided = in->kind->divided;
    if (head->first)
        FR_TRY(make(real, mesh, chain, among, true, divided ? real->tp_rank * in->in : 0,
                    in->in, &mesh->inputs, err));
    if (!tail->last) return FR_OK;
    return make(real, mesh, chain, among, false, divided ? real->tp_rank * out->out : 0,
                out->out, &mesh->targets, err);
}

static fr_status open_data(struct fr_real *real, struct fr_mesh_state *mesh,
                           const struct fr_chain *chain, struct fr_error *err) {
    return make_data(real, mesh, chain, &(struct row_of){0, fr_real_batch(real->run)}, err);
}

fr_status fr_mesh_regression_take(struct fr_real *real, int64_t first, int64_t all,
                                  struct fr_error *err) {
    struct fr_chain chain;
    fr_status status = fr_chain_make(real->run, &chain, err);
    if (status == FR_OK)
        status = make_data(real, real->state, &chain, &(struct row_of){first, all}, err);
    fr_chain_free(&chain);
    return status;
}

static void *inputs(const struct fr_real *real, const struct fr_mesh_state *mesh, int m) {
    size_t values = (size_t)mesh->chunk[0].unit[0].in * (size_t)mesh->columns;
    return fr_at(real->k, mesh->inputs, (size_t)m * values);
}

/* Where gradients come in shares every rank compares all outputs, else its own rows. */
static fr_status loss(struct fr_real *real, struct fr_mesh_state *mesh,
                      const struct fr_mesh_chunk *c, int m, void **dy, struct fr_error *err) {
    const struct fr_unit *u = &c->unit[c->n_units - 1];
    size_t values = (size_t)u->out * (size_t)mesh->columns, first = 0, n = values;
    double mean = 1.0 / ((double)u->layer.outputs * (double)fr_real_batch(real->run)), own = 0;
    (void)err;
    if (u->kind->shares)
        mean /= u->tp;
    else if (!u->kind->divided) {
        n = (size_t)u->rows * (size_t)mesh->columns;
        first = (size_t)u->tp_rank * n;
    }
    fr_ffn_loss(real, n, mean, fr_at(real->k, c->micro[m].top, first),
                fr_at(real->k, mesh->targets, (size_t)m * values + first),
                fr_at(real->k, *dy, first), &own);
    mesh->loss += own;
    return FR_OK;
}

const struct fr_mesh_task fr_mesh_regression = {
    .open = open_data, .inputs = inputs, .loss = loss};
