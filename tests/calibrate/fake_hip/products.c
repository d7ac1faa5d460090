/* Stands in for libhipblaslt.so.1, as cublasLt.c does for NVIDIA's. */
#include "tests/calibrate/fake_hip/names.h"

#include "tests/calibrate/fake_cuda/cublasLt.c"
