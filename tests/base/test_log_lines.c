/* A program's output comes out of the cleaner as it was, whatever stood before and in its lines. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/text/log_lines.h"
#include "base/text/log_time.h"
#include "tests/cmocka.h"
#include "tests/wraps.h"

/* Lines of benchmarks and of trainers, as they were printed. */
static const char *const printed[] = {
    "# nccl-tests version 2.17.6 nccl-headers=22803",
    "#  Rank  0 Group  0 Pid 1000 on   node-0 device  0 [0x0a] NVIDIA H100 80GB HBM3",
    "#",
    "#       size         count      type   redop    root     time   algbw   busbw #wrong",
    "        1024           256     float     sum      -1    30.01    0.03    0.06      0",
    "   134217728      33554432     float     sum      -1   924.78  145.13  272.13      0",
    "# OSU MPI Allreduce Latency Test v5.8",
    "1048576              2159.77",
    "#----------------------------------------------------------------",
    "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]",
    "options:",
    "  processes:      4",
    "",
    " iteration       10/     100 | consumed samples:          640 | elapsed time: 123.4 |",
    "step:  1  loss: 12.2721  memory: 26.98GiB(34.19%)  tps: 1,234",
    "mpirun -np 16 -N 8 ./all_reduce_perf -b 8 -e 128M",
    "node-0:497:497 [0] NCCL INFO 256 Bytes -> Algo 0 proto 0 time 25.2",
    "time,watts",
    "{\"kind\": \"launch\", \"values\": [0, 1]}",
    "a = b[3]; done: 7",
};
enum { PRINTED = sizeof printed / sizeof *printed };

/* @p line without blanks at its ends, which readers do not see. */
static const char *trimmed(const char *line, size_t n, char *out, size_t capacity) {
    while (n > 0 && strchr(" \t\r", line[n - 1])) n--;
    while (n > 0 && strchr(" \t\r", *line)) line++, n--;
    snprintf(out, capacity, "%.*s", (int)n, line);
    return out;
}

static void expect_printed(const struct fr_text *text, const char *what) {
    struct fr_log_text out;
    char got[400], wanted[400];
    assert_int_equal(fr_log_text_clean(fr_text_get(text), text->length, 0, &out), FR_OK);
    assert_int_equal(out.length, strlen(out.text));
    const char *at = out.text;
    for (int i = 0; i < PRINTED; i++) {
        const char *end = strchr(at, '\n');
        size_t n = end ? (size_t)(end - at) : strlen(at);
        trimmed(at, n, got, sizeof got);
        trimmed(printed[i], strlen(printed[i]), wanted, sizeof wanted);
        FR_TRUE(strcmp(got, wanted) == 0, "%s, line %d: \"%s\", wanted \"%s\"", what, i + 1,
                got, wanted);
        at = end ? end + 1 : at + n;
    }
    FR_TRUE(*at == '\0', "%s: more than was printed: \"%s\"", what, at);
    fr_log_text_free(&out);
}

/* Each line with what the wraps put around it, the last nearest to the text. */
static void put(struct fr_text *text, const struct wrap *const *wrap, int n) {
    struct fr_text plain = {0};
    for (int i = 0; i < PRINTED; i++) fr_text_addf(&plain, "%s\n", printed[i]);
    wrap_lines(fr_text_get(&plain), wrap, n, text);
    fr_text_free(&plain);
}

/* The text in a record, with the escapes that collectors write. */
static void put_record(struct fr_text *text, const char *before, const char *line, bool angles,
                       const char *after) {
    fr_text_addf(text, "%s", before);
    for (const char *at = line; *at; at++) {
        if (*at == '"' || *at == '\\')
            fr_text_addf(text, "\\%c", *at);
        else if (angles && (*at == '<' || *at == '>' || *at == '&'))
            fr_text_addf(text, "\\u%04x", (unsigned)*at);
        else
            fr_text_addf(text, "%c", *at);
    }
    fr_text_addf(text, "%s\n", after);
}

/* Records of collectors are their texts, which may have prefixes of their own. */
static void records_are_texts(void **state) {
    static const struct {
        const char *what, *before, *after;
    } records[] = {
        {"Docker", "{\"log\":\"",
         "\\n\",\"stream\":\"stdout\",\"time\":\"2026-05-09T03:57:48Z\"}"},
        {"Docker, blanks", "{\"log\": \"", "\\n\", \"stream\": \"stdout\"}"},
        {"Loki", "{\"labels\":{\"line\":\"no\",\"pod\":\"a\"},\"line\":\"",
         "\",\"timestamp\":\"2026\"}"},
        {"Google Cloud", "{\"textPayload\":\"",
         "\",\"severity\":\"INFO\",\"labels\":{\"k\":[1]}}"},
        {"journald", "{\"_HOSTNAME\":\"n0\",\"PRIORITY\":\"6\",\"MESSAGE\":\"", "\"}"},
        {"fluentd", "{\"time\":1746763068,\"kubernetes\":{\"pod\":\"a\"},\"message\":\"",
         "\"}"},
        {"logfmt", "time=\"2026-05-09T03:57:48Z\" level=info msg=\"", "\" pod=a"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        for (int k = 0; k < 4; k++) {
            static const char *const inner[] = {"", "[1,0]<stdout>:", "0: ", "[rank0]:"};
            struct fr_text text = {0};
            char line[400];
            for (int n = 0; n < PRINTED; n++) {
                snprintf(line, sizeof line, "%s%s", inner[k], printed[n]);
                put_record(&text, records[i].before, line, k == 1, records[i].after);
            }
            expect_printed(&text, records[i].what);
            fr_text_free(&text);
        }
}

static void a_clean_text_stays(void **state) {
    struct fr_text text = {0};
    struct fr_log_text out;
    (void)state;
    put(&text, NULL, 0);
    assert_int_equal(fr_log_text_clean(fr_text_get(&text), text.length, 0, &out), FR_OK);
    assert_string_equal(out.text, fr_text_get(&text));
    assert_int_equal(out.n_lines, PRINTED + 1);
    for (int i = 1; i <= PRINTED + 3; i++)
        assert_true(fr_log_text_tag(&out, i).rank == -1 &&
                    isnan(fr_log_text_tag(&out, i).time_s));
    fr_log_text_free(&out);
    fr_text_free(&text);
}

/* Tables whose rows begin with words like names of machines. */
static void tables_stay(void **state) {
    static const char *const tables[] = {
        "A100-80GB PCIe x8,matmul,1\nA100-80GB PCIe x8,matmul,2\nA100-80GB PCIe x8,matmul,3\n",
        "a100-80gb pcie x8,matmul,1\na100-80gb pcie x8,matmul,2\na100-80gb pcie x8,matmul,3\n",
        "steps: 1 loss: 2\nsteps: 2 loss: 2\nsteps: 3 loss: 2\nsteps: 4 loss: 2\n",
        "lr-scheduler: cosine\nmin-lr: 1\nmax-lr: 2\nz-loss: 0\n",
        "1746763068  268435456 float\n1073741824  268435456 float\n"};
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct fr_log_text out;
        assert_int_equal(fr_log_text_clean(tables[i], strlen(tables[i]), 0, &out), FR_OK);
        assert_string_equal(out.text, tables[i]);
        fr_log_text_free(&out);
    }
}

/* Every wrap alone, every pair, and random ones three deep. */
static void what_stands_around_goes(void **state) {
    uint64_t random = 40;
    (void)state;
    for (int i = 0; i < WRAPS * (WRAPS + 1) + 300; i++) {
        const struct wrap *wrap[3] = {&wraps[i % WRAPS]};
        int n = i < WRAPS ? 1 : i < WRAPS * (WRAPS + 1) ? 2 : 3;
        char what[200];
        if (n == 2) wrap[1] = &wraps[i / WRAPS - 1];
        for (int k = 0; n == 3 && k < 3; k++) wrap[k] = &wraps[fr_random_next(&random) % WRAPS];
        if (!wraps_fit(wrap, n)) continue;
        snprintf(what, sizeof what, "%s, %s, %s", wrap[0]->what, n > 1 ? wrap[1]->what : "",
                 n > 2 ? wrap[2]->what : "");
        struct fr_text text = {0};
        put(&text, wrap, n);
        expect_printed(&text, what);
        fr_text_free(&text);
    }
}

/* A page of Markdown, marks of Unicode, UTF-16, the end of lines of old. */
static void files_of_other_forms(void **state) {
    struct fr_text text = {0}, wide = {0};
    struct fr_log_text out;
    (void)state;
    static const char fenced[] = "\xEF\xBB\xBF```text\n1024\xC2\xA0  7\n```\n";
    assert_int_equal(fr_log_text_clean(fenced, sizeof fenced - 1, 0, &out), FR_OK);
    assert_string_equal(out.text, "\n1024   7\n\n");
    fr_log_text_free(&out);
    put(&text, NULL, 0);
    fr_text_add(&wide, "\xFF\xFE", 2);
    for (size_t i = 0; i < text.length; i++)
        fr_text_add(&wide, (char[]){fr_text_get(&text)[i], 0}, 2);
    expect_printed(&wide, "UTF-16");
    static const char mac[] = "a\rb\r", bar[] = "1%\r2%\nx\b\bab\bc\n";
    assert_int_equal(fr_log_text_clean(mac, sizeof mac - 1, 0, &out), FR_OK);
    assert_string_equal(out.text, "a\nb\n");
    fr_log_text_free(&out);
    assert_int_equal(fr_log_text_clean(bar, sizeof bar - 1, 0, &out), FR_OK);
    assert_string_equal(out.text, "1%\r2%\nac\n");
    fr_log_text_free(&out);
    fr_text_free(&text);
    fr_text_free(&wide);
}

static void tags_say_who_and_when(void **state) {
    static const char text[] = "[1,7]<stdout>:a\n"
                               "2026-05-09T03:57:48.5Z b\n"
                               "[2026-05-09 05:57:50+0200] 3: c\n"
                               "[rank12]:[titan] d\n";
    struct fr_log_text out;
    (void)state;
    assert_int_equal(fr_log_text_clean(text, sizeof text - 1, 0, &out), FR_OK);
    assert_string_equal(out.text, "a\nb\nc\n[titan] d\n");
    assert_int_equal(fr_log_text_tag(&out, 1).rank, 7);
    FR_NEAR(fr_log_text_tag(&out, 2).time_s, 1778299068.5, 1e-12);
    FR_NEAR(fr_log_text_tag(&out, 3).time_s, 1778299070, 1e-12);
    assert_int_equal(fr_log_text_tag(&out, 3).rank, 3);
    assert_int_equal(fr_log_text_tag(&out, 4).rank, 12);
    fr_log_text_free(&out);
    static const char hosts[] =
        "node-0: a\nnode-1: b\nnode-0: c\nnode-1: d\nnode-1: e\nnode-0: f\n";
    assert_int_equal(fr_log_text_clean(hosts, sizeof hosts - 1, 0, &out), FR_OK);
    assert_string_equal(out.text, "a\nb\nc\nd\ne\nf\n");
    assert_true(fr_log_text_tag(&out, 1).host == 0 && fr_log_text_tag(&out, 5).host == 1);
    fr_log_text_free(&out);
    /* Fields of tables stay. */
    static const char table[] = "2026/05/09 03:57:48.161, 71.34\n03:57:49 0 71.3\n";
    assert_int_equal(fr_log_text_clean(table, sizeof table - 1, FR_LOG_KEEP_TIMES, &out),
                     FR_OK);
    assert_string_equal(out.text, table);
    FR_NEAR(fr_log_text_tag(&out, 2).time_s, 14269, 1e-12);
    fr_log_text_free(&out);
}

/* A message in the middle of a row goes, whichever name its node has. */
static void messages_in_rows_are_cut(void **state) {
    static const char text[] =
        "node-0:49:50 [0] NCCL INFO Bootstrap : Using eth0\n"
        "   1024    256     float     sum      -1node-0:49:50 [0] NCCL INFO 256 Bytes\n"
        "   30.01   0.03\n";
    struct fr_log_text out;
    (void)state;
    assert_int_equal(fr_log_text_clean(text, sizeof text - 1, 0, &out), FR_OK);
    assert_string_equal(out.text, "node-0:49:50 [0] NCCL INFO Bootstrap : Using eth0\n"
                                  "   1024    256     float     sum      -1\n"
                                  "   30.01   0.03\n");
    fr_log_text_free(&out);
}

static void times_are_read(void **state) {
    static const struct {
        const char *text;
        double time_s;
        size_t length;
    } rows[] = {
        {"2026-05-09T03:57:48Z,", 1778299068, 20},
        {"2026/05/09 03:57:48.161, 71", 1778299068.161, 23},
        {"2026-05-09 03:57:48,161 - INFO", 1778299068.161, 23},
        {"2026-05-09 03:57:48, 0", 1778299068, 19},
        {"20260509 03:57:48 x", 1778299068, 17},
        {"Sat May  9 03:57:48 2026", 1778299068, 24},
        {"May  9 03:57:48 host", 128 * 86400.0 + 14268, 15},
        {"03:57:48.5 x", 14268.5, 10},
        {"2026-13-09 03:57:48", 0, 0},
        {"1024 256 float", 0, 0},
        {"25:57:48", 0, 0},
        {"2024-02-29T00:00:00Z", 1709164800, 20},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double time_s = 0;
        size_t length = fr_log_time(rows[i].text, &time_s);
        FR_TRUE(length == rows[i].length, "%s: %zu characters, wanted %zu", rows[i].text,
                length, rows[i].length);
        if (length) FR_NEAR(time_s, rows[i].time_s, 1e-12);
    }
    double time_s = 0;
    assert_int_equal(fr_log_time_epoch("1746763068,1200", &time_s), 10);
    FR_NEAR(time_s, 1746763068, 0);
    assert_int_equal(fr_log_time_epoch("1746763068123", &time_s), 13);
    FR_NEAR(time_s, 1746763068.123, 1e-12);
    assert_int_equal(fr_log_time_epoch("134217728 x", &time_s), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clean_text_stays),
        cmocka_unit_test(records_are_texts),
        cmocka_unit_test(tables_stay),
        cmocka_unit_test(what_stands_around_goes),
        cmocka_unit_test(files_of_other_forms),
        cmocka_unit_test(tags_say_who_and_when),
        cmocka_unit_test(messages_in_rows_are_cut),
        cmocka_unit_test(times_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
