/* Any text is read as every trainer's log, or refused with its place; a time that is read is positive. */
#include <math.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "trust/runs/log.h"

static void read_with(const struct fr_run_log *log, const char *text, size_t size) {
    struct fr_run_row row = {0};
    struct fr_log_counts counts;
    struct fr_error err = {0};
    fr_run_row_set(&row, "ranks", "8");
    fr_run_row_set(&row, "model.sequence", "2048");
    if (fr_run_log_read(log, text, size, "log", &row, &counts, &err) != FR_OK) {
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
        return;
    }
    const char *time = fr_run_row_get(&row, "measured_s");
    double time_s = time ? atof(time) : NAN;
    FR_FUZZ_REQUIRE(time_s >= 0 && isfinite(time_s));
}

FR_FUZZ_TEXT(text, size) {
    for (int i = 0; fr_run_logs[i]; i++) read_with(fr_run_logs[i], text, size);
}
