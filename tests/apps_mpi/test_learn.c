/* Training on a corpus: the same losses on any mesh; evaluations leave no trace; a warm-up is plain; what
 * is observed of compression, by direct computation; what an error that is made up for later does. */
#include "real/apps/learn/learn.h"
#include "real/apps/random.h"
#include "tests/apps_mpi/mpi_case.h"

enum { SEED = 5, LAYERS = 8, BATCH = 24, HIDDEN = 16, SEQUENCE = 6 };
static int rank, n_ranks;

static const char model[] =
    "{\"kind\": \"transformer\", \"layers\": 8, \"hidden\": 16, \"heads\": 2, \"ffn\": 32, "
    "\"sequence\": 6, \"vocabulary\": 100, \"dtype\": \"fp64\", \"global_batch\": 24}";

/* ---- losses ---------------------------------------------------------------------------------- */

struct learning {
    struct mpi_case c;
    struct fr_corpus corpus;
    struct fr_learning l;
    struct fr_learnt out;
};

/* With as many words on one rank as on two: a vocabulary is filled up to 128 tp words. */
static const char filled[] =
    "{\"kind\": \"transformer\", \"layers\": 8, \"hidden\": 16, \"heads\": 2, \"ffn\": 32, "
    "\"sequence\": 6, \"vocabulary\": 256, \"dtype\": \"fp64\", \"global_batch\": 24}";
static const char network[] = "{\"kind\": \"ffn\", \"layers\": 8, \"width\": 16, \"dtype\": "
                              "\"fp64\", \"global_batch\": 24}";

static bool learn_of(const char *of, const char *plan, MPI_Comm world, int64_t every,
                     struct learning *t) {
    struct fr_error err = {.status = FR_OK};
    const char *corpus = of == network ? "regression" : "grammar";
    *t = (struct learning){0};
    fr_status status = mpi_case_read(&t->c, &fr_real_pipeline, of, plan, SEED, &err);
    if (status == FR_OK) status = fr_corpus_open(corpus, NULL, 0, SEQUENCE, &t->corpus, &err);
    t->l = (struct fr_learning){.run = t->c.run,
                                .corpus = &t->corpus,
                                .rate = 0.01,
                                .steps = 8,
                                .every = every,
                                .held_out = 48,
                                .held_out_from = 24};
    if (status == FR_OK) status = fr_learnt_open(&t->l, &t->out, &err);
    if (status == FR_OK) status = fr_learn(&t->l, world, &t->out, &err);
    if (status != FR_OK) FAIL("%s: %s", plan, err.detail);
    return status == FR_OK;
}

static bool learn(const char *plan, MPI_Comm world, int64_t every, struct learning *t) {
    return learn_of(model, plan, world, every, t);
}

static void forget(struct learning *t) {
    fr_learnt_free(&t->out);
    fr_corpus_free(&t->corpus);
    mpi_case_close(&t->c);
}

static void same(const char *what, double got, double want, double tolerance) {
    if (!(fabs(got - want) <= tolerance * fabs(want)))
        FAIL("%s: got %.17g, want %.17g", what, got, want);
}

/* A plan's losses on all ranks are those of one. */
static void learns_as(const char *of, const char *plan, const struct learning *alone) {
    struct learning together;
    if (learn_of(of, plan, MPI_COMM_WORLD, 2, &together))
        for (int j = 0; j < 5; j++) {
            same(plan, together.out.loss[j], alone->out.loss[j], 1e-9);
            same(plan, together.out.train_loss[j], alone->out.train_loss[j], 1e-9);
        }
    forget(&together);
}

/* Eight steps of Adam on any mesh, and of a codec of full rank, which loses nothing. */
static void meshes_learn_alike(void) {
    static const char *const more[] = {
        "", ", \"compression\": {\"backward\": {\"scope\": \"all\", \"rank\": 6}}"};
    struct learning alone;
    if (!learn("{\"micro_batch\": 1}", MPI_COMM_SELF, 2, &alone)) return;
    if (!(alone.out.loss[4] < 0.9 * alone.out.loss[0]))
        FAIL("nothing was learnt: %g to %g", alone.out.loss[0], alone.out.loss[4]);
    for (int i = 0; i < 4; i++) {
        char plan[200];
        if (i % 2 && n_ranks == 1) continue;
        if (i / 2 && i % 2) continue; /* replicas send no messages between stages */
        snprintf(plan, sizeof plan, "{\"%s\": %d, \"micro_batch\": 1%s}", i / 2 ? "dp" : "pp",
                 n_ranks, more[i % 2]);
        learns_as(model, plan, &alone);
    }
    forget(&alone);
}

/* State that replicas share, and positions that tensor parallel ranks share; context parallel ranks have parts
 * of a sample, which no corpus is read in: refused. */
static void divided_state_learns_alike(void) {
    struct learning alone, parts;
    struct fr_error err = {.status = FR_OK};
    char plan[200];
    if (n_ranks != 2 || !learn_of(filled, "{\"micro_batch\": 1}", MPI_COMM_SELF, 2, &alone))
        return;
    learns_as(filled, "{\"tp\": 2, \"micro_batch\": 1}", &alone);
    learns_as(filled, "{\"tp\": 2, \"micro_batch\": 1, \"sequence_parallel\": true}", &alone);
    for (int zero = 1; zero <= 3; zero++) {
        snprintf(plan, sizeof plan, "{\"dp\": 2, \"micro_batch\": 1, \"zero\": %d}", zero);
        learns_as(filled, plan, &alone);
    }
    parts = alone;
    struct fr_plan cp = *alone.l.run.plan;
    cp.cp = 2;
    cp.context_heads = true;
    parts.l.run.plan = &cp;
    if (fr_learn_check(&parts.l, n_ranks, &err) != FR_ERR_INPUT ||
        !strstr(err.detail, "cp = 2"))
        FAIL("context parallel: %s", err.detail);
    forget(&alone);
}

/* Sub-grids, whose ranks have parts of a micro-batch's samples. */
static void sub_graphs_learn_alike(void) {
    static const char *const branches[] = {"heads", "attention", "layer"};
    struct learning alone;
    if (n_ranks % 2 != 0 || !learn("{\"micro_batch\": 2}", MPI_COMM_SELF, 2, &alone)) return;
    for (int i = 0; i < 3; i++) {
        char plan[200];
        snprintf(plan, sizeof plan,
                 "{\"method\": \"subgraph\", \"branches\": \"%s\", \"tp\": 2, \"%s\": %d, "
                 "\"micro_batch\": 2}",
                 branches[i], i == 1 ? "pp" : "dp", n_ranks / 2);
        learns_as(model, plan, &alone);
    }
    forget(&alone);
}

/* A regression, whose samples each rank makes for itself: the same losses on any mesh. */
static void networks_learn_alike(void) {
    static const char *const axes[] = {"pp", "dp", "tp"};
    struct learning alone;
    if (!learn_of(network, "{\"micro_batch\": 3}", MPI_COMM_SELF, 2, &alone)) return;
    if (!(alone.out.loss[4] < 0.95 * alone.out.loss[0]))
        FAIL("nothing was learnt: %g to %g", alone.out.loss[0], alone.out.loss[4]);
    if (!(fabs(alone.out.loss[4] - alone.out.train_loss[4]) > 1e-3 * alone.out.loss[4]))
        FAIL("held out is what was trained on");
    for (int i = 0; i < 3; i++) {
        char plan[100];
        snprintf(plan, sizeof plan, "{\"%s\": %d, \"micro_batch\": 3}", axes[i], n_ranks);
        learns_as(network, plan, &alone);
    }
    forget(&alone);
}

/* Looking does not change what is looked at, and twice is the same to the bit. */
static void evaluations_leave_no_trace_of(const char *coded) {
    char plan[300];
    struct learning often = {0}, seldom = {0}, again = {0};
    snprintf(plan, sizeof plan, "{\"pp\": %d, \"micro_batch\": 2%s}", n_ranks,
             n_ranks > 1 ? coded : "");
    if (learn(plan, MPI_COMM_WORLD, 1, &often) && learn(plan, MPI_COMM_WORLD, 8, &seldom) &&
        learn(plan, MPI_COMM_WORLD, 8, &again)) {
        same("evaluated often", often.out.loss[8], seldom.out.loss[1], 0);
        same("a second time", again.out.loss[1], seldom.out.loss[1], 0);
        same("bytes", again.out.sent_B, seldom.out.sent_B, 0);
    }
    forget(&often);
    forget(&seldom);
    forget(&again);
}

static void evaluations_leave_no_trace(void) {
    evaluations_leave_no_trace_of(
        ", \"compression\": {\"backward\": {\"rank\": 2, \"scope\": \"all\"}}");
}

/* The same where activations go compressed: evaluations send them whole, and leave the codec alone. */
static void forward_evaluations_leave_no_trace(void) {
    if (n_ranks == 1) return;
    struct learning plain;
    if (!learn("{\"micro_batch\": 2}", MPI_COMM_SELF, 8, &plain)) return;
    evaluations_leave_no_trace_of(", \"compression\": {\"backward\": {\"rank\": 2, \"scope\": "
                                  "\"all\"}, \"forward\": {\"rank\": 2}}");
    struct learning coded;
    char plan[120];
    snprintf(plan, sizeof plan,
             "{\"pp\": %d, \"micro_batch\": 2, \"compression\": {\"forward\": {\"rank\": 2}}}",
             n_ranks);
    if (learn(plan, MPI_COMM_WORLD, 8, &coded)) {
        same("untrained, evaluated whole", coded.out.loss[0], plain.out.loss[0], 1e-12);
        if (!(fabs(coded.out.loss[1] - plain.out.loss[1]) > 1e-6))
            FAIL("activations of rank 2 lost nothing");
    }
    forget(&coded);
    forget(&plain);
}

/* Warming up without compression for all steps is not compressing, of messages and of gradients. */
static void a_warm_up_is_plain(void) {
    static const char *const what[] = {"\"backward\": {\"rank\": 2, \"scope\": \"all\"}",
                                       "\"gradient\": {\"rank\": 2, \"stages\": 1}",
                                       "\"forward\": {\"rank\": 2}"};
    for (int axis = 0; n_ranks > 1 && axis < 3; axis++) {
        struct learning t[3] = {{.l = {.rate = 0}}};
        for (int i = 0; i < 3; i++) {
            char plan[300], coded[160] = "";
            if (i > 0)
                snprintf(coded, sizeof coded, ", \"compression\": {\"warm_up\": %d, %s}",
                         i == 1 ? 8 : 0, what[axis]);
            snprintf(plan, sizeof plan, "{\"%s\": %d, \"micro_batch\": 2%s}",
                     axis == 1 ? "dp" : "pp", n_ranks, coded);
            if (!learn(plan, MPI_COMM_WORLD, 8, &t[i])) return;
        }
        same("warm-up", t[1].out.loss[1], t[0].out.loss[1], 0);
        same("warm-up, bytes", t[1].out.sent_B, t[0].out.sent_B, 0);
        if (t[2].out.loss[1] == t[0].out.loss[1]) FAIL("rank 2 lost nothing");
        if (!(t[2].out.sent_B < t[0].out.sent_B)) FAIL("rank 2 sent no less");
        for (int i = 0; i < 3; i++) forget(&t[i]);
    }
}

/* ---- what is observed -------------------------------------------------------------------------- */

enum { H = 5, T = 7, MICRO = 3 };

static double dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* |sum over micro-batches of e_i z_i^T| by loops. */
static double product_norm(double e[MICRO][H * T], double z[MICRO][H * T]) {
    double squares = 0;
    for (int a = 0; a < H; a++)
        for (int b = 0; b < H; b++) {
            double sum = 0;
            for (int i = 0; i < MICRO; i++) sum += dot(&e[i][a * T], &z[i][b * T], T);
            squares += sum * sum;
        }
    return sqrt(squares);
}

static void observed_by_loops(void) {
    const struct fr_kernels *k = fr_kernels_of(FR_FP64);
    struct fr_observed o;
    struct fr_error err = {0};
    double m[MICRO][H * T], decoded[H * T], eps[MICRO][H * T], y[MICRO][H * T],
        dy[MICRO][H * T];
    fr_observed_open(k, MICRO, H, T, &o, &err);
    fr_observe_begin(k, &o);
    for (int i = 0; i < MICRO; i++) {
        fr_fill_normal(k, 1, (uint64_t)i, 0, H, 0, T, T, 1, m[i]);
        fr_fill_normal(k, 2, (uint64_t)i, 0, H, 0, T, T, 1, y[i]);
        fr_fill_normal(k, 3, (uint64_t)i, 0, H, 0, T, T, 0.5, decoded);
        for (int j = 0; j < H * T; j++) eps[i][j] = m[i][j] - decoded[j];
        fr_observe(k, &o, i, m[i], decoded, y[i], i > 0 ? y[i - 1] : NULL);
    }
    fr_observe_end(k, &o);
    for (int i = 0; i < MICRO; i++)
        for (int j = 0; j < H * T; j++) dy[i][j] = y[i][j] - (i + 1 < MICRO ? y[i + 1][j] : 0);
    for (int i = 0; i < MICRO; i++) {
        int n = H * T;
        double e = sqrt(dot(eps[i], eps[i], n)), ones[H * T];
        for (int j = 0; j < n; j++) ones[j] = 1;
        same("error", o.micro[i].error, e / sqrt(dot(m[i], m[i], n)), 1e-12);
        same("error_mean", o.micro[i].error_mean, dot(eps[i], ones, n) / n / (e / sqrt(n)),
             1e-9);
        if (i + 1 == MICRO) continue;
        double d = sqrt(dot(dy[i], dy[i], n)), next = sqrt(dot(eps[i + 1], eps[i + 1], n));
        same("cosine", o.micro[i].cosine, dot(eps[i], dy[i], n) / (e * d), 1e-12);
        same("alike", o.micro[i].alike, dot(eps[i], eps[i + 1], n) / (e * next), 1e-12);
        same("difference_mean", o.micro[i].difference_mean,
             dot(dy[i], ones, n) / n / (d / sqrt(n)), 1e-9);
    }
    same("kept", o.saved, product_norm(eps, y) / product_norm(m, y), 1e-12);
    same("lazy", o.lazy, product_norm(eps, dy) / product_norm(m, y), 1e-12);
    fr_observed_close(&o);
}

/* ---- an error made up for later ------------------------------------------------------------------ */

enum { QH = 12, QT = 16, QN = 32 };

/* The gradient of E(W) = sum |W Y_i - B_i|^2 / 2 is sum M_i Y_i^T with M_i = W Y_i - B_i, the message: squared norm
 * of what a codec of rank 2 adds to it.  alike: all Y_i are the same, at a random W; else they are independent, and
 * at W = 0 so are messages and errors of them. */
static double added(bool lazy, bool alike, double *last) {
    struct fr_real real = {.k = fr_kernels_of(FR_FP64)};
    const struct fr_kernels *k = real.k;
    struct fr_lowrank codec;
    double w[QH * QH], y[QH * QT], b[QH * QT], m[QH * QT], g[QH * QH] = {0}, e[QH * QH];
    fr_fill_normal(k, 8, 1, 0, QH, 0, QH, QH, alike ? 1 : 0, w);
    fr_lowrank_open(k, QH, QT, 2, lazy, 3, 9, &codec);
    for (int i = 0; i < QN; i++) {
        fr_fill_normal(k, 8, (uint64_t)(alike ? 100 : 100 + i), 0, QH, 0, QT, QT, 1, y);
        fr_fill_normal(k, 8, (uint64_t)(200 + i), 0, QH, 0, QT, QT, 1, b);
        k->gemm(false, false, QH, QT, QH, 1, w, QH, y, QT, 0, m, QT);
        k->subtract(QH * QT, m, b); /* M, in b */
        memcpy(m, b, sizeof m);
        k->gemm(false, true, QH, QH, QT, 1, m, QT, y, QT, 1, g, QH);
        fr_lowrank_encode(&real, &codec, m);
        fr_lowrank_decode(&real, &codec, codec.factors, 1, m);
        k->gemm(false, true, QH, QH, QT, -1, m, QT, y, QT, 1, g, QH);
    }
    *last = 0;
    if (lazy) { /* e_N Y_N^T */
        k->gemm(false, true, QH, QH, QT, 1, codec.error, QT, y, QT, 0, e, QH);
        *last = sqrt(k->dot(QH * QH, e, e));
        k->subtract(QH * QH, g, e); /* what is not of the last error, in e */
        if (alike && !(sqrt(k->dot(QH * QH, e, e)) < 1e-10 * *last))
            FAIL("alike: %g besides the last error, %g", sqrt(k->dot(QH * QH, e, e)), *last);
    }
    fr_lowrank_close(&codec);
    return k->dot(QH * QH, g, g);
}

/* Where activations are alike, the loss of a codec is the last error, to rounding, where dropping leaves many; where
 * they are independent and of zero mean it is more by half at least (twice, were the errors of a size). */
static void making_up_helps_and_hurts(void) {
    double last = 0, none = 0;
    double dropped = added(false, true, &none), made_up = added(true, true, &last);
    same("alike", sqrt(made_up), last, 1e-10);
    if (!(made_up < dropped)) FAIL("alike: made up %g, dropped %g", made_up, dropped);
    dropped = added(false, false, &none);
    made_up = added(true, false, &last);
    if (!(made_up > 1.5 * dropped)) FAIL("apart: made up %g, dropped %g", made_up, dropped);
}

/* ---------------------------------------------------------------------------------------------- */

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (rank == 0) observed_by_loops();
    if (rank == 0) making_up_helps_and_hurts();
    meshes_learn_alike();
    divided_state_learns_alike();
    sub_graphs_learn_alike();
    networks_learn_alike();
    evaluations_leave_no_trace();
    forward_evaluations_leave_no_trace();
    a_warm_up_is_plain();
    MPI_Allreduce(MPI_IN_PLACE, &n_failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return n_failed > 0;
}
