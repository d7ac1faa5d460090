/* Scales of narrow operands.  At 8 bits one a tensor, or one a block; at 4 one a block.  All are 1, since a product
 * takes as long whatever they are. */
#include <math.h>

#include "calibrate/measure/device/cuda/platform.h"

static fr_status set(struct fr_device_handle *d, int attribute, const void *value,
                     size_t size_B, struct fr_error *err) {
    FR_BLAS_TRY(d, cublasLtMatmulDescSetAttribute, d->product.how,
                (cublasLtMatmulDescAttributes_t)attribute, value, size_B);
    return FR_OK;
}

static fr_status scale_tensors(struct fr_device_handle *d, struct fr_error *err) {
    const struct fr_blas_numbers *number = &d->platform->blas;
    const signed char fast = 1;
    CUdeviceptr b_scale = d->scales, a_scale = d->scales + FR_CUDA_ALIGN_B;
    FR_TRY(set(d, number->set_a_scale, &b_scale, sizeof b_scale, err));
    FR_TRY(set(d, number->set_b_scale, &a_scale, sizeof a_scale, err));
    return number->set_fast_sum < 0 ? FR_OK
                                    : set(d, number->set_fast_sum, &fast, sizeof fast, err);
}

/* Kinds of block scales: of both operands, as the library counts them; 1 as it is stored, four bytes of it; and over how
 * many values of the inner dimension, in how many bytes. */
struct kind {
    int mode[2];
    unsigned ones;
    double values, scale_B;
};
static const struct kind
    nvfp4 = {{FR_BLAS_SCALE_OF_16, FR_BLAS_SCALE_OF_16},
             0x38383838, /* of E4M3 */
             16,
             1},
    mxfp8 = {{FR_BLAS_SCALE_OF_32, FR_BLAS_SCALE_OF_32},
             0x7f7f7f7f, /* of E8M0 */
             32,
             1},
    /* Weights, which are the library's first operand, in squares; tokens in rows of 128. */
    squares = {
        {FR_BLAS_SCALE_OF_SQUARE, FR_BLAS_SCALE_OF_128}, 0x3f800000 /* of fp32 */, 128, 4};
enum { BLACKWELL = 100, HOPPER = 90 };

static const struct kind *kind_of(const struct fr_device_handle *d) {
    if (!d->platform->scales_blocks) return NULL;
    if (d->task.dtype == FR_FP4) return &nvfp4;
    return d->facts.generation >= BLACKWELL ? &mxfp8
           : d->facts.generation >= HOPPER  ? &squares
                                            : NULL;
}

static fr_status fill(struct fr_device_handle *d, unsigned ones, struct fr_error *err) {
    if (!d->block_scales)
        FR_CUDA_TRY(d, cuMemAlloc_v2, &d->block_scales, FR_CUDA_BLOCK_SCALES_B);
    if (d->ones == ones) return FR_OK;
    d->ones = 0;
    FR_CUDA_TRY(d, cuMemsetD32Async, d->block_scales, ones, FR_CUDA_BLOCK_SCALES_B / 4,
                d->stream);
    d->ones = ones;
    return FR_OK;
}

/* A library of before the scales does not know the attribute. */
static fr_status set_mode(struct fr_device_handle *d, int attribute, const int *mode,
                          struct fr_error *err) {
    unsigned code = d->blas.cublasLtMatmulDescSetAttribute(
        d->product.how, (cublasLtMatmulDescAttributes_t)attribute, mode, sizeof *mode);
    if (code == FR_BLAS_OK) return FR_OK;
    return fr_fail(err, FR_ERR_UNSUPPORTED, d->platform->blas_library->name,
                   "has no scales of blocks of %s: code %u", fr_dtype_names[d->task.dtype],
                   code);
}

static fr_status scale_blocks(struct fr_device_handle *d, struct fr_error *err) {
    const struct fr_device_task *t = &d->task;
    const struct kind *kind = kind_of(d);
    if (!kind)
        return fr_fail(err, FR_ERR_UNSUPPORTED, d->platform->blas_library->name,
                       "%s products with scales of blocks are not measured on this device",
                       fr_dtype_names[t->dtype]);
    /* Tiles of 128 rows and 4 scales are whole. */
    double rows = ceil(fmax((double)t->m, (double)t->n) / 128) * 128,
           scales = ceil((double)t->k / (4 * kind->values)) * 4;
    if (rows * scales * kind->scale_B > FR_CUDA_BLOCK_SCALES_B)
        return fr_fail(err, FR_ERR_UNSUPPORTED, d->facts.name, "has no memory for scales");
    FR_TRY(fill(d, kind->ones, err));
    FR_TRY(set_mode(d, FR_BLAS_DESC_SCALE_MODE_A, &kind->mode[0], err));
    FR_TRY(set_mode(d, FR_BLAS_DESC_SCALE_MODE_B, &kind->mode[1], err));
    FR_TRY(
        set(d, d->platform->blas.set_a_scale, &d->block_scales, sizeof d->block_scales, err));
    return set(d, d->platform->blas.set_b_scale, &d->block_scales, sizeof d->block_scales, err);
}

fr_status fr_cuda_product_scales(struct fr_device_handle *d, struct fr_error *err) {
    if (d->task.dtype == FR_FP4 || d->task.blocks) return scale_blocks(d, err);
    return d->task.dtype == FR_FP8 ? scale_tensors(d, err) : FR_OK;
}
