/* forerun place: the counts and lines that it prints. */
#include "tests/app/command.h"

static void prints_counts(void **state) {
    (void)state;
    fr_test_expect(
        "forerun place --cluster lassen --ranks 16 --ways 8 --placement linear --json", 0,
        "\"intra_node\": 32", NULL);
    fr_test_expect("forerun place --cluster lassen --ranks 16 --ways 8 --placement linear", 0,
                   "as printed                  16 intra        112 inter", NULL);
    fr_test_expect("forerun place --cluster lassen --ranks 16 --ways 4 --json", 0,
                   "\"placement\": \"optimised\"", NULL);
    fr_test_expect("forerun place --cluster lassen --ranks 6 --ranks-per-node 3 --ways 2 "
                   "--placement round-robin --json",
                   0, "\"applies\": false", NULL);
}

static void prices_a_model(void **state) {
    (void)state;
    fr_test_expect(
        "forerun place --cluster lassen --ranks 16 --ways 4 --model transformer-base "
        "--json",
        0, "\"iteration_time_s\": 0.", NULL);
    fr_test_expect(
        "forerun place --cluster lassen --ranks 16 --ways 4 --model transformer-base "
        "--emit slurm",
        0, "--distribution=cyclic", NULL);
}

static void emits(void **state) {
    (void)state;
    fr_test_expect("forerun place --cluster lassen --ranks 16 --ways 4 --placement round-robin "
                   "--emit slurm",
                   0, "--distribution=cyclic", NULL);
    fr_test_expect(
        "forerun place --cluster lassen --ranks 16 --ways 4 --placement linear --emit "
        "slurm",
        0, "--distribution=block", NULL);
    fr_test_expect("forerun place --cluster lassen --ranks 16 --ways 2 --placement by-axis:tp "
                   "--emit slurm",
                   0, "--distribution=plane=2", NULL);
    fr_test_expect("forerun place --cluster lassen --ranks 12 --ways 3 --placement by-axis:tp "
                   "--emit slurm",
                   0, "--distribution=arbitrary", NULL);
    fr_test_expect("forerun place --cluster lassen --ranks 8 --ways 4 --placement by-axis:tp "
                   "--emit rankfile",
                   0, "rank 3=+n1 slot=1", NULL);
}

static void refuses(void **state) {
    (void)state;
    fr_test_expect("forerun place --cluster lassen --ranks 8 --ways 3", 2, NULL,
                   "does not divide");
    fr_test_expect("forerun place --cluster lassen --ranks 8", 2, NULL, "--ways is required");
    fr_test_expect("forerun place --cluster lassen --ranks 8 --ways 2 --placement ronud-robin",
                   3, NULL, "did you mean \"round-robin\"");
    fr_test_expect("forerun place --cluster lassen --ranks 999999 --ways 1", 3, NULL,
                   "the cluster holds");
    fr_test_expect(
        "forerun place --cluster lassen --ranks 8 --ways 2 --placement file:/nowhere", 3, NULL,
        "/nowhere");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_counts),
        cmocka_unit_test(prices_a_model),
        cmocka_unit_test(emits),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
