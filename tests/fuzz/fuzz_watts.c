/* Any text is read as a power log, or is refused with its place; the mean is a power of readings that count. */
#include <math.h>

#include "tests/fuzz/fuzz.h"
#include "trust/runs/watts.h"

FR_FUZZ_TEXT(text, size) {
    struct fr_watts w;
    struct fr_error err = {0};
    if (fr_watts_read(text, size, "log", &w, &err) == FR_OK)
        FR_FUZZ_REQUIRE(isfinite(w.power_W) && w.power_W >= 0 && w.used > 0 &&
                        w.used <= w.readings && w.devices > 0);
    else
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
}
