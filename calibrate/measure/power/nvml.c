/* NVIDIA's management library, found at run time; all GPUs of the node together.  The prototypes
 * are ours, after NVIDIA's NVML API reference (nvml.h is not needed to build).
 *
 * The energy counter (Volta and later, mJ) is built from the same readings as the power, which
 * A100 and H100 take a quarter of the time; hence `sampled` for both.
 * Yang, Adamek, Armour, "Part-time power measurements: nvidia-smi's lack of attention", 2023. */
#include <dlfcn.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/measure/power.h"

enum { GPUS_MAX = 64, NVML_SUCCESS = 0 };

typedef void *nvml_device;

struct nvml {
    void *library;
    int (*shutdown)(void);
    int (*energy_mJ)(nvml_device device, unsigned long long *energy_mJ);
    int (*power_mW)(nvml_device device, unsigned *power_mW);
    nvml_device device[GPUS_MAX];
    unsigned n_devices;
    double last_s, total_J, last_W; /* where there is no energy counter */
    bool integrates;
};

static void close_nvml(void *state) {
    struct nvml *n = state;
    if (n->shutdown) n->shutdown();
    dlclose(n->library);
    free(n);
}

/* POSIX lets an object pointer be read as a function pointer; ISO C has no way to write it. */
static bool find(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    *(void **)function = symbol;
    return symbol != NULL;
}

static fr_status find_devices(struct nvml *n, struct fr_error *err) {
    int (*init)(void);
    int (*count)(unsigned *count);
    int (*by_index)(unsigned index, nvml_device *device);
    if (!find(n->library, "nvmlInit_v2", &init) ||
        !find(n->library, "nvmlDeviceGetCount_v2", &count) ||
        !find(n->library, "nvmlDeviceGetHandleByIndex_v2", &by_index) ||
        !find(n->library, "nvmlDeviceGetPowerUsage", &n->power_mW))
        return fr_fail(err, FR_ERR_UNSUPPORTED, "nvml", "the library lacks functions we need");
    find(n->library, "nvmlDeviceGetTotalEnergyConsumption", &n->energy_mJ);
    int code = init();
    if (code != NVML_SUCCESS)
        return fr_fail(err, FR_ERR_UNSUPPORTED, "nvml", "cannot be started: code %d", code);
    find(n->library, "nvmlShutdown", &n->shutdown);
    if (count(&n->n_devices) != NVML_SUCCESS || n->n_devices == 0)
        return fr_fail(err, FR_ERR_UNSUPPORTED, "nvml", "no GPU here");
    if (n->n_devices > GPUS_MAX) n->n_devices = GPUS_MAX;
    for (unsigned i = 0; i < n->n_devices; i++)
        if ((code = by_index(i, &n->device[i])) != NVML_SUCCESS)
            return fr_fail(err, FR_ERR_UNSUPPORTED, "nvml", "GPU %u: code %d", i, code);
    return FR_OK;
}

static fr_status read_energy(const struct nvml *n, double *energy_J, struct fr_error *err) {
    double sum_mJ = 0;
    for (unsigned i = 0; i < n->n_devices; i++) {
        unsigned long long mJ = 0;
        int code = n->energy_mJ ? n->energy_mJ(n->device[i], &mJ) : -1;
        if (code != NVML_SUCCESS)
            return fr_fail(err, FR_ERR_IO, "nvml", "GPU %u tells no energy: code %d", i, code);
        sum_mJ += (double)mJ;
    }
    *energy_J = sum_mJ * 1e-3;
    return FR_OK;
}

static fr_status read_power(const struct nvml *n, double *power_W, struct fr_error *err) {
    double sum_mW = 0;
    for (unsigned i = 0; i < n->n_devices; i++) {
        unsigned mW = 0;
        int code = n->power_mW(n->device[i], &mW);
        if (code != NVML_SUCCESS)
            return fr_fail(err, FR_ERR_IO, "nvml", "GPU %u tells no power: code %d", i, code);
        sum_mW += mW;
    }
    *power_W = sum_mW * 1e-3;
    return FR_OK;
}

static fr_status open_nvml(const char *library, void **state, struct fr_error *err) {
    struct nvml *n = fr_calloc(1, sizeof *n);
    double ignored;
    if (!n) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    n->library = dlopen(library ? library : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!n->library) {
        free(n);
        return fr_fail(err, FR_ERR_UNSUPPORTED, "nvml", "no NVIDIA driver here");
    }
    n->last_s = -1;
    fr_status status = find_devices(n, err);
    n->integrates = status == FR_OK && read_energy(n, &ignored, NULL) != FR_OK;
    if (n->integrates) status = read_power(n, &ignored, err);
    if (status == FR_OK)
        *state = n;
    else
        close_nvml(n);
    return status == FR_ERR_IO ? FR_ERR_UNSUPPORTED : status;
}

/* Older GPUs have no counter: their power is integrated here, so that this meter counts. */
static fr_status read_nvml(void *state, double now_s, double *value, int *quality,
                           struct fr_error *err) {
    struct nvml *n = state;
    double power_W = 0;
    (void)quality;
    if (!n->integrates) return read_energy(n, value, err);
    FR_TRY(read_power(n, &power_W, err));
    if (n->last_s >= 0 && now_s > n->last_s)
        n->total_J += (power_W + n->last_W) / 2 * (now_s - n->last_s);
    n->last_s = now_s;
    n->last_W = power_W;
    *value = n->total_J;
    return FR_OK;
}

const struct fr_meter fr_meter_nvml = {
    .name = "nvml",
    .summary = "all NVIDIA GPUs of the node",
    .argument = "LIBRARY, instead of libnvidia-ml.so.1",
    .ask = "NVIDIA's driver, which brings libnvidia-ml.so.1",
    .quality = FR_QUALITY_SAMPLED,
    .counter = true,
    .period_s = 0.05,
    .open = open_nvml,
    .read = read_nvml,
    .close = close_nvml,
};
