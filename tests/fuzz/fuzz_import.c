/* Any text is read by every importer, or refused with a place; what is read are samples that
 * the samples reader takes back. */
#include <string.h>

#include "calibrate/samples/import.h"
#include "tests/fuzz/fuzz.h"

static void read_with(const struct fr_importer *importer, const char *text, size_t size) {
    struct fr_samples samples = {0}, back = {0};
    struct fr_text notes = {0}, lines = {0};
    struct fr_error err = {0};
    const struct fr_import_options options = {
        .n_ranks = size % 3 ? 8 : 0, .nodes = size % 5, .dtype = size % 2 ? "bf16" : NULL};
    fr_status status =
        fr_import_text(importer, text, size, "fuzz", NULL, &options, &samples, &notes, &err);
    if (status == FR_OK) {
        fr_import_write(&samples, &lines);
        FR_FUZZ_REQUIRE(
            fr_samples_parse(fr_text_get(&lines), lines.length, "back", &back, &err) == FR_OK);
        FR_FUZZ_REQUIRE(back.n_collective == samples.n_collective &&
                        back.n_gemm == samples.n_gemm && back.n_batched == samples.n_batched);
    } else {
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0] &&
                        samples.n_collective + samples.n_gemm + samples.n_batched == 0);
    }
    fr_samples_free(&samples);
    fr_samples_free(&back);
    fr_text_free(&notes);
    fr_text_free(&lines);
}

FR_FUZZ_TEXT(text, size) {
    for (int i = 0; fr_importers[i]; i++) read_with(fr_importers[i], text, size);
}
