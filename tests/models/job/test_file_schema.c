/* Versions of files: the version of today and no version read alike, another is refused with a sentence, and what is
 * written states its version.  A new version brings a file of the old one here. */
#include <string.h>

#include "base/json/file_schema.h"
#include "models/job/file_kind.h"
#include "models/job/preset.h"
#include "tests/cmocka.h"

static const struct {
    const char *kind, *members;
    fr_file_kind file_kind;
} files[] = {
    {"cluster", "\"device\": {}, \"levels\": []", FR_FILE_CLUSTER},
    {"model", "\"kind\": \"ffn\", \"width\": 64, \"layers\": 2", FR_FILE_MODEL},
    {"plan", "\"tp\": 2", FR_FILE_PLAN},
    {"runtime", "\"from\": \"nemo-24.03\"", FR_FILE_RUNTIME},
};
enum { FILES = sizeof files / sizeof *files };

static void copy_of(const struct fr_json_document *document, struct fr_text *text) {
    struct fr_json_writer w = {.text = text};
    struct fr_json root = fr_json_root(document);
    fr_json_put_copy(&w, &root);
}

static fr_status read_text(int f, const char *head, struct fr_text *left,
                           struct fr_error *err) {
    char text[400];
    struct fr_json_document *document = NULL;
    snprintf(text, sizeof text, "{%s%s}", head, files[f].members);
    assert_int_equal(fr_file_kind_of_text(text, strlen(text)), files[f].file_kind);
    fr_status status = fr_preset_or_file_read(files[f].kind, text, &document, err);
    if (status != FR_OK) return status;
    copy_of(document, left);
    fr_json_free(document);
    return FR_OK;
}

static void versions(void **state) {
    static const struct {
        const char *head; /* %s: the kind */
        bool read;
    } heads[] = {{"", true},
                 {"\"schema\": \"forerun/%s/1\", ", true},
                 {"\"$schema\": \"file:///somewhere/%s.json\", ", true},
                 {"\"schema\": \"forerun/%s/2\", ", false},
                 {"\"schema\": \"forerun/%s/0\", ", false},
                 {"\"schema\": \"forerun/%s/\", ", false},
                 {"\"schema\": \"forerun/%s/1.5\", ", false},
                 {"\"schema\": \"forerun/%s/99999999\", ", false}};
    (void)state;
    for (int f = 0; f < FILES; f++) {
        struct fr_text plain = {0};
        assert_int_equal(read_text(f, "", &plain, NULL), FR_OK);
        for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
            char head[100];
            struct fr_text left = {0};
            struct fr_error err = {0};
            snprintf(head, sizeof head, heads[i].head, files[f].kind); // NOLINT: a row above
            assert_int_equal(read_text(f, head, &left, &err),
                             heads[i].read ? FR_OK : FR_ERR_INPUT);
            if (heads[i].read)
                assert_string_equal(fr_text_get(&left), fr_text_get(&plain));
            else
                assert_non_null(strstr(err.detail, "reads versions 1 to 1"));
            fr_text_free(&left);
        }
        fr_text_free(&plain);
    }
}

/* The schema of an answer stays, for its reader. */
static void others_stay(void **state) {
    static const char text[] = "{\"schema\": \"forerun/outcome/1\", \"plan\": {\"tp\": 2}}";
    struct fr_json_document *document = NULL;
    (void)state;
    assert_int_equal(fr_preset_or_file_read("plan", text, &document, NULL), FR_OK);
    struct fr_json root = fr_json_root(document);
    assert_string_equal(fr_json_text_at(&root, "schema"), "forerun/outcome/1");
    fr_json_free(document);
}

static void what_is_written_is_read(void **state) {
    (void)state;
    for (int f = 0; f < FILES; f++) {
        char text[400];
        struct fr_text written = {0}, before = {0}, after = {0};
        struct fr_json_writer w = {.text = &written};
        struct fr_json_document *document = NULL, *back = NULL;
        snprintf(text, sizeof text, "{%s}", files[f].members);
        assert_int_equal(fr_json_parse(text, strlen(text), "a", &document, NULL), FR_OK);
        fr_file_schema_put_document(&w, files[f].kind, document);
        assert_non_null(strstr(fr_text_get(&written), "\"schema\": \"forerun/"));
        assert_int_equal(
            fr_preset_or_file_read(files[f].kind, fr_text_get(&written), &back, NULL), FR_OK);
        copy_of(document, &before), copy_of(back, &after);
        assert_string_equal(fr_text_get(&before), fr_text_get(&after));
        fr_text_free(&written), fr_text_free(&before), fr_text_free(&after);
        fr_json_free(document), fr_json_free(back);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions),
        cmocka_unit_test(others_stay),
        cmocka_unit_test(what_is_written_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
