/* Any text is read as a log of MLPerf, or is refused with its place; what it says is finite. */
#include "tests/fuzz/fuzz.h"
#include "trust/runs/mllog.h"

FR_FUZZ_TEXT(text, size) {
    struct fr_mllog log;
    struct fr_error err = {0};
    double step_s = 1, power_W = 0;
    if (fr_mllog_parse(text, size, "log", &log, &err) == FR_OK) {
        if (fr_mllog_step_s(&log, "log", &step_s, &err) == FR_OK) FR_FUZZ_REQUIRE(step_s >= 0);
        if (fr_mllog_power_W(&log, &log, "log", &power_W, &err) == FR_OK)
            FR_FUZZ_REQUIRE(power_W >= 0);
    } else
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    fr_mllog_free(&log);
}
