/** @file
 *  Parts of the driver of AMD's GPUs besides its table (calibrate/measure/device/driver/hip.c). */
#ifndef FR_CALIBRATE_MEASURE_DEVICE_CUDA_HIP_H
#define FR_CALIBRATE_MEASURE_DEVICE_CUDA_HIP_H

#include "calibrate/measure/device/cuda/hip_api.h"
#include "calibrate/measure/device/cuda/platform.h"

/** The text of kernels.cu, which HIPRTC compiles. */
extern const char fr_hip_kernels[];

extern const struct fr_library fr_hip_driver_library, fr_hip_blas_library, fr_hip_rccl_library,
    fr_hip_compiler_library, fr_hip_smi_library;

/** Fill d->nvml from AMD SMI.  @return FR_OK, FR_ERR_EXTERNAL or FR_ERR_NOMEM */
fr_status fr_amd_smi_find(struct fr_device_handle *d, struct fr_error *err);
void fr_amd_smi_close(struct fr_device_handle *d);

#endif
