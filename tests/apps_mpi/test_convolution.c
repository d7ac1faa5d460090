/* Gradients of convolutional networks on the job's ranks, under every grid x stages x replicas of them, against the
 * same network in plain loops by one processor, 1e-12 of the largest; where messages and gradients go compressed,
 * against an emulation of the codecs over two iterations, 1e-9.  One processor's pass finite differences.  A run
 * sends the bytes that the price counts, except over tp backward, where Eq. 4 of Gholami et al. 2017 counts a
 * convolution's outputs and a run sends as many as its inputs. */
#include "models/job/job.h"
#include "models/price/pipeline.h"
#include "tests/apps_mpi/emulated.h"
#include "tests/apps_mpi/mpi_case.h"

#include "real/apps/ffn.h"

enum {
    SEED = 23,
    BATCH = 16,
    LAYERS = 4,
    OUT = 32,
    RANK = 1,
    STREAM_CODEC = 6,
    STREAM_GRADIENT = 1000
};
static int rank, n_ranks, n_compared;

/* Windows, groups, steps, zeros around and pooling that overlaps; then two fully connected layers. */
static const char model[] =
    "{\"kind\": \"cnn\", \"dtype\": \"fp64\", \"global_batch\": 16, \"input\": [4, 9, 8], "
    "\"layers\": [{\"type\": \"conv\", \"filters\": 8, \"kernel\": 3, \"padding\": 1, "
    "\"pool\": "
    "{\"kernel\": 3, \"stride\": 2}}, {\"type\": \"conv\", \"filters\": 16, \"kernel\": 2, "
    "\"groups\": 2, \"padding\": 1, \"stride\": 2}, {\"type\": \"full\", \"outputs\": 24}, "
    "{\"type\": \"full\", \"outputs\": 32}]}";

/* This describes a layer; kernel 0: fully connected, pool 0: none. */
struct shape {
    int channels, height, width, filters, kernel, stride, padding, groups, pool, pool_stride;
};
static const struct shape shapes[LAYERS] = {{4, 9, 8, 8, 3, 1, 1, 1, 3, 2},
                                            {8, 4, 3, 16, 2, 2, 1, 2, 0, 0},
                                            {16 * 3 * 2, 1, 1, 24, 0, 0, 0, 1, 0, 0},
                                            {24, 1, 1, OUT, 0, 0, 0, 1, 0, 0}};
/* Values that enter a layer, that it makes, and that leave it. */
static const int n_in[LAYERS] = {4 * 9 * 8, 8 * 4 * 3, 96, 24};
static const int n_made[LAYERS] = {8 * 9 * 8, 16 * 3 * 2, 24, OUT};
static const int n_out[LAYERS] = {8 * 4 * 3, 96, 24, OUT};
static const int n_inner[LAYERS] = {4 * 9, 4 * 4, 96, 24};

/* ---- in plain loops ------------------------------------------------------------------------------ */

struct network {
    double *w[LAYERS], b[LAYERS][32];
};

static void network_open(struct network *n) {
    memset(n, 0, sizeof *n);
    for (int l = 0; l < LAYERS; l++) {
        int size = shapes[l].filters * n_inner[l];
        n->w[l] = malloc((size_t)size * sizeof *n->w[l]);
        for (int i = 0; i < size; i++)
            n->w[l][i] = sqrt(1.0 / 3 / n_inner[l]) *
                         fr_normal_at(SEED, (uint64_t)(64 + 64 * l), (uint64_t)i);
    }
}

static void network_close(struct network *n) {
    for (int l = 0; l < LAYERS; l++) free(n->w[l]);
}

/* For one sample: the input of each layer, and its output before pooling. */
struct sample {
    double x[LAYERS + 1][600], made[LAYERS][600];
};

static int made_height(const struct shape *s) {
    return s->kernel ? (s->height + 2 * s->padding - s->kernel) / s->stride + 1 : 1;
}
static int made_width(const struct shape *s) {
    return s->kernel ? (s->width + 2 * s->padding - s->kernel) / s->stride + 1 : 1;
}

/* For each weight of filter @p f: with which value of x it meets at (y, x); -1: a zero. */
static int met(const struct shape *s, int f, int at, int y, int x) {
    if (!s->kernel) return at;
    int area = s->kernel * s->kernel, c = at / area, ky = at % area / s->kernel,
        kx = at % s->kernel, row = y * s->stride + ky - s->padding,
        column = x * s->stride + kx - s->padding, group = f / (s->filters / s->groups),
        channel = group * s->channels / s->groups + c;
    if (row < 0 || row >= s->height || column < 0 || column >= s->width) return -1;
    return (channel * s->height + row) * s->width + column;
}

/* Where output @p i of layer @p l was taken from what it made. */
static int taken_from(int l, int i, const double *made) {
    const struct shape *s = &shapes[l];
    int h = made_height(s), w = made_width(s);
    if (!s->pool) return i;
    int rows = (h - s->pool) / s->pool_stride + 1, columns = (w - s->pool) / s->pool_stride + 1,
        c = i / (rows * columns), y = i / columns % rows, x = i % columns, best = -1;
    for (int ky = 0; ky < s->pool; ky++)
        for (int kx = 0; kx < s->pool; kx++) {
            int at = (c * h + y * s->pool_stride + ky) * w + x * s->pool_stride + kx;
            if (best < 0 || made[at] > made[best]) best = at;
        }
    return best;
}

static void forward(const struct network *n, struct sample *s) {
    for (int l = 0; l < LAYERS; l++) {
        int w = made_width(&shapes[l]), area = w * made_height(&shapes[l]);
        for (int i = 0; i < n_made[l]; i++) {
            int f = i / area;
            double sum = n->b[l][f];
            for (int at = 0; at < n_inner[l]; at++) {
                int from = met(&shapes[l], f, at, i % area / w, i % w);
                if (from >= 0) sum += n->w[l][f * n_inner[l] + at] * s->x[l][from];
            }
            s->made[l][i] = fmax(0, sum);
        }
        for (int i = 0; i < n_out[l]; i++)
            s->x[l + 1][i] = s->made[l][taken_from(l, i, s->made[l])];
    }
}

/* dx := of layer @p l from dy; gradients are added. */
static void backward(const struct network *n, const struct sample *s, int l, const double *dy,
                     double *dx, struct network *g) {
    double made[600] = {0};
    int w = made_width(&shapes[l]), area = w * made_height(&shapes[l]);
    for (int i = 0; i < n_out[l]; i++) made[taken_from(l, i, s->made[l])] += dy[i];
    memset(dx, 0, (size_t)n_in[l] * sizeof *dx);
    for (int i = 0; i < n_made[l]; i++) {
        int f = i / area;
        if (!(s->made[l][i] > 0)) continue;
        g->b[l][f] += made[i];
        for (int at = 0; at < n_inner[l]; at++) {
            int from = met(&shapes[l], f, at, i % area / w, i % w);
            if (from < 0) continue;
            g->w[l][f * n_inner[l] + at] += made[i] * s->x[l][from];
            dx[from] += made[i] * n->w[l][f * n_inner[l] + at];
        }
    }
}

/* ---- a plan, emulated ---------------------------------------------------------------------------- */

struct plan {
    int tp, pp, dp, micro;
    const char *schedule;
    bool all; /* messages go compressed */
    int coded_stages;
};

static void write_plan(const struct plan *p, char *out, size_t capacity) {
    char messages[100] = "", gradients[100] = "", stages[60] = "";
    if (p->all)
        snprintf(messages, sizeof messages, "\"backward\": {\"scope\": \"all\", \"rank\": %d}",
                 RANK);
    if (p->coded_stages)
        snprintf(gradients, sizeof gradients, "%s\"gradient\": {\"stages\": %d, \"rank\": %d}",
                 p->all ? ", " : "", p->coded_stages, RANK);
    if (p->pp > 1) snprintf(stages, sizeof stages, ", \"schedule\": \"%s\"", p->schedule);
    snprintf(
        out, capacity,
        "{\"method\": \"grid\", \"tp\": %d, \"pp\": %d, \"dp\": %d, \"micro_batch\": %d%s%s%s"
        "%s%s}",
        p->tp, p->pp, p->dp, p->micro, stages,
        p->all || p->coded_stages ? ", \"compression\": {" : "", messages, gradients,
        p->all || p->coded_stages ? "}" : "");
}

struct emulation {
    const struct plan *plan;
    struct network net, g[8];
    double loss, target[BATCH][OUT];
    struct sample samples[BATCH];
    struct emulated_codec message[8][LAYERS][8], gradient[8][LAYERS];
};

static int first_layer(const struct plan *p, int stage) {
    int more = LAYERS % p->pp;
    return stage * (LAYERS / p->pp) + (stage < more ? stage : more);
}

static bool saves(int m, int n) { return RANK * (m + n) < m * n; }

/* Inputs, and targets of all samples, as real/apps/ffn.h has them. */
static void make_data(struct emulation *e) {
    double *w = malloc((size_t)(OUT * n_in[0]) * sizeof *w);
    for (int i = 0; i < OUT * n_in[0]; i++)
        w[i] = fr_normal_at(SEED, FR_STREAM_W, (uint64_t)i) / sqrt(n_in[0]);
    for (int j = 0; j < BATCH; j++) {
        for (int i = 0; i < n_in[0]; i++)
            e->samples[j].x[0][i] = fr_normal_at(SEED, FR_STREAM_X, (uint64_t)(i * BATCH + j));
        for (int o = 0; o < OUT; o++) {
            double sum = 0;
            for (int i = 0; i < n_in[0]; i++)
                sum += w[o * n_in[0] + i] * fmax(0, e->samples[j].x[0][i]);
            e->target[j][o] = fmax(0, sum);
        }
    }
    free(w);
}

static void emulation_open(struct emulation *e, const struct plan *p) {
    memset(e, 0, sizeof *e);
    e->plan = p;
    network_open(&e->net);
    for (int d = 0; d < p->dp; d++) network_open(&e->g[d]);
    make_data(e);
}

static void emulation_close(struct emulation *e) {
    network_close(&e->net);
    for (int d = 0; d < e->plan->dp; d++) {
        network_close(&e->g[d]);
        for (int l = 0; l < LAYERS; l++) {
            emulated_close(&e->gradient[d][l]);
            for (int j = 0; j < 8; j++) emulated_close(&e->message[d][l][j]);
        }
    }
}

/* dx [micro][values] crosses the boundary below layer @p l of stage @p stage: a part a tp rank. */
static void cross(struct emulation *e, int d, int stage, int l, double (*dx)[600]) {
    const struct plan *p = e->plan;
    int m = n_in[l] / p->tp, n = p->micro;
    if (!p->all || !saves(m, n)) return;
    for (int j = 0; j < p->tp; j++) {
        struct emulated_codec *codec = &e->message[d][l][j];
        double *part = malloc((size_t)(m * n) * sizeof *part);
        if (!codec->q)
            emulated_open(codec, m, n, RANK, true, SEED, (uint64_t)(STREAM_CODEC + 10 * stage));
        for (int i = 0; i < m * n; i++) part[i] = dx[i % n][j * m + i / n];
        emulated_code(codec, 1, &part);
        for (int i = 0; i < m * n; i++) dx[i % n][j * m + i / n] = part[i];
        free(part);
    }
}

static void train_micro(struct emulation *e, int d, int m) {
    const struct plan *p = e->plan;
    int first = d * BATCH / p->dp + m * p->micro, stage = p->pp - 1;
    static double dy[BATCH][600], dx[BATCH][600];
    for (int i = 0; i < p->micro; i++) {
        struct sample *s = &e->samples[first + i];
        forward(&e->net, s);
        for (int o = 0; o < OUT; o++) {
            double error = s->x[LAYERS][o] - e->target[first + i][o];
            e->loss += error * error / (OUT * BATCH);
            dy[i][o] = 2 * error / (OUT * BATCH);
        }
    }
    for (int l = LAYERS - 1; l >= 0; l--) {
        for (int i = 0; i < p->micro; i++)
            backward(&e->net, &e->samples[first + i], l, dy[i], dx[i], &e->g[d]);
        memcpy(dy, dx, sizeof dy);
        if (l > 0 && l == first_layer(p, stage)) cross(e, d, stage--, l, dy);
    }
}

static void emulate(struct emulation *e) {
    e->loss = 0;
    for (int d = 0; d < e->plan->dp; d++) {
        for (int l = 0; l < LAYERS; l++) {
            memset(e->g[d].w[l], 0, (size_t)(shapes[l].filters * n_inner[l]) * sizeof(double));
            memset(e->g[d].b[l], 0, sizeof e->g[d].b[l]);
        }
        for (int m = 0; m < BATCH / e->plan->dp / e->plan->micro; m++) train_micro(e, d, m);
    }
}

/* A rank's rows of layer @p l, added up over replicas, as factors where its stage has them. */
static int reduced(struct emulation *e, int stage, int l, int j, double *wanted) {
    const struct plan *p = e->plan;
    int rows = shapes[l].filters / p->tp, n = rows * n_inner[l];
    static double part[8][8192];
    struct emulated_codec codec[8];
    double *in[8];
    memset(wanted, 0, (size_t)(n + rows) * sizeof *wanted);
    for (int d = 0; d < p->dp; d++) {
        memcpy(part[d], e->g[d].w[l] + j * n, (size_t)n * sizeof **part);
        for (int i = 0; i < n; i++) wanted[i] += part[d][i];
        for (int i = 0; i < rows; i++) wanted[n + i] += e->g[d].b[l][j * rows + i];
        in[d] = part[d];
    }
    if (stage >= p->coded_stages || p->dp == 1 || !saves(rows, n_inner[l])) return n + rows;
    for (int d = 0; d < p->dp; d++) {
        struct emulated_codec *saved = &e->gradient[d][l];
        if (!saved->q)
            emulated_open(saved, rows, n_inner[l], RANK, true, SEED,
                          (uint64_t)(STREAM_GRADIENT + 64 * l));
        codec[d] = *saved;
    }
    emulated_code(codec, p->dp, in);
    memcpy(wanted, in[0], (size_t)n * sizeof *wanted);
    return n + rows;
}

/* ---- bytes --------------------------------------------------------------------------------------- */

static const char cluster[] =
    "{\"device\": {\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp64\": {\"peak\": \"1 "
    "TFLOP/s\", \"half_dim\": 8}}}, \"levels\": [{\"name\": \"node\", \"ranks\": 64, "
    "\"latency\": \"1 us\", \"bandwidth\": \"10 GB/s\"}]}";

/* A stage's input gradients are this much longer than Eq. 4 has them. */
static double longer_B(const struct plan *p, int stage) {
    double values = 0;
    for (int l = first_layer(p, stage); l < first_layer(p, stage + 1); l++)
        values += n_in[l] - n_made[l];
    return values * BATCH / p->dp * 2 * (p->tp - 1) / p->tp * sizeof(double);
}

static void check_bytes(const struct mpi_case *c, const struct plan *p, const char *plan,
                        int iterations) {
    static const int axes[][2] = {
        {FR_REAL_TP, FR_SENT_TP}, {FR_REAL_PP, FR_SENT_PP}, {FR_REAL_DP, FR_SENT_DP}};
    const struct fr_job_names names = {.cluster = cluster, .model = model, .plan = plan};
    struct fr_job job = {0};
    struct fr_pipeline priced = {0};
    struct fr_error err = {.status = FR_OK};
    uint32_t extrapolated = 0;
    if (fr_job_load(&names, &job, &err) != FR_OK || fr_pipeline_check(&job, &job.plan) != 0 ||
        fr_pipeline_make(&job, &job.plan, &priced, &extrapolated, &err) != FR_OK)
        FAIL("%s: not priced: %s", plan, err.detail);
    for (size_t i = 0; priced.stage && i < sizeof axes / sizeof *axes; i++) {
        double got = c->real.sent_B[axes[i][0]] / iterations,
               want = priced.stage[c->real.pp_rank].sent_B[axes[i][1]];
        if (i == 0) want += longer_B(p, c->real.pp_rank);
        if (!(fabs(got - want) <= 1e-9 * fmax(1, want)))
            FAIL("%s, rank %d: sends %.17g B over %s, priced %.17g", plan, rank, got,
                 fr_sent_names[axes[i][1]], want);
    }
    n_compared++;
    fr_pipeline_free(&priced);
    fr_job_free(&job);
}

/* ---- every mesh ---------------------------------------------------------------------------------- */

static void run_plan(const struct plan *p) {
    struct mpi_case c;
    static struct emulation e;
    static double wanted[8192];
    char text[400], what[440];
    bool lossy = p->all || p->coded_stages;
    write_plan(p, text, sizeof text);
    emulation_open(&e, p);
    if (mpi_case_open(&c, &fr_real_mesh, model, text, SEED)) {
        for (int iteration = 0; iteration < (lossy ? 2 : 1); iteration++) {
            int64_t at = 0;
            double loss = mpi_case_gradients(&c);
            emulate(&e);
            if (!(fabs(loss - e.loss) <= 1e-12 * e.loss))
                FAIL("%s: loss %.17g, want %.17g", text, loss, e.loss);
            for (int l = first_layer(p, c.real.pp_rank); l < first_layer(p, c.real.pp_rank + 1);
                 l++) {
                int n = reduced(&e, c.real.pp_rank, l, c.real.tp_rank, wanted);
                snprintf(what, sizeof what, "layer %d, %s", l, text);
                check_block(&c, what, at, wanted, n, lossy ? 1e-9 : 1e-12);
                at += n;
            }
            if (at != c.real.n_parameters) FAIL("%s: parameters are left over", text);
        }
        check_bytes(&c, p, text, lossy ? 2 : 1);
    }
    mpi_case_close(&c);
    emulation_close(&e);
}

static void every_mesh(void) {
    for (int tp = 1; tp <= n_ranks; tp++)
        for (int pp = 1; n_ranks % tp == 0 && pp <= n_ranks / tp && pp <= LAYERS; pp++) {
            if (n_ranks / tp % pp != 0) continue;
            struct plan p = {.tp = tp, .pp = pp, .dp = n_ranks / tp / pp, .schedule = "1f1b"};
            p.micro = pp > 1 ? BATCH / p.dp / 4 : BATCH / p.dp;
            run_plan(&p);
            p.micro = BATCH / p.dp / 2;
            p.schedule = "zero-bubble";
            run_plan(&p);
            p.coded_stages = p.dp > 1 ? pp : 0;
            p.all = pp > 1;
            if (p.coded_stages || p.all) run_plan(&p);
        }
}

/* The loops are right: their gradients are the loss' differences. */
static void finite_differences(void) {
    static struct emulation e;
    const struct plan p = {.tp = 1, .pp = 1, .dp = 1, .micro = BATCH};
    const double step = 1e-6;
    emulation_open(&e, &p);
    emulate(&e);
    for (int turn = 0; turn < 40; turn++) {
        int l = turn % LAYERS, size = shapes[l].filters * n_inner[l],
            at = (int)(fr_random_at(3, 3, (uint64_t)turn) % (uint64_t)size);
        double *w = &e.net.w[l][at], saved = *w, loss[2], want = e.g[0].w[l][at];
        for (int side = 0; side < 2; side++) {
            *w = saved + (side ? -step : step);
            e.loss = 0;
            for (int i = 0; i < BATCH; i++) {
                forward(&e.net, &e.samples[i]);
                for (int o = 0; o < OUT; o++)
                    e.loss +=
                        pow(e.samples[i].x[LAYERS][o] - e.target[i][o], 2) / (OUT * BATCH);
            }
            loss[side] = e.loss;
        }
        *w = saved;
        if (!(fabs((loss[0] - loss[1]) / (2 * step) - want) <= 2e-7))
            FAIL("layer %d, weight %d: difference %.12g, gradient %.12g", l, at,
                 (loss[0] - loss[1]) / (2 * step), want);
    }
    emulation_close(&e);
}

static void refused(const char *of, const char *plan, const char *because) {
    struct mpi_case c;
    struct fr_error err = {.status = FR_OK};
    if (mpi_case_read(&c, &fr_real_mesh, of, plan, SEED, &err) != FR_OK)
        FAIL("%s: %s", plan, err.detail);
    else if (c.app->check(&c.run, &err) != FR_ERR_INPUT || !strstr(err.detail, because))
        FAIL("%s: want \"%s\" refused, got \"%s\"", plan, because, err.detail);
    mpi_case_close(&c);
}

/* Parts of residual networks, each in a layer of its own. */
static void refuse_blocks(void) {
    static const char *const parts[][2] = {
        {"{\"type\": \"conv\", \"filters\": 4, \"kernel\": 3, \"norm\": true}", "a batch norm"},
        {"{\"type\": \"conv\", \"filters\": 4, \"kernel\": 3, \"pool\": \"average\"}",
         "average pooling"},
        {"{\"type\": \"residual\", \"layers\": [{\"type\": \"conv\", \"filters\": 4, "
         "\"kernel\": "
         "3, \"padding\": 1}]}",
         "a shortcut"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char of[400];
        snprintf(
            of, sizeof of,
            "{\"kind\": \"cnn\", \"dtype\": \"fp64\", \"global_batch\": 16, \"input\": [4, 9, "
            "8], \"layers\": [%s, {\"type\": \"full\", \"outputs\": 32}]}",
            parts[i][0]);
        refused(of, "{\"method\": \"grid\", \"tp\": 2}", parts[i][1]);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (rank == 0) finite_differences();
    every_mesh();
    refused(model, "{\"tp\": 1, \"dp\": 2}", "method tensor");
    refused(model, "{\"method\": \"grid\", \"tp\": 3}", "does not divide by tp");
    refuse_blocks();
    if (n_compared == 0) FAIL("no plan's bytes were compared with its price");
    if (rank == 0) printf("bytes of %d plans compared with their prices\n", n_compared);
    MPI_Allreduce(MPI_IN_PLACE, &n_failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return n_failed > 0;
}
