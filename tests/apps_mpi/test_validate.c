/* forerun validate from outside: real runs on two ranks, a rank that ends early, bad words. */
#include "base/clock.h"
#include "base/journal/journal.h"
#include "base/text.h"
#include "tests/app/command.h"
#include "tests/screen.h"

#define VALIDATE "forerun validate --cluster frontier --ranks 2 --passes 1 --visit 0.01 "

static void runs_and_prints(void **state) {
    (void)state;
    char line[256], path[] = "/tmp/forerun-validate-XXXXXX";
    close(mkstemp(path));
    snprintf(line, sizeof line, VALIDATE "--app tensor --json --samples %s", path);
    struct output o = fr_test_run(line);
    if (o.exit_code != 0) fail_msg("%s: exit %d\n%s", line, o.exit_code, o.err);
    assert_non_null(strstr(o.out, "\"schema\": \"forerun/validate/1\""));
    if (strstr(o.out, "\"samples\": 0,")) fail_msg("a case was not measured:\n%s", o.out);
    fr_test_output_free(&o);
    snprintf(line, sizeof line, "forerun validate --cluster frontier --from %s --csv", path);
    fr_test_expect(line, 0, "app,group,label,ranks", NULL);
    snprintf(line, sizeof line, "forerun validate --cluster frontier --from %s --all", path);
    fr_test_expect(line, 0, "error      median", NULL);
    snprintf(line, sizeof line, "forerun validate --cluster frontier --from %s", path);
    o = fr_test_run(line);
    fr_screen_fits(line, o.out);
    fr_test_output_free(&o);
    unlink(path);
}

/* The rank ends itself at the third visit: exit 5, and two visits are in the file and shown. */
static void a_rank_that_ends_early_leaves_what_was_measured(void **state) {
    (void)state;
    for (int rank = 0; rank < 2; rank++) {
        char line[256], path[] = "/tmp/forerun-validate-XXXXXX", *text = NULL;
        size_t length = 0;
        int n = 0;
        close(mkstemp(path));
        snprintf(line, sizeof line, VALIDATE "--app phantom --fail %d:2 --json --samples %s",
                 rank, path);
        struct output o = fr_test_run(line);
        if (o.exit_code != 5) fail_msg("exit %d, want 5\n%s", o.exit_code, o.err);
        assert_non_null(strstr(o.out, "forerun/validate/1"));
        fr_test_output_free(&o);
        fr_file_read(path, FR_FILE_MAX_B, &text, &length, NULL);
        for (char *at = text; (at = strstr(at, "\"kind\": \"run\"")); at++) n++;
        assert_int_equal(n, 2);
        free(text);
        unlink(path);
    }
}

static double number(const char *text, const char *key) {
    const char *at = strstr(text, key);
    if (!at) fail_msg("no %s in\n%s", key, text);
    return at ? strtod(at + strlen(key), NULL) : NAN;
}

/* Passes without end, and a budget that is over in the first: it ends in time, what it did not run is
 * counted and has no number, and the file is gone on with. */
static void a_budget_is_a_budget(void **state) {
    (void)state;
    char line[256], path[] = "/tmp/forerun-validate-XXXXXX";
    /* A quarter, and 3 s, then the job is ended, which may take its grace; and starting and scoring, of a machine that
     * may be busy. */
    const double budget_s = 4, more_s = 3 + 3.5 + 30;
    close(mkstemp(path));
    snprintf(line, sizeof line,
             "forerun validate --cluster frontier --ranks 2,4 --passes 9999 --visit 0.2 "
             "--budget %g --json --samples %s",
             budget_s, path);
    double start_s = fr_now_s();
    struct output o = fr_test_run(line);
    double took_s = fr_now_s() - start_s;
    bool late = o.exit_code == 5; /* on a machine so busy that not one visit came to its end */
    if (o.exit_code != 0 && !late) fail_msg("%s: exit %d\n%s", line, o.exit_code, o.err);
    FR_TRUE(took_s < 1.25 * budget_s + more_s, "took %g s", took_s);
    int rows = 0, run = 0, open = 0;
    for (const char *at = o.out; (at = strstr(at, "\"samples\": ")); at++) {
        bool any = strtod(at + 11, NULL) > 0;
        rows++;
        run += any;
        const char *measured = strstr(at, "\"measured_s\": ");
        if (!any && (!measured || strncmp(measured + 14, "null", 4) != 0))
            fail_msg("a number of what was not run:\n%.400s", at);
    }
    open = (int)number(o.out, "\"choices_open\": ");
    FR_TRUE((run > 0) == !late && run < rows, "exit %d, %d of %d were run", o.exit_code, run,
            rows);
    assert_int_equal((int)number(o.out, "\"not_run\": "), rows - run);
    assert_true(open > 0);
    fr_test_output_free(&o);
    snprintf(line, sizeof line, "forerun validate --cluster frontier --from %s --all", path);
    fr_test_expect(line, 0, "not run", NULL);
    snprintf(line, sizeof line,
             "forerun validate --cluster frontier --ranks 2,4 --passes 9999 --visit 0.2 "
             "--budget 12 --json --resume --samples %s",
             path);
    o = fr_test_run(line);
    FR_TRUE(number(o.out, "\"not_run\": ") < rows - run, "--resume runs nothing:\n%s", o.err);
    fr_test_output_free(&o);
    unlink(path);
}

static int count(const char *path, const char *what) {
    char *text = NULL;
    size_t length = 0;
    int n = 0;
    if (fr_file_read(path, FR_FILE_MAX_B, &text, &length, NULL) != FR_OK) return -1;
    for (char *at = text; (at = strstr(at, what)); at++) n++;
    free(text);
    return n;
}

static void replace(const char *path, const char *what, const char *with) {
    struct fr_journal journal; /* whose digests fit again */
    struct fr_text out = {0};
    assert_int_equal(fr_journal_read(path, FR_FILE_MAX_B, &journal, NULL), FR_OK);
    char *at = strstr(journal.text, what);
    assert_non_null(at);
    fr_text_addf(&out, "%.*s%s%s", (int)(at - journal.text), journal.text, with,
                 at + strlen(what));
    assert_int_equal(fr_journal_write(path, out.data, out.length, journal.question, NULL),
                     FR_OK);
    fr_text_free(&out);
    fr_journal_free(&journal);
}

#define OWN                                                                                    \
    "forerun validate --cluster frontier --ranks 2 --visit 0.01 --app phantom --vary "         \
    "ghost=4,8 --vary model.width=64,128 "

/* A job that ended early is gone on with: each configuration and pass once, whatever was cut. */
static void what_is_measured_is_not_repeated(void **state) {
    (void)state;
    char line[400], path[] = "/tmp/forerun-validate-XXXXXX", *text = NULL;
    size_t length = 0;
    close(mkstemp(path));
    snprintf(line, sizeof line, OWN "--passes 1 --fail 1:3 --samples %s", path);
    struct output o = fr_test_run(line);
    if (o.exit_code != 5) fail_msg("exit %d, want 5\n%s", o.exit_code, o.err);
    fr_test_output_free(&o);
    assert_int_equal(count(path, "\"kind\": \"run\""), 3);
    fr_file_read(path, FR_FILE_MAX_B, &text, &length, NULL);
    fr_file_write(path, text, length - 7, NULL); /* in the middle of the last line */
    free(text);
    snprintf(line, sizeof line, OWN "--passes 2 --resume --samples %s --all", path);
    fr_test_expect(line, 0, "error      median", NULL);
    for (int id = 0; id < 4; id++)
        for (int pass = 0; pass < 2; pass++) {
            snprintf(line, sizeof line, "{\"kind\": \"run\", \"id\": %d, \"pass\": %d,", id,
                     pass);
            assert_int_equal(count(path, line), 1);
        }
    assert_int_equal(count(path, "\"kind\": \"job\""), 1);
    /* One before each pass and one at the end of each launch: the first was cut, the second had one pass to
     * do, the third, which goes through both, the other. */
    assert_int_equal(count(path, "\"kind\": \"reference\""), 1 + 2 + 3);
    snprintf(line, sizeof line, OWN "--passes 2 --resume --seed 2 --samples %s", path);
    fr_test_expect(line, 3, NULL, "cannot be resumed: line 1, the options, was");
    snprintf(line, sizeof line, OWN "--vary global_batch=8 --resume --samples %s", path);
    fr_test_expect(line, 3, NULL, "cannot be resumed: line 2, a configuration, was");
    replace(path, "\"machine\": \"", "\"machine\": \"another ");
    snprintf(line, sizeof line, OWN "--passes 3 --resume --samples %s", path);
    fr_test_expect(line, 3, NULL, "cannot be resumed: the machine was");
    unlink(path);
}

/* The models refuse the first two, the programs the last; nothing of any is run. */
static void bad_sizes_are_refused(void **state) {
    (void)state;
    char line[400], path[] = "/tmp/forerun-validate-XXXXXX";
    close(mkstemp(path));
    static const char phantom[] =
        "forerun validate --cluster frontier --ranks 2 --visit 0.01 --app phantom";
    snprintf(line, sizeof line, "%s --vary ghost=64 --vary model.width=64 --samples %s",
             phantom, path);
    fr_test_expect(line, 3, NULL, "is not below (n/p)(1 - 1/p)");
    snprintf(line, sizeof line, "%s --vary ghost=4 --vary model.width=65 --samples %s", phantom,
             path);
    fr_test_expect(line, 3, NULL, "does not divide a layer's");
    snprintf(line, sizeof line,
             "forerun validate --cluster frontier --ranks 2 --app tensor --set tp=1 --set "
             "placement=round-robin --samples %s",
             path);
    fr_test_expect(line, 3, NULL, "nothing was run");
    assert_int_equal(count(path, "\"kind\": \"run\""), 0);
    unlink(path);
}

/* The output of a search goes into a file. */
static void search_model(const char *path, const char *model, const char *more) {
    char line[900];
    snprintf(line, sizeof line,
             "forerun search --cluster frontier --ranks 2 --per-iteration --json --model %s %s",
             model, more);
    struct output o = fr_test_run(line);
    if (o.exit_code != 0) fail_msg("%s: exit %d\n%s", line, o.exit_code, o.err);
    assert_int_equal(fr_file_write(path, o.out, strlen(o.out), NULL), FR_OK);
    fr_test_output_free(&o);
}

static void search_into(const char *path, const char *more) {
    search_model(path, "{\"kind\":\"ffn\",\"width\":64,\"layers\":4,\"global_batch\":8}", more);
}

/* Every plan found of a model runs. */
static void all_run(const char *model, const char *more, int least) {
    char line[400], path[] = "/tmp/forerun-validate-XXXXXX",
                    found[] = "/tmp/forerun-found-XXXXXX";
    close(mkstemp(path));
    close(mkstemp(found));
    search_model(found, model, more);
    snprintf(line, sizeof line,
             "forerun validate --cluster frontier --from-search %s --top 20 --passes 1 --visit "
             "0.01 --force --samples %s --all",
             found, path);
    fr_test_expect(line, 0, "regret", NULL);
    int cases = count(path, "\"kind\": \"case\"");
    if (cases < least) fail_msg("%s: %d plans, not %d", more, cases, least);
    assert_int_equal(count(path, "\"kind\": \"run\""), cases);
    unlink(path);
    unlink(found);
}

static void transformers_and_convolutions_are_run(void **state) {
    (void)state;
    all_run(
        "{\"kind\":\"transformer\",\"layers\":2,\"hidden\":32,\"heads\":4,\"sequence\":8,"
        "\"vocabulary\":64,\"global_batch\":8}",
        "--vary method=tensor,phantom,grid --set ghost=4 --set recompute=full --vary tp=1,2 "
        "--vary pp=1,2 --vary zero=0,1 --set compression.gradient.rank=2 --vary "
        "compression.gradient.stages=0,1",
        6);
    all_run("{\"kind\":\"transformer\",\"layers\":2,\"hidden\":32,\"heads\":4,\"sequence\":8,"
            "\"vocabulary\":64,\"global_batch\":8}",
            "--set method=subgraph --set tp=2 --set micro_batch=2 --vary "
            "branches=heads,attention,layer",
            3);
    all_run("{\"kind\":\"cnn\",\"input\":[4,8,8],\"global_batch\":8,\"layers\":[{\"type\":"
            "\"conv\",\"filters\":8,\"kernel\":3},{\"type\":\"full\",\"outputs\":8}]}",
            "--set method=grid --vary tp=1,2 --vary pp=1,2", 3);
}

/* The best plans of a search run, each by its program; one that cannot says why. */
static void what_a_search_found_is_run(void **state) {
    (void)state;
    char line[400], path[] = "/tmp/forerun-validate-XXXXXX",
                    found[] = "/tmp/forerun-found-XXXXXX";
    close(mkstemp(path));
    close(mkstemp(found));
    search_into(found, "--vary method=tensor,phantom,grid --vary ghost=4 --vary tp=1,2 --vary "
                       "pp=1,2 --vary placement=linear,round-robin");
    snprintf(line, sizeof line,
             "forerun validate --cluster frontier --from-search %s --top 8 --passes 1 --visit "
             "0.01 --json --samples %s",
             found, path);
    struct output o = fr_test_run(line);
    if (o.exit_code != 0) fail_msg("%s: exit %d\n%s", line, o.exit_code, o.err);
    int refused = 0, compared = 0;
    for (const char *at = o.out; (at = strstr(at, "\"refused\": ")); at++)
        refused += strncmp(at, "\"refused\": null", 15) != 0;
    for (const char *at = o.out; (at = strstr(at, "\"measured_place\": ")); at++)
        compared += strncmp(at, "\"measured_place\": null", 22) != 0;
    assert_int_equal(refused, count(path, "must have its default"));
    assert_true(refused > 0 && compared > 2);
    assert_int_equal(refused + compared, count(path, "\"kind\": \"case\""));
    assert_int_equal(compared, count(path, "\"kind\": \"run\""));
    fr_test_output_free(&o);
    snprintf(line, sizeof line, "forerun validate --cluster frontier --from %s --all", path);
    fr_test_expect(line, 0, "not run here: mesh cannot run this: \"placement\"", NULL);
    snprintf(line, sizeof line,
             "forerun validate --cluster frontier --from-search %s --top 8 --passes 2 --visit "
             "0.01 --resume --samples %s --all",
             found, path);
    fr_test_expect(line, 0, "regret", NULL);
    assert_int_equal(refused, count(path, "\"kind\": \"refused\""));
    unlink(path);
    unlink(found);
}

/* Ended before it began: exit 5, and every plan is shown with its reason. */
static void nothing_runs(const char *line, const char *because) {
    struct output o = fr_test_run(line);
    if (o.exit_code != 5) fail_msg("%s: exit %d, want 5\n%s", line, o.exit_code, o.err);
    if (!strstr(o.out, because)) fail_msg("%s: \"%s\" not in\n%s", line, because, o.out);
    assert_non_null(strstr(o.err, "no plan can be run here"));
    fr_test_output_free(&o);
}

static void what_cannot_run_says_so(void **state) {
    (void)state;
    char line[400], path[] = "/tmp/forerun-validate-XXXXXX",
                    found[] = "/tmp/forerun-found-XXXXXX";
    close(mkstemp(path));
    close(mkstemp(found));
    search_into(found, "--vary tp=1 --vary dp=2 --vary placement=round-robin");
    snprintf(line, sizeof line,
             "forerun validate --cluster frontier --from-search %s --force --all --samples %s",
             found, path);
    nothing_runs(line, "\"placement\" must have its default");
    search_into(
        found,
        "--vary tp=1 --vary dp=2 --set model.width=1048576 --set cluster.device.memory=1PB");
    fr_line_addf(line, sizeof line, &(size_t){strlen(line)},
                 " --set cluster.device.memory=1PB");
    nothing_runs(line, "its 2 ranks need");
    snprintf(line, sizeof line,
             "forerun validate --cluster frontier --from-search %s --all --samples %s", path,
             path);
    fr_test_expect(line, 2, NULL, NULL); /* the samples are measurements */
    snprintf(
        line, sizeof line,
        "forerun validate --cluster frontier --from-search %s --app mesh --force --samples %s",
        found, path);
    fr_test_expect(line, 2, NULL, "goes without --app");
    fr_file_write(found, "{\"schema\": \"forerun/outcome/1\"}", 31, NULL);
    snprintf(line, sizeof line,
             "forerun validate --cluster frontier --from-search %s --force --all --samples %s",
             found, path);
    fr_test_expect(line, 3, NULL, "--from-search takes what forerun search printed");
    fr_test_expect("forerun validate --cluster frontier --top 3 --force --samples /tmp/none", 2,
                   NULL, "goes with --from-search");
    unlink(path);
    unlink(found);
}

/* A plan says its program and its ranks. */
static void a_plan_is_enough(void **state) {
    (void)state;
    char line[600], path[] = "/tmp/forerun-validate-XXXXXX";
    close(mkstemp(path));
    snprintf(
        line, sizeof line,
        "forerun validate --cluster frontier --passes 1 --visit 0.01 --force --csv --samples "
        "%s --model {\"kind\":\"ffn\",\"width\":64,\"layers\":4,\"global_batch\":8} "
        "--plan {\"method\":\"phantom\",\"tp\":2,\"pp\":2,\"ghost\":4}",
        path);
    fr_test_expect(line, 0, "mesh,ffn n=64 b=8 p=4", NULL);
    unlink(path);
}

static void bad_words_are_refused(void **state) {
    (void)state;
    fr_test_expect(VALIDATE "--app phantm", 2, NULL, "did you mean \"phantom\"?");
    fr_test_expect("forerun validate --app phantom", 2, NULL, "--cluster");
    fr_test_expect(VALIDATE "--samples -", 2, NULL, "must be a file");
    fr_test_expect("forerun validate --cluster frontier --from /no-such-folder", 3, NULL,
                   "/no-such-folder");
    fr_test_expect("forerun validate --cluster frontier --app phantom --ranks 1", 2, NULL,
                   "no configuration");
}

#define TRAIN "forerun iterations --width 64 --tp 2,4 --ghost 2,8 --seeds 2 --loss 0.14 "

static int results(const char *text) {
    int n = 0;
    while ((text = strstr(text, "\"trained\""))) n++, text++;
    return n;
}

/* A row of the table of iterations that ships, trained again (another BLAS may round another way). */
static void the_table_that_ships_is_trained_again(void **state) {
    char line[400], log[] = "/tmp/forerun-log-XXXXXX";
    (void)state;
    close(mkstemp(log));
    snprintf(line, sizeof line,
             "forerun iterations --width 512 --layers 2 --tp 16 --ghost 16 --same-batch --loss "
             "0.07 --most 1000 --rate %.17g --force --samples %s --json",
             4.0 / 512, log);
    struct output o = fr_test_run(line);
    const char *phantom = strstr(o.out, "\"method\": \"phantom\""),
               *at = phantom ? strstr(phantom, "\"iterations\": ") : NULL;
    FR_TRUE(at && fabs(strtod(at + 14, NULL) - 5) <= 1, "5 iterations in the table: %s", o.out);
    fr_test_output_free(&o);
    fr_test_expect("forerun reproduce phantom --measured", 0,
                   "measured/n=512/L=2/same_batch/loss=0.07/p=16/phantom/k=16/iterations",
                   NULL);
    unlink(log);
}

/* Trained to a loss, written as a table, and searched by energy to that loss. */
static void iterations_are_what_search_reads(void **state) {
    (void)state;
    char line[512], model[] = "/tmp/forerun-model-XXXXXX", log[] = "/tmp/forerun-log-XXXXXX";
    close(mkstemp(model));
    close(mkstemp(log));
    snprintf(line, sizeof line, TRAIN "--batch 64 --samples %s --out %s", log, model);
    fr_test_expect(line, 0, "phantom, k 8", NULL);
    /* Cut in the middle of its last line, as a kill leaves it: one training is repeated. */
    char *text = NULL, *again = NULL;
    size_t length = 0, longer = 0;
    fr_file_read(log, FR_FILE_MAX_B, &text, &length, NULL);
    fr_file_write(log, text, length - 20, NULL);
    snprintf(line, sizeof line, TRAIN "--batch 64 --resume --samples %s", log);
    fr_test_expect(line, 0, "phantom, k 8", NULL);
    fr_file_read(log, FR_FILE_MAX_B, &again, &longer, NULL);
    assert_int_equal(results(again), results(text));
    assert_int_equal(results(text), 2 * (1 + 4));
    free(text);
    free(again);
    snprintf(line, sizeof line, TRAIN "--resume --batch 32 --samples %s", log);
    fr_test_expect(line, 3, NULL, "cannot be resumed: batch was 64, is 32");
    snprintf(line, sizeof line,
             "forerun search --cluster frontier --model %s --ranks 2,4 --vary "
             "method=tensor,phantom --vary ghost=2,8 --objective energy",
             model);
    fr_test_expect(line, 0, "best  ", NULL);
    snprintf(
        line, sizeof line,
        "forerun reproduce phantom --measured --width 64 --batch 64 --tp 2 --ghost 4 --seeds 1 "
        "--loss 0.14 --force --samples %s",
        log);
    fr_test_expect(line, 0, "ordering/measured/p=2/total_energy", NULL);
    snprintf(line, sizeof line,
             "forerun reproduce phantom --measured --widths 32,64 --depths 1 --batch 64 --tp 2 "
             "--ghost 4 --seeds 1 --loss 0.15 --most 500 --force --samples %s",
             log);
    fr_test_expect(line, 0, "measured/n=64/L=1/same_batch/loss=0.15/tensor/iterations", NULL);
    snprintf(line, sizeof line, "rm -f %s-n*", log);
    assert_int_equal(system(line), 0);
    /* Nothing reaches a loss of zero: said in every row, and no table is made of it. */
    snprintf(line, sizeof line,
             "forerun iterations --width 64 --batch 64 --tp 2 --ghost 4 --seeds 1 --loss 1e-9 "
             "--most 300 --force --samples %s --out %s",
             log, model);
    fr_test_expect(line, 0, "0 of 1 seeds reached it; given up at a loss of", NULL);
    snprintf(line, sizeof line,
             "forerun predict --cluster frontier --model %s --set tp=2 --all", model);
    fr_test_expect(line, 0, "iteration energy", NULL);
    fr_test_expect("forerun iterations --width 64 --tp 4 --ghost 12 --samples /tmp/forerun-x",
                   3, NULL, "none of them fits");
    fr_test_expect("forerun reproduce grid --measured", 2, NULL, "is of the paper phantom");
    unlink(model);
    unlink(log);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_and_prints),
        cmocka_unit_test(a_budget_is_a_budget),
        cmocka_unit_test(a_rank_that_ends_early_leaves_what_was_measured),
        cmocka_unit_test(what_is_measured_is_not_repeated),
        cmocka_unit_test(bad_sizes_are_refused),
        cmocka_unit_test(what_a_search_found_is_run),
        cmocka_unit_test(transformers_and_convolutions_are_run),
        cmocka_unit_test(what_cannot_run_says_so),
        cmocka_unit_test(a_plan_is_enough),
        cmocka_unit_test(bad_words_are_refused),
        cmocka_unit_test(the_table_that_ships_is_trained_again),
        cmocka_unit_test(iterations_are_what_search_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
