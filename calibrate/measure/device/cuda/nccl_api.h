/** @file
 *  The functions that we call of NCCL, after its API reference; held against nccl.h as driver_api.h says.  RCCL has the
 *  same names.
 */
#ifndef FR_CALIBRATE_MEASURE_DEVICE_CUDA_NCCL_API_H
#define FR_CALIBRATE_MEASURE_DEVICE_CUDA_NCCL_API_H

#include <stddef.h>

#include "calibrate/measure/device/cuda/blas_api.h"

#ifndef FR_DEVICE_REAL_HEADERS
typedef unsigned ncclResult_t, ncclDataType_t, ncclRedOp_t;
typedef struct ncclComm *ncclComm_t;
typedef struct {
    char internal[128];
} ncclUniqueId;
#endif

#define FR_NCCL_CONSTANTS(X)                                                                   \
    X(FR_NCCL_OK, ncclSuccess, 0)                                                              \
    X(FR_NCCL_FLOAT, ncclFloat32, 7)                                                           \
    X(FR_NCCL_SUM, ncclSum, 0)                                                                 \
    X(FR_NCCL_ID_B, NCCL_UNIQUE_ID_BYTES, 128)

enum {
#define FR_NCCL_ENUM(ours, theirs, value) ours = (value),
    FR_NCCL_CONSTANTS(FR_NCCL_ENUM)
#undef FR_NCCL_ENUM
};

/* result, name, arguments */
#define FR_NCCL_FUNCTIONS(X)                                                                   \
    X(ncclResult_t, ncclGetVersion, (int *))                                                   \
    X(const char *, ncclGetErrorString, (ncclResult_t))                                        \
    X(ncclResult_t, ncclGetUniqueId, (ncclUniqueId *))                                         \
    X(ncclResult_t, ncclCommInitRank, (ncclComm_t *, int, ncclUniqueId, int))                  \
    X(ncclResult_t, ncclCommDestroy, (ncclComm_t))                                             \
    X(ncclResult_t, ncclCommGetAsyncError, (ncclComm_t, ncclResult_t *))                       \
    X(ncclResult_t, ncclGroupStart, (void))                                                    \
    X(ncclResult_t, ncclGroupEnd, (void))                                                      \
    X(ncclResult_t, ncclBroadcast,                                                             \
      (const void *, void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t))           \
    X(ncclResult_t, ncclReduce,                                                                \
      (const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, int, ncclComm_t,             \
       cudaStream_t))                                                                          \
    X(ncclResult_t, ncclAllReduce,                                                             \
      (const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t))   \
    X(ncclResult_t, ncclAllGather,                                                             \
      (const void *, void *, size_t, ncclDataType_t, ncclComm_t, cudaStream_t))                \
    X(ncclResult_t, ncclReduceScatter,                                                         \
      (const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t))   \
    X(ncclResult_t, ncclSend,                                                                  \
      (const void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t))                   \
    X(ncclResult_t, ncclRecv, (void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t))

struct fr_nccl_api {
#define FR_NCCL_POINTER(result, name, arguments) result(*name) arguments;
    FR_NCCL_FUNCTIONS(FR_NCCL_POINTER)
#undef FR_NCCL_POINTER
};

#endif
