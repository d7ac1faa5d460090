/* CSV of nvidia-smi, hl-smi and their kin without its header: "2024/05/10 11:38:02.123, 0, 312.45 W".  The field with a
 * unit is the power; the device is a number alone, a bus or a serial. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/text/log_time.h"
#include "trust/runs/watts.h"

static bool is_watts(const char *field) {
    size_t n = strspn(field, "0123456789.");
    return n > 0 && strcmp(field + n, " W") == 0;
}

static bool is_device(const char *field) {
    size_t n = strlen(field), digits = strspn(field, "0123456789");
    bool number = n > 0 && n < 4 && digits == n;
    bool bus = n >= 7 && n <= 16 && strspn(field, "0123456789abcdefABCDEF:.") == n &&
               strchr(field, ':') && strchr(field, '.');
    return number || bus || strncmp(field, "GPU-", 4) == 0 || strncmp(field, "AIP ", 4) == 0;
}

/* "0, pwrDraw , 1395544840748857, 113": index, microseconds since 1970, watts, of nvidia-smi stats */
static bool of_stats(struct fr_watts_log *log, const char *line) {
    char device[32], what[32], time[32], power[32];
    if (!fr_watts_field(line, 0, device, sizeof device) || !is_device(device) ||
        !fr_watts_field(line, 1, what, sizeof what) || strcmp(what, "pwrDraw") != 0 ||
        !fr_watts_field(line, 2, time, sizeof time) ||
        !fr_watts_field(line, 3, power, sizeof power))
        return false;
    fr_watts_set_time(log, time);
    return fr_watts_add_text(log, device, power);
}

static bool line(struct fr_watts_log *log, const char *line) {
    char field[96], device[64] = "", power[32] = "";
    double time_s = NAN;
    int powers = 0, bytes = 0;
    if (of_stats(log, line)) return true;
    for (int i = 0; fr_watts_field(line, i, field, sizeof field); i++) {
        if (i == 0 && fr_log_time(field, &time_s)) {
            fr_watts_set_time(log, field);
        } else if (is_watts(field)) {
            powers++;
            memcpy(power, field, strlen(field) < sizeof power ? strlen(field) + 1 : 0);
        } else if (is_device(field) && !*device) {
            memcpy(device, field, strlen(field) + 1 < sizeof device ? strlen(field) + 1 : 0);
        }
        bytes = i;
    }
    return powers == 1 && bytes > 0 && fr_watts_add_text(log, device, power);
}

const struct fr_watts_format fr_watts_nvidia_bare = {
    .name = "nvidia-smi-noheader",
    .summary = "power of NVIDIA GPUs, as CSV without its header",
    .source = "nvidia-smi --query-gpu=timestamp,index,power.draw --format=csv,noheader -l 1",
    .measured_at = "device",
    .accelerators = true,
    .line = line,
};
