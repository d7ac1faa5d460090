/* Gradients of parameters that all tp ranks have and of which each has a part: added up over them, once an
 * iteration, those of all units together. */
#include <string.h>

#include "real/apps/mesh/mesh.h"

int64_t fr_mesh_partials(const struct fr_mesh_state *mesh) {
    int64_t sum = 0;
    for (int c = 0; c < mesh->n_chunks; c++)
        for (int i = 0; i < mesh->chunk[c].n_units; i++) {
            const struct fr_unit *u = &mesh->chunk[c].unit[i];
            if (u->kind->partial) sum += u->kind->partial(u);
        }
    return sum;
}

/* Between the units' gradients and mesh->partials. */
static void move(struct fr_real *real, const struct fr_mesh_state *mesh, bool out) {
    size_t at = 0;
    for (int c = 0; c < mesh->n_chunks; c++)
        for (int i = 0; i < mesh->chunk[c].n_units; i++) {
            const struct fr_unit *u = &mesh->chunk[c].unit[i];
            size_t n = u->kind->partial ? (size_t)u->kind->partial(u) : 0;
            void *packed = fr_at(real->k, mesh->partials, at);
            FR_COMPUTE(real,
                       memcpy(out ? u->g : packed, out ? packed : u->g, n * real->k->size_B));
            at += n;
        }
}

fr_status fr_mesh_add_partials(struct fr_real *real, struct fr_mesh_state *mesh,
                               struct fr_error *err) {
    int64_t n = fr_mesh_partials(mesh);
    if (n == 0 || real->run->plan->tp == 1) return FR_OK;
    move(real, mesh, false);
    FR_TRY(fr_real_all_reduce(real, real->tp, mesh->partials, n, err));
    move(real, mesh, true);
    return FR_OK;
}
