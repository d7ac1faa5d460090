#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/journal/journal.h"
#include "calibrate/samples/samples.h"
#include "tests/calibrate/near.h"

#define FIRST                                                                                  \
    "{\"schema\": \"forerun/samples/1\", \"kind\": \"provenance\", \"host\": \"h\", "          \
    "\"ranks\": 4, \"ranks_per_node\": 2, \"nodes\": 2}\n"
#define KERNEL "{\"kind\": \"kernel\", \"rep\": 0, \"time_s\": 4e-08}\n"
#define COLLECTIVE(op, level, ranks, time)                                                     \
    "{\"kind\": \"collective\", \"op\": \"" op "\", \"ranks\": " ranks ", \"level\": \"" level \
    "\", \"size_B\": 1024, \"launch\": 0, \"rep\": 3, \"time_s\": " time "}\n"

static fr_status parse(const char *text, struct fr_samples *samples, struct fr_error *err) {
    *samples = (struct fr_samples){0};
    return fr_samples_parse(text, strlen(text), "samples.jsonl", samples, err);
}

static void written_samples_read_back(void **state) {
    (void)state;
    char path[] = "/tmp/forerun-test-XXXXXX";
    int fd = mkstemp(path);
    struct fr_error err = {.status = FR_OK};
    struct fr_text line = {0};
    const struct fr_provenance provenance = {.host = "a \"host\"",
                                             .cpu = "x",
                                             .cores = 2,
                                             .memory_B = 1e9,
                                             .ranks = 4,
                                             .ranks_per_node = 2,
                                             .nodes = 2,
                                             .oversubscribed = true,
                                             .seed = 7,
                                             .version = "0.1.0",
                                             .pinning = "none"};
    const struct fr_sample_collective c = {.op = FR_OP_ALL_GATHER,
                                           .level = FR_SAMPLE_SYSTEM,
                                           .n_ranks = 4,
                                           .n_nodes = 2,
                                           .n_groups = 1,
                                           .size_B = 1024,
                                           .launch = 1,
                                           .rep = 2,
                                           .time_s = 1.25e-5};
    const struct fr_sample_gemm g = {
        .dtype = FR_FP64, .m = 64, .n = 32, .k = 8, .batch = 1, .rep = 3, .time_s = 1.9e-6};
    const struct fr_sample_memory m = {.size_B = 268435456, .rep = 4, .time_s = 0.021};
    const struct fr_sample_kernel k = {.rep = 5, .time_s = 4e-8};
    fr_sample_line_provenance(&provenance, &line);
    assert_int_equal(fr_journal_put(fd, path, &line, &err), FR_OK);
    fr_sample_line_collective(&c, &line);
    assert_int_equal(fr_journal_put(fd, path, &line, &err), FR_OK);
    fr_sample_line_gemm(&g, &line);
    fr_sample_line_memory(&m, &line);
    fr_sample_line_kernel(&k, &line);
    assert_int_equal(fr_journal_put(fd, path, &line, &err), FR_OK);
    close(fd);

    struct fr_samples s = {0};
    fr_status status = fr_samples_read(path, &s, &err);
    unlink(path);
    if (status != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    assert_string_equal(s.provenance.host, provenance.host);
    assert_string_equal(s.provenance.pinning, provenance.pinning);
    assert_int_equal(s.provenance.seed, 7);
    assert_true(s.provenance.oversubscribed);
    assert_int_equal(s.n_collective, 1);
    assert_int_equal(s.collective[0].op, c.op);
    assert_int_equal(s.collective[0].level, c.level);
    assert_int_equal(s.collective[0].n_ranks, c.n_ranks);
    assert_int_equal(s.collective[0].launch, c.launch);
    assert_int_equal(s.collective[0].rep, c.rep);
    ASSERT_NEAR(s.collective[0].size_B, c.size_B, 0);
    ASSERT_NEAR(s.collective[0].time_s, c.time_s, 0);
    assert_int_equal(s.n_gemm, 1);
    assert_int_equal(s.gemm[0].dtype, g.dtype);
    assert_int_equal(s.gemm[0].m, g.m);
    assert_int_equal(s.gemm[0].n, g.n);
    assert_int_equal(s.gemm[0].k, g.k);
    ASSERT_NEAR(s.gemm[0].time_s, g.time_s, 0);
    assert_int_equal(s.n_memory, 1);
    ASSERT_NEAR(s.memory[0].time_s, m.time_s, 0);
    assert_int_equal(s.n_kernel, 1);
    assert_int_equal(s.kernel[0].rep, 5);
    fr_samples_free(&s);
}

/* Every other kind of line: what is written comes back, each in its own array. */
static void further_kinds_read_back(void **state) {
    (void)state;
    const struct fr_sample_collective c = {.op = FR_OP_ALL_REDUCE,
                                           .n_ranks = 2,
                                           .n_nodes = 1,
                                           .n_groups = 4,
                                           .layout = FR_LAYOUT_STRIDE,
                                           .size_B = 64,
                                           .launch = 2,
                                           .time_s = 1e-5};
    const struct fr_sample_gemm g = {.dtype = FR_FP32,
                                     .m = 8,
                                     .n = 4,
                                     .k = 2,
                                     .batch = 16,
                                     .launch = 1,
                                     .rep = 3,
                                     .time_s = 1e-6};
    const struct fr_sample_pairs p = {.level = FR_SAMPLE_SYSTEM,
                                      .direction = 1,
                                      .n_pairs = 3,
                                      .size_B = 4096,
                                      .rep = 2,
                                      .time_s = 3e-6};
    const struct fr_sample_overlap o = {.op = FR_OP_ALL_REDUCE,
                                        .part = FR_OVERLAP_DURING,
                                        .n_ranks = 4,
                                        .size_B = 1024,
                                        .m = 9,
                                        .n = 8,
                                        .k = 7,
                                        .time_s = 1e-3};
    const struct fr_sample_codec d = {
        .part = 1, .m = 512, .n = 256, .rank = 16, .time_s = 1e-4};
    const struct fr_sample_power w = {.state = FR_POWER_BUSY,
                                      .quality = FR_QUALITY_SAMPLED,
                                      .meter = "nvml",
                                      .n_ranks = 2,
                                      .power_W = 61.5,
                                      .time_s = 1};
    const struct fr_sample_point point = {.key = "kernel",
                                          .launch = 1,
                                          .n = 40,
                                          .n_warm = 6,
                                          .n_outliers = 2,
                                          .state = FR_POINT_UNCONVERGED,
                                          .median_s = 2e-9,
                                          .half_width = 0.031,
                                          .drift = 1e9};
    const struct fr_sample_end end = {
        .reason = FR_END_BUDGET, .launch = 1, .unconverged = 5, .elapsed_s = 12.5};
    const int outliers[] = {3, 17};
    struct fr_text text = {0}, again = {0};
    struct fr_samples s;
    struct fr_error err = {.status = FR_OK};
    fr_text_addf(&text, "%s", FIRST);
    fr_sample_line_collective(&c, &text);
    fr_sample_line_gemm(&g, &text);
    fr_sample_line_pairs(&p, &text);
    fr_sample_line_overlap(&o, &text);
    fr_sample_line_codec(&d, &text);
    fr_sample_line_power(&w, &text);
    size_t length = text.length - strlen(FIRST);
    fr_sample_line_point(&point, outliers, &text);
    fr_sample_line_end(&end, &text);
    if (parse(fr_text_get(&text), &s, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    assert_int_equal(s.n_collective, 0);
    assert_int_equal(s.n_segmented, 1);
    assert_int_equal(s.n_gemm, 0);
    assert_int_equal(s.n_batched, 1);
    assert_int_equal(s.n_pairs + s.n_overlap + s.n_codec + s.n_power, 4);
    fr_sample_line_collective(s.segmented, &again);
    fr_sample_line_gemm(s.batched, &again);
    fr_sample_line_pairs(s.pairs, &again);
    fr_sample_line_overlap(s.overlap, &again);
    fr_sample_line_codec(s.codec, &again);
    fr_sample_line_power(s.power, &again);
    assert_int_equal(again.length, length);
    assert_memory_equal(again.data, text.data + strlen(FIRST), length);
    fr_text_free(&again);
    assert_int_equal(s.power[0].quality, FR_QUALITY_SAMPLED);
    ASSERT_NEAR(s.power[0].power_W, 61.5, 0);
    assert_string_equal(s.point[0].key, "kernel");
    assert_int_equal(s.point[0].n_outliers, 2);
    assert_int_equal(s.point[0].state, FR_POINT_UNCONVERGED);
    ASSERT_NEAR(s.point[0].half_width, 0.031, 0);
    ASSERT_NEAR(s.point[0].drift, 1e9, 0);
    assert_int_equal(s.end[0].reason, FR_END_BUDGET);
    assert_int_equal(s.end[0].unconverged, 5);
    fr_samples_free(&s);
    fr_text_free(&text);
}

static void a_head_becomes_a_key(void **state) {
    (void)state;
    const struct fr_sample_collective c = {
        .op = FR_OP_BROADCAST, .n_ranks = 4, .n_groups = 1, .size_B = 1024};
    struct fr_text head = {0};
    char key[192], tiny[8];
    fr_sample_head_collective(&c, &head);
    fr_sample_key(fr_text_get(&head), key, sizeof key);
    assert_string_equal(key, "collective op=broadcast ranks=4 level=node size_B=1024");
    fr_sample_key(fr_text_get(&head), tiny, sizeof tiny);
    assert_string_equal(tiny, "collect");
    fr_text_free(&head);
}

static void cut_last_line_is_counted(void **state) {
    (void)state;
    struct fr_samples s;
    struct fr_error err = {.status = FR_OK};
    assert_int_equal(parse(FIRST KERNEL "{\"kind\": \"kern", &s, &err), FR_OK);
    assert_int_equal(s.n_cut, 1);
    assert_int_equal(s.n_kernel, 1);
    fr_samples_free(&s);
    /* Whole, only its end is missing. */
    assert_int_equal(
        parse(FIRST KERNEL "{\"kind\": \"kernel\", \"rep\": 1, \"time_s\": 1e-8}", &s, &err),
        FR_OK);
    assert_int_equal(s.n_cut, 0);
    assert_int_equal(s.n_kernel, 2);
    fr_samples_free(&s);
}

/* Collectives beside a GPU's samples, in any order of files; two kinds of GPU never. */
static void one_device_is_in_a_fit(void **state) {
    static const char first[] =
        "{\"schema\": \"forerun/samples/1\", \"kind\": \"provenance\", \"ranks\": 1, "
        "\"ranks_per_node\": 1, \"nodes\": 1%s}\n";
    static const char *const devices[] = {"", ", \"device\": \"X1\", \"device_memory_B\": 8e9",
                                          ", \"device\": \"X2\""};
    (void)state;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            struct fr_samples s = {0};
            struct fr_error err = {.status = FR_OK};
            char text[2][256];
            const char *named = a ? devices[a] : devices[b];
            snprintf(text[0], sizeof text[0], first, devices[a]);
            snprintf(text[1], sizeof text[1], first, devices[b]);
            assert_int_equal(fr_samples_parse(text[0], strlen(text[0]), "a", &s, &err), FR_OK);
            fr_status status = fr_samples_parse(text[1], strlen(text[1]), "b", &s, &err);
            assert_int_equal(status, a && b && a != b ? FR_ERR_INPUT : FR_OK);
            if (status != FR_OK)
                assert_non_null(strstr(err.detail, "fit each apart"));
            else
                assert_true(!!*s.provenance.device == !!*named &&
                            (!*named || strstr(named, s.provenance.device)));
            fr_samples_free(&s);
        }
}

static void many_samples_grow(void **state) {
    (void)state;
    struct fr_samples s = {0};
    for (int i = 0; i < 1000; i++) {
        const struct fr_sample_kernel k = {.rep = i, .time_s = 1e-8};
        assert_int_equal(fr_samples_add_kernel(&s, &k), FR_OK);
    }
    for (int i = 0; i < 1000; i++) assert_int_equal(s.kernel[i].rep, i);
    fr_samples_free(&s);
}

static void nonsense_is_refused_with_its_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *where, *detail;
    } cases[] = {
        {"", "samples.jsonl", "no samples"},
        {"\n\n", "samples.jsonl", "no samples"},
        {KERNEL, "line 1", "provenance"},
        {FIRST FIRST, "line 2", "second provenance"},
        {"{\"kind\": \"provenance\", \"schema\": \"forerun/samples/9\"}\n", "line 1",
         "samples/9"},
        {"{\"kind\": \"provenance\"}\n", "line 1#/schema", ""},
        {"{\"kind\": \"provenance\", \"schema\": \"forerun/samples/1\", \"ranks\": 2, "
         "\"ranks_per_node\": 4, \"nodes\": 1}\n",
         "ranks_per_node", "more than"},
        {FIRST "not json\n" KERNEL, "line 2", ""},
        {FIRST KERNEL "[1, 2]\n", "line 3", ""},
        {FIRST "\n" COLLECTIVE("all_reduse", "node", "2", "1e-6"), "line 3#/op", "all_reduce"},
        {FIRST COLLECTIVE("all_reduce", "rack", "2", "1e-6"), "line 2#/level", ""},
        {FIRST COLLECTIVE("all_reduce", "node", "1", "1e-6"), "line 2#/ranks", ""},
        {FIRST COLLECTIVE("all_reduce", "node", "4, \"nodes\": 2", "1"), "line 2#/nodes",
         "one node"},
        {FIRST COLLECTIVE("all_reduce", "system", "4, \"nodes\": 1", "1"), "line 2#/nodes",
         "several nodes"},
        {FIRST COLLECTIVE("all_reduce", "system", "4, \"nodes\": 5", "1"), "line 2#/nodes",
         "4"},
        {FIRST COLLECTIVE("all_reduce", "node", "2", "0"), "line 2#/time_s", ""},
        {FIRST COLLECTIVE("all_reduce", "node", "2", "-1"), "line 2#/time_s", ""},
        {FIRST COLLECTIVE("all_reduce", "node", "2.5", "1"), "line 2#/ranks", ""},
        {FIRST "{\"kind\": \"gemm\", \"dtype\": \"fp32\", \"m\": 0, \"n\": 1, \"k\": 1, "
               "\"rep\": 0, \"time_s\": 1}\n",
         "line 2#/m", ""},
        {FIRST "{\"kind\": \"memory\", \"rep\": 0, \"time_s\": 1}\n", "line 2#/size_B", ""},
        {FIRST "{\"kind\": \"kernel\", \"rep\": 0, \"times_s\": 1}\n", "line 2", "time_s"},
        {FIRST "{\"kind\": \"karnel\", \"rep\": 0, \"time_s\": 1}\n", "line 2#/kind", "kernel"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_samples s;
        struct fr_error err = {.status = FR_OK};
        fr_status status = parse(cases[i].text, &s, &err);
        if (status != FR_ERR_INPUT || !strstr(err.where, cases[i].where) ||
            !strstr(err.detail, cases[i].detail))
            fail_msg("case %zu: status %d, \"%s\": \"%s\"; wanted \"%s\": \"%s\"", i,
                     (int)status, err.where, err.detail, cases[i].where, cases[i].detail);
        fr_samples_free(&s);
    }
}

/* One node, and two where ranks of several sent and nobody said of how many; so a file that says it and
 * one that does not are of one table.  Communicators side by side: the first one's nodes, any number. */
static void nodes_not_said_are_the_fewest(void **state) {
    static const struct {
        const char *text;
        int64_t nodes;
    } cases[] = {
        {FIRST COLLECTIVE("all_reduce", "node", "4", "1"), 1},
        {FIRST COLLECTIVE("all_reduce", "node", "4, \"nodes\": 1", "1"), 1},
        {FIRST COLLECTIVE("all_reduce", "system", "4", "1"), 2},
        {FIRST COLLECTIVE("all_reduce", "system", "4, \"nodes\": 2", "1"), 2},
        {FIRST COLLECTIVE("all_reduce", "system", "4, \"nodes\": 4", "1"), 4},
        {FIRST COLLECTIVE("all_reduce", "system", "4, \"nodes\": 1, \"groups\": 2", "1"), 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_samples s;
        struct fr_error err = {.status = FR_OK};
        if (parse(cases[i].text, &s, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
        const struct fr_sample_collective *one = s.n_segmented ? s.segmented : s.collective;
        if (one->n_nodes != cases[i].nodes)
            fail_msg("%s: %d nodes, wanted %d", cases[i].text, (int)one->n_nodes,
                     (int)cases[i].nodes);
        fr_samples_free(&s);
    }
}

static void a_missing_file_is_an_input_error(void **state) {
    (void)state;
    struct fr_samples s = {0};
    struct fr_error err = {.status = FR_OK};
    assert_int_equal(fr_samples_read("/no-such-folder/samples.jsonl", &s, &err), FR_ERR_INPUT);
    fr_samples_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_samples_read_back),
        cmocka_unit_test(further_kinds_read_back),
        cmocka_unit_test(a_head_becomes_a_key),
        cmocka_unit_test(cut_last_line_is_counted),
        cmocka_unit_test(one_device_is_in_a_fit),
        cmocka_unit_test(many_samples_grow),
        cmocka_unit_test(nonsense_is_refused_with_its_line),
        cmocka_unit_test(nodes_not_said_are_the_fewest),
        cmocka_unit_test(a_missing_file_is_an_input_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
