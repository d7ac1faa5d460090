/* Any two files of samples, a NUL between them, are compared as calibrate --check and --refresh do, or are
 * refused; what comes of a refresh is read like the files it is made of. */
#include <math.h>

#include "calibrate/measure/drifted.h"
#include "calibrate/samples/compare.h"
#include "calibrate/samples/series.h"
#include "tests/fuzz/fuzz.h"

static void replace(const char *earlier, const char *later, const struct fr_drifted *d) {
    struct fr_text merged = {0};
    struct fr_samples samples = {0};
    struct fr_error err = {0};
    char names[FR_DRIFTED_ROWS * 40];
    fr_drifted_names(d, names, sizeof names);
    if (fr_drifted_replace(earlier, later, *names ? names : "all_reduce,gemm,memory,kernel",
                           &merged, &err) == FR_OK) {
        fr_status status =
            fr_samples_parse(fr_text_get(&merged), merged.length, "merged", &samples, &err);
        if (status != FR_OK) fprintf(stderr, "%s: %s\n", err.where, err.detail);
        FR_FUZZ_REQUIRE(status == FR_OK);
    } else
        FR_FUZZ_REQUIRE(err.detail[0]);
    fr_samples_free(&samples);
    fr_text_free(&merged);
}

static void compare(const char *text[2], const struct fr_samples samples[2]) {
    struct fr_drifted d = {.n = 0};
    struct fr_series_list list = {0};
    FR_FUZZ_REQUIRE(fr_drifted_find(&samples[0], &samples[1], &d) == FR_OK);
    for (int i = 0; i < d.n; i++)
        FR_FUZZ_REQUIRE(d.row[i].points == 0 ||
                        (d.row[i].ratio > 0 && isfinite(d.row[i].ratio)));
    FR_FUZZ_REQUIRE(isfinite(d.lost_then) && isfinite(d.lost_now));
    replace(text[0], text[1], &d);
    FR_FUZZ_REQUIRE(fr_series_find(&samples[1], &list) == FR_OK);
    fr_series_join(&samples[1], &list, "a");
    fr_series_free(&list);
}

FR_FUZZ_TEXT(text, size) {
    struct fr_samples samples[2] = {{.n_source = 0}, {.n_source = 0}};
    struct fr_error err = {0};
    size_t first = strlen(text);
    const char *part[2] = {text, first < size ? text + first + 1 : text};
    fr_status status = FR_OK;
    for (int i = 0; i < 2 && status == FR_OK; i++)
        status = fr_samples_parse(part[i], strlen(part[i]), "fuzz", &samples[i], &err);
    if (status == FR_OK)
        compare(part, samples);
    else
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    for (int i = 0; i < 2; i++) fr_samples_free(&samples[i]);
}
