/* Versions of files: the version of today and no version read alike, another is refused with a sentence, and what is
 * written states its version.  A new version brings a file of the old one here. */
#include <string.h>

#include "base/json/file_schema.h"
#include "models/job/answer_schema.h"
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
                assert_non_null(strstr(err.detail, "reads version 1;"));
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

/* ---- steps, of a kind that had two ---------------------------------------------------------------- */

static fr_status first_step(struct fr_json_document *document, struct fr_error *err) {
    return fr_json_set(document, "way", "one", "step", err);
}

static fr_status second_step(struct fr_json_document *document, struct fr_error *err) {
    struct fr_json root = fr_json_root(document);
    char way[8] = "-";
    FR_TRY(fr_json_get_string(&root, "way", false, way, sizeof way, err));
    if (strcmp(way, "bad") == 0) return fr_json_fail(&root, err, "cannot be upgraded");
    strcat(way, "2");
    return fr_json_set(document, "way", way, "step", err);
}

static const struct fr_file_step steps[] = {
    {"cluster", 1, first_step}, {"cluster", 2, second_step}, {NULL, 0, NULL}};

static void each_step_once(void **state) {
    static const struct {
        const char *text, *way; /* NULL: refused */
        const char *kind, *says;
    } cases[] = {
        {"{\"levels\": []}", "one2", "cluster", NULL}, /* no version is the first */
        {"{\"schema\": \"forerun/cluster/1\"}", "one2", "cluster", NULL},
        {"{\"schema\": \"forerun/cluster/2\", \"way\": \"x\"}", "x2", "cluster", NULL},
        {"{\"schema\": \"forerun/cluster/3\", \"way\": \"x\"}", "x", "cluster", NULL},
        {"{\"schema\": \"forerun/cluster/4\"}", NULL, "cluster", "reads versions 1 to 3;"},
        {"{\"schema\": \"forerun/cluster/2\", \"way\": \"bad\"}", NULL, "cluster",
         "cannot be upgraded"},
        {"{\"way\": \"x\"}", "x", "model", NULL}, /* which had no step */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_json_document *document = NULL;
        struct fr_error err = {0};
        assert_int_equal(
            fr_json_parse(cases[i].text, strlen(cases[i].text), "a", &document, NULL), FR_OK);
        fr_status status = fr_file_schema_take_by(steps, cases[i].kind, document, &err);
        struct fr_json root = fr_json_root(document);
        assert_int_equal(status, cases[i].way ? FR_OK : FR_ERR_INPUT);
        if (cases[i].way) {
            struct fr_json schema = fr_json_member(&root, "schema");
            assert_string_equal(fr_json_text_at(&root, "way"), cases[i].way);
            assert_false(fr_json_present(&schema));
        } else
            FR_TRUE(strstr(err.detail, cases[i].says), "%s", err.detail);
        fr_json_free(document);
    }
}

/* ---- answers --------------------------------------------------------------------------------------- */

static void answers_of_this_version(void **state) {
    static const struct {
        const char *schema, *says; /* NULL: read */
    } cases[] = {{"forerun/outcome/1", NULL},
                 {"forerun/outcome/2", "reads version 1; a newer forerun wrote this file"},
                 {"forerun/outcome/1.0", "reads version 1; a version is a whole number"},
                 {"forerun/outcome/", "reads version 1; a version is a whole number"},
                 {"forerun/outcom/1", "does not know; did you mean \"outcome\"?"},
                 {"forerun/cluster/1", "does not know"}, /* a file, no answer */
                 {"forerun/", "does not know"},
                 {"outcome/1", "is no result of forerun"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_json_document *document = NULL;
        struct fr_error err = {0};
        char text[100];
        snprintf(text, sizeof text, "{\"schema\": \"%s\"}", cases[i].schema);
        assert_int_equal(fr_json_parse(text, strlen(text), "a", &document, NULL), FR_OK);
        struct fr_json root = fr_json_root(document);
        fr_status status = fr_answer_schema_check(&root, &err);
        FR_TRUE(status == (cases[i].says ? FR_ERR_INPUT : FR_OK), "%s", cases[i].schema);
        if (cases[i].says)
            FR_TRUE(strstr(err.detail, cases[i].says), "%s: %s", cases[i].schema, err.detail);
        if (i == 0) {
            struct fr_json schema = fr_json_member(&root, "schema");
            fr_schema_refuse(&schema, 1, 2, 3, &err);
            FR_TRUE(strstr(err.detail, "reads versions 2 to 3; the command that made it"), "%s",
                    err.detail);
        }
        fr_json_free(document);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions),
        cmocka_unit_test(each_step_once),
        cmocka_unit_test(answers_of_this_version),
        cmocka_unit_test(others_stay),
        cmocka_unit_test(what_is_written_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
