/* Scripts as they run: which statements do, and what variables are then. */
#include <stdio.h>
#include <string.h>

#include "answer/trainer/here.h"
#include "answer/trainer/shell.h"
#include "tests/cmocka.h"

struct scene {
    struct fr_shell *shell;
    char ran[1024];
};

/* "NAME=value" sets, anything else is noted. */
static void run(void *to, const char *statement, size_t n) {
    struct scene *scene = to;
    char value[FR_SHELL_WORD];
    const char *equals = memchr(statement, '=', n);
    size_t used = strlen(scene->ran);
    if (equals && !memchr(statement, ' ', (size_t)(equals - statement))) {
        snprintf(value, sizeof value, "%.*s", (int)(statement + n - equals - 1), equals + 1);
        fr_shell_set(scene->shell, statement, (size_t)(equals - statement), value);
        return;
    }
    snprintf(scene->ran + used, sizeof scene->ran - used, "%.*s;", (int)n, statement);
}

static const struct {
    const char *script, *word, *wanted;
} rows[] = {
    /* ---- values ---- */
    {"A=8", "--n=$A", "--n=8"},
    {"A=8", "${A}x", "8x"},
    {"", "${A:-4}", "4"},
    {"A=2", "${A:-4}", "2"},
    {"", "${1:-7B}", "7B"},
    {"", "${A:-${B:-3}}", "3"},
    {"B=5", "${A:-${B:-3}}", "5"},
    {"", "${A:-\"8\"}", "8"},
    {"A=2", "${A:+--flag}", "--flag"},
    {"", "$A", "$A"},
    {": ${A:=6}", "$A", "6"},
    {"A=1\n: \"${A:=6}\"", "$A", "1"},
    {"A=4\nA=\"$1\"", "$A", "4"}, /* an argument that is not given */
    /* ---- arithmetic ---- */
    {"A=4\nB=2", "$((A * B))", "8"},
    {"A=4\nB=2", "$(( ($A + ${B}) * 3 - 1 ))", "17"},
    {"A=64", "$((A/8/2))", "4"},
    {"A=7", "$(expr $A \\* 2)", "14"},
    {"A=7", "$[A%4]", "3"},
    {"", "$((A * 2))", "$((A * 2))"},
    {"A=4", "$((A / 0))", "$((A / 0))"},
    {"A=3", "$((2 - --A))", "-1"},
    /* beyond 2^50 nothing is computed: the quotient and the product would not fit */
    {"A=-9223372036854775808", "$((A / -1))", "$((A / -1))"},
    {"A=-9223372036854775808", "$((-A))", "$((-A))"},
    {"", "$((1099511627775 * 1099511627775))", "$((1099511627775 * 1099511627775))"},
    {"A=1125899906842623", "$((A + 1)) $((A - 1))", "$((A + 1)) 1125899906842622"},
    /* ---- branches ---- */
    {"M=13B\nif [ \"$M\" = \"7B\" ]; then\nH=1; L=2\nelif [[ $M == 13B ]]; then\nH=3; L=4\n"
     "else\nH=5\nfi",
     "$H $L", "3 4"},
    {"A=0\nif [ $A -gt 1 ]; then B=1; else B=2; fi", "$B", "2"},
    {"if (( 4 * 2 > 7 )); then B=1; fi", "$B", "1"},
    {"if [ -z \"$X\" ]; then B=1; fi", "$B", "1"},
    {"X=1\nif [ -n \"$X\" ] && [ $X -eq 1 ]; then B=1; fi", "$B", "1"},
    {"X=1\nif [[ -z $X || ! $X == 2 ]]; then B=1; fi", "$B", "1"},
    {"B=1\nif [ -f /x ]; then B=2; fi", "$B", "$B"}, /* nobody can say */
    {"if [ -f /x ]; then B=2; else B=2; fi", "$B", "2"},
    {"B=1\nif [ -f /x ]; then B=2; fi\nB=3", "$B", "3"},
    {"M=b\ncase \"$M\" in\n a|c) X=1 ;;\n b)\n X=2\n ;;\n *) X=3 ;;\nesac", "$X", "2"},
    {"M=qq\ncase $M in\n a) X=1;;\n *) X=3;;\nesac", "$X", "3"},
    {"X=1\nwhile [[ $# -gt 0 ]]; do\n case $1 in\n --x) X=\"$2\"; shift 2;;\n esac\ndone", "$X",
     "1"},
    {"X=1\nfor A in \"$@\"; do X=9; done", "$X", "1"},
    {"for A in 4; do\nX=$A\ndone", "$X", "4"},
    {"B=8\nfor A in $B; do\nX=$A\ndone", "$X", "8"},
    {"A=3\n(( B = A * 2 ))", "$B", "6"},
    {"A=3\nlet B=A*2", "$B", "6"},
    {"A=3\nlet \"B = A + 2\"", "$B", "5"},
    {"A=3\nif (( A == 3 )); then B=1; fi", "$B", "1"},
    {"[ -z $A ] && X=1", "$X", "1"},
    {"A=1\n[ -z $A ] && X=1\n[ -z $A ] || Y=2", "$X $Y", "$X 2"},
    {"if [ 1 = 1 ]; then if [ 1 = 2 ]; then X=1; else X=2; fi; fi", "$X", "2"},
    {"X=1 # X=2", "$X", "1"},
};

static void scripts(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene scene = {.shell = fr_shell_new()};
        char got[FR_SHELL_WORD];
        assert_non_null(scene.shell);
        for (const char *line = rows[i].script; *line;) {
            const size_t n = strcspn(line, "\n");
            fr_shell_line(scene.shell, line, n, run, &scene);
            line += n + (line[n] == '\n');
        }
        fr_shell_expand(scene.shell, rows[i].word, got);
        FR_TRUE(strcmp(got, rows[i].wanted) == 0, "%s: %s is %s, wanted %s", rows[i].script,
                rows[i].word, got, rows[i].wanted);
        fr_shell_free(scene.shell);
    }
}

static void what_runs(void **state) {
    (void)state;
    static const char *const lines[] = {"echo a", "if [ 1 = 2 ]; then echo b; else echo c; fi",
                                        "if [ -f x ]; then echo d; else echo e; fi",
                                        "until true; do echo f; done", "echo 'g;h'; echo i"};
    struct scene scene = {.shell = fr_shell_new()};
    assert_non_null(scene.shell);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        fr_shell_line(scene.shell, lines[i], strlen(lines[i]), run, &scene);
    assert_string_equal(scene.ran, "echo a;echo c;echo d;echo e;echo f;echo 'g;h';echo i;");
    fr_shell_free(scene.shell);
}

/* A line of a million keywords or tests is read as a short one; each was a call within the last. */
static void long_lines(void **state) {
    static const struct {
        const char *piece, *last, *wanted;
    } lines[] = {{"else ", "X=1", "1"},
                 {"do ", "X=1", "1"},
                 {"[ -z $Z ] && ", "X=1", "1"},
                 {"[ -n $Z ] || ", "X=1", "1"},
                 {"[ -z $Z ] || ", "X=1", "0"}};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct fr_text line = {0};
        struct scene scene = {.shell = fr_shell_new()};
        char value[FR_SHELL_WORD];
        fr_shell_set(scene.shell, "X", 1, "0");
        fr_shell_set(scene.shell, "Z", 1, "");
        for (int k = 0; k < 1000000; k++) fr_text_addf(&line, "%s", lines[i].piece);
        fr_text_addf(&line, "%s", lines[i].last);
        fr_shell_line(scene.shell, fr_text_get(&line), line.length, run, &scene);
        fr_shell_expand(scene.shell, "$X", value);
        FR_TRUE(strcmp(value, lines[i].wanted) == 0, "%s...: X is %s, wanted %s",
                lines[i].piece, value, lines[i].wanted);
        fr_shell_free(scene.shell);
        fr_text_free(&line);
    }
}

/* Marks without an end are tried so often and no more: each try reads the rest of the text. */
static void marks_without_end(void **state) {
    static const char mark[] = "cat <<EOF", ended[] = "text\nEOF\n", open[] = "text\n";
    (void)state;
    for (int unended = FR_HERE_UNENDED - 1; unended <= FR_HERE_UNENDED; unended++) {
        struct fr_here here = {.line = 0};
        for (int i = 0; i < unended; i++)
            assert_false(fr_here_begin(mark, sizeof mark - 1, i, open, sizeof open - 1, &here));
        FR_TRUE(fr_here_begin(mark, sizeof mark - 1, 99, ended, sizeof ended - 1, &here) ==
                    (unended < FR_HERE_UNENDED),
                "after %d marks without an end", unended);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(scripts), cmocka_unit_test(what_runs),
                                       cmocka_unit_test(long_lines),
                                       cmocka_unit_test(marks_without_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
