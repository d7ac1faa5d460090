#include "base/json/file_schema.h"
#include "base/text/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A new version is a row here, a file of the old one under tests/releases, and the number in docs/schemas. */
static const struct fr_file_step steps[] = {{NULL, 0, NULL}};

static const char *const kinds[] = {"cluster", "model", "plan", "runtime"};

static int newest_of(const struct fr_file_step *step, const char *kind) {
    int version = 1;
    for (; step->kind; step++)
        if (strcmp(step->kind, kind) == 0) version = step->from + 1;
    return version;
}

static bool has_versions(const char *kind) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i], kind) == 0) return true;
    return false;
}

int fr_schema_version(const char *kind, const char *schema) {
    char prefix[48];
    int length = snprintf(prefix, sizeof prefix, "forerun/%s/", kind);
    if (strncmp(schema, prefix, (size_t)length) != 0) return 0;
    const char *digits = schema + length;
    size_t n = strspn(digits, "0123456789");
    return n == 0 || n > 6 || digits[n] || *digits == '0' ? -1 : atoi(digits);
}

fr_status fr_schema_refuse(const struct fr_json *schema, int version, int oldest, int newest,
                           struct fr_error *err) {
    const char *text = NULL, *why;
    char reads[40];
    FR_TRY(fr_json_text(schema, &text, err));
    if (oldest == newest)
        snprintf(reads, sizeof reads, "version %d", newest);
    else
        snprintf(reads, sizeof reads, "versions %d to %d", oldest, newest);
    if (version < 0)
        why = "a version is a whole number from 1";
    else
        why = version > newest ? "a newer forerun wrote this file, and reads it"
                               : "the command that made it makes it anew";
    return fr_json_fail(schema, err, "is \"%.40s\"; forerun %s reads %s; %s", text, fr_version,
                        reads, why);
}

fr_status fr_file_schema_take_by(const struct fr_file_step *by, const char *kind,
                                 struct fr_json_document *document, struct fr_error *err) {
    struct fr_json root = fr_json_root(document), schema = fr_json_member(&root, "schema"),
                   dialect = fr_json_member(&root, "$schema");
    if (fr_json_is_string(&dialect)) fr_json_drop(document, "$schema");
    if (!has_versions(kind)) return FR_OK;
    int version = 1, newest = newest_of(by, kind);
    if (fr_json_is_string(&schema))
        version = fr_schema_version(kind, fr_json_text_at(&root, "schema"));
    if (version == 0) return FR_OK;
    if (version < 0 || version > newest)
        return fr_schema_refuse(&schema, version, 1, newest, err);
    for (const struct fr_file_step *step = by; step->kind; step++)
        if (strcmp(step->kind, kind) == 0 && step->from == version) {
            FR_TRY(step->apply(document, err));
            version++;
        }
    if (fr_json_is_string(&schema)) fr_json_drop(document, "schema");
    return FR_OK;
}

fr_status fr_file_schema_take(const char *kind, struct fr_json_document *document,
                              struct fr_error *err) {
    return fr_file_schema_take_by(steps, kind, document, err);
}

void fr_file_schema_put(struct fr_json_writer *w, const char *kind) {
    char schema[40];
    snprintf(schema, sizeof schema, "forerun/%s/%d", kind, newest_of(steps, kind));
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
