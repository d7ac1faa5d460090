/** @file
 *  The functions that we call of NVIDIA's management library (NVML), after its API reference;
 *  nothing of it is set.  Its header comes with no CUDA package that we build with, so its
 *  signatures are tested by the fake library alone.
 */
#ifndef FR_CALIBRATE_MEASURE_DEVICE_CUDA_NVML_API_H
#define FR_CALIBRATE_MEASURE_DEVICE_CUDA_NVML_API_H

typedef struct nvmlDevice_st *nvmlDevice_t;
typedef unsigned nvmlReturn_t, nvmlClockType_t;
typedef struct {
    unsigned long long total, free, used; /* B */
} nvmlMemory_t;

enum { FR_NVML_CLOCK_SM = 1 };

/* name, arguments; all return an nvmlReturn_t */
#define FR_NVML_FUNCTIONS(X)                                                                   \
    X(nvmlInit_v2, (void))                                                                     \
    X(nvmlShutdown, (void))                                                                    \
    X(nvmlSystemGetDriverVersion, (char *, unsigned))                                          \
    X(nvmlDeviceGetHandleByPciBusId_v2, (const char *, nvmlDevice_t *))                        \
    X(nvmlDeviceGetTotalEnergyConsumption, (nvmlDevice_t, unsigned long long *))               \
    X(nvmlDeviceGetPowerUsage, (nvmlDevice_t, unsigned *))                                     \
    X(nvmlDeviceGetClockInfo, (nvmlDevice_t, nvmlClockType_t, unsigned *))                     \
    X(nvmlDeviceGetMaxClockInfo, (nvmlDevice_t, nvmlClockType_t, unsigned *))                  \
    X(nvmlDeviceGetMemoryInfo, (nvmlDevice_t, nvmlMemory_t *))                                 \
    X(nvmlDeviceGetMigMode, (nvmlDevice_t, unsigned *, unsigned *))

struct fr_nvml_api {
#define FR_NVML_POINTER(name, arguments) nvmlReturn_t(*name) arguments;
    FR_NVML_FUNCTIONS(FR_NVML_POINTER)
#undef FR_NVML_POINTER
};

#endif
