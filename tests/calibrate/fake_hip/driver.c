/* Stands in for libamdhip64.so.6, as cuda.c does for NVIDIA's. */
#include "tests/calibrate/fake_hip/names.h"

#include "tests/calibrate/fake_cuda/cuda.c"
