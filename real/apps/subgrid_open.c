/* A rank's place among the sub-grids, its parameters, buffers and data. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "real/apps/ffn.h"
#include "real/apps/random.h"
#include "real/apps/subgrid.h"
#include "topology/placement.h"

/* This rank's number in the program's numbering, from where the machine's ranks sit. */
static fr_status find_place(struct fr_real *real, struct fr_subgrid *s, struct fr_error *err) {
    const struct fr_plan *plan = real->run->plan;
    int here = 1, most = 1, rank = real->rank;
    MPI_Comm node;
    FR_MPI_TRY(MPI_Comm_split_type(real->world, MPI_COMM_TYPE_SHARED, real->rank, MPI_INFO_NULL,
                                   &node));
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    FR_MPI_TRY(MPI_Allreduce(&here, &most, 1, MPI_INT, MPI_MAX, real->world));
    struct fr_levels levels = {.count = 2};
    levels.level[0].ranks = most;
    levels.level[1].ranks = (int64_t)1 << 40;
    struct fr_mesh mesh = {.size = {plan->tp, 1, plan->dp},
                           .order = {FR_MESH_DP, FR_MESH_PP, FR_MESH_TP}};
    struct fr_seating seating = {.levels = &levels, .mesh = &mesh, .choice = &plan->placement};
    int64_t *slot = fr_calloc((size_t)real->n_ranks, sizeof *slot);
    if (!slot) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d ranks", real->n_ranks);
    fr_status status = plan->placement.row->seat(&seating, slot, err);
    for (int r = 0; status == FR_OK && r < real->n_ranks; r++)
        if (slot[r] == real->rank) rank = r;
    free(slot);
    s->subgrid = rank / s->dp;
    s->place = rank % s->dp;
    return status;
}

static fr_status split(struct fr_real *real, int colour, int key, MPI_Comm *comm,
                       struct fr_error *err) {
    FR_MPI_TRY(MPI_Comm_split(real->world, colour, key, comm));
    FR_MPI_TRY(MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN));
    return FR_OK;
}

static fr_status open_layer(struct fr_real *real, struct fr_subgrid *s,
                            struct fr_subgrid_layer *l, int i, size_t *offset,
                            struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    size_t weights = (size_t)l->branches * (size_t)l->out * (size_t)l->in;
    l->first = l->common ? 0 : s->subgrid * l->branches;
    l->tokens = s->batch * s->positions / (l->common && !s->c_sub ? s->g : 1);
    if (!l->attention) {
        l->w = fr_at(k, real->parameters, *offset);
        l->dw = fr_at(k, real->gradients, *offset);
        l->b = fr_at(k, l->w, weights);
        l->db = fr_at(k, l->dw, weights);
        *offset += (size_t)fr_subgrid_layer_parameters(l);
        fr_fill_normal(k, real->run->seed, (uint64_t)(FR_STREAM_LAYER + 64 * i),
                       (int64_t)l->first * l->out, (int64_t)l->branches * l->out, 0, l->in,
                       l->in, sqrt(2.0 / l->in), l->w);
        /* Not zero, as where all inputs of a row are, relu would stand on its kink. */
        fr_fill_normal(k, real->run->seed, (uint64_t)(FR_STREAM_LAYER + 64 * i + 1), 0, 1,
                       (int64_t)l->first * l->out, (int64_t)l->branches * l->out, 1 << 30, 0.1,
                       l->b);
    } else
        l->p = fr_real_alloc(k, (int64_t)l->branches * s->positions * l->tokens);
    int64_t in = (int64_t)l->in * (l->shared ? 1 : l->branches) * l->tokens;
    int64_t out = (int64_t)l->out * l->branches * l->tokens;
    if (in > s->widest) s->widest = in;
    if (out > s->widest) s->widest = out;
    l->x = fr_real_alloc(k, in);
    l->y = fr_real_alloc(k, out);
    if (!l->x || !l->y || (l->attention && !l->p))
        return fr_fail(err, FR_ERR_NOMEM, NULL, "activations");
    return FR_OK;
}

/* The samples that enter and leave: common layers stand first and last, or a branch does alone. */
static int64_t first_token(const struct fr_real *real, const struct fr_subgrid *s,
                           const struct fr_subgrid_layer *l) {
    int64_t group = (int64_t)s->place * s->batch * s->positions;
    (void)real;
    return group + (l->common && !s->c_sub ? (int64_t)s->subgrid * l->tokens : 0);
}

static fr_status open_data(struct fr_real *real, struct fr_subgrid *s, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    struct fr_subgrid_layer *first = &s->layers[0], *last = &s->layers[s->n_layers - 1];
    int64_t all = fr_real_batch(real->run) * s->positions;
    struct fr_ffn_part part = {.sample = first_token(real, s, first),
                               .samples = first->tokens,
                               .all_samples = all,
                               .x_rows = first->in,
                               .t_rows = last->out};
    void *x = NULL;
    fr_status status =
        fr_ffn_data(k, real->run->seed, first->in, last->out, &part, &x, &s->target, err);
    if (status == FR_OK) k->copy(1, first->in * first->tokens, x, 0, first->x, 0);
    free(x);
    return status;
}

fr_status fr_subgrid_open(struct fr_real *real, struct fr_error *err) {
    const struct fr_plan *plan = real->run->plan;
    struct fr_subgrid *s = fr_calloc(1, sizeof *s);
    size_t offset = 0;
    real->state = s;
    if (!s) return fr_fail(err, FR_ERR_NOMEM, NULL, "the program's state");
    s->group = s->grid = MPI_COMM_NULL;
    s->g = (int)plan->tp;
    s->dp = (int)plan->dp;
    s->batch = (int)(fr_real_batch(real->run) / plan->dp);
    s->positions = (int)real->run->workload->layers[0].positions;
    s->c_sub = plan->common_subgrid && s->g > 1;
    s->gather_all = plan->gather_all;
    FR_TRY(find_place(real, s, err));
    FR_TRY(split(real, s->place, s->subgrid, &s->group, err));
    FR_TRY(split(real, s->subgrid, s->place, &s->grid, err));
    FR_TRY(fr_subgrid_layers(real->run, &s->layers, &s->n_layers, err));
    if (!s->layers[0].common || !s->layers[s->n_layers - 1].common)
        return fr_fail(err, FR_ERR_INPUT, NULL, "the first and the last layer must be common");
    for (int i = 0; i < s->n_layers; i++)
        FR_TRY(open_layer(real, s, &s->layers[i], i, &offset, err));
    int64_t room = s->widest * (s->gather_all ? s->g : 1);
    s->buffer[0] = fr_real_alloc(real->k, room);
    s->buffer[1] = fr_real_alloc(real->k, room);
    s->dy = fr_real_alloc(real->k, s->widest);
    s->dx = fr_real_alloc(real->k, s->widest);
    s->dp_scores = fr_real_alloc(real->k, (int64_t)s->positions * s->positions);
    if (!s->buffer[0] || !s->buffer[1] || !s->dy || !s->dx || !s->dp_scores)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "activations");
    return open_data(real, s, err);
}

void fr_subgrid_close(struct fr_real *real) {
    struct fr_subgrid *s = real->state;
    for (int i = 0; s->layers && i < s->n_layers; i++) {
        free(s->layers[i].x);
        free(s->layers[i].y);
        free(s->layers[i].p);
    }
    if (s->group != MPI_COMM_NULL) MPI_Comm_free(&s->group);
    if (s->grid != MPI_COMM_NULL) MPI_Comm_free(&s->grid);
    void *const owned[] = {s->layers, s->target, s->buffer[0], s->buffer[1],
                           s->dy,     s->dx,     s->dp_scores, s};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}
