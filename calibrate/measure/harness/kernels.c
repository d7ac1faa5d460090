#include "calibrate/measure/harness/kernels.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* Partial results that a compiler may keep in vector registers; they are joined in one order. */
enum { LANES = 8 };
/* Tokens of a cross-entropy that are worked on at once. */
enum { COLUMNS = 64 };

/* exp in fp32 by a polynomial after Cephes (Moshier, 1989), without a branch or a call, so that
 * compilers vectorise a softmax; two units in the last place.  Arguments at most 0 here. */
static inline float exponential(float x) {
    union {
        int32_t i;
        float f;
    } power;
    float clipped = x < -87.0f ? -87.0f : x;
    float scaled = clipped * 1.44269504088896341f;
    int32_t n = (int32_t)(scaled - 0.5f); /* to the nearest: the argument is not positive */
    float whole = (float)n, r = clipped - whole * 0.693359375f - whole * -2.12194440e-4f;
    float y = 1.9875691500e-4f;
    y = y * r + 1.3981999507e-3f;
    y = y * r + 8.3334519073e-3f;
    y = y * r + 4.1665795894e-2f;
    y = y * r + 1.6666665459e-1f;
    y = y * r + 5.0000001201e-1f;
    power.i = (n + 127) << 23;
    return (y * r * r + r + 1) * power.f;
}

#define REAL float
#define SQRT sqrtf
#define EXP exponential
#define GEMM cblas_sgemm
#define NAME(x) x##_fp32
#include "calibrate/measure/harness/kernels/typed.h"
#undef REAL
#undef SQRT
#undef EXP
#undef GEMM
#undef NAME

#define REAL double
#define SQRT sqrt
#define EXP exp
#define GEMM cblas_dgemm
#define NAME(x) x##_fp64
#include "calibrate/measure/harness/kernels/typed.h"

#define TABLE(suffix, type, bytes, mpi_type)                                                   \
    {                                                                                          \
        .dtype = type, .size_B = bytes, .mpi = mpi_type, .gemm = gemm_##suffix,                \
        .bias_relu = bias_relu_##suffix, .relu_backward = relu_backward_##suffix,              \
        .difference = difference_##suffix, .adam = adam_##suffix,                              \
        .momentum = momentum_##suffix, .sgd = sgd_##suffix, .add = add_##suffix,               \
        .bias = bias_##suffix, .axpy = axpy_##suffix, .scale = scale_##suffix,                 \
        .relu = relu_##suffix, .subtract = subtract_##suffix, .dot = dot_##suffix,             \
        .row_sums = row_sums_##suffix, .get = get_##suffix, .set = set_##suffix,               \
        .copy = copy_##suffix, .select_largest = select_largest_##suffix,                      \
        .scatter_add = scatter_add_##suffix, .see = see_##suffix,                              \
        .see_backward = see_backward_##suffix, .pool = pool_##suffix,                          \
        .pool_backward = pool_backward_##suffix, .embed = embed_##suffix,                      \
        .embed_backward = embed_backward_##suffix, .norm = norm_##suffix,                      \
        .norm_backward = norm_backward_##suffix, .norm_sums = norm_sums_##suffix,              \
        .norm_part = norm_part_##suffix, .norm_sums_backward = norm_sums_backward_##suffix,    \
        .norm_part_backward = norm_part_backward_##suffix, .softmax = softmax_##suffix,        \
        .softmax_backward = softmax_backward_##suffix, .softmax_next = softmax_next_##suffix,  \
        .softmax_end = softmax_end_##suffix, .softmax_back = softmax_back_##suffix,            \
        .scale_columns = scale_columns_##suffix, .column_dots = column_dots_##suffix,          \
        .softmax_part = softmax_part_##suffix, .cross_entropy = cross_entropy_##suffix,        \
    }

const struct fr_kernels *fr_kernels_of(fr_dtype dtype) {
    /* Not const objects at file scope: MPI_FLOAT is an address in some MPIs, a number in others,
     * and a constant expression in neither by the standard. */
    static struct fr_kernels fp32, fp64;
    fp32 = (struct fr_kernels)TABLE(fp32, FR_FP32, sizeof(float), MPI_FLOAT);
    fp64 = (struct fr_kernels)TABLE(fp64, FR_FP64, sizeof(double), MPI_DOUBLE);
#ifdef SMPI_H
    fr_kernels_simulate(&fp32);
    fr_kernels_simulate(&fp64);
#endif
    return dtype == FR_FP32 ? &fp32 : dtype == FR_FP64 ? &fp64 : NULL;
}
