/** @file
 *  The functions that we call of cuBLASLt, after its API reference; held against cublasLt.h as
 *  driver_api.h says.
 */
#ifndef FR_CALIBRATE_MEASURE_DEVICE_CUDA_BLAS_API_H
#define FR_CALIBRATE_MEASURE_DEVICE_CUDA_BLAS_API_H

#include <stddef.h>
#include <stdint.h>

#include "calibrate/measure/device/cuda/driver_api.h"

#ifndef FR_DEVICE_REAL_HEADERS
typedef unsigned cublasStatus_t, cublasComputeType_t, cudaDataType_t,
    cublasLtMatmulDescAttributes_t, cublasLtMatmulPreferenceAttributes_t,
    cublasLtMatrixLayoutAttribute_t;
typedef struct cublasLtContext *cublasLtHandle_t;
typedef void *cublasLtMatmulDesc_t, *cublasLtMatrixLayout_t, *cublasLtMatmulPreference_t;
typedef CUstream cudaStream_t;
typedef struct {
    uint64_t data[8];
} cublasLtMatmulAlgo_t;
typedef struct {
    cublasLtMatmulAlgo_t algo;
    size_t workspaceSize;
    cublasStatus_t state;
    float wavesCount;
    int reserved[4];
} cublasLtMatmulHeuristicResult_t;
#endif

#define FR_BLAS_CONSTANTS(X)                                                                   \
    X(FR_BLAS_OK, CUBLAS_STATUS_SUCCESS, 0)                                                    \
    X(FR_BLAS_NOT_SUPPORTED, CUBLAS_STATUS_NOT_SUPPORTED, 15)                                  \
    X(FR_BLAS_ARCH_MISMATCH, CUBLAS_STATUS_ARCH_MISMATCH, 8)                                   \
    X(FR_BLAS_TRANSPOSED, CUBLAS_OP_T, 1)                                                      \
    X(FR_BLAS_COMPUTE_FP32, CUBLAS_COMPUTE_32F, 68)                                            \
    X(FR_BLAS_COMPUTE_TF32, CUBLAS_COMPUTE_32F_FAST_TF32, 77)                                  \
    X(FR_BLAS_COMPUTE_FP64, CUBLAS_COMPUTE_64F, 70)                                            \
    X(FR_BLAS_REAL_FP32, CUDA_R_32F, 0)                                                        \
    X(FR_BLAS_REAL_FP64, CUDA_R_64F, 1)                                                        \
    X(FR_BLAS_REAL_FP16, CUDA_R_16F, 2)                                                        \
    X(FR_BLAS_REAL_BF16, CUDA_R_16BF, 14)                                                      \
    X(FR_BLAS_REAL_E4M3, CUDA_R_8F_E4M3, 28)                                                   \
    X(FR_BLAS_REAL_E2M1, CUDA_R_4F_E2M1, 33)                                                   \
    X(FR_BLAS_DESC_SCALE_MODE_A, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, 31)                        \
    X(FR_BLAS_DESC_SCALE_MODE_B, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, 32)                        \
    X(FR_BLAS_SCALE_OF_16, CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3, 1)                        \
    X(FR_BLAS_SCALE_OF_32, CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0, 2)                        \
    X(FR_BLAS_SCALE_OF_128, CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F, 4)                        \
    X(FR_BLAS_SCALE_OF_SQUARE, CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F, 5)                 \
    X(FR_BLAS_LAYOUT_BATCH, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 5)                             \
    X(FR_BLAS_LAYOUT_STRIDE, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 6)                   \
    X(FR_BLAS_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSA, 3)                                     \
    X(FR_BLAS_DESC_TRANSB, CUBLASLT_MATMUL_DESC_TRANSB, 4)                                     \
    X(FR_BLAS_DESC_SCALE_A, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, 17)                          \
    X(FR_BLAS_DESC_SCALE_B, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, 18)                          \
    X(FR_BLAS_DESC_FAST_ACCUM, CUBLASLT_MATMUL_DESC_FAST_ACCUM, 25)                            \
    X(FR_BLAS_PREFERENCE_WORKSPACE, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, 1)

enum {
#define FR_BLAS_ENUM(ours, theirs, value) ours = (value),
    FR_BLAS_CONSTANTS(FR_BLAS_ENUM)
#undef FR_BLAS_ENUM
};

/* result, name, arguments */
#define FR_BLAS_FUNCTIONS(X)                                                                   \
    X(size_t, cublasLtGetVersion, (void))                                                      \
    X(cublasStatus_t, cublasLtCreate, (cublasLtHandle_t *))                                    \
    X(cublasStatus_t, cublasLtDestroy, (cublasLtHandle_t))                                     \
    X(cublasStatus_t, cublasLtMatmulDescCreate,                                                \
      (cublasLtMatmulDesc_t *, cublasComputeType_t, cudaDataType_t))                           \
    X(cublasStatus_t, cublasLtMatmulDescDestroy, (cublasLtMatmulDesc_t))                       \
    X(cublasStatus_t, cublasLtMatmulDescSetAttribute,                                          \
      (cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, const void *, size_t))            \
    X(cublasStatus_t, cublasLtMatrixLayoutCreate,                                              \
      (cublasLtMatrixLayout_t *, cudaDataType_t, uint64_t, uint64_t, int64_t))                 \
    X(cublasStatus_t, cublasLtMatrixLayoutDestroy, (cublasLtMatrixLayout_t))                   \
    X(cublasStatus_t, cublasLtMatrixLayoutSetAttribute,                                        \
      (cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t, const void *, size_t))         \
    X(cublasStatus_t, cublasLtMatmulPreferenceCreate, (cublasLtMatmulPreference_t *))          \
    X(cublasStatus_t, cublasLtMatmulPreferenceDestroy, (cublasLtMatmulPreference_t))           \
    X(cublasStatus_t, cublasLtMatmulPreferenceSetAttribute,                                    \
      (cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t, const void *,         \
       size_t))                                                                                \
    X(cublasStatus_t, cublasLtMatmulAlgoGetHeuristic,                                          \
      (cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, \
       cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int,        \
       cublasLtMatmulHeuristicResult_t *, int *))                                              \
    X(cublasStatus_t, cublasLtMatmul,                                                          \
      (cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *,                     \
       cublasLtMatrixLayout_t, const void *, cublasLtMatrixLayout_t, const void *,             \
       const void *, cublasLtMatrixLayout_t, void *, cublasLtMatrixLayout_t,                   \
       const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t))

struct fr_blas_api {
#define FR_BLAS_POINTER(result, name, arguments) result(*name) arguments;
    FR_BLAS_FUNCTIONS(FR_BLAS_POINTER)
#undef FR_BLAS_POINTER
};

#endif
