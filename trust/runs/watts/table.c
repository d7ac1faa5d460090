/* A table with a time and watts, by any meter: "time,watts", "1746763068,1200".  It does not say where it was metered. */
#include "trust/runs/watts.h"

static bool line(struct fr_watts_log *log, const char *line) {
    static const char *const power[] = {"watts",       "watt",
                                        "power",       "power_w",
                                        "power_watts", "w",
                                        "power_draw",  "instantaneous_power",
                                        "total_power", "node_power",
                                        NULL},
                             *const device[] = {"device",    "gpu",        "index", "gpu_id",
                                                "device_id", "deviceid",   "card",  "gpu_index",
                                                "uuid",      "local_rank", "rank",  NULL},
                             *const time[] = {"time",     "timestamp", "epoch",      "date",
                                              "datetime", "ts",        "time_s",     "seconds",
                                              "t",        "elapsed_s", "_timestamp", "_runtime",
                                              NULL};
    static const struct fr_watts_columns columns = {power, device, time, false, true, NULL, 0};
    static const char parts[] = ",;\t";
    if (log->parts) return fr_watts_table_line(log, line, &columns, log->parts);
    for (int i = 0; parts[i]; i++)
        if (fr_watts_table_line(log, line, &columns, parts[i])) return true;
    return false;
}

const struct fr_watts_format fr_watts_table = {
    .name = "table",
    .summary = "power by any meter, a table with a header: time and watts",
    .source = "any meter: time,watts",
    .measured_at = NULL,
    .line = line,
};
