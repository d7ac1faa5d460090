/* The share of features x columns that a rank sends between stages: all, rows, or columns, which are
 * copied together. */
#include "real/apps/mesh/mesh.h"

struct fr_mesh_part fr_mesh_part_of(const struct fr_real *real,
                                    const struct fr_mesh_state *mesh, int features) {
    int tp = (int)real->run->plan->tp;
    struct fr_mesh_part part = {.m = features, .n = mesh->columns};
    if (mesh->cut == FR_MESH_COLUMNS || mesh->cut == FR_MESH_TOKENS) part.n /= tp;
    if (mesh->cut != FR_MESH_ROWS) return part;
    part.m /= tp;
    part.first = (size_t)(real->tp_rank * part.m) * (size_t)part.n;
    return part;
}

/* Columns of rank @p r between @p whole, where they are some, and @p part, where they are all. */
static void move(struct fr_real *real, const struct fr_mesh_state *mesh, int features, int r,
                 bool out, const void *from, void *to) {
    const struct fr_kernels *k = real->k;
    int b = mesh->columns, n = b / (int)real->run->plan->tp;
    if (out)
        FR_COMPUTE(real, k->copy(features, n, fr_at(k, from, (size_t)(r * n)), b, to, n));
    else
        FR_COMPUTE(real, k->copy(features, n, from, n, fr_at(k, to, (size_t)(r * n)), b));
}

void fr_mesh_take_columns(struct fr_real *real, const struct fr_mesh_state *mesh, int features,
                          const void *whole, void *part) {
    move(real, mesh, features, real->tp_rank, true, whole, part);
}

fr_status fr_mesh_gather(struct fr_real *real, const struct fr_mesh_state *mesh, int features,
                         void *whole, struct fr_error *err) {
    struct fr_mesh_part part = fr_mesh_part_of(real, mesh, features);
    int64_t values = (int64_t)part.m * part.n;
    if (mesh->cut == FR_MESH_ALL || mesh->cut == FR_MESH_TOKENS) return FR_OK;
    if (mesh->cut == FR_MESH_ROWS)
        return fr_real_all_gather(real, real->tp, MPI_IN_PLACE, values, whole, err);
    FR_TRY(fr_real_all_gather(real, real->tp, mesh->part, values, mesh->parts, err));
    for (int r = 0; r < real->run->plan->tp; r++)
        move(real, mesh, features, r, false,
             fr_at(real->k, mesh->parts, (size_t)r * (size_t)values), whole);
    return FR_OK;
}
