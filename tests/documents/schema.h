/** @file
 *  JSON Schemas (draft 2020-12) of documents, written from the tables that their readers walk; and files of docs/
 *  held against what is written, or written anew.
 *
 *  A member that no table has is stated as JSON with ' for ": put(w, "{'type': 'string'}"). */
#ifndef FR_TESTS_DOCUMENTS_SCHEMA_H
#define FR_TESTS_DOCUMENTS_SCHEMA_H

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/units.h"
#include "tests/cmocka.h"

/** The value that @p quoted states. */
static inline void put(struct fr_json_writer *w, const char *quoted) {
    char text[2048];
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    snprintf(text, sizeof text, "%s", quoted);
    for (char *at = text; (at = strchr(at, '\'')); at++) *at = '"';
    if (fr_json_parse(text, strlen(text), "schema", &document, &err) != FR_OK)
        fail_msg("%s: %s", quoted, err.detail);
    struct fr_json root = fr_json_root(document);
    fr_json_put_copy(w, &root);
    fr_json_free(document);
}

static inline void add(struct fr_json_writer *w, const char *key, const char *quoted) {
    fr_json_key(w, key);
    put(w, quoted);
}

/** Members of a file that users keep: its version, and the schema that their editor reads. */
static inline void add_file_versions(struct fr_json_writer *w, const char *kind) {
    char text[160];
    snprintf(text, sizeof text,
             "{'type': 'string', 'pattern': '^forerun/%s/[1-9][0-9]*$', 'description': "
             "'version of the file'}",
             kind);
    add(w, "schema", text);
    add(w, "$schema", "{'type': 'string', 'description': 'for editors; not read'}");
}

/** Words up to NULL, as member "enum". */
static inline void add_words(struct fr_json_writer *w, const char *const *words) {
    fr_json_add_array(w, "enum");
    for (; *words; words++) fr_json_put_string(w, *words);
    fr_json_end_array(w);
}

/** @p type "integer" or "number", and its bounds. */
static inline void add_bounds(struct fr_json_writer *w, const char *type, double least,
                              double most) {
    fr_json_add_string(w, "type", type);
    fr_json_add_number(w, "minimum", least);
    fr_json_add_number(w, "maximum", most);
}

/** Words of docs/ without their marks, of a link its words; nothing where there are none. */
static inline void add_sentence(struct fr_json_writer *w, const char *key, const char *marked) {
    struct fr_text plain = {0};
    for (const char *at = marked; *at; at++) {
        const char *end = *at == '[' ? strchr(at, ']') : NULL;
        if (end && end[1] == '(' && strchr(end, ')')) {
            fr_text_add(&plain, at + 1, (size_t)(end - at - 1));
            at = strchr(end, ')');
        } else if (*at != '`')
            fr_text_add(&plain, at, 1);
    }
    if (*marked) fr_json_add_string(w, key, fr_text_get(&plain));
    fr_text_free(&plain);
}

static const struct {
    const char *name, *units;
} schema_quantities[] = {
    [FR_QUANTITY_TIME] = {"time", "(m|u|µ|μ|n|p|f)?s|min|h|d"},
    [FR_QUANTITY_SIZE] = {"size", "(Ki|Mi|Gi|Ti|Pi|K|k|M|G|T|P|E)?[Bb]"},
    [FR_QUANTITY_RATE] = {"rate", "(Ki|Mi|Gi|Ti|Pi|K|k|M|G|T|P|E)?[Bb]/s"},
    [FR_QUANTITY_WORK_RATE] = {"work_rate", "(K|k|M|G|T|P|E)?(FLOP|flop)/s"},
    [FR_QUANTITY_POWER] = {"power", "(K|k|M|G|T|P|E|m|u|µ|μ|n|p|f)?W"},
    [FR_QUANTITY_ENERGY] = {"energy", "(K|k|M|G|T|P|E|m|u|µ|μ|n|p|f)?(J|Wh)"},
    [FR_QUANTITY_INVERSE_RATE] = {"inverse_rate", "(m|u|µ|μ|n|p|f)?s/B"},
    [FR_QUANTITY_FREQUENCY] = {"frequency", "(K|k|M|G|T|P|E)?Hz"},
};

/** A number with its unit, as member of $defs. */
static inline void define_quantity(struct fr_json_writer *w, fr_quantity q) {
    char text[256];
    fr_json_add_object(w, schema_quantities[q].name);
    fr_json_add_string(w, "type", "string");
    snprintf(text, sizeof text,
             "^ *[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)? *(%s) *$",
             schema_quantities[q].units);
    fr_json_add_string(w, "pattern", text);
    snprintf(text, sizeof text, "a %s, with its unit: \"%s\"", fr_quantity_name(q),
             fr_quantity_example(q));
    fr_json_add_string(w, "description", text);
    fr_json_end_object(w);
}

/** One with its unit, defined in @p file ("": here). */
static inline void refer_to_quantity(struct fr_json_writer *w, const char *file,
                                     fr_quantity q) {
    char text[64];
    snprintf(text, sizeof text, "%s#/$defs/%s", file, schema_quantities[q].name);
    fr_json_add_string(w, "$ref", text);
}

/** The head of a schema, whose object stays open. */
static inline void begin_schema(struct fr_json_writer *w, const char *title,
                                const char *description) {
    fr_json_begin_object(w);
    fr_json_add_string(w, "$schema", "https://json-schema.org/draft/2020-12/schema");
    fr_json_add_string(w, "title", title);
    fr_json_add_string(w, "description", description);
    fr_json_add_string(w, "type", "object");
}

/* ---- files ---------------------------------------------------------------------------------- */

static bool documents_are_written; /**< anew, rather than held against the files */

static char *file_of_docs(const char *path) {
    char *text = NULL;
    size_t length = 0;
    if (fr_file_read(path, FR_FILE_MAX_B, &text, &length, NULL) != FR_OK)
        fail_msg("%s cannot be read", path);
    return text;
}

/** @p wanted is what file @p name below the source should hold. */
static inline void hold_file(const char *name, const char *wanted) {
    char path[512];
    size_t at = 0, line = 1;
    snprintf(path, sizeof path, "%s/%s", FR_SOURCE_DIR, name);
    if (documents_are_written) {
        FILE *file = fopen(path, "w");
        if (!file || fputs(wanted, file) < 0 || fclose(file) != 0)
            fail_msg("%s cannot be written", path);
        return;
    }
    char *have = file_of_docs(path);
    for (; have[at] && have[at] == wanted[at]; at++) line += have[at] == '\n';
    FR_TRUE(have[at] == wanted[at],
            "%s, line %zu: not what its table says (\"%.60s\"): run `ninja documents` in the "
            "build folder",
            name, line, wanted + at);
    free(have);
}

/** The table of file @p name whose head is @p head (two lines) has the rows @p rows. */
static inline void hold_table(const char *name, const char *head, const char *rows) {
    char path[512];
    struct fr_text whole = {0};
    snprintf(path, sizeof path, "%s/%s", FR_SOURCE_DIR, name);
    char *have = file_of_docs(path), *at = strstr(have, head);
    if (!at) fail_msg("%s has no table with the head\n%s", name, head);
    at += strlen(head);
    fr_text_add(&whole, have, (size_t)(at - have));
    fr_text_add(&whole, rows, strlen(rows));
    while (*at == '|') at += strcspn(at, "\n") + 1;
    fr_text_add(&whole, at, strlen(at));
    hold_file(name, fr_text_get(&whole));
    fr_text_free(&whole);
    free(have);
}

/** The tests of @p suite, or, with --write, the files. */
#define DOCUMENTS_MAIN(argc, argv, tests)                                                      \
    (documents_are_written = (argc) > 1 && strcmp((argv)[1], "--write") == 0,                  \
     cmocka_run_group_tests(tests, NULL, NULL))

#endif
