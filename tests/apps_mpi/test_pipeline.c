/* Gradients of the program pipeline on the job's ranks, against the same network trained by one
 * rank alone, whose gradients pass finite differences; the fused embedding against the two-step
 * one; and what lossy messages lose: with lazy error propagation, the final residual only. */
#include "calibrate/real/apps/block.h"
#include "calibrate/real/apps/lowrank.h"
#include "calibrate/real/apps/random.h"
#include "models/work/transformer.h"
#include "tests/apps_mpi/mpi_case.h"

enum { SEED = 5, BATCH = 24, LAYERS = 8 };
static int rank, n_ranks;

static const char *model_of(bool fp32, char *text, size_t room) {
    snprintf(text, room,
             "{\"kind\": \"transformer\", \"layers\": %d, \"hidden\": 16, \"heads\": 2, "
             "\"ffn\": 32, \"sequence\": 6, \"vocabulary\": 100, \"dtype\": \"%s\", "
             "\"global_batch\": %d}",
             LAYERS, fp32 ? "fp32" : "fp64", BATCH);
    return text;
}

/* Layers, positions, final norm, embedding: of a network on one rank. */
struct layout {
    int64_t layer, positions, norm, embedding, all;
};
static struct layout layout_of(const struct mpi_case *c) {
    const struct fr_transformer *t = &c->workload.transformer;
    struct fr_block_sizes z = {(int)t->hidden,
                               (int)t->heads,
                               (int)t->head_dim,
                               (int)t->ffn,
                               (int)t->sequence,
                               1,
                               true};
    struct layout l = {.layer = fr_block_parameters(&z)};
    l.positions = LAYERS * l.layer;
    l.norm = l.positions + t->sequence * t->hidden;
    l.embedding = l.norm + 2 * t->hidden;
    l.all = l.embedding + fr_transformer_padded_vocabulary(t, 1) * t->hidden;
    return l;
}

/* ---- one rank alone -------------------------------------------------------------------------- */

static double *alone(bool fp32, double *loss) {
    struct mpi_case c;
    struct fr_error err = {.status = FR_OK};
    char model[400];
    double *gradients = NULL;
    if (mpi_case_read(&c, &fr_real_pipeline, model_of(fp32, model, sizeof model), "{}", SEED,
                      &err) != FR_OK ||
        fr_real_open(c.app, &c.run, MPI_COMM_SELF, &c.real, &err) != FR_OK ||
        c.app->gradients(&c.real, loss, &err) != FR_OK) {
        FAIL("one rank: %s", err.detail);
        return NULL;
    }
    struct layout l = layout_of(&c);
    if (l.all != c.real.n_parameters) FAIL("layout: %lld parameters", (long long)l.all);
    gradients = malloc((size_t)l.all * sizeof *gradients);
    for (int64_t i = 0; i < l.all; i++) gradients[i] = mpi_case_gradient(&c, i);
    mpi_case_close(&c);
    return gradients;
}

static void finite_differences(void) {
    enum { PLACES = 60 };
    struct mpi_case c;
    struct fr_error err = {.status = FR_OK};
    char model[400];
    double step = 1e-6, largest = 0, loss[2] = {0}, start = 0;
    if (rank != 0) return;
    if (mpi_case_read(&c, &fr_real_pipeline, model_of(false, model, sizeof model),
                      "{\"global_batch\": 3}", SEED, &err) != FR_OK ||
        fr_real_open(c.app, &c.run, MPI_COMM_SELF, &c.real, &err) != FR_OK) {
        FAIL("finite differences: %s", err.detail);
        return;
    }
    const struct fr_kernels *k = c.real.k;
    int64_t n = c.real.n_parameters;
    c.app->gradients(&c.real, &start, &err);
    double *analytic = malloc((size_t)n * sizeof *analytic);
    for (int64_t i = 0; i < n; i++) {
        analytic[i] = mpi_case_gradient(&c, i);
        largest = fmax(largest, fabs(analytic[i]));
    }
    for (int turn = 0; turn < PLACES; turn++) {
        /* Half of the places in the layers' blocks, the others anywhere. */
        uint64_t range = (uint64_t)(turn % 2 ? n : LAYERS * layout_of(&c).layer);
        size_t at = fr_random_at(3, 3, (uint64_t)turn) % range;
        double w = k->get(c.real.parameters, at);
        for (int side = 0; side < 2; side++) {
            k->set(c.real.parameters, at, w + (side ? -step : step));
            c.app->gradients(&c.real, &loss[side], &err);
        }
        k->set(c.real.parameters, at, w);
        double numeric = (loss[0] - loss[1]) / (2 * step);
        if (!(fabs(numeric - analytic[at]) <= 2e-7 * fmax(largest, 1e-3)))
            FAIL("pipeline parameter %zu: finite difference %.12g, gradient %.12g", at, numeric,
                 analytic[at]);
    }
    free(analytic);
    mpi_case_close(&c);
}

/* ---- against it ------------------------------------------------------------------------------ */

static void check_stage(const struct mpi_case *c, const double *wanted, double tolerance) {
    struct layout l = layout_of(c);
    int64_t pp = c->plan.pp, stage = c->real.pp_rank, before = 0, at = 0;
    int64_t own = LAYERS / pp + (stage < LAYERS % pp);
    for (int64_t i = 0; i < stage; i++) before += LAYERS / pp + (i < LAYERS % pp);
    for (int64_t i = 0; i < own; i++, at += l.layer)
        check_block(c, "layer", at, wanted + (before + i) * l.layer, l.layer, tolerance);
    if (stage == 0) {
        check_block(c, "positions", at, wanted + l.positions, l.norm - l.positions, tolerance);
        at += l.norm - l.positions;
    }
    if (stage == pp - 1) {
        check_block(c, "final norm", at, wanted + l.norm, l.embedding - l.norm, tolerance);
        at += l.embedding - l.norm;
    }
    if (stage == 0 || stage == pp - 1) {
        check_block(c, "embedding", at, wanted + l.embedding, l.all - l.embedding, tolerance);
        at += l.all - l.embedding;
    }
    if (at != c->real.n_parameters) FAIL("pipeline: parameters are left over");
}

static void equals_one_rank(const char *plan, bool fp32, const double *wanted, double loss) {
    struct mpi_case c;
    char model[400];
    double tolerance = fp32 ? 1e-5 : 1e-12;
    if (mpi_case_open(&c, &fr_real_pipeline, model_of(fp32, model, sizeof model), plan, SEED)) {
        double got = mpi_case_gradients(&c);
        if (!(fabs(got - loss) <= tolerance * loss))
            FAIL("pipeline %s: loss %.17g, want %.17g", plan, got, loss);
        check_stage(&c, wanted, tolerance);
    }
    mpi_case_close(&c);
}

static void meshes(bool fp32) {
    static const char *const schedules[] = {"1f1b", "gpipe"};
    double loss = 0, *wanted = alone(fp32, &loss);
    for (int pp = 1; wanted && pp <= n_ranks; pp++) {
        if (n_ranks % pp != 0 || pp > LAYERS) continue;
        for (int s = 0; s < 2; s++)
            for (int fused = 0; fused < 2; fused++) {
                char plan[256];
                int dp = n_ranks / pp, micro = s ? 3 : 1;
                if (BATCH / dp % micro != 0) continue;
                snprintf(plan, sizeof plan,
                         "{\"pp\": %d, \"dp\": %d, \"schedule\": \"%s\", \"micro_batch\": %d, "
                         "\"compression\": {\"embedding\": \"%s\"}}",
                         pp, dp, schedules[s], micro, fused ? "fused" : "separate");
                equals_one_rank(plan, fp32, wanted, loss);
            }
    }
    free(wanted);
}

/* ---- what is lost ---------------------------------------------------------------------------- */

/* Sums of what was encoded and decoded differ by the last error; without it they differ more. */
static void codec_loses_the_last_error_only(void) {
    enum { M = 20, N = 14, RANK = 3, MICRO = 6 };
    struct fr_real real = {.k = fr_kernels_of(FR_FP64)};
    const struct fr_kernels *k = real.k;
    double lost[2] = {0};
    for (int lazy = 0; lazy < 2; lazy++) {
        double encoded[M * N] = {0}, decoded[M * N] = {0}, x[M * N];
        struct fr_lowrank c;
        fr_lowrank_open(k, M, N, RANK, lazy, SEED, 9, &c);
        for (int i = 0; i < MICRO; i++) {
            fr_fill_normal(k, SEED, (uint64_t)(100 + i), 0, M, 0, N, N, 1, x);
            k->add(M * N, x, encoded);
            fr_lowrank_encode(&real, &c, x);
            fr_lowrank_decode(&real, &c, c.factors, 1, x);
            k->add(M * N, x, decoded);
        }
        double worst = 0;
        for (int i = 0; i < M * N; i++) {
            double residual = lazy ? ((double *)c.error)[i] : 0;
            worst = fmax(worst, fabs(encoded[i] - decoded[i] - residual));
            lost[lazy] += (encoded[i] - decoded[i]) * (encoded[i] - decoded[i]);
        }
        if (lazy && worst > 1e-12)
            FAIL("lazy error: sums differ by %g beside the residual", worst);
        if (!lazy && worst < 1e-3) FAIL("a rank-3 codec of a random matrix lost nothing");
        fr_lowrank_close(&c);
    }
}

/* A matrix of rank r comes through a codec of rank r after one power iteration. */
static void codec_keeps_low_rank(void) {
    enum { M = 24, N = 18, RANK = 4 };
    struct fr_real real = {.k = fr_kernels_of(FR_FP64)};
    const struct fr_kernels *k = real.k;
    double a[M * RANK], b[RANK * N], x[M * N], y[M * N];
    struct fr_lowrank c;
    fr_fill_normal(k, SEED, 20, 0, M, 0, RANK, RANK, 1, a);
    fr_fill_normal(k, SEED, 21, 0, RANK, 0, N, N, 1, b);
    k->gemm(false, false, M, N, RANK, 1, a, RANK, b, N, 0, x, N);
    fr_lowrank_open(k, M, N, RANK, false, SEED, 9, &c);
    fr_lowrank_encode(&real, &c, x);
    fr_lowrank_decode(&real, &c, c.factors, 1, y);
    for (int i = 0; i < M * N; i++)
        if (!(fabs(x[i] - y[i]) < 1e-11)) {
            FAIL("rank %d: got %.15g, want %.15g", RANK, y[i], x[i]);
            break;
        }
    fr_lowrank_close(&c);
}

/* The last bias of a stage's last layer is the row sums of the gradient messages it was sent; the
 * last stage's are exact.  So on the stage before it that gradient, summed over micro-batches,
 * is off by the row sums of the residual that the last stage still holds, and nothing else. */
static void check_lazy(const struct mpi_case *c, const double *wanted, bool lazy) {
    struct layout l = layout_of(c);
    int h = (int)c->workload.transformer.hidden, pp = (int)c->plan.pp;
    int tokens = (int)c->workload.transformer.sequence, own = LAYERS / pp, before = 0;
    double residual[64] = {0}, off = 0, largest = 0;
    for (int i = 0; i < c->real.pp_rank; i++) before += LAYERS / pp + (i < LAYERS % pp);
    own += c->real.pp_rank < LAYERS % pp;
    if (c->real.pp_rank == pp - 1 && lazy)
        c->real.k->row_sums(h, tokens, c->real.residual, residual);
    MPI_Bcast(residual, h, MPI_DOUBLE, pp - 1, c->real.pp);
    if (c->real.pp_rank != pp - 2) return;
    for (int i = 0; i < h; i++) {
        double want = wanted[(before + own) * l.layer - h + i];
        double got = mpi_case_gradient(c, own * l.layer - h + i);
        largest = fmax(largest, fabs(want));
        off = fmax(off, fabs(got - want));
        if (lazy && !(fabs(want - got - residual[i]) <= 1e-12))
            FAIL("lazy error %d: exact %.15g - got %.15g is not the residual %.15g", i, want,
                 got, residual[i]);
    }
    if (!(off > 1e-9 * largest)) FAIL("lossy messages lost nothing");
}

static void lazy_messages(void) {
    static const char *const scopes[] = {"all", "epilogue"};
    double loss = 0, *wanted = NULL;
    if (n_ranks < 2) return;
    wanted = alone(false, &loss);
    for (int i = 0; wanted && i < 4; i++) {
        struct mpi_case c;
        char model[400], plan[256];
        bool lazy = i % 2;
        snprintf(
            plan, sizeof plan,
            "{\"pp\": %d, \"compression\": {\"backward\": {\"rank\": 2, \"scope\": \"%s\", "
            "\"lazy_error\": %s}}}",
            n_ranks, scopes[i / 2], lazy ? "true" : "false");
        if (mpi_case_open(&c, &fr_real_pipeline, model_of(false, model, sizeof model), plan,
                          SEED)) {
            mpi_case_gradients(&c);
            check_lazy(&c, wanted, lazy);
        }
        mpi_case_close(&c);
    }
    free(wanted);
}

/* Full rank loses nothing; a smaller one something, on the compressed stages only. */
static void compressed_gradients(void) {
    double loss = 0, *wanted = n_ranks > 1 ? alone(false, &loss) : NULL;
    for (int gradient_rank = 4; wanted && gradient_rank <= 16; gradient_rank *= 4) {
        struct mpi_case c;
        char model[400], plan[256];
        snprintf(plan, sizeof plan,
                 "{\"dp\": %d, \"compression\": {\"gradient\": {\"rank\": %d, \"stages\": 1}}}",
                 n_ranks, gradient_rank);
        if (mpi_case_open(&c, &fr_real_pipeline, model_of(false, model, sizeof model), plan,
                          SEED)) {
            mpi_case_gradients(&c);
            struct layout l = layout_of(&c);
            if (gradient_rank == 16)
                check_stage(&c, wanted, 1e-11);
            else {
                double worst = 0;
                for (int64_t i = 0; i < l.positions; i++)
                    worst = fmax(worst, fabs(mpi_case_gradient(&c, i) - wanted[i]));
                if (!(worst > 1e-9)) FAIL("rank-4 gradients lost nothing");
                check_block(&c, "embedding", l.embedding, wanted + l.embedding,
                            l.all - l.embedding, 1e-12);
            }
        }
        mpi_case_close(&c);
    }
    free(wanted);
}

/* ---- what must be refused -------------------------------------------------------------------- */

static void refused(const char *plan, const char *because) {
    struct mpi_case c;
    struct fr_error err = {.status = FR_OK};
    char model[400];
    if (mpi_case_read(&c, &fr_real_pipeline, model_of(true, model, sizeof model), plan, SEED,
                      &err) != FR_OK)
        FAIL("pipeline %s: %s", plan, err.detail);
    else if (c.app->check(&c.run, &err) != FR_ERR_INPUT || !strstr(err.detail, because))
        FAIL("pipeline %s: want \"%s\" refused, got \"%s\"", plan, because, err.detail);
    mpi_case_close(&c);
}

static void refusals(void) {
    refused("{\"dp\": 5}", "does not divide by dp");
    refused("{\"pp\": 2, \"micro_batch\": 5}", "does not divide by micro_batch");
    refused("{\"pp\": 9}", "9 stages of 8 layers");
    refused("{\"tp\": 2}", "\"tp\" must have its default");
    refused("{\"pp\": 2, \"compression\": {\"backward\": {\"rank\": 99, \"scope\": \"all\"}}}",
            "backward rank 99");
    refused("{\"dp\": 2, \"compression\": {\"gradient\": {\"rank\": 99, \"stages\": 1}}}",
            "gradient rank 99");
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int fp32 = 0; fp32 < 2; fp32++) meshes(fp32);
    finite_differences();
    codec_loses_the_last_error_only();
    codec_keeps_low_rank();
    lazy_messages();
    compressed_gradients();
    refusals();
    MPI_Allreduce(MPI_IN_PLACE, &n_failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return n_failed > 0;
}
