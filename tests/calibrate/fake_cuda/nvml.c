/* Stands in for libnvidia-ml.so.1.  Its counter goes with the clock on the wall, at the power of what was done last. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/calibrate/fake_cuda/fake.h"

#define DECLARE(name, arguments) nvmlReturn_t name arguments;
FR_NVML_FUNCTIONS(DECLARE)
#undef DECLARE

struct nvmlDevice_st {
    int some;
};
static struct {
    double at_s, energy_J, power_W;
    int asked; /* for memory: the context comes between */
} gpu;

#define MAY_FAIL()                                                                             \
    do {                                                                                       \
        unsigned code_ = fake_fault(__func__);                                                 \
        if (code_) return code_;                                                               \
    } while (0)

nvmlReturn_t nvmlInit_v2(void) {
    MAY_FAIL();
    return 0;
}

nvmlReturn_t nvmlShutdown(void) {
    MAY_FAIL();
    return 0;
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *text, unsigned capacity) {
    MAY_FAIL();
    snprintf(text, capacity, "580.00");
    return 0;
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *bus, nvmlDevice_t *device) {
    static struct nvmlDevice_st some;
    MAY_FAIL();
    if (strncmp(bus, "0000:", 5) != 0) return 6;
    *device = &some;
    return 0;
}

static void go_on(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double now_s = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    enum fake_work last = fake_last();
    gpu.power_W = last == FAKE_PRODUCT   ? FAKE_BUSY_W
                  : last == FAKE_TRAFFIC ? FAKE_COPYING_W
                                         : FAKE_IDLE_W;
    if (gpu.at_s > 0) gpu.energy_J += (now_s - gpu.at_s) * gpu.power_W;
    gpu.at_s = now_s;
}

nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device,
                                                 unsigned long long *energy_mJ) {
    (void)device;
    MAY_FAIL();
    go_on();
    *energy_mJ = (unsigned long long)(1e3 * (1000 + gpu.energy_J));
    return 0;
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned *power_mW) {
    (void)device;
    MAY_FAIL();
    *power_mW = (unsigned)(1e3 * gpu.power_W);
    return 0;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                    unsigned *clock_MHz) {
    (void)device, (void)type;
    MAY_FAIL();
    *clock_MHz = 1470;
    return 0;
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                       unsigned *clock_MHz) {
    (void)device, (void)type;
    MAY_FAIL();
    *clock_MHz = 1980;
    return 0;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
    (void)device;
    MAY_FAIL();
    memory->total = (unsigned long long)FAKE_SHOWN_B;
    memory->used = 600000000 + (gpu.asked++ ? FAKE_CONTEXT_B : 0);
    memory->free = memory->total - memory->used;
    return 0;
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned *now, unsigned *pending) {
    (void)device;
    MAY_FAIL();
    *now = *pending = getenv("FAKE_CUDA_MIG") != NULL;
    return 0;
}
