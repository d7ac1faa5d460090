/** @file
 *  Run a program of this build and look at what it says. */
#ifndef FR_TESTS_APP_COMMAND_H
#define FR_TESTS_APP_COMMAND_H

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/cmocka.h"

extern char **environ;

struct output {
    int exit_code; /**< or -1 when a signal ended it */
    char *out, *err;
};

/** Run @p line, split at blanks (no quoting), its first word being a program of this build;
 *  standard input is /dev/null. */
static inline struct output fr_test_run(const char *line) {
    char out_path[] = "/tmp/forerun-out-XXXXXX", err_path[] = "/tmp/forerun-err-XXXXXX";
    char copy[4096], program[4096], *argv[64], *rest = NULL;
    int n = 0, status = 0;
    struct output o = {.exit_code = -1};
    size_t length = 0;
    pid_t child;
    posix_spawn_file_actions_t actions;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok_r(copy, " ", &rest); word && n < 63;
         word = strtok_r(NULL, " ", &rest))
        argv[n++] = word;
    argv[n] = NULL;
    snprintf(program, sizeof program, "%s/%s", FR_BIN_DIR, argv[0]);
    int out = mkstemp(out_path), err = mkstemp(err_path);
    assert_true(out >= 0 && err >= 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    posix_spawn_file_actions_adddup2(&actions, err, 2);
    if (posix_spawn(&child, program, &actions, NULL, argv, environ) != 0)
        fail_msg("%s cannot be started", program);
    waitpid(child, &status, 0);
    posix_spawn_file_actions_destroy(&actions);
    close(out);
    close(err);
    o.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    fr_file_read(out_path, FR_FILE_MAX_B, &o.out, &length, NULL);
    fr_file_read(err_path, FR_FILE_MAX_B, &o.err, &length, NULL);
    unlink(out_path);
    unlink(err_path);
    return o;
}

static inline void fr_test_output_free(struct output *o) {
    free(o->out);
    free(o->err);
}

/** Run and expect an exit code, and words in what it prints (NULL: anything). */
static inline void fr_test_expect(const char *line, int exit_code, const char *in_out,
                                  const char *in_err) {
    struct output o = fr_test_run(line);
    if (o.exit_code != exit_code)
        fail_msg("%s: exit %d, want %d\n%s%s", line, o.exit_code, exit_code, o.out, o.err);
    if (in_out && !strstr(o.out, in_out))
        fail_msg("%s: \"%s\" not in\n%s", line, in_out, o.out);
    if (in_err && !strstr(o.err, in_err))
        fail_msg("%s: \"%s\" not in\n%s", line, in_err, o.err);
    if (exit_code != 0 && exit_code != 4 && o.out[0])
        fail_msg("%s: an error must leave stdout empty, got\n%s", line, o.out);
    if (strstr(o.out, " nan") || strstr(o.out, "-nan") || strstr(o.out, ",nan") ||
        strstr(o.out, " inf "))
        fail_msg("%s: prints a number that is none:\n%s", line, o.out);
    fr_test_output_free(&o);
}

#endif
