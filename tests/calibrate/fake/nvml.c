/* Stands in for libnvidia-ml.so.1: the functions that the meter looks up, and one by which the
 * test writes the script. */
#include <stddef.h>

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *energy_mJ);
int nvmlDeviceGetPowerUsage(void *device, unsigned *power_mW);
void fake_script(unsigned n_gpus, int init, int energy, int power, unsigned long long energy_mJ,
                 unsigned power_mW);
int fake_open_count(void);

enum { NOT_SUPPORTED = 3 };

static struct {
    unsigned n_gpus;
    int init, energy, power; /* codes to return */
    unsigned long long energy_mJ;
    unsigned power_mW;
    int opened;
} script = {.n_gpus = 2};
static int gpu[8];

void fake_script(unsigned n_gpus, int init, int energy, int power, unsigned long long energy_mJ,
                 unsigned power_mW) {
    script.n_gpus = n_gpus;
    script.init = init;
    script.energy = energy;
    script.power = power;
    script.energy_mJ = energy_mJ;
    script.power_mW = power_mW;
}

int fake_open_count(void) { return script.opened; }

int nvmlInit_v2(void) {
    script.opened += script.init == 0;
    return script.init;
}

int nvmlShutdown(void) {
    script.opened--;
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count) {
    *count = script.n_gpus;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    if (index >= script.n_gpus || index >= sizeof gpu / sizeof *gpu) return NOT_SUPPORTED;
    *device = &gpu[index];
    return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *energy_mJ) {
    *energy_mJ = script.energy_mJ;
    return device ? script.energy : NOT_SUPPORTED;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *power_mW) {
    *power_mW = script.power_mW;
    return device ? script.power : NOT_SUPPORTED;
}
