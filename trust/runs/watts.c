#include "trust/runs/watts.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/log_lines.h"
#include "base/text/log_time.h"
#include "trust/runs/bursts.h"

static const double MOST_W = 1e9; /* beyond it is none */

#define FR_WATTS(name) extern const struct fr_watts_format fr_watts_##name;
#include "trust/runs/watts_list.h"
#undef FR_WATTS

#define FR_WATTS(name) &fr_watts_##name,
const struct fr_watts_format *const fr_watts_formats[] = {
#include "trust/runs/watts_list.h"
    NULL};
#undef FR_WATTS

/* ---- for formats ----------------------------------------------------------------------------- */

static struct fr_watts_device *device_of(struct fr_watts_log *log, const char *name) {
    for (int i = 0; i < log->n_devices; i++)
        if (strcmp(log->device[i].name, name) == 0) return &log->device[i];
    log->too_many |= log->n_devices == FR_WATTS_DEVICES;
    if (log->too_many) return NULL;
    struct fr_watts_device *d = &log->device[log->n_devices++];
    snprintf(d->name, sizeof d->name, "%s", name);
    return d;
}

/* Another number behind @p n of them; the array doubles at powers of two. */
static bool push(struct fr_watts_log *log, double **array, int n, double value) {
    if ((n & (n - 1)) == 0) {
        double *more = fr_realloc(*array, n ? 2 * (size_t)n : 1, sizeof *more);
        log->memory_full |= !more;
        if (!more) return false;
        *array = more;
    }
    (*array)[n] = value;
    return true;
}

/* Devices of several ranks or hosts have the same names. */
static struct fr_watts_device *named(struct fr_watts_log *log, const char *device) {
    char name[FR_WATTS_NAME_B];
    size_t used = 0;
    fr_line_addf(name, sizeof name, &used, "%s%s", log->printer, device);
    return device_of(log, name);
}

static struct fr_watts_nameless *nameless_of(struct fr_watts_log *log) {
    for (int i = 0; i < log->n_nameless; i++)
        if (strcmp(log->nameless[i].printer, log->printer) == 0) return &log->nameless[i];
    log->too_many |= log->n_nameless == FR_WATTS_PRINTERS;
    if (log->too_many) return NULL;
    struct fr_watts_nameless *l = &log->nameless[log->n_nameless++];
    memcpy(l->printer, log->printer, sizeof l->printer);
    return l;
}

/* A header again and an earlier time: the file of another node, whose devices have the same names. */
static void begin_part(struct fr_watts_log *log) {
    size_t used = strlen(log->printer);
    if (!log->header_again || isnan(log->time_s)) return;
    log->header_again = false;
    if (!(log->time_s < log->to_s)) return;
    log->part++;
    fr_line_addf(log->printer, sizeof log->printer, &used, "f%d/", log->part);
}

void fr_watts_add(struct fr_watts_log *log, const char *device, double power_W) {
    if (!(power_W >= 0 && power_W <= MOST_W)) return;
    begin_part(log);
    if (!isnan(log->time_s)) {
        log->from_s = fmin(log->from_s, log->time_s);
        log->to_s = fmax(log->to_s, log->time_s);
    }
    if (!*device) {
        struct fr_watts_nameless *l = nameless_of(log);
        if (l && push(log, &l->time_s, l->n, log->time_s) &&
            push(log, &l->power_W, l->n, power_W))
            l->n++;
        return;
    }
    struct fr_watts_device *d = named(log, device);
    if (d && push(log, &d->power_W, d->n, power_W)) d->n++;
}

bool fr_watts_add_text(struct fr_watts_log *log, const char *device, const char *text) {
    static const char *const none[] = {
        "N/A", "[N/A]",         "[Not Supported]",      "-",   "[Unknown Error]",
        "NA",  "Not Supported", "[GPU requires reset]", "nan", NULL};
    char *end = NULL;
    for (int i = 0; none[i]; i++)
        if (strcmp(text, none[i]) == 0) {
            struct fr_watts_device *d = *device ? named(log, device) : NULL;
            log->without++;
            if (d) d->without++;
            return true;
        }
    if (!isdigit((unsigned char)*text) && *text != '.') return false;
    double power_W = strtod(text, &end);
    while (*end == ' ') end++;
    if (!*end)
        power_W *= log->unit_W;
    else if (strcmp(end, "mW") == 0)
        power_W /= 1000;
    else if (strcmp(end, "kW") == 0)
        power_W *= 1000;
    else if (strcmp(end, "W") != 0 && strcmp(end, "Watts") != 0)
        return false;
    fr_watts_add(log, device, power_W);
    return true;
}

/* A text that is no known time counts as a new time where it changes. */
void fr_watts_set_time(struct fr_watts_log *log, const char *text) {
    double time_s = NAN;
    char *end = NULL;
    size_t n = fr_log_time(text, &time_s);
    if (n == 0) n = fr_log_time_epoch(text, &time_s);
    if (n == 0 && isdigit((unsigned char)*text)) {
        time_s = strtod(text, &end);
        if (*end || !isfinite(time_s)) time_s = NAN;
    }
    if (isnan(time_s) && *text)
        time_s = *log->stamp ? log->last_s + (strcmp(log->stamp, text) != 0) : 0;
    snprintf(log->stamp, sizeof log->stamp, "%.*s", (int)sizeof log->stamp - 1, text);
    log->last_s = log->time_s = time_s;
}

bool fr_watts_part(const char *line, char parts, int i, char *out, size_t capacity) {
    char stop[2] = {parts, '\0'};
    if (parts == 0) {
        for (;; i--) {
            line += strspn(line, " \t\r");
            size_t n = strcspn(line, " \t\r");
            if (n == 0) return false;
            if (i == 0) {
                snprintf(out, capacity, "%.*s", (int)(n < capacity ? n : capacity - 1), line);
                return true;
            }
            line += n;
        }
    }
    for (; i > 0 && line; i--) {
        line = strchr(line, parts);
        if (line) line++;
    }
    if (!line) return false;
    while (*line == ' ' || *line == '"') line++;
    size_t n = strcspn(line, stop);
    while (n > 0 && (isspace((unsigned char)line[n - 1]) || line[n - 1] == '"')) n--;
    snprintf(out, capacity, "%.*s", (int)(n < capacity ? n : capacity - 1), line);
    return true;
}

bool fr_watts_field(const char *line, int i, char *out, size_t capacity) {
    return fr_watts_part(line, ',', i, out, capacity);
}

/* Does the field begin as one of the names does, whatever its case? */
static bool is_named(const char *field, const char *const *names) {
    field += *field == '#';
    for (; names && *names; names++) {
        size_t i = 0, n = strlen(*names);
        while (i < n && tolower((unsigned char)field[i]) == (*names)[i]) i++;
        /* "power.draw" also stands for "power.draw.instant [W]", "gpu" not for "gpu_clock". */
        if (i == n && (!field[i] || strchr(" .[(", field[i]))) return true;
    }
    return false;
}

static bool holds_one_of(const char *name, const char *const *words) {
    for (; *words; words++)
        if (strstr(name, *words)) return true;
    return false;
}

static void lower(const char *name, char *out, size_t capacity) {
    size_t n = 0;
    for (; name[n] && n + 1 < capacity; n++) out[n] = (char)tolower((unsigned char)name[n]);
    out[n] = '\0';
}

bool fr_watts_is_power(const char *name) {
    static const char *const says[] = {"power", "watt", "(w)", "[w]", "(kw)", "[kw]", NULL},
                             *const other[] = {"limit",   "cap",     "max",     "min",
                                               "percent", "%",       "state",   "factor",
                                               "energy",  "volt",    "manage",  "thresh",
                                               "joule",   "wh",      "default", "time",
                                               "temp",    "nominal", "tdp",     NULL};
    char small[64];
    lower(name, small, sizeof small);
    return holds_one_of(small, says) && !holds_one_of(small, other);
}

bool fr_watts_is_device(const char *name) {
    static const char *const names[] = {"device",     "gpu",  "index",    "gpu_id",
                                        "device_id",  "card", "deviceid", "gpu_index",
                                        "local_rank", "rank", "uuid",     NULL};
    return is_named(name, names);
}

bool fr_watts_is_host(const char *name) {
    static const char *const names[] = {"node",   "host",      "hostname",  "nodename",
                                        "server", "node_name", "host_name", NULL};
    return is_named(name, names);
}

bool fr_watts_is_time(const char *name) {
    static const char *const names[] = {
        "time",    "timestamp", "epoch",     "date",       "datetime", "ts", "time_s",
        "seconds", "t",         "elapsed_s", "_timestamp", "_runtime", NULL};
    return is_named(name, names);
}

double fr_watts_unit(const char *name) {
    char small[64];
    lower(name, small, sizeof small);
    size_t n = strlen(small);
    while (n > 0 && strchr(")] ", small[n - 1])) small[--n] = '\0';
    bool two = n > 2 && strchr("_([ ", small[n - 3]) && small[n - 1] == 'w';
    return two && small[n - 2] == 'k' ? 1000 : two && small[n - 2] == 'm' ? 1e-3 : 1;
}

bool fr_watts_same_but_numbers(const char *a, const char *b) {
    for (;;) {
        while (isdigit((unsigned char)*a)) a++;
        while (isdigit((unsigned char)*b)) b++;
        if (*a != *b) return false;
        if (!*a) return true;
        a++;
        b++;
    }
}

/* Columns that tell a power where none has a name of the format's: one, or one of each device. */
static void find_powers(struct fr_watts_log *log, const char *line, char parts) {
    char field[96];
    bool same = true;
    log->n_wide = 0;
    *log->several = '\0';
    for (int i = 0; fr_watts_part(line, parts, i, field, sizeof field); i++) {
        if (!fr_watts_is_power(field) || log->n_wide == FR_WATTS_WIDE) continue;
        int n = log->n_wide++;
        log->wide[n] = i;
        snprintf(log->wide_name[n], sizeof log->wide_name[n], "%.31s", field);
        same &= fr_watts_same_but_numbers(log->wide_name[0], log->wide_name[n]);
        size_t used = strlen(log->several);
        fr_line_addf(log->several, sizeof log->several, &used, "%s%s", used ? ", " : "", field);
    }
    if (log->n_wide < 2 || same) *log->several = '\0';
    if (*log->several) log->n_wide = 0;
}

static bool table_header(struct fr_watts_log *log, const char *line,
                         const struct fr_watts_columns *columns, char parts) {
    char field[96], name[96] = "";
    int power = -1, device = -1, time = -1, host = -1;
    for (int i = 0; fr_watts_part(line, parts, i, field, sizeof field); i++) {
        if (is_named(field, columns->unless)) return false;
        if (power < 0 && is_named(field, columns->power)) {
            power = i;
            snprintf(name, sizeof name, "%s", field);
        } else if (device < 0 && is_named(field, columns->device) &&
                   !(columns->any_power && fr_watts_is_power(field)))
            device = i;
        else if (time < 0 && is_named(field, columns->time))
            time = i;
        else if (host < 0 && parts && fr_watts_is_host(field))
            host = i;
    }
    if (power < 0 && columns->any_power && (time >= 0 || device >= 0 || host >= 0)) {
        find_powers(log, line, parts);
        if (log->n_wide > 1 && device >= 0) log->n_wide = 1;
        if (log->n_wide > 0) {
            power = log->wide[0];
            snprintf(name, sizeof name, "%s", log->wide_name[0]);
        }
        if (log->n_wide == 1) log->n_wide = 0;
    }
    if (power < 0 || (power == 0 && device < 0 && time < 0 && parts == 0)) return false;
    if (columns->needs_device && device < 0) return false;
    log->header_again = log->power_column >= 0;
    log->parts = parts;
    log->power_column = power + columns->before;
    log->device_column = device < 0 ? -1 : device + columns->before;
    log->time_column = time < 0 ? -1 : time + columns->before;
    log->host_column = host < 0 ? -1 : host + columns->before;
    log->unit_W = fr_watts_unit(name);
    return true;
}

/* The number of a field; "520,5" where a semicolon parts them. */
static bool add_field(struct fr_watts_log *log, const char *line, char parts, int column,
                      const char *device) {
    char power[48];
    if (!fr_watts_part(line, parts, column, power, sizeof power)) return false;
    char *comma = parts == ';' ? strchr(power, ',') : NULL;
    if (comma && !strchr(power, '.')) *comma = '.';
    return fr_watts_add_text(log, device, power);
}

bool fr_watts_table_line(struct fr_watts_log *log, const char *line,
                         const struct fr_watts_columns *columns, char parts) {
    char host[64] = "", device[64] = "", time[64] = "", name[FR_WATTS_NAME_B];
    if (table_header(log, line, columns, parts)) return true;
    if (log->power_column < 0 || log->parts != parts) return false;
    if (log->device_column >= 0)
        fr_watts_part(line, parts, log->device_column, device, sizeof device);
    if (log->host_column >= 0) fr_watts_part(line, parts, log->host_column, host, sizeof host);
    if (log->time_column >= 0 &&
        fr_watts_part(line, parts, log->time_column, time, sizeof time))
        fr_watts_set_time(log, time);
    snprintf(name, sizeof name, "%.30s%s%.30s", host, *host && *device ? "/" : "", device);
    if (log->n_wide == 0) return add_field(log, line, parts, log->power_column, name);
    bool any = false;
    for (int i = 0; i < log->n_wide; i++) {
        snprintf(name, sizeof name, "%.30s%s%.31s", host, *host ? "/" : "", log->wide_name[i]);
        any |= add_field(log, line, parts, log->wide[i], name);
    }
    return any;
}

/* ---- a log ----------------------------------------------------------------------------------- */

static void free_log(struct fr_watts_log *log) {
    for (int i = 0; i < log->n_devices; i++) {
        free(log->device[i].power_W);
        log->device[i] = (struct fr_watts_device){.n = 0};
    }
    for (int i = 0; i < log->n_nameless; i++) {
        free(log->nameless[i].time_s);
        free(log->nameless[i].power_W);
        log->nameless[i] = (struct fr_watts_nameless){.n = 0};
    }
    log->n_devices = log->n_nameless = log->without = 0;
    log->power_column = log->device_column = log->time_column = log->host_column = -1;
    log->n_wide = 0;
    log->unit_W = 1;
    log->other_section = false;
    log->parts = *log->current = *log->printer = *log->stamp = '\0';
    log->time_s = NAN;
    log->from_s = INFINITY;
    log->to_s = -INFINITY;
    log->last_s = log->before_s = 0;
    log->too_many = log->header_again = false;
    log->part = 0;
}

static void say_printer(struct fr_watts_log *log, const struct fr_log_tag *tag) {
    size_t used = 0;
    *log->printer = '\0';
    if (tag->rank >= 0)
        fr_line_addf(log->printer, sizeof log->printer, &used, "%d/", (int)tag->rank);
    if (tag->host >= 0)
        fr_line_addf(log->printer, sizeof log->printer, &used, "h%d/", (int)tag->host);
    if (log->part > 0)
        fr_line_addf(log->printer, sizeof log->printer, &used, "f%d/", log->part);
}

static int read_as(const struct fr_watts_format *format, const struct fr_log_text *text,
                   char *line, struct fr_watts_log *log) {
    int readings = 0;
    long number = 1;
    for (size_t at = 0; at < text->length; number++) {
        const char *end = memchr(text->text + at, '\n', text->length - at);
        size_t n = end ? (size_t)(end - (text->text + at)) : text->length - at;
        struct fr_log_tag tag = fr_log_text_tag(text, number);
        memcpy(line, text->text + at, n);
        line[n] = '\0';
        log->time_s = tag.time_s;
        say_printer(log, &tag);
        format->line(log, line);
        at += n + 1;
    }
    for (int i = 0; i < log->n_devices; i++) readings += log->device[i].n;
    for (int i = 0; i < log->n_nameless; i++) readings += log->nameless[i].n;
    return readings;
}

/* Gives readings of which nobody says the device to those of their bursts, printer by printer. */
static fr_status name_devices(struct fr_watts_log *log, const char *name,
                              struct fr_watts *watts, struct fr_error *err) {
    for (int p = 0; p < log->n_nameless; p++) {
        const struct fr_watts_nameless *l = &log->nameless[p];
        if (l->n == 0) continue;
        int *device = fr_malloc((size_t)l->n, sizeof *device);
        int devices = device ? fr_bursts(l->time_s, l->n, device) : -1;
        memcpy(log->printer, l->printer, sizeof log->printer);
        for (int i = 0; i < l->n && devices > 0; i++) {
            char number[FR_WATTS_NAME_B];
            snprintf(number, sizeof number, "burst %d", device[i]);
            if (device[i] >= 0) fr_watts_add(log, number, l->power_W[i]);
        }
        free(device);
        watts->bursts |= devices > 1;
        log->memory_full |= devices < 0;
        if (devices == 0)
            return fr_fail(err, FR_ERR_INPUT, name,
                           "no column says the device, and time stamps do not tell how many "
                           "there are; write both: nvidia-smi "
                           "--query-gpu=timestamp,index,power.draw --format=csv");
    }
    return FR_OK;
}

/* Mean from the first to the last reading above the middle. */
static double mean_W(const struct fr_watts_device *d, int *used) {
    double least_W = INFINITY, most_W = 0, sum_W = 0;
    int first = 0, last = d->n - 1;
    for (int i = 0; i < d->n; i++) {
        least_W = fmin(least_W, d->power_W[i]);
        most_W = fmax(most_W, d->power_W[i]);
    }
    double middle_W = 0.5 * (least_W + most_W);
    while (first < last && d->power_W[first] < middle_W) first++;
    while (last > first && d->power_W[last] < middle_W) last--;
    for (int i = first; i <= last; i++) sum_W += d->power_W[i];
    *used += last - first + 1;
    return sum_W / (last - first + 1);
}

static fr_status sum_up(const struct fr_watts_log *log, const char *name,
                        struct fr_watts *watts, struct fr_error *err) {
    watts->without = log->without;
    watts->from_s = log->from_s <= log->to_s ? log->from_s : NAN;
    watts->to_s = log->from_s <= log->to_s ? log->to_s : NAN;
    for (int i = 0; i < log->n_devices; i++) {
        const struct fr_watts_device *d = &log->device[i];
        watts->silent += d->n == 0;
        if (d->n == 0 && !watts->format->shared)
            return fr_fail(
                err, FR_ERR_INPUT, name,
                "device \"%s\" says no power in any of its %d readings (N/A), so that "
                "the sum lacks it; take power from another meter, or take its lines "
                "out and state measured_J with --column",
                d->name, d->without);
        if (d->n == 0) continue;
        watts->devices++;
        watts->power_W += mean_W(d, &watts->used);
        watts->readings += d->n;
    }
    return FR_OK;
}

static fr_status read_cleaned(const struct fr_log_text *text, const char *name,
                              struct fr_watts_log *log, char *line, struct fr_watts *watts,
                              bool *unknown, struct fr_error *err) {
    int seen = 0;
    *unknown = false;
    for (int i = 0; fr_watts_formats[i] && !watts->format; i++) {
        free_log(log);
        int readings = read_as(fr_watts_formats[i], text, line, log);
        seen += log->without;
        if (readings > 0) watts->format = fr_watts_formats[i];
        if (log->memory_full) return FR_OK;
        if (log->too_many)
            return fr_fail(err, FR_ERR_INPUT, name, "has more than %d devices",
                           FR_WATTS_DEVICES);
    }
    if (watts->format) {
        FR_TRY(name_devices(log, name, watts, err));
        return log->memory_full ? FR_OK : sum_up(log, name, watts, err);
    }
    if (*log->several)
        return fr_fail(
            err, FR_ERR_INPUT, name,
            "several columns tell a power (%s): keep the one that is the run's, or name "
            "it \"power\"",
            log->several);
    if (seen)
        return fr_fail(
            err, FR_ERR_INPUT, name,
            "all of its %d readings of power say N/A: the meter does not tell a power", seen);
    *unknown = true;
    return fr_fail(err, FR_ERR_INPUT, name,
                   "no line of it tells a power; expected nvidia-smi "
                   "(--query-gpu=timestamp,index,power.draw "
                   "--format=csv, dmon -s p, -q -d POWER), dcgmi dmon -e 155, amd-smi or "
                   "rocm-smi, ipmitool "
                   "dcmi power reading, sensors, perf stat -I -x, -e power/energy-pkg/, or a "
                   "table with the "
                   "columns time and watts");
}

enum { PEELS_MAX = 16 };

/* Times before lines may be the meter's own columns, so they stay at first; what cannot be read so is read without them,
 * then without other words that all lines begin with. */
fr_status fr_watts_read(const char *text, size_t length, const char *name,
                        struct fr_watts *watts, struct fr_error *err) {
    struct fr_watts_log *log = fr_calloc(1, sizeof *log);
    struct fr_error first = {.status = FR_OK}, again;
    fr_status status = FR_ERR_INPUT;
    bool full = !log, more = true; /* more: no format was recognised */
    for (unsigned keep = FR_LOG_KEEP_TIMES + 1; !full && more && keep-- > 0;) {
        struct fr_log_text cleaned = {.text = NULL};
        char *line = NULL;
        full = fr_log_text_clean(text, length, keep, &cleaned) != FR_OK;
        if (!full) line = fr_malloc(cleaned.length + 1, 1);
        full |= !line;
        for (int peels = 0; !full && more; peels++) {
            *watts = (struct fr_watts){.format = NULL};
            status = read_cleaned(&cleaned, name, log, line, watts, &more, &again);
            full |= log->memory_full;
            if (first.status == FR_OK || (status == FR_ERR_INPUT && !more)) first = again;
            if (keep || peels == PEELS_MAX || !fr_log_text_peel(&cleaned)) break;
        }
        free(line);
        fr_log_text_free(&cleaned);
    }
    if (log) free_log(log);
    free(log);
    if (full) return fr_fail(err, FR_ERR_NOMEM, NULL, "the log does not fit in memory");
    if (status == FR_ERR_INPUT && err) *err = first;
    return status;
}
