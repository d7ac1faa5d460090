/* A training of p ranks in one process makes the steps that the MPI programs make: the losses of
 * the first steps are equal, for tensor and phantom, in fp64 to rounding. */
#include "calibrate/apps/network.h"
#include "tests/apps_mpi/mpi_case.h"

enum { SEED = 7, STEPS = 12, WIDTH = 64, BATCH = 16 };

static void compare(const struct fr_real_app *app, int p, int ghost, const char *plan) {
    struct mpi_case c;
    struct fr_network network;
    struct fr_error err = {.status = FR_OK};
    const struct fr_network_options o = {.width = WIDTH,
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
    if (fr_network_open(&o, &network, &err) != FR_OK) FAIL("network: %s", err.detail);
    if (mpi_case_open(&c, app, model, plan, SEED)) {
        double first = 0;
        for (int i = 0; i < STEPS; i++) {
            double want = fr_network_step(&network), loss = 0, got = 0;
            if (fr_real_step(app, &c.real, &loss, &err) != FR_OK) FAIL("%s", err.detail);
            MPI_Allreduce(&loss, &got, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            if (!(fabs(got - want) <= 1e-9 * want))
                FAIL("%s, step %d: %.15g on %d ranks, %.15g in one process", app->name, i, got,
                     c.real.n_ranks, want);
            if (i == 0) first = got;
            if (i == STEPS - 1 && !(got < first)) FAIL("%s: the loss does not fall", app->name);
        }
    }
    fr_network_close(&network);
    mpi_case_close(&c);
}

int main(int argc, char **argv) {
    int n_ranks = 1;
    char plan[100];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    snprintf(plan, sizeof plan, "{\"tp\": %d}", n_ranks);
    compare(&fr_real_tensor, 1, 0, plan);
    snprintf(plan, sizeof plan, "{\"method\": \"phantom\", \"tp\": %d, \"ghost\": 3}", n_ranks);
    if (n_ranks > 1) compare(&fr_real_phantom, n_ranks, 3, plan);
    MPI_Allreduce(MPI_IN_PLACE, &n_failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return n_failed > 0;
}
