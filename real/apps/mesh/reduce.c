/* Reduces gradients after the last backward pass over the ranks that hold the same ones.  They go
 * layer by layer; a transformer's go all of a stage at once; those of sub-grids go in two parts,
 * the common one and a branch's.
 *
 * It is an all-reduce over dp.  For the first `stages` stages it is one of the matrices' P, then
 * one of their Q with the rest (with error feedback).  A tied embedding is all-reduced with the
 * other gradients over dp and then between the two ends, or fused, once over 2 dp ranks.
 *
 * Where replicas divide the optimiser's work (zero 1), a reduce-scatter takes shares of
 * gradients that go whole to the ranks that update them.  Codes, and a fused embedding, travel
 * as without zero 1; each rank then updates its share of their parameters. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "real/apps/division.h"
#include "real/apps/mesh/mesh.h"

/* ---- what goes compressed ----------------------------------------------------------------------- */

static int copies_of(const struct fr_real *real, int holder) {
    bool untouched = holder == FR_HELD_BY_STAGE && !fr_mesh_has_common(real);
    return untouched ? 1 : fr_real_copies(real->run->plan, holder);
}

/* Who holds what is at @p at in the block. */
static int holder_of(const struct fr_real *real, const struct fr_mesh_state *mesh,
                     const void *at) {
    const char *const all = real->gradients;
    int64_t value = ((const char *)at - all) / (int64_t)real->k->size_B;
    for (int h = FR_HOLDERS - 1; h >= FR_HELD_BY_GRIDS; h--)
        if (fr_real_holds(real->run->plan, h) && value >= mesh->region[h]) return h;
    return value < mesh->region[FR_HELD_BY_REPLICAS] ? FR_HELD_BY_STAGE : FR_HELD_BY_REPLICAS;
}

/* Packets of every copy, where it takes them all to add them up. */
static bool gathers(const struct fr_real *real) {
    return real->run->plan->compression.codec->op == FR_OP_ALL_GATHER;
}

/* Does a rank send less for it?  An all-reduced matrix costs twice (D - 1) / D, a gathered
 * packet D - 1. */
static bool pays(const struct fr_real *real, const struct fr_real_codec *codec, int copies) {
    double whole_B = (double)codec->low.m * codec->low.n * (double)real->k->size_B,
           packet_B = (double)fr_real_codec_size_B(real->k, codec);
    return gathers(real) ? copies * packet_B < 2 * whole_B : packet_B < whole_B;
}

/* Is there a unit whose gradients all ranks add up? */
static bool has_whole_stage(const struct fr_mesh_state *mesh) {
    for (int c = 0; c < mesh->n_chunks; c++)
        for (int i = 0; i < mesh->chunk[c].n_units; i++)
            if (mesh->chunk[c].unit[i].kind->whole_stage) return true;
    return false;
}

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static int count(const struct fr_real *real, const struct fr_mesh_state *mesh) {
    int n = 0;
    for (int c = 0; c < mesh->n_chunks; c++)
        for (int i = 0; i < mesh->chunk[c].n_units; i++)
            n += mesh->chunk[c].unit[i].kind->matrices(real, &mesh->chunk[c].unit[i], NULL, 0);
    return n;
}

enum { STREAM_GRADIENT = 1000, STREAMS_A_UNIT = 64 };

/* Open the part that @p holder have; @p all has capacity for every matrix of the unit. */
static bool open_unit(struct fr_real *real, struct fr_mesh_state *mesh, const struct fr_unit *u,
                      int holder, struct fr_unit_matrix *all, int capacity) {
    const struct fr_compression *kind = real->run->plan->compression.codec;
    int rank = (int)fr_plan_gradient_rank(real->run->plan, mesh->stage);
    int n = u->kind->matrices(real, u, all, capacity);
    for (int i = 0; i < n; i++) {
        struct fr_mesh_coded *coded = &mesh->coded[mesh->n_coded];
        uint64_t stream = (uint64_t)(STREAM_GRADIENT + STREAMS_A_UNIT * u->index + i);
        struct fr_real_codec codec = fr_real_codec_of(kind, all[i].m, all[i].n, rank, true);
        if (holder_of(real, mesh, all[i].at) != holder) continue;
        if (!pays(real, &codec, copies_of(real, holder))) continue; /* goes whole */
        *coded = (struct fr_mesh_coded){.at = all[i].at, .codec = codec};
        mesh->n_coded++;
        if (!fr_real_codec_open(real->k, real->run->seed, stream, &coded->codec)) return false;
    }
    return true;
}

/* Values for what is sent at once of a batch: its P, or its Q with what goes whole; or that alone.  A scattered gradient leaves it before. */
static int64_t scratch_of(const struct fr_mesh_state *mesh, const struct fr_mesh_batch *batch) {
    int64_t n_p = 0, n_q = batch->n;
    for (int i = batch->coded_from; i < batch->coded_to; i++) {
        const struct fr_lowrank *c = &mesh->coded[i].codec.low;
        n_p += (int64_t)c->rank * c->m;
        n_q += (int64_t)c->rank * c->n - (int64_t)c->m * c->n;
    }
    return n_p > n_q ? n_p : n_q;
}

static size_t packets_B(const struct fr_real *real, const struct fr_mesh_state *mesh,
                        const struct fr_mesh_batch *batch) {
    size_t sum_B = 0;
    for (int i = batch->coded_from; i < batch->coded_to; i++)
        sum_B += fr_real_codec_size_B(real->k, &mesh->coded[i].codec);
    return sum_B;
}

/* A transformer's units lie side by side.  An embedding that is fused, or tied and divided, goes by itself; it is
 * the first in its block, or the last. */
static void add_batch(struct fr_real *real, struct fr_mesh_state *mesh, const struct fr_unit *u,
                      int piece, int holder) {
    struct fr_mesh_batch *batch = mesh->n_batches ? &mesh->batch[mesh->n_batches - 1] : NULL;
    void *at;
    int64_t n = fr_unit_held(u, holder, &at);
    if (n == 0) return;
    bool joins = u->kind->adds && batch && batch->holder == holder && batch->piece == piece;
    if (!joins) {
        batch = &mesh->batch[mesh->n_batches++];
        *batch = (struct fr_mesh_batch){.whole_stage = u->kind->whole_stage,
                                        .holder = holder,
                                        .piece = piece,
                                        .at = at,
                                        .coded_from = mesh->n_coded,
                                        .coded_to = mesh->n_coded};
    }
    batch->n += n;
    if (!fr_mesh_apart(real, mesh) || u->d_table != mesh->tied) return;
    batch->n -= mesh->n_tied;
    if (u->d_table == batch->at) batch->at = fr_at(real->k, batch->at, (size_t)mesh->n_tied);
}

static bool open_held(struct fr_real *real, struct fr_mesh_state *mesh, int holder,
                      struct fr_unit_matrix *all, int n) {
    bool coded = fr_plan_gradient_rank(real->run->plan, mesh->stage) > 0,
         by_unit = fr_mesh_by_unit(real->run->plan);
    for (int c = 0; c < mesh->n_chunks; c++)
        for (int i = 0; i < mesh->chunk[c].n_units; i++) {
            const struct fr_unit *u = &mesh->chunk[c].unit[i];
            add_batch(real, mesh, u, by_unit ? mesh->chunk[c].before + i : 0, holder);
            if (coded && !open_unit(real, mesh, u, holder, all, n)) return false;
            if (mesh->n_batches) mesh->batch[mesh->n_batches - 1].coded_to = mesh->n_coded;
        }
    return true;
}

static bool open_batches(struct fr_real *real, struct fr_mesh_state *mesh,
                         struct fr_unit_matrix *all, int n) {
    for (int holder = FR_HOLDERS - 1; holder >= 0; holder--) {
        bool several = copies_of(real, holder) > 1 ||
                       (holder == FR_HELD_BY_REPLICAS && has_whole_stage(mesh));
        if (several && !open_held(real, mesh, holder, all, n)) return false;
    }
    return true;
}

static size_t place_of(const struct fr_real *real, const void *at) {
    return (size_t)((const char *)at - (const char *)real->gradients) / real->k->size_B;
}

/* The part of a batch that goes whole is scattered; the rest is on all ranks that hold it. */
static bool divide_batch(const struct fr_real *real, const struct fr_mesh_state *mesh,
                         const struct fr_mesh_batch *batch, struct fr_division *d) {
    size_t at = place_of(real, batch->at), end = at + (size_t)batch->n;
    int scattered = fr_division_part_of(batch->piece, batch->holder, FR_DIVISION_SCATTERED),
        everywhere = fr_division_part_of(batch->piece, batch->holder, FR_DIVISION_WHOLE);
    bool whole = true;
    for (int i = batch->coded_from; i < batch->coded_to; i++) {
        const struct fr_lowrank *c = &mesh->coded[i].codec.low;
        size_t stop = place_of(real, mesh->coded[i].at), n = (size_t)c->m * (size_t)c->n;
        whole = whole && fr_division_add(d, scattered, at, (int64_t)(stop - at)) &&
                fr_division_add(d, everywhere, stop, (int64_t)n);
        at = stop + n;
    }
    return whole && fr_division_add(d, scattered, at, (int64_t)(end - at));
}

/* Parameters that one rank has alone: branches without replicas, or a grid of one column. */
static bool divide_alone(const struct fr_real *real, const struct fr_mesh_state *mesh,
                         struct fr_division *d) {
    const struct fr_plan *plan = real->run->plan;
    bool whole = true, parts = fr_real_holds_parts(plan);
    for (int h = 0; parts && h < FR_HOLDERS; h++) {
        if (h == FR_HELD_BY_STAGE || !fr_real_holds(plan, h) || copies_of(real, h) > 1)
            continue;
        int part = fr_division_part_of(0, h, FR_DIVISION_WHOLE);
        whole = whole && fr_division_add(d, part, (size_t)mesh->region[h], mesh->held[h]);
    }
    return whole;
}

/* Who updates what, unless replicas have it all and all goes whole: then a share is one piece. */
static bool open_division(struct fr_real *real, const struct fr_mesh_state *mesh) {
    const struct fr_plan *plan = real->run->plan;
    bool parts = fr_real_holds_parts(plan), whole = true;
    int holders[FR_HOLDERS];
    for (int h = 0; h < FR_HOLDERS; h++) holders[h] = fr_real_dividing(plan, h);
    int pieces = fr_mesh_pieces(real, mesh);
    if (plan->zero == 0) return true;
    if (!parts && mesh->n_coded == 0 && !fr_mesh_apart(real, mesh) && pieces == 1) return true;
    struct fr_division d = fr_division_none(holders, pieces);
    whole = d.part;
    for (int i = 0; whole && i < mesh->n_batches; i++)
        whole = divide_batch(real, mesh, &mesh->batch[i], &d);
    whole = whole && divide_alone(real, mesh, &d);
    if (whole && fr_mesh_apart(real, mesh)) {
        int part = fr_division_part_of(pieces - 1, fr_mesh_table_holder(real),
                                       fr_mesh_fused(real->run) ? FR_DIVISION_WHOLE
                                                                : FR_DIVISION_SCATTERED);
        whole = fr_division_add(&d, part, place_of(real, mesh->tied), mesh->n_tied);
    }
    fr_division_free(&real->division);
    real->division = d;
    return whole;
}

/* The scattered part of a share. */
static int64_t scatter_scratch(const struct fr_real *real) {
    const struct fr_division *d = &real->division;
    int64_t capacity = 0;
    for (int h = 0; d->part && h < FR_HOLDERS; h++)
        for (int i = 0; i < d->pieces; i++)
            capacity = most(capacity, fr_division_scattered(d, i, h));
    return real->run->plan->zero == 1 ? capacity : 0;
}

bool fr_mesh_open_batches(struct fr_real *real, struct fr_mesh_state *mesh) {
    int64_t capacity = 0, most_B = 0, gathered_B = 0;
    size_t units = 0;
    if (fr_real_alone(real->run->plan) && !has_whole_stage(mesh)) return true;
    for (int c = 0; c < mesh->n_chunks; c++) units += (size_t)mesh->chunk[c].n_units;
    int n = count(real, mesh);
    struct fr_unit_matrix *all = fr_calloc((size_t)n + 1, sizeof *all);
    mesh->batch = fr_calloc(FR_HOLDERS * units, sizeof *mesh->batch);
    mesh->coded = fr_calloc((size_t)n + 1, sizeof *mesh->coded);
    bool whole = all && mesh->batch && mesh->coded && open_batches(real, mesh, all, n);
    for (int i = 0; whole && i < mesh->n_batches; i++) {
        if (mesh->n_coded) capacity = most(capacity, scratch_of(mesh, &mesh->batch[i]));
        int64_t batch_B = (int64_t)packets_B(real, mesh, &mesh->batch[i]);
        most_B = most(most_B, batch_B);
        gathered_B = most(gathered_B, batch_B * copies_of(real, mesh->batch[i].holder));
    }
    free(all);
    whole = whole && open_division(real, mesh);
    int64_t value_B = (int64_t)real->k->size_B;
    capacity = most(capacity, scatter_scratch(real));
    if (gathers(real)) capacity = most(capacity, most_B / value_B + 1);
    mesh->factors = fr_real_alloc(real->k, capacity);
    mesh->gathered = fr_real_alloc(real->k, gathers(real) ? gathered_B / value_B + 1 : 0);
    return whole && mesh->factors && mesh->gathered;
}

/* ---- reducing ---------------------------------------------------------------------------------- */

/* Copy the batch's gradients that are in no coded matrix, and are not scattered, between the block and @p
 * packed; those lie ascending in the block.  @return how many they are. */
static int64_t move_rest(const struct fr_real *real, const struct fr_mesh_state *mesh,
                         const struct fr_mesh_batch *batch, bool out, void *packed) {
    const size_t value_B = real->k->size_B;
    char *at = batch->at, *end = fr_at(real->k, at, (size_t)batch->n), *to = packed;
    if (fr_real_divided(real, batch->holder)) return 0;
    for (int i = batch->coded_from; i <= batch->coded_to; i++) {
        const struct fr_mesh_coded *coded = &mesh->coded[i];
        char *stop = i < batch->coded_to ? coded->at : end;
        size_t size_B = (size_t)(stop - at);
        memcpy(out ? at : to, out ? to : at, size_B);
        to += size_B;
        at = stop;
        if (i < batch->coded_to)
            at += (size_t)coded->codec.low.m * (size_t)coded->codec.low.n * value_B;
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
                          const struct fr_mesh_batch *batch) {
    int64_t n = 0;
    for (int i = batch->coded_from; i < batch->coded_to; i++) {
        struct fr_lowrank *c = &mesh->coded[i].codec.low;
        fr_lowrank_add_error(real, c, mesh->coded[i].at);
        fr_lowrank_project(real, c, mesh->coded[i].at);
        copy(real, c->rank * c->m, c->factors, fr_at(real->k, mesh->factors, (size_t)n));
        n += (int64_t)c->rank * c->m;
    }
    return fr_real_all_reduce(real, fr_shares_comm(real, batch->holder), mesh->factors, n);
}

/* Q of all, with the rest.  A rank saves as its error its own M - P Q^T with its own Q: then
 * the sum over ranks of what was decoded and kept is exactly the sum of M.  (PowerSGD keeps M
 * less the mean; ours is a derivation.)  @return in @p n_q how many values of Q there are. */
static fr_status reduce_q(struct fr_real *real, struct fr_mesh_state *mesh,
                          const struct fr_mesh_batch *batch, size_t *n_q) {
    const struct fr_kernels *k = real->k;
    size_t at = 0;
    int64_t rest = 0;
    for (int i = batch->coded_from; i < batch->coded_to; i++) {
        struct fr_lowrank *c = &mesh->coded[i].codec.low;
        copy(real, c->rank * c->m, fr_at(k, mesh->factors, at), c->factors);
        at += (size_t)c->rank * (size_t)c->m;
        fr_lowrank_back_project(real, c, mesh->coded[i].at);
        fr_lowrank_keep_error(real, c, mesh->coded[i].at);
    }
    *n_q = 0;
    for (int i = batch->coded_from; i < batch->coded_to; i++) {
        const struct fr_lowrank *c = &mesh->coded[i].codec.low;
        copy(real, c->rank * c->n, q_of(real, c), fr_at(k, mesh->factors, *n_q));
        *n_q += (size_t)c->rank * (size_t)c->n;
    }
    FR_COMPUTE(real, rest = move_rest(real, mesh, batch, false, fr_at(k, mesh->factors, *n_q)));
    return fr_real_all_reduce(real, fr_shares_comm(real, batch->holder), mesh->factors,
                              (int64_t)*n_q + rest);
}

/* Gradients are sums over replicas; Q's mean is what the next iteration starts from. */
static void decode(struct fr_real *real, struct fr_mesh_state *mesh,
                   const struct fr_mesh_batch *batch, size_t n_q) {
    const struct fr_kernels *k = real->k;
    double replicas = copies_of(real, batch->holder);
    size_t at = 0;
    for (int i = batch->coded_from; i < batch->coded_to; i++) {
        struct fr_lowrank *c = &mesh->coded[i].codec.low;
        size_t n = (size_t)c->rank * (size_t)c->n;
        FR_COMPUTE(real, k->scale(n, 1 / replicas, fr_at(k, mesh->factors, at), q_of(real, c)));
        fr_lowrank_decode(real, c, c->factors, replicas, mesh->coded[i].at);
        at += n;
    }
    FR_COMPUTE(real, move_rest(real, mesh, batch, true, fr_at(k, mesh->factors, n_q)));
}

/* Packets of all matrices, gathered and added up; the rest as it is. */
static fr_status reduce_packets(struct fr_real *real, struct fr_mesh_state *mesh,
                                const struct fr_mesh_batch *batch) {
    const struct fr_kernels *k = real->k;
    const MPI_Comm comm = fr_shares_comm(real, batch->holder);
    int replicas = copies_of(real, batch->holder);
    size_t own_B = packets_B(real, mesh, batch), at_B = 0;
    int64_t rest = 0;
    for (int i = batch->coded_from; i < batch->coded_to; i++) {
        struct fr_mesh_coded *coded = &mesh->coded[i];
        size_t size_B = fr_real_codec_size_B(k, &coded->codec);
        const void *packet = fr_real_codec_encode(real, &coded->codec, coded->at);
        FR_COMPUTE(real, memcpy((char *)mesh->factors + at_B, packet, size_B));
        at_B += size_B;
    }
    FR_TRY(fr_real_all_gather_bytes(real, comm, mesh->factors, own_B, mesh->gathered));
    at_B = 0;
    for (int i = batch->coded_from; i < batch->coded_to; i++) {
        struct fr_mesh_coded *coded = &mesh->coded[i];
        fr_real_codec_decode(real, &coded->codec, (char *)mesh->gathered + at_B, replicas,
                             own_B, coded->at);
        at_B += fr_real_codec_size_B(k, &coded->codec);
    }
    FR_COMPUTE(real, rest = move_rest(real, mesh, batch, false, mesh->factors));
    if (rest == 0) return FR_OK;
    FR_TRY(fr_real_all_reduce(real, comm, mesh->factors, rest));
    FR_COMPUTE(real, move_rest(real, mesh, batch, true, mesh->factors));
    return FR_OK;
}

static fr_status reduce_batch(struct fr_real *real, struct fr_mesh_state *mesh,
                              const struct fr_mesh_batch *batch) {
    size_t n_q = 0;
    if (batch->coded_from == batch->coded_to) {
        bool sent = mesh->bucketed; /* beside the last pass */
        if (sent || fr_real_divided(real, batch->holder) || batch->n == 0) return FR_OK;
        if (batch->whole_stage) /* of the one stage */
            return fr_real_all_reduce(real, real->world, batch->at, batch->n);
        if (copies_of(real, batch->holder) == 1) return FR_OK;
        return fr_real_all_reduce(real, fr_shares_comm(real, batch->holder), batch->at,
                                  batch->n);
    }
    if (gathers(real)) return reduce_packets(real, mesh, batch);
    FR_TRY(reduce_p(real, mesh, batch));
    FR_TRY(reduce_q(real, mesh, batch, &n_q));
    decode(real, mesh, batch, n_q);
    return FR_OK;
}

/* To each its share of a piece. */
static fr_status scatter(struct fr_real *real, struct fr_mesh_state *mesh, int piece,
                         int holder) {
    const struct fr_division *d = &real->division;
    if (!fr_real_divided(real, holder) || fr_division_scattered(d, piece, holder) == 0)
        return FR_OK;
    FR_TRY(fr_shares_scatter(real, piece, holder, mesh->factors));
    fr_shares_put(real, piece, holder, mesh->factors);
    return FR_OK;
}

static fr_status join_ends(struct fr_real *real, struct fr_mesh_state *mesh) {
    bool joined = fr_mesh_share(real) > 0 && fr_mesh_apart(real, mesh);
    if (!mesh->tied || joined) return FR_OK;
    return fr_real_all_reduce(real, mesh->ends, mesh->tied, mesh->n_tied);
}

/* All pieces, unless they have been scattered beside passes.  Then a tied table is left, which waits for its other end. */
static fr_status scatter_left(struct fr_real *real, struct fr_mesh_state *mesh) {
    int pieces = real->division.pieces, first = mesh->beside ? pieces - 1 : 0;
    if (fr_mesh_share(real) > 0 || (mesh->beside && !mesh->tied)) return FR_OK;
    for (int i = first; i < pieces; i++)
        for (int h = 0; h < FR_HOLDERS; h++) FR_TRY(scatter(real, mesh, i, h));
    return FR_OK;
}

fr_status fr_mesh_reduce(struct fr_real *real, struct fr_mesh_state *mesh) {
    for (int i = mesh->n_batches - 1; i >= 0; i--)
        FR_TRY(reduce_batch(real, mesh, &mesh->batch[i]));
    FR_TRY(join_ends(real, mesh));
    return scatter_left(real, mesh);
}
