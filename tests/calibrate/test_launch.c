#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "calibrate/calibrate.h"

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
    assert_int_equal(launch("env", "/nonexistent/forerun-mpi", none, &err), FR_ERR_EXTERNAL);
    assert_non_null(strstr(err.where, "/nonexistent/forerun-mpi"));
    assert_int_equal(launch("/nonexistent/srun -n 4", "/bin/sh", none, &err), FR_ERR_EXTERNAL);
    assert_non_null(strstr(err.where, "/nonexistent/srun"));
    assert_int_equal(launch("  ", "/bin/sh", none, &err), FR_ERR_USAGE);
}

static void a_missing_mpirun_names_its_package(void **state) {
    (void)state;
    struct fr_error err = {.status = FR_OK};
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nonexistent", 1);
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
}

static void unwritable_samples_are_refused_first(void **state) {
    (void)state;
    const struct fr_calibrate_options options = {
        .launch = {.n_ranks = 2, .launcher = "/nonexistent"},
        .samples = "/nonexistent/s.jsonl"};
    struct fr_error err = {.status = FR_OK};
    assert_int_equal(fr_calibrate_run(&options, &err), FR_ERR_IO);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_codes_are_translated),
        cmocka_unit_test(no_shell_sees_the_words),
        cmocka_unit_test(blas_gets_one_thread),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(a_missing_mpirun_names_its_package),
        cmocka_unit_test(ranks_of_a_job_know_it),
        cmocka_unit_test(unwritable_samples_are_refused_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
