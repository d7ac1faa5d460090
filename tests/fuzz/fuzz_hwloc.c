/* Any bytes are the XML of a node, and then a cluster file's node part is JSON, or are refused;
 * libhwloc may die of them, we may not. */
#include "base/json.h"
#include "tests/fuzz/fuzz.h"
#include "topology/discover.h"

FR_FUZZ_TEXT(text, size) {
    const char *path = fr_fuzz_file(text, size);
    struct fr_text out = {0};
    struct fr_error err = {0};
    struct fr_json_document *document = NULL;
    if (fr_discover(path, FR_RANK_UNIT_auto, &out, &err) == FR_OK) {
        FR_FUZZ_REQUIRE(fr_json_parse(fr_text_get(&out), out.length, "node", &document, &err) ==
                        FR_OK);
        fr_json_free(document);
    } else
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0] && out.length == 0);
    fr_text_free(&out);
}
