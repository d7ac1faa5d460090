/* The software of an answer: every verb that prices takes --runtime, does what it says, and names it.  The two names
 * of one runtime give the same bytes; names that are mistyped or exchanged are reported; the user's own are found. */
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "app/verb.h"
#include "models/job/fact.h"
#include "models/job/preset.h"
#include "models/job/release.h"
#include "models/job/runtime.h"
#include "tests/app/command.h"
#include "tests/scratch.h"

/* A line of each verb with --runtime, without the program. */
#define DENSE "--cluster dgx-h100 --model llama-3-8b --set global_batch=64"
static const struct {
    const char *verb, *line;
    bool json; /* a text and a document */
} asked[] = {
    {"predict", "predict " DENSE " --set tp=8", true},
    {"predict", "predict --cluster frontier --model ffn-16384 --set tp=8", true},
    {"predict",
     "predict --cluster gb200-nvl72 --model deepseek-v3 --set tp=1 --set ep=32 --set pp=4 "
     "--set dp=32 --set global_batch=256 --set zero=1 --set recompute=full --explain",
     true},
    {"search", "search " DENSE " --ranks 8 --vary tp=1..8*2", true},
    {"simulate", "simulate " DENSE " --set tp=4 --set pp=2 --set model.sequence=2048", true},
    {"generate", "generate " DENSE " --set tp=8", true},
    {"place", "place " DENSE " --set tp=8 --set dp=2", true},
    {"compare-plans", "compare-plans {\"tp\":8} {\"tp\":4,\"dp\":2} " DENSE, true},
    {"export", "export goal " DENSE " --set tp=4 --set pp=2", false},
    {"gemm", "gemm --cluster dgx-h100 --m 64 --n 64 --k 64 --dtype fp8", true},
};
enum { ASKED = sizeof asked / sizeof *asked };

/* Verbs that run jobs of MPI, read rows of runs or a log, or set runtimes beside each other: tests of their own. */
static const char others[] = " validate score tune compare watch ";

static bool takes(const struct fr_verb *verb, const char *name) {
    for (const struct fr_option *o = verb->options; o->name; o++)
        if (strcmp(o->name, name) == 0) return true;
    return false;
}

static const struct fr_verb *verb_of(const char *name) {
    const struct fr_verb *const *v = fr_verbs;
    while (strcmp((*v)->name, name) != 0) v++;
    return *v;
}

static char *printed(int exit_code, const char *form, ...)
    __attribute__((format(printf, 2, 3)));
static char *printed(int exit_code, const char *form, ...) {
    char line[640];
    va_list ap;
    va_start(ap, form);
    vsnprintf(line, sizeof line, form, ap);
    va_end(ap);
    struct output o = fr_test_run(line);
    if (o.exit_code != exit_code)
        fail_msg("%s: exit %d, want %d\n%s%s", line, o.exit_code, exit_code, o.out, o.err);
    char *saved = exit_code == 0 ? o.out : o.err;
    free(exit_code == 0 ? o.err : o.out);
    return saved;
}

static void every_verb_has_a_line(void **state) {
    (void)state;
    char word[64];
    for (const struct fr_verb *const *v = fr_verbs; *v; v++) {
        if (takes(*v, "defaults") && !strstr(others, (*v)->name))
            FR_TRUE(takes(*v, "runtime"), "%s has --defaults and no --runtime", (*v)->name);
        int i = 0;
        while (i < ASKED && strcmp(asked[i].verb, (*v)->name) != 0) i++;
        snprintf(word, sizeof word, " %s ", (*v)->name);
        FR_TRUE(i < ASKED || !takes(*v, "runtime") || strstr(others, word),
                "%s takes --runtime and has no line here", (*v)->name);
    }
}

/* Only the time that a search took may differ. */
static void same(const char *a, const char *b, const char *what) {
    while (*a && *a == *b) {
        a++, b++;
        if (strncmp(a, "\"elapsed_s\"", 11) == 0 && strncmp(b, "\"elapsed_s\"", 11) == 0)
            a += strcspn(a, "\n"), b += strcspn(b, "\n");
    }
    if (*a || *b) fail_msg("%s: \"%.60s\" beside \"%.60s\"", what, a, b);
}

/* --defaults 2019, --runtime papers-2019 and --set runtime=papers-2019 say one thing. */
static void two_names_of_one_runtime(void **state) {
    (void)state;
    int compared = 0;
    for (int i = 0; i < ASKED; i++)
        for (int json = 0; json <= asked[i].json; json++) {
            const char *line = asked[i].line;
            const char *form = json                                   ? " --json"
                               : takes(verb_of(asked[i].verb), "all") ? " --all"
                                                                      : "";
            if (!takes(verb_of(asked[i].verb), "defaults")) continue;
            char *year = printed(0, "forerun %s%s --defaults 2019", line, form),
                 *name = printed(0, "forerun %s%s --runtime papers-2019", line, form),
                 *key = printed(0, "forerun %s%s --set runtime=papers-2019", line, form);
            same(year, name, line);
            same(name, key, line);
            compared++;
            free(year), free(name), free(key);
        }
    assert_true(compared > 10);
}

/* Each runtime that comes with the program, by its name in every form of answer. */
static void answers_name_it(void **state) {
    (void)state;
    int n = 0, runtimes = 0;
    for (const struct fr_preset *p = fr_presets; p->name; p++)
        runtimes += strcmp(p->kind, "runtime") == 0;
    for (const struct fr_preset *p = fr_presets; p->name; p++) {
        if (strcmp(p->kind, "runtime") != 0) continue;
        for (int i = n++ % 3; i < ASKED; i += 3) {
            if (!asked[i].json) continue;
            char *text = printed(0, "forerun %s --runtime %s", asked[i].line, p->name),
                 *json = printed(0, "forerun %s --runtime %s --json", asked[i].line, p->name),
                 *at = strstr(text, "software "), key[96];
            snprintf(key, sizeof key, "\"runtime\": \"%s\"", p->name);
            FR_TRUE(at != NULL, "%s names no software:\n%s", asked[i].line, text);
            at += strlen("software ") + strspn(at + strlen("software "), " ");
            FR_TRUE(strncmp(at, p->name, strlen(p->name)) == 0 &&
                        strchr(" ;\n", at[strlen(p->name)]),
                    "%s --runtime %s says %.60s", asked[i].line, p->name, at);
            FR_TRUE(strstr(json, key) != NULL, "%s: no %s in\n%.600s", asked[i].line, key,
                    json);
            free(text), free(json);
        }
    }
    assert_true(n == runtimes && n > 10);
}

/* Without an option the newest that suits, and what the cluster's file states itself goes before and is named. */
static void the_newest_and_the_clusters_own(void **state) {
    (void)state;
    char newest[FR_RUNTIME_NAME], line[128];
    fr_release_newest(true, "hopper", NULL, newest);
    snprintf(line, sizeof line, "software   %s (", newest);
    fr_test_expect("forerun predict " DENSE " --set tp=8 --all", 0, line, NULL);
    fr_test_expect("forerun predict " DENSE " --set tp=8 --defaults modern --all", 0, line,
                   NULL);
    fr_test_expect("forerun predict " DENSE
                   " --set tp=8 --set cluster.device.host_launch=7us --all",
                   0, "; the cluster's own: host_launch", NULL);
    fr_test_expect("forerun predict " DENSE
                   " --set tp=8 --set cluster.device.host_launch=7us --json",
                   0, "\"software_of_cluster\": \"host_launch\"", NULL);
    snprintf(line, sizeof line, ", by %s", newest);
    fr_test_expect("forerun predict " DENSE " --set tp=8 --all", 0, line, NULL);
}

static void words_that_are_wrong(void **state) {
    (void)state;
    static const struct {
        const char *line;
        int exit_code;
        const char *says;
    } rows[] = {
        {"--runtime nemo-24.04", 3, "did you mean \"nemo-24.03\"?"},
        {"--set runtime=nemo-24.04", 3, "did you mean \"nemo-24.03\"?"},
        {"--runtime dgx-h100", 3, "is a cluster, and stands where a runtime is asked for"},
        {"--runtime llama-3-8b", 3, "is a model, and stands where a runtime is asked for"},
        {"--runtime {\"facts\":[{\"key\":\"host_lunch\",\"value\":\"1us\"}]}", 3,
         "did you mean \"host_launch\"?"},
        {"--runtime {\"facts\":[{\"key\":\"host_launch\",\"value\":1}]}", 3,
         "runtime#/facts/0/value: 1 has no unit"},
        {"--runtime {\"date\":\"June\"}", 3, "expected a date as 2026"},
        {"--runtime {\"name\":\"a\",\"nonsense\":1}", 3, "nonsense"},
        {"--runtime {", 3, ""},
        {"--runtime /no/such.json", 3, "is neither a file nor a runtime preset"},
        {"--set runtime.host_lunch=1us", 2, "did you mean \"runtime.host_launch\"?"},
        {"--set runtime.host_launch=1", 2, "host_launch"},
        {"--set runtime.=1", 2, "is no fact of a runtime"},
        {"--runtime nemo-24.03 --runtime nemo-24.11", 2, "are two runtimes"},
        {"--runtime nemo-24.03 --set runtime=nemo-24.11", 2, "runtime is given twice"},
        {"--runtime nemo-24.03 --defaults 2019", 2, "runtime is given twice"},
        {"--runtime nemo-24.03 --defaults modern", 2, "runtime is given twice"},
        {"--set runtime=nemo-24.03 --defaults 2019", 2, "runtime is given twice"},
        {"--runtime - --plan -", 2, "only one input can come from standard input"},
        {"--defaults 2020", 2, "2019"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[400];
        snprintf(line, sizeof line, "forerun predict " DENSE " --set tp=8 %s", rows[i].line);
        fr_test_expect(line, rows[i].exit_code, NULL, rows[i].says);
    }
    fr_test_expect(
        "forerun predict --cluster nemo-24.03 --model llama-3-8b", 3, NULL,
        "is a runtime, and stands where a cluster is asked for: give it as --runtime");
    fr_test_expect("forerun predict --cluster dgx-h100 --model nemo-24.03", 3, NULL,
                   "is a runtime, and stands where a model is asked for: give it as --runtime");
    fr_test_expect("forerun predict " DENSE
                   " --set tp=8 --runtime papers-2019 --defaults 2019 --all",
                   0, "papers-2019", NULL);
    fr_test_expect("forerun predict " DENSE
                   " --set tp=8 --runtime nemo-24.03 --set model.defaults=2019 --all",
                   0, "nemo-24.03", NULL);
}

/* A key mistyped by one letter, of each fact: the sentence has the right one. */
static void every_fact_is_suggested(void **state) {
    (void)state;
    for (int i = 0; i < fr_fact_count; i++) {
        char key[64], wanted[96];
        struct fr_runtime r = {.name = "test"};
        struct fr_error err = {.status = FR_OK};
        snprintf(key, sizeof key, "runtime.%sx", fr_facts[i].key);
        snprintf(wanted, sizeof wanted, "did you mean \"runtime.%s\"?", fr_facts[i].key);
        assert_int_equal(fr_runtime_set(&r, key, "1", &err), FR_ERR_USAGE);
        FR_TRUE(strstr(err.detail, wanted) != NULL, "%s: %s", key, err.detail);
    }
}

static void the_users_own(void **state) {
    (void)state;
    static const char text[] = "{\"date\": \"2026-07\", \"source\": \"ours, tried here\", "
                               "\"from\": \"nemo-24.03\"}";
    char *listed, *next;
    assert_int_equal(mkdir("forerun", 0755), 0);
    assert_int_equal(mkdir("forerun/runtime", 0755), 0);
    assert_int_equal(fr_file_write("forerun/runtime/ours.json", text, sizeof text - 1, NULL),
                     FR_OK);
    setenv("XDG_CONFIG_HOME", fr_scratch, 1);
    listed = printed(0, "forerun list runtimes");
    assert_non_null(strstr(listed, "ours, tried here"));
    assert_non_null(strstr(listed, "forerun/runtime/ours.json"));
    next = printed(0, "forerun complete -- predict --runtime our");
    assert_string_equal(next, "ours\tyour own\n");
    fr_test_expect("forerun predict " DENSE " --set tp=8 --runtime ours --all", 0,
                   "software   ours (2026-07)", NULL);
    unsetenv("XDG_CONFIG_HOME");
    free(listed), free(next);
}

/* Lists, and each preset as its file. */
static void listed_and_shown(void **state) {
    (void)state;
    char *runtimes = printed(0, "forerun list runtimes"),
         *facts = printed(0, "forerun list facts");
    for (const struct fr_preset *p = fr_presets; p->name; p++) {
        if (strcmp(p->kind, "runtime") != 0) continue;
        char *shown = printed(0, "forerun show %s", p->name);
        FR_TRUE(strstr(runtimes, p->name) != NULL, "%s is not listed", p->name);
        FR_TRUE(strncmp(shown, p->text, p->length) == 0, "%s is not shown as it is", p->name);
        free(shown);
    }
    for (int i = 0; i < fr_fact_count; i++)
        FR_TRUE(strstr(facts, fr_facts[i].key) != NULL, "%s is not listed", fr_facts[i].key);
    free(runtimes), free(facts);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_verb_has_a_line),
                                       cmocka_unit_test(two_names_of_one_runtime),
                                       cmocka_unit_test(answers_name_it),
                                       cmocka_unit_test(the_newest_and_the_clusters_own),
                                       cmocka_unit_test(words_that_are_wrong),
                                       cmocka_unit_test(every_fact_is_suggested),
                                       cmocka_unit_test(the_users_own),
                                       cmocka_unit_test(listed_and_shown)};
    return cmocka_run_group_tests(tests, fr_scratch_enter, fr_scratch_leave);
}
