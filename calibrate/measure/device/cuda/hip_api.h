/** @file
 *  AMD's names for the functions of driver_api.h and blas_api.h, and the libraries that have no kin there: HIPRTC, which
 *  compiles kernels.cu, and AMD SMI.
 *
 *  Nothing here is compiled against AMD's headers, which are not at hand when Forerun is built: libraries of our own alone
 *  test it, with the same numbers.  Signatures and numbers were compared by eye:
 *    HIP's functions and attributes      with the header of HIP 6.2
 *    HIPRTC, hipBLASLt's attributes, OP_T, sums, fp8 types, the energy counter of AMD SMI
 *                                        with bindings by others for ROCm 6.0 to 7.2, not with the headers themselves
 *    memory and the start of AMD SMI     with nothing
 *  E4M3 is of ROCm 6.3 and later.  Pointers of other types are as wide.
 */
#ifndef FR_CALIBRATE_MEASURE_DEVICE_CUDA_HIP_API_H
#define FR_CALIBRATE_MEASURE_DEVICE_CUDA_HIP_API_H

#include <stdint.h>

#include "calibrate/measure/device/cuda/driver_api.h"

/* ours, AMD's */
#define FR_HIP_FUNCTIONS(X)                                                                    \
    X(cuInit, hipInit)                                                                         \
    X(cuDriverGetVersion, hipDriverGetVersion)                                                 \
    X(cuGetErrorName, hipDrvGetErrorName)                                                      \
    X(cuGetErrorString, hipDrvGetErrorString)                                                  \
    X(cuDeviceGetCount, hipGetDeviceCount)                                                     \
    X(cuDeviceGet, hipDeviceGet)                                                               \
    X(cuDeviceGetName, hipDeviceGetName)                                                       \
    X(cuDeviceGetAttribute, hipDeviceGetAttribute)                                             \
    X(cuDeviceGetPCIBusId, hipDeviceGetPCIBusId)                                               \
    X(cuDeviceTotalMem_v2, hipDeviceTotalMem)                                                  \
    X(cuDevicePrimaryCtxRetain, hipDevicePrimaryCtxRetain)                                     \
    X(cuDevicePrimaryCtxRelease_v2, hipDevicePrimaryCtxRelease)                                \
    X(cuCtxSetCurrent, hipCtxSetCurrent)                                                       \
    X(cuMemGetInfo_v2, hipMemGetInfo)                                                          \
    X(cuMemAlloc_v2, hipMalloc)                                                                \
    X(cuMemFree_v2, hipFree)                                                                   \
    X(cuMemAllocHost_v2, hipMemAllocHost)                                                      \
    X(cuMemFreeHost, hipHostFree)                                                              \
    X(cuMemcpyHtoD_v2, hipMemcpyHtoD)                                                          \
    X(cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync)                                                \
    X(cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync)                                                \
    X(cuMemcpyDtoDAsync_v2, hipMemcpyDtoDAsync)                                                \
    X(cuMemsetD32Async, hipMemsetD32Async)                                                     \
    X(cuStreamCreate, hipStreamCreateWithFlags)                                                \
    X(cuStreamDestroy_v2, hipStreamDestroy)                                                    \
    X(cuStreamSynchronize, hipStreamSynchronize)                                               \
    X(cuStreamWaitEvent, hipStreamWaitEvent)                                                   \
    X(cuStreamBeginCapture_v2, hipStreamBeginCapture)                                          \
    X(cuStreamEndCapture, hipStreamEndCapture)                                                 \
    X(cuGraphInstantiateWithFlags, hipGraphInstantiateWithFlags)                               \
    X(cuGraphLaunch, hipGraphLaunch)                                                           \
    X(cuGraphExecDestroy, hipGraphExecDestroy)                                                 \
    X(cuGraphDestroy, hipGraphDestroy)                                                         \
    X(cuEventCreate, hipEventCreateWithFlags)                                                  \
    X(cuEventDestroy_v2, hipEventDestroy)                                                      \
    X(cuEventRecord, hipEventRecord)                                                           \
    X(cuEventElapsedTime, hipEventElapsedTime)                                                 \
    X(cuModuleLoadDataEx, hipModuleLoadDataEx)                                                 \
    X(cuModuleUnload, hipModuleUnload)                                                         \
    X(cuModuleGetFunction, hipModuleGetFunction)                                               \
    X(cuLaunchKernel, hipModuleLaunchKernel)

/* All but cublasLtGetVersion, whose kin takes a handle. */
#define FR_HIPBLASLT_FUNCTIONS(X)                                                              \
    X(cublasLtCreate, hipblasLtCreate)                                                         \
    X(cublasLtDestroy, hipblasLtDestroy)                                                       \
    X(cublasLtMatmulDescCreate, hipblasLtMatmulDescCreate)                                     \
    X(cublasLtMatmulDescDestroy, hipblasLtMatmulDescDestroy)                                   \
    X(cublasLtMatmulDescSetAttribute, hipblasLtMatmulDescSetAttribute)                         \
    X(cublasLtMatrixLayoutCreate, hipblasLtMatrixLayoutCreate)                                 \
    X(cublasLtMatrixLayoutDestroy, hipblasLtMatrixLayoutDestroy)                               \
    X(cublasLtMatrixLayoutSetAttribute, hipblasLtMatrixLayoutSetAttribute)                     \
    X(cublasLtMatmulPreferenceCreate, hipblasLtMatmulPreferenceCreate)                         \
    X(cublasLtMatmulPreferenceDestroy, hipblasLtMatmulPreferenceDestroy)                       \
    X(cublasLtMatmulPreferenceSetAttribute, hipblasLtMatmulPreferenceSetAttribute)             \
    X(cublasLtMatmulAlgoGetHeuristic, hipblasLtMatmulAlgoGetHeuristic)                         \
    X(cublasLtMatmul, hipblasLtMatmul)

typedef struct _hiprtcProgram *hiprtcProgram;

/* name, arguments; all return 0 when all is well */
#define FR_HIPRTC_FUNCTIONS(X)                                                                 \
    X(hiprtcCreateProgram,                                                                     \
      (hiprtcProgram *, const char *, const char *, int, const char **, const char **))        \
    X(hiprtcCompileProgram, (hiprtcProgram, int, const char **))                               \
    X(hiprtcGetCodeSize, (hiprtcProgram, size_t *))                                            \
    X(hiprtcGetCode, (hiprtcProgram, char *))                                                  \
    X(hiprtcDestroyProgram, (hiprtcProgram *))

typedef void *amdsmi_processor_handle;
typedef union {
    uint64_t as_uint; /* function: 3 bits, device: 5, bus: 8, domain */
} amdsmi_bdf_t;

#define FR_AMDSMI_FUNCTIONS(X)                                                                 \
    X(amdsmi_init, (uint64_t))                                                                 \
    X(amdsmi_shut_down, (void))                                                                \
    X(amdsmi_get_processor_handle_from_bdf, (amdsmi_bdf_t, amdsmi_processor_handle *))         \
    X(amdsmi_get_energy_count, (amdsmi_processor_handle, uint64_t *, float *, uint64_t *))     \
    X(amdsmi_get_gpu_memory_total, (amdsmi_processor_handle, unsigned, uint64_t *))            \
    X(amdsmi_get_gpu_memory_usage, (amdsmi_processor_handle, unsigned, uint64_t *))

enum {
    FR_HIP_CLOCK_RATE = 5, /* of hipDeviceAttribute_t */
    FR_HIP_CACHE_B = 19,
    FR_HIP_MAJOR = 23,
    FR_HIP_MINOR = 61,
    FR_HIP_UNITS = 63,
    FR_HIPBLAS_TRANSPOSED = 112,
    FR_HIPBLAS_SUM_FP32 = 2,
    FR_HIPBLAS_SUM_TF32 = 6,
    FR_HIPBLAS_SUM_FP64 = 7,
    FR_HIPBLAS_NOT_SUPPORTED = 7,
    FR_HIPBLASLT_TRANSA = 0,
    FR_HIPBLASLT_TRANSB = 1,
    FR_HIPBLASLT_SCALE_A = 5,
    FR_HIPBLASLT_SCALE_B = 6,
    FR_HIPBLASLT_LAYOUT_BATCH = 0,
    FR_HIPBLASLT_LAYOUT_STRIDE = 1,
    FR_HIPBLASLT_WORKSPACE_AT = 24, /* behind 16 bytes and a size */
    FR_HIPBLASLT_STATE_AT = 32,
    FR_HIP_E4M3 = 28,
    FR_HIP_E4M3_FNUZ = 1000, /* of MI300: one exponent less, no negative zero */
    FR_AMDSMI_GPUS = 2,      /* to amdsmi_init */
    FR_AMDSMI_VRAM = 0
};

#define FR_HIP_POINTER(name, arguments) unsigned(*name) arguments;
struct fr_hiprtc_api {
    FR_HIPRTC_FUNCTIONS(FR_HIP_POINTER)
};
struct fr_amdsmi_api {
    FR_AMDSMI_FUNCTIONS(FR_HIP_POINTER)
};
#undef FR_HIP_POINTER

#endif
