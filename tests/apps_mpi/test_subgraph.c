/* Gradients of the program subgraph on every division of the job's ranks into sub-grids, against
 * the same network on one rank, whose gradients pass finite differences: heads sliced and
 * concatenated, an MLP split and summed; D&SP, its all-gather variant, cSub; naive and
 * topology-aware order. */
#include "real/apps/random.h"
#include "tests/apps_mpi/mpi_case.h"

enum { SEED = 3, BATCH = 24, HEADS = 24, WIDTH = 48, HIDDEN = 2 };
static int rank, n_ranks;

static const char *model_of(bool fp32, char *text, size_t capacity) {
    snprintf(text, capacity,
             "{\"kind\": \"branches\", \"width\": %d, \"positions\": 4, \"dtype\": \"%s\", "
             "\"global_batch\": %d, \"layers\": [{\"out\": %d}, "
             "{\"branches\": %d, \"split\": \"slice\", \"join\": \"concatenation\", "
             "\"layers\": [{\"attention\": %d}]}, {\"out\": %d}, "
             "{\"branches\": %d, \"split\": \"copy\", \"join\": \"sum\", "
             "\"layers\": [{\"out\": %d}, {\"out\": %d}]}, {\"out\": %d}]}",
             WIDTH, fp32 ? "fp32" : "fp64", BATCH, 3 * WIDTH, HEADS, WIDTH / HEADS, WIDTH,
             HEADS, HIDDEN, WIDTH, WIDTH);
    return text;
}

/* Layers with parameters, in order: branches (0: common), rows and inputs of one. */
static const struct {
    int branches, out, in;
} layers[] = {{0, 3 * WIDTH, WIDTH},
              {0, WIDTH, WIDTH},
              {HEADS, HIDDEN, WIDTH},
              {HEADS, WIDTH, HIDDEN},
              {0, WIDTH, WIDTH}};
enum { N = sizeof layers / sizeof *layers };

static double *alone(bool fp32, double *loss, bool differences) {
    struct mpi_case c;
    struct fr_error err = {.status = FR_OK};
    char model[800];
    double step = 1e-6, largest = 0, side_loss[2];
    if (mpi_case_read(&c, &fr_real_subgraph, model_of(fp32, model, sizeof model),
                      "{\"method\": \"subgraph\"}", SEED, &err) != FR_OK ||
        fr_real_open(c.app, &c.run, MPI_COMM_SELF, &c.real, &err) != FR_OK ||
        c.app->gradients(&c.real, loss) != FR_OK) {
        FAIL("one rank: %s %s", err.where, err.detail);
        return NULL;
    }
    int64_t n = c.real.n_parameters;
    double *gradients = malloc((size_t)n * sizeof *gradients);
    for (int64_t i = 0; i < n; i++) {
        gradients[i] = mpi_case_gradient(&c, i);
        largest = fmax(largest, fabs(gradients[i]));
    }
    for (int turn = 0; differences && turn < 40; turn++) {
        size_t at = fr_random_at(3, 4, (uint64_t)turn) % (uint64_t)n;
        double w = c.real.k->get(c.real.parameters, at);
        for (int side = 0; side < 2; side++) {
            c.real.k->set(c.real.parameters, at, w + (side ? -step : step));
            c.app->gradients(&c.real, &side_loss[side]);
        }
        c.real.k->set(c.real.parameters, at, w);
        double numeric = (side_loss[0] - side_loss[1]) / (2 * step);
        if (!(fabs(numeric - gradients[at]) <= 1e-6 * largest))
            FAIL("subgraph parameter %zu: finite difference %.12g, gradient %.12g", at, numeric,
                 gradients[at]);
    }
    mpi_case_close(&c);
    return gradients;
}

/* Which sub-grid a rank is in shows in its parameters: those of a branch are that branch's.  It is
 * found by looking, so that the test does not repeat the program's numbering. */
static int find_subgrid(const struct mpi_case *c, int g, double *of_one_rank) {
    int share = HEADS / g * HIDDEN * WIDTH;
    int64_t at = 3 * WIDTH * (WIDTH + 1) + WIDTH * (WIDTH + 1);
    for (int s = 0; s < g; s++)
        if (c->real.k->get(c->real.parameters, (size_t)at) == of_one_rank[at + s * share])
            return s;
    return -1;
}

static double *parameters_alone(bool fp32) {
    struct mpi_case c;
    struct fr_error err = {.status = FR_OK};
    char model[800];
    double *values = NULL;
    if (mpi_case_read(&c, &fr_real_subgraph, model_of(fp32, model, sizeof model),
                      "{\"method\": \"subgraph\"}", SEED, &err) == FR_OK &&
        fr_real_open(c.app, &c.run, MPI_COMM_SELF, &c.real, &err) == FR_OK) {
        values = malloc((size_t)c.real.n_parameters * sizeof *values);
        for (int64_t i = 0; i < c.real.n_parameters; i++)
            values[i] = c.real.k->get(c.real.parameters, (size_t)i);
    }
    mpi_case_close(&c);
    return values;
}

static void check_plan(const char *plan, int g, bool c_sub, bool fp32, const double *wanted,
                       double *parameters, double loss) {
    struct mpi_case c;
    char model[800];
    double tolerance = fp32 ? 1e-5 : 1e-12;
    int64_t at = 0, from = 0;
    if (mpi_case_open(&c, &fr_real_subgraph, model_of(fp32, model, sizeof model), plan, SEED)) {
        double got = mpi_case_gradients(&c);
        if (!(fabs(got - loss) <= tolerance * loss))
            FAIL("subgraph %s: loss %.17g, want %.17g", plan, got, loss);
        int subgrid = find_subgrid(&c, g, parameters);
        if (subgrid < 0) FAIL("subgraph %s: rank %d holds no branch", plan, rank);
        for (int l = 0; l < N; l++) {
            int64_t all = layers[l].branches ? layers[l].branches : 1;
            int64_t own = layers[l].branches ? all / g : 1;
            int64_t first = layers[l].branches ? subgrid * own : 0;
            int64_t weights = (int64_t)layers[l].out * layers[l].in, out = layers[l].out;
            if (layers[l].branches || !c_sub || subgrid == 0) {
                check_block(&c, plan, at, wanted + from + first * weights, own * weights,
                            tolerance);
                check_block(&c, plan, at + own * weights,
                            wanted + from + all * weights + first * out, own * out, tolerance);
            }
            at += own * (weights + out);
            from += all * (weights + out);
        }
        if (at != c.real.n_parameters) FAIL("subgraph: parameters are left over");
    }
    mpi_case_close(&c);
}

static void divisions(bool fp32) {
    double loss = 0, *wanted = alone(fp32, &loss, !fp32), *parameters = parameters_alone(fp32);
    for (int g = 1; wanted && parameters && g <= n_ranks; g++)
        for (int variant = 0; n_ranks % g == 0 && variant < 4; variant++) {
            static const char *const extra[] = {"", ", \"exchange\": \"all_gather\"",
                                                ", \"common\": \"subgrid\"",
                                                ", \"placement\": \"round-robin\""};
            char plan[200];
            snprintf(plan, sizeof plan, "{\"method\": \"subgraph\", \"tp\": %d, \"dp\": %d%s}",
                     g, n_ranks / g, extra[variant]);
            check_plan(plan, g, variant == 2 && g > 1, fp32, wanted, parameters, loss);
        }
    free(wanted);
    free(parameters);
}

static void refused(const char *plan, const char *because) {
    struct mpi_case c;
    struct fr_error err = {.status = FR_OK};
    char model[800];
    if (mpi_case_read(&c, &fr_real_subgraph, model_of(true, model, sizeof model), plan, SEED,
                      &err) != FR_OK)
        FAIL("subgraph %s: %s", plan, err.detail);
    else if (c.app->check(&c.run, &err) != FR_ERR_INPUT || !strstr(err.detail, because))
        FAIL("subgraph %s: want \"%s\" refused, got \"%s\"", plan, because, err.detail);
    mpi_case_close(&c);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int fp32 = 0; fp32 < 2; fp32++) divisions(fp32);
    refused("{\"method\": \"subgraph\", \"tp\": 5}", "does not divide");
    refused("{\"method\": \"subgraph\", \"dp\": 5}", "does not divide by dp");
    refused("{\"method\": \"subgraph\", \"pp\": 2}", "\"pp\" is not run");
    MPI_Allreduce(MPI_IN_PLACE, &n_failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return n_failed > 0;
}
