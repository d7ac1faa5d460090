#include "real/apps/redistribute.h"

fr_status fr_redistribute(struct fr_real *real, MPI_Comm neighbours, int values,
                          struct fr_real_columns from, const void *x, struct fr_real_columns to,
                          void *packed, void *y) {
    const struct fr_kernels *k = real->k;
    if (to.n <= from.n) {
        const void *part = fr_at(k, x, (size_t)(to.first - from.first));
        FR_COMPUTE(real, k->copy(values, to.n, part, from.n, y, to.n));
        return FR_OK;
    }
    size_t each = (size_t)values * (size_t)from.n;
    FR_TRY(fr_real_all_gather(real, neighbours, x, (int64_t)each, packed));
    for (int part = 0; part < to.n / from.n; part++)
        FR_COMPUTE(real, k->copy(values, from.n, fr_at(k, packed, (size_t)part * each), from.n,
                                 fr_at(k, y, (size_t)(part * from.n)), to.n));
    return FR_OK;
}
