/* Help, manual pages and completion come from one table: nothing stands in one that does not stand in the others, and
 * help fits a terminal of 80 columns. */
#include "app/complete.h"
#include "app/help.h"
#include "app/manual.h"
#include "base/text/wrap.h"
#include "models/job/fact.h"
#include "models/plan/key.h"
#include "tests/app/command.h"

static void fits(const char *name, const char *text) {
    for (const char *at = text; *at; at += strcspn(at, "\n") + 1) {
        size_t length = strcspn(at, "\n");
        if (fr_letters(at, length) > FR_COLUMNS)
            fail_msg("%s: %d columns: %.*s", name, fr_letters(at, length), (int)length, at);
        if (length && at[length - 1] == ' ')
            fail_msg("%s: blank at the end: %.*s", name, (int)length, at);
    }
}

static void help_fits_a_terminal(void **state) {
    (void)state;
    struct fr_text text = {0};
    fr_help_program(&text);
    fits("forerun", fr_text_get(&text));
    for (const struct fr_verb *const *v = fr_verbs; *v; v++) {
        text.length = 0;
        fr_help_verb(&text, *v);
        fits((*v)->name, fr_text_get(&text));
    }
    fr_text_free(&text);
}

/* Finds the options and first words of a verb that @p text lacks. */
static void holds_all(const char *where, const char *text, const struct fr_verb *verb) {
    char option[64];
    for (const struct fr_option *o = verb->options; o->name; o++) {
        snprintf(option, sizeof option, "--%s", o->name);
        if (!strstr(text, option)) fail_msg("%s of %s: no %s", where, verb->name, option);
    }
    for (int i = 0; verb->word && verb->word(i); i++)
        if (!strstr(text, verb->word(i)))
            fail_msg("%s of %s: no %s", where, verb->name, verb->word(i));
}

static void pages_hold_what_help_holds(void **state) {
    (void)state;
    for (const struct fr_verb *const *v = fr_verbs; *v; v++) {
        struct fr_text help = {0}, page = {0}, next = {0};
        fr_help_verb(&help, *v);
        fr_manual_verb(&page, *v);
        const char *options[] = {(*v)->name, "--"}, *first[] = {(*v)->name, ""};
        fr_complete(&next, options, 2);
        fr_complete(&next, first, 2);
        holds_all("help", fr_text_get(&help), *v);
        holds_all("manual page", fr_text_get(&page), *v);
        holds_all("completion", fr_text_get(&next), *v);
        fr_text_free(&help), fr_text_free(&page), fr_text_free(&next);
    }
}

/* Words between blanks, commands' backslashes left out: what is broken differently is the same. */
static void words_of(const char *text, struct fr_text *words) {
    for (; *text; text += strcspn(text, " \n")) {
        text += strspn(text, " \n");
        size_t length = strcspn(text, " \n");
        if (length != 1 || *text != '\\') fr_text_addf(words, "%.*s ", (int)length, text);
    }
}

/* Examples are copied from a terminal: whatever breaks lines may break nothing else. */
static void breaking_lines_changes_no_word(void **state) {
    (void)state;
    for (const struct fr_verb *const *v = fr_verbs; *v; v++) {
        if (!(*v)->details) continue;
        struct fr_text text = {0}, printed = {0}, meant = {0};
        fr_help_details(&text, (*v)->details);
        words_of(fr_text_get(&text), &printed);
        words_of((*v)->details, &meant);
        assert_string_equal(fr_text_get(&printed), fr_text_get(&meant));
        fr_text_free(&text), fr_text_free(&printed), fr_text_free(&meant);
    }
}

static void every_key_is_offered_and_told(void **state) {
    (void)state;
    struct fr_text page = {0}, next = {0};
    const char *const words[] = {"predict", "--set", "plan."};
    fr_manual_plan(&page);
    fr_complete(&next, words, 3);
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        char key[96];
        snprintf(key, sizeof key, "plan.%s=\t", fr_plan_keys[i].name);
        if (!strstr(fr_text_get(&next), key)) fail_msg("completion: no %s", key);
        snprintf(key, sizeof key, "**%s**", fr_plan_keys[i].name);
        if (!strstr(fr_text_get(&page), key)) fail_msg("forerun-plan(5): no %s", key);
    }
    fr_text_free(&page), fr_text_free(&next);
}

static void every_fact_is_offered(void **state) {
    (void)state;
    struct fr_text next = {0};
    const char *const words[] = {"predict", "--set", "runtime."};
    fr_complete(&next, words, 3);
    for (int i = 0; i < fr_fact_count; i++) {
        char key[96];
        snprintf(key, sizeof key, "runtime.%s=\t", fr_facts[i].key);
        if (!strstr(fr_text_get(&next), key)) fail_msg("completion: no %s", key);
    }
    fr_text_free(&next);
}

/* Answers, too: tables, plans of many keys, sentences of what is left out. */
static void answers_fit_a_terminal(void **state) {
    (void)state;
    static const char *const lines[] = {
        "forerun predict --cluster dgx-h100 --model llama-3-70b --set tp=8 --set pp=4 --set "
        "dp=16 "
        "--set global_batch=512 --set schedule=interleaved --set chunks=5 --tokens 1T",
        "forerun predict --cluster a100-hdr --model gpt-8.3b --set tp=8 --set pp=4 --set dp=4 "
        "--set "
        "compression.gradient.stages=3 --set compression.gradient.rank=128 --set "
        "compression.backward.scope=epilogue --set compression.backward.rank=16",
        "forerun predict --cluster frontier --model ffn-16384 --set tp=8 --set method=phantom "
        "--set "
        "ghost=16 --samples 1e6",
        "forerun search --cluster dgx-h100 --model llama-3-8b --ranks 64 --tokens 1T",
        "forerun search --cluster frontier --model ffn-16384 --ranks 8..256*2 --vary "
        "method=tensor,phantom --vary ghost=2,4,6,16 --objective energy",
        "forerun search --cluster dgx-h100 --model mixtral-8x7b --ranks 64 --vary tp=1..8*2 "
        "--vary "
        "ep=1..8*2 --vary global_batch=256,512",
        "forerun search --cluster a100-hdr --model gpt-8.3b --ranks 128 --set tp=8 --set pp=4 "
        "--set "
        "micro_batch=8 --set recompute=full --vary compression.gradient.stages=0..4",
        "forerun search --cluster cori-knl --model alexnet --ranks 512 --vary method=grid "
        "--vary "
        "tp=1..512*2"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct output o = fr_test_run(lines[i]);
        fits(lines[i], o.out);
        fr_test_output_free(&o);
    }
}

static void expect_next(const char *line, const char *expected) {
    char command[512];
    snprintf(command, sizeof command, "forerun complete -- %s", line);
    struct output o = fr_test_run(command);
    assert_int_equal(o.exit_code, 0);
    if (strcmp(o.out, expected) != 0) fail_msg("%s: \"%s\", not \"%s\"", line, o.out, expected);
    fr_test_output_free(&o);
}

static void the_next_word(void **state) {
    (void)state;
    expect_next("predic", "predict\ttime, energy and memory of one plan\n");
    expect_next("search -c dgx-h1", "dgx-h100\tpreset\n");
    expect_next("search --cluster=dgx-h1", "--cluster=dgx-h100\tpreset\n");
    expect_next("search --objective e", "energy\nedp\n");
    expect_next("search --vary method=tensor,p", "method=tensor,phantom\n");
    expect_next("search --set sequence_parallel=",
                "sequence_parallel=true\nsequence_parallel=false\n");
    expect_next("predict -m gpt-2 --set model.voc", "model.vocabulary=\n");
    expect_next("predict -c frontier --set cluster.levels.0.ban",
                "cluster.levels.0.bandwidth=\n");
    expect_next("predict --runtime nemo-24", "nemo-24.03\tpreset\nnemo-24.11\tpreset\n");
    expect_next("predict --set runtime=nemo-25.02", "runtime=nemo-25.02\tpreset\n");
    expect_next("search --vary runtime=nemo-24.03,nemo-25.02",
                "runtime=nemo-24.03,nemo-25.02\tpreset\n");
    expect_next("predict --set runtime.graphs=l", "runtime.graphs=layers\n");
    expect_next("plot energy", "energy-time\n");
    expect_next("plot energy-time energy", ""); /* the figure stands: files follow */
    expect_next("predict --cluster",
                "--cluster\tcluster file, preset, or - for standard input\n");
    expect_next("predict -c /no-such-folder --set cluster.pu", "cluster.pue=\n");
    expect_next("nonsense --", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(help_fits_a_terminal),
                                       cmocka_unit_test(pages_hold_what_help_holds),
                                       cmocka_unit_test(breaking_lines_changes_no_word),
                                       cmocka_unit_test(every_key_is_offered_and_told),
                                       cmocka_unit_test(every_fact_is_offered),
                                       cmocka_unit_test(the_next_word),
                                       cmocka_unit_test(answers_fit_a_terminal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
