/* AMD's ROCm SMI library, found at run time; all GPUs of the node together.  The prototypes are
 * ours, after rocm_smi.h (not needed to build).  The energy counter counts in units of
 * `resolution` microjoules and is `measured`; where a GPU has none, the average power that the
 * firmware tells is integrated, which is `sampled`. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/measure/power.h"

enum { GPUS_MAX = 64, RSMI_SUCCESS = 0 };

struct rocm {
    void *library;
    int (*shut_down)(void);
    int (*energy)(uint32_t device, uint64_t *count, float *resolution_uJ, uint64_t *time_ns);
    int (*power_uW)(uint32_t device, uint32_t sensor, uint64_t *power_uW);
    uint32_t n_devices;
    double last_s, total_J, last_W;
    bool integrates;
};

static void close_rocm(void *state) {
    struct rocm *r = state;
    if (r->shut_down) r->shut_down();
    dlclose(r->library);
    free(r);
}

/* POSIX lets an object pointer be read as a function pointer; ISO C has no way to write it. */
static bool find(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    *(void **)function = symbol;
    return symbol != NULL;
}

static fr_status find_devices(struct rocm *r, struct fr_error *err) {
    int (*init)(uint64_t flags);
    int (*count)(uint32_t * count);
    if (!find(r->library, "rsmi_init", &init) ||
        !find(r->library, "rsmi_num_monitor_devices", &count))
        return fr_fail(err, FR_ERR_UNSUPPORTED, "rocm_smi",
                       "the library lacks functions we need");
    find(r->library, "rsmi_dev_energy_count_get", &r->energy);
    find(r->library, "rsmi_dev_power_ave_get", &r->power_uW);
    int code = init(0);
    if (code != RSMI_SUCCESS)
        return fr_fail(err, FR_ERR_UNSUPPORTED, "rocm_smi", "cannot be started: code %d", code);
    find(r->library, "rsmi_shut_down", &r->shut_down);
    if (count(&r->n_devices) != RSMI_SUCCESS || r->n_devices == 0)
        return fr_fail(err, FR_ERR_UNSUPPORTED, "rocm_smi", "no GPU here");
    if (r->n_devices > GPUS_MAX) r->n_devices = GPUS_MAX;
    return FR_OK;
}

static fr_status read_energy(const struct rocm *r, double *energy_J, struct fr_error *err) {
    double sum_uJ = 0;
    for (uint32_t i = 0; i < r->n_devices; i++) {
        uint64_t count = 0, time_ns = 0;
        float resolution_uJ = 0;
        int code = r->energy ? r->energy(i, &count, &resolution_uJ, &time_ns) : -1;
        if (code != RSMI_SUCCESS || !(resolution_uJ > 0))
            return fr_fail(err, FR_ERR_IO, "rocm_smi", "GPU %u tells no energy: code %d", i,
                           code);
        sum_uJ += (double)count * (double)resolution_uJ;
    }
    *energy_J = sum_uJ * 1e-6;
    return FR_OK;
}

static fr_status read_power(const struct rocm *r, double *power_W, struct fr_error *err) {
    double sum_uW = 0;
    for (uint32_t i = 0; i < r->n_devices; i++) {
        uint64_t uW = 0;
        int code = r->power_uW ? r->power_uW(i, 0, &uW) : -1;
        if (code != RSMI_SUCCESS)
            return fr_fail(err, FR_ERR_IO, "rocm_smi", "GPU %u tells no power: code %d", i,
                           code);
        sum_uW += (double)uW;
    }
    *power_W = sum_uW * 1e-6;
    return FR_OK;
}

static fr_status open_rocm(const char *library, void **state, struct fr_error *err) {
    struct rocm *r = fr_calloc(1, sizeof *r);
    double ignored;
    if (!r) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    r->library = dlopen(library ? library : "librocm_smi64.so", RTLD_NOW | RTLD_LOCAL);
    if (!r->library && !library)
        r->library = dlopen("librocm_smi64.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!r->library) {
        free(r);
        return fr_fail(err, FR_ERR_UNSUPPORTED, "rocm_smi", "no ROCm here");
    }
    r->last_s = -1;
    fr_status status = find_devices(r, err);
    r->integrates = status == FR_OK && read_energy(r, &ignored, NULL) != FR_OK;
    if (r->integrates) status = read_power(r, &ignored, err);
    if (status == FR_OK)
        *state = r;
    else
        close_rocm(r);
    return status == FR_ERR_IO ? FR_ERR_UNSUPPORTED : status;
}

static fr_status read_rocm(void *state, double now_s, double *value, int *quality,
                           struct fr_error *err) {
    struct rocm *r = state;
    double power_W = 0;
    if (!r->integrates) return read_energy(r, value, err);
    *quality = FR_QUALITY_SAMPLED;
    FR_TRY(read_power(r, &power_W, err));
    if (r->last_s >= 0 && now_s > r->last_s)
        r->total_J += (power_W + r->last_W) / 2 * (now_s - r->last_s);
    r->last_s = now_s;
    r->last_W = power_W;
    *value = r->total_J;
    return FR_OK;
}

const struct fr_meter fr_meter_rocm_smi = {
    .name = "rocm_smi",
    .summary = "all AMD GPUs of the node",
    .argument = "LIBRARY, instead of librocm_smi64.so",
    .ask = "ROCm SMI (package rocm-smi-lib), which brings librocm_smi64.so",
    .quality = FR_QUALITY_MEASURED,
    .counter = true,
    .period_s = 0.05,
    .open = open_rocm,
    .read = read_rocm,
    .close = close_rocm,
};
