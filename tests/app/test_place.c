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
        "--set method=subgraph --json",
        0, "\"iteration_time_s\": 0.", NULL);
    fr_test_expect(
        "forerun place --cluster lassen --ranks 16 --ways 4 --model transformer-base "
        "--set method=subgraph --emit slurm",
        0, "--distribution=cyclic", NULL);
}

#define MEGATRON                                                                               \
    "forerun place --cluster a100-hdr --model gpt-8.3b --set tp=8 --set pp=4 --set dp=4 "      \
    "--set "                                                                                   \
    "micro_batch=8 "

/* The plan's own method: each of the 16 tp groups of 8 stays in one of the 16 nodes. */
static void places_the_plans_method(void **state) {
    (void)state;
    fr_test_expect(MEGATRON "--emit slurm", 0,
                   "# method tensor: 128 ranks, tp 8 x pp 4 x dp 4, rank = tp + 8 pp + 32 dp; "
                   "placement linear\n#SBATCH --nodes=16\n#SBATCH --ntasks=128\n#SBATCH "
                   "--ntasks-per-node=8\n#SBATCH --distribution=block\n",
                   NULL);
    fr_test_expect(MEGATRON "--set rank_order=tp-dp-pp --ranks 128 --emit slurm", 0,
                   "rank = tp + 8 dp + 32 pp; placement linear", NULL);
    fr_test_expect(MEGATRON "--emit rankfile", 0, "rank 9=+n1 slot=1", NULL);
    fr_test_expect(MEGATRON "--placement linear", 0, "     16 /    16       0 /    32", NULL);
    fr_test_expect(MEGATRON "--placement by-axis:pp-tp-dp", 0,
                   "      0 /    16      32 /    32", NULL);
    fr_test_expect(MEGATRON "--set placement=by-axis:tp-dp-pp --emit slurm", 0,
                   "--distribution=arbitrary", NULL);
    fr_test_expect(MEGATRON "--placement linear --json", 0, "\"method\": \"tensor\"", NULL);
    fr_test_expect(MEGATRON "--ways 8 --emit slurm", 2, NULL, "--ways: is for method subgraph");
    fr_test_expect(MEGATRON "--ranks 64 --emit slurm", 2, NULL, "the plan has 128");
    fr_test_expect(MEGATRON "--set global_batch=6 --emit slurm", 4, NULL, "not divisible");
    fr_test_expect("forerun place --cluster a100-hdr --set method=tensor --ranks 8 --ways 4", 2,
                   NULL, "--model");
    fr_test_expect(
        "forerun place --cluster lassen --ranks 16 --ways 4 --model transformer-base "
        "--set method=subgraph --set tp=2",
        2, NULL, "the plan has tp = 2");
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
    fr_test_expect("forerun place --cluster lassen --ranks 8", 2, NULL, "is required to count");
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
        cmocka_unit_test(places_the_plans_method),
        cmocka_unit_test(emits),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
