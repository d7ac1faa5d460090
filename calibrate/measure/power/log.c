/* A file that another program writes a node's power to as it goes: IPMI, Redfish, a rack's meter.
 *
 * Lines "TIME,...,WATTS"; the last whole line is the power now.  Its time is not read: clocks of meters
 * and nodes differ, and the harness's own say when it looked.  A file that nobody has written to for a
 * minute tells nothing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/alloc.h"
#include "calibrate/measure/power.h"

enum { TAIL_B = 4096, STALE_S = 60 };

struct log {
    char path[512];
};

/* The last bytes of the file, without a line that is being written. */
static fr_status read_tail(const char *path, char tail[TAIL_B + 1], struct fr_error *err) {
    FILE *file = fopen(path, "r");
    if (!file) return fr_fail(err, FR_ERR_IO, path, "cannot be read");
    size_t length = 0;
    if (fseek(file, 0, SEEK_END) == 0) {
        long size = ftell(file);
        if (size >= 0 && fseek(file, size > TAIL_B ? size - TAIL_B : 0, SEEK_SET) == 0)
            length = fread(tail, 1, TAIL_B, file);
    }
    fclose(file);
    while (length > 0 && tail[length - 1] != '\n') length--;
    while (length > 0 && (tail[length - 1] == '\n' || tail[length - 1] == '\r')) length--;
    tail[length] = '\0';
    return FR_OK;
}

static fr_status last_power(const struct log *log, double *watts, struct fr_error *err) {
    char tail[TAIL_B + 1], *end = NULL;
    struct stat about;
    FR_TRY(read_tail(log->path, tail, err));
    const char *line = strrchr(tail, '\n') ? strrchr(tail, '\n') + 1 : tail,
               *comma = strrchr(line, ',');
    double value = comma ? strtod(comma + 1, &end) : NAN;
    if (!comma || end == comma + 1 || *end || !isfinite(value) || value < 0)
        return fr_fail(err, FR_ERR_IO, log->path,
                       "ends with \"%.60s\"; expected a line \"TIME,WATTS\"", line);
    if (stat(log->path, &about) != 0 || difftime(time(NULL), about.st_mtime) > STALE_S)
        return fr_fail(err, FR_ERR_IO, log->path, "was not written to for %d s", STALE_S);
    *watts = value;
    return FR_OK;
}

static fr_status open_log(const char *path, void **state, struct fr_error *err) {
    double ignored;
    if (!path) return fr_fail(err, FR_ERR_USAGE, "--meter", "write e.g. \"log:node.csv\"");
    struct log *log = fr_calloc(1, sizeof *log);
    if (!log) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    snprintf(log->path, sizeof log->path, "%s", path);
    fr_status status = last_power(log, &ignored, err);
    if (status == FR_OK)
        *state = log;
    else
        free(log);
    return status == FR_ERR_IO ? FR_ERR_UNSUPPORTED : status;
}

static fr_status read_log(void *state, double now_s, double *value, int *quality,
                          struct fr_error *err) {
    (void)now_s;
    (void)quality;
    return last_power(state, value, err);
}

const struct fr_meter fr_meter_log = {
    .name = "log",
    .summary = "a file that another program writes the node's power to",
    .argument = "FILE, of lines TIME,WATTS",
    .ask = "a program that appends a line every second or so, e.g. around ipmitool dcmi power "
           "reading",
    .quality = FR_QUALITY_SAMPLED,
    .by_request = true,
    .period_s = 0.5,
    .open = open_log,
    .read = read_log,
    .close = free,
};
