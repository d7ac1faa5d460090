/* Any samples are refused with a place, or fitted; the cluster file that comes of it is read. */
#include "calibrate/fit/fit.h"
#include "models/job/cluster.h"
#include "tests/fuzz/fuzz.h"

static void is_a_cluster(const struct fr_fit_result *fit) {
    struct fr_text text = {0};
    struct fr_json_document *document = NULL;
    struct fr_cluster cluster = {.name = ""};
    struct fr_error err = {0};
    fr_fit_write_cluster(fit, &text);
    fr_status status =
        fr_json_parse(fr_text_get(&text), text.length, "cluster", &document, &err);
    if (status == FR_OK) status = fr_cluster_read(document, &cluster, &err);
    if (status != FR_OK) fprintf(stderr, "%s: %s\n", err.where, err.detail);
    FR_FUZZ_REQUIRE(status == FR_OK);
    fr_cluster_free(&cluster);
    fr_json_free(document);
    fr_text_free(&text);
}

FR_FUZZ_TEXT(text, size) {
    const struct fr_fit_options options = {.busy_W = -1, .idle_W = -1};
    struct fr_samples samples = {0};
    struct fr_fit_result fit = {0};
    struct fr_error err = {0};
    fr_status status = fr_samples_parse(text, size, "fuzz", &samples, &err);
    if (status == FR_OK) {
        status = fr_fit(&samples, &options, &fit, &err);
        if (status == FR_OK) is_a_cluster(&fit);
        fr_fit_free(&fit);
    }
    if (status != FR_OK) FR_FUZZ_REQUIRE(err.detail[0]);
    fr_samples_free(&samples);
}
