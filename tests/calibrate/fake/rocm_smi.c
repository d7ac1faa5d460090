/* Stands in for librocm_smi64.so, with a function by which the test writes the script. */
#include <stdint.h>

int rsmi_init(uint64_t flags);
int rsmi_shut_down(void);
int rsmi_num_monitor_devices(uint32_t *count);
int rsmi_dev_energy_count_get(uint32_t device, uint64_t *count, float *resolution_uJ,
                              uint64_t *time_ns);
int rsmi_dev_power_ave_get(uint32_t device, uint32_t sensor, uint64_t *power_uW);
void fake_script(int energy, uint64_t count, float resolution_uJ, int power, uint64_t power_uW);

static struct {
    int energy, power;
    uint64_t count, power_uW;
    float resolution_uJ;
} script;

void fake_script(int energy, uint64_t count, float resolution_uJ, int power,
                 uint64_t power_uW) {
    script.energy = energy;
    script.count = count;
    script.resolution_uJ = resolution_uJ;
    script.power = power;
    script.power_uW = power_uW;
}

int rsmi_init(uint64_t flags) { return flags == 0 ? 0 : 1; }
int rsmi_shut_down(void) { return 0; }

int rsmi_num_monitor_devices(uint32_t *count) {
    *count = 2;
    return 0;
}

int rsmi_dev_energy_count_get(uint32_t device, uint64_t *count, float *resolution_uJ,
                              uint64_t *time_ns) {
    *count = script.count;
    *resolution_uJ = script.resolution_uJ;
    *time_ns = device;
    return script.energy;
}

int rsmi_dev_power_ave_get(uint32_t device, uint32_t sensor, uint64_t *power_uW) {
    *power_uW = script.power_uW;
    return sensor == 0 && device < 2 ? script.power : 1;
}
