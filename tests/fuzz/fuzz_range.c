/* Any text is a list of different whole numbers, none below the least, or is refused; so is any
 * length of time. */
#include <math.h>

#include "base/duration.h"
#include "base/range.h"
#include "tests/fuzz/fuzz.h"

FR_FUZZ_TEXT(text, size) {
    struct fr_error err = {0};
    int64_t *values = NULL;
    size_t count = 0;
    double time_s = NAN;
    bool sizes = size % 2;
    if (fr_range_parse(text, sizes, 1, "--fuzz", &values, &count, &err) == FR_OK) {
        FR_FUZZ_REQUIRE(count > 0 && count <= FR_RANGE_MAX);
        for (size_t i = 0; i < count; i++) FR_FUZZ_REQUIRE(values[i] >= 1);
        for (size_t i = 1; i < count && count < 100; i++)
            for (size_t k = 0; k < i; k++) FR_FUZZ_REQUIRE(values[i] != values[k]);
    } else
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    free(values);
    err = (struct fr_error){0};
    if (fr_duration_parse(text, "--fuzz", 1, 1e6, &time_s, &err) == FR_OK)
        FR_FUZZ_REQUIRE(time_s >= 1 && time_s <= 1e6);
    else
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
}
