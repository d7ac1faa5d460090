/* Verbs of the library against the program: forerun_ask and the function of a verb's name answer each command of verbs.txt as
 * the program prints it.  Bytes are compared, also of files that are written. */
#include <dirent.h>
#include <stdio.h>

#include "library/include/forerun.h"
#include "tests/app/command.h"
#include "tests/litter.h"

static char folder[128];

/* ---- commands ------------------------------------------------------------------------------- */

struct command {
    char text[1024]; /* "gemm --cluster ..." */
    char copy[1024];
    const char *verb, *words[64];
};

/* Line @p n of verbs.txt, from 0, with OUT/ as the folder. */
static bool command_at(int n, struct command *c) {
    FILE *file = fopen("tests/library/verbs.txt", "r");
    char line[512], *rest = NULL;
    bool found = false;
    assert_non_null(file);
    while (!found && fgets(line, sizeof line, file)) found = line[0] != '#' && n-- == 0;
    fclose(file);
    if (!found) return false;
    line[strcspn(line, "\n")] = '\0';
    size_t used = 0;
    for (const char *at = line; *at;) {
        const char *out = strstr(at, "OUT/");
        size_t length = out ? (size_t)(out - at) : strlen(at);
        fr_line_addf(c->text, sizeof c->text, &used, "%.*s%s", (int)length, at,
                     out ? folder : "");
        at += length + (out ? strlen("OUT") : 0);
    }
    snprintf(c->copy, sizeof c->copy, "%s", c->text);
    int i = 0;
    c->verb = strtok_r(c->copy, " ", &rest);
    do c->words[i] = strtok_r(NULL, " ", &rest);
    while (c->words[i++]);
    return true;
}

static void run(const char *format, const char *more) {
    char line[1024];
    snprintf(line, sizeof line, format, folder, more);
    assert_int_equal(system(line), 0);
}

static int inputs(void **state) {
    (void)state;
    assert_int_equal(chdir(FR_SOURCE_DIR), 0);
    snprintf(folder, sizeof folder, "/tmp/forerun-verbs-%ld", (long)getpid());
    fr_litter_add(folder);
    run("mkdir -p %s", "");
    run("tests/golden/in/samples.sh >%s/samples.jsonl", "");
    run("cp tests/library/plan.json %s/a.json", "");
    run("cd %s && %s/forerun search --cluster frontier --model ffn-16384 --ranks 8,16 --vary "
        "method=tensor,phantom --vary ghost=2,4 --top 0 --json >search.json",
        FR_BIN_DIR);
    run("cd %s && %s/forerun simulate --cluster frontier --model " FR_SOURCE_DIR
        "/tests/golden/in/stages.json --set pp=4 --set global_batch=16 --trace trace.json "
        ">out.txt",
        FR_BIN_DIR);
    return 0;
}

/* ---- what is written ------------------------------------------------------------------------ */

static void forget(char *text, const char *key) {
    for (char *at = text; (at = strstr(at, key));) {
        size_t length = strcspn(at, "\n,");
        memmove(at, at + length, strlen(at + length) + 1);
    }
}

/* Contents of the files of the folder, behind each other. */
static char *files(void) {
    char line[256];
    snprintf(line, sizeof line, "find %s -type f | sort | xargs cat", folder);
    FILE *pipe = popen(line, "r");
    struct fr_text text = {0};
    char block[4096];
    assert_non_null(pipe);
    for (size_t n; (n = fread(block, 1, sizeof block, pipe)) > 0;) fr_text_add(&text, block, n);
    pclose(pipe);
    forget(text.data, "\"created\": ");
    return text.data;
}

/* "forerun gemm: --m: ...\nTry: ..." holds the sentence. */
static bool says_sentence(const char *printed, const char *verb, const char *sentence) {
    char head[64];
    size_t n = (size_t)snprintf(head, sizeof head, "forerun %s: ", verb);
    if (strncmp(printed, head, n) != 0) return false;
    return strncmp(printed + n, sentence, strlen(sentence)) == 0;
}

static void compare(const struct command *c, forerun_status status,
                    const forerun_result *result, const forerun_error *error,
                    const char *written) {
    char line[1100];
    bool json = result && *forerun_json(result);
    char *own = strdup(!result ? "" : json ? forerun_json(result) : forerun_text(result));
    snprintf(line, sizeof line, "forerun %s%s", c->text, json ? " --json" : "");
    struct output o = fr_test_run(line);
    char *by_program = files();
    forget(o.out, "\"elapsed_s\": "), forget(own, "\"elapsed_s\": ");
    FR_TRUE(o.exit_code == (int)status, "%s: status %d, program %d: %s", c->text, (int)status,
            o.exit_code, error->message);
    FR_TRUE(strcmp(own, o.out) == 0, "%s:\n%s\nprogram:\n%s", c->text, own, o.out);
    FR_TRUE(strcmp(written, by_program) == 0, "%s: writes other files", c->text);
    if (result)
        FR_TRUE(strcmp(forerun_notes(result), o.err) == 0, "%s: notes \"%s\", program \"%s\"",
                c->text, forerun_notes(result), o.err);
    else
        FR_TRUE(says_sentence(o.err, c->verb, error->message), "%s: \"%s\", program \"%s\"",
                c->text, error->message, o.err);
    fr_test_output_free(&o);
    free(by_program);
    free(own);
}

static void are_the_programs(void **state) {
    struct command c;
    (void)state;
    for (int n = 0; command_at(n, &c); n++) {
        forerun_result *result = NULL;
        forerun_error error;
        forerun_status status = forerun_ask(c.verb, c.words, &result, &error);
        char *written = files();
        compare(&c, status, result, &error, written);
        free(written);
        forerun_result_free(result);
    }
}

/* ---- functions by name ---------------------------------------------------------------------- */

typedef forerun_status by_name(const char *const *words, forerun_result **result,
                               forerun_error *error);

static by_name *function_of(const char *verb) {
#define FR_ASKED(name)
#define FR_ASKED_BY_NAME(name) {#name, forerun_##name},
    static const struct {
        const char *name;
        by_name *function;
    } rows[] = {
#include "app/library/verb_list.h"
    };
#undef FR_ASKED
#undef FR_ASKED_BY_NAME
    char name[32];
    snprintf(name, sizeof name, "%s", verb);
    for (char *at = name; *at; at++)
        if (*at == '-') *at = '_';
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) return rows[i].function;
    return NULL;
}

static void names_lead_to_verbs(void **state) {
    struct command c;
    int tried = 0;
    (void)state;
    for (int n = 0; command_at(n, &c); n++) {
        by_name *function = function_of(c.verb);
        forerun_result *by_verb = NULL, *result = NULL;
        forerun_error error;
        if (!function || strcmp(c.verb, "tune") == 0 || strcmp(c.verb, "compare") == 0)
            continue; /* two that take seconds */
        forerun_status status = forerun_ask(c.verb, c.words, &by_verb, &error);
        assert_int_equal(function(c.words, &result, NULL), status);
        assert_string_equal(forerun_json(result), forerun_json(by_verb));
        assert_string_equal(forerun_text(result), forerun_text(by_verb));
        forerun_result_free(by_verb);
        forerun_result_free(result);
        tried++;
    }
    assert_true(tried > 10);
}

static void every_verb_has_a_command(void **state) {
    struct command c;
    (void)state;
    for (size_t i = 0; forerun_verb(i); i++) {
        bool asked = false;
        for (int n = 0; command_at(n, &c); n++)
            asked = asked || strcmp(c.verb, forerun_verb(i)) == 0;
        FR_TRUE(asked, "verbs.txt has no command of %s", forerun_verb(i));
    }
    assert_non_null(forerun_verb(0));
}

/* ---- jobs as scripts ------------------------------------------------------------------------ */

static void scripts_are_the_programs(void **state) {
    static const char *const sets[] = {"tp=8", NULL};
    (void)state;
    forerun_job *job = NULL;
    forerun_result *result = NULL;
    forerun_error error;
    assert_int_equal(forerun_load("dgx-h100", "llama-3-8b", NULL, sets, &job, &error), 0);
    assert_int_equal(forerun_emit(job, "megatron", &result, &error), 0);
    struct output script = fr_test_run("forerun predict --cluster dgx-h100 --model llama-3-8b "
                                       "--set tp=8 --emit megatron");
    struct output document = fr_test_run(
        "forerun predict --cluster dgx-h100 --model llama-3-8b --set tp=8 --emit megatron "
        "--json");
    assert_string_equal(forerun_text(result), script.out);
    assert_string_equal(forerun_json(result), document.out);
    assert_string_equal(forerun_notes(result), script.err);
    assert_int_equal(forerun_count(result), 1);
    fr_test_output_free(&script);
    fr_test_output_free(&document);
    forerun_result_free(result);
    assert_int_equal(forerun_emit(job, "megatrn", &result, &error), FORERUN_USAGE);
    assert_null(result);
    assert_non_null(strstr(error.message, "did you mean"));
    forerun_job_free(job);
}

/* ---- notes ---------------------------------------------------------------------------------- */

/* An answer does not depend on the calls before it: a fit on the way is noted in each, once. */
static void the_same_notes_again(void **state) {
    char samples[160];
    snprintf(samples, sizeof samples, "%s/samples.jsonl", folder);
    const char *const words[] = {"--cluster", samples, "--m=64", "--n=64", "--k=64", NULL};
    (void)state;
    for (int i = 0; i < 2; i++) {
        forerun_result *result = NULL;
        forerun_error error;
        assert_int_equal(forerun_ask("gemm", words, &result, &error), FORERUN_OK);
        const char *note = strstr(forerun_notes(result), "has samples");
        FR_TRUE(note, "call %d: notes \"%s\"", i, forerun_notes(result));
        FR_TRUE(!strstr(note + 1, "has samples"), "noted twice: %s", forerun_notes(result));
        forerun_result_free(result);
    }
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void refusals(void **state) {
    static const char *const standard[] = {"--cluster", "-", "--op=all_reduce", "--ranks=8",
                                           NULL};
    forerun_result *result = NULL;
    forerun_error error;
    (void)state;
    assert_int_equal(forerun_ask("collctive", NULL, &result, &error), FORERUN_USAGE);
    assert_non_null(strstr(error.message, "did you mean \"collective\""));
    assert_int_equal(forerun_ask(NULL, NULL, &result, &error), FORERUN_USAGE);
    assert_int_equal(forerun_ask("calibrate", NULL, &result, &error), FORERUN_USAGE);
    assert_int_equal(forerun_ask("collective", standard, &result, &error), FORERUN_USAGE);
    assert_non_null(strstr(error.message, "standard input"));
    assert_int_equal(forerun_ask("list", NULL, NULL, &error), FORERUN_USAGE);
    assert_null(result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_the_programs),         cmocka_unit_test(names_lead_to_verbs),
        cmocka_unit_test(every_verb_has_a_command), cmocka_unit_test(scripts_are_the_programs),
        cmocka_unit_test(the_same_notes_again),     cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, inputs, NULL);
}
