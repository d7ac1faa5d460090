/* Iterations to the loss: given, shared by exact methods, interpolated, unknown. */
#include "models/iterations.h"
#include "models/method.h"
#include "tests/job.h"

#include <stdlib.h>
#include <unistd.h>

static fr_iterations_origin find(const struct fr_job *job, const struct fr_method *m,
                                 int64_t tp, int64_t k, double *nu) {
    return fr_iterations_find(&job->workload, m, tp, k, nu);
}

static void table1(void **state) {
    (void)state;
    struct fr_job job;
    double nu = 0;
    fr_test_job("frontier", "ffn-16384", NULL, &job);
    assert_int_equal(find(&job, &fr_method_phantom, 8, 16, &nu), FR_ITERATIONS_GIVEN);
    FR_NEAR(nu, 157, 0);
    assert_int_equal(find(&job, &fr_method_tensor, 99, 0, &nu), FR_ITERATIONS_GIVEN);
    FR_NEAR(nu, 453, 0);
    assert_int_equal(find(&job, &fr_method_grid, 7, 0, &nu),
                     FR_ITERATIONS_GIVEN); /* exact, like tensor */
    FR_NEAR(nu, 453, 0);
    /* k = 4 is known at 32 (267) and 256 (232): at 64, a third of the way in log2 p. */
    assert_int_equal(find(&job, &fr_method_phantom, 64, 4, &nu), FR_ITERATIONS_INTERPOLATED);
    FR_NEAR(nu, 267 * pow(232.0 / 267, 1.0 / 3), 1e-12);
    assert_int_equal(find(&job, &fr_method_phantom, 8, 4, &nu),
                     FR_ITERATIONS_UNKNOWN); /* outside */
    assert_int_equal(find(&job, &fr_method_phantom, 512, 4, &nu),
                     FR_ITERATIONS_UNKNOWN); /* outside */
    fr_job_free(&job);
}

static void along_ghost_at_one_p(void **state) {
    (void)state;
    const char *sets[] = {
        "model.iterations=[{\"method\": \"phantom\", \"tp\": 8, \"ghost\": 4, \"iterations\": "
        "400},"
        "{\"method\": \"phantom\", \"tp\": 8, \"ghost\": 16, \"iterations\": 100}]",
        NULL};
    struct fr_job job;
    double nu = 0;
    fr_test_job("frontier", "ffn-16384", sets, &job);
    assert_int_equal(find(&job, &fr_method_phantom, 8, 8, &nu), FR_ITERATIONS_INTERPOLATED);
    FR_NEAR(nu, 200, 1e-12);
    assert_int_equal(find(&job, &fr_method_tensor, 8, 0, &nu), FR_ITERATIONS_UNKNOWN);
    fr_job_free(&job);
}

static void one_number_is_for_all(void **state) {
    (void)state;
    const char *sets[] = {"model.iterations=1000", NULL};
    struct fr_job job;
    double nu = 0;
    fr_test_job("frontier", "ffn-16384", sets, &job);
    assert_int_equal(find(&job, &fr_method_phantom, 3, 7, &nu), FR_ITERATIONS_GIVEN);
    FR_NEAR(nu, 1000, 0);
    fr_job_free(&job);
}

static void from_a_file(void **state) {
    (void)state;
    char path[] = "/tmp/forerun-nu-XXXXXX", set[96];
    int fd = mkstemp(path);
    const char *text = "{\"source\": \"a test\", \"table\": [{\"method\": \"phantom\", "
                       "\"ghost\": 3, \"iterations\": 77}]}";
    struct fr_job job;
    double nu = 0;
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    snprintf(set, sizeof set, "model.iterations=%s", path);
    const char *sets[] = {set, NULL};
    fr_test_job("frontier", "ffn-16384", sets, &job);
    assert_int_equal(find(&job, &fr_method_phantom, 12, 3, &nu), FR_ITERATIONS_GIVEN);
    FR_NEAR(nu, 77, 0);
    fr_job_free(&job);
    unlink(path);
    struct fr_error err = fr_test_refused("frontier", "ffn-16384", set);
    assert_int_equal(err.status, FR_ERR_INPUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table1), cmocka_unit_test(along_ghost_at_one_p),
        cmocka_unit_test(one_number_is_for_all), cmocka_unit_test(from_a_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
