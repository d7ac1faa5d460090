/* A shared cluster file names no host, whatever text a name stood in, and reads to the same cluster. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "answer/share/hosts.h"
#include "answer/share/share.h"
#include "base/units.h"
#include "models/job/cluster.h"
#include "models/job/preset.h"
#include "tests/cmocka.h"

/* ---- hosts in texts ------------------------------------------------------------------------------ */

static void words_of_hosts(void **state) {
    static const struct {
        const char *hosts, *text, *want;
    } cases[] = {
        {"vm", "measured on vm, 2026", "measured on X, 2026"},
        {"vm", "VM of the vms, vm-2, a.vm.b", "X of the vms, vm-2, a.X.b"},
        {"gpu-017.dc.example.org", "on gpu-017, gpu-018 and gpu-017.dc.example.org",
         "on X, X and X"},
        {"gpu-017.dc.example.org", "login.dc.example.org", "login.X"},
        {"gpu-017", "gpu-x, gpu-, gpu-1a", "gpu-x, gpu-, gpu-1a"},
        {"n7", "n7 and n8", "X and n8"}, /* too short a stem */
        {"a1,b2 c3", "a1 b2 c3 d4", "X X X d4"},
        {"10.0.0.7", "at 10.0.0.7:22", "at X:22"},
        {"", "of /home/jane/run 7/samples.jsonl, ~/x/y", "of run 7/samples.jsonl, y"},
        {"node7", "/data/node7/samples.jsonl", "samples.jsonl"},
        {"node7", "/node7", "/X"},
        {"x%s$(rm)", "x%s$(rm) %n", "X %n"},
        {"\xd1\x83\xd0\xb7\xd0\xb5\xd0\xbb", "\xd1\x83\xd0\xb7\xd0\xb5\xd0\xbb 7", "X 7"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_hosts hosts = {0};
        struct fr_text out = {0};
        assert_true(fr_hosts_add(&hosts, cases[i].hosts));
        fr_hosts_leave_out(&hosts, cases[i].text, "X", &out);
        FR_TRUE(strcmp(fr_text_get(&out), cases[i].want) == 0, "%s in \"%s\": \"%s\"",
                cases[i].hosts, cases[i].text, fr_text_get(&out));
        fr_text_free(&out);
    }
}

/* ---- every text of a file -------------------------------------------------------------------------- */

/* A calibrated machine with all that a file says in words. */
static const char calibrated[] =
    "{\"name\": \"N\", \"source\": \"T\", \"date\": \"2026-11-27\", \"checked\": \"T\", "
    "\"device\": {\"name\": \"R\", \"memory\": \"64 GB\", \"memory_bandwidth\": \"1 TB/s\", "
    "\"gemm\": {\"fp32\": {\"peak\": \"40 TFLOP/s\", \"half_dim\": 64}}, \"power\": {\"busy\": "
    "\"500 W\", \"idle\": \"90 W\", \"quality\": \"measured\", \"source\": \"T\"}}, "
    "\"levels\": [{\"name\": \"node\", \"ranks\": 8, \"latency\": \"2 us\", \"bandwidth\": "
    "\"50 GB/s\"}, {\"name\": \"R\", \"ranks\": 64, \"latency\": \"5 us\", \"bandwidth\": \"25 "
    "GB/s\"}], \"collectives\": {\"all_reduce\": {\"form\": \"log\", "
    "\"c1\": \"33.4 us\", \"c2\": \"0.64 ns/B\", \"message\": \"total\"}}, \"calibration\": "
    "{\"date\": \"2026-11-27T10:00:00Z\", \"host\": \"H\", \"hosts\": \"H\", \"kernel\": "
    "\"T\", "
    "\"cpu\": \"T\", \"mpi\": \"T\", \"blas\": \"T\", \"ranks\": 8, \"verdict\": \"PASS\", "
    "\"reasons\": [\"T\", \"T\"], \"series\": {\"T\": {\"op\": \"all_reduce\", \"of\": "
    "\"T\"}}}}";

/* "T" becomes a text with @p host in it, "R" a short one, "H" the host alone. */
static void fill(const char *host, struct fr_text *text) {
    for (const char *at = calibrated; *at; at++)
        if (strncmp(at, "\"T\"", 3) == 0) {
            fr_text_addf(text, "\"taken on %s (%s, /home/%s/x), twice\"", host, host, host);
            at += 2;
        } else if (strncmp(at, "\"R\"", 3) == 0) {
            fr_text_addf(text, "\"rack %s\"", host);
            at += 2;
        } else if (strncmp(at, "\"H\"", 3) == 0) {
            fr_text_addf(text, "\"%s\"", host);
            at += 2;
        } else
            fr_text_add(text, at, 1);
}

static bool has_word(const char *text, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = text; *at; at++)
        if (strncasecmp(at, word, length) == 0 && !isalnum((unsigned char)at[length]) &&
            (at == text || !isalnum((unsigned char)at[-1])))
            return true;
    return false;
}

static void share_by(const char *text, const char *name, const char *by, struct fr_text *out,
                     fr_status want, const char *where) {
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    const struct fr_share asked = {.name = name, .by = by};
    assert_int_equal(fr_preset_or_file_read("cluster", text, &document, &err), FR_OK);
    fr_status status = fr_share_make(document, &asked, out, &err);
    FR_TRUE(status == want, "%s: %s", err.where, err.detail);
    FR_TRUE(strcmp(err.where, where) == 0, "at \"%s\", not \"%s\"", err.where, where);
    fr_json_free(document);
}

static void share(const char *text, const char *name, struct fr_text *out, fr_status want) {
    share_by(text, name, "somebody", out, want, want == FR_OK ? "" : "--name");
}

static double all_reduce_s(const char *text) {
    struct fr_json_document *document = NULL;
    struct fr_cluster cluster = {0};
    bool outside = false;
    struct fr_error err = {0};
    fr_status status = fr_preset_or_file_read("cluster", text, &document, &err);
    if (status == FR_OK) status = fr_cluster_read_bare(document, &cluster, &err);
    FR_TRUE(status == FR_OK, "%s: %s in %s", err.where, err.detail, text);
    const struct fr_group group = {.n_ranks = 8, .changed = {1, 1}};
    double time_s = fr_comm_time_s(&cluster.price[FR_OP_ALL_REDUCE], &group, 1e6, &outside);
    fr_cluster_free(&cluster);
    fr_json_free(document);
    return time_s;
}

static void no_text_names_a_host(void **state) {
    static const char *const hosts[] = {"vm",
                                        "gpu-017.dc.example.org",
                                        "N1",
                                        "10.0.0.7",
                                        "x%s$(rm)",
                                        "a'b",
                                        "--name",
                                        "GB",
                                        "B200",
                                        "login1",
                                        "\xd1\x83\xd0\xb7\xd0\xb5\xd0\xbb",
                                        "peak",
                                        "reasons"};
    (void)state;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        struct fr_text text = {0}, out = {0};
        fill(hosts[i], &text);
        share(fr_text_get(&text), "shared", &out, FR_OK);
        const bool of_format = has_word("GB peak reasons", hosts[i]);
        FR_TRUE(of_format || !has_word(fr_text_get(&out), hosts[i]), "%s stands in\n%s",
                hosts[i], fr_text_get(&out));
        FR_TRUE(!strstr(fr_text_get(&out), "taken on ") ||
                    strstr(out.data, "taken on shared (shared, "),
                "%s: %s", hosts[i], out.data);
        assert_null(strstr(out.data, "/home"));
        assert_non_null(strstr(out.data, "\"measured_by\": \"somebody\""));
        assert_non_null(strstr(out.data, "2026-11-27T10:00:00Z")); /* provenance */
        FR_TRUE(all_reduce_s(out.data) > 0 &&
                    all_reduce_s(out.data) == all_reduce_s(fr_text_get(&text)),
                "%s: another price", hosts[i]);
        fr_text_free(&text), fr_text_free(&out);
    }
}

/* A host that is called as a word of the format is: the file stays one. */
static void hosts_called_as_the_format(void **state) {
    static const char *const hosts[] = {"node", "log", "total", "us", "measured", "PASS", "2"};
    (void)state;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        struct fr_text text = {0}, out = {0};
        fill(hosts[i], &text);
        share(fr_text_get(&text), "shared", &out, FR_OK);
        FR_TRUE(all_reduce_s(out.data) == all_reduce_s(fr_text_get(&text)), "%s", hosts[i]);
        fr_text_free(&text), fr_text_free(&out);
    }
}

static void a_host_is_no_name(void **state) {
    struct fr_text text = {0}, out = {0};
    (void)state;
    fill("gpu-017.dc.example.org", &text);
    share(fr_text_get(&text), "gpu-018", &out, FR_ERR_USAGE);
    out.length = 0;
    share_by(fr_text_get(&text), "ours", "root@gpu-018", &out, FR_ERR_USAGE, "--by");
    out.length = 0;
    share(fr_text_get(&text), "gpu", &out, FR_OK);
    fr_text_free(&text), fr_text_free(&out);
}

/* A shared file can be shared again, to the same bytes. */
static void twice_is_once(void **state) {
    struct fr_text text = {0}, once = {0}, twice = {0};
    (void)state;
    fill("vm", &text);
    share(fr_text_get(&text), "shared", &once, FR_OK);
    share(fr_text_get(&once), "shared", &twice, FR_OK);
    assert_string_equal(once.data, twice.data);
    fr_text_free(&text), fr_text_free(&once), fr_text_free(&twice);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_hosts),
        cmocka_unit_test(no_text_names_a_host),
        cmocka_unit_test(hosts_called_as_the_format),
        cmocka_unit_test(a_host_is_no_name),
        cmocka_unit_test(twice_is_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
