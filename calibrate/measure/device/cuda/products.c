/* Products through cuBLASLt, by the first algorithm that its heuristics offer, as frameworks take it. */
#include <math.h>
#include <string.h>

#include "calibrate/measure/device/cuda/platform.h"

/* Names of the library for a dtype of ours: of operands and the result, which both libraries have in common but for
 * E4M3. */
static const struct format {
    int known;
    cudaDataType_t operand, result;
} formats[FR_DTYPE_COUNT] = {
    [FR_FP64] = {1, FR_BLAS_REAL_FP64, FR_BLAS_REAL_FP64},
    [FR_FP32] = {1, FR_BLAS_REAL_FP32, FR_BLAS_REAL_FP32},
    [FR_TF32] = {1, FR_BLAS_REAL_FP32, FR_BLAS_REAL_FP32},
    [FR_BF16] = {1, FR_BLAS_REAL_BF16, FR_BLAS_REAL_BF16},
    [FR_FP16] = {1, FR_BLAS_REAL_FP16, FR_BLAS_REAL_FP16},
    [FR_FP8] = {1, FR_BLAS_REAL_E4M3, FR_BLAS_REAL_BF16},
    [FR_FP4] = {1, FR_BLAS_REAL_E2M1, FR_BLAS_REAL_BF16},
};

static const char *library_of(const struct fr_device_handle *d) {
    return d->platform->blas_library->name;
}

static cublasComputeType_t sum_of(const struct fr_device_handle *d) {
    const struct fr_blas_numbers *b = &d->platform->blas;
    return (cublasComputeType_t)(d->task.dtype == FR_TF32   ? b->sum_tf32
                                 : d->task.dtype == FR_FP64 ? b->sum_fp64
                                                            : b->sum_fp32);
}

fr_status fr_cuda_blas_check(const struct fr_device_handle *d, cublasStatus_t code,
                             const char *what, struct fr_error *err) {
    const struct fr_device_task *t = &d->task;
    if (code == FR_BLAS_OK) return FR_OK;
    bool lacks = code == (cublasStatus_t)d->platform->blas.not_supported ||
                 code == FR_BLAS_ARCH_MISMATCH;
    return fr_fail(err, lacks ? FR_ERR_UNSUPPORTED : FR_ERR_EXTERNAL, library_of(d),
                   "%s of a %s product %lld x %lld x %lld: code %u%s",
                   fr_gpu_call(d->platform, what), fr_dtype_names[t->dtype], (long long)t->m,
                   (long long)t->n, (long long)t->k, code,
                   lacks ? "" : fr_remedy(d->platform->blas.codes, code));
}

static CUdeviceptr aligned_B(double size_B) {
    return (CUdeviceptr)(ceil(size_B / FR_CUDA_ALIGN_B) * FR_CUDA_ALIGN_B);
}

static double batch_of(const struct fr_device_task *t) {
    return t->batch > 1 ? (double)t->batch : 1;
}

/* How many operand sets fit and are more than twice the cache. */
static fr_status place(struct fr_device_handle *d, struct fr_error *err) {
    const struct fr_device_task *t = &d->task;
    struct fr_cuda_product *p = &d->product;
    double one_B = fr_dtype_size_B(t->dtype) * batch_of(t);
    double a_B = (double)t->m * (double)t->k * one_B, b_B = (double)t->k * (double)t->n * one_B;
    double c_B = (double)t->m * (double)t->n * fr_dtype_saved_B(t->dtype) * batch_of(t);
    p->offset_b_B = aligned_B(a_B);
    p->stride_inputs_B = p->offset_b_B + aligned_B(b_B);
    p->stride_outputs_B = aligned_B(c_B);
    if (p->stride_inputs_B > d->pool_B || p->stride_outputs_B > d->pool_B)
        return fr_fail(err, FR_ERR_UNSUPPORTED, d->facts.name,
                       "has no memory for a %s product %lld x %lld x %lld",
                       fr_dtype_names[t->dtype], (long long)t->m, (long long)t->n,
                       (long long)t->k);
    double fit = fmin((double)d->pool_B / (double)p->stride_inputs_B,
                      (double)d->pool_B / (double)p->stride_outputs_B);
    double wanted = 1 + floor(2 * d->facts.cache_B / (a_B + b_B + c_B));
    p->n_sets = (int)fmin(fmin(floor(fit), wanted), 4096);
    return FR_OK;
}

/* Equal products at once lie one behind the other, @p stride values apart. */
static fr_status repeat(struct fr_device_handle *d, cublasLtMatrixLayout_t layout,
                        int64_t stride, struct fr_error *err) {
    const struct fr_blas_numbers *number = &d->platform->blas;
    const int32_t batch = (int32_t)d->task.batch;
    if (batch <= 1) return FR_OK;
    FR_BLAS_TRY(d, cublasLtMatrixLayoutSetAttribute, layout,
                (cublasLtMatrixLayoutAttribute_t)number->layout_batch, &batch, sizeof batch);
    FR_BLAS_TRY(d, cublasLtMatrixLayoutSetAttribute, layout,
                (cublasLtMatrixLayoutAttribute_t)number->layout_stride, &stride, sizeof stride);
    return FR_OK;
}

/* Row by row is column by column of the transposed: C' = B' A'.  cuBLAS's first operand is our
 * B.  For 8 bits Hopper, and for 4 Blackwell, has one layout alone, the forward pass's; frameworks store gradients'
 * operands both ways. */
static fr_status lay_out(struct fr_device_handle *d, struct fr_error *err) {
    const struct fr_device_task *t = &d->task;
    const struct format *f = &formats[t->dtype];
    struct fr_cuda_product *p = &d->product;
    const struct fr_blas_numbers *number = &d->platform->blas;
    const int yes = number->transposed;
    const cudaDataType_t operand =
        t->dtype == FR_FP8 ? (cudaDataType_t)d->platform->e4m3(d) : f->operand;
    bool narrow = fr_dtype_is_narrow(t->dtype);
    bool b_transposed = narrow || t->transposed == FR_TRANSPOSED_B;
    bool a_transposed = !narrow && t->transposed == FR_TRANSPOSED_A;
    uint64_t m = (uint64_t)t->m, n = (uint64_t)t->n, k = (uint64_t)t->k;
    FR_BLAS_TRY(d, cublasLtMatmulDescCreate, &p->how, sum_of(d),
                t->dtype == FR_FP64 ? FR_BLAS_REAL_FP64 : FR_BLAS_REAL_FP32);
    if (b_transposed)
        FR_BLAS_TRY(d, cublasLtMatmulDescSetAttribute, p->how,
                    (cublasLtMatmulDescAttributes_t)number->set_a_transposed, &yes, sizeof yes);
    if (a_transposed)
        FR_BLAS_TRY(d, cublasLtMatmulDescSetAttribute, p->how,
                    (cublasLtMatmulDescAttributes_t)number->set_b_transposed, &yes, sizeof yes);
    FR_TRY(fr_cuda_product_scales(d, err));
    FR_BLAS_TRY(d, cublasLtMatrixLayoutCreate, &p->b, operand, b_transposed ? k : n,
                b_transposed ? n : k, (int64_t)(b_transposed ? k : n));
    FR_BLAS_TRY(d, cublasLtMatrixLayoutCreate, &p->a, operand, a_transposed ? m : k,
                a_transposed ? k : m, (int64_t)(a_transposed ? m : k));
    FR_BLAS_TRY(d, cublasLtMatrixLayoutCreate, &p->c, f->result, n, m, (int64_t)n);
    FR_TRY(repeat(d, p->a, t->m * t->k, err));
    FR_TRY(repeat(d, p->b, t->k * t->n, err));
    return repeat(d, p->c, t->m * t->n, err);
}

/* The algorithm comes first in the result of both libraries. */
static fr_status take(struct fr_device_handle *d, const cublasLtMatmulHeuristicResult_t *found,
                      int n, struct fr_error *err) {
    const unsigned char *bytes = (const unsigned char *)found;
    cublasStatus_t state = (cublasStatus_t)d->platform->blas.not_supported;
    if (n > 0) memcpy(&state, bytes + d->platform->blas.state_at, sizeof state);
    FR_TRY(fr_cuda_blas_check(d, state, "no algorithm", err));
    d->product.algorithm = found->algo;
    memcpy(&d->product.workspace_B, bytes + d->platform->blas.workspace_at,
           sizeof d->product.workspace_B);
    return FR_OK;
}

static fr_status choose(struct fr_device_handle *d, struct fr_error *err) {
    struct fr_cuda_product *p = &d->product;
    cublasLtMatmulPreference_t preference = NULL;
    cublasLtMatmulHeuristicResult_t found;
    const size_t workspace_B = FR_CUDA_WORKSPACE_B;
    int n = 0;
    FR_BLAS_TRY(d, cublasLtMatmulPreferenceCreate, &preference);
    fr_status status = fr_cuda_blas_check(
        d,
        d->blas.cublasLtMatmulPreferenceSetAttribute(preference, FR_BLAS_PREFERENCE_WORKSPACE,
                                                     &workspace_B, sizeof workspace_B),
        "cublasLtMatmulPreferenceSetAttribute", err);
    if (status == FR_OK)
        status = fr_cuda_blas_check(
            d,
            d->blas.cublasLtMatmulAlgoGetHeuristic(d->blas_handle, p->how, p->b, p->a, p->c,
                                                   p->c, preference, 1, &found, &n),
            "cublasLtMatmulAlgoGetHeuristic", err);
    d->blas.cublasLtMatmulPreferenceDestroy(preference);
    if (status == FR_OK) status = take(d, &found, n, err);
    return status;
}

void fr_cuda_product_release(struct fr_device_handle *d) {
    struct fr_cuda_product *p = &d->product;
    if (p->a) d->blas.cublasLtMatrixLayoutDestroy(p->a);
    if (p->b) d->blas.cublasLtMatrixLayoutDestroy(p->b);
    if (p->c) d->blas.cublasLtMatrixLayoutDestroy(p->c);
    if (p->how) d->blas.cublasLtMatmulDescDestroy(p->how);
    *p = (struct fr_cuda_product){0};
}

fr_status fr_cuda_product_prepare(struct fr_device_handle *d, struct fr_error *err) {
    fr_dtype dtype = d->task.dtype;
    if (!d->blas_handle)
        return fr_fail(err, FR_ERR_UNSUPPORTED, library_of(d),
                       "is not here, so no product is measured");
    if (!formats[dtype].known)
        return fr_fail(err, FR_ERR_UNSUPPORTED, library_of(d),
                       "%s products are not measured yet", fr_dtype_names[dtype]);
    FR_TRY(place(d, err));
    FR_TRY(lay_out(d, err));
    FR_TRY(choose(d, err));
    /* tf32 reads fp32. */
    return fr_cuda_fill(d, dtype == FR_TF32 ? FR_FP32 : dtype, err);
}

fr_status fr_cuda_product_run(struct fr_device_handle *d, int calls, struct fr_error *err) {
    const struct fr_cuda_product *p = &d->product;
    const float one = 1, zero = 0;
    const double wide_one = 1, wide_zero = 0;
    bool wide = d->task.dtype == FR_FP64;
    for (int i = 0; i < calls; i++) {
        CUdeviceptr set = (CUdeviceptr)(i % p->n_sets),
                    a = d->inputs + set * p->stride_inputs_B;
        CUdeviceptr b = a + p->offset_b_B, c = d->outputs + set * p->stride_outputs_B;
        FR_BLAS_TRY(d, cublasLtMatmul, d->blas_handle, p->how,
                    wide ? (const void *)&wide_one : &one, (const void *)(uintptr_t)b, p->b,
                    (const void *)(uintptr_t)a, p->a, wide ? (const void *)&wide_zero : &zero,
                    (const void *)(uintptr_t)c, p->c, (void *)(uintptr_t)c, p->c, &p->algorithm,
                    (void *)(uintptr_t)d->workspace, p->workspace_B, d->stream);
    }
    return FR_OK;
}
