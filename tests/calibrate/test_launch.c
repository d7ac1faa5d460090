#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "calibrate/measure/calibrate.h"
#include "calibrate/measure/leash.h"
#include "calibrate/measure/watch/wire.h"

static const char *const none[] = {NULL};

static fr_status launch(const char *launcher, const char *program, const char *const *words,
                        struct fr_error *err) {
    const struct fr_launch_options options = {
        .n_ranks = 2, .launcher = launcher, .program = program};
    return fr_launch_mpi(&options, words, err);
}

static void exit_codes_are_translated(void **state) {
    (void)state;
    static const struct {
        const char *script;
        fr_status wanted;
    } cases[] = {{"exit 0", FR_OK},
                 {"exit 1", FR_ERR_EXTERNAL},
                 {"exit 2", FR_ERR_USAGE},
                 {"exit 5", FR_ERR_PARTIAL},
                 {"exit 9", FR_ERR_EXTERNAL},
                 {"exit 137", FR_ERR_PARTIAL},
                 {"kill -9 $$", FR_ERR_PARTIAL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *words[] = {"-c", cases[i].script, NULL};
        struct fr_error err = {.status = FR_OK};
        /* "env" as launcher runs the program itself. */
        fr_status got = launch("env", "/bin/sh", words, &err);
        if (got != cases[i].wanted)
            fail_msg("%s: got %d (%s), wanted %d", cases[i].script, (int)got, err.detail,
                     (int)cases[i].wanted);
    }
}

static void no_shell_sees_the_words(void **state) {
    (void)state;
    const char *words[] = {"-c",        "test \"$1\" = '; exit 7' -a \"$2\" = 'two words'",
                           "sh",        "; exit 7",
                           "two words", NULL};
    struct fr_error err = {.status = FR_OK};
    if (launch("env  A=b", "/bin/sh", words, &err) != FR_OK) fail_msg("%s", err.detail);
}

static void blas_gets_one_thread(void **state) {
    (void)state;
    const char *words[] = {"-c", "test \"$OPENBLAS_NUM_THREADS\" = 1", NULL};
    struct fr_error err = {.status = FR_OK};
    setenv("OPENBLAS_NUM_THREADS", "4", 1);
    assert_int_equal(launch("env", "/bin/sh", words, &err), FR_OK);
    assert_string_equal(getenv("OPENBLAS_NUM_THREADS"), "4");
}

static void what_is_missing_is_named(void **state) {
    (void)state;
    struct fr_error err = {.status = FR_OK};
    assert_int_equal(launch("env", "/no-such-folder/forerun-mpi", none, &err), FR_ERR_EXTERNAL);
    assert_non_null(strstr(err.where, "/no-such-folder/forerun-mpi"));
    assert_int_equal(launch("/no-such-folder/srun -n 4", "/bin/sh", none, &err),
                     FR_ERR_EXTERNAL);
    assert_non_null(strstr(err.where, "/no-such-folder/srun"));
    assert_int_equal(launch("  ", "/bin/sh", none, &err), FR_ERR_USAGE);
}

static void a_missing_mpirun_names_its_package(void **state) {
    (void)state;
    struct fr_error err = {.status = FR_OK};
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/no-such-folder", 1);
    fr_status status = launch(NULL, "/bin/sh", none, &err);
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(status, FR_ERR_EXTERNAL);
    assert_non_null(strstr(err.detail, "apt-get install openmpi-bin"));
}

static void ranks_of_a_job_know_it(void **state) {
    (void)state;
    static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
    assert_false(fr_launch_inside_mpi());
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        setenv(marks[i], "2", 1);
        assert_true(fr_launch_inside_mpi());
        unsetenv(marks[i]);
    }
    setenv("SLURM_PROCID", "0", 1);
    setenv("SLURM_STEP_NUM_TASKS", "1", 1);
    assert_false(fr_launch_inside_mpi());
    setenv("SLURM_STEP_NUM_TASKS", "4", 1);
    assert_true(fr_launch_inside_mpi());
    unsetenv("SLURM_PROCID");
    unsetenv("SLURM_STEP_NUM_TASKS");
    assert_false(fr_launch_inside_mpi());
}

static void unwritable_samples_are_refused_first(void **state) {
    (void)state;
    const struct fr_calibrate_options options = {
        .launch = {.n_ranks = 2, .launcher = "/no-such-folder"},
        .samples = "/no-such-folder/s.jsonl"};
    struct fr_error err = {.status = FR_OK};
    assert_int_equal(fr_calibrate_run(&options, &err), FR_ERR_IO);
}

/* ---- a job's beginning and end --------------------------------------------------------------- */

static fr_status start_within(const char *script, double start_s, struct fr_error *err) {
    char file[] = "/tmp/forerun-launch-XXXXXX";
    int fd = mkstemp(file);
    const char *words[] = {"-c", script, "sh", file, NULL};
    const struct fr_launch_options options = {.n_ranks = 2,
                                              .launcher = "env",
                                              .program = "/bin/sh",
                                              .begins = file,
                                              .start_s = start_s};
    fr_status status = fr_launch_mpi(&options, words, err);
    close(fd);
    unlink(file);
    return status;
}

/* A job that hangs before it measures anything is ended; one that has begun may take its time. */
static void patience_covers_the_start(void **state) {
    (void)state;
    struct fr_error err = {.status = FR_OK};
    double start_s = fr_now_s();
    assert_int_equal(start_within("exec sleep 60", 0.3, &err), FR_ERR_EXTERNAL);
    assert_true(fr_now_s() - start_s < 20);
    assert_non_null(strstr(err.detail, "--patience"));
    if (start_within("echo begun >\"$1\"; sleep 3", 2.5, &err) != FR_OK)
        fail_msg("%s", err.detail);
    if (start_within("exit 0", 5, &err) != FR_OK) fail_msg("%s", err.detail);
}

static void a_leash_holds_while_its_process_lives(void **state) {
    (void)state;
    char own[FR_LEASH_B], other[FR_LEASH_B];
    fr_leash_make(own);
    assert_true(*own && fr_leash_holds(own));
    assert_true(fr_leash_holds(NULL) && fr_leash_holds("") && fr_leash_holds("no leash"));
    int stated[2];
    assert_int_equal(pipe(stated), 0);
    pid_t child = fork();
    if (child == 0) {
        fr_leash_make(other);
        _exit(write(stated[1], other, sizeof other) < 0);
    }
    assert_int_equal(read(stated[0], other, sizeof other), sizeof other);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(fr_leash_holds(other));
    /* An id that another process has now, and one of another machine. */
    long pid;
    long long ticks;
    char rest[FR_LEASH_B], changed[2 * FR_LEASH_B];
    assert_int_equal(sscanf(own, "%ld %lld %191[^\n]", &pid, &ticks, rest), 3);
    snprintf(changed, sizeof changed, "%ld %lld %s", pid, ticks + 1, rest);
    assert_false(fr_leash_holds(changed));
    snprintf(changed, sizeof changed, "%ld %lld elsewhere pid:[1]", pid, ticks + 1);
    assert_true(fr_leash_holds(changed));
    close(stated[0]);
    close(stated[1]);
}

static long read_number(const char *path) {
    long number = 0;
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%ld", &number) != 1) number = 0;
    if (file) fclose(file);
    return number;
}

/* kill -9 of the starter: nobody can hand anything on, and the job still ends. */
static void a_killed_starter_takes_the_job_along(void **state) {
    (void)state;
    char file[] = "/tmp/forerun-launch-XXXXXX", path[64];
    int fd = mkstemp(file);
    pid_t starter = fork();
    if (starter == 0) {
        const char *words[] = {"-c", "echo $$ >\"$1\"; exec sleep 60", "sh", file, NULL};
        _exit(launch("env", "/bin/sh", words, NULL));
    }
    long job = 0;
    double start_s = fr_now_s();
    while ((job = read_number(file)) == 0 && fr_now_s() - start_s < 20) usleep(10000);
    assert_true(job > 0);
    kill(starter, SIGKILL);
    waitpid(starter, NULL, 0);
    snprintf(path, sizeof path, "/proc/%ld/exe", job);
    start_s = fr_now_s();
    while (access(path, R_OK) == 0 && fr_now_s() - start_s < 20) usleep(10000);
    assert_true(fr_now_s() - start_s < 20);
    close(fd);
    unlink(file);
}

/* Run @p script, which finds its file's name in $1; what it left there into @p left. */
static fr_status stated(const char *script, bool begins, double limit_s, char left[40],
                        struct fr_error *err) {
    char file[] = "/tmp/forerun-launch-XXXXXX";
    int fd = mkstemp(file);
    const char *words[] = {"-c", script, "sh", file, NULL};
    const struct fr_launch_options options = {.n_ranks = 2,
                                              .launcher = "env",
                                              .program = "/bin/sh",
                                              .begins = begins ? file : NULL,
                                              .patience_s = 60,
                                              .limit_s = limit_s};
    fr_status status = fr_launch_mpi(&options, words, err);
    ssize_t n = pread(fd, left, 39, 0);
    left[n > 0 ? n : 0] = '\0';
    close(fd);
    unlink(file);
    return status;
}

/* A signal to the starter is passed on to the job.  A job that has begun to save receives it.  A job that does not
 * react is ended as launchers are, and so is one that has nothing to save yet. */
static void signals_are_handed_on(void **state) {
    (void)state;
    static const char *const signals[] = {"INT", "TERM", "HUP", "USR1"};
    static const struct {
        bool begins;
        const char *script, *left;
    } cases[] = {
        {true,
         "trap 'echo saved >\"$1\"; exit 5' USR1; echo begun >\"$1\"; sleep 0.3; kill -%s "
         "$PPID; "
         "while :; do sleep 0.05; done",
         "saved\n"},
        {true,
         "trap '' USR1; trap 'echo ended >\"$1\"; exit 5' TERM; echo begun >\"$1\"; sleep 0.3; "
         "kill -%s $PPID; while :; do sleep 0.05; done",
         "ended\n"},
        {true,
         "trap 'echo ended >\"$1\"; exit 5' TERM; kill -%s $PPID; while :; do sleep 0.05; done",
         "ended\n"},
        {false,
         "trap 'echo ended >\"$1\"; exit 5' TERM; kill -%s $PPID; while :; do sleep 0.05; done",
         "ended\n"}};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            char script[240], left[40];
            struct fr_error err = {.status = FR_OK};
            snprintf(script, sizeof script, cases[k].script, signals[i]);
            fr_status status = stated(script, cases[k].begins, 0, left, &err);
            if (status != FR_ERR_PARTIAL || strcmp(left, cases[k].left) != 0)
                fail_msg("SIG%s, %s: got %d, \"%s\"", signals[i], script, (int)status, left);
            assert_true(fr_launch_was_stopped());
            assert_non_null(strstr(err.detail, "stopped as asked"));
        }
}

static void a_job_beyond_its_time_is_ended(void **state) {
    (void)state;
    struct fr_error err = {.status = FR_OK};
    char left[40];
    double start_s = fr_now_s();
    assert_int_equal(
        stated("trap 'echo ended >\"$1\"; exit 0' TERM; while :; do sleep 0.05; done", false,
               0.5, left, &err),
        FR_ERR_PARTIAL);
    assert_string_equal(left, "ended\n");
    assert_non_null(strstr(err.detail, "its time was over"));
    assert_false(fr_launch_was_stopped());
    assert_true(fr_now_s() - start_s > 0.5 && fr_now_s() - start_s < 20);
    assert_int_equal(stated("exit 0", false, 5, left, &err), FR_OK);
}

/* Under nohup a terminal that goes away ends neither. */
static void an_ignored_hangup_stays_ignored(void **state) {
    (void)state;
    const char *words[] = {"-c", "kill -HUP $PPID; kill -HUP $$; sleep 0.2; exit 0", NULL};
    struct fr_error err = {.status = FR_OK};
    signal(SIGHUP, SIG_IGN);
    fr_status status = launch("env", "/bin/sh", words, &err);
    signal(SIGHUP, SIG_DFL);
    assert_int_equal(status, FR_OK);
    assert_false(fr_launch_was_stopped());
}

/* A launcher and its one rank in one process, which does not end by itself, nor on a signal: as mpirun may, once a
 * rank has died. */
static int hang(const char *how) {
    struct fr_watch_word word = {
        .rank = 3, .n_ranks = 4, .pid = 77, .host = "node7", .point = 1};
    struct fr_wire wire;
    const char *address = getenv(FR_WATCH_VARIABLE);
    signal(SIGTERM, SIG_IGN);
    if (!address || !fr_wire_connect(address, true, &word, &wire)) return 1;
    bool stops = strcmp(how, "stops") == 0, rank = !stops || fork() == 0;
    for (int i = 0; rank && i < (stops ? 30 : 4); i++, word.moves++, usleep(100000))
        fr_wire_say(&wire, &word);
    if (rank && stops) _exit(0);
    if (stops) raise(SIGSTOP);
    fr_wire_close(&wire);
    sleep(60);
    return 0;
}

static void a_launcher_that_hangs_is_ended(void **state) {
    (void)state;
    static const struct {
        const char *how, *message;
    } cases[] = {{"dies", "rank 3 on host node7 (process 77) has died"},
                 {"stops", " has been stopped for "}};
    static const char self[] = FR_BIN_DIR "/test_calibrate_launch";
    const double PATIENCE_S = 1, BEYOND_S = 5;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *words[] = {"hang", cases[i].how, NULL};
        const struct fr_launch_options options = {
            .n_ranks = 1, .launcher = "env", .program = self, .patience_s = PATIENCE_S};
        struct fr_error err = {.status = FR_OK};
        double start_s = fr_now_s();
        fr_status status = fr_launch_mpi(&options, words, &err);
        double took_s = fr_now_s() - start_s;
        if (status != FR_ERR_PARTIAL || !strstr(err.detail, cases[i].message))
            fail_msg("%s: got %d, %s", cases[i].how, (int)status, err.detail);
        /* Half a second of it the rank was well. */
        if (took_s < PATIENCE_S || took_s > PATIENCE_S + BEYOND_S + 30)
            fail_msg("%s: ended after %.2f s", cases[i].how, took_s);
    }
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "hang") == 0) return hang(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_codes_are_translated),
        cmocka_unit_test(no_shell_sees_the_words),
        cmocka_unit_test(blas_gets_one_thread),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(a_missing_mpirun_names_its_package),
        cmocka_unit_test(ranks_of_a_job_know_it),
        cmocka_unit_test(unwritable_samples_are_refused_first),
        cmocka_unit_test(patience_covers_the_start),
        cmocka_unit_test(signals_are_handed_on),
        cmocka_unit_test(a_launcher_that_hangs_is_ended),
        cmocka_unit_test(a_job_beyond_its_time_is_ended),
        cmocka_unit_test(an_ignored_hangup_stays_ignored),
        cmocka_unit_test(a_leash_holds_while_its_process_lives),
        cmocka_unit_test(a_killed_starter_takes_the_job_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
