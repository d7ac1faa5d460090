/* In a program that writes commas the library reads and writes numbers as JSON has them, and leaves the
 * program its commas. */
#include <locale.h>
#include <stdlib.h>

#include "library/include/forerun.h"
#include "tests/app/command.h"

static void commas(void **state) {
    static const char *const plan[] = {"cluster.device.fixed=14.7 ms", "tp=8", NULL};
    char folder[] = "/tmp/forerun-locale-XXXXXX", command[256], half[16];
    forerun_job *job = NULL;
    forerun_result *result = NULL;
    (void)state;
    struct output o =
        fr_test_run("forerun predict --json --cluster frontier --model ffn-16384 --set "
                    "cluster.device.fixed=14.7ms --set tp=8");
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command,
             "localedef --force -i %s/tests/library/comma.locale %s/comma >%s/log 2>&1",
             FR_SOURCE_DIR, folder, folder);
    bool made =
        system(command) >= 0; /* what it has to say of a locale so bare does not matter */
    setenv("LOCPATH", folder, 1);
    made = made && setlocale(LC_NUMERIC, "comma");
    forerun_status status = forerun_load("frontier", "ffn-16384", NULL, plan, &job, NULL);
    if (status == FORERUN_OK) status = forerun_predict(job, &result, NULL);
    snprintf(half, sizeof half, "%.1f", 0.5);
    setlocale(LC_NUMERIC, "C");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
    if (made) assert_string_equal(half, "0,5");
    assert_int_equal(status, FORERUN_OK);
    assert_string_equal(forerun_json(result), o.out);
    fr_test_output_free(&o);
    forerun_result_free(result);
    forerun_job_free(job);
    if (!made) skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(commas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
