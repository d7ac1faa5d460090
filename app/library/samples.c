/* A calibration's samples stand for a cluster in the library, too: wherever one is named. */
#include "app/inputs/of_samples.h"
#include "base/file/collect.h"
#include "library/call.h"
#include "models/job/preset.h"

/* A fit sets GSL's error handler, and says what it did, which a call without notes does not pass on. */
static fr_status fit(const char *path, struct fr_json_document **document,
                     struct fr_error *err) {
    struct fr_collected nobody = {.out = {0}}, *outer = fr_collecting();
    fr_call_wait();
    if (!outer) fr_collect(&nobody);
    fr_status status = fr_app_cluster_of_samples(path, document, err);
    fr_collect(outer);
    fr_call_go_on();
    fr_text_free(&nobody.out);
    fr_text_free(&nobody.notes);
    return status;
}

/* When the library is loaded, before there are threads that read files. */
__attribute__((constructor)) static void begin(void) { fr_preset_fit_samples(fit); }
