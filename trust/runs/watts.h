/** @file
 *  Power that something wrote down while a run trained: its mean at work.
 *
 *  A log is of one node, and holds readings of one device or of several.  Its lines tell which format it is.  Of
 *  each device the readings from the first to the last that lie above the middle between its least and its
 *  most count: starting up and the end go, waiting between steps stays.  Devices add up.
 *
 *  To add a format: trust/runs/watts/<name>.c exporting fr_watts_<name>, row FR_WATTS(<name>) in
 *  trust/runs/watts_list.h. */
#ifndef FR_TRUST_RUNS_WATTS_H
#define FR_TRUST_RUNS_WATTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum { FR_WATTS_DEVICES = 64, FR_WATTS_NAME_B = 48 };

struct fr_watts_device {
    char name[FR_WATTS_NAME_B];
    double *power_W;
    int n;
};

struct fr_watts_log {
    struct fr_watts_device device[FR_WATTS_DEVICES];
    int n_devices;
    int power_column, device_column; /**< of a format with a header; -1: not seen */
    double last_s,
        before_s; /**< of a format that tells energy by interval: ends of the last two */
    bool memory_full;
};

struct fr_watts_format {
    const char *name;
    const char *summary;
    const char *source;      /**< what writes it */
    const char *measured_at; /**< of a run's row: device, node, plug */
    /** Take what @p line says.  @return whether it is one of this format's */
    bool (*line)(struct fr_watts_log *log, const char *line);
};

/** Rows in table order, then NULL. */
extern const struct fr_watts_format *const fr_watts_formats[];

/** What a log came to. */
struct fr_watts {
    const struct fr_watts_format *format;
    double power_W; /**< of all devices together */
    int devices, readings, used;
};

/** Read @p text.  @return FR_OK; FR_ERR_INPUT where no line of it tells a power; FR_ERR_NOMEM. */
fr_status fr_watts_read(const char *text, size_t length, const char *name,
                        struct fr_watts *watts, struct fr_error *err);

/** For formats: a reading of the device called @p device; what is no power from 0 to 1 GW is none. */
void fr_watts_add(struct fr_watts_log *log, const char *device, double power_W);
/** The @p i-th field of @p line between commas, blanks around it gone.  @return false: there is none */
bool fr_watts_field(const char *line, int i, char *out, size_t room);

#endif
