#include "real/apps/mesh/rows.h"

#include "real/apps/ffn.h"
#include "real/apps/random.h"

fr_status fr_rows_check(const struct fr_unit *u, struct fr_error *err) {
    return fr_real_divides("a layer's width", u->layer.outputs, "tp", u->tp, err);
}

int64_t fr_rows_parameters(const struct fr_unit *u) { return (int64_t)u->rows * (u->in + 1); }

void fr_rows_fill(const struct fr_real *real, struct fr_unit *u) {
    fr_fill_normal(real->k, real->run->seed, (uint64_t)(FR_STREAM_LAYER + 64 * u->index),
                   (int64_t)u->tp_rank * u->rows, u->rows, 0, u->in, u->in,
                   fr_ffn_deviation(u->in), u->w);
}

/* A bias' gradients, and d where it need not last. */
int64_t fr_rows_scratch(const struct fr_unit *u) { return (int64_t)u->rows * (1 + u->columns); }

/* y, unless it is all of the next unit's input; d, where it must last. */
void fr_rows_keeps(const struct fr_unit *u, int64_t n[3]) {
    int64_t values = (int64_t)u->rows * u->columns;
    n[0] = u->tp > 1 ? values : 0;
    n[1] = u->splits ? values : 0;
    n[2] = 0;
}

static void *biases(const struct fr_real *real, const struct fr_unit *u, const void *block) {
    return fr_at(real->k, block, (size_t)u->rows * (size_t)u->in);
}

fr_status fr_rows_forward(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *saved,
                          void *next) {
    const struct fr_kernels *k = real->k;
    int b = u->columns;
    saved->y = u->tp > 1 ? saved->own[0] : next;
    fr_multiply(real, u->rows, b, u->in, u->w, saved->x, 0, saved->y);
    FR_COMPUTE(real, k->bias_relu(u->rows, b, biases(real, u, u->w), saved->y));
    if (u->tp == 1) return FR_OK;
    return fr_real_all_gather(real, u->group, saved->y, (int64_t)u->rows * b, next);
}

fr_status fr_rows_input(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *saved,
                        double share, void *dx) {
    const struct fr_kernels *k = real->k;
    int b = u->columns;
    fr_unit_relu_backward(real, u, u->rows, saved->y, saved->d, biases(real, u, u->g),
                          u->scratch);
    FR_COMPUTE(real, k->gemm(true, false, u->in, b, u->rows, share, u->w, u->in, saved->d, b, 0,
                             dx, b));
    if (u->tp == 1) return FR_OK;
    return fr_real_all_reduce(real, u->group, dx, (int64_t)u->in * b);
}

void fr_rows_weight(struct fr_real *real, struct fr_unit *u,
                    const struct fr_unit_saved *saved) {
    int b = u->columns;
    fr_add_outer(real, u->rows, b, u->in, saved->d, saved->x, u->weights, u->g);
    u->weights = true;
}

int fr_rows_matrices(const struct fr_real *real, const struct fr_unit *u,
                     struct fr_unit_matrix *out, int capacity) {
    (void)real;
    if (capacity > 0) out[0] = (struct fr_unit_matrix){u->g, u->rows, u->in};
    return 1;
}
