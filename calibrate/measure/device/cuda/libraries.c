/* NVIDIA's libraries: where they are looked for, what they give; and the list of all platforms'. */
#include "calibrate/measure/device/cuda/hip.h"

#define SYMBOL_OF(table, name) {#name, offsetof(struct table, name)},
#define CUDA_SYMBOL(name, arguments) SYMBOL_OF(fr_cuda_api, name)
#define BLAS_SYMBOL(result, name, arguments) SYMBOL_OF(fr_blas_api, name)
#define DNN_SYMBOL(result, name, arguments) SYMBOL_OF(fr_dnn_api, name)
#define NCCL_SYMBOL(result, name, arguments) SYMBOL_OF(fr_nccl_api, name)
#define NVML_SYMBOL(name, arguments) SYMBOL_OF(fr_nvml_api, name)
static const struct fr_library_symbol driver_symbols[] = {FR_CUDA_FUNCTIONS(CUDA_SYMBOL)},
                                      blas_symbols[] = {FR_BLAS_FUNCTIONS(BLAS_SYMBOL)},
                                      dnn_symbols[] = {FR_DNN_FUNCTIONS(DNN_SYMBOL)},
                                      nccl_symbols[] = {FR_NCCL_FUNCTIONS(NCCL_SYMBOL)},
                                      nvml_symbols[] = {FR_NVML_FUNCTIONS(NVML_SYMBOL)};
static const char *const driver_files[] = {"libcuda.so.1", NULL},
                         *const blas_files[] = {"libcublasLt.so.13", "libcublasLt.so.12",
                                                "/usr/local/cuda/lib64/libcublasLt.so.13",
                                                "/usr/local/cuda/lib64/libcublasLt.so.12",
                                                NULL},
                         *const dnn_files[] = {"libcudnn.so.9",
                                               "/usr/local/cuda/lib64/libcudnn.so.9", NULL},
                         *const nccl_files[] = {"libnccl.so.2", NULL},
                         *const nvml_files[] = {"libnvidia-ml.so.1", NULL};

#define N_OF(list) (sizeof(list) / sizeof *(list))
const struct fr_library fr_cuda_driver_library = {"cuda",
                                                  "CUDA driver",
                                                  driver_files,
                                                  "NVIDIA's GPU driver",
                                                  "GPUs: memory, launches, the host link",
                                                  driver_symbols,
                                                  N_OF(driver_symbols)};
const struct fr_library fr_cuda_blas_library = {
    "cublaslt",
    "cuBLASLt",
    blas_files,
    "the CUDA toolkit, or Python's package nvidia-cublas (set LD_LIBRARY_PATH to its lib "
    "folder)",
    "products of GPUs",
    blas_symbols,
    N_OF(blas_symbols)};
const struct fr_library fr_cuda_dnn_library = {
    "cudnn",
    "cuDNN",
    dnn_files,
    "NVIDIA's cuDNN 9, or Python's package nvidia-cudnn-cu13 (set LD_LIBRARY_PATH to its lib "
    "folder)",
    "attention of GPUs",
    dnn_symbols,
    N_OF(dnn_symbols)};
const struct fr_library fr_cuda_nccl_library = {
    "nccl",
    "NCCL",
    nccl_files,
    "NVIDIA's NCCL 2, or Python's package nvidia-nccl-cu13 (set LD_LIBRARY_PATH to its lib "
    "folder)",
    "collectives of GPUs",
    nccl_symbols,
    N_OF(nccl_symbols)};
const struct fr_library fr_cuda_nvml_library = {"nvml-library",
                                                "NVML",
                                                nvml_files,
                                                "NVIDIA's GPU driver",
                                                "power, energy and clocks of GPUs",
                                                nvml_symbols,
                                                N_OF(nvml_symbols)};

const struct fr_library *const fr_device_libraries[] = {&fr_cuda_driver_library,
                                                        &fr_cuda_blas_library,
                                                        &fr_cuda_dnn_library,
                                                        &fr_cuda_nccl_library,
                                                        &fr_cuda_nvml_library,
                                                        &fr_hip_driver_library,
                                                        &fr_hip_blas_library,
                                                        &fr_hip_rccl_library,
                                                        &fr_hip_compiler_library,
                                                        &fr_hip_smi_library,
                                                        NULL};
