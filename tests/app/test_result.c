/* A result file is replaced only by a result that is at least as complete: whatever a cluster file has that the new one
 * lacks keeps it, and the new one goes beside. */
#include "app/result.h"

#include <sys/stat.h>

#include "app/completeness.h"
#include "base/json.h"
#include "tests/app/command.h"
#include "tests/scratch.h"

/* ---- families ------------------------------------------------------------------------------- */

/* A cluster file in parts; each but the first and the last is a family of its own, or a part of one. */
static const char *const parts[] = {
    "{\"device\": {\"memory\": \"1 GB\"",
    ", \"working_sets\": {\"size\": []}",
    ", \"clock\": {\"max\": \"1 GHz\"}",
    ", \"power\": {\"busy\": \"6 W\", \"quality\": \"measured\"}",
    ", \"gemm\": {\"fp64\": {\"residuals\": {\"points\": 5}}",
    ", \"fp32\": {\"residuals\": {\"points\": 7}",
    ", \"from_memory\": {\"m\": []}",
    ", \"adds\": {\"m\": []}",
    "}}}, \"collectives\": {\"all_gather\": {\"residuals\": {\"points\": 3}}",
    ", \"all_reduce\": {\"residuals\": {\"points\": 4}}",
    ", \"send_recv\": {}",
    "}}"};
enum { PARTS = sizeof parts / sizeof *parts };
static const struct {
    int part;
    const char *lacks;
} families[] = {{1, "working_sets"}, {2, "clock"},      {3, "power"},     {6, "from_memory"},
                {7, "adds"},         {9, "all_reduce"}, {10, "send_recv"}};

static struct fr_json_document *without(int part, const char *instead) {
    struct fr_text text = {0};
    struct fr_json_document *document = NULL;
    struct fr_error err;
    for (int i = 0; i < PARTS; i++) fr_text_addf(&text, "%s", i == part ? instead : parts[i]);
    if (fr_json_parse(text.data, text.length, "f", &document, &err) != FR_OK)
        fail_msg("%s: %s", text.data, err.detail);
    fr_text_free(&text);
    return document;
}

static bool as_complete(struct fr_json_document *then, struct fr_json_document *now, bool early,
                        char lacks[200]) {
    struct fr_json a = fr_json_root(then), b = fr_json_root(now);
    return fr_cluster_as_complete(&a, &b, early, lacks, 200);
}

static void every_family_counts(void **state) {
    struct fr_json_document *whole = without(-1, "");
    char lacks[200];
    (void)state;
    assert_true(as_complete(whole, whole, false, lacks));
    assert_true(as_complete(whole, whole, true, lacks));
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        struct fr_json_document *less = without(families[i].part, "");
        for (int early = 0; early < 2; early++) {
            if (as_complete(whole, less, early, lacks))
                fail_msg("without %s as complete", families[i].lacks);
            if (!strstr(lacks, families[i].lacks))
                fail_msg("lacks %s, not %s", lacks, families[i].lacks);
        }
        if (!as_complete(less, whole, true, lacks)) fail_msg("more lacks %s", lacks);
        fr_json_free(less);
    }
    /* An assumed value is no family. */
    struct fr_json_document *assumed =
        without(3, ", \"power\": {\"busy\": \"6 W\", \"quality\": \"estimated\"}");
    assert_false(as_complete(whole, assumed, false, lacks));
    assert_true(as_complete(assumed, whole, false, lacks));
    fr_json_free(assumed);
    fr_json_free(whole);
}

static void fewer_points_count_where_it_ended_early(void **state) {
    struct fr_json_document *whole = without(-1, ""),
                            *fewer = without(
                                9, ", \"all_reduce\": {\"residuals\": {\"points\": 1}}");
    char lacks[200];
    (void)state;
    assert_true(as_complete(whole, fewer, false, lacks));
    assert_false(as_complete(whole, fewer, true, lacks));
    assert_string_equal(lacks, "3 of 19 points");
    assert_true(as_complete(fewer, whole, true, lacks));
    fr_json_free(whole);
    fr_json_free(fewer);
}

/* ---- files ---------------------------------------------------------------------------------- */

static char *text_of(const char *path) {
    char *text = NULL;
    size_t length = 0;
    return fr_file_read(path, FR_FILE_MAX_B, &text, &length, NULL) == FR_OK ? text : NULL;
}

static void less_goes_beside(void **state) {
    struct fr_error err = {.status = FR_OK};
    struct fr_result_file r = {.path = "r.json", .lacks = "trainings"};
    (void)state;
    assert_int_equal(fr_result_write(&r, "first", 5, &err), FR_OK); /* there is none yet */
    assert_int_equal(fr_result_write(&r, "less", 4, &err), FR_ERR_PARTIAL);
    assert_string_equal(r.written, "r.json.partial");
    assert_non_null(strstr(err.detail, "r.json.partial"));
    char *saved = text_of("r.json"), *beside = text_of("r.json.partial");
    assert_string_equal(saved, "first");
    assert_string_equal(beside, "less");
    r.lacks = NULL;
    assert_int_equal(fr_result_write(&r, "more", 4, &err), FR_OK);
    free(saved);
    saved = text_of("r.json");
    assert_string_equal(saved, "more");
    free(saved);
    free(beside);
}

/* A job that ended early says so, and where its result is. */
static void both_sentences_are_said(void **state) {
    struct fr_error early = {.status = FR_OK}, err = {.status = FR_OK};
    (void)state;
    fr_fail(&early, FR_ERR_PARTIAL, "mpirun", "was killed");
    fr_fail(&err, FR_ERR_PARTIAL, "c.json", "is kept; the new result is in c.json.partial");
    assert_int_equal(fr_result_end(FR_ERR_PARTIAL, &early, &err), FR_ERR_PARTIAL);
    assert_string_equal(err.detail,
                        "was killed; c.json is kept; the new result is in c.json.partial");
    assert_int_equal(fr_result_end(FR_OK, &early, &err), FR_ERR_PARTIAL);
    assert_string_equal(err.detail, "was killed");
    early.status = FR_OK;
    assert_int_equal(fr_result_end(FR_OK, &early, &err), FR_OK);
}

static void a_fit_of_less_keeps_the_cluster_file(void **state) {
    (void)state;
    if (system("sh " FR_SOURCE_DIR "/tests/golden/in/samples.sh >all.jsonl") != 0 ||
        system("grep -e provenance -e '\"all_reduce\"' all.jsonl >few.jsonl") != 0)
        fail_msg("no samples");
    fr_test_expect("forerun fit all.jsonl --out c.json", 0, "cluster file: c.json", NULL);
    char *before = text_of("c.json");
    struct output o = fr_test_run("forerun fit few.jsonl --out c.json");
    if (o.exit_code != 5 || !strstr(o.err, "c.json.partial") ||
        !strstr(o.out, "c.json.partial"))
        fail_msg("exit %d\n%s%s", o.exit_code, o.out, o.err);
    fr_test_output_free(&o);
    char *after = text_of("c.json"), *beside = text_of("c.json.partial");
    assert_string_equal(after, before);
    assert_non_null(beside);
    fr_test_expect("forerun fit all.jsonl --out c.json", 0, "cluster file: c.json", NULL);
    fr_test_expect("forerun fit few.jsonl --out new.json", 0, "cluster file: new.json", NULL);
    fr_test_expect("forerun fit few.jsonl --out new.json", 0, "cluster file: new.json", NULL);
    free(before);
    free(after);
    free(beside);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family_counts),
        cmocka_unit_test(fewer_points_count_where_it_ended_early),
        cmocka_unit_test(less_goes_beside), cmocka_unit_test(both_sentences_are_said),
        cmocka_unit_test(a_fit_of_less_keeps_the_cluster_file)};
    return cmocka_run_group_tests(tests, fr_scratch_enter, fr_scratch_leave);
}
