/* Whatever the system's files and tools tell of clocks, power and processors is a number to go on with, or is
 * refused.  No tool is started: the linker puts our fr_process_run for the real one. */
#include <math.h>
#include <sys/stat.h>

#include "base/process.h"
#include "calibrate/measure/knob.h"
#include "calibrate/measure/leash.h"
#include "calibrate/measure/power.h"
#include "calibrate/measure/quota.h"
#include "tests/fuzz/fuzz.h"

fr_status __wrap_fr_process_run(const struct fr_process *p, struct fr_ended *ended,
                                struct fr_error *err);

static const char *output; /* by every tool */

fr_status __wrap_fr_process_run(const struct fr_process *p, struct fr_ended *ended,
                                struct fr_error *err) {
    (void)ended;
    (void)err;
    if (p->out.text) fr_text_addf(p->out.text, "%s", output);
    return FR_OK;
}

/* Files that the system would have, in a folder of ours: each gets a part of the input, up to a semicolon. */
static const char *const files[] = {"cpu0/cpufreq/scaling_max_freq",
                                    "cpu0/cpufreq/cpuinfo_min_freq",
                                    "cpu0/cpufreq/scaling_min_freq",
                                    "cpu0/cpufreq/scaling_available_frequencies",
                                    "sys/class/powercap/intel-rapl:0/name",
                                    "sys/class/powercap/intel-rapl:0/energy_uj",
                                    "sys/class/powercap/intel-rapl:0/max_energy_range_uj",
                                    "groups/cpu.max",
                                    "groups/cpu.cfs_quota_us",
                                    "groups/cpu.cfs_period_us",
                                    "groups/of_self"};
enum { FILES = sizeof files / sizeof *files };

static void make_folders(char *path, size_t from) {
    for (char *at = path + from; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        mkdir(path, 0700);
    }
}

static void write_files(const char *folder, const char *at) {
    for (int i = 0; i < FILES; i++) {
        char path[256];
        const char *stop = strchr(at, ';');
        size_t length = stop ? (size_t)(stop - at) : strlen(at);
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        FILE *file = fopen(path, "w");
        if (!file) make_folders(path, strlen(folder) + 1);
        if (!file) file = fopen(path, "w");
        FR_FUZZ_REQUIRE(file);
        fwrite(at, 1, length, file);
        FR_FUZZ_REQUIRE(fclose(file) == 0);
        at += length + (stop != NULL);
    }
}

static void try_knob(const struct fr_knob *knob, const char *argument) {
    double clock_Hz[FR_KNOB_CLOCKS_MAX];
    void *state = NULL;
    struct fr_error err = {0};
    if (knob->open(argument, &state, &err) != FR_OK) {
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
        return;
    }
    int n = knob->clocks(state, clock_Hz);
    FR_FUZZ_REQUIRE(n >= 0 && n <= FR_KNOB_CLOCKS_MAX);
    for (int i = 0; i < n; i++)
        FR_FUZZ_REQUIRE(clock_Hz[i] > 0 && isfinite(clock_Hz[i]) &&
                        (i == 0 || clock_Hz[i] >= clock_Hz[i - 1]));
    knob->close(state);
}

/* A meter's reading is a number or is left out by the log. */
static void try_meter(const struct fr_meter *meter, const char *argument) {
    struct fr_power_log log = {.counter = meter->counter};
    void *state = NULL;
    struct fr_error err = {0};
    if (meter->open(argument, &state, &err) != FR_OK) {
        FR_FUZZ_REQUIRE(err.detail[0]);
        return;
    }
    for (int i = 0; i < 3; i++) {
        double value = 0;
        int quality = meter->quality;
        if (meter->read(state, i, &value, &quality, &err) == FR_OK)
            FR_FUZZ_REQUIRE(fr_power_log_add(&log, i, value, quality) == FR_OK);
    }
    int quality = 0;
    double energy_J = fr_power_log_energy_J(&log, 0.5, 1.5, &quality);
    FR_FUZZ_REQUIRE(energy_J >= 0 && isfinite(energy_J));
    fr_power_log_free(&log);
    meter->close(state);
}

FR_FUZZ_TEXT(text, size) {
    char groups[128], self[160];
    const char *folder = fr_fuzz_folder();
    write_files(folder, text);
    output = text;
    setenv("SLURM_JOB_ID", "1", 1);
    try_knob(&fr_knob_cpufreq, folder);
    try_knob(&fr_knob_nvidia, NULL);
    try_meter(&fr_meter_powercap, folder);
    try_meter(&fr_meter_slurm, NULL);
    try_meter(&fr_meter_slurm_job, NULL);
    try_meter(&fr_meter_log, fr_fuzz_file(text, size));
    try_meter(&fr_meter_constant, text);
    snprintf(groups, sizeof groups, "%s/groups", folder);
    snprintf(self, sizeof self, "%s/of_self", groups);
    FR_FUZZ_REQUIRE(fr_quota_cores(groups, self) > 0);
    (void)fr_leash_holds(text);
}
