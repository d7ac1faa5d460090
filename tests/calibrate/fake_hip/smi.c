/* Stands in for libamd_smi.so.  Its counter goes with the clock on the wall, at the power of what was done last. */
#include <time.h>

#include "calibrate/measure/device/cuda/hip_api.h"
#include "tests/calibrate/fake_cuda/fake.h"

#define DECLARE(name, arguments) unsigned name arguments;
FR_AMDSMI_FUNCTIONS(DECLARE)
#undef DECLARE

enum { INVALID = 1 };
static const float UNIT_uJ = 15.3F;
static struct {
    double at_s, energy_J;
    int asked; /* for memory: the context comes between */
} gpu;

#define MAY_FAIL()                                                                             \
    do {                                                                                       \
        unsigned code_ = fake_fault(__func__);                                                 \
        if (code_) return code_;                                                               \
    } while (0)

unsigned amdsmi_init(uint64_t flags) {
    MAY_FAIL();
    return flags == FR_AMDSMI_GPUS ? 0 : INVALID;
}

unsigned amdsmi_shut_down(void) {
    MAY_FAIL();
    return 0;
}

/* The first GPU is at 0000:01:00.0. */
unsigned amdsmi_get_processor_handle_from_bdf(amdsmi_bdf_t bdf,
                                              amdsmi_processor_handle *handle) {
    MAY_FAIL();
    *handle = &gpu;
    return bdf.as_uint == 1 << 8 ? 0 : INVALID;
}

unsigned amdsmi_get_energy_count(amdsmi_processor_handle handle, uint64_t *count,
                                 float *unit_uJ, uint64_t *at) {
    struct timespec now;
    MAY_FAIL();
    clock_gettime(CLOCK_MONOTONIC, &now);
    double now_s = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    enum fake_work last = fake_last();
    double power_W = last == FAKE_PRODUCT   ? FAKE_BUSY_W
                     : last == FAKE_TRAFFIC ? FAKE_COPYING_W
                                            : FAKE_IDLE_W;
    if (gpu.at_s > 0) gpu.energy_J += (now_s - gpu.at_s) * power_W;
    gpu.at_s = now_s;
    *count = (uint64_t)(1e6 * (1000 + gpu.energy_J) / (double)UNIT_uJ);
    *unit_uJ = UNIT_uJ;
    *at = 0;
    return handle ? 0 : INVALID;
}

unsigned amdsmi_get_gpu_memory_total(amdsmi_processor_handle handle, unsigned kind,
                                     uint64_t *size_B) {
    MAY_FAIL();
    *size_B = (uint64_t)FAKE_SHOWN_B;
    return handle && kind == FR_AMDSMI_VRAM ? 0 : INVALID;
}

unsigned amdsmi_get_gpu_memory_usage(amdsmi_processor_handle handle, unsigned kind,
                                     uint64_t *size_B) {
    MAY_FAIL();
    *size_B = 600000000 + (gpu.asked++ ? FAKE_CONTEXT_B : 0);
    return handle && kind == FR_AMDSMI_VRAM ? 0 : INVALID;
}
