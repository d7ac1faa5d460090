/* Processors of the host, which the harness's own rows measure with MPI and BLAS. */
#include "calibrate/measure/device/device.h"

const struct fr_device_driver fr_device_cpu = {
    .name = "cpu",
    .summary = "processors of the host, with MPI and BLAS",
};
