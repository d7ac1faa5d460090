/* A training of p ranks in one process makes the steps that the MPI programs make: the losses of
 * the first steps are equal, for tensor and phantom, in fp64 to rounding. */
#include <stdlib.h>

#include "real/apps/random.h"
#include "real/apps/train.h"
#include "real/apps/whole_ffn.h"
#include "tests/apps_mpi/mpi_case.h"

enum { SEED = 7, STEPS = 12, WIDTH = 64, BATCH = 16 };

static void compare(const struct fr_real_app *app, int p, int ghost, const char *plan) {
    struct mpi_case c;
    struct fr_whole_ffn network;
    struct fr_error err = {.status = FR_OK};
    const struct fr_whole_ffn_options o = {.width = WIDTH,
                                           .layers = 2,
                                           .batch = BATCH,
                                           .p = p,
                                           .ghost = ghost,
                                           .dtype = FR_FP64,
                                           .optimizer_state_B = 8,
                                           .rate = 1e-3,
                                           .seed = SEED};
    char model[200];
    snprintf(model, sizeof model,
             "{\"kind\": \"ffn\", \"width\": %d, \"layers\": 2, \"global_batch\": %d, "
             "\"dtype\": \"fp64\", \"optimizer_state\": \"8 B\"}",
             WIDTH, BATCH);
    if (fr_whole_ffn_open(&o, &network, &err) != FR_OK) FAIL("network: %s", err.detail);
    if (mpi_case_open(&c, app, model, plan, SEED)) {
        double first = 0;
        for (int i = 0; i < STEPS; i++) {
            double want = fr_whole_ffn_step(&network), loss = 0, got = 0;
            if (fr_real_step(app, &c.real, &loss, &err) != FR_OK) FAIL("%s", err.detail);
            MPI_Allreduce(&loss, &got, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            if (!(fabs(got - want) <= 1e-9 * want))
                FAIL("%s, step %d: %.15g on %d ranks, %.15g in one process", app->name, i, got,
                     c.real.n_ranks, want);
            if (i == 0) first = got;
            if (i == STEPS - 1 && !(got < first)) FAIL("%s: the loss does not fall", app->name);
        }
    }
    fr_whole_ffn_close(&network);
    mpi_case_close(&c);
}

/* Against Box and Muller in double precision on the same bits, and as a sample. */
static void normal_numbers(void) {
    enum { N = 200000, SEED_OF = 3, STREAM = 5 };
    float *x = malloc(N * sizeof *x);
    double mean = 0, square = 0, fourth = 0, product = 0;
    int beyond_3 = 0;
    fr_stream_normal(SEED_OF, STREAM, N, x);
    for (int i = 0; i < N; i++) {
        mean += x[i];
        square += (double)x[i] * x[i];
        fourth += pow(x[i], 4);
        beyond_3 += fabsf(x[i]) > 3;
        if (i % 2) product += (double)x[i] * x[i - 1];
    }
    /* Deviations of these estimates: 0.0022, 0.0032, 0.022, 0.0032, 23; five of them allowed. */
    if (!(fabs(mean / N) < 0.011 && fabs(square / N - 1) < 0.016 &&
          fabs(fourth / N - 3) < 0.11 && fabs(product / N * 2) < 0.016 &&
          abs(beyond_3 - 540) < 116))
        FAIL("normal numbers: mean %g, square %g, fourth %g, product %g, %d beyond 3", mean / N,
             square / N, fourth / N, product / N * 2, beyond_3);
    double radius_low = 1e9, radius_high = 0;
    for (int i = 0; i + 1 < N; i += 2) {
        /* A pair's radius is sqrt(-2 log u): exp(-r^2/2) is u, a whole number and a half of
         * 2^-24, whatever the angle. */
        double u = exp(-0.5 * ((double)x[i] * x[i] + (double)x[i + 1] * x[i + 1])) * 0x1p24;
        double off = fabs(u - floor(u) - 0.5);
        if (u < 1e5 && off > 0.25) FAIL("pair %d: u 2^24 = %.6f is no half", i, u);
        radius_low = fmin(radius_low, u);
        radius_high = fmax(radius_high, u);
    }
    if (!(radius_low < 1000 && radius_high > 0x1p24 - 1000))
        FAIL("u 2^24 from %g to %g", radius_low, radius_high);
    free(x);
}

/* Losses a + b / (i + 1) of the target 0.1: given up at the first doubling whose fall, repeated to
 * the end, would not reach it, and never where it would be reached. */
static int64_t given_up(double floor, double start, int64_t most) {
    struct fr_patience patience = fr_patience_begin(0.1, most);
    for (int64_t i = 0; i <= most; i++) {
        double loss = floor + start / (double)(i + 1);
        if (loss <= 0.1) return 0;
        if (fr_patience_lost(&patience, i, loss)) return i + 1;
    }
    return -1;
}

static void giving_up(void) {
    int64_t slow = given_up(0.05, 100, 4000), hopeless = given_up(0.11, 1, 4000),
            flat = given_up(0.2, 0, 4000), late = given_up(0.099, 3.5, 4000);
    if (slow != 0) FAIL("reached at 2000, given up at %lld", (long long)slow);
    if (late != 0) FAIL("reached at 3500, given up at %lld", (long long)late);
    if (flat != 128) FAIL("flat: given up at %lld, not 128", (long long)flat);
    /* By hand: 0.1189 - 5 * 0.0089 and 0.1145 - 4 * 0.0045 lie below 0.1, 0.1122 - 3 * 0.0022
     * does not. */
    if (hopeless != 512) FAIL("never reached: given up at %lld, not 512", (long long)hopeless);
}

int main(int argc, char **argv) {
    int n_ranks = 1;
    char plan[100];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    normal_numbers();
    giving_up();
    snprintf(plan, sizeof plan, "{\"tp\": %d}", n_ranks);
    compare(&fr_real_tensor, 1, 0, plan);
    snprintf(plan, sizeof plan, "{\"method\": \"phantom\", \"tp\": %d, \"ghost\": 3}", n_ranks);
    if (n_ranks > 1) compare(&fr_real_phantom, n_ranks, 3, plan);
    MPI_Allreduce(MPI_IN_PLACE, &n_failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return n_failed > 0;
}
