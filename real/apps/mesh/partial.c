/* Gradients of parameters that all tp ranks have and of which each has a part: added up over them, once an
 * iteration, those of all units together. */
#include <string.h>

#include "real/apps/mesh/mesh.h"

/* The grid of a unit's part, one for all where no group has its own. */
static int grid_of(const struct fr_real *real, const struct fr_unit *u, int part) {
    if (!real->run->plan->layer_tp) return 0;
    return part ? u->mlp.of : u->grid.of;
}

static int64_t partials_of(const struct fr_unit *u, int part) {
    return u->kind->partial ? u->kind->partial(u, part) : 0;
}

int64_t fr_mesh_partials(const struct fr_mesh_state *mesh) {
    int64_t sum = 0;
    for (int c = 0; c < mesh->n_chunks; c++)
        for (int i = 0; i < 2 * mesh->chunk[c].n_units; i++)
            sum += partials_of(&mesh->chunk[c].unit[i / 2], i % 2);
    return sum;
}

/* Between the units' gradients on a grid and mesh->partials.  @return how many */
static int64_t move(struct fr_real *real, const struct fr_mesh_state *mesh, int grid,
                    bool out) {
    int64_t at = 0;
    for (int c = 0; c < mesh->n_chunks; c++)
        for (int i = 0; i < 2 * mesh->chunk[c].n_units; i++) {
            const struct fr_unit *u = &mesh->chunk[c].unit[i / 2];
            int part = i % 2;
            if (grid_of(real, u, part) != grid) continue;
            size_t n = (size_t)partials_of(u, part);
            void *packed = fr_at(real->k, mesh->partials, (size_t)at),
                 *g = part ? u->own_g : u->g;
            FR_COMPUTE(real, memcpy(out ? g : packed, out ? packed : g, n * real->k->size_B));
            at += (int64_t)n;
        }
    return at;
}

fr_status fr_mesh_add_partials(struct fr_real *real, struct fr_mesh_state *mesh) {
    const struct fr_plan *plan = real->run->plan;
    if (fr_mesh_partials(mesh) == 0) return FR_OK;
    for (int g = 0; g < (plan->layer_tp ? FR_GRIDS : 1); g++) {
        MPI_Comm group = plan->layer_tp ? real->rows[g] : real->tp;
        int64_t n = fr_plan_grid(plan, g) > 1 ? move(real, mesh, g, false) : 0;
        if (n == 0) continue;
        FR_TRY(fr_real_all_reduce(real, group, mesh->partials, n));
        move(real, mesh, g, true);
    }
    return FR_OK;
}
