/* Our signatures, types and constants of CUDA against NVIDIA's headers: it compiles, or they differ. */
#include <cuda.h>

#include <cublasLt.h>

#define FR_DEVICE_REAL_HEADERS
#include "calibrate/measure/device/cuda/blas_api.h"

#define SAME_TYPE(type, name)                                                                  \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&(name)), type), #name)
#define CUDA_CHECK(name, arguments) SAME_TYPE(CUresult(*) arguments, name);
#define BLAS_CHECK(result, name, arguments) SAME_TYPE(result(*) arguments, name);
#define CONSTANT_CHECK(ours, theirs, value) _Static_assert((long)(theirs) == (value), #theirs);
FR_CUDA_FUNCTIONS(CUDA_CHECK)
FR_BLAS_FUNCTIONS(BLAS_CHECK)
FR_CUDA_CONSTANTS(CONSTANT_CHECK)
FR_BLAS_CONSTANTS(CONSTANT_CHECK)
#if __has_include(<cudnn_graph.h>)
#include <cudnn_graph.h>

#include "calibrate/measure/device/cuda/dnn_api.h"
#define DNN_CHECK(result, name, arguments) SAME_TYPE(result(*) arguments, name);
FR_DNN_FUNCTIONS(DNN_CHECK)
FR_DNN_CONSTANTS(CONSTANT_CHECK)
_Static_assert(sizeof(cudnnStatus_t) == 4 && sizeof(cudnnBackendDescriptorType_t) == 4 &&
                   sizeof(cudnnBackendAttributeName_t) == 4 &&
                   sizeof(cudnnBackendAttributeType_t) == 4,
               "codes are 32 bits");
#endif
#if __has_include(<nccl.h>)
#include <nccl.h>

#include "calibrate/measure/device/cuda/nccl_api.h"
#define NCCL_CHECK(result, name, arguments) SAME_TYPE(result(*) arguments, name);
FR_NCCL_FUNCTIONS(NCCL_CHECK)
FR_NCCL_CONSTANTS(CONSTANT_CHECK)
_Static_assert(sizeof(ncclResult_t) == 4 && sizeof(ncclDataType_t) == 4 &&
                   sizeof(ncclRedOp_t) == 4 && sizeof(ncclUniqueId) == 128,
               "codes are 32 bits, a name 128 bytes");
#endif
/* Our own declarations take them for these. */
_Static_assert(sizeof(CUresult) == 4 && sizeof(CUdevice_attribute) == 4, "codes are 32 bits");
_Static_assert(sizeof(CUdevice) == 4 && sizeof(CUdeviceptr) == 8, "a device, a place");
_Static_assert(sizeof(cublasStatus_t) == 4 && sizeof(cudaDataType_t) == 4, "codes are 32 bits");
_Static_assert(sizeof(cublasLtMatmulAlgo_t) == 64, "an algorithm");
_Static_assert(sizeof(cublasLtMatmulHeuristicResult_t) == 96 &&
                   offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize) == 64 &&
                   offsetof(cublasLtMatmulHeuristicResult_t, state) == 72,
               "a heuristic's result");
