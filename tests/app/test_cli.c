/* The command line as a user meets it: exit codes, sentences, suggestions, the contract's keys. */
#include "answer/piece/piece.h"
#include "base/json.h"
#include "models/plan/key.h"
#include "tests/app/command.h"

static void help_and_version(void **state) {
    (void)state;
    fr_test_expect("forerun --version", 0, "forerun 0.", NULL);
    fr_test_expect("forerun-mpi --version", 0, "runs with ", NULL);
    fr_test_expect("forerun --help", 0, "predict", NULL);
    fr_test_expect("forerun", 2, NULL, "predict");
    static const char *const verbs[] = {"predict",   "search",     "calibrate", "fit", "plot",
                                        "reproduce", "collective", "gemm",      "list"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        char line[64];
        snprintf(line, sizeof line, "forerun %s --help", verbs[i]);
        fr_test_expect(line, 0, "usage: forerun", NULL);
        snprintf(line, sizeof line, "forerun %s --bogus-option", verbs[i]);
        fr_test_expect(line, 2, NULL, "unknown option \"--bogus-option\"");
    }
}

/* Whatever the machine lacks, doctor says so and ends well. */
static void doctor_tries_and_tells(void **state) {
    (void)state;
    fr_test_expect("forerun doctor --json", 0, "forerun/doctor/1", NULL);
    fr_test_expect("forerun doctor", 0, "powercap", NULL);
    fr_test_expect("forerun doctor --jsn", 2, NULL, "did you mean \"--json\"");
}

static void usage_errors_suggest(void **state) {
    (void)state;
    fr_test_expect("forerun predct", 2, NULL, "did you mean \"predict\"");
    fr_test_expect("forerun predict --clutser frontier", 2, NULL, "did you mean \"--cluster\"");
    fr_test_expect("forerun predict --model alexnet", 2, NULL, "--cluster is required");
    fr_test_expect("forerun predict --cluster", 2, NULL, "needs a value");
    fr_test_expect("forerun predict --cluster frontier --model ffn-4096 --set ghost", 2, NULL,
                   "KEY=VALUE");
    fr_test_expect("forerun predict --cluster frontier --model ffn-4096 --engine closd", 2,
                   NULL, "did you mean \"closed\"");
    fr_test_expect(
        "forerun search --cluster frontier --model ffn-4096 --ranks 8 --vary ghots=1", 2, NULL,
        "did you mean \"ghost\"");
    fr_test_expect("forerun search --cluster frontier --model ffn-4096 --ranks 8..2", 2, NULL,
                   "--ranks");
    fr_test_expect("forerun search --cluster frontier --model ffn-4096 --ranks 0", 2, NULL,
                   "--ranks");
    fr_test_expect("forerun reproduce phntom", 2, NULL, "did you mean \"phantom\"");
    fr_test_expect("forerun list method", 2, NULL, "did you mean \"methods\"");
    fr_test_expect("forerun plot energy x.json -o x.bmp", 2, NULL, NULL);
    fr_test_expect("forerun collective --cluster frontier --op allreduce --ranks 8", 2, NULL,
                   "did you mean \"all_reduce\"");
    fr_test_expect("forerun gemm --cluster frontier --m 0 --n 1 --k 1", 2, NULL, "--m");
    fr_test_expect("forerun fit", 2, NULL, "no samples");
    fr_test_expect("forerun fit s.jsonl --power-busy 5W --power-idle 10W", 2, NULL,
                   "--power-busy: is 5 W; expected more than 0 W, and at least the 10 W");
    fr_test_expect("forerun predict --cluster - --model -", 2, NULL, "standard input");
}

static void nonsense_in_sets(void **state) {
    (void)state;
    static const struct {
        const char *set, *says;
    } bad[] = {
        {"ghots=3", "did you mean \"ghost\""},
        {"ghost=1e400", "plan#/ghost"},
        {"ghost=nan", "plan#/ghost"},
        {"ghost=-1", "plan#/ghost"},
        {"tp=0", "plan#/tp"},
        {"tp=2.5", "plan#/tp"},
        {"method=phantm", "did you mean \"phantom\""},
        {"cluster.device.launch=5", "no unit"},
        {"cluster.device.launch=-5us", "negative"},
        {"cluster.device.launch=5GB", "plan"},
        {"cluster.device.lunch=5us", "did you mean \"launch\""},
        {"cluster.levels.0.latency=-1us", "levels/0/latency"},
        {"cluster.levels.0.ranks=0", "levels/0/ranks"},
        {"cluster.levels=[]", "levels"},
        {"cluster.device.gemm.fp32.peak=inf", "peak"},
        {"model.width=NaN", "model"},
        {"model.layers=[[[[", "model"},
        {"model.iterations=/no-such-folder", "/no-such-folder"},
        {"overlap=everything", "gradient"},
        {"schedule=1f1v", "did you mean \"1f1b\""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char line[256];
        snprintf(line, sizeof line,
                 "forerun predict --cluster frontier --model ffn-16384 --json --set %s",
                 bad[i].set);
        struct output o = fr_test_run(line);
        FR_TRUE(o.exit_code == 3 && !o.out[0] && o.err[0],
                "%s: exit %d, stdout \"%.40s\", stderr \"%s\"", bad[i].set, o.exit_code, o.out,
                o.err);
        if (strcmp(bad[i].says, "plan") && strcmp(bad[i].says, "model"))
            FR_TRUE(strstr(o.err, bad[i].says), "%s: \"%s\" lacks \"%s\"", bad[i].set, o.err,
                    bad[i].says);
        fr_test_output_free(&o);
    }
}

static void write_file(const char *path, const char *text, size_t length) {
    struct fr_error err = {0};
    if (fr_file_write(path, text, length, &err) != FR_OK) fail_msg("%s", err.detail);
}

/* Files: truncated, deep, empty, a directory, binary; always exit 3 with the file's name. */
static void nonsense_in_files(void **state) {
    (void)state;
    char folder[] = "/tmp/forerun-cli-XXXXXX", path[64], line[256], *deep = malloc(100001);
    assert_true(mkdtemp(folder) && deep);
    snprintf(path, sizeof path, "%s/c.json", folder);
    memset(deep, '[', 100000);
    const struct {
        const char *text;
        size_t length;
    } bad[] = {{"", 0},
               {"{", 1},
               {"{\"name\": \"x\"", 12},
               {deep, 100000},
               {"\0\1\2\3", 4},
               {"{\"a\": 1e400}", 12},
               {"{\"name\": \"x\", \"name\": \"y\"}", 26},
               {"[1, 2]", 6},
               {"{} {}", 5},
               {"nan", 3},
               {"{\"device\": {}, \"levels\": {}}", 28}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_file(path, bad[i].text, bad[i].length);
        snprintf(line, sizeof line, "forerun predict --cluster %s --model ffn-4096", path);
        fr_test_expect(line, 3, NULL, path);
        snprintf(line, sizeof line, "forerun predict --cluster frontier --model %s", path);
        fr_test_expect(line, 3, NULL, path);
        snprintf(line, sizeof line,
                 "forerun predict --cluster frontier --model ffn-4096 --plan %s", path);
        if (bad[i].length != 5) fr_test_expect(line, 3, NULL, path);
        snprintf(line, sizeof line, "forerun fit %s --out %s/out.json", path, folder);
        fr_test_expect(line, 3, NULL, NULL);
        snprintf(line, sizeof line, "forerun plot energy-time %s -o %s/out.svg", path, folder);
        fr_test_expect(line, 3, NULL, NULL);
    }
    snprintf(line, sizeof line, "forerun predict --cluster %s --model ffn-4096", folder);
    fr_test_expect(line, 3, NULL, "is a directory");
    snprintf(line, sizeof line, "forerun predict --cluster %s/none.json --model ffn-4096",
             folder);
    fr_test_expect(line, 3, NULL, "neither a file nor a cluster preset");
    fr_test_expect("forerun predict --cluster fronteir --model ffn-4096", 3, NULL,
                   "did you mean \"frontier\"");
    snprintf(path, sizeof path, "%s/out.json", folder);
    assert_false(fr_file_exists(path));
    snprintf(path, sizeof path, "%s/out.svg", folder);
    assert_false(fr_file_exists(path));
    snprintf(path, sizeof path, "%s/c.json", folder);
    unlink(path);
    rmdir(folder); /* fails, and the next line with it, if anything else was left behind */
    assert_false(fr_file_exists(folder));
    free(deep);
}

/* A preset is shown as the file that it is, and what is shown is read. */
static void presets_are_shown(void **state) {
    (void)state;
    fr_test_expect("forerun show dgx-h100", 0, "\"name\": \"dgx-h100\"", NULL);
    fr_test_expect("forerun show llama-3-8b", 0, "\"kind\": \"transformer\"", NULL);
    fr_test_expect("forerun show dgx-h10", 2, NULL, "did you mean \"dgx-h100\"");
    fr_test_expect("forerun show", 2, NULL, "one preset");
}

/* The compared models and plans are printed as they are, and values that all rows share once. */
static void search_says_what_it_compares(void **state) {
    (void)state;
#define SEARCH                                                                                 \
    "forerun search --wide --cluster dgx-h100 --model llama-3-8b --defaults 2019 --ranks 8 "   \
    "--vary tp=4,8 "
    fr_test_expect(SEARCH "--set attention=flash --all", 0,
                   "all these plans compute the same gradients", NULL);
    fr_test_expect(SEARCH "--vary model.sequence=2048,4096 --all", 0,
                   "what is varied of the model changes what an iteration does", NULL);
    fr_test_expect(SEARCH "--vary model.layers=16,32 --vary global_batch=8,16 --all", 0,
                   "what is varied of the model changes what a sample asks", NULL);
    fr_test_expect(SEARCH "--set attention=flash --all", 0, "\nall below  flash", NULL);
    fr_test_expect(SEARCH "--set attention=flash --all", 0, "   tensor tp 4 x dp 2\n", NULL);
#undef SEARCH
}

static void infeasible_is_4_with_the_outcome(void **state) {
    (void)state;
    fr_test_expect("forerun predict --cluster frontier --model ffn-262144 --set tp=32 --json",
                   4, "\"feasible\": false", NULL);
    fr_test_expect("forerun predict --cluster frontier --model ffn-16384 --set tp=8 --set "
                   "method=phantom --set ghost=2000 --all",
                   4, "Eq. 8", NULL);
    fr_test_expect("forerun search --cluster frontier --model ffn-16384 --ranks 8 --vary "
                   "method=phantom --vary ghost=5000 --all",
                   4, "nothing feasible", NULL);
}

static void check_keys(const struct fr_json *object, const char *const *keys) {
    for (; *keys; keys++) {
        struct fr_json member = fr_json_member(object, *keys);
        if (!fr_json_present(&member)) fail_msg("no \"%s\"", *keys);
    }
}

static const char *const outcome_keys[] = {"schema",
                                           "engine",
                                           "plan",
                                           "ranks",
                                           "parameters",
                                           "parameters_per_rank_max",
                                           "iteration_time_s",
                                           "iteration_energy_J",
                                           "memory_B",
                                           "fullest_rank",
                                           "fullest_stage",
                                           "near_memory_edge",
                                           "iterations",
                                           "total_time_s",
                                           "total_energy_J",
                                           "breakdown_s",
                                           "bytes_per_rank",
                                           "lossy",
                                           "feasible",
                                           "reasons",
                                           "extrapolated",
                                           "provenance",
                                           NULL};
static const char *const breakdown_keys[] = {
    "compute", "launch",         "fixed",       "tp_comm", "pp_comm",
    "dp_comm", "embedding_comm", "compression", "bubble",  NULL};
static const char *const search_keys[] = {"schema", "evaluated", "infeasible", "elapsed_s",
                                          "best",   "top",       "pareto",     NULL};

static struct fr_json_document *json_of(const char *line) {
    struct output o = fr_test_run(line);
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    if (o.exit_code != 0) fail_msg("%s: exit %d: %s", line, o.exit_code, o.err);
    if (fr_json_parse(o.out, strlen(o.out), "stdout", &document, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    fr_test_output_free(&o);
    return document;
}

/* The best plan of a search, saved and given to predict, costs what it did. */
static void best_plans_are_given_back(void **state) {
    (void)state;
    static const struct {
        const char *inputs, *vary;
    } cases[] = {{"--cluster cori-knl --model alexnet",
                  "--ranks 512 --set method=grid --vary tp=1,4 --vary layer_tp=best,uniform"},
                 {"--cluster lassen --model gpt-2.5b --set model.dtype=fp16",
                  "--ranks 8 --set tp=2 --vary pp=1,2,4 --set attention=flash "
                  "--vary placement=optimised,round-robin --set micro_batch=1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[1024], path[] = "/tmp/forerun-plan-XXXXXX";
        struct fr_text saved = {0};
        struct fr_json_writer w = {.text = &saved};
        struct fr_json_document *search, *predict;
        struct fr_plan plan;
        struct fr_plan_lists lists;
        double want = 0, got = -1;
        snprintf(line, sizeof line, "forerun search %s %s --json", cases[i].inputs,
                 cases[i].vary);
        search = json_of(line);
        struct fr_json root = fr_json_root(search), best = fr_json_member(&root, "best"),
                       as_stated = fr_json_member(&best, "plan");
        assert_int_equal(fr_plan_read_object(&as_stated, &plan, &lists, NULL), FR_OK);
        fr_plan_write(&w, &plan);
        int file = mkstemp(path);
        assert_true(file >= 0 && close(file) == 0);
        assert_int_equal(fr_file_write(path, fr_text_get(&saved), saved.length, NULL), FR_OK);
        snprintf(line, sizeof line, "forerun predict %s --plan %s --json", cases[i].inputs,
                 path);
        predict = json_of(line);
        root = fr_json_root(predict);
        fr_json_get_number(&best, "iteration_time_s", true, 0, 1e9, &want, NULL);
        fr_json_get_number(&root, "iteration_time_s", true, 0, 1e9, &got, NULL);
        FR_TRUE(want == got, "%s: %.17g, %.17g", cases[i].vary, want, got);
        unlink(path);
        fr_plan_lists_free(&lists);
        fr_text_free(&saved);
        fr_json_free(search), fr_json_free(predict);
    }
}

static void json_contract(void **state) {
    (void)state;
    struct fr_json_document *d =
        json_of("forerun predict --cluster frontier --model ffn-16384 --set tp=8 --set "
                "method=phantom --set ghost=16 --json");
    struct fr_json root = fr_json_root(d), breakdown = fr_json_member(&root, "breakdown_s");
    double parameters = 0, time_s = 0, sum_s = 0;
    check_keys(&root, outcome_keys);
    check_keys(&breakdown, breakdown_keys);
    assert_int_equal(fr_json_get_number(&root, "parameters", true, 0, 1e12, &parameters, NULL),
                     FR_OK);
    FR_NEAR(round(parameters / 1e6), 71, 0);
    assert_int_equal(
        fr_json_get_number(&root, "iteration_time_s", true, 0, 1e12, &time_s, NULL), FR_OK);
    for (int64_t i = 0; fr_json_key_at(&breakdown, i); i++) {
        double part_s = 0;
        assert_int_equal(fr_json_get_number(&breakdown, fr_json_key_at(&breakdown, i), true, 0,
                                            1e12, &part_s, NULL),
                         FR_OK);
        sum_s += part_s;
    }
    FR_NEAR(sum_s, time_s, 1e-12);
    fr_json_free(d);
    d = json_of("forerun search --cluster cori-knl --model alexnet --ranks 512 --set "
                "global_batch=2048 --vary method=grid --vary tp=1..512*2 --json");
    root = fr_json_root(d);
    struct fr_json best = fr_json_member(&root, "best"), plan = fr_json_member(&best, "plan");
    int64_t tp = 0, dp = 0;
    check_keys(&root, search_keys);
    check_keys(&best, outcome_keys);
    assert_int_equal(fr_json_get_integer(&plan, "tp", true, 1, 512, &tp, NULL), FR_OK);
    assert_int_equal(fr_json_get_integer(&plan, "dp", true, 1, 512, &dp, NULL), FR_OK);
    assert_int_equal(tp, 4);
    assert_int_equal(dp, 128);
    fr_json_free(d);
}

/* The longest plan there can be: its line is cut, nothing beyond it is written (asan watches). */
static void longest_plan(void **state) {
    (void)state;
    fr_test_expect(
        "forerun predict --cluster a100-hdr --model gpt-2.5b --set tp=1000000000 --set pp=1000 "
        "--set schedule=interleaved --set chunks=1024 --set micro_batch=1000000000000 "
        "--set recompute=selective --set compression.backward.scope=epilogue "
        "--set compression.backward.rank=1048576 --set compression.embedding=fused "
        "--set compression.gradient.stages=1099511627776 --set "
        "compression.gradient.rank=1048576 --all",
        4, "plan       tensor tp 1000000000", NULL);
}

/* A rank that makes nothing smaller is reported, and nothing is lossy. */
static void compression_that_does_not_help(void **state) {
    (void)state;
#define TOO_HIGH                                                                               \
    "forerun predict --cluster a100-hdr --model gpt-8.3b --set tp=8 --set pp=4 --set dp=4 "    \
    "--set micro_batch=8 --set compression.backward.scope=all --set "                          \
    "compression.backward.rank=3000 --set compression.gradient.stages=2 --set "                \
    "compression.gradient.rank=3000"
    fr_test_expect(TOO_HIGH " --all", 0, "backward messages go whole: at rank 3000", NULL);
    fr_test_expect(TOO_HIGH " --all", 0, "gradients go whole: at rank 3000", NULL);
    fr_test_expect(TOO_HIGH " --json", 0, "\"gradient_rank\": 0,", NULL);
}

/* A key that a kind of model does not price is refused, not ignored. */
static void compression_is_not_ignored(void **state) {
    (void)state;
    fr_test_expect("forerun predict --cluster frontier --model ffn-4096 --set "
                   "compression.gradient.stages=1 --all",
                   4, "compression", NULL);
}

static void same_input_same_bytes(void **state) {
    (void)state;
    static const char *const lines[] = {
        "forerun predict --cluster frontier --model ffn-16384 --set tp=8 --json",
        "forerun search --cluster frontier --model ffn-16384 --ranks 2..64 --vary "
        "method=tensor,phantom --vary ghost=1..300 --per-iteration --csv",
        "forerun reproduce phantom --json",
        "forerun collective --cluster cori-knl --op all_reduce --ranks 48 --algorithm all "
        "--csv"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct output a = fr_test_run(lines[i]), b = fr_test_run(lines[i]);
        assert_int_equal(a.exit_code, 0);
        assert_string_equal(a.out, b.out);
        fr_test_output_free(&a);
        fr_test_output_free(&b);
    }
}

static void collective_counts_as_nccl_tests(void **state) {
    (void)state;
    /* Frontier's all-gather, m = the full buffer: 149.94 us * log2 8 + 0.5175 ns/B * 1 MiB. */
    struct fr_json_document *d = json_of(
        "forerun collective --cluster frontier --op all_gather --ranks 8 --size 1MiB --json");
    struct fr_json root = fr_json_root(d), rows = fr_json_member(&root, "rows"),
                   row = fr_json_element(&rows, 0);
    double time_s = 0, alg = 0, bus = 0;
    fr_json_get_number(&row, "time_s", true, 0, 1, &time_s, NULL);
    fr_json_get_number(&row, "algbw_B_per_s", true, 0, 1e15, &alg, NULL);
    fr_json_get_number(&row, "busbw_B_per_s", true, 0, 1e15, &bus, NULL);
    FR_NEAR(time_s, 3 * 149.94e-6 + 0.5175e-9 * 1048576, 1e-12);
    FR_NEAR(alg, 1048576 / time_s, 1e-12);
    FR_NEAR(bus, alg * 7 / 8, 1e-12);
    fr_json_free(d);
}

/* The file's own uncertainty of its links widens the interval: a ring without latencies takes as long as its
 * bandwidth says, so 90 % of that are 1.645 widths away, the prior's where none is stated beside others; tuned, as
 * the posterior says.  The model error of algorithms comes on top (answer/piece/piece.h). */
static void collectives_are_as_sure_as_links(void **state) {
#define LINKS                                                                                  \
    "forerun collective --op all_gather --ranks 8 --size 1MiB --json --algorithm ring "        \
    "--cluster {\"levels\":[{\"name\":\"node\",\"ranks\":8,\"latency\":\"0s\","                \
    "\"bandwidth\":\"100GB/s\"}]}"
    static const struct {
        const char *line;
        double sigma;
    } cases[] = {
        {LINKS, 0},
        {LINKS " --set cluster.widths={\"levels.0.bandwidth\":0.1}", 0.1},
        {LINKS " --set cluster.widths={\"device.launch\":1}", 0.2}, /* the prior's */
        {LINKS " --set cluster.widths={\"levels.0.bandwidth\":0.1,\"device.launch\":1}", 0.1},
        {LINKS " --set cluster.widths={\"levels.0.bandwidth\":0.1} --set "
               "cluster.tuning={\"spread\":0,\"stretch\":1,\"covariance\":[[0.04]],"
               "\"coefficients\":[{\"name\":\"node_bandwidth\",\"fitted\":true}]}",
         0.2}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_json_document *d = json_of(cases[i].line);
        struct fr_json root = fr_json_root(d), rows = fr_json_member(&root, "rows"),
                       row = fr_json_element(&rows, 0);
        double time_s = fr_json_number_at(&row, "time_s");
        double half = hypot(1.645 * cases[i].sigma, log1p(fr_form_miss("algorithm")));
        FR_NEAR(fr_json_number_at(&row, "low_s"), time_s * exp(-half), 1e-9);
        FR_NEAR(fr_json_number_at(&row, "high_s"), time_s * exp(half), 1e-9);
        fr_json_free(d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(help_and_version),
                                       cmocka_unit_test(usage_errors_suggest),
                                       cmocka_unit_test(doctor_tries_and_tells),
                                       cmocka_unit_test(nonsense_in_sets),
                                       cmocka_unit_test(nonsense_in_files),
                                       cmocka_unit_test(presets_are_shown),
                                       cmocka_unit_test(search_says_what_it_compares),
                                       cmocka_unit_test(best_plans_are_given_back),
                                       cmocka_unit_test(infeasible_is_4_with_the_outcome),
                                       cmocka_unit_test(json_contract),
                                       cmocka_unit_test(longest_plan),
                                       cmocka_unit_test(compression_is_not_ignored),
                                       cmocka_unit_test(collectives_are_as_sure_as_links),
                                       cmocka_unit_test(compression_that_does_not_help),
                                       cmocka_unit_test(same_input_same_bytes),
                                       cmocka_unit_test(collective_counts_as_nccl_tests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
