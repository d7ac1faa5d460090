/** @file
 *  What can a user do about an error code of a library?
 *
 *  Codes of the driver are CUresult's; HIP has the same numbers for the same faults, and RCCL has NCCL's. */
#ifndef FR_CALIBRATE_MEASURE_DEVICE_CUDA_REMEDY_H
#define FR_CALIBRATE_MEASURE_DEVICE_CUDA_REMEDY_H

typedef enum {
    FR_REMEDY_DRIVER,
    FR_REMEDY_BLAS,
    FR_REMEDY_HIPBLAS,
    FR_REMEDY_DNN,
    FR_REMEDY_NCCL,
} fr_remedy_of;

/** The remedy, after "; ": a static text. */
const char *fr_remedy(fr_remedy_of library, unsigned code);

#endif
