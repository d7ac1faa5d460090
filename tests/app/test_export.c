/* forerun export and discover as a user runs them; SimGrid loads what is exported, every shape. */
#include "tests/app/command.h"

static char folder[] = "/tmp/forerun-export-XXXXXX";

static int set_up(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    return rmdir(folder);
}

static void write_text(const char *path, const char *text) {
    struct fr_error err = {0};
    if (fr_file_write(path, text, strlen(text), &err) != FR_OK) fail_msg("%s", err.detail);
}

/* 25 MB from the first rank to the last, in SimGrid on the exported platform; the time by hand. */
static void simgrid_loads_it(void **state) {
    (void)state;
    static const struct {
        const char *sets;
        int ranks;
        double time_s;
    } cases[] = {
        {"", 2, 2e-6 + 25e6 / 300e9},
        {"", 16, 5e-6 + 25e6 / 25e9},
        {"--set cluster.topology=flat", 64, 5e-6 + 25e6 / 25e9},
        {"--set cluster.topology=rack:2\tnode:2\tgpu:8", 32, 5e-6 + 25e6 / 25e9},
        {"--set cluster.topology=fat-tree\tdown=2,2,2\tup=1,1\tbandwidth=5GB/s\tlatency=1us",
         64, 5e-6 + 4e-6 + 25e6 / 5e9},
        {"--set cluster.topology=torus\tsize=2,4\tlatency=1us", 64, 5e-6 + 2e-6 + 25e6 / 25e9},
        {"--set cluster.topology=dragonfly\tgroups=3\trouters=2\tports=1\tlatency=1us", 48,
         5e-6 + 3e-6 + 25e6 / 25e9},
        {"--set cluster.topology=rail\tpod=2\tpods=2\tlatency=1us", 32,
         5e-6 + 2e-6 + 25e6 / 25e9},
    };
    if (access(FR_BIN_DIR "/forerun-simgrid", X_OK) != 0) {
        print_message("skipped: forerun-simgrid was not built\n");
        skip();
    }
    char platform[96], program[96], result[96], line[512];
    snprintf(platform, sizeof platform, "%s/platform.xml", folder);
    snprintf(program, sizeof program, "%s/program", folder);
    snprintf(result, sizeof result, "%s/result", folder);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char *text = NULL;
        size_t length;
        double end_s = -1, start_s = -1;
        snprintf(line, sizeof line,
                 "forerun export simgrid --cluster a100-hdr --set "
                 "cluster.levels.1.bandwidth=25GB/s --ranks %d %s -o %s",
                 cases[k].ranks, cases[k].sets, platform);
        struct output o = fr_test_run(line);
        if (o.exit_code != 0) fail_msg("%s: exit %d: %s", line, o.exit_code, o.err);
        fr_test_output_free(&o);
        snprintf(line, sizeof line, "m 0 %d 25000000 0\n", cases[k].ranks - 1);
        write_text(program, line);
        snprintf(line, sizeof line, "forerun-simgrid %s %s %s", platform, program, result);
        o = fr_test_run(line);
        if (o.exit_code != 0) fail_msg("%s: exit %d: %s", line, o.exit_code, o.err);
        fr_test_output_free(&o);
        assert_int_equal(fr_file_read(result, 1 << 20, &text, &length, NULL), FR_OK);
        assert_int_equal(sscanf(text, "%lf %lf", &start_s, &end_s), 2);
        FR_TRUE(fabs(end_s - cases[k].time_s) <= 1e-9 * end_s,
                "%s: got %.12g s, wanted %.12g s", cases[k].sets, end_s, cases[k].time_s);
        free(text);
    }
    unlink(platform);
    unlink(program);
    unlink(result);
}

static void says(const char *line, int exit_code, const char *words) {
    struct output o = fr_test_run(line);
    FR_TRUE(o.exit_code == exit_code && strstr(o.exit_code ? o.err : o.out, words),
            "%s: exit %d: %s%s", line, o.exit_code, o.err, o.exit_code ? "" : o.out);
    fr_test_output_free(&o);
}

static void refusals(void **state) {
    (void)state;
    says("forerun export --cluster a100-hdr", 2, "known: simgrid");
    says("forerun export graphviz --cluster a100-hdr", 2, "graphviz");
    says("forerun export chakra --cluster a100-hdr --model gpt-2.5b", 2, "a folder is needed");
    says("forerun export chakra --cluster a100-hdr --model gpt-2.5b -o /dev/null", 1,
         "is no folder");
    says("forerun export chakra --cluster frontier --model ffn-16384 --set tp=8192 -o t", 3,
         "8192 ranks");
    says("forerun export goal --cluster a100-hdr --model gpt-2.5b --json", 2, "is of chakra");
    says("forerun export goal --cluster frontier --model ffn-4096 --set tp=4", 3,
         "has no messages");
    says("forerun export simgrid --cluster frontier --ranks 4", 0, "all_gather (log)");
    says("forerun export simgrid --cluster a100-hdr --ranks 4096", 3, "holds 128 ranks");
    says("forerun export simgrid --cluster frontier", 3, "--ranks 512");
    says("forerun export simgrid --cluster a100-hdr --set cluster.topology=torus\tsize=x", 3,
         "#/topology");
    says("forerun discover /nowhere.txt", 3, "/nowhere.txt");
    says("forerun discover --hwloc /nowhere.xml", 3, "/nowhere.xml");
    says("forerun discover --rank socket", 2, "package");
    says("forerun discover --hwloc " FR_SOURCE_DIR "/tests/topology/fixtures/gpu-node.xml", 0,
         "\"NVIDIA A100-SXM4-80GB\"");
    says("forerun simulate --cluster a100-hdr --model gpt-8.3b --set tp=8 --set pp=16 "
         "--network ring",
         2, "isolated");
}

/* 64 MB by a ring: 2 x 3 rounds of 16 MB; over 300 GB/s inside a node, 25 GB/s between nodes, an eighth
 * of it with seven other groups. */
static void where_ranks_sit_and_what_else_runs(void **state) {
    (void)state;
#define RING                                                                                   \
    "forerun collective --cluster a100-hdr --set cluster.levels.1.bandwidth=25GB/s --op "      \
    "all_reduce "                                                                              \
    "--algorithm ring --size 64MB "
    says(RING "--ranks 4 --groups 1", 0, " 332.00 ");
    says(RING "--ranks 4 --groups 8", 0, " 332.00 ");
    says(RING "--ranks 4 --stride 8 --groups 1", 0, " 3870.00 ");
    says(RING "--ranks 4 --stride 8 --groups 8", 0, " 30750.00 ");
    says(RING "--ranks 16 --groups 100", 3, "holds 128 ranks");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(simgrid_loads_it),
                                       cmocka_unit_test(where_ranks_sit_and_what_else_runs),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
