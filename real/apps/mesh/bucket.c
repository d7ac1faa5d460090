/* Gradients that go beside the last backward pass (`overlap`).  Each chunk's, side by side in
 * the block, form n buckets of equal size, from the last unit down.  A bucket is all-reduced
 * over those who hold it as soon as its units have made the last of it.  They are waited for after the
 * last pass.
 *
 * Where replicas divide the optimiser's work (zero 1) a bucket is units whose share of the chunk is reached.  It is
 * scattered, and parameters are gathered beside the next iteration's first passes (zero.c).
 *
 * An MPI that moves nothing outside its calls moves most of them there: then nothing is gained. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "real/apps/mesh/mesh.h"

static bool overlaps(const struct fr_real *real) {
    bool alone = fr_plan_replicas(real->run->plan) == 1 && real->stage == MPI_COMM_NULL;
    return real->run->plan->overlap && real->run->plan->zero < 2 && !alone;
}

/* Gradients of a chunk that a fused embedding does not take apart, and that @p holder have: where they begin, and how
 * many. */
static int64_t range_of(const struct fr_real *real, const struct fr_mesh_state *mesh,
                        const struct fr_mesh_chunk *c, int holder, void **at) {
    const struct fr_unit *first = &c->unit[0], *last = &c->unit[c->n_units - 1];
    const bool parts = real->stage != MPI_COMM_NULL;
    int64_t common = last->kind->common ? last->kind->common(last) : last->n,
            value_B = (int64_t)real->k->size_B;
    bool apart = mesh->tied && (fr_mesh_fused(real->run) || fr_mesh_by_unit(real->run->plan));
    if (holder == FR_HELD_BY_STAGE && (!parts || !fr_mesh_has_common(real))) return 0;
    if (holder == FR_HELD_BY_REPLICAS && parts) {
        *at = first->own_g;
        return ((char *)last->own_g - (char *)first->own_g) / value_B + last->n - common;
    }
    int64_t n = ((char *)last->g - (char *)first->g) / value_B + (parts ? common : last->n);
    *at = first->g;
    if (apart && c->first && first->d_table == mesh->tied) {
        *at = fr_at(real->k, *at, (size_t)mesh->n_tied);
        n -= mesh->n_tied;
    } else if (apart && c->last && last->d_table == mesh->tied)
        n -= mesh->n_tied;
    return n;
}

/* Number of the slot that makes the last of a chunk's gradients. */
static int64_t last_slot(const struct fr_mesh_state *mesh, int chunk) {
    int makes = mesh->splits ? FR_SLOT_WEIGHT : FR_SLOT_BACKWARD;
    for (int64_t i = mesh->n_slots - 1; i >= 0; i--)
        if (mesh->slots[i].chunk == chunk && mesh->slots[i].kind == makes) return i;
    return -1;
}

/* @return its buckets */
static int64_t open_chunk(const struct fr_real *real, struct fr_mesh_state *mesh, int chunk) {
    struct fr_mesh_chunk *c = &mesh->chunk[chunk];
    double size_B = 0;
    int64_t n = 0;
    for (int h = 0; h < FR_HOLDERS; h++) {
        c->buckets[h].n_values = range_of(real, mesh, c, h, &c->buckets[h].at);
        size_B += (double)c->buckets[h].n_values * (double)real->k->size_B;
    }
    c->last_slot = last_slot(mesh, chunk);
    for (int h = 0; h < FR_HOLDERS; h++) {
        struct fr_mesh_buckets *b = &c->buckets[h];
        bool any = b->n_values > 0 || real->run->plan->zero > 0;
        if (any) b->n = (int)ceil(size_B / real->run->plan->bucket_size_B);
        b->left = b->n;
        b->unit = c->n_units;
        n += b->n;
    }
    return n;
}

bool fr_mesh_open_buckets(struct fr_real *real, struct fr_mesh_state *mesh) {
    int64_t n_buckets = 0;
    for (int i = 0; overlaps(real) && i < mesh->n_chunks; i++)
        n_buckets += open_chunk(real, mesh, i);
    if (n_buckets == 0 || real->run->plan->zero > 0) return true;
    mesh->bucket = fr_calloc((size_t)n_buckets, sizeof *mesh->bucket);
    return mesh->bucket;
}

/* Of @p holder those that are made. */
static fr_status reduce(struct fr_real *real, struct fr_mesh_state *mesh,
                        struct fr_mesh_chunk *c, int holder, int unit) {
    struct fr_mesh_buckets *b = &c->buckets[holder];
    bool own = real->stage != MPI_COMM_NULL && holder == FR_HELD_BY_REPLICAS;
    const char *made = unit == 0 ? b->at : own ? c->unit[unit].own_g : c->unit[unit].g;
    while (b->left > 0) {
        int64_t from = b->n_values * (b->left - 1) / b->n, to = b->n_values * b->left / b->n;
        void *at = fr_at(real->k, b->at, (size_t)from);
        if ((const char *)at < made) break;
        FR_TRY(fr_real_all_reduce_begin(real, fr_shares_comm(real, holder), at, to - from,
                                        &mesh->bucket[mesh->n_sent++]));
        b->left--;
    }
    return FR_OK;
}

/* Zero 1: units that make up the next bucket, or are the last; of all holders together. */
static fr_status scatter(struct fr_real *real, struct fr_mesh_state *mesh,
                         struct fr_mesh_chunk *c, int unit) {
    struct fr_mesh_buckets *b = &c->buckets[FR_HELD_BY_REPLICAS];
    int64_t all = 0, done = 0;
    for (int i = 0; i < c->n_units; i++) {
        all += c->unit[i].n;
        done += i >= unit ? c->unit[i].n : 0;
    }
    if (unit > 0 && done * b->n < all * (b->n - b->left + 1)) return FR_OK;
    while (b->left > 0 && done * b->n >= all * (b->n - b->left + 1)) b->left--;
    FR_TRY(fr_mesh_scatter_begin(real, mesh, c, unit, b->unit - unit));
    b->unit = unit;
    return FR_OK;
}

fr_status fr_mesh_send_buckets(struct fr_real *real, struct fr_mesh_state *mesh,
                               struct fr_mesh_chunk *c, int64_t slot, int unit) {
    if (!overlaps(real) || slot != c->last_slot) return FR_OK;
    if (real->run->plan->zero > 0) return scatter(real, mesh, c, unit);
    for (int h = FR_HOLDERS - 1; h >= 0; h--) FR_TRY(reduce(real, mesh, c, h, unit));
    return FR_OK;
}

fr_status fr_mesh_end_buckets(struct fr_real *real, struct fr_mesh_state *mesh) {
    for (int i = 0; i < mesh->n_sent; i++) FR_TRY(fr_real_wait(real, &mesh->bucket[i]));
    for (int i = 0; i < mesh->n_chunks * FR_HOLDERS; i++) {
        struct fr_mesh_chunk *c = &mesh->chunk[i / FR_HOLDERS];
        c->buckets[i % FR_HOLDERS].left = c->buckets[i % FR_HOLDERS].n;
        c->buckets[i % FR_HOLDERS].unit = c->n_units;
    }
    mesh->n_sent = 0;
    return overlaps(real) ? fr_mesh_scatter_end(real, mesh) : FR_OK;
}
