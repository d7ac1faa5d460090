/* Ranks that hold the same parameters also divide gradients and parameters (zero 2 and 3; zero 1 with overlap).
 *
 * They go unit by unit beside the passes, as FSDP has it.  With zero 3 all parameters of the next unit are
 * gathered while a unit runs, forward and backward; the first one's gather has nothing beside it.  With zero 1 the first
 * forward pass after an update gathers them.  A chunk's first unit is gathered while its stage waits for that pass, or
 * since the chunk before it was whole, as Megatron-LM has it.  Gradients go in buckets of units (bucket.c).  A unit's gradients
 * of a micro-batch go to the ranks that update them while the units before it run backward.  With
 * `zero_ranks` an all-reduce over groups follows, beside one unit more.  The pass ends once all have arrived.
 *
 * A rank's gradients are those of one micro-batch; its share of the sum is apart.  Gradients that nobody
 * else holds stay in the block. */
#include <stdlib.h>
#include <string.h>

#include "real/apps/division.h"
#include "real/apps/mesh/mesh.h"

enum { FLIGHTS = FR_HOLDERS + 1, TABLE = FR_HOLDERS };

/* Values of a rank's share of a piece that @p holder scatter. */
static int64_t scattered(const struct fr_real *real, int piece, int holder) {
    return fr_real_divided(real, holder) ? fr_division_scattered(&real->division, piece, holder)
                                         : 0;
}

static int64_t scattered_of(const struct fr_real *real, int piece) {
    int64_t sum = 0;
    for (int h = 0; h < FR_HOLDERS; h++) sum += scattered(real, piece, h);
    return sum;
}

int64_t fr_mesh_share(const struct fr_real *real) {
    int64_t sum = 0;
    for (int i = 0; i < real->division.pieces; i++) sum += scattered_of(real, i);
    return real->run->plan->zero >= 2 ? sum : 0;
}

int fr_mesh_pieces(const struct fr_real *real, const struct fr_mesh_state *mesh) {
    const struct fr_plan *plan = real->run->plan;
    const struct fr_mesh_chunk *last = &mesh->chunk[mesh->n_chunks - 1];
    bool tied = real->run->workload->transformer.tied && fr_plan_last_stage(plan) > 0;
    return fr_mesh_by_unit(plan) ? last->before + last->n_units + tied : 1;
}

/* Where the share of what @p holder scatter of a piece begins. */
static size_t place_of(const struct fr_real *real, int piece, int holder) {
    size_t at = 0;
    for (int i = 0; i < piece; i++) at += (size_t)scattered_of(real, i);
    for (int h = 0; h < holder; h++) at += (size_t)scattered(real, piece, h);
    return at;
}

/* ---- capacity ------------------------------------------------------------------------------------ */

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* For the largest piece that flight @p i carries, or a bucket of several; a table is the last piece. */
static bool open_flight(const struct fr_real *real, int i, bool scatters,
                        struct fr_shares_flight *f) {
    const struct fr_division *d = &real->division;
    int holder = i < FR_HOLDERS ? i : fr_mesh_table_holder(real);
    int64_t n = 0;
    bool bucket = scatters && real->run->plan->zero == 1;
    for (int piece = i == TABLE ? d->pieces - 1 : 0; piece < d->pieces; piece++)
        n = bucket ? n + fr_shares_owned(d, piece, holder)
                   : most(n, fr_shares_owned(d, piece, holder));
    if (d->holders[holder] <= 1) n = 0;
    *f = (struct fr_shares_flight){.holder = holder, .request = MPI_REQUEST_NULL};
    const struct fr_real_buffer all[] = {{&f->packed, n * d->holders[holder]},
                                         {&f->own, scatters ? n * d->holders[holder] : 0}};
    return fr_real_alloc_all(real->k, all, sizeof all / sizeof *all);
}

bool fr_mesh_open_share(const struct fr_real *real, struct fr_mesh_state *mesh) {
    bool whole = true;
    if (!fr_mesh_by_unit(real->run->plan)) return true;
    for (int i = 0; i < FLIGHTS; i++)
        whole = open_flight(real, i, false, &mesh->gathers.each[i]) &&
                open_flight(real, i, true, &mesh->scatters[0].each[i]) &&
                open_flight(real, i, true, &mesh->scatters[1].each[i]) && whole;
    mesh->share = fr_real_alloc(real->k, fr_mesh_share(real));
    return whole && mesh->share;
}

void fr_mesh_close_share(struct fr_mesh_state *mesh) {
    struct fr_mesh_flights *const all[] = {&mesh->gathers, &mesh->scatters[0],
                                           &mesh->scatters[1]};
    for (int i = 0; i < 3 * FLIGHTS; i++) {
        struct fr_shares_flight *f = &all[i / FLIGHTS]->each[i % FLIGHTS];
        free(f->packed);
        free(f->own);
    }
}

void fr_mesh_begin_share(struct fr_real *real, struct fr_mesh_state *mesh) {
    size_t n = (size_t)fr_mesh_share(real);
    if (n > 0) FR_COMPUTE(real, memset(mesh->share, 0, n * real->k->size_B));
}

/* ---- flights of a unit --------------------------------------------------------------------------- */

/* Load flight @p i with the pieces of @p n units, or with a tied table that the first of them has.  @return false: nobody
 * divides them, or there is no such table */
static bool load(const struct fr_real *real, const struct fr_mesh_state *mesh,
                 const struct fr_mesh_chunk *c, int unit, int n, int i,
                 struct fr_shares_flight *f) {
    bool table = i == TABLE;
    if (table && !(mesh->tied && c->unit[unit].d_table == mesh->tied)) return false;
    f->piece = table ? real->division.pieces - 1 : c->before + unit;
    f->n_pieces = table ? 1 : n;
    return fr_real_divided(real, f->holder);
}

/* Load a gather of a unit.  @return false: there is nothing to gather */
static bool load_gather(const struct fr_real *real, const struct fr_mesh_state *mesh,
                        const struct fr_mesh_chunk *c, int unit, int i,
                        struct fr_shares_flight *f) {
    return load(real, mesh, c, unit, 1, i, f) &&
           fr_shares_owned(&real->division, f->piece, f->holder) > 0;
}

/* In every pass, or in the first one after an update. */
static bool gathers(const struct fr_real *real, const struct fr_mesh_chunk *c) {
    return real->gathers && (real->run->plan->zero == 3 || !c->whole);
}

fr_status fr_mesh_gather_begin(struct fr_real *real, struct fr_mesh_state *mesh,
                               const struct fr_mesh_chunk *c, int i) {
    if (!gathers(real, c) || i < 0 || i >= c->n_units) return FR_OK;
    for (int j = 0; j < FLIGHTS; j++) {
        struct fr_shares_flight *f = &mesh->gathers.each[j];
        if (load_gather(real, mesh, c, i, j, f)) FR_TRY(fr_shares_gather_begin(real, f));
    }
    return FR_OK;
}

fr_status fr_mesh_gather_ahead(struct fr_real *real, struct fr_mesh_state *mesh,
                               struct fr_mesh_chunk *c) {
    if (real->run->plan->zero == 3 || c->ahead || !gathers(real, c)) return FR_OK;
    c->ahead = true;
    return fr_mesh_gather_begin(real, mesh, c, 0);
}

fr_status fr_mesh_gather_next(struct fr_real *real, struct fr_mesh_state *mesh,
                              const struct fr_mesh_chunk *c, int i, int next) {
    if (!gathers(real, c)) return FR_OK;
    for (int j = 0; j < FLIGHTS; j++) {
        struct fr_shares_flight *f = &mesh->gathers.each[j];
        if (load_gather(real, mesh, c, i, j, f)) FR_TRY(fr_shares_gather_end(real, f));
    }
    return fr_mesh_gather_begin(real, mesh, c, next);
}

/* Clear a piece's gradients that @p holder have. */
static void clear(struct fr_real *real, int piece, int holder) {
    const struct fr_division_part *p =
        &real->division.part[fr_division_part_of(piece, holder, FR_DIVISION_SCATTERED)];
    for (int i = 0; i < p->n_spans; i++) {
        size_t at = p->span ? p->span[i].at : 0, n = (size_t)(p->span ? p->span[i].n : p->n);
        FR_COMPUTE(real, memset(fr_at(real->k, real->gradients, at), 0, n * real->k->size_B));
    }
}

/* To each piece's place in the block, or added to the share of an iteration. */
static void put(struct fr_real *real, struct fr_mesh_state *mesh,
                const struct fr_shares_flight *f) {
    const struct fr_kernels *k = real->k;
    size_t at = 0;
    for (int i = 0; i < f->n_pieces; i++) {
        int piece = f->piece + i;
        size_t n = (size_t)scattered(real, piece, f->holder);
        void *own = fr_at(k, f->own, at);
        if (real->run->plan->zero == 1)
            fr_shares_put(real, piece, f->holder, own);
        else
            FR_COMPUTE(real,
                       k->add(n, own, fr_at(k, mesh->share, place_of(real, piece, f->holder))));
        at += n;
    }
}

/* A flight that has landed: on to its second leg, or into the share. */
static fr_status land(struct fr_real *real, struct fr_mesh_state *mesh, bool last_leg,
                      struct fr_shares_flight *f) {
    if (f->request == MPI_REQUEST_NULL) return FR_OK;
    FR_TRY(last_leg ? fr_real_wait(real, &f->request) : fr_shares_scatter_end(real, f));
    if (!last_leg && real->across[f->holder] != MPI_COMM_NULL)
        return fr_shares_across_begin(real, f);
    put(real, mesh, f);
    return FR_OK;
}

/* The next leg of a unit's flights, until they have landed. */
static fr_status advance(struct fr_real *real, struct fr_mesh_state *mesh,
                         struct fr_mesh_flights *all) {
    bool last_leg = all->leg == FR_MESH_ACROSS;
    if (all->leg == FR_MESH_LANDED) return FR_OK;
    for (int j = 0; j < FLIGHTS; j++) FR_TRY(land(real, mesh, last_leg, &all->each[j]));
    all->leg = last_leg ? FR_MESH_LANDED : FR_MESH_ACROSS;
    return FR_OK;
}

fr_status fr_mesh_scatter_begin(struct fr_real *real, struct fr_mesh_state *mesh,
                                const struct fr_mesh_chunk *c, int i, int n) {
    int turn = mesh->n_scatters++ % 2;
    struct fr_mesh_flights *own = &mesh->scatters[turn], *other = &mesh->scatters[1 - turn];
    FR_TRY(advance(real, mesh, other));
    FR_TRY(advance(real, mesh, own));
    for (int j = 0; j < FLIGHTS; j++) {
        struct fr_shares_flight *f = &own->each[j];
        if (j == TABLE && real->run->plan->zero == 1) continue; /* once its ends have joined */
        if (!load(real, mesh, c, i, n, j, f)) continue;
        if (fr_shares_scattered(&real->division, f) == 0) continue;
        FR_TRY(fr_shares_scatter_begin(real, f));
        for (int p = 0; p < f->n_pieces; p++) clear(real, f->piece + p, f->holder);
    }
    own->leg = FR_MESH_FIRST_LEG;
    return FR_OK;
}

fr_status fr_mesh_scatter_end(struct fr_real *real, struct fr_mesh_state *mesh) {
    for (int leg = 0; leg < 2; leg++)
        for (int i = 0; i < 2; i++) FR_TRY(advance(real, mesh, &mesh->scatters[i]));
    return FR_OK;
}

/* ---- at the end of an iteration ------------------------------------------------------------------ */

fr_status fr_mesh_join_shares(struct fr_real *real, struct fr_mesh_state *mesh) {
    int table = real->division.pieces - 1;
    if (fr_mesh_share(real) == 0 || !fr_mesh_apart(real, mesh)) return FR_OK;
    return fr_real_all_reduce(real, mesh->ends,
                              fr_at(real->k, mesh->share, place_of(real, table, 0)),
                              scattered_of(real, table));
}

void fr_mesh_put_share(struct fr_real *real, const struct fr_mesh_state *mesh) {
    size_t at = 0;
    if (fr_mesh_share(real) == 0) return;
    for (int i = 0; i < real->division.pieces * FR_HOLDERS; i++) {
        int piece = i / FR_HOLDERS, h = i % FR_HOLDERS;
        size_t n = (size_t)scattered(real, piece, h);
        if (n > 0) fr_shares_put(real, piece, h, fr_at(real->k, mesh->share, at));
        at += n;
    }
}
