/* AMD SMI behind NVML's table of functions: energy and memory, which are all that is read of a GPU there. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "calibrate/measure/device/cuda/hip.h"

enum { NOT_SUPPORTED = 3 /* NVML's code */ };

struct nvmlDevice_st {
    struct fr_amdsmi_api api;
    amdsmi_processor_handle handle;
};

static nvmlReturn_t no_text(char *text, unsigned capacity) {
    if (capacity > 0) *text = '\0';
    return NOT_SUPPORTED;
}
static nvmlReturn_t no_number(nvmlDevice_t device, unsigned *value) {
    (void)device;
    *value = 0;
    return NOT_SUPPORTED;
}
static nvmlReturn_t no_clock(nvmlDevice_t device, nvmlClockType_t type, unsigned *value) {
    (void)type;
    return no_number(device, value);
}
static nvmlReturn_t no_parts(nvmlDevice_t device, unsigned *now, unsigned *pending) {
    *pending = 0;
    return no_number(device, now);
}

static nvmlReturn_t energy(nvmlDevice_t device, unsigned long long *energy_mJ) {
    uint64_t count = 0, at = 0;
    float unit_uJ = 0;
    unsigned code = device->api.amdsmi_get_energy_count(device->handle, &count, &unit_uJ, &at);
    *energy_mJ = (unsigned long long)((double)count * (double)unit_uJ * 1e-3);
    return code;
}

static nvmlReturn_t memory(nvmlDevice_t device, nvmlMemory_t *memory) {
    uint64_t total_B = 0, used_B = 0;
    unsigned code =
        device->api.amdsmi_get_gpu_memory_total(device->handle, FR_AMDSMI_VRAM, &total_B);
    if (code == 0)
        code = device->api.amdsmi_get_gpu_memory_usage(device->handle, FR_AMDSMI_VRAM, &used_B);
    *memory = (nvmlMemory_t){.total = total_B, .free = total_B - used_B, .used = used_B};
    return code;
}

static const struct fr_nvml_api table = {.nvmlSystemGetDriverVersion = no_text,
                                         .nvmlDeviceGetTotalEnergyConsumption = energy,
                                         .nvmlDeviceGetPowerUsage = no_number,
                                         .nvmlDeviceGetClockInfo = no_clock,
                                         .nvmlDeviceGetMaxClockInfo = no_clock,
                                         .nvmlDeviceGetMemoryInfo = memory,
                                         .nvmlDeviceGetMigMode = no_parts};

/* "0000:1a:00.0" */
static bool read_bus(const char *text, amdsmi_bdf_t *bdf) {
    char *at = NULL;
    uint64_t domain = strtoull(text, &at, 16), bus = 0, device = 0, function = 0;
    if (*at != ':') return false;
    bus = strtoull(at + 1, &at, 16);
    if (*at != ':') return false;
    device = strtoull(at + 1, &at, 16);
    if (*at == '.') function = strtoull(at + 1, &at, 16);
    bdf->as_uint = (function & 7) | (device & 31) << 3 | (bus & 255) << 8 | domain << 16;
    return true;
}

fr_status fr_amd_smi_find(struct fr_device_handle *d, struct fr_error *err) {
    amdsmi_bdf_t bdf = {0};
    struct nvmlDevice_st *found = fr_calloc(1, sizeof *found);
    if (!found) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    d->management = found;
    FR_TRY(
        fr_library_open(d->platform->management_library, &d->nvml_library, &found->api, err));
    unsigned code = found->api.amdsmi_init(FR_AMDSMI_GPUS);
    if (code != 0)
        return fr_fail(err, FR_ERR_EXTERNAL, NULL, "cannot be started: code %u", code);
    code = read_bus(d->facts.bus, &bdf)
               ? found->api.amdsmi_get_processor_handle_from_bdf(bdf, &found->handle)
               : NOT_SUPPORTED;
    if (code != 0)
        return fr_fail(err, FR_ERR_EXTERNAL, NULL, "does not know the GPU at %s: code %u",
                       d->facts.bus, code);
    d->nvml = table;
    d->nvml_device = found;
    return FR_OK;
}

void fr_amd_smi_close(struct fr_device_handle *d) {
    struct nvmlDevice_st *found = d->management;
    if (d->nvml_library && found->api.amdsmi_shut_down) found->api.amdsmi_shut_down();
    free(found);
}
