/** @file
 *  The fake libraries of NVIDIA under AMD's names and numbers, so that both keep the laws of fake_cuda/fake.h.  Environment
 *  variables are those of fake.h, calls in them AMD's. */
#ifndef FR_TESTS_CALIBRATE_FAKE_HIP_NAMES_H
#define FR_TESTS_CALIBRATE_FAKE_HIP_NAMES_H

#include "calibrate/measure/device/cuda/hip_api.h"
#include "tests/calibrate/fake_cuda/fake.h"

#define cuInit hipInit
#define cuDriverGetVersion hipDriverGetVersion
#define cuGetErrorName hipDrvGetErrorName
#define cuGetErrorString hipDrvGetErrorString
#define cuDeviceGetCount hipGetDeviceCount
#define cuDeviceGet hipDeviceGet
#define cuDeviceGetName hipDeviceGetName
#define cuDeviceGetAttribute hipDeviceGetAttribute
#define cuDeviceGetPCIBusId hipDeviceGetPCIBusId
#define cuDeviceTotalMem_v2 hipDeviceTotalMem
#define cuDevicePrimaryCtxRetain hipDevicePrimaryCtxRetain
#define cuDevicePrimaryCtxRelease_v2 hipDevicePrimaryCtxRelease
#define cuCtxSetCurrent hipCtxSetCurrent
#define cuMemGetInfo_v2 hipMemGetInfo
#define cuMemAlloc_v2 hipMalloc
#define cuMemFree_v2 hipFree
#define cuMemAllocHost_v2 hipMemAllocHost
#define cuMemFreeHost hipHostFree
#define cuMemcpyHtoD_v2 hipMemcpyHtoD
#define cuMemcpyHtoDAsync_v2 hipMemcpyHtoDAsync
#define cuMemcpyDtoHAsync_v2 hipMemcpyDtoHAsync
#define cuMemcpyDtoDAsync_v2 hipMemcpyDtoDAsync
#define cuMemsetD32Async hipMemsetD32Async
#define cuStreamCreate hipStreamCreateWithFlags
#define cuStreamDestroy_v2 hipStreamDestroy
#define cuStreamSynchronize hipStreamSynchronize
#define cuStreamWaitEvent hipStreamWaitEvent
#define cuStreamBeginCapture_v2 hipStreamBeginCapture
#define cuStreamEndCapture hipStreamEndCapture
#define cuGraphInstantiateWithFlags hipGraphInstantiateWithFlags
#define cuGraphLaunch hipGraphLaunch
#define cuGraphExecDestroy hipGraphExecDestroy
#define cuGraphDestroy hipGraphDestroy
#define cuEventCreate hipEventCreateWithFlags
#define cuEventDestroy_v2 hipEventDestroy
#define cuEventRecord hipEventRecord
#define cuEventElapsedTime hipEventElapsedTime
#define cuModuleLoadDataEx hipModuleLoadDataEx
#define cuModuleUnload hipModuleUnload
#define cuModuleGetFunction hipModuleGetFunction
#define cuLaunchKernel hipModuleLaunchKernel
#define FR_CUDA_UNITS FR_HIP_UNITS
#define FR_CUDA_CACHE_B FR_HIP_CACHE_B
#define FR_CUDA_CLOCK_KHZ FR_HIP_CLOCK_RATE
#define FR_CUDA_MAJOR FR_HIP_MAJOR

#define cublasLtCreate hipblasLtCreate
#define cublasLtDestroy hipblasLtDestroy
#define cublasLtGetVersion hipblasLtVersionOfTheFake
#define cublasLtMatrixLayoutSetAttribute hipblasLtMatrixLayoutSetAttribute
#define cublasLtMatmulDescCreate hipblasLtMatmulDescCreate
#define cublasLtMatmulDescDestroy hipblasLtMatmulDescDestroy
#define cublasLtMatmulDescSetAttribute hipblasLtMatmulDescSetAttribute
#define cublasLtMatrixLayoutCreate hipblasLtMatrixLayoutCreate
#define cublasLtMatrixLayoutDestroy hipblasLtMatrixLayoutDestroy
#define cublasLtMatmulPreferenceCreate hipblasLtMatmulPreferenceCreate
#define cublasLtMatmulPreferenceDestroy hipblasLtMatmulPreferenceDestroy
#define cublasLtMatmulPreferenceSetAttribute hipblasLtMatmulPreferenceSetAttribute
#define cublasLtMatmulAlgoGetHeuristic hipblasLtMatmulAlgoGetHeuristic
#define cublasLtMatmul hipblasLtMatmul
#define FR_BLAS_REAL_E4M3 FR_HIP_E4M3_FNUZ
#define FR_BLAS_COMPUTE_TF32 FR_HIPBLAS_SUM_TF32
#define FR_BLAS_DESC_TRANSA FR_HIPBLASLT_TRANSA
#define FR_BLAS_DESC_TRANSB FR_HIPBLASLT_TRANSB
#define FR_BLAS_DESC_SCALE_A FR_HIPBLASLT_SCALE_A
#define FR_BLAS_DESC_SCALE_B FR_HIPBLASLT_SCALE_B
#define FR_BLAS_LAYOUT_BATCH FR_HIPBLASLT_LAYOUT_BATCH
#define FR_BLAS_LAYOUT_STRIDE FR_HIPBLASLT_LAYOUT_STRIDE
#define FR_BLAS_NOT_SUPPORTED FR_HIPBLAS_NOT_SUPPORTED
typedef struct {
    uint64_t algorithm[3];
    size_t workspaceSize;
    cublasStatus_t state;
    float wavesCount;
    int reserved[4];
} hipblasLtMatmulHeuristicResult_t;
#define cublasLtMatmulHeuristicResult_t hipblasLtMatmulHeuristicResult_t

#endif
