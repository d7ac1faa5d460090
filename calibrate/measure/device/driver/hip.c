/* AMD GPUs: the driver (HIP), hipBLASLt for products, RCCL for collectives, AMD SMI for power, HIPRTC for the kernels of
 * passes over memory.  Calls and numbers differ from NVIDIA's by name alone (calibrate/measure/device/cuda/platform.h). */
#include "calibrate/measure/device/cuda/hip.h"

#include <stdlib.h>

#include "base/alloc.h"

#define N_OF(list) (sizeof(list) / sizeof *(list))
#define DRIVER_SYMBOL(ours, amds) {#amds, offsetof(struct fr_cuda_api, ours)},
#define BLAS_SYMBOL(ours, amds) {#amds, offsetof(struct fr_blas_api, ours)},
#define RCCL_SYMBOL(result, name, arguments) {#name, offsetof(struct fr_nccl_api, name)},
#define COMPILER_SYMBOL(name, arguments) {#name, offsetof(struct fr_hiprtc_api, name)},
#define SMI_SYMBOL(name, arguments) {#name, offsetof(struct fr_amdsmi_api, name)},
static const struct fr_library_symbol driver_symbols[] = {FR_HIP_FUNCTIONS(DRIVER_SYMBOL)},
                                      blas_symbols[] = {FR_HIPBLASLT_FUNCTIONS(BLAS_SYMBOL)},
                                      rccl_symbols[] = {FR_NCCL_FUNCTIONS(RCCL_SYMBOL)},
                                      compiler_symbols[] = {FR_HIPRTC_FUNCTIONS(
                                          COMPILER_SYMBOL)},
                                      smi_symbols[] = {FR_AMDSMI_FUNCTIONS(SMI_SYMBOL)};
static const char *const driver_files[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                           "/opt/rocm/lib/libamdhip64.so", NULL},
                         *const blas_files[] = {"libhipblaslt.so.1", "libhipblaslt.so.0",
                                                "/opt/rocm/lib/libhipblaslt.so", NULL},
                         *const rccl_files[] = {"librccl.so.1", "/opt/rocm/lib/librccl.so",
                                                NULL},
                         *const compiler_files[] = {"libhiprtc.so.7", "libhiprtc.so.6",
                                                    "/opt/rocm/lib/libhiprtc.so", NULL},
                         *const smi_files[] = {"libamd_smi.so", "/opt/rocm/lib/libamd_smi.so",
                                               NULL};
#define CALL(nvidias, amds) {#nvidias, #amds},
static const char *const calls[][2] = {FR_HIP_FUNCTIONS(CALL)
                                           FR_HIPBLASLT_FUNCTIONS(CALL){NULL, NULL}};
static const char rocm[] = "AMD's ROCm 6 or later";

#define LIBRARY(variable, id, name, kind, gives)                                               \
    const struct fr_library variable = {id,    name,           kind##_files,        rocm,      \
                                        gives, kind##_symbols, N_OF(kind##_symbols)}
LIBRARY(fr_hip_driver_library, "hip", "HIP", driver,
        "AMD GPUs: memory, launches, the host link");
LIBRARY(fr_hip_blas_library, "hipblaslt", "hipBLASLt", blas, "products of AMD GPUs");
LIBRARY(fr_hip_rccl_library, "rccl", "RCCL", rccl, "collectives of AMD GPUs");
LIBRARY(fr_hip_compiler_library, "hiprtc", "HIPRTC", compiler, "kernels of AMD GPUs");
LIBRARY(fr_hip_smi_library, "amd-smi", "AMD SMI", smi, "energy of AMD GPUs");

/* MI300 (9.4) has formats of its own; later ones those of the OCP. */
static int e4m3(const struct fr_device_handle *d) {
    return d->facts.generation > 94 ? FR_HIP_E4M3 : FR_HIP_E4M3_FNUZ;
}

/* It tells its version through a handle, in a form that differs by release. */
static long blas_version(const struct fr_device_handle *d) {
    (void)d;
    return 0;
}

static fr_status checked(unsigned code, const char *what, struct fr_error *err) {
    if (code == 0) return FR_OK;
    return fr_fail(err, FR_ERR_EXTERNAL, "HIPRTC", "%s of the kernels: code %u", what, code);
}

static fr_status compile(const struct fr_hiprtc_api *rtc, hiprtcProgram program, void **made,
                         struct fr_error *err) {
    /* AMD's shuffles take no mask. */
    const char *options[] = {"-O3", "-D__shfl_xor_sync(m,v,s)=__shfl_xor(v,s)"};
    size_t size_B = 0;
    FR_TRY(checked(rtc->hiprtcCompileProgram(program, N_OF(options), options),
                   "hiprtcCompileProgram", err));
    FR_TRY(checked(rtc->hiprtcGetCodeSize(program, &size_B), "hiprtcGetCodeSize", err));
    *made = fr_malloc(size_B + 1, 1);
    if (!*made) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    return checked(rtc->hiprtcGetCode(program, *made), "hiprtcGetCode", err);
}

/* The source includes a header of CUDA of which it needs nothing here. */
static fr_status kernels(struct fr_device_handle *d, const void **image, void **made,
                         struct fr_error *err) {
    const char *headers[] = {""}, *names[] = {"cuda_bf16.h"};
    struct fr_hiprtc_api rtc;
    hiprtcProgram program = NULL;
    void *library = NULL;
    (void)d;
    FR_TRY(fr_library_open(&fr_hip_compiler_library, &library, &rtc, err));
    fr_status status = checked(
        rtc.hiprtcCreateProgram(&program, fr_hip_kernels, "kernels.cu", 1, headers, names),
        "hiprtcCreateProgram", err);
    if (status == FR_OK) status = compile(&rtc, program, made, err);
    if (program) rtc.hiprtcDestroyProgram(&program);
    fr_library_close(library);
    *image = *made;
    return status;
}

const struct fr_gpu_platform fr_gpu_hip = {
    .name = "hip",
    .driver = "AMD's driver",
    .driver_library = &fr_hip_driver_library,
    .blas_library = &fr_hip_blas_library,
    .nccl_library = &fr_hip_rccl_library,
    .management_library = &fr_hip_smi_library,
    .version_unit = 10000000,
    .units = FR_HIP_UNITS,
    .cache_B = FR_HIP_CACHE_B,
    .major = FR_HIP_MAJOR,
    .minor = FR_HIP_MINOR,
    .blas = {.transposed = FR_HIPBLAS_TRANSPOSED,
             .sum_fp32 = FR_HIPBLAS_SUM_FP32,
             .sum_tf32 = FR_HIPBLAS_SUM_TF32,
             .sum_fp64 = FR_HIPBLAS_SUM_FP64,
             .set_a_transposed = FR_HIPBLASLT_TRANSA,
             .set_b_transposed = FR_HIPBLASLT_TRANSB,
             .set_a_scale = FR_HIPBLASLT_SCALE_A,
             .set_b_scale = FR_HIPBLASLT_SCALE_B,
             .set_fast_sum = -1,
             .not_supported = FR_HIPBLAS_NOT_SUPPORTED,
             .codes = FR_REMEDY_HIPBLAS,
             .layout_batch = FR_HIPBLASLT_LAYOUT_BATCH,
             .layout_stride = FR_HIPBLASLT_LAYOUT_STRIDE,
             .workspace_at = FR_HIPBLASLT_WORKSPACE_AT,
             .state_at = FR_HIPBLASLT_STATE_AT},
    .calls = calls,
    .e4m3 = e4m3,
    .blas_version = blas_version,
    .find_management = fr_amd_smi_find,
    .close_management = fr_amd_smi_close,
    .kernels = kernels,
};

static fr_status count(int *n, struct fr_error *err) {
    return fr_gpu_count(&fr_gpu_hip, n, err);
}

static fr_status open_one(int index, struct fr_device_handle **device, struct fr_error *err) {
    return fr_gpu_open(&fr_gpu_hip, index, device, err);
}

const struct fr_device_driver fr_device_hip = {
    .name = "hip",
    .summary = "AMD GPUs: products through hipBLASLt, collectives through RCCL, power through "
               "AMD SMI",
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
