/** @file
 *  Power that something wrote down while a run trained: its mean at work.
 *
 *  A log holds readings of one device or of several.  Its lines show which format it is.  Prefixes of launchers are
 *  removed (base/text/log_lines.h), and lines of several ranks are of as many nodes.  Where no column says the
 *  device, lines of one time stamp are of as many devices (trust/runs/bursts.h).  For each device a threshold lies in
 *  the middle between its lowest and its highest reading.  Readings count from the first to the last above it.  So
 *  start and end are left out, and waiting between steps stays.  Devices add up.
 *
 *  To add a format: trust/runs/watts/<name>.c exporting fr_watts_<name>, row FR_WATTS(<name>) in
 *  trust/runs/watts_list.h. */
#ifndef FR_TRUST_RUNS_WATTS_H
#define FR_TRUST_RUNS_WATTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum { FR_WATTS_DEVICES = 4096, FR_WATTS_NAME_B = 64 };

struct fr_watts_device {
    char name[FR_WATTS_NAME_B];
    double *power_W;
    int n;
    int without; /**< readings of it that say "N/A" */
};

enum { FR_WATTS_PRINTERS = 256, FR_WATTS_WIDE = 64 };

/** Readings of which nobody says the device. */
struct fr_watts_nameless {
    char printer[24]; /**< of one rank or host */
    double *time_s, *power_W;
    int n;
};

struct fr_watts_log {
    struct fr_watts_device device[FR_WATTS_DEVICES];
    int n_devices;
    struct fr_watts_nameless nameless[FR_WATTS_PRINTERS];
    int n_nameless;
    int power_column, device_column, time_column,
        host_column;                 /**< of a format with a header; -1: not seen */
    int wide[FR_WATTS_WIDE], n_wide; /**< columns of a table that has one for each device */
    char wide_name[FR_WATTS_WIDE][32];
    double unit_W;      /**< of the table's numbers */
    char several[120];  /**< columns of a header that tell different powers */
    bool other_section; /**< what follows is of a part, or of more than the device */
    int time_words;     /**< columns of the time, of a format between blanks */
    char parts;         /**< what parts the fields: ',', ';' or a tab; 0: blanks */
    char current
        [FR_WATTS_NAME_B]; /**< the device whose lines follow, of a format that says it before them */
    char printer[24];            /**< of the line, where a rank or a host stood before it */
    char stamp[FR_WATTS_NAME_B]; /**< the last time, as it was printed */
    double time_s;               /**< of the line; NaN: not said */
    double from_s, to_s;         /**< of all readings; NaN */
    double last_s,
        before_s; /**< of a format that tells energy by interval: ends of the last two */
    int without;  /**< readings that say "N/A" */
    int part; /**< files that were put behind each other: a header again, and an earlier time */
    bool header_again;
    bool memory_full, too_many;
};

struct fr_watts_format {
    const char *name;
    const char *summary;
    const char *source;      /**< what writes it */
    const char *measured_at; /**< of a run's row: device, node, plug; NULL: it does not say */
    bool accelerators;       /**< a device is what a rank runs on */
    bool shared;             /**< one reading may be of two devices; the other then says N/A */
    /** Take what @p line says.  @return whether it is one of this format's */
    bool (*line)(struct fr_watts_log *log, const char *line);
};

/** Rows in table order, then NULL. */
extern const struct fr_watts_format *const fr_watts_formats[];

/** Result of a log. */
struct fr_watts {
    const struct fr_watts_format *format;
    double power_W; /**< of all devices together */
    int devices, readings, used;
    int without; /**< readings that say "N/A" */
    int silent;  /**< devices that say nothing else, since another's reading is theirs too */
    bool bursts; /**< devices were distinguished by time stamps */
    double from_s, to_s; /**< of the readings, seconds since 1970; NaN */
};

/** Read @p text.  @return FR_OK; FR_ERR_INPUT where no line of it tells a power; FR_ERR_NOMEM. */
fr_status fr_watts_read(const char *text, size_t length, const char *name,
                        struct fr_watts *watts, struct fr_error *err);

/** For formats: a reading of the device called @p device ("": nobody says); what is no power from 0 to 1 GW is none. */
void fr_watts_add(struct fr_watts_log *log, const char *device, double power_W);
/** The same of a number with or without its unit ("71.34 W", "95.0W", "71340 mW") or of "N/A", "[Not Supported]", "-".
 *  @return whether @p text is one of them */
bool fr_watts_add_text(struct fr_watts_log *log, const char *device, const char *text);
/** Does a column or key of this name tell a power, and neither a limit nor an energy?  "gpu0_power", "Active Power (W)" */
bool fr_watts_is_power(const char *name);
/** Do two names differ in nothing but their numbers, as "gpu.0.powerWatts" and "gpu.1.powerWatts" of two devices? */
bool fr_watts_same_but_numbers(const char *a, const char *b);
/** Does a key of this name say the device, the host, the time? */
bool fr_watts_is_device(const char *name);
bool fr_watts_is_host(const char *name);
bool fr_watts_is_time(const char *name);
/** Watts of the unit that ends @p name: "power_mW", "Power [kW]". */
double fr_watts_unit(const char *name);
/** Set the time of the line from @p text. */
void fr_watts_set_time(struct fr_watts_log *log, const char *text);
/** The @p i-th field of @p line between commas, blanks around it gone.  @return false: there is none */
bool fr_watts_field(const char *line, int i, char *out, size_t capacity);
/** The same between signs @p parts, quote marks gone; 0: the @p i-th word between blanks. */
bool fr_watts_part(const char *line, char parts, int i, char *out, size_t capacity);

/** A table with a header.  Names end with NULL, each is the beginning of a column's name, small letters only. */
struct fr_watts_columns {
    const char *const *power, *const *device, *const *time;
    bool needs_device; /**< a header without a column of devices is another format's */
    bool any_power; /**< any column whose name or unit says power, where `power` names none */
    const char *const *unless; /**< of a header that is another format's; NULL: none */
    int before;                /**< words of a row before those that the header names */
};
/** Take a line of such a table.  A column that names the host is part of a device's name. */
bool fr_watts_table_line(struct fr_watts_log *log, const char *line,
                         const struct fr_watts_columns *columns, char parts);

#endif
