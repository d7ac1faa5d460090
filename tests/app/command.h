/** @file
 *  Run a program of this build and look at what it says. */
#ifndef FR_TESTS_APP_COMMAND_H
#define FR_TESTS_APP_COMMAND_H

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "tests/cmocka.h"

struct output {
    int exit_code; /**< or -1 when a signal ended it */
    char *out, *err;
};

/** Run @p line, split at blanks (no quoting), its first word being a program of this build;
 *  standard input is /dev/null. */
static inline struct output fr_test_run(const char *line) {
    char copy[4096], program[4096], *rest = NULL;
    const char *words[64] = {NULL};
    struct fr_text out = {0}, printed = {0};
    struct fr_error err = {.status = FR_OK};
    struct fr_ended ended;
    const struct fr_process p = {
        .words = words, .out.text = &out, .err.text = &printed, .text_B = FR_FILE_MAX_B};
    int n = 0;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok_r(copy, " ", &rest); word && n < 63;
         word = strtok_r(NULL, " ", &rest))
        words[n++] = word;
    snprintf(program, sizeof program, "%s/%s", FR_BIN_DIR, words[0]);
    words[0] = program;
    fr_text_add(&out, "", 0), fr_text_add(&printed, "", 0);
    if (fr_process_run(&p, &ended, &err) != FR_OK) fail_msg("%s: %s", program, err.detail);
    return (struct output){ended.code, out.data, printed.data};
}

static inline void fr_test_output_free(struct output *o) {
    free(o->out);
    free(o->err);
}

/** Do @p words stand in @p text, however its lines are broken? */
static inline bool fr_test_says(const char *text, const char *words) {
    for (bool more = true; more; more = *text++ != '\0') {
        const char *t = text, *w = words;
        while (*w && (*t == *w || (*w == ' ' && *t == '\n'))) {
            t += *t == '\n' ? 1 + strspn(t + 1, " ") : 1;
            w++;
        }
        if (!*w) return true;
    }
    return false;
}

/** Run and expect an exit code, and words in what it prints (NULL: anything). */
static inline void fr_test_expect(const char *line, int exit_code, const char *in_out,
                                  const char *in_err) {
    struct output o = fr_test_run(line);
    if (o.exit_code != exit_code)
        fail_msg("%s: exit %d, want %d\n%s%s", line, o.exit_code, exit_code, o.out, o.err);
    if (in_out && !fr_test_says(o.out, in_out))
        fail_msg("%s: \"%s\" not in\n%s", line, in_out, o.out);
    if (in_err && !strstr(o.err, in_err))
        fail_msg("%s: \"%s\" not in\n%s", line, in_err, o.err);
    if (exit_code != 0 && exit_code != 4 && o.out[0])
        fail_msg("%s: an error must leave stdout empty, got\n%s", line, o.out);
    const char *nan = strstr(o.out, " nan");
    if ((nan && !isalpha((unsigned char)nan[4])) || strstr(o.out, "-nan") ||
        strstr(o.out, ",nan") || strstr(o.out, " inf "))
        fail_msg("%s: prints a number that is none:\n%s", line, o.out);
    fr_test_output_free(&o);
}

#endif
