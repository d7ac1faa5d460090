#include "app/inputs/of_samples.h"

#include <stdio.h>
#include <string.h>

#include "app/from/expand.h"
#include "base/digest.h"
#include "calibrate/judge/fit.h"

/* Said once of a file, however often a command reads it. */
static void say(const char *path, const struct fr_fitted *fitted) {
    static uint64_t said;
    const uint64_t now = fr_digest_bytes(FR_DIGEST_START, path, strlen(path));
    const bool standard = strcmp(path, "-") == 0;
    struct fr_text line = {0};
    if (said == now) return;
    said = now;
    fr_text_addf(
        &line,
        "forerun: %.200s has samples: a cluster was fitted on the way, verdict %s; forerun "
        "fit %.200s --out cluster.json writes it\n",
        standard ? "standard input" : path, fitted->result.judged.verdict,
        standard ? "SAMPLES" : path);
    fr_app_tell(&line);
    fr_text_free(&line);
}

fr_status fr_app_cluster_of_samples(const char *path, struct fr_json_document **document,
                                    struct fr_error *err) {
    const struct fr_fit_options options = {.busy_W = -1, .idle_W = -1};
    struct fr_fitted fitted = {0};
    struct fr_text text = {0};
    fr_status status = fr_fitted_make(&path, 1, &options, &fitted, err);
    if (status == FR_OK) status = fr_fitted_cluster(&fitted, path, &text, err);
    if (status == FR_OK)
        status = fr_json_parse(fr_text_get(&text), text.length, path, document, err);
    if (status == FR_OK) say(path, &fitted);
    fr_text_free(&text);
    fr_fitted_free(&fitted);
    return status;
}
