#include "real/apps/mesh/pieces.h"

#include <stdlib.h>

#include "base/alloc.h"

enum { TAG = 1 };

/* Ranks before and behind this one, @p i places away among those that divide tokens. */
static int behind(const struct fr_token_parts *z, int i) { return (z->rank + i) % z->p; }
static int before(const struct fr_token_parts *z, int i) { return (z->rank - i + z->p) % z->p; }

static fr_status open_requests(struct fr_real *real, int n, MPI_Request **request) {
    *request = fr_calloc((size_t)n, sizeof **request);
    if (!*request) return fr_fail(real->err, FR_ERR_NOMEM, NULL, "%d messages", n);
    for (int i = 0; i < n; i++) (*request)[i] = MPI_REQUEST_NULL;
    return FR_OK;
}

/* The product of @p n tokens, rows of which are @p from and @p to values apart. */
static void multiply(struct fr_real *real, const struct fr_piece_product *product, int n,
                     const void *x, int from, void *y, int to) {
    FR_COMPUTE(real, real->k->gemm(product->transposed, false, product->out, n, product->in, 1,
                                   product->w, product->transposed ? product->out : product->in,
                                   x, from, 0, y, to));
}

/* Part @p r of a gather, which is there: multiplied, and put among all tokens. */
static void take(struct fr_real *real, const struct fr_token_parts *z,
                 const struct fr_piece_product *product, int r, const void *part, void *whole,
                 void *y) {
    int n = fr_parts_own(z), all = z->all;
    size_t column = (size_t)(r * n);
    multiply(real, product, n, part, n, fr_at(real->k, y, column), all);
    if (whole)
        FR_COMPUTE(real,
                   real->k->copy(product->in, n, part, n, fr_at(real->k, whole, column), all));
}

static fr_status gather(struct fr_real *real, const struct fr_token_parts *z,
                        const struct fr_piece_product *product, const void *own, void *packed,
                        void *whole, void *y, MPI_Request *request) {
    int p = z->p;
    int64_t values = (int64_t)product->in * fr_parts_own(z);
    for (int i = 1; i < p; i++) {
        void *part = fr_at(real->k, packed, (size_t)(before(z, i) * values));
        FR_TRY(fr_real_receive_begin(real, z->group, before(z, i), TAG, part, values,
                                     &request[i]));
        FR_TRY(fr_real_send_begin(real, z->group, behind(z, i), TAG, own, values,
                                  &request[p + i]));
    }
    take(real, z, product, z->rank, own, whole, y);
    for (int i = 1; i < p; i++) {
        FR_TRY(fr_real_wait(real, &request[i]));
        take(real, z, product, before(z, i),
             fr_at(real->k, packed, (size_t)(before(z, i) * values)), whole, y);
    }
    for (int i = 1; i < p; i++) FR_TRY(fr_real_wait(real, &request[p + i]));
    return FR_OK;
}

fr_status fr_pieces_gather(struct fr_real *real, const struct fr_token_parts *z,
                           const struct fr_piece_product *product, const void *own,
                           void *packed, void *whole, void *y) {
    MPI_Request *request = NULL;
    FR_TRY(open_requests(real, 2 * z->p, &request));
    fr_status status = gather(real, z, product, own, packed, whole, y, request);
    free(request);
    return status;
}

fr_status fr_pieces_scatter_begin(struct fr_real *real, const struct fr_token_parts *z,
                                  const struct fr_piece_product *product, const void *x,
                                  void *pieces, void *sum, struct fr_pieces *sent) {
    int n = fr_parts_own(z), all = z->all;
    int64_t values = (int64_t)product->out * n;
    FR_TRY(open_requests(real, z->p, &sent->request));
    for (int i = 1; i < z->p; i++) {
        int to = behind(z, i);
        void *piece = fr_at(real->k, pieces, (size_t)(to * values));
        multiply(real, product, n, fr_at(real->k, x, (size_t)(to * n)), all, piece, n);
        FR_TRY(fr_real_send_begin(real, z->group, to, TAG, piece, values, &sent->request[i]));
    }
    multiply(real, product, n, fr_at(real->k, x, (size_t)(z->rank * n)), all, sum, n);
    return FR_OK;
}

static fr_status add_arriving(struct fr_real *real, const struct fr_token_parts *z,
                              int64_t values, void *packed, void *sum, MPI_Request *request) {
    for (int i = 1; i < z->p; i++)
        FR_TRY(fr_real_receive_begin(real, z->group, before(z, i), TAG,
                                     fr_at(real->k, packed, (size_t)(i * values)), values,
                                     &request[i]));
    for (int i = 1; i < z->p; i++) {
        FR_TRY(fr_real_wait(real, &request[i]));
        FR_COMPUTE(real, real->k->add((size_t)values,
                                      fr_at(real->k, packed, (size_t)(i * values)), sum));
    }
    return FR_OK;
}

fr_status fr_pieces_scatter_end(struct fr_real *real, const struct fr_token_parts *z,
                                int64_t values, void *packed, void *sum,
                                struct fr_pieces *sent) {
    MPI_Request *request = NULL;
    fr_status status = sent->request ? open_requests(real, z->p, &request) : FR_OK;
    if (status == FR_OK && request)
        status = add_arriving(real, z, values, packed, sum, request);
    for (int i = 1; status == FR_OK && i < z->p; i++)
        status = fr_real_wait(real, &sent->request[i]);
    free(request);
    free(sent->request);
    sent->request = NULL;
    return status;
}
