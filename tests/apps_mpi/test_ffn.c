/* Gradients of the programs tensor, grid and phantom on however many ranks the job has, against
 * a serial run in plain loops: 1e-5 of the largest in fp32, 1e-12 in fp64; phantom's against
 * finite differences besides; and what must be refused is. */
#include "tests/apps_mpi/mpi_case.h"
#include "tests/apps_mpi/serial.h"

enum { SEED = 11, BATCH = 24 };
static const int widths[] = {48, 96, 72, 24}; /* divide by 1, 2, 3, 4, 6, 8 */
static int rank, n_ranks;

static const char *model_of(bool fp32, char *text, size_t capacity) {
    snprintf(text, capacity,
             "{\"kind\": \"mlp\", \"layers\": [%d, %d, %d, %d], \"dtype\": \"%s\", "
             "\"global_batch\": %d}",
             widths[0], widths[1], widths[2], widths[3], fp32 ? "fp32" : "fp64", BATCH);
    return text;
}

static double tolerance(bool fp32) { return fp32 ? 1e-5 : 1e-12; }

/* Rows of rank r of tp in a layer, W then b. */
static void check_rows(const struct mpi_case *c, const struct serial *s, int l, int64_t tp,
                       int64_t *offset, bool fp32) {
    int64_t rows = s->width[l + 1] / tp, in = s->width[l], row0 = rank % tp * rows;
    char what[64];
    snprintf(what, sizeof what, "layer %d W, tp %d", l, (int)tp);
    check_block(c, what, *offset, s->dw[l] + row0 * in, rows * in, tolerance(fp32));
    *offset += rows * in;
    snprintf(what, sizeof what, "layer %d b, tp %d", l, (int)tp);
    check_block(c, what, *offset, s->db[l] + row0, rows, tolerance(fp32));
    *offset += rows;
}

static void check_against(const struct fr_real_app *app, const char *plan, const int64_t *tp,
                          bool fp32) {
    struct mpi_case c;
    struct serial s;
    char model[256];
    int64_t offset = 0;
    serial_open(&s, SEED, widths, SERIAL_LAYERS, BATCH, fp32);
    serial_gradients(&s);
    if (mpi_case_open(&c, app, model_of(fp32, model, sizeof model), plan, SEED)) {
        double loss = mpi_case_gradients(&c);
        if (!(fabs(loss - s.loss) <= tolerance(fp32) * s.loss))
            FAIL("%s %s: loss %.17g, want %.17g", app->name, plan, loss, s.loss);
        for (int l = 0; l < SERIAL_LAYERS; l++) check_rows(&c, &s, l, tp[l], &offset, fp32);
        if (offset != c.real.n_parameters) FAIL("%s: parameters are left over", app->name);
    }
    mpi_case_close(&c);
    serial_close(&s);
}

static void tensor(bool fp32) {
    char plan[64];
    const int64_t tp[] = {n_ranks, n_ranks, n_ranks};
    snprintf(plan, sizeof plan, "{\"tp\": %d}", n_ranks);
    check_against(&fr_real_tensor, plan, tp, fp32);
}

static void grid(bool fp32) {
    char plan[128];
    for (int r = 1; r <= n_ranks; r++) {
        if (n_ranks % r != 0) continue;
        const int64_t tp[] = {r, r, r};
        snprintf(plan, sizeof plan, "{\"method\": \"grid\", \"tp\": %d, \"dp\": %d}", r,
                 n_ranks / r);
        check_against(&fr_real_grid, plan, tp, fp32);
        /* A grid of its own for every layer: all data, all model, then r. */
        const int64_t own[] = {1, n_ranks, r}, back[] = {r, n_ranks, 1};
        snprintf(plan, sizeof plan,
                 "{\"method\": \"grid\", \"dp\": %d, \"layer_tp\": [1, %d, %d]}", n_ranks,
                 n_ranks, r);
        check_against(&fr_real_grid, plan, own, fp32);
        snprintf(plan, sizeof plan,
                 "{\"method\": \"grid\", \"dp\": %d, \"layer_tp\": [%d, %d, 1]}", n_ranks, r,
                 n_ranks);
        check_against(&fr_real_grid, plan, back, fp32);
    }
}

/* ---- phantom: the dense network with blocks L_j on the diagonal and D_ij C_i beside it ------ */

struct blocks {
    double *l, *c, *d; /* of all ranks: [j][o][i], [j][k][i], [i][j][o][k] */
};

static const int ghost = 2;

static struct blocks make_dense(struct serial *s, int l, bool fp32) {
    int p = n_ranks, n = s->width[l], in = n / p, out = s->width[l + 1] / p;
    uint64_t stream = (uint64_t)(FR_STREAM_LAYER + 64 * l);
    struct blocks m = {
        .l = s->w[l],
        .c = serial_normal(SEED, stream + 1, (int64_t)p * ghost * in, 1 / sqrt(in), fp32),
        .d = serial_normal(SEED, stream + 2, (int64_t)p * p * out * ghost,
                           sqrt(1.0 / 3 / (p * ghost)), fp32)};
    for (int j = 0; j < p; j++)
        for (int i = 0; i < p; i++)
            for (int o = 0; o < out && i != j; o++)
                for (int x = 0; x < in; x++) {
                    double sum = 0;
                    for (int g = 0; g < ghost; g++)
                        sum += m.d[((i * p + j) * out + o) * ghost + g] *
                               m.c[(i * ghost + g) * in + x];
                    s->w[l][(j * out + o) * n + i * in + x] = sum;
                }
    return m;
}

/* dL_j = dM_jj, dC_j = sum_i D_ji^T dM_ij, dD_ij = dM_ji C_i^T (row block first). */
static void check_phantom_layer(const struct mpi_case *c, const struct serial *s,
                                const struct blocks *m, int l, int64_t *offset, bool fp32) {
    int p = n_ranks, j = rank, n = s->width[l], in = n / p, out = s->width[l + 1] / p;
    size_t capacity = (size_t)(out * in + ghost * in + p * out * ghost + out);
    double *wanted = calloc(capacity, sizeof *wanted), *at = wanted;
    for (int o = 0; o < out; o++)
        for (int x = 0; x < in; x++) *at++ = s->dw[l][(j * out + o) * n + j * in + x];
    check_block(c, "L", *offset, wanted, out * in, tolerance(fp32));
    *offset += out * in;
    memset(wanted, 0, capacity * sizeof *wanted);
    for (int to = 0; to < p; to++)
        for (int g = 0; g < ghost && to != j; g++)
            for (int x = 0; x < in; x++)
                for (int o = 0; o < out; o++)
                    wanted[g * in + x] += m->d[((j * p + to) * out + o) * ghost + g] *
                                          s->dw[l][(to * out + o) * n + j * in + x];
    if (p > 1) check_block(c, "C", *offset, wanted, ghost * in, tolerance(fp32));
    *offset += ghost * in;
    for (int i = 0; i < p; i++) {
        if (i == j) continue;
        for (int o = 0; o < out; o++)
            for (int g = 0; g < ghost; g++) {
                double sum = 0;
                for (int x = 0; x < in; x++)
                    sum += s->dw[l][(j * out + o) * n + i * in + x] *
                           m->c[(i * ghost + g) * in + x];
                wanted[o * ghost + g] = sum;
            }
        check_block(c, "D", *offset, wanted, out * ghost, tolerance(fp32));
        *offset += out * ghost;
    }
    check_block(c, "b", *offset, s->db[l] + j * out, out, tolerance(fp32));
    *offset += out;
    free(wanted);
}

static void phantom(bool fp32) {
    struct mpi_case c;
    struct serial s;
    struct blocks blocks[SERIAL_LAYERS];
    char model[256], plan[128];
    int64_t offset = 0;
    serial_open(&s, SEED, widths, SERIAL_LAYERS, BATCH, fp32);
    for (int l = 0; l < SERIAL_LAYERS; l++) blocks[l] = make_dense(&s, l, fp32);
    serial_gradients(&s);
    snprintf(plan, sizeof plan, "{\"method\": \"phantom\", \"tp\": %d, \"ghost\": %d}", n_ranks,
             ghost);
    if (mpi_case_open(&c, &fr_real_phantom, model_of(fp32, model, sizeof model), plan, SEED)) {
        double loss = mpi_case_gradients(&c);
        if (!(fabs(loss - s.loss) <= tolerance(fp32) * s.loss))
            FAIL("phantom: loss %.17g, want %.17g", loss, s.loss);
        for (int l = 0; l < SERIAL_LAYERS; l++)
            check_phantom_layer(&c, &s, &blocks[l], l, &offset, fp32);
        if (offset != c.real.n_parameters) FAIL("phantom: parameters are left over");
    }
    mpi_case_close(&c);
    for (int l = 0; l < SERIAL_LAYERS; l++) {
        free(blocks[l].c);
        free(blocks[l].d);
    }
    serial_close(&s);
}

/* (loss(w + e) - loss(w - e)) / 2e at random parameters of every rank in turn. */
static void finite_differences(void) {
    enum { PLACES = 12 };
    struct mpi_case c;
    char model[256], plan[128];
    double step = 1e-6, largest = 0;
    snprintf(plan, sizeof plan, "{\"method\": \"phantom\", \"tp\": %d, \"ghost\": %d}", n_ranks,
             ghost);
    if (mpi_case_open(&c, &fr_real_phantom, model_of(false, model, sizeof model), plan, SEED)) {
        const struct fr_kernels *k = c.real.k;
        mpi_case_gradients(&c);
        for (int64_t i = 0; i < c.real.n_parameters; i++)
            largest = fmax(largest, fabs(mpi_case_gradient(&c, i)));
        for (int turn = 0; turn < PLACES * n_ranks; turn++) {
            bool on_turn = turn % n_ranks == rank;
            size_t at = fr_random_at(3, 3, (uint64_t)turn) % (uint64_t)c.real.n_parameters;
            double w = k->get(c.real.parameters, at), loss[2], analytic;
            for (int side = 0; side < 2; side++) {
                if (on_turn) k->set(c.real.parameters, at, w + (side ? -step : step));
                loss[side] = mpi_case_gradients(&c);
            }
            if (on_turn) k->set(c.real.parameters, at, w);
            mpi_case_gradients(&c);
            analytic = mpi_case_gradient(&c, (int64_t)at);
            double numeric = (loss[0] - loss[1]) / (2 * step);
            if (on_turn && !(fabs(numeric - analytic) <= 1e-6 * largest))
                FAIL(
                    "phantom parameter %zu of rank %d: finite difference %.12g, gradient %.12g",
                    at, rank, numeric, analytic);
        }
    }
    mpi_case_close(&c);
}

/* ---- what must be refused -------------------------------------------------------------------- */

static void refused(const struct fr_real_app *app, const char *model, const char *plan,
                    const char *because) {
    struct mpi_case c;
    struct fr_error err = {.status = FR_OK};
    if (mpi_case_read(&c, app, model, plan, SEED, &err) != FR_OK)
        FAIL("%s %s: %s", app->name, plan, err.detail);
    else if (app->check(&c.run, &err) != FR_ERR_INPUT || !strstr(err.detail, because))
        FAIL("%s %s: want \"%s\" refused, got \"%s\"", app->name, plan, because, err.detail);
    mpi_case_close(&c);
}

static void refusals(void) {
    const char *ffn = "{\"kind\": \"ffn\", \"width\": 64, \"layers\": 2, \"global_batch\": 8}";
    const char *stages =
        "{\"kind\": \"stages\", \"forward\": \"1 ms\", \"backward\": \"2 ms\"}";
    refused(&fr_real_tensor, ffn, "{\"tp\": 3}", "does not divide");
    refused(&fr_real_grid, ffn, "{\"method\": \"grid\", \"tp\": 2, \"pp\": 2}", "program mesh");
    refused(&fr_real_tensor, stages, "{\"tp\": 2}", "no layers");
    refused(&fr_real_phantom, ffn, "{\"method\": \"phantom\", \"tp\": 3, \"ghost\": 2}",
            "does not divide");
    refused(&fr_real_phantom, ffn, "{\"method\": \"phantom\", \"tp\": 4, \"ghost\": 0}",
            "at least 1");
    refused(&fr_real_phantom, ffn, "{\"method\": \"phantom\", \"tp\": 4, \"ghost\": 12}",
            "below (n/p)(1 - 1/p) = 12");
    refused(&fr_real_grid, ffn, "{\"method\": \"grid\", \"tp\": 1, \"dp\": 3}",
            "does not divide");
    refused(&fr_real_grid, ffn, "{\"method\": \"grid\", \"tp\": 3}", "does not divide");
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int fp32 = 0; fp32 < 2; fp32++) {
        tensor(fp32);
        grid(fp32);
        phantom(fp32);
    }
    finite_differences();
    refusals();
    MPI_Allreduce(MPI_IN_PLACE, &n_failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return n_failed > 0;
}
