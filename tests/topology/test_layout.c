/* Files that administrators have at hand become the levels of a cluster file: each form by itself, wrapped, and
 * together. */
#include "topology/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/random.h"
#include "tests/cmocka.h"
#include "tests/wraps.h"

static const char
    joined[] =
        "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
        "GPU0\t X \tNV18\tNV18\tNV18\tPIX\tNODE\t0-23\t0\t\tN/A\n"
        "GPU1\tNV18\t X \tNV18\tNV18\tNODE\tPIX\t0-23\t0\t\tN/A\n"
        "GPU2\tNV18\tNV18\t X \tNV18\tSYS\tSYS\t24-47\t1\t\tN/A\n"
        "GPU3\tNV18\tNV18\tNV18\t X \tSYS\tSYS\t24-47\t1\t\tN/A\n"
        "NIC0\tPIX\tNODE\tSYS\tSYS\t X \tNODE\n"
        "NIC1\tNODE\tPIX\tSYS\tSYS\tNODE\t X \n\nLegend:\n\n  X    = Self\n",
    pci[] = "\tGPU0\tGPU1\tGPU2\tGPU3\tmlx5_0\tCPU Affinity\tNUMA Affinity\n"
            "GPU0\t X \tNODE\tSYS\tSYS\tNODE\t0-23\t0\n"
            "GPU1\tNODE\t X \tSYS\tSYS\tNODE\t0-23\t0\n"
            "GPU2\tSYS\tSYS\t X \tNODE\tSYS\t24-47\t1\n"
            "GPU3\tSYS\tSYS\tNODE\t X \tSYS\t24-47\t1\n",
    xml[] = "<system version=\"1\">\n<cpu numaid=\"0\" arch=\"x86_64\">\n"
            "<pci busid=\"0a\" class=\"0x030200\"><gpu dev=\"0\" sm=\"90\" rank=\"0\">\n"
            "<nvlink target=\"0\" count=\"18\" tclass=\"0x068000\"/></gpu></pci>\n"
            "<pci busid=\"0b\"><gpu dev=\"1\" sm=\"90\" rank=\"1\">"
            "<nvlink target=\"0\" count=\"18\"/></gpu></pci>\n"
            "<nic><net name=\"mlx5_0\" dev=\"0\" speed=\"400000\" port=\"1\"/>\n"
            "<net name=\"mlx5_1\" dev=\"1\" speed=\"400000\" port=\"1\"/></nic></cpu>\n"
            "</system>\n",
    tree[] = "# two levels\nSwitchName=s0 Nodes=n[0-15]\nSwitchName=s1 Nodes=n[16-30],login\n"
             "SwitchName=core Switches=s[0-1] LinkSpeed=100\n",
    blocks[] = "BlockName=b1 Nodes=node[001-018]\nBlockName=b2 Nodes=node[019-036]\n"
               "BlockSizes=18,36\n",
    racks[] = "SwitchName=s0 Nodes=r[0-1]n[0-7]-ib\nSwitchName=s1 Nodes=r[2-3]n[0-3]-ib,\\\n"
              "r[2-3]n[4-7]-ib\nSwitchName=core Switches=s[0-1]\n",
    yaml[] = "---\n- topology: other\n  block:\n    block_sizes:\n      - 4\n    blocks:\n"
             "      - block: b1\n        nodes: n[01-04]\n- topology: own\n"
             "  cluster_default: true\n  tree:\n    switches:\n      - switch: root\n"
             "        children: s[1-2]\n      - switch: s1\n        nodes: node[01-16]\n"
             "      - switch: s2\n        nodes: node[17-32]\n",
    yaml_blocks[] = "- topology: t\n  block:\n    blocks:\n      - block: b1\n"
                    "        nodes: n[01-18]\n      - block: b2\n        nodes: n[19-36]\n",
    given[] = "<system version=\"1\">\n<cpu numaid=\"0\" arch=\"x86_64\">\n"
              "<pci busid=\"ffff:ff:01.0\" class=\"0x060400\">\n"
              "<pci busid=\"0001:00:00.0\" class=\"0x030200\" link_width=\"16\"/>\n"
              "<pci busid=\"0101:00:00.0\" class=\"0x020700\" link_width=\"16\"/>\n"
              "<pci busid=\"0002:00:00.0\" class=\"0x030200\" link_width=\"16\"/>\n"
              "</pci></cpu></system>\n",
    xgmi[] =
        "<system version=\"1\"><cpu numaid=\"0\">\n"
        "<pci busid=\"0a\"><gpu dev=\"0\" rank=\"0\"><xgmi target=\"0b\" "
        "count=\"1\"/></gpu></pci>\n"
        "<pci busid=\"0b\"><gpu dev=\"1\" rank=\"1\"><xgmi target=\"0a\" "
        "count=\"1\"/></gpu></pci>\n"
        "<nic><net name=\"a\" dev=\"0\" speed=\"400000\"/>\n"
        "<net name=\"a_sharp\" dev=\"1\" speed=\"400000\" coll=\"1\"/></nic></cpu></system>\n",
    other_names[] = "\tGPU0\tGPU1\thsn0\tens1np0\tCPU Affinity\tNUMA Affinity\n"
                    "GPU0\t X \tNV4\tPIX\tSYS\t0-23\t0\nGPU1\tNV4\t X \tSYS\tPIX\t24-47\t1\n",
    rocm[] =
        "=== Weight between two GPUs ===\n       GPU0  GPU1\nGPU0   0     15\nGPU1   15    0\n"
        "=== Link Type between two GPUs ===\n       GPU0  GPU1\nGPU0   0     XGMI\n"
        "GPU1   XGMI  0\n";

static fr_status take(const char *text, size_t length, struct fr_layout *layout,
                      struct fr_error *err) {
    char path[] = "/tmp/forerun_layout_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(fr_file_write(path, text, length, NULL), FR_OK);
    fr_status status = fr_layout_read(path, layout, err);
    remove(path);
    return status;
}

static const struct {
    const char *text;
    int gpus, of_package, links, adapters;
    double rate_B_per_s;
    int64_t nodes, of_switch[2];
} forms[] = {
    {joined, 4, 0, 18, 2, 0, 0, {0, 0}},     {pci, 4, 2, 0, 1, 0, 0, {0, 0}},
    {xml, 2, 0, 18, 2, 50e9, 0, {0, 0}},     {tree, 0, 0, 0, 0, 0, 32, {16, 32}},
    {blocks, 0, 0, 0, 0, 0, 36, {18, 0}},    {racks, 0, 0, 0, 0, 0, 32, {16, 32}},
    {yaml, 0, 0, 0, 0, 0, 32, {16, 32}},     {yaml_blocks, 0, 0, 0, 0, 0, 36, {18, 0}},
    {given, 2, 0, 0, 1, 0, 0, {0, 0}},       {xgmi, 2, 0, 0, 1, 50e9, 0, {0, 0}},
    {other_names, 2, 0, 4, 2, 0, 0, {0, 0}}, {rocm, 2, 0, 0, 0, 0, 0, {0, 0}},
};
enum { FORMS = sizeof forms / sizeof *forms };

static void expect_form(int i, const char *text, size_t length, const char *what) {
    struct fr_text notes = {0};
    struct fr_layout l = {.notes = &notes};
    struct fr_error err = {0};
    FR_TRUE(take(text, length, &l, &err) == FR_OK, "form %d, %s: %s", i, what, err.detail);
    FR_TRUE(l.gpus == forms[i].gpus && l.gpus_of_package == forms[i].of_package &&
                l.links == forms[i].links && l.adapters == forms[i].adapters &&
                l.adapter_rate_B_per_s == forms[i].rate_B_per_s && l.nodes == forms[i].nodes &&
                l.nodes_of_switch[0] == forms[i].of_switch[0] &&
                l.nodes_of_switch[1] == forms[i].of_switch[1],
            "form %d, %s: %d GPUs, %d a package, %d links, %d adapters, %lld nodes", i, what,
            l.gpus, l.gpus_of_package, l.links, l.adapters, (long long)l.nodes);
    fr_text_free(&notes);
}

static void each_form_is_read_plain_and_wrapped(void **state) {
    (void)state;
    for (int i = 0; i < FORMS; i++) {
        expect_form(i, forms[i].text, strlen(forms[i].text), "plain");
        for (int k = i % 4; k < WRAPS; k += 4) { /* each file is synced to disk */
            const struct wrap *wrap = &wraps[k];
            struct fr_text text = {0};
            wrap_lines(forms[i].text, &wrap, 1, &text);
            expect_form(i, fr_text_get(&text), text.length, wrap->what);
            fr_text_free(&text);
        }
    }
}

/* Node and network together: ranks of each level. */
static void levels_of_node_and_network(void **state) {
    static const struct {
        const char *name;
        int64_t ranks, shared_by;
    } wanted[] = {{"node", 4, 0}, {"leaf", 64, 2}, {"system", 128, 2}};
    struct fr_text notes = {0}, text = {0};
    struct fr_layout l = {.notes = &notes};
    struct fr_error err = {0};
    struct fr_json_document *document = NULL;
    (void)state;
    assert_int_equal(take(joined, sizeof joined - 1, &l, &err), FR_OK);
    assert_int_equal(take(tree, sizeof tree - 1, &l, &err), FR_OK);
    assert_int_equal(fr_layout_write(&l, 0, &text, &err), FR_OK);
    assert_int_equal(fr_json_parse(fr_text_get(&text), text.length, "layout", &document, &err),
                     FR_OK);
    struct fr_json root = fr_json_root(document), levels = fr_json_member(&root, "levels");
    assert_int_equal(fr_json_array_length(&levels), 3);
    for (int i = 0; i < 3; i++) {
        struct fr_json level = fr_json_element(&levels, i);
        int64_t ranks = 0, shared_by = 0;
        char name[32] = "";
        assert_int_equal(fr_json_get_string(&level, "name", true, name, sizeof name, &err),
                         FR_OK);
        assert_string_equal(name, wanted[i].name);
        assert_int_equal(fr_json_get_integer(&level, "ranks", true, 1, 1 << 20, &ranks, &err),
                         FR_OK);
        assert_int_equal(
            fr_json_get_integer(&level, "shared_by", false, 1, 64, &shared_by, &err), FR_OK);
        assert_true(ranks == wanted[i].ranks && shared_by == wanted[i].shared_by);
    }
    fr_json_free(document);
    fr_text_free(&text);
    fr_text_free(&notes);
    /* Switches alone say no ranks. */
    struct fr_layout network = {.notes = &notes};
    assert_int_equal(take(tree, sizeof tree - 1, &network, &err), FR_OK);
    assert_int_equal(fr_layout_write(&network, 0, &text, &err), FR_ERR_INPUT);
    assert_non_null(strstr(err.detail, "--ranks-per-node"));
    assert_int_equal(fr_layout_write(&network, 8, &text, &err), FR_OK);
    fr_text_free(&text);
    fr_text_free(&notes);
}

static void what_cannot_be_is_refused(void **state) {
    static const char *const texts[] = {"",
                                        "nothing\n",
                                        "SwitchName=a Switches=a\n",
                                        "SwitchName=a Switches=b\nSwitchName=b Switches=a\n",
                                        "SwitchName=a Switches=missing\n",
                                        "SwitchName=a Nodes=n[3-1]\n",
                                        "SwitchName=a Nodes=n[1\n",
                                        "SwitchName=a\n",
                                        "SwitchName=a Nodes=n[0-99999999]\n",
                                        "<system><cpu numaid=\"0\"></cpu></system>",
                                        "\tGPU0\tGPU1\tNIC0\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fr_text notes = {0};
        struct fr_layout l = {.notes = &notes};
        struct fr_error err = {0};
        FR_TRUE(take(texts[i], strlen(texts[i]), &l, &err) == FR_ERR_INPUT && *err.where &&
                    *err.detail,
                "read: %s", texts[i]);
        fr_text_free(&notes);
    }
}

/* Bytes changed, cut out and doubled at random: read or refused, and what is written is JSON. */
static void any_bytes_are_read_or_refused(void **state) {
    uint64_t random = 5;
    (void)state;
    for (int i = 0; i < 600; i++) {
        const char *from = forms[i % FORMS].text;
        char text[1600];
        size_t n = (size_t)snprintf(text, sizeof text, "%s", from);
        for (int k = 0; k < 4 && n > 1; k++) {
            size_t at = fr_random_next(&random) % n;
            uint64_t what = fr_random_next(&random);
            if (what % 3 == 0)
                text[at] = (char)(32 + what / 3 % 96);
            else if (what % 3 == 1)
                memmove(text + at, text + at + 1, n - at);
            else
                text[at + 1] = '\0';
            n = strlen(text);
        }
        struct fr_text notes = {0}, out = {0};
        struct fr_layout l = {.notes = &notes};
        struct fr_error err = {0};
        struct fr_json_document *document = NULL;
        const struct fr_layout_form *form = fr_layout_form_of(text);
        if (form && form->read(text, "fuzz", &l, &err) == FR_OK) {
            assert_int_equal(fr_layout_write(&l, 8, &out, &err), FR_OK);
            assert_int_equal(
                fr_json_parse(fr_text_get(&out), out.length, "out", &document, &err), FR_OK);
        }
        fr_json_free(document);
        fr_text_free(&out);
        fr_text_free(&notes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_is_read_plain_and_wrapped),
        cmocka_unit_test(levels_of_node_and_network),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(any_bytes_are_read_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
