#include "real/apps/block.h"

void fr_multiply(struct fr_real *real, int m, int t, int n, const void *w, const void *x,
                 double beta, void *y) {
    if (t == 0) return; /* of a rank without tokens */
    FR_COMPUTE(real, real->k->gemm(false, false, m, t, n, 1, w, n, x, t, beta, y, t));
}

void fr_multiply_back(struct fr_real *real, int m, int t, int n, const void *w, const void *dy,
                      double beta, void *dx) {
    if (t == 0) return;
    FR_COMPUTE(real, real->k->gemm(true, false, n, t, m, 1, w, n, dy, t, beta, dx, t));
}

void fr_add_outer(struct fr_real *real, int m, int t, int n, const void *dy, const void *x,
                  double beta, void *dw) {
    if (t == 0 && beta == 1) return;
    FR_COMPUTE(real, real->k->gemm(false, true, m, n, t, 1, dy, t, x, t, beta, dw, n));
}

/* Between columns of rank @p r of @p rows x T, and rows x t of it among those of all ranks. */
static void move_tokens(struct fr_real *real, const struct fr_token_parts *z, int rows, int r,
                        bool pack, const void *from, void *to) {
    const struct fr_kernels *k = real->k;
    int all = z->all, n = fr_parts_own(z);
    size_t column = (size_t)(r * n), part = (size_t)rows * column;
    if (pack)
        FR_COMPUTE(real, k->copy(rows, n, fr_at(k, from, column), all, fr_at(k, to, part), n));
    else
        FR_COMPUTE(real, k->copy(rows, n, fr_at(k, from, part), n, fr_at(k, to, column), all));
}

static void move_all(struct fr_real *real, const struct fr_token_parts *z, int rows, bool pack,
                     const void *from, void *to) {
    for (int r = 0; r < z->p; r++) move_tokens(real, z, rows, r, pack, from, to);
}

static int64_t own_values(const struct fr_token_parts *z) {
    return (int64_t)z->values * fr_parts_own(z);
}

fr_status fr_parts_gather(struct fr_real *real, const struct fr_token_parts *z, const void *own,
                          void *packed, void *whole) {
    FR_TRY(fr_real_all_gather(real, z->group, own, own_values(z), packed));
    move_all(real, z, z->values, false, packed, whole);
    return FR_OK;
}

fr_status fr_parts_gather_begin(struct fr_real *real, const struct fr_token_parts *z,
                                const void *own, void *packed, MPI_Request *request) {
    return fr_real_all_gather_begin(real, z->group, own, own_values(z), packed, request);
}

fr_status fr_parts_gather_end(struct fr_real *real, const struct fr_token_parts *z,
                              const void *packed, void *whole, MPI_Request *request) {
    FR_TRY(fr_real_wait(real, request));
    move_all(real, z, z->values, false, packed, whole);
    return FR_OK;
}

fr_status fr_parts_scatter(struct fr_real *real, const struct fr_token_parts *z,
                           const void *whole, void *packed, void *own) {
    move_all(real, z, z->values, true, whole, packed);
    return fr_real_reduce_scatter(real, z->group, packed, own, own_values(z));
}

fr_status fr_parts_from_rows(struct fr_real *real, const struct fr_token_parts *z,
                             const void *rows, void *packed, void *own) {
    move_all(real, z, z->values / z->p, true, rows, packed);
    return fr_real_all_to_all(real, z->group, packed, own_values(z) / z->p, own);
}

fr_status fr_parts_to_rows(struct fr_real *real, const struct fr_token_parts *z,
                           const void *own, void *packed, void *rows) {
    FR_TRY(fr_real_all_to_all(real, z->group, own, own_values(z) / z->p, packed));
    move_all(real, z, z->values / z->p, false, packed, rows);
    return FR_OK;
}

/* ---- buffers --------------------------------------------------------------------------------- */

int64_t fr_block_lay_out(const struct fr_kernels *k, const struct fr_block_part *part, int n,
                         const void *base) {
    const int64_t line = 16;
    int64_t sum = 0;
    for (int i = 0; i < n; i++) {
        if (base) *part[i].at = fr_at(k, base, (size_t)sum);
        sum += (part[i].n + line - 1) / line * line;
    }
    return sum;
}

int64_t fr_block_softmax_size(const struct fr_block_sizes *z) {
    int64_t rows = (int64_t)z->heads * fr_block_tokens(z);
    if (!z->flash) return rows * z->sequence;
    return 2 * rows + (z->cp > 1 && !z->ring ? rows * z->head_dim : 0);
}
