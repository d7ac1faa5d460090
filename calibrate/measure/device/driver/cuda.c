/* NVIDIA GPUs: the driver (libcuda), cuBLASLt for products, cuDNN for attention, NCCL for collectives, NVML for power and
 * clocks. */
#include "calibrate/measure/device/cuda/platform.h"

/* NVML's GPU is found by its place on the bus, since CUDA_VISIBLE_DEVICES numbers only CUDA's. */
static fr_status find_nvml(struct fr_device_handle *d, struct fr_error *err) {
    FR_TRY(fr_library_open(d->platform->management_library, &d->nvml_library, &d->nvml, err));
    nvmlReturn_t code = d->nvml.nvmlInit_v2();
    if (code != 0)
        return fr_fail(err, FR_ERR_EXTERNAL, NULL, "cannot be started: code %u", code);
    code = d->nvml.nvmlDeviceGetHandleByPciBusId_v2(d->facts.bus, &d->nvml_device);
    if (code == 0) return FR_OK;
    d->nvml_device = NULL;
    return fr_fail(err, FR_ERR_EXTERNAL, NULL, "does not know the GPU at %s: code %u",
                   d->facts.bus, code);
}

static void close_nvml(struct fr_device_handle *d) {
    if (d->nvml_library) d->nvml.nvmlShutdown();
}

static int e4m3(const struct fr_device_handle *d) {
    (void)d;
    return FR_BLAS_REAL_E4M3;
}

static long blas_version(const struct fr_device_handle *d) {
    return (long)d->blas.cublasLtGetVersion();
}

/* The driver compiles them. */
static fr_status kernels(struct fr_device_handle *d, const void **image, void **made,
                         struct fr_error *err) {
    (void)d, (void)made, (void)err;
    *image = fr_cuda_kernels;
    return FR_OK;
}

const struct fr_gpu_platform fr_gpu_cuda = {
    .name = "cuda",
    .driver = "NVIDIA's driver",
    .driver_library = &fr_cuda_driver_library,
    .blas_library = &fr_cuda_blas_library,
    .dnn_library = &fr_cuda_dnn_library,
    .nccl_library = &fr_cuda_nccl_library,
    .management_library = &fr_cuda_nvml_library,
    .version_unit = 1000,
    .units = FR_CUDA_UNITS,
    .cache_B = FR_CUDA_CACHE_B,
    .major = FR_CUDA_MAJOR,
    .minor = FR_CUDA_MINOR,
    .blas = {.transposed = FR_BLAS_TRANSPOSED,
             .sum_fp32 = FR_BLAS_COMPUTE_FP32,
             .sum_tf32 = FR_BLAS_COMPUTE_TF32,
             .sum_fp64 = FR_BLAS_COMPUTE_FP64,
             .set_a_transposed = FR_BLAS_DESC_TRANSA,
             .set_b_transposed = FR_BLAS_DESC_TRANSB,
             .set_a_scale = FR_BLAS_DESC_SCALE_A,
             .set_b_scale = FR_BLAS_DESC_SCALE_B,
             .set_fast_sum = FR_BLAS_DESC_FAST_ACCUM,
             .not_supported = FR_BLAS_NOT_SUPPORTED,
             .codes = FR_REMEDY_BLAS,
             .layout_batch = FR_BLAS_LAYOUT_BATCH,
             .layout_stride = FR_BLAS_LAYOUT_STRIDE,
             .workspace_at = offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize),
             .state_at = offsetof(cublasLtMatmulHeuristicResult_t, state)},
    .scales_blocks = true,
    .e4m3 = e4m3,
    .blas_version = blas_version,
    .find_management = find_nvml,
    .close_management = close_nvml,
    .kernels = kernels,
};

static fr_status count(int *n, struct fr_error *err) {
    return fr_gpu_count(&fr_gpu_cuda, n, err);
}

static fr_status open_one(int index, struct fr_device_handle **device, struct fr_error *err) {
    return fr_gpu_open(&fr_gpu_cuda, index, device, err);
}

const struct fr_device_driver fr_device_cuda = {
    .name = "cuda",
    .summary = "NVIDIA GPUs: products through cuBLASLt, attention through cuDNN, "
               "collectives through NCCL, power through NVML",
    .count = count,
    .open = open_one,
    .close = fr_gpu_close,
    .facts = fr_gpu_facts,
    .prepare = fr_gpu_prepare,
    .run = fr_gpu_run,
    .moved_B = fr_cuda_moved_B,
    .group_id = fr_cuda_group_id,
    .group_open = fr_cuda_group_open,
    .group_close = fr_cuda_group_close,
    .choice = fr_cuda_choice_of,
    .choice_end = fr_cuda_choice_end,
    .state = fr_gpu_state,
};
