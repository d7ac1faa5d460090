/* The price of an interrupted plan (models/outcome/resolve.h) is held against a step drawn interruption by
 * interruption: ranks of a layer meet four times in it and wait for the one that was interrupted most often, replicas
 * meet once a step.  Poisson numbers of GSL's generator. */
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>

#include "models/outcome/cost.h"
#include "tests/cmocka.h"
#include "tests/job.h"

enum { MEETINGS_OF_LAYER = 4 };

struct drawn {
    double share, error; /* mean, and its standard deviation */
};

static struct drawn draw(gsl_rng *random, int tp, int dp, int chunks, double chunk_s,
                         double every_s, double length_s, int steps) {
    double sum = 0, squares = 0;
    for (int step = 0; step < steps; step++) {
        unsigned slowest = 0;
        for (int replica = 0; replica < dp; replica++) {
            unsigned lost = 0;
            for (int chunk = 0; chunk < chunks; chunk++) {
                unsigned most = 0;
                for (int rank = 0; rank < tp; rank++) {
                    unsigned n = gsl_ran_poisson(random, chunk_s / every_s);
                    most = n > most ? n : most;
                }
                lost += most;
            }
            slowest = lost > slowest ? lost : slowest;
        }
        double share = slowest * length_s / (chunks * chunk_s);
        sum += share;
        squares += share * share;
    }
    double mean = sum / steps;
    return (struct drawn){mean, sqrt(fmax(0, squares / steps - mean * mean) / steps)};
}

static double compute_s(const char *tp, const char *dp, const char *interruptions,
                        int *layers) {
    const char *sets[] = {tp, dp, "global_batch=64", interruptions, NULL};
    struct fr_job job;
    struct fr_outcome out;
    fr_test_job("frontier", "ffn-4096", sets, &job);
    fr_cost(&job, &job.plan, &out);
    *layers = 0;
    for (int i = 0; i < job.workload.n_layers; i++)
        *layers += (int)job.workload.layers[i].repeat;
    fr_job_free(&job);
    return out.part_s[FR_PART_COMPUTE];
}

/* Rare, as many as chunks, and many in a chunk; alone, over a layer, over replicas, where the law is
 * exact (within four deviations of the drawing), and over both (within a tenth). */
static void shares_agree_with_drawing(void **state) {
    static const int shapes[][2] = {{1, 1}, {4, 1}, {8, 1}, {1, 8}, {4, 4}};
    static const double per_chunk[] = {0.02, 1, 20};
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    (void)state;
    assert_non_null(random);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t i = 0; i < sizeof per_chunk / sizeof *per_chunk; i++) {
            int tp = shapes[s][0], dp = shapes[s][1], layers = 0;
            char tp_set[16], dp_set[16], set[160];
            snprintf(tp_set, sizeof tp_set, "tp=%d", tp);
            snprintf(dp_set, sizeof dp_set, "dp=%d", dp);
            double quiet_s = compute_s(tp_set, dp_set, NULL, &layers);
            int chunks = tp > 1 ? MEETINGS_OF_LAYER * layers : 1;
            double chunk_s = quiet_s / chunks, every_s = chunk_s / per_chunk[i],
                   length_s = 0.1 * every_s;
            snprintf(
                set, sizeof set,
                "cluster.device.interruptions={\"every\": \"%.17g s\", \"length\": \"%.17g "
                "s\"}",
                every_s, length_s);
            double share = compute_s(tp_set, dp_set, set, &layers) / quiet_s - 1;
            struct drawn d =
                draw(random, tp, dp, chunks, chunk_s, every_s, length_s, 8000 / (tp * dp));
            double allowed = 4 * d.error + 1e-6 + (tp > 1 && dp > 1 ? 0.1 * d.share : 0);
            if (!(fabs(share - d.share) <= allowed))
                fail_msg("tp %d, dp %d, %g a chunk: %g, drawn %g +- %g", tp, dp, per_chunk[i],
                         share, d.share, d.error);
        }
    gsl_rng_free(random);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(shares_agree_with_drawing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
