/* Discovery from hwloc XML: recorded nodes in, the node part of a cluster file out; nothing that was not
 * seen, and what is left to fill in is refused by name. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "tests/cmocka.h"
#include "topology/discover.h"
#include "topology/levels.h"

static const char gpus[] = FR_SOURCE_DIR "/tests/topology/fixtures/gpu-node.xml";
static const char cpus[] = FR_SOURCE_DIR "/tests/topology/fixtures/cpu-node.xml";

static struct fr_json_document *discovered(const char *xml, fr_rank_unit unit) {
    struct fr_text text = {0};
    struct fr_error err = {0};
    struct fr_json_document *document = NULL;
    if (fr_discover(xml, unit, &text, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    assert_int_equal(fr_json_parse(fr_text_get(&text), text.length, "d", &document, NULL),
                     FR_OK);
    fr_text_free(&text);
    return document;
}

static int64_t integer(const struct fr_json *object, const char *key) {
    int64_t value = -1;
    assert_int_equal(fr_json_get_integer(object, key, true, 0, 1LL << 40, &value, NULL), FR_OK);
    return value;
}

static void text_is(const struct fr_json *object, const char *key, const char *wanted) {
    char got[128] = "";
    assert_int_equal(fr_json_get_string(object, key, true, got, sizeof got, NULL), FR_OK);
    assert_string_equal(got, wanted);
}

/* Two packages of two GPUs and one InfiniBand adapter each; beside them an Ethernet port and the
 * board's own display, which are none of these. */
static void gpus_and_adapters(void **state) {
    (void)state;
    struct fr_json_document *d = discovered(gpus, FR_RANK_UNIT_auto);
    struct fr_json root = fr_json_root(d);
    struct fr_json levels = fr_json_member(&root, "levels");
    struct fr_json package = fr_json_element(&levels, 0), node = fr_json_element(&levels, 1),
                   system = fr_json_element(&levels, 2);
    struct fr_json device = fr_json_member(&root, "device");
    struct fr_json calibration = fr_json_member(&root, "calibration");
    struct fr_json seen = fr_json_member(&calibration, "discovered");
    struct fr_json list = fr_json_member(&seen, "gpus"),
                   net = fr_json_member(&seen, "adapters");
    struct fr_json adapter = fr_json_element(&net, 0);
    text_is(&root, "name", "gpu-node");
    text_is(&device, "name", "NVIDIA A100-SXM4-80GB");
    text_is(&device, "memory", "85.171634176 GB"); /* 83175424 KiB */
    text_is(&seen, "rank", "gpu");
    assert_int_equal(integer(&package, "ranks"), 2);
    assert_int_equal(integer(&node, "ranks"), 4);
    assert_int_equal(integer(&system, "shared_by"), 2);
    text_is(&system, "ranks", "?");
    assert_int_equal(fr_json_array_length(&list), 4);
    assert_int_equal(fr_json_array_length(&net), 2);
    text_is(&adapter, "name", "mlx5_0");
    text_is(&adapter, "pci_bandwidth", "31.508 GB/s");
    fr_json_free(d);
}

static void cores(void **state) {
    (void)state;
    static const struct {
        fr_rank_unit unit;
        int levels, ranks;
    } wanted[] = {{FR_RANK_UNIT_auto, 3, 8},
                  {FR_RANK_UNIT_core, 3, 8},
                  {FR_RANK_UNIT_numa, 2, 2},
                  {FR_RANK_UNIT_package, 2, 2}};
    for (size_t k = 0; k < 4; k++) {
        struct fr_json_document *d = discovered(cpus, wanted[k].unit);
        struct fr_json root = fr_json_root(d), levels = fr_json_member(&root, "levels");
        struct fr_json node = fr_json_element(&levels, wanted[k].levels - 2);
        struct fr_json calibration = fr_json_member(&root, "calibration");
        struct fr_json seen = fr_json_member(&calibration, "discovered");
        struct fr_json list = fr_json_member(&seen, "gpus");
        assert_int_equal(fr_json_array_length(&levels), wanted[k].levels);
        text_is(&node, "name", "node");
        assert_int_equal(integer(&node, "ranks"), wanted[k].ranks);
        assert_int_equal(fr_json_array_length(&list), 0);
        assert_int_equal(integer(&seen, "packages"), 2);
        assert_int_equal(integer(&seen, "cores"), 8);
        assert_int_equal(integer(&seen, "threads"), 16);
        fr_json_free(d);
    }
}

static void what_is_left_is_refused_by_name(void **state) {
    (void)state;
    struct fr_json_document *d = discovered(gpus, FR_RANK_UNIT_auto);
    struct fr_json root = fr_json_root(d), array = fr_json_member(&root, "levels");
    struct fr_levels levels;
    struct fr_error err = {0};
    assert_int_equal(fr_levels_read(&array, &levels, &err), FR_ERR_INPUT);
    assert_string_equal(err.where, "d#/levels/0/latency");
    fr_json_free(d);
}

static void refuses(void **state) {
    (void)state;
    struct fr_text text = {0};
    struct fr_error err = {0};
    assert_int_equal(fr_discover("/nowhere.xml", FR_RANK_UNIT_auto, &text, &err), FR_ERR_INPUT);
    assert_string_equal(err.where, "/nowhere.xml");
    assert_int_equal(fr_discover(FR_SOURCE_DIR "/README.md", FR_RANK_UNIT_auto, &text, &err),
                     FR_ERR_INPUT);
    assert_non_null(strstr(err.detail, "no hwloc XML"));
    assert_int_equal(fr_discover(cpus, FR_RANK_UNIT_gpu, &text, &err), FR_ERR_INPUT);
    assert_string_equal(err.detail, "shows no gpu");
    assert_int_equal(text.length, 0);
}

/* @p xml without its @p n-th attribute called @p name; false when there are not so many. */
static bool without(const char *xml, const char *name, int n, struct fr_text *out) {
    char begin[40];
    const char *at = xml;
    snprintf(begin, sizeof begin, " %s=\"", name);
    for (;; at++) {
        at = strstr(at, begin);
        if (!at) return false;
        if (n-- == 0) break;
    }
    fr_text_add(out, xml, (size_t)(at - xml));
    at = strchr(at + strlen(begin), '"') + 1;
    fr_text_add(out, at, strlen(at));
    return true;
}

/* libhwloc crashes on some of these; we say so and live. */
static void damaged_files_are_told_of(void **state) {
    static const char *const names[] = {
        "complete_nodeset", "complete_cpuset", "nodeset",   "cpuset",
        "allowed_nodeset",  "os_index",        "type",      "gp_index",
        "local_memory",     "bridge_pci",      "pci_busid", "osdev_type"};
    char *xml = NULL, path[] = "/tmp/forerun-hwloc-XXXXXX";
    size_t length = 0;
    int damaged = 0, n = 0;
    (void)state;
    close(mkstemp(path));
    assert_int_equal(fr_file_read(gpus, 1 << 20, &xml, &length, NULL), FR_OK);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (int i = 0; i < 3; i++, n++) {
            struct fr_text broken = {0}, text = {0};
            struct fr_error err = {0};
            if (!without(xml, names[k], i, &broken)) break;
            assert_int_equal(fr_file_write(path, broken.data, broken.length, NULL), FR_OK);
            fr_status status = fr_discover(path, FR_RANK_UNIT_auto, &text, &err);
            if (status != FR_OK) {
                assert_int_equal(status, FR_ERR_INPUT);
                assert_string_equal(err.where, path);
                assert_true(err.detail[0] && text.length == 0);
            } else
                assert_true(text.length > 0);
            damaged += status != FR_OK && strstr(err.detail, "is damaged: libhwloc") != NULL;
            fr_text_free(&broken);
            fr_text_free(&text);
        }
    assert_true(n > 20 && damaged > 0);
    free(xml);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpus_and_adapters), cmocka_unit_test(cores),
        cmocka_unit_test(what_is_left_is_refused_by_name), cmocka_unit_test(refuses),
        cmocka_unit_test(damaged_files_are_told_of)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
