/* forerun quality from outside: small trainings on two ranks, the same bytes twice and after an early
 * end, a text, and what is refused. */
#include "base/text.h"
#include "tests/app/command.h"

#define QUALITY                                                                                \
    "forerun quality --seeds 2 --steps 12 --every 4 --held-out 16 --rates 0.01 --loss 4 "

/* The usual options of QUALITY that @p line gives once more leave it: an option given twice is refused. */
static void drop_usual(char *line) {
    static const char *const usual[] = {"--seeds ",    "--steps ", "--every ",
                                        "--held-out ", "--rates ", "--loss "};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        char *first = strstr(line, usual[i]);
        if (!first || !strstr(first + 1, usual[i])) continue;
        const char *rest = strchr(first + strlen(usual[i]), ' ') + 1;
        memmove(first, rest, strlen(rest) + 1);
    }
}

static char *run(const char *words) {
    char line[800];
    snprintf(line, sizeof line, "%s", words);
    drop_usual(line);
    struct output o = fr_test_run(line);
    if (o.exit_code != 0) fail_msg("%s: exit %d\n%s", line, o.exit_code, o.err);
    char *out = o.out;
    free(o.err);
    return out;
}

/* Three plans of four are said by two keys; each is there once, with its own losses. */
static void plans_are_trained_and_compared(void **state) {
    (void)state;
    static const char *const says[] = {"\"schema\": \"forerun/quality/1\"",
                                       "\"label\": \"no compression\"",
                                       "\"label\": \"CB all r2\"",
                                       "\"label\": \"CB all r2 without lazy error\"",
                                       "\"entropy\": 1.865",
                                       "\"sent_share\": 1,",
                                       "\"iteration_time_s\": ",
                                       "\"apart\": "};
    char *out = run(QUALITY "--vary compression.backward.scope=none,all --vary "
                            "compression.backward.lazy_error=true,false --set "
                            "compression.backward.rank=2 --samples a.jsonl --json");
    int rows = 0;
    for (size_t i = 0; i < sizeof says / sizeof *says; i++)
        if (!strstr(out, says[i])) fail_msg("no %s in\n%s", says[i], out);
    for (char *at = out; (at = strstr(at, "\"label\"")); at++) rows++;
    assert_int_equal(rows, 3);
    free(out);
    unlink("a.jsonl");
}

/* Activations compressed as well, priced as any plan and a row of the table; what top-k does to messages is
 * observed, too. */
static void activations_go_compressed(void **state) {
    (void)state;
    static const char *const says[] = {"\"label\": \"no compression\"",
                                       "\"label\": \"CF r2, topk\"",
                                       "\"label\": \"CB all r2, CF r2, topk\"",
                                       "\"iteration_time_s\": 0.",
                                       "\"compression_ratio\": 1,",
                                       "\"kept\": ",
                                       "\"energy_J\": 0"};
    char *table = NULL;
    size_t length = 0;
    char *out = run(
        QUALITY "--vary compression.backward.scope=none,all --set "
                "compression.backward.rank=2 --set compression.codec=topk --loss 4.6 "
                "--vary compression.forward.rank=0,2 --samples a.jsonl --out t.json --json");
    for (size_t i = 0; i < sizeof says / sizeof *says; i++)
        if (!strstr(out, says[i])) fail_msg("no %s in\n%s", says[i], out);
    free(out);
    assert_int_equal(fr_file_read("t.json", FR_FILE_MAX_B, &table, &length, NULL), FR_OK);
    int rows = 0;
    for (char *at = table; (at = strstr(at, "\"method\"")); at++) rows++;
    assert_int_equal(rows, 4);
    if (!strstr(table, "\"compression.forward.rank\": 2")) fail_msg("got\n%s", table);
    free(table);
    unlink("a.jsonl");
    unlink("t.json");
}

/* Ghost neurons and compressed messages of a feed-forward network, and a table that says both. */
static void phantom_plans_learn_a_regression(void **state) {
    (void)state;
    static const char *const says[] = {"\"ghost\": 2,", "\"ghost\": 4,",
                                       "\"method\": \"phantom\"",
                                       "\"compression.backward.scope\": \"all\"", "\"tp\": 2"};
    char *table = NULL;
    size_t length = 0;
    char *out =
        run(QUALITY
            "--corpus regression --held-out 64 --ranks 4 --set method=phantom --set tp=2 --set "
            "pp=2 --set micro_batch=8 --vary ghost=2,4 --vary "
            "compression.backward.scope=none,all --set compression.backward.rank=2 "
            "--loss 10 --samples a.jsonl --out t.json --json");
    if (!strstr(out, "\"loss_unit\": \"mean squared error\"") || !strstr(out, "k 4, CB all r2"))
        fail_msg("got\n%s", out);
    free(out);
    assert_int_equal(fr_file_read("t.json", FR_FILE_MAX_B, &table, &length, NULL), FR_OK);
    for (size_t i = 0; i < sizeof says / sizeof *says; i++)
        if (!strstr(table, says[i])) fail_msg("no %s in\n%s", says[i], table);
    free(
        run("forerun predict --cluster a100-hdr --model t.json --set method=phantom --set tp=2 "
            "--set ghost=4"));
    free(table);
    unlink("a.jsonl");
    unlink("t.json");
}

/* All but the lines of the first trainings are taken away, the last of them cut: the rest is trained
 * again, and what is printed is the same to the byte. */
static void what_is_trained_is_not_repeated(void **state) {
    (void)state;
    char *first = run(QUALITY "--samples a.jsonl --json"), *text = NULL;
    char *second = run(QUALITY "--samples b.jsonl --json");
    size_t length = 0;
    int lines = 0;
    assert_string_equal(first, second);
    assert_int_equal(fr_file_read("a.jsonl", FR_FILE_MAX_B, &text, &length, NULL), FR_OK);
    for (char *at = text; (at = strstr(at, "\"learnt\"")); at++)
        if (++lines == 2) {
            fr_file_write("a.jsonl", text, (size_t)(at - text) + 40, NULL);
            break;
        }
    assert_int_equal(lines, 2);
    char *resumed = run(QUALITY "--samples a.jsonl --resume --json");
    assert_string_equal(first, resumed);
    fr_test_expect(QUALITY "--samples a.jsonl --json", 2, NULL, "--resume");
    fr_test_expect("forerun quality --seeds 2 --steps 16 --every 4 --held-out 16 --rates 0.01 "
                   "--samples a.jsonl --resume",
                   3, NULL, "--steps");
    free(first);
    free(second);
    free(resumed);
    free(text);
    unlink("a.jsonl");
    unlink("b.jsonl");
}

/* Bytes of a text; what it holds it says, so half of it is as good as all. */
static void a_text_is_learnt(void **state) {
    (void)state;
    struct fr_text text = {0};
    for (int i = 0; i < 300; i++) fr_text_addf(&text, "the %d bottles of beer; ", i % 7);
    fr_file_write("song.txt", text.data, text.length, NULL);
    char *out = run(QUALITY "--corpus song.txt --samples a.jsonl --csv");
    if (strncmp(out, "plan,rate,iteration,loss", 24) != 0) fail_msg("got\n%s", out);
    if (!strstr(out, "\nno compression,0.01,12,")) fail_msg("got\n%s", out);
    free(out);
    out = run(QUALITY "--corpus song.txt --samples a.jsonl --resume");
    if (!strstr(out, "song.txt") || strstr(out, "entropy of the language")) fail_msg("%s", out);
    free(out);
    fr_file_write("song.txt", text.data, text.length - 100, NULL);
    fr_test_expect(QUALITY "--corpus song.txt --samples a.jsonl --resume", 3, NULL,
                   "corpus, though of the same name");
    fr_text_free(&text);
    unlink("a.jsonl");
    unlink("song.txt");
}

/* The table that was measured is read by search, which chooses by it and says so: by an iteration over a
 * slow network compression pays, to the loss it does not, as a table has it that says ten times as many. */
static void iterations_decide_a_search(void **state) {
    (void)state;
    static const char line[] =
        "forerun search --cluster a100-hdr --set cluster.levels.0.bandwidth=1MB/s --model "
        "t.json --ranks 2 --set pp=2 --vary compression.backward.scope=none,all --set "
        "compression.backward.rank=2 --objective ";
    char all[500], *table = NULL, *at;
    size_t length = 0;
    free(run(QUALITY "--vary compression.backward.scope=none,all --set "
                     "compression.backward.rank=2 --samples a.jsonl --out t.json"));
    assert_int_equal(fr_file_read("t.json", FR_FILE_MAX_B, &table, &length, NULL), FR_OK);
    at = strstr(table, "\"compression.backward.scope\": \"all\"");
    if (!at || !strstr(table, "\"pp\": 2") || !strstr(table, "measured by forerun quality"))
        fail_msg("got\n%s", table);
    at = strstr(at, "\"iterations\": ");
    assert_non_null(at);
    struct fr_text slow = {0};
    fr_text_addf(&slow, "%.*s\"iterations\": 100, \"compressed\": true%s", (int)(at - table),
                 table, strchr(at, '\n'));
    assert_int_equal(fr_file_write("t.json", slow.data, slow.length, NULL), FR_OK);
    snprintf(all, sizeof all, "%s time --per-iteration --json", line);
    char *one = run(all);
    snprintf(all, sizeof all, "%s total-time --json", line);
    char *total = run(all);
    const char *best_one = strstr(one, "\"scope\": "),
               *best_total = strstr(total, "\"scope\": ");
    assert_non_null(best_one);
    assert_non_null(best_total);
    assert_memory_equal(best_one, "\"scope\": \"all\"", 14);
    assert_memory_equal(best_total, "\"scope\": \"none\"", 15);
    snprintf(all, sizeof all, "%s total-time --explain", line);
    char *printed = run(all);
    if (!strstr(printed, "measured by forerun quality on grammar") ||
        !strstr(printed, "one iteration alone would choose") ||
        !strstr(printed, "100 iterations"))
        fail_msg("got\n%s", printed);
    /* Nothing is known of another rank: it is left out, and alone nothing is feasible. */
    fr_test_expect(
        "forerun search --cluster a100-hdr --model t.json --ranks 2 --set pp=2 --vary "
        "compression.backward.scope=all --set compression.backward.rank=3 --objective "
        "total-time",
        4, NULL, NULL);
    free(one);
    free(total);
    free(printed);
    free(table);
    fr_text_free(&slow);
    unlink("a.jsonl");
    unlink("t.json");
}

/* Claims of a paper beside a result: what few seeds do not resolve is not judged. */
static void claims_of_a_paper(void **state) {
    (void)state;
    char *out = run(QUALITY "--vary compression.backward.scope=none,epilogue,all --vary "
                            "compression.backward.lazy_error=true,false --set "
                            "compression.backward.rank=2 --samples a.jsonl --json");
    fr_file_write("q.json", out, strlen(out), NULL);
    free(out);
    out = run("forerun reproduce optimus --quality q.json");
    static const char *const says[] = {
        "quality/table2/gpt-8.3b/CB/perplexity_ratio", "quality/order/table4/lazy_error_helps",
        "quality/order/fig3/naive_costs", "quality/fig11/all/rank=1",
        "quality/section9.3/diverges"};
    for (size_t i = 0; i < sizeof says / sizeof *says; i++)
        if (!strstr(out, says[i])) fail_msg("no %s in\n%s", says[i], out);
    free(out);
    fr_test_expect("forerun reproduce phantom --quality q.json", 2, NULL, "optimus");
    fr_test_expect("forerun reproduce dsp --quality q.json", 3, NULL, "lose nothing");
    fr_test_expect("forerun reproduce phantom --widths 64", 2, NULL, "--measured");
    unlink("a.jsonl");
    unlink("q.json");
}

/* These plans compress forward messages, or gradients by stages and ranks; plans which lose nothing learn alike on
 * every mesh. */
static void more_claims(void **state) {
    (void)state;
    char *out = run(
        QUALITY
        "--vary compression.forward.rank=0,2 --vary compression.backward.scope=none,all --set "
        "compression.backward.rank=2 --samples a.jsonl --json");
    fr_file_write("q.json", out, strlen(out), NULL);
    free(out);
    out = run("forerun reproduce optimus --quality q.json");
    if (!strstr(out, "section5.1/forward_diverges/rank=2") ||
        !strstr(out, "section5.1/forward_costs/rank=2") ||
        !strstr(out, "forward_costs_more_than_backward/rank=2"))
        fail_msg("got\n%s", out);
    free(out);
    unlink("a.jsonl");
    out = run(QUALITY
              "--ranks 4 --set pp=2 --set dp=2 --vary compression.gradient.stages=0,1,2 --vary "
              "compression.gradient.rank=2,4 --samples a.jsonl --json");
    fr_file_write("q.json", out, strlen(out), NULL);
    free(out);
    out = run("forerun reproduce optimus --quality q.json");
    if (!strstr(out, "quality/fig13/stages=1_of_2/rank=4") ||
        !strstr(out, "quality/fig13/stages=2_of_2/rank=2") ||
        !strstr(out, "quality/fig13/stages_always_better"))
        fail_msg("got\n%s", out);
    free(out);
    unlink("a.jsonl");
    out = run(QUALITY "--vary method=tensor,subgraph --vary tp=1,2 --samples a.jsonl --json");
    fr_file_write("q.json", out, strlen(out), NULL);
    free(out);
    out = run("forerun reproduce dsp --quality q.json --json");
    if (!strstr(out, "quality/fig17/same_curve/subgraph tp 2") ||
        strstr(out, "quality/fig17/same_curve/tensor tp 2") || !strstr(out, "\"holds\": true"))
        fail_msg("got\n%s", out);
    free(out);
    unlink("a.jsonl");
    unlink("q.json");
}

static void what_cannot_be_trained_is_refused(void **state) {
    static const struct {
        const char *words, *because;
        int code;
    } lines[] = {
        {"--set recompute=save_qkv", "recompute", 3},
        {"--vary ghost=2,4", "ghost", 2},
        {"--set micro_batch=5", "micro_batch", 3},
        {"--set pp=1 --set tp=3 --ranks 3", "tp", 3},
        {"--vary model.layers=2,4", "model.layers", 2},
        {"--held-out 10", "held-out part", 3},
        {"--model gpt-tiny --set model.vocabulary=20", "vocabulary", 3},
        {"--model ffn-4096", "is no transformer", 3},
        {"--corpus regression --model gpt-tiny", "no feed-forward network", 3},
        {"--rates 0.1,0.01", "rising", 2},
        {"--rates ,", "rising", 2},
        {"--every 7", "does not divide", 2},
        {"--corpus nothing.txt", "nothing.txt", 3},
        {"--corpus grammar:x", "grammar:2", 2},
        {"--samples -", "must be a file", 2},
        {"--set compression.forward.rank=2 --set pp=1 --ranks 1", "pp above 1", 3},
        {"word", "unexpected word", 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[400];
        snprintf(line, sizeof line, QUALITY "%s", lines[i].words);
        drop_usual(line);
        struct output o = fr_test_run(line);
        if (o.exit_code != lines[i].code || !strstr(o.err, lines[i].because))
            fail_msg("%s: exit %d, want %d and \"%s\"\n%s", line, o.exit_code, lines[i].code,
                     lines[i].because, o.err);
        fr_test_output_free(&o);
        unlink("quality.jsonl");
    }
}

static char folder[] = "/tmp/forerun-test-quality.XXXXXX";
static int enter(void **state) {
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}
static int leave(void **state) {
    (void)state;
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_trained_and_compared),
        cmocka_unit_test(activations_go_compressed),
        cmocka_unit_test(phantom_plans_learn_a_regression),
        cmocka_unit_test(what_is_trained_is_not_repeated),
        cmocka_unit_test(a_text_is_learnt),
        cmocka_unit_test(iterations_decide_a_search),
        cmocka_unit_test(claims_of_a_paper),
        cmocka_unit_test(more_claims),
        cmocka_unit_test(what_cannot_be_trained_is_refused),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
