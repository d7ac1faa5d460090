#include "models/job/answer_schema.h"

#include <stdio.h>
#include <string.h>

#include "base/json/file_schema.h"
#include "base/text.h"
#include "base/text/version.h"
#include "models/job/preset.h"

static const char ours[] = "forerun/";
enum { KIND = 64, KINDS = 64 };

/* The version that the schema of documents of this kind states; 0: none, as for files. */
static int version_written(const struct fr_preset *preset, const char *kind) {
    struct fr_json_document *document = NULL;
    if (fr_json_parse(preset->text, preset->length, kind, &document, NULL) != FR_OK) return 0;
    struct fr_json root = fr_json_root(document),
                   properties = fr_json_member(&root, "properties"),
                   schema = fr_json_member(&properties, "schema");
    int version = fr_schema_version(kind, fr_json_text_at(&schema, "const"));
    fr_json_free(document);
    return version;
}

static fr_status unknown(const struct fr_json *schema, const char *kind, struct fr_error *err) {
    const char *known[KINDS + 1] = {NULL};
    char tail[200];
    int n = 0;
    for (const struct fr_preset *p = fr_presets; p->name && n < KINDS; p++)
        if (strcmp(p->kind, "schema") == 0) known[n++] = p->name;
    fr_meant_tail(kind, known, tail, sizeof tail);
    return fr_json_fail(schema, err, "is a \"forerun/%.40s\", which forerun %s does not know%s",
                        kind, fr_version, strstr(tail, "did you mean") ? tail : "");
}

fr_status fr_answer_schema_check(const struct fr_json *root, struct fr_error *err) {
    struct fr_json schema = fr_json_member(root, "schema");
    const char *text = fr_json_text_at(root, "schema");
    char kind[KIND];
    if (strncmp(text, ours, sizeof ours - 1) != 0)
        return fr_json_fail(root, err,
                            "is no result of forerun: it has no \"schema\" \"forerun/...\"");
    const char *name = text + sizeof ours - 1;
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(name, "/"), name);
    const struct fr_preset *preset = fr_preset_find("schema", kind);
    int written = preset ? version_written(preset, kind) : 0;
    if (written < 1) return unknown(&schema, kind, err);
    int version = fr_schema_version(kind, text);
    return version == written ? FR_OK
                              : fr_schema_refuse(&schema, version, written, written, err);
}
