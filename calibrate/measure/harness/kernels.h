/** @file
 *  The arithmetic of the real programs (real/apps), once per number type: a table of kernels
 *  that take untyped buffers, so that a program is written once and runs in fp32 and in fp64.  Row
 *  memory of the harness times some of them, so that what is measured is what is run.
 *
 *  Matrices are row-major.  Activations are stored features x samples: a layer's product is
 *  (outputs x inputs) (inputs x samples), the shape that models/work/method.h prices.  The rows of
 *  one rank are contiguous, so an all-gather over a model axis needs no copy.
 *
 *  Each kernel says what it moves, as FR_ELEMENTWISE_PASSES counts.
 */
#ifndef FR_CALIBRATE_MEASURE_HARNESS_KERNELS_H
#define FR_CALIBRATE_MEASURE_HARNESS_KERNELS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/device/device.h"

/** Adam's constants and the step number t >= 1 (Kingma, Ba, ICLR 2015, algorithm 1). */
struct fr_update {
    double rate, beta1, beta2, epsilon;
    int64_t t;
};

/** Windows over channels of height x width values: rows x columns of them. */
struct fr_windows {
    int channels, height, width, kernel, stride, padding, rows, columns;
};

struct fr_kernels {
    fr_dtype dtype;
    size_t size_B;
    MPI_Datatype mpi;
    /** C (m x n) = alpha op(A) op(B) + beta C; lda, ldb, ldc: values from row to row as stored. */
    void (*gemm)(bool a_transposed, bool b_transposed, int m, int n, int k, double alpha,
                 const void *a, int lda, const void *b, int ldb, double beta, void *c, int ldc);
    /** z := max(0, z + bias), bias[rows] added along each row.  Two passes. */
    void (*bias_relu)(int rows, int columns, const void *bias, void *z);
    /** dy := dy where y > 0, else 0; dbias[rows] := row sums of it.  Three passes. */
    void (*relu_backward)(int rows, int columns, const void *y, void *dy, void *dbias);
    /** dy := scale (y - t).  @return the sum of (y - t)^2.  Three passes. */
    double (*difference)(size_t n, const void *y, const void *t, double scale, void *dy);
    /** Update w from its gradient; 28 bytes a value in fp32 for Adam, 12 for SGD. */
    void (*adam)(size_t n, const struct fr_update *u, const void *g, void *m, void *v, void *w);
    void (*momentum)(size_t n, const struct fr_update *u, const void *g, void *v, void *w);
    void (*sgd)(size_t n, const struct fr_update *u, const void *g, void *w);
    /** y := y + x. */
    void (*add)(size_t n, const void *x, void *y);
    /** y := x + bias along each row, or x alone where bias is NULL; y may be x. */
    void (*bias)(int rows, int columns, const void *bias, const void *x, void *y);
    /** y := y + alpha x. */
    void (*axpy)(size_t n, double alpha, const void *x, void *y);
    /** y := alpha x. */
    void (*scale)(size_t n, double alpha, const void *x, void *y);
    /** y := max(0, x); y may be x. */
    void (*relu)(size_t n, const void *x, void *y);
    /** y := x - y. */
    void (*subtract)(size_t n, const void *x, void *y);
    double (*dot)(size_t n, const void *x, const void *y);
    /** dbias[rows] += row sums of dz. */
    void (*row_sums)(int rows, int columns, const void *dz, void *dbias);
    double (*get)(const void *x, size_t i);
    void (*set)(void *x, size_t i, double value);
    /** Copy a rows x columns part between matrices of different row lengths. */
    void (*copy)(int rows, int columns, const void *from, int ld_from, void *to, int ld_to);
    /* For top-k. */
    /** The @p selected values of x that are largest in magnitude, with their places; of equal ones those
     *  that come last.  Magnitudes are compared by the upper 32 bits of a value, and sorted by radix in
     *  four passes; @p scratch holds 4 n words. */
    void (*select_largest)(size_t n, size_t selected, const void *x, uint32_t *scratch,
                           void *values, uint32_t *places);
    /** x[place] += value. */
    void (*scatter_add)(size_t n, const void *values, const uint32_t *places, void *x);
    /* Also for a convolutional network; channels x height x width values x samples. */
    /** columns, (channels kernel^2) x (positions samples) := what each window sees of x, 0 around it. */
    void (*see)(const struct fr_windows *w, int samples, const void *x, void *columns);
    /** dx += the columns' gradients, each where its value was seen. */
    void (*see_backward)(const struct fr_windows *w, int samples, const void *columns,
                         void *dx);
    /** y := the largest value that each window sees of its channel. */
    void (*pool)(const struct fr_windows *w, int samples, const void *x, void *y);
    /** dx += dy where x is the first of its window's largest. */
    void (*pool_backward)(const struct fr_windows *w, int samples, const void *x,
                          const void *dy, void *dx);
    /* Also for a transformer; features x tokens throughout. */
    /** x (features x tokens) := embedding[input - first] (words x features), 0 for words of other
     *  ranks, plus positions (features x sequence) where they are not NULL. */
    void (*embed)(int features, int tokens, int sequence, int first, int words,
                  const int *input, const void *embedding, const void *positions, void *x);
    /** Gradients of embed are added. */
    void (*embed_backward)(int features, int tokens, int sequence, int first, int words,
                           const int *input, const void *dx, void *dembedding,
                           void *dpositions);
    /** Normalise each token over its features: y := gain (x - mean) / sd + bias; saves mean and
     *  1 / sd, [tokens] each. */
    void (*norm)(int features, int tokens, const void *x, const void *gain, const void *bias,
                 void *mean, void *inverse, void *y);
    /** dx := gradient of norm; dgain, dbias [features] +=. */
    void (*norm_backward)(int features, int tokens, const void *x, const void *gain,
                          const void *mean, const void *inverse, const void *dy, void *dx,
                          void *dgain, void *dbias);
    /* The same of a part of the features, on ranks that add up what each makes of its own. */
    /** sums, 2 x tokens := of each token its values, and their squares. */
    void (*norm_sums)(int features, int tokens, const void *x, void *sums);
    /** norm of features of @p all, from the sums over them. */
    void (*norm_part)(int features, int all, int tokens, const void *x, const void *gain,
                      const void *bias, const void *sums, void *mean, void *inverse, void *y);
    /** sums, 2 x tokens := of each token gain dy, and gain dy times the normalised; dgain, dbias +=. */
    void (*norm_sums_backward)(int features, int tokens, const void *x, const void *gain,
                               const void *mean, const void *inverse, const void *dy,
                               void *sums, void *dgain, void *dbias);
    /** dx := gradient of norm_part, from the sums over all. */
    void (*norm_part_backward)(int features, int all, int tokens, const void *x,
                               const void *gain, const void *mean, const void *inverse,
                               const void *dy, const void *sums, void *dx);
    /** Rows of scores := softmax(alpha scores); with @p causal the entries after the diagonal
     *  get no weight. */
    void (*softmax)(int rows, int columns, bool causal, double alpha, void *scores);
    /** ds := alpha p (dp - sum p dp), row by row; in place over dp. */
    void (*softmax_backward)(int rows, int columns, double alpha, const void *p, void *dp);
    /* The same where the columns come block after block (real/apps/attention/ring.h), [rows] of each. */
    /** scores := exp(alpha (scores - top)), top the largest of a row so far: of @p before, NULL for the
     *  first block, and of this one.  sum := that of all exponentials of the row so far; shrink := what
     *  those before are to be multiplied by.  With @p causal as softmax has it. */
    void (*softmax_next)(int rows, int columns, bool causal, double alpha, const void *before,
                         void *top, void *sum, void *shrink, void *scores);
    /** A block made under @p top becomes weights: times exp(alpha (top - last)) / sum. */
    void (*softmax_end)(int rows, int columns, double alpha, const void *top, const void *last,
                        const void *sum, void *scores);
    /** ds := alpha p (dp - inner), row by row; in place over dp. */
    void (*softmax_back)(int rows, int columns, double alpha, const void *p, const void *inner,
                         void *dp);
    /** x, of rows @p ld apart: each column times its factor, or divided by it. */
    void (*scale_columns)(int rows, int columns, int ld, bool divide, const void *factor,
                          void *x);
    /** out[columns] := sums over rows of x y. */
    void (*column_dots)(int rows, int columns, int ld, const void *x, const void *y, void *out);
    /* Cross-entropy of each token (column) against its class, a rank having classes from @p first
     * on. */
    /** logits := exp(logits - each token's largest); part, 3 x tokens := those largest, the sums of
     *  the exponentials, and the target's logit where the rank has it, else 0. */
    void (*softmax_part)(int classes, int tokens, int first, const int *target, void *logits,
                         void *part);
    /** The exponentials become the gradient of the logits times @p scale, from the parts of all
     *  ranks one after the other.  @return the summed loss. */
    double (*cross_entropy)(int classes, int tokens, int first, const int *target, double scale,
                            int ranks, int rank, const void *parts, void *logits);
};

/** The table for fp32 or fp64; NULL for a type that no CPU product here computes in. */
const struct fr_kernels *fr_kernels_of(fr_dtype dtype);

#ifdef SMPI_H
/** Under SimGrid's SMPI: products become their flop, what only touches memory is left out. */
void fr_kernels_simulate(struct fr_kernels *kernels);
#endif

/** Entry @p i of a buffer. */
static inline void *fr_at(const struct fr_kernels *k, const void *buffer, size_t i) {
    return (char *)(uintptr_t)buffer + i * k->size_B;
}

#endif
