/* Interruptions cost ranks that wait for each other this much. */
#include "models/device/interruptions.h"

#include <math.h>

#include "models/outcome/cost.h"
#include "models/outcome/resolve.h"
#include "tests/cmocka.h"
#include "tests/job.h"

static void near_to(double got, double want, double tolerance) {
    if (!(fabs(got - want) <= tolerance)) fail_msg("got %.12g, wanted %.12g", got, want);
}

static double uniform(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*state >> 11) + 0.5) * 0x1p-53;
}

static int poisson(double mean, uint64_t *state) {
    int n = 0;
    for (double at = -log(uniform(state)); at < mean; at -= log(uniform(state))) n++;
    return n;
}

/* Mean of the largest of p numbers drawn, many times. */
static double drawn_max(double mean, int p, uint64_t *state) {
    enum { DRAWS = 20000 };
    double sum = 0;
    for (int i = 0; i < DRAWS; i++) {
        int most = 0;
        for (int r = 0; r < p; r++) {
            int n = poisson(mean, state);
            most = n > most ? n : most;
        }
        sum += most;
    }
    return sum / DRAWS;
}

static void the_largest_of_many_agrees_with_drawing(void **state) {
    static const double means[] = {0.01, 0.3, 2, 40};
    uint64_t random = 3;
    (void)state;
    for (int i = 0; i < 4; i++)
        for (int p = 1; p <= 64; p *= 8) {
            double want = drawn_max(means[i], p, &random), got = fr_poisson_max(means[i], p);
            double sd = sqrt(fmax(want, 0.01) / 20000) * 4;
            if (!(fabs(got - want) < sd + 1e-3 * want))
                fail_msg("mean %g, p %d: %g, drawn %g", means[i], p, got, want);
        }
}

/* One rank has its own; rare interruptions are everyone's; long chunks have the mean; more ranks
 * never wait less; it does not jump where the sum ends. */
static void shares_keep_their_limits(void **state) {
    const struct fr_interruptions i = {.every_s = 0.05, .length_s = 1e-3};
    (void)state;
    near_to(fr_interruptions_share(&i, 1, 3), 0.02, 1e-12);
    near_to(fr_interruptions_share(&i, 8, 1e-7), 0.16, 1e-5);
    near_to(fr_interruptions_share(&i, 8, 0), 0.16, 1e-12);
    assert_true(fr_interruptions_share(&i, 8, 1e6) < 0.0201);
    near_to(fr_poisson_max(1000.001, 8) / fr_poisson_max(999.999, 8), 1, 1e-5);
    double before = 0;
    for (double p = 1; p < 1e6; p *= 4) {
        double share = fr_interruptions_share(&i, p, 0.01);
        assert_true(share >= before - 1e-12);
        before = share;
    }
    assert_true(fr_interruptions_share(&(struct fr_interruptions){0}, 8, 1) == 0);
}

/* On one rank a step is longer by what is lost; on eight that meet all the time by eight times that; nothing but
 * computing is lengthened; and without interruptions not even that. */
static void steps_are_lengthened(void **state) {
    static const char RARE[] =
        "cluster.device.interruptions={\"every\": \"1000 s\", \"length\": \"10 s\"}";
    static const char USUAL[] = "cluster.device.usual={\"products\": 1.2, \"memory\": 1.2}";
    (void)state;
    for (int ranks = 1; ranks <= 8; ranks *= 8) {
        const char *tp = ranks == 1 ? "tp=1" : "tp=8";
        const char *sets[4][6] = {{tp, NULL},
                                  {tp, RARE, NULL},
                                  {tp, RARE, USUAL, NULL},
                                  {tp, RARE, USUAL, "cluster.device.undisturbed=true", NULL}};
        const double want[] = {1, 1 + 0.01 * ranks, 1.2 * (1 + 0.01 * ranks), 1};
        double quiet_s = 0, rest_s = 0;
        for (int i = 0; i < 4; i++) {
            struct fr_job job;
            struct fr_outcome out;
            fr_test_job("frontier", "ffn-4096", sets[i], &job);
            fr_cost(&job, &job.plan, &out);
            double compute_s = out.part_s[FR_PART_COMPUTE];
            if (i == 0) quiet_s = compute_s, rest_s = out.time_s - compute_s;
            near_to(compute_s / quiet_s, want[i], 1e-4);
            near_to(out.time_s - compute_s, rest_s, 1e-9 * out.time_s);
            fr_job_free(&job);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_of_many_agrees_with_drawing),
        cmocka_unit_test(shares_keep_their_limits),
        cmocka_unit_test(steps_are_lengthened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
