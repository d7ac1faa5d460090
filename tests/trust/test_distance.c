/* Distance from known runs: what differs adds, many runs narrow to their own error, and nothing farther is surer. */
#include "trust/distance.h"

#include <math.h>
#include <string.h>

#include "tests/cmocka.h"
#include "trust/numbers/statistics.h"

static const struct fr_distance_sizes sizes = {
    8, 1, {0.1, 0.05, 0.1, 0.02, 0.05, 0.1, 0.03, 0.02}};

static const struct fr_sighting seen = {
    "a paper", "hopper", "H100", "nemo-25.04", "dense", "fp8", 4096, 8192, 8, 1024, 1000, 0.25};

static double half(const struct fr_sighting *question) {
    const struct fr_distance from = fr_distance_of(&seen, question);
    return fr_distance_half(&sizes, &from, 1, 0.2, NULL);
}

static struct fr_sighting question(void) {
    struct fr_sighting q = seen;
    q.sequence_low = q.sequence_high = 4096;
    q.ranks_low = q.ranks_high = 64;
    return q;
}

/* Without runs the width stays; a thousand plans a quarter of it off leave 2.06 times that quarter. */
static void runs_narrow(void **state) {
    const struct fr_sighting q = question();
    (void)state;
    assert_true(fr_distance_half(&sizes, NULL, 0, 0.2, NULL) == 0.2);
    double wanted = 0.2 * (8 * 1 + 1000 * 2.06 * 0.25) / 1008;
    if (fabs(half(&q) / wanted - 1) > 1e-9) fail_msg("got %g, wanted %g", half(&q), wanted);
}

/* Each difference alone adds its square; NeMo's containers hold Megatron-Bridge. */
static void differences_add(void **state) {
    const struct fr_sighting like = question();
    struct fr_sighting q[FR_DISTANCE_COUNT];
    double times[FR_DISTANCE_COUNT] = {1, 1, 1, 1, 1, 1, 3, 2};
    (void)state;
    for (int k = 0; k < FR_DISTANCE_COUNT; k++) q[k] = like;
    q[FR_DISTANCE_GENERATION].generation = "ampere";
    q[FR_DISTANCE_GENERATION].device = "A100";
    q[FR_DISTANCE_DEVICE].device = "H200";
    q[FR_DISTANCE_FRAMEWORK].runtime = "torchtitan-2025";
    q[FR_DISTANCE_RELEASE].runtime = "megatron-bridge-25.09";
    q[FR_DISTANCE_KIND].kind = "mixture";
    q[FR_DISTANCE_DTYPE].dtype = "bf16";
    q[FR_DISTANCE_SEQUENCE].sequence_low = 65536;
    q[FR_DISTANCE_RANKS].ranks_low = 4096;
    for (int k = 0; k < FR_DISTANCE_COUNT; k++) {
        double squared = times[k] * pow(sizes.sd[k], 2);
        if (k == FR_DISTANCE_GENERATION) squared += pow(sizes.sd[FR_DISTANCE_DEVICE], 2);
        if (k == FR_DISTANCE_FRAMEWORK) squared += pow(sizes.sd[FR_DISTANCE_RELEASE], 2);
        double wanted = hypot(half(&like), FR_NORMAL_90 * sqrt(squared));
        if (fabs(half(&q[k]) / wanted - 1) > 1e-9)
            fail_msg("distance %d: got %g, wanted %g", k, half(&q[k]), wanted);
    }
}

/* The shipped numbers: a doubling more of ranks or of the sequence never narrows. */
static void farther_is_never_surer(void **state) {
    (void)state;
    for (int i = 0; i < fr_sighting_count; i++) {
        struct fr_sighting q = fr_sightings[i];
        const struct fr_distance_sizes *usual = &fr_distance_usual;
        q.ranks_low = q.ranks_high;
        q.sequence_low = q.sequence_high;
        for (double before = 0; q.ranks_low < 1e6; q.ranks_low *= 2, q.sequence_low *= 2) {
            const struct fr_distance from = fr_distance_of(&fr_sightings[i], &q);
            double here = fr_distance_half(usual, &from, 1, 0.15, NULL);
            if (here < before)
                fail_msg("%s on %s: %g after %g", q.source, q.device, here, before);
            before = here;
        }
    }
}

/* Who states a recipe knows more than who names a release, and that one more than nobody. */
static void unstated_recipes_widen(void **state) {
    (void)state;
    assert_true(fr_distance_recipe(FR_RECIPE_STATED) == 0);
    assert_true(fr_distance_recipe(FR_RECIPE_OF_RELEASE) > 0);
    assert_true(fr_distance_recipe(FR_RECIPE_UNKNOWN) >
                fr_distance_recipe(FR_RECIPE_OF_RELEASE));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unstated_recipes_widen), cmocka_unit_test(runs_narrow),
        cmocka_unit_test(differences_add), cmocka_unit_test(farther_is_never_surer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
