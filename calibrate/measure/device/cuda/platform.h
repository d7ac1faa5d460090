/** @file
 *  NVIDIA's libraries, and AMD's, which have the same calls by other names.
 *
 *  One driver goes through tables of functions (driver_api.h, blas_api.h, nccl_api.h); a platform says which library and
 *  which name fills each place, and the numbers that differ.
 */
#ifndef FR_CALIBRATE_MEASURE_DEVICE_CUDA_PLATFORM_H
#define FR_CALIBRATE_MEASURE_DEVICE_CUDA_PLATFORM_H

#include "calibrate/measure/device/cuda/context.h"
#include "calibrate/measure/device/cuda/remedy.h"

/** Numbers by which a library of products calls things; -1: it has none. */
struct fr_blas_numbers {
    int transposed, sum_fp32, sum_tf32, sum_fp64;
    int set_a_transposed, set_b_transposed, set_a_scale, set_b_scale, set_fast_sum;
    int not_supported;
    int layout_batch, layout_stride; /**< attributes of a layout: how many, and how far apart */
    fr_remedy_of codes;              /**< whose its errors are */
    size_t workspace_at, state_at; /**< in the result of the heuristic, behind the algorithm */
};

struct fr_gpu_platform {
    const char *name;   /**< of the device driver */
    const char *driver; /**< as messages name it */
    const struct fr_library *driver_library, *blas_library, *dnn_library /**< or NULL */,
        *nccl_library, *management_library;
    int version_unit; /**< versions are major times this and minor times a hundredth of it */
    int units, cache_B, major, minor; /**< attributes of a device */
    struct fr_blas_numbers blas;
    const char *const (
        *calls)[2];     /**< {NVIDIA's, its own} name of each; NULL: they are NVIDIA's */
    bool scales_blocks; /**< of fp4 and fp8 (product_scales.c) */
    /** How the library of products calls E4M3 on this device. */
    int (*e4m3)(const struct fr_device_handle *d);
    /** Version of the library of products; 0: it does not tell. */
    long (*blas_version)(const struct fr_device_handle *d);
    /** Fill d->nvml and d->nvml_device. */
    fr_status (*find_management)(struct fr_device_handle *d, struct fr_error *err);
    void (*close_management)(struct fr_device_handle *d);
    /** The kernels of kernels.cu for this device; free what is in *made. */
    fr_status (*kernels)(struct fr_device_handle *d, const void **image, void **made,
                         struct fr_error *err);
};

extern const struct fr_gpu_platform fr_gpu_cuda, fr_gpu_hip;

/** The platform's name of a call of NVIDIA's, for messages. */
const char *fr_gpu_call(const struct fr_gpu_platform *platform, const char *nvidias);
fr_status fr_gpu_count(const struct fr_gpu_platform *platform, int *n, struct fr_error *err);
fr_status fr_gpu_open(const struct fr_gpu_platform *platform, int index,
                      struct fr_device_handle **device, struct fr_error *err);
void fr_gpu_close(struct fr_device_handle *d);
const struct fr_device_facts *fr_gpu_facts(const struct fr_device_handle *d);
fr_status fr_gpu_prepare(struct fr_device_handle *d, const struct fr_device_task *task,
                         struct fr_error *err);
fr_status fr_gpu_run(struct fr_device_handle *d, int calls, double *time_s,
                     struct fr_error *err);
void fr_gpu_state(struct fr_device_handle *d, struct fr_device_state *state);

#endif
