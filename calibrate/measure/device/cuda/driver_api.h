/** @file
 *  The functions that we call of NVIDIA's driver (libcuda), after the CUDA driver API
 *  reference.
 *
 *  Types and constants are ours, so that nothing of CUDA is needed to build; tests/calibrate/cuda_headers.c holds
 *  them against cuda.h where it is installed.
 */
#ifndef FR_CALIBRATE_MEASURE_DEVICE_CUDA_DRIVER_API_H
#define FR_CALIBRATE_MEASURE_DEVICE_CUDA_DRIVER_API_H

#include <stddef.h>

#ifndef FR_DEVICE_REAL_HEADERS
typedef unsigned CUresult, CUdevice_attribute, CUstreamCaptureMode, CUjit_option;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr, cuuint64_t;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
#endif

/* Constants, ours and theirs. */
#define FR_CUDA_CONSTANTS(X)                                                                   \
    X(FR_CUDA_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, 2)                                      \
    X(FR_CUDA_NO_DEVICE, CUDA_ERROR_NO_DEVICE, 100)                                            \
    X(FR_CUDA_UNITS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                             \
    X(FR_CUDA_CACHE_B, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                                  \
    X(FR_CUDA_CLOCK_KHZ, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13)                                   \
    X(FR_CUDA_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                         \
    X(FR_CUDA_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                         \
    X(FR_CUDA_CAPTURE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED, 2)

enum {
#define FR_CUDA_ENUM(ours, theirs, value) ours = (value),
    FR_CUDA_CONSTANTS(FR_CUDA_ENUM)
#undef FR_CUDA_ENUM
};

/* name, arguments; all return a CUresult */
#define FR_CUDA_FUNCTIONS(X)                                                                   \
    X(cuInit, (unsigned))                                                                      \
    X(cuDriverGetVersion, (int *))                                                             \
    X(cuGetErrorName, (CUresult, const char **))                                               \
    X(cuGetErrorString, (CUresult, const char **))                                             \
    X(cuDeviceGetCount, (int *))                                                               \
    X(cuDeviceGet, (CUdevice *, int))                                                          \
    X(cuDeviceGetName, (char *, int, CUdevice))                                                \
    X(cuDeviceGetAttribute, (int *, CUdevice_attribute, CUdevice))                             \
    X(cuDeviceGetPCIBusId, (char *, int, CUdevice))                                            \
    X(cuDeviceTotalMem_v2, (size_t *, CUdevice))                                               \
    X(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))                                       \
    X(cuDevicePrimaryCtxRelease_v2, (CUdevice))                                                \
    X(cuCtxSetCurrent, (CUcontext))                                                            \
    X(cuMemGetInfo_v2, (size_t *, size_t *))                                                   \
    X(cuMemAlloc_v2, (CUdeviceptr *, size_t))                                                  \
    X(cuMemFree_v2, (CUdeviceptr))                                                             \
    X(cuMemAllocHost_v2, (void **, size_t))                                                    \
    X(cuMemFreeHost, (void *))                                                                 \
    X(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t))                                    \
    X(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream))                     \
    X(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream))                           \
    X(cuMemcpyDtoDAsync_v2, (CUdeviceptr, CUdeviceptr, size_t, CUstream))                      \
    X(cuMemsetD32Async, (CUdeviceptr, unsigned, size_t, CUstream))                             \
    X(cuStreamCreate, (CUstream *, unsigned))                                                  \
    X(cuStreamDestroy_v2, (CUstream))                                                          \
    X(cuStreamSynchronize, (CUstream))                                                         \
    X(cuStreamWaitEvent, (CUstream, CUevent, unsigned))                                        \
    X(cuStreamBeginCapture_v2, (CUstream, CUstreamCaptureMode))                                \
    X(cuStreamEndCapture, (CUstream, CUgraph *))                                               \
    X(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, unsigned long long))               \
    X(cuGraphLaunch, (CUgraphExec, CUstream))                                                  \
    X(cuGraphExecDestroy, (CUgraphExec))                                                       \
    X(cuGraphDestroy, (CUgraph))                                                               \
    X(cuEventCreate, (CUevent *, unsigned))                                                    \
    X(cuEventDestroy_v2, (CUevent))                                                            \
    X(cuEventRecord, (CUevent, CUstream))                                                      \
    X(cuEventElapsedTime, (float *, CUevent, CUevent))                                         \
    X(cuModuleLoadDataEx, (CUmodule *, const void *, unsigned, CUjit_option *, void **))       \
    X(cuModuleUnload, (CUmodule))                                                              \
    X(cuModuleGetFunction, (CUfunction *, CUmodule, const char *))                             \
    X(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                       unsigned, CUstream, void **, void **))

struct fr_cuda_api {
#define FR_CUDA_POINTER(name, arguments) CUresult(*name) arguments;
    FR_CUDA_FUNCTIONS(FR_CUDA_POINTER)
#undef FR_CUDA_POINTER
};

#endif
