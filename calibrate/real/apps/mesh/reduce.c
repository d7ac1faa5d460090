/* Gradients over replicas after the last backward pass, layer by layer: an all-reduce over dp; of the
 * first `stages` stages one of the matrices' P, then one of their Q with the rest (with error
 * feedback). */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "calibrate/real/apps/mesh/mesh.h"

/* ---- what goes compressed ----------------------------------------------------------------------- */

/* A matrix that its rank does not shrink goes whole. */
static bool shrinks(const struct fr_unit_matrix *matrix, int rank) {
    return (int64_t)rank * (matrix->m + matrix->n) < (int64_t)matrix->m * matrix->n;
}

static int count(const struct fr_real *real, const struct fr_mesh_state *mesh) {
    int n = 0;
    for (int c = 0; c < mesh->n_chunks; c++)
        for (int i = 0; i < mesh->chunk[c].n_units; i++)
            n += mesh->chunk[c].unit[i].kind->matrices(real, &mesh->chunk[c].unit[i], NULL, 0);
    return n;
}

enum { STREAM_GRADIENT = 1000, STREAMS_A_UNIT = 64 };

/* @p all has room for every matrix of the unit. */
static bool open_unit(struct fr_real *real, struct fr_mesh_state *mesh, const struct fr_unit *u,
                      struct fr_unit_matrix *all, int room) {
    int rank = (int)real->run->plan->compression.gradient_rank;
    int n = u->kind->matrices(real, u, all, room);
    for (int i = 0; i < n; i++) {
        struct fr_mesh_coded *coded = &mesh->coded[mesh->n_coded];
        uint64_t stream = (uint64_t)(STREAM_GRADIENT + STREAMS_A_UNIT * u->index + i);
        if (!shrinks(&all[i], rank)) continue;
        coded->at = all[i].at;
        mesh->n_coded++;
        if (!fr_lowrank_open(real->k, all[i].m, all[i].n, rank, true, real->run->seed, stream,
                             &coded->codec))
            return false;
    }
    return true;
}

/* Room for what is sent at once of unit @p u: its P, or its Q with what goes whole. */
static int64_t room_of(const struct fr_mesh_state *mesh, const struct fr_unit *u) {
    int64_t n_p = 0, n_q = u->n;
    for (int i = u->coded_from; i < u->coded_to; i++) {
        const struct fr_lowrank *c = &mesh->coded[i].codec;
        n_p += (int64_t)c->rank * c->m;
        n_q += (int64_t)c->rank * c->n - (int64_t)c->m * c->n;
    }
    return n_p > n_q ? n_p : n_q;
}

bool fr_mesh_open_coded(struct fr_real *real, struct fr_mesh_state *mesh) {
    const struct fr_plan *plan = real->run->plan;
    int64_t room = 0;
    if (mesh->stage >= plan->compression.gradient_stages || plan->dp == 1) return true;
    int n = count(real, mesh);
    struct fr_unit_matrix *all = fr_calloc((size_t)n + 1, sizeof *all);
    mesh->coded = fr_calloc((size_t)n + 1, sizeof *mesh->coded);
    bool whole = all && mesh->coded;
    for (int c = 0; c < mesh->n_chunks; c++)
        for (int i = 0; whole && i < mesh->chunk[c].n_units; i++) {
            struct fr_unit *u = &mesh->chunk[c].unit[i];
            u->coded_from = mesh->n_coded;
            whole = open_unit(real, mesh, u, all, n);
            u->coded_to = mesh->n_coded;
            int64_t needed = room_of(mesh, u);
            if (needed > room) room = needed;
        }
    free(all);
    mesh->factors = fr_real_alloc(real->k, room);
    return whole && mesh->factors;
}

/* ---- reducing ---------------------------------------------------------------------------------- */

/* Copy the unit's gradients that are in no coded matrix between the block and @p packed; those lie
 * ascending in the block.  @return how many they are. */
static int64_t move_rest(const struct fr_real *real, const struct fr_mesh_state *mesh,
                         const struct fr_unit *u, bool out, void *packed) {
    const size_t value_B = real->k->size_B;
    char *at = u->g, *end = fr_at(real->k, at, (size_t)u->n), *to = packed;
    for (int i = u->coded_from; i <= u->coded_to; i++) {
        const struct fr_mesh_coded *coded = &mesh->coded[i];
        char *stop = i < u->coded_to ? coded->at : end;
        size_t size_B = (size_t)(stop - at);
        memcpy(out ? at : to, out ? to : at, size_B);
        to += size_B;
        at = stop;
        if (i < u->coded_to) at += (size_t)coded->codec.m * (size_t)coded->codec.n * value_B;
    }
    return (int64_t)((size_t)(to - (char *)packed) / value_B);
}

static void copy(struct fr_real *real, int n, const void *from, void *to) {
    FR_COMPUTE(real, real->k->copy(1, n, from, n, to, n));
}

static void *q_of(const struct fr_real *real, const struct fr_lowrank *c) {
    return fr_at(real->k, c->factors, (size_t)c->rank * (size_t)c->m);
}

/* P of all matrices, added up over replicas. */
static fr_status reduce_p(struct fr_real *real, struct fr_mesh_state *mesh,
                          const struct fr_unit *u, struct fr_error *err) {
    int64_t n = 0;
    for (int i = u->coded_from; i < u->coded_to; i++) {
        struct fr_lowrank *c = &mesh->coded[i].codec;
        fr_lowrank_add_error(real, c, mesh->coded[i].at);
        fr_lowrank_project(real, c, mesh->coded[i].at);
        copy(real, c->rank * c->m, c->factors, fr_at(real->k, mesh->factors, (size_t)n));
        n += (int64_t)c->rank * c->m;
    }
    return fr_real_all_reduce(real, real->dp, mesh->factors, n, err);
}

/* Q of all, with the rest.  What a rank keeps as its error is its own M - P Q^T with its own Q: then
 * the sum over ranks of what was decoded and kept is exactly the sum of M.  (PowerSGD keeps M less
 * the mean; ours is a derivation.)  @return in @p n_q how many values of Q there are. */
static fr_status reduce_q(struct fr_real *real, struct fr_mesh_state *mesh,
                          const struct fr_unit *u, size_t *n_q, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    size_t at = 0;
    int64_t rest = 0;
    for (int i = u->coded_from; i < u->coded_to; i++) {
        struct fr_lowrank *c = &mesh->coded[i].codec;
        copy(real, c->rank * c->m, fr_at(k, mesh->factors, at), c->factors);
        at += (size_t)c->rank * (size_t)c->m;
        fr_lowrank_back_project(real, c, mesh->coded[i].at);
        fr_lowrank_keep_error(real, c, mesh->coded[i].at);
    }
    *n_q = 0;
    for (int i = u->coded_from; i < u->coded_to; i++) {
        const struct fr_lowrank *c = &mesh->coded[i].codec;
        copy(real, c->rank * c->n, q_of(real, c), fr_at(k, mesh->factors, *n_q));
        *n_q += (size_t)c->rank * (size_t)c->n;
    }
    FR_COMPUTE(real, rest = move_rest(real, mesh, u, false, fr_at(k, mesh->factors, *n_q)));
    return fr_real_all_reduce(real, real->dp, mesh->factors, (int64_t)*n_q + rest, err);
}

/* Gradients are sums over replicas; Q's mean is what the next iteration starts from. */
static void decode(struct fr_real *real, struct fr_mesh_state *mesh, const struct fr_unit *u,
                   size_t n_q) {
    const struct fr_kernels *k = real->k;
    double replicas = (double)real->run->plan->dp;
    size_t at = 0;
    for (int i = u->coded_from; i < u->coded_to; i++) {
        struct fr_lowrank *c = &mesh->coded[i].codec;
        size_t n = (size_t)c->rank * (size_t)c->n;
        FR_COMPUTE(real, k->scale(n, 1 / replicas, fr_at(k, mesh->factors, at), q_of(real, c)));
        fr_lowrank_decode(real, c, c->factors, replicas, mesh->coded[i].at);
        at += n;
    }
    FR_COMPUTE(real, move_rest(real, mesh, u, true, fr_at(k, mesh->factors, n_q)));
}

static fr_status reduce_unit(struct fr_real *real, struct fr_mesh_state *mesh,
                             const struct fr_unit *u, struct fr_error *err) {
    size_t n_q = 0;
    if (u->coded_from == u->coded_to)
        return fr_real_all_reduce(real, real->dp, u->g, u->n, err);
    FR_TRY(reduce_p(real, mesh, u, err));
    FR_TRY(reduce_q(real, mesh, u, &n_q, err));
    decode(real, mesh, u, n_q);
    return FR_OK;
}

fr_status fr_mesh_reduce(struct fr_real *real, struct fr_mesh_state *mesh,
                         struct fr_error *err) {
    if (real->run->plan->dp == 1) return FR_OK;
    for (int c = mesh->n_chunks - 1; c >= 0; c--)
        for (int i = mesh->chunk[c].n_units - 1; i >= 0; i--)
            FR_TRY(reduce_unit(real, mesh, &mesh->chunk[c].unit[i], err));
    return FR_OK;
}
