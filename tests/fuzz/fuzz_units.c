/* Any text is a finite quantity or is refused; what is taken can be written and read back to
 * the same double. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "tests/fuzz/fuzz.h"

static void check(const char *text, fr_quantity quantity) {
    double si = -7, back = 0;
    char written[64];
    struct fr_error err = {0};
    if (fr_quantity_parse(text, quantity, "fuzz", &si, &err) != FR_OK) {
        FR_FUZZ_REQUIRE(si == -7 && err.detail[0]);
        return;
    }
    FR_FUZZ_REQUIRE(isfinite(si));
    fr_quantity_format(si, quantity, written, sizeof written);
    fr_quantity_write(si, quantity, written, sizeof written);
    FR_FUZZ_REQUIRE(fr_quantity_parse(written, quantity, "fuzz", &back, &err) == FR_OK);
    FR_FUZZ_REQUIRE(back == si);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (!text) return 0;
    if (size) memcpy(text, data, size);
    text[size] = '\0';
    for (int q = FR_QUANTITY_TIME; q <= FR_QUANTITY_INVERSE_RATE; q++)
        check(text, (fr_quantity)q);
    free(text);
    return 0;
}
