/** @file
 *  What the tests of JSON share: documents that must parse, errors that must say something. */
#ifndef FR_TESTS_BASE_JSON_CHECK_H
#define FR_TESTS_BASE_JSON_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

static inline struct fr_json_document *parsed(const char *text) {
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    if (fr_json_parse(text, strlen(text), "c.json", &document, &err) != FR_OK)
        fail_msg("%s: %s", text, err.detail);
    return document;
}

static inline void must_say(const struct fr_error *err, const char *where, const char *says) {
    assert_string_equal(err->where, where);
    if (!strstr(err->detail, says)) fail_msg("\"%s\" lacks \"%s\"", err->detail, says);
}

static inline char *nested(int depth) {
    char *text = malloc((size_t)depth * 2 + 1);
    assert_non_null(text);
    memset(text, '[', (size_t)depth);
    memset(text + depth, ']', (size_t)depth);
    text[depth * 2] = '\0';
    return text;
}

#endif
