/* The table of formats, what every row keeps, and the rows of CSV. */
#include "tests/traces/timelines.h"

static const struct fr_trace_options plain = {.title = "plain"};

static void formats_are_found(void **state) {
    const struct fr_format *f = NULL;
    struct fr_error err = {0};
    (void)state;
    for (int i = 0; fr_formats[i]; i++) {
        char path[64];
        assert_int_equal(fr_format_find(fr_formats[i]->name, &f, &err), FR_OK);
        assert_ptr_equal(f, fr_formats[i]);
        snprintf(path, sizeof path, "a.b/c%s", fr_formats[i]->ending);
        assert_int_equal(fr_format_for_file(path, &f, &err), FR_OK);
        assert_ptr_equal(f, fr_formats[i]);
        assert_true(*fr_formats[i]->summary != '\0');
    }
    assert_int_equal(fr_format_for_file("x.TRACE", &f, &err), FR_OK);
    assert_ptr_equal(f, &fr_format_paje);
}

static void others_are_refused(void **state) {
    static const char *const paths[] = {"trace", "a.json/trace", "x.txt", "", "x.json.gz"};
    const struct fr_format *f = NULL;
    struct fr_error err = {0};
    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(fr_format_for_file(paths[i], &f, &err), FR_ERR_USAGE);
        for (int j = 0; fr_formats[j]; j++)
            FR_TRUE(strstr(err.detail, fr_formats[j]->name), "%s: %s", paths[i], err.detail);
    }
    assert_int_equal(fr_format_find("chrom", &f, &err), FR_ERR_USAGE);
    FR_TRUE(strstr(err.detail, "did you mean \"chrome\"?"), "%s", err.detail);
    assert_null(f);
}

static void same_timeline_same_bytes(void **state) {
    static struct fr_span spans[RANDOM_SPANS_MAX];
    struct fr_timeline t = random_timeline(1, spans);
    (void)state;
    for (int i = 0; fr_formats[i]; i++) {
        struct fr_text a = written(fr_formats[i], &t, &plain);
        struct fr_text b = written(fr_formats[i], &t, &plain);
        FR_TRUE(a.length == b.length && !memcmp(a.data, b.data, a.length), "%s",
                fr_formats[i]->name);
        fr_text_free(&a), fr_text_free(&b);
    }
}

static void nothing_and_too_much(void **state) {
    struct fr_timeline none = {1, 1, NULL, 0, 0, 0}, long_one = hand;
    struct fr_error err = {0};
    (void)state;
    long_one.makespan_s = 1e12;
    for (int i = 0; fr_formats[i]; i++) {
        struct fr_text out = written(fr_formats[i], &none, &plain);
        assert_true(out.length > 0);
        fr_text_free(&out);
        if (fr_formats[i] != &fr_format_csv) /* it has no clock */
            assert_int_equal(fr_formats[i]->write(&long_one, &plain, &out, &err),
                             FR_ERR_UNSUPPORTED);
        out.failed = true;
        assert_int_equal(fr_formats[i]->write(&hand, &plain, &out, &err), FR_ERR_NOMEM);
        fr_text_free(&out);
    }
}

static void csv_by_hand(void **state) {
    struct fr_text out = written(&fr_format_csv, &hand, &plain);
    (void)state;
    const char *wanted =
        "rank,stage,stream,task,micro_batch,chunk,start_s,end_s,size_B,peer,critical,"
        "communicating_s\r\n"
        "0,0,compute,forward,0,0,0,0.001,0,,1,0\r\n";
    assert_int_equal(strncmp(out.data, wanted, strlen(wanted)), 0);
    assert_non_null(
        strstr(out.data, "\r\n1,1,send,backward_message,0,0,0.004,0.0045,64,0,1,0"));
    assert_non_null(strstr(out.data, "0,0,collective,gradient_all_reduce,,0,0.0065,0.007,"));
    fr_text_free(&out);
}

/* The n-th field of a row, as a number. */
static double field(const char *row, int n) {
    for (; n > 0; n--) row = strchr(row, ',') + 1;
    return strtod(row, NULL);
}

static void csv_has_a_row_a_span_and_exact_times(void **state) {
    static struct fr_span spans[RANDOM_SPANS_MAX];
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct fr_timeline t = random_timeline(seed, spans);
        struct fr_text out = written(&fr_format_csv, &t, &plain);
        const char *row = strstr(out.data, "\r\n") + 2;
        int64_t n = 0;
        for (; *row; row = strstr(row, "\r\n") + 2, n++) {
            int commas = 0;
            for (const char *c = row; *c != '\r'; c++) commas += *c == ',';
            assert_int_equal(commas, 11);
            FR_NEAR(field(row, 6), spans[n].start_s, 0);
            FR_NEAR(field(row, 7), spans[n].end_s, 0);
            FR_NEAR(field(row, 8), spans[n].size_B, 0);
            FR_NEAR(field(row, 11), spans[n].communicating_s, 0);
        }
        assert_int_equal(n, t.count);
        fr_text_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_found),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(same_timeline_same_bytes),
        cmocka_unit_test(nothing_and_too_much),
        cmocka_unit_test(csv_by_hand),
        cmocka_unit_test(csv_has_a_row_a_span_and_exact_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
