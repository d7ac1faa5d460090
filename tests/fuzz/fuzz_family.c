/* Any JSON is a model, a config.json of Hugging Face among them, or is refused with a place. */
#include "models/plan/iterations.h"
#include "models/workload/workload.h"
#include "tests/fuzz/fuzz.h"

FR_FUZZ_TEXT(text, size) {
    struct fr_json_document *document = NULL;
    struct fr_workload workload = {0};
    struct fr_error err = {0};
    if (fr_json_parse(text, size, "fuzz", &document, &err) == FR_OK) {
        if (fr_model_read(document, &workload, &err) == FR_OK)
            FR_FUZZ_REQUIRE(workload.name[0] || !workload.name[0]);
        else
            FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
        fr_workload_free(&workload);
    }
    fr_json_free(document);
}
