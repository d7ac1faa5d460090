/* Any table is read as runs, ours or as one of the published (trust/runs/reader/), or is refused;
 * what was read can be written and read again. */
#include "tests/fuzz/fuzz.h"
#include "trust/runs/runs.h"

FR_FUZZ_TEXT(text, size) {
    struct fr_runs runs = {0}, again = {0};
    struct fr_text out = {0};
    struct fr_error err = {0};
    if (fr_runs_read(fr_fuzz_file(text, size), NULL, &runs, &err) == FR_OK) {
        fr_runs_write(&runs, &out);
        fr_runs_print_skipped(&runs, &out);
        fr_text_free(&out);
        fr_runs_write(&runs, &out);
        if (runs.count > 0) {
            fr_status status =
                fr_runs_read(fr_fuzz_file(out.data, out.length), NULL, &again, &err);
            if (status != FR_OK) fprintf(stderr, "%s: %s\n", err.where, err.detail);
            FR_FUZZ_REQUIRE(status == FR_OK && again.count == runs.count);
        }
    } else
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    fr_text_free(&out);
    fr_runs_free(&again);
    fr_runs_free(&runs);
}
