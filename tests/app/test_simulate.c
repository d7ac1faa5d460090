/* forerun simulate and predict on pipelines of measured stages, as a user runs them. */
#include "base/json.h"
#include "tests/app/command.h"

static char folder[] = "/tmp/forerun-sim-XXXXXX";
static char cluster[96], stages[96], trace[96], picture[96];

static void write_text(const char *path, const char *text) {
    struct fr_error err = {0};
    if (fr_file_write(path, text, strlen(text), &err) != FR_OK) fail_msg("%s", err.detail);
}

static int set_up(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(cluster, sizeof cluster, "%s/cluster.json", folder);
    snprintf(stages, sizeof stages, "%s/stages.json", folder);
    snprintf(trace, sizeof trace, "%s/trace.json", folder);
    snprintf(picture, sizeof picture, "%s/gantt.svg", folder);
    write_text(cluster, "{\"device\": {\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp32\": "
                        "{\"peak\": \"1 TFLOP/s\"}},"
                        " \"power\": {\"busy\": \"400 W\", \"idle\": \"100 W\"}},"
                        " \"levels\": [{\"name\": \"system\", \"ranks\": 1024, \"latency\": "
                        "\"2 us\", \"bandwidth\": \"10 GB/s\"}]}");
    write_text(stages, "{\"kind\": \"stages\", \"forward\": \"1 ms\", \"backward\": \"2 ms\", "
                       "\"message\": \"0 B\", \"global_batch\": 64}");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    unlink(cluster);
    unlink(stages);
    unlink(trace);
    unlink(picture);
    return rmdir(folder);
}

static struct fr_json_document *json_of(const char *line) {
    struct output o = fr_test_run(line);
    struct fr_json_document *document = NULL;
    if (o.exit_code != 0) fail_msg("%s: exit %d: %s", line, o.exit_code, o.err);
    assert_int_equal(fr_json_parse(o.out, strlen(o.out), "stdout", &document, NULL), FR_OK);
    fr_test_output_free(&o);
    return document;
}

static double number_at(const struct fr_json *object, const char *key) {
    double value = 0;
    assert_int_equal(fr_json_get_number(object, key, true, -1e300, 1e300, &value, NULL), FR_OK);
    return value;
}

/* The value that four independent engines agree on, by both of ours, and its energy by hand:
 * 8 stages busy 64 * 3 ms each, waiting for the rest at an eighth of the way from idle to busy. */
static void agreed_value(void **state) {
    (void)state;
    static const char *const engines[] = {"closed", "event"};
    for (int e = 0; e < 2; e++) {
        char line[640];
        snprintf(line, sizeof line,
                 "forerun predict --cluster %s --model %s --set pp=8 --engine %s --json",
                 cluster, stages, engines[e]);
        struct fr_json_document *d = json_of(line);
        struct fr_json root = fr_json_root(d), parts = fr_json_member(&root, "breakdown_s");
        double sum_s = 0;
        FR_NEAR(number_at(&root, "iteration_time_s"), 0.213248, 1e-9);
        FR_NEAR(number_at(&root, "iteration_energy_J"),
                8 * (400 * 0.192 + (100 + 0.125 * 300) * (0.213248 - 0.192)), 1e-9);
        for (int64_t i = 0; fr_json_key_at(&parts, i); i++)
            sum_s += number_at(&parts, fr_json_key_at(&parts, i));
        FR_NEAR(sum_s, 0.213248, 1e-9);
        FR_NEAR(number_at(&parts, "bubble"), 0.021, 1e-9);
        fr_json_free(d);
    }
}

static void refuses(void **state) {
    (void)state;
    char line[640];
    snprintf(line, sizeof line,
             "forerun predict --cluster %s --model %s --set pp=4 --set p2p=duplex", cluster,
             stages);
    fr_test_expect(line, 4, "no closed form", NULL);
    snprintf(line, sizeof line,
             "forerun predict --cluster %s --model %s --set pp=4 --set p2p=duplex --engine "
             "event --all",
             cluster, stages);
    fr_test_expect(line, 0, "iteration time", NULL);
    snprintf(line, sizeof line,
             "forerun simulate --cluster %s --model %s --set pp=7 --set schedule=interleaved "
             "--set chunks=2",
             cluster, stages);
    fr_test_expect(line, 4, "multiples of the stages", NULL);
    fr_test_expect("forerun simulate --cluster frontier --model ffn-4096 --set tp=2 --all", 0,
                   "critical path", NULL);
    fr_test_expect("forerun simulate --cluster frontier --model ffn-4096 --set tp=2 "
                   "--collectives messages",
                   3, NULL, "has no messages");
    snprintf(line, sizeof line, "forerun simulate --cluster %s --model %s --trace x.bmp",
             cluster, stages);
    fr_test_expect(line, 2, NULL, "x.bmp");
}

static void traces_and_pictures(void **state) {
    (void)state;
    char line[640];
    struct fr_json_document *d = NULL;
    for (int k = 0; k < 3; k++) {
        static const char *const options[] = {"--set schedule=1f1b", "--set p2p=duplex",
                                              "--set schedule=interleaved --set chunks=2"};
        snprintf(line, sizeof line,
                 "forerun simulate --cluster %s --model %s --set pp=4 --set global_batch=8 %s "
                 "--trace %s --gantt %s --all",
                 cluster, stages, options[k], trace, picture);
        fr_test_expect(line, 0, "critical path", NULL);
        assert_int_equal(fr_json_read(trace, &d, NULL), FR_OK);
        fr_json_free(d);
        assert_true(fr_file_exists(picture));
    }
}

/* One bubble: the picture's title has the share of the text's line. */
static void one_bubble(void **state) {
    static const char *const options[] = {"pp=4", "pp=4 --set p2p=duplex",
                                          "pp=8 --set schedule=gpipe",
                                          "pp=4 --set dp=2 --set schedule=zero-bubble"};
    (void)state;
    for (int k = 0; k < 4; k++) {
        char line[640], *svg = NULL, says[64] = ", bubble ";
        size_t length = 0, n = strlen(says);
        snprintf(line, sizeof line,
                 "forerun simulate --cluster %s --model %s --set global_batch=8 --set %s "
                 "--gantt %s --all",
                 cluster, stages, options[k], picture);
        struct output o = fr_test_run(line);
        const char *stated = strstr(o.out, "\n  bubble "),
                   *end = stated ? strchr(stated, '%') : NULL;
        if (!end) fail_msg("%s: no bubble in\n%s", line, o.out);
        const char *number = end - 2; /* "19.2 %" */
        while (number[-1] != ' ') number--;
        snprintf(says + n, sizeof says - n, "%.*s", (int)(end + 1 - number), number);
        assert_int_equal(fr_file_read(picture, FR_FILE_MAX_B, &svg, &length, NULL), FR_OK);
        if (!strstr(svg, says)) fail_msg("%s: \"%s\" is not in the picture", line, says);
        free(svg);
        fr_test_output_free(&o);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agreed_value), cmocka_unit_test(refuses),
        cmocka_unit_test(traces_and_pictures), cmocka_unit_test(one_bubble)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
