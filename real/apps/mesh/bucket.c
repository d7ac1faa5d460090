/* Gradients that go beside the last backward pass (`overlap`).  Each chunk's, side by side in
 * the block, form n buckets of equal size, from the last unit down.  A bucket is all-reduced
 * over replicas as soon as its units have made the last of it.  They are waited for after the
 * last pass.
 *
 * An MPI that moves nothing outside its calls moves most of them there: then nothing is gained. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "real/apps/mesh/mesh.h"

static bool overlaps(const struct fr_real *real) {
    return real->run->plan->overlap && fr_plan_replicas(real->run->plan) > 1;
}

/* Gradients of a chunk that a fused embedding does not take apart: where they begin, and how
 * many. */
static int64_t range_of(const struct fr_real *real, const struct fr_mesh_state *mesh,
                        const struct fr_mesh_chunk *c, void **at) {
    const struct fr_unit *last = &c->unit[c->n_units - 1];
    bool apart = fr_mesh_fused(real->run) && mesh->tied;
    int64_t n = ((char *)last->g - (char *)c->unit[0].g) / (int64_t)real->k->size_B + last->n;
    *at = c->unit[0].g;
    if (apart && c->first && c->unit[0].d_table == mesh->tied) {
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

bool fr_mesh_open_buckets(struct fr_real *real, struct fr_mesh_state *mesh) {
    int64_t n_buckets = 0;
    for (int i = 0; overlaps(real) && i < mesh->n_chunks; i++) {
        struct fr_mesh_chunk *c = &mesh->chunk[i];
        double values = (double)range_of(real, mesh, c, &c->gradients),
               size_B = values * (double)real->k->size_B;
        c->n_values = (int64_t)values;
        c->buckets = (int)ceil(size_B / real->run->plan->bucket_size_B);
        c->last_slot = last_slot(mesh, i);
        c->left = c->buckets;
        n_buckets += c->buckets;
    }
    if (n_buckets == 0) return true;
    mesh->bucket = fr_calloc((size_t)n_buckets, sizeof *mesh->bucket);
    return mesh->bucket;
}

fr_status fr_mesh_send_buckets(struct fr_real *real, struct fr_mesh_state *mesh,
                               struct fr_mesh_chunk *c, int64_t slot, int unit) {
    if (c->buckets == 0 || slot != c->last_slot) return FR_OK;
    const char *made = unit > 0 ? c->unit[unit].g : c->gradients;
    while (c->left > 0) {
        int64_t from = c->n_values * (c->left - 1) / c->buckets,
                to = c->n_values * c->left / c->buckets;
        void *at = fr_at(real->k, c->gradients, (size_t)from);
        if ((const char *)at < made) break;
        FR_TRY(fr_real_all_reduce_begin(real, real->dp, at, to - from,
                                        &mesh->bucket[mesh->n_sent++]));
        c->left--;
    }
    return FR_OK;
}

fr_status fr_mesh_end_buckets(struct fr_real *real, struct fr_mesh_state *mesh) {
    for (int i = 0; i < mesh->n_sent; i++) FR_TRY(fr_real_wait(real, &mesh->bucket[i]));
    for (int i = 0; i < mesh->n_chunks; i++) mesh->chunk[i].left = mesh->chunk[i].buckets;
    mesh->n_sent = 0;
    return FR_OK;
}
