#include "app/inputs/of_samples.h"

#include <stdio.h>
#include <string.h>

#include "app/from/expand.h"
#include "base/digest.h"
#include "base/file/collect.h"
#include "calibrate/judge/fit.h"

/* Was @p note said before in this command?  The program runs one; each call of the library has notes of its own. */
static bool was_said(const char *note) {
    static uint64_t said;
    const struct fr_collected *call = fr_collecting();
    if (call) return strstr(fr_text_get(&call->notes), note) != NULL;
    const uint64_t before = said;
    said = fr_digest_bytes(FR_DIGEST_START, note, strlen(note));
    return said == before;
}

/* Once of a file, however often a command reads it. */
static void say(const char *path, const struct fr_fitted *fitted) {
    const bool standard = strcmp(path, "-") == 0;
    struct fr_text line = {0};
    fr_text_addf(
        &line,
        "forerun: %.200s has samples: a cluster was fitted on the way, verdict %s; forerun "
        "fit %.200s --out cluster.json writes it\n",
        standard ? "standard input" : path, fitted->result.judged.verdict,
        standard ? "SAMPLES" : path);
    if (!was_said(fr_text_get(&line))) fr_app_tell(&line);
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
