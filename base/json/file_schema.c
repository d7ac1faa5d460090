#include "base/json/file_schema.h"
#include "base/text/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One step: a file of version @p from becomes one of the next.  A new version is a row here, a file of the old one under
 * tests/base/schemas, and the number in docs/schemas. */
struct upgrade {
    const char *kind;
    int from;
    fr_status (*apply)(struct fr_json_document *document, struct fr_error *err);
};
static const struct upgrade upgrades[] = {{NULL, 0, NULL}};

static const char *const kinds[] = {"cluster", "model", "plan", "runtime"};

static int newest(const char *kind) {
    int version = 1;
    for (const struct upgrade *u = upgrades; u->kind; u++)
        if (strcmp(u->kind, kind) == 0) version = u->from + 1;
    return version;
}

static bool has_versions(const char *kind) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i], kind) == 0) return true;
    return false;
}

/* The version behind "forerun/KIND/"; 0: the schema is none of @p kind; -1: of this kind, and no whole number from 1. */
static int version_of(const char *kind, const char *schema) {
    char prefix[32];
    int length = snprintf(prefix, sizeof prefix, "forerun/%s/", kind);
    if (strncmp(schema, prefix, (size_t)length) != 0) return 0;
    const char *digits = schema + length;
    size_t n = strspn(digits, "0123456789");
    return n == 0 || n > 6 || digits[n] || *digits == '0' ? -1 : atoi(digits);
}

fr_status fr_file_schema_take(const char *kind, struct fr_json_document *document,
                              struct fr_error *err) {
    struct fr_json root = fr_json_root(document), schema = fr_json_member(&root, "schema"),
                   dialect = fr_json_member(&root, "$schema");
    if (!has_versions(kind)) return FR_OK;
    if (fr_json_is_string(&dialect)) fr_json_drop(document, "$schema");
    if (!fr_json_is_string(&schema)) return FR_OK;
    const char *text = fr_json_text_at(&root, "schema");
    int version = version_of(kind, text);
    if (version == 0) return FR_OK;
    if (version < 0 || version > newest(kind))
        return fr_json_fail(&schema, err, "is \"%.40s\"; forerun %s reads versions 1 to %d; %s",
                            text, fr_version, newest(kind),
                            version < 0 ? "a version is a whole number"
                                        : "a newer forerun wrote this file, and reads it");
    for (const struct upgrade *u = upgrades; u->kind; u++)
        if (strcmp(u->kind, kind) == 0 && u->from == version) {
            FR_TRY(u->apply(document, err));
            version++;
        }
    fr_json_drop(document, "schema");
    return FR_OK;
}

void fr_file_schema_put(struct fr_json_writer *w, const char *kind) {
    char schema[40];
    snprintf(schema, sizeof schema, "forerun/%s/%d", kind, newest(kind));
    fr_json_add_string(w, "schema", schema);
}

void fr_file_schema_put_document(struct fr_json_writer *w, const char *kind,
                                 const struct fr_json_document *document) {
    struct fr_json root = fr_json_root(document);
    fr_json_begin_object(w);
    fr_file_schema_put(w, kind);
    for (int64_t i = 0; fr_json_key_at(&root, i); i++) {
        struct fr_json member = fr_json_member(&root, fr_json_key_at(&root, i));
        fr_json_key(w, fr_json_key_at(&root, i));
        fr_json_put_copy(w, &member);
    }
    fr_json_end_object(w);
}
