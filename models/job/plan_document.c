#include "models/job/plan_document.h"

#include <string.h>

#include "models/job/answer_schema.h"
#include "models/job/preset.h"

static bool is_answer(const struct fr_json *node) {
    return strncmp(fr_json_text_at(node, "schema"), "forerun/", strlen("forerun/")) == 0;
}

/* Copy the plan of a document as a document of its own. */
static fr_status copy(const struct fr_json *plan, struct fr_json_document **document,
                      struct fr_error *err) {
    char where[512];
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    fr_json_put_copy(&w, plan);
    fr_status status =
        text.failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory")
                    : fr_json_parse(text.data, text.length,
                                    fr_json_where(plan, where, sizeof where), document, err);
    fr_text_free(&text);
    return status;
}

static fr_status of_answer(const struct fr_json *answer, struct fr_json_document **document,
                           struct fr_error *err) {
    struct fr_json plan = fr_json_member(answer, "plan"),
                   outcome = fr_json_member(answer, "outcome"),
                   best = fr_json_member(answer, "best"),
                   plans = fr_json_member(answer, "plans");
    if (fr_json_is_object(&plan)) return copy(&plan, document, err);
    if (fr_json_is_object(&outcome)) return of_answer(&outcome, document, err);
    if (fr_json_is_object(&best)) return of_answer(&best, document, err);
    for (int64_t i = 0; fr_json_is_string(&best) && i < fr_json_array_length(&plans); i++) {
        struct fr_json one = fr_json_element(&plans, i);
        if (strcmp(fr_json_text_at(&one, "name"), fr_json_text_at(answer, "best")) == 0)
            return of_answer(&one, document, err);
    }
    if (fr_json_is_null(&best))
        return fr_json_fail(&best, err, "is null: none of the plans of this search can be");
    return fr_json_fail(
        answer, err,
        "is %.60s, which holds no plan; --plan takes a plan, an outcome or a search",
        fr_json_text_at(answer, "schema"));
}

fr_status fr_plan_document_read(const char *name, struct fr_json_document **document,
                                struct fr_error *err) {
    struct fr_json_document *read = NULL;
    FR_TRY(fr_preset_or_file_read("plan", name, &read, err));
    struct fr_json root = fr_json_root(read);
    if (!is_answer(&root)) {
        *document = read;
        return FR_OK;
    }
    fr_status status = fr_answer_schema_check(&root, err);
    if (status == FR_OK) status = of_answer(&root, document, err);
    fr_json_free(read);
    return status;
}
