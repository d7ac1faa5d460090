/* The kernels of a simulated run, where nobody looks at the numbers.  A product executes its
 * flop at the host's speed.  Kernels that only pass through memory take no time, as on a
 * machine whose memory is infinitely fast.  Hundreds of ranks are then one process that
 * computes nothing.
 *
 * SimGrid's SMPI alone (forerun-smpi); elsewhere this file is empty. */
#include "calibrate/measure/harness/kernels.h"

#ifdef SMPI_H
#pragma GCC diagnostic ignored "-Wunused-parameter"

static void gemm(bool ta, bool tb, int m, int n, int k, double alpha, const void *a, int lda,
                 const void *b, int ldb, double beta, void *c, int ldc) {
    smpi_execute_flops(2.0 * m * n * k);
}

#define NOTHING(name, ...)                                                                     \
    static void name(__VA_ARGS__) {}
#define ZERO(name, ...)                                                                        \
    static double name(__VA_ARGS__) { return 0; }

NOTHING(bias_relu, int rows, int columns, const void *bias, void *z)
NOTHING(relu_backward, int rows, int columns, const void *y, void *dy, void *dbias)
ZERO(difference, size_t n, const void *y, const void *t, double scale, void *dy)
NOTHING(adam, size_t n, const struct fr_update *u, const void *g, void *m, void *v, void *w)
NOTHING(momentum, size_t n, const struct fr_update *u, const void *g, void *v, void *w)
NOTHING(sgd, size_t n, const struct fr_update *u, const void *g, void *w)
NOTHING(two, size_t n, const void *x, void *y)
NOTHING(bias, int rows, int columns, const void *bias, const void *x, void *y)
NOTHING(scaled, size_t n, double alpha, const void *x, void *y)
ZERO(dot, size_t n, const void *x, const void *y)
NOTHING(row_sums, int rows, int columns, const void *dz, void *dbias)
NOTHING(copy, int rows, int columns, const void *from, int ld_from, void *to, int ld_to)
NOTHING(select_largest, size_t n, size_t selected, const void *x, uint32_t *scratch,
        void *values, uint32_t *places)
NOTHING(scatter_add, size_t n, const void *values, const uint32_t *places, void *x)
NOTHING(see, const struct fr_windows *w, int samples, const void *x, void *columns)
NOTHING(pool_backward, const struct fr_windows *w, int samples, const void *x, const void *dy,
        void *dx)
NOTHING(embed, int features, int tokens, int sequence, int first, int words, const int *input,
        const void *embedding, const void *positions, void *x)
NOTHING(embed_backward, int features, int tokens, int sequence, int first, int words,
        const int *input, const void *dx, void *dembedding, void *dpositions)
NOTHING(norm, int features, int tokens, const void *x, const void *gain, const void *bias,
        void *mean, void *inverse, void *y)
NOTHING(norm_backward, int features, int tokens, const void *x, const void *gain,
        const void *mean, const void *inverse, const void *dy, void *dx, void *dgain,
        void *dbias)
NOTHING(norm_sums, int features, int tokens, const void *x, void *sums)
NOTHING(norm_part, int features, int all, int tokens, const void *x, const void *gain,
        const void *bias, const void *sums, void *mean, void *inverse, void *y)
NOTHING(norm_sums_backward, int features, int tokens, const void *x, const void *gain,
        const void *mean, const void *inverse, const void *dy, void *sums, void *dgain,
        void *dbias)
NOTHING(norm_part_backward, int features, int all, int tokens, const void *x, const void *gain,
        const void *mean, const void *inverse, const void *dy, const void *sums, void *dx)
NOTHING(softmax, int rows, int columns, bool causal, double alpha, void *scores)
NOTHING(softmax_backward, int rows, int columns, double alpha, const void *p, void *dp)
NOTHING(softmax_next, int rows, int columns, bool causal, double alpha, const void *before,
        void *top, void *sum, void *shrink, void *scores)
NOTHING(softmax_end, int rows, int columns, double alpha, const void *top, const void *last,
        const void *sum, void *scores)
NOTHING(softmax_back, int rows, int columns, double alpha, const void *p, const void *inner,
        void *dp)
NOTHING(scale_columns, int rows, int columns, int ld, bool divide, const void *factor, void *x)
NOTHING(column_dots, int rows, int columns, int ld, const void *x, const void *y, void *out)
NOTHING(softmax_part, int classes, int tokens, int first, const int *target, void *logits,
        void *part)
ZERO(cross_entropy, int classes, int tokens, int first, const int *target, double scale,
     int ranks, int rank, const void *parts, void *logits)

void fr_kernels_simulate(struct fr_kernels *k) {
    k->gemm = gemm;
    k->bias_relu = bias_relu;
    k->relu_backward = relu_backward;
    k->difference = difference;
    k->adam = adam;
    k->momentum = momentum;
    k->sgd = sgd;
    k->add = k->relu = k->subtract = two;
    k->bias = bias;
    k->axpy = k->scale = scaled;
    k->dot = dot;
    k->row_sums = row_sums;
    k->copy = copy;
    k->select_largest = select_largest;
    k->scatter_add = scatter_add;
    k->embed = embed;
    k->embed_backward = embed_backward;
    k->see = k->see_backward = k->pool = see;
    k->pool_backward = pool_backward;
    k->norm = norm;
    k->norm_backward = norm_backward;
    k->norm_sums = norm_sums;
    k->norm_part = norm_part;
    k->norm_sums_backward = norm_sums_backward;
    k->norm_part_backward = norm_part_backward;
    k->softmax = softmax;
    k->softmax_backward = softmax_backward;
    k->softmax_next = softmax_next;
    k->softmax_end = softmax_end;
    k->softmax_back = softmax_back;
    k->scale_columns = scale_columns;
    k->column_dots = column_dots;
    k->softmax_part = softmax_part;
    k->cross_entropy = cross_entropy;
}
#else
typedef int nothing_here; /* an empty file is no C */
#endif
