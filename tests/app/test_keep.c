/* Who may write to a file of measurements: one command at a time, however the one before it ended, and
 * also once it has replaced the file. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/journal/keep.h"
#include "tests/cmocka.h"

static char path[] = "/tmp/forerun-keep-XXXXXX";

static fr_status hold(struct fr_keep *keep, bool resume, bool force) {
    struct fr_error err = {.status = FR_OK};
    fr_status status = fr_keep_hold(path, resume, force, keep, &err);
    if (status == FR_ERR_IO && !strstr(err.detail, "is being written by process"))
        fail_msg("%s", err.detail);
    return status;
}

static void write_it(void) {
    assert_int_equal(fr_file_write(path, "an hour\n", 8, NULL), FR_OK);
}

static void one_command_at_a_time(void **state) {
    struct fr_keep a, b;
    (void)state;
    assert_int_equal(hold(&a, false, false), FR_OK);
    assert_int_equal(hold(&b, false, false), FR_ERR_IO);
    assert_int_equal(hold(&b, true, false), FR_ERR_IO);
    assert_int_equal(hold(&b, false, true), FR_ERR_IO);
    fr_keep_release(&b);
    assert_int_equal(hold(&b, true, false), FR_ERR_IO); /* that it lets go of nothing */
    fr_keep_release(&a);
    assert_int_equal(hold(&b, false, false), FR_OK);
    fr_keep_release(&b);
    fr_keep_release(&b);
}

/* fr_file_write puts another file in its place, which nobody holds. */
static void a_replaced_file_is_held_again(void **state) {
    struct fr_keep a, b;
    (void)state;
    assert_int_equal(hold(&a, false, false), FR_OK);
    for (int i = 0; i < 3; i++) {
        write_it();
        assert_int_equal(fr_keep_hold_again(&a, NULL), FR_OK);
        assert_int_equal(hold(&b, true, false), FR_ERR_IO);
        fr_keep_release(&b);
    }
    /* Whoever was waiting for the old one is told of the new one. */
    fr_keep_release(&a);
    assert_int_equal(hold(&b, false, false), FR_ERR_USAGE);
    fr_keep_release(&b);
    assert_true(fr_file_holds(path));
    assert_int_equal(hold(&b, true, false), FR_OK);
    fr_keep_release(&b);
    unlink(path);
}

/* The same command may be asked to go on with a file that another replaces meanwhile.  Who takes the new one first
 * has it, the other is refused. */
static void taken_while_it_was_replaced(void **state) {
    struct fr_keep a, b;
    struct fr_error err = {.status = FR_OK};
    (void)state;
    assert_int_equal(hold(&a, false, false), FR_OK);
    write_it();
    assert_int_equal(hold(&b, true, false), FR_OK);
    assert_int_equal(fr_keep_hold_again(&a, &err), FR_ERR_IO);
    fr_keep_release(&a);
    assert_true(fr_file_holds(path));
    fr_keep_release(&b);
    unlink(path);
}

static void an_empty_file_goes(void **state) {
    struct fr_keep a;
    (void)state;
    unlink(path);
    assert_int_equal(hold(&a, false, false), FR_OK);
    assert_true(fr_file_exists(path));
    fr_keep_release(&a);
    assert_false(fr_file_exists(path));
    assert_int_equal(hold(&a, false, false), FR_OK);
    write_it();
    assert_int_equal(fr_keep_hold_again(&a, NULL), FR_OK);
    fr_keep_release(&a);
    assert_true(fr_file_holds(path));
    unlink(path);
}

static void death_lets_go(void **state) {
    struct fr_keep a;
    int pipes[2], ended = 0;
    char byte;
    (void)state;
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        fr_status held = fr_keep_hold(path, false, false, &a, NULL);
        (void)!write(pipes[1], held == FR_OK ? "y" : "n", 1);
        for (;;) pause();
    }
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    assert_int_equal(hold(&a, false, false), FR_ERR_IO);
    /* The sentence names it. */
    struct fr_error err = {.status = FR_OK};
    char wanted[120], host[65] = "";
    gethostname(host, sizeof host - 1);
    snprintf(wanted, sizeof wanted, "process %d on host %s;", (int)child, host);
    assert_int_equal(fr_keep_take(path, &a, &err), FR_ERR_IO);
    if (!strstr(err.detail, wanted)) fail_msg("%s; wanted %s", err.detail, wanted);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(hold(&a, false, false), FR_OK);
    fr_keep_release(&a);
    close(pipes[0]);
    close(pipes[1]);
}

/* The job that a command started appends to what the command holds; another job may not. */
static void one_job_appends(void **state) {
    struct fr_keep a;
    struct fr_error err = {.status = FR_OK};
    (void)state;
    assert_int_equal(hold(&a, false, false), FR_OK);
    int one = open(path, O_RDWR | O_APPEND), two = open(path, O_RDWR | O_APPEND);
    assert_true(one >= 0 && two >= 0);
    assert_int_equal(fr_keep_append(one, path, 0, &err), FR_OK);
    assert_int_equal(fr_keep_append(two, path, 0.1, &err), FR_ERR_IO);
    close(one);
    assert_int_equal(fr_keep_append(two, path, 0, &err), FR_OK);
    close(two);
    fr_keep_release(&a);
}

static void what_cannot_be_written(void **state) {
    struct fr_keep a;
    struct fr_error err = {.status = FR_OK};
    (void)state;
    assert_int_equal(fr_keep_hold("/tmp/no/such/folder/x", false, false, &a, &err), FR_ERR_IO);
    fr_keep_release(&a);
    assert_int_equal(fr_keep_hold("/dev/null", false, false, &a, &err), FR_OK);
    fr_keep_release(&a);
    assert_true(fr_file_exists("/dev/null"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_command_at_a_time),
                                       cmocka_unit_test(a_replaced_file_is_held_again),
                                       cmocka_unit_test(taken_while_it_was_replaced),
                                       cmocka_unit_test(an_empty_file_goes),
                                       cmocka_unit_test(death_lets_go),
                                       cmocka_unit_test(one_job_appends),
                                       cmocka_unit_test(what_cannot_be_written)};
    int fd = mkstemp(path);
    if (fd < 0) return 1;
    close(fd);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
