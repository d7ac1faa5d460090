/* Ranks that hold the same parameters also divide gradients and parameters (zero 2 and 3).
 *
 * After every micro-batch a reduce-scatter takes its gradients to the ranks that update them.
 * With zero 3 all parameters are gathered for every pass from the ranks that have them.  A rank's
 * gradients are those of one micro-batch; its share of the sum is apart.  Gradients that nobody
 * else holds stay in the block.
 *
 * A stage goes at once, where PyTorch and Megatron go layer by layer: the bytes are the same, and
 * nothing runs beside them. */
#include <string.h>

#include "real/apps/division.h"
#include "real/apps/mesh/mesh.h"

/* Values of a rank's share of a piece that @p holder scatter. */
static int64_t scattered(const struct fr_real *real, int piece, int holder) {
    int part = fr_division_part_of(piece, holder, FR_DIVISION_SCATTERED);
    return fr_real_divided(real, holder) ? real->division.part[part].share : 0;
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
    bool tied = real->run->workload->transformer.tied && fr_plan_last_stage(plan) > 0;
    return plan->zero >= 2 ? mesh->n_chunks + tied : 1;
}

/* The piece after a chunk's own that its passes need: the tied table, of the network's ends.  @return the number of
 * pieces where there is none */
static int table_of(const struct fr_real *real, const struct fr_mesh_state *mesh, int chunk) {
    bool end = mesh->chunk[chunk].first || mesh->chunk[chunk].last;
    return mesh->tied && end ? mesh->n_chunks : real->division.pieces;
}

static size_t place_of(const struct fr_real *real, int piece) {
    size_t at = 0;
    for (int i = 0; i < piece; i++) at += (size_t)scattered_of(real, i);
    return at;
}

bool fr_mesh_open_share(const struct fr_real *real, struct fr_mesh_state *mesh) {
    const struct fr_real_buffer all[] = {{&mesh->share, fr_mesh_share(real)},
                                         {&mesh->scattered, fr_mesh_share(real)}};
    return fr_real_alloc_all(real->k, all, sizeof all / sizeof *all);
}

void fr_mesh_begin_share(struct fr_real *real, struct fr_mesh_state *mesh) {
    size_t n = (size_t)fr_mesh_share(real);
    if (n > 0) FR_COMPUTE(real, memset(mesh->share, 0, n * real->k->size_B));
}

fr_status fr_mesh_gather_parameters(struct fr_real *real, const struct fr_mesh_state *mesh,
                                    int chunk) {
    int table = table_of(real, mesh, chunk);
    if (real->run->plan->zero < 3) return FR_OK;
    FR_TRY(fr_shares_gather_piece(real, chunk));
    return table < real->division.pieces ? fr_shares_gather_piece(real, table) : FR_OK;
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

/* Add a piece to where it begins in the share. */
static fr_status scatter_piece(struct fr_real *real, struct fr_mesh_state *mesh, int piece) {
    const struct fr_kernels *k = real->k;
    size_t at = place_of(real, piece);
    for (int h = 0; h < FR_HOLDERS; h++) {
        size_t n = (size_t)scattered(real, piece, h);
        if (n == 0) continue;
        FR_TRY(fr_shares_scatter(real, piece, h, mesh->scattered));
        FR_COMPUTE(real, k->add(n, mesh->scattered, fr_at(k, mesh->share, at)));
        clear(real, piece, h);
        at += n;
    }
    return FR_OK;
}

fr_status fr_mesh_scatter_gradients(struct fr_real *real, struct fr_mesh_state *mesh,
                                    int chunk) {
    int table = table_of(real, mesh, chunk);
    if (fr_mesh_share(real) == 0) return FR_OK;
    FR_TRY(scatter_piece(real, mesh, chunk));
    return table < real->division.pieces ? scatter_piece(real, mesh, table) : FR_OK;
}

fr_status fr_mesh_join_shares(struct fr_real *real, struct fr_mesh_state *mesh) {
    int table = mesh->n_chunks;
    if (fr_mesh_share(real) == 0 || !mesh->tied) return FR_OK;
    return fr_real_all_reduce(real, mesh->ends,
                              fr_at(real->k, mesh->share, place_of(real, table)),
                              scattered_of(real, table));
}

void fr_mesh_put_share(struct fr_real *real, const struct fr_mesh_state *mesh) {
    size_t at = 0;
    for (int i = 0; i < real->division.pieces * FR_HOLDERS && fr_mesh_share(real) > 0; i++) {
        int piece = i / FR_HOLDERS, h = i % FR_HOLDERS;
        size_t n = (size_t)scattered(real, piece, h);
        if (n > 0) fr_shares_put(real, piece, h, fr_at(real->k, mesh->share, at));
        at += n;
    }
}
