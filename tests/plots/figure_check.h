/* Parts that tests of figures share: fixtures, drawing into a folder of the test's own, reading back. */
#ifndef FR_TESTS_PLOTS_FIGURE_CHECK_H
#define FR_TESTS_PLOTS_FIGURE_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "plots/figure.h"

#define FIXTURES FR_SOURCE_DIR "/tests/plots/fixtures/"

/* Each test program works in a folder of its own, and leaves none. */
static char test_folder[] = "/tmp/forerun-test-plots.XXXXXX";

static inline int enter_folder(void **state) {
    (void)state;
    return mkdtemp(test_folder) && chdir(test_folder) == 0 &&
                   setenv("TMPDIR", test_folder, 1) == 0
               ? 0
               : -1;
}

static inline int leave_folder(void **state) {
    (void)state;
    return chdir("/") == 0 && rmdir(test_folder) == 0 ? 0 : -1; /* empty again, or it fails */
}

static inline char *read_text(const char *path) {
    char *text = NULL;
    size_t length = 0;
    struct fr_error err = {0};
    if (fr_file_read(path, FR_FILE_MAX_B, &text, &length, &err) != FR_OK)
        fail_msg("%s: %s", path, err.detail);
    return text;
}

/* Draw figure @p name from JSON text, called @p from in messages. */
static inline fr_status draw_text(const char *name, const char *json, const char *from,
                                  const struct fr_figure_options *o, struct fr_error *err) {
    const struct fr_figure *figure = NULL;
    struct fr_json_document *document = NULL;
    assert_int_equal(fr_figure_find(name, &figure, err), FR_OK);
    if (fr_json_parse(json, strlen(json), from, &document, err) != FR_OK)
        fail_msg("%s: %s", err->where, err->detail);
    struct fr_json root = fr_json_root(document);
    fr_status status = fr_figure_draw(figure, &root, 1, o, err);
    fr_json_free(document);
    return status;
}

static inline void draws(const char *name, const char *json, const char *output) {
    struct fr_error err = {0};
    struct fr_figure_options o = {.output = output};
    if (draw_text(name, json, "results.json", &o, &err) != FR_OK)
        fail_msg("%s: %s: %s", name, err.where, err.detail);
}

/* @p text with @p from replaced by @p to everywhere; freed by the caller. */
static inline char *with(const char *text, const char *from, const char *to) {
    struct fr_text out = {0};
    const char *at;
    assert_non_null(strstr(text, from));
    for (; (at = strstr(text, from)); text = at + strlen(from)) {
        fr_text_add(&out, text, (size_t)(at - text));
        fr_text_add(&out, to, strlen(to));
    }
    fr_text_add(&out, text, strlen(text));
    return out.data;
}

static inline void holds(const char *what, const char *text, const char *wanted) {
    if (!strstr(text, wanted)) fail_msg("%s: no \"%s\" in it", what, wanted);
}

#endif
