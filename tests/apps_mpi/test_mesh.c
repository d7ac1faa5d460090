/* Gradients of the program mesh on the job's ranks, under every mesh dp x pp x tp of them, method and
 * schedule: where a plan is exact against a serial run of the whole batch, where it compresses against
 * a serial emulation of its codecs over two iterations, 1e-12 and 1e-9 of the largest.  And what the
 * program sends is what the plan's price says, byte for byte. */
#include "models/job/job.h"
#include "models/price/pipeline.h"
#include "tests/apps_mpi/emulated.h"
#include "tests/apps_mpi/mpi_case.h"
#include "tests/apps_mpi/serial_phantom.h"

enum { SEED = 17, BATCH = 64, LAYERS = 8, GHOST = 2, STREAM_CODEC = 6, STREAM_GRADIENT = 1000 };
/* All divide by 8, and are no squares; Eq. 8 allows two ghost neurons. */
static const int mixed[] = {32, 48, 40, 32, 64, 24, 48, 32, 40};
static const int equal[] = {32, 32, 32, 32, 32, 32, 32, 32, 32};
static int rank, n_ranks, n_compared, n_lossy_compared;

/* These plans are tried. */
struct plan {
    const char *method, *schedule;
    int tp, pp, dp, chunks, micro;
    const char *scope; /* of messages; NULL: none */
    bool lazy, topk;
    int coded_stages;
    bool dp_first, overlap;
    bool ranks; /* a rank for each of these stages */
};
enum { RANK = 2 };

/* Rank of a compressed stage's gradients: all alike, or one for each, of which some are whole. */
static int gradient_rank(const struct plan *p, int stage) {
    static const int each[] = {3, 0, 1, 2};
    if (stage >= p->coded_stages) return 0;
    return p->ranks ? each[stage % 4] : RANK;
}

/* "rank": 2, or "ranks": [3, 0, ...] */
static void write_ranks(const struct plan *p, char *out, size_t capacity) {
    size_t end = (size_t)snprintf(out, capacity, "\"rank%s\": ", p->ranks ? "s" : "");
    for (int i = 0; i < (p->ranks ? p->coded_stages : 1); i++)
        end += (size_t)snprintf(out + end, capacity - end, "%s%d",
                                !p->ranks ? ""
                                : i       ? ", "
                                          : "[",
                                gradient_rank(p, i));
    snprintf(out + end, capacity - end, p->ranks ? "]" : "");
}

static void write_plan(const struct plan *p, char *out, size_t capacity) {
    char messages[120] = "", gradients[120] = "", ranks[60] = "";
    write_ranks(p, ranks, sizeof ranks);
    if (p->scope)
        snprintf(messages, sizeof messages,
                 "\"backward\": {\"scope\": \"%s\", \"rank\": %d, \"lazy_error\": %s}",
                 p->scope, RANK, p->lazy ? "true" : "false");
    if (p->coded_stages)
        snprintf(gradients, sizeof gradients, "%s\"gradient\": {\"stages\": %d, %s}",
                 p->scope ? ", " : "", p->coded_stages, ranks);
    snprintf(
        out, capacity,
        "{\"method\": \"%s\", \"tp\": %d, \"pp\": %d, \"dp\": %d, \"micro_batch\": %d%s%s%s"
        "%s%s%s%s%s%s%s}",
        p->method, p->tp, p->pp, p->dp, p->micro, p->pp > 1 ? ", \"schedule\": \"" : "",
        p->pp > 1 ? p->schedule : "", p->pp > 1 ? "\"" : "",
        p->chunks > 1 ? ", \"chunks\": 2" : "",
        strcmp(p->method, "phantom") ? "" : ", \"ghost\": 2",
        p->dp_first ? ", \"rank_order\": \"tp-dp-pp\"" : "",
        p->overlap ? ", \"overlap\": \"gradient\", \"bucket\": \"5 KB\"" : "",
        p->scope || p->coded_stages ? ", \"compression\": {" : "", messages,
        p->scope || p->coded_stages ? gradients : "");
    if (p->scope || p->coded_stages) {
        size_t end = strlen(out);
        snprintf(out + end - 1, capacity - end, "%s}}", p->topk ? ", \"codec\": \"topk\"" : "");
    }
}

static const int *widths_of(const struct plan *p) { return p->chunks > 1 ? equal : mixed; }

static const char *model_of(const struct plan *p, char *text, size_t capacity) {
    size_t end = (size_t)snprintf(text, capacity, "{\"kind\": \"mlp\", \"layers\": [");
    for (int i = 0; i <= LAYERS; i++)
        end += (size_t)snprintf(text + end, capacity - end, "%s%d", i ? ", " : "",
                                widths_of(p)[i]);
    snprintf(text + end, capacity - end, "], \"dtype\": \"fp64\", \"global_batch\": %d}",
             BATCH);
    return text;
}

static bool is_phantom(const struct plan *p) { return strcmp(p->method, "phantom") == 0; }

/* ---- the network, whole ------------------------------------------------------------------------ */

/* Phantom has parts of the dense products beside them. */
struct network {
    struct serial s;
    struct serial_phantom ghost_neurons[LAYERS];
};

static void network_open(struct network *n, const struct plan *p) {
    memset(n, 0, sizeof *n);
    serial_open(&n->s, SEED, widths_of(p), LAYERS, BATCH, false);
    for (int l = 0; l < LAYERS && is_phantom(p); l++)
        serial_phantom_open(&n->ghost_neurons[l], SEED, (uint64_t)(FR_STREAM_LAYER + 64 * l),
                            n->s.width[l + 1], n->s.width[l], p->tp, GHOST, n->s.w[l]);
}

static void network_close(struct network *n) {
    serial_close(&n->s);
    for (int l = 0; l < LAYERS; l++) serial_phantom_close(&n->ghost_neurons[l]);
}

/* ---- a rank's part of a layer's gradients -------------------------------------------------------- */

/* Layer @p l of tp rank @p j from dense gradients, as the rank's block has it; and where its matrices
 * are.  @return its values. */
static int part_of(const struct network *net, const struct plan *plan, int l, int j,
                   const double *dw, const double *db, double *out,
                   struct serial_matrix *matrix, int *n_matrices) {
    int p = plan->tp, width = net->s.width[l], rows = net->s.width[l + 1] / p, n;
    *n_matrices = 0;
    if (is_phantom(plan))
        n = serial_phantom_part(&net->ghost_neurons[l], j, dw, out, 0, matrix, n_matrices);
    else {
        n = rows * width;
        memcpy(out, dw + j * n, (size_t)n * sizeof *out);
        matrix[(*n_matrices)++] = (struct serial_matrix){0, rows, width};
    }
    memcpy(out + n, db + j * rows, (size_t)rows * sizeof *out);
    return n + rows;
}

/* ---- training it, with codecs ------------------------------------------------------------------ */

/* First layer of chunk @p number: as equal as can be, the earlier ones one more. */
static int first_layer(const struct plan *p, int number) {
    int parts = p->pp * p->chunks, more = LAYERS % parts;
    return number * (LAYERS / parts) + (number < more ? number : more);
}

/* Values of 8 B, with top-k their places besides; of gradients every replica gathers what all send. */
static bool saves(const struct plan *p, bool gradient, int low, int m, int n) {
    int replicas = p->topk && gradient ? p->dp : 2;
    return replicas * low * (m + n) * (p->topk ? 12 : 8) < 2 * m * n * 8;
}

struct emulation {
    struct network net;
    const struct plan *plan;
    int micros;                                    /* of a replica */
    struct emulated_codec message[8][16][8];       /* [replica][chunk][part] */
    struct emulated_codec gradient[8][LAYERS][16]; /* [replica]: of this rank's parts */
    double *dw[8][LAYERS], *db[8][LAYERS];         /* of each replica */
};

static bool folds(const struct plan *p) { return strstr(p->schedule, "-v") != NULL; }
/* The stage of chunk @p number: down, and up again where the schedule folds. */
static int stage_of(const struct plan *p, int number) {
    bool back = folds(p) && number / p->pp % 2 == 1;
    return back ? p->pp - 1 - number % p->pp : number % p->pp;
}

static const struct fr_schedule *schedule_of(const struct plan *p) {
    const struct fr_schedule *const *row = fr_schedules;
    while (strcmp((*row)->name, p->schedule) != 0) row++;
    return *row;
}

/* Where it folds: of the order of passes those backward ones behind the last forward pass and its pair. */
static bool in_cool_down(const struct plan *p, int number, int micro, int micros) {
    const struct fr_schedule *schedule = schedule_of(p);
    struct fr_schedule_args args = {p->pp, micros, p->chunks, 0};
    int64_t n = fr_schedule_slots(schedule, &args), last = 0, at = -1;
    struct fr_slot *slots = calloc((size_t)n, sizeof *slots);
    schedule->order(&args, stage_of(p, number), slots);
    for (int64_t k = 0; k < n; k++) {
        if (slots[k].kind == FR_SLOT_FORWARD) last = k;
        if (slots[k].kind == FR_SLOT_BACKWARD && slots[k].chunk == number / p->pp &&
            slots[k].micro == micro)
            at = k;
    }
    int64_t between = 0;
    for (int64_t k = last + 1; k < at; k++) between += slots[k].kind == FR_SLOT_BACKWARD;
    free(slots);
    return at > last && between > 0;
}

/* The messages that a stage reads in its cool-down, written down by hand: with one chunk the last
 * P - 1 - i; interleaved the last 2 (P - 1 - i) + (v - 1) P of its v m backward passes, whose k-th is of
 * chunk v - 1 - floor(k / P) mod v and of micro-batch P floor(k / v P) + k mod P. */
static bool in_epilogue(const struct plan *p, int number, int micro, int micros) {
    int stages = p->pp, i = number % stages, chunk = number / stages, v = p->chunks;
    if (folds(p)) return in_cool_down(p, number, micro, micros);
    if (v == 1) return micro >= micros - (stages - 1 - i);
    int warm_up = 2 * (stages - 1 - i) + (v - 1) * stages, total = v * micros;
    for (int k = total - 1; k >= 0 && k >= total - warm_up; k--)
        if (v - 1 - k / stages % v == chunk &&
            stages * (k / (v * stages)) + k % stages == micro)
            return k >
                   0; /* where all forward passes come first, the first backward pass pairs */
    return false;
}

/* dx (width x b) crosses the boundary above chunk @p below, a part a tp rank. */
static void cross(struct emulation *e, int d, int below, int micro, int width, int b,
                  double *dx) {
    const struct plan *p = e->plan;
    int rows = width / p->tp;
    bool all = p->scope && strcmp(p->scope, "all") == 0;
    if (!p->scope || !saves(p, false, RANK, rows, b)) return;
    if (stage_of(p, below) == stage_of(p, below + 1)) return; /* it stays */
    if (!all && !in_epilogue(p, below, micro, e->micros)) return;
    for (int j = 0; j < p->tp; j++) {
        double *part = dx + j * rows * b;
        e->message[d][below + 1][j].topk = p->topk;
        emulated_code(&e->message[d][below + 1][j], 1, &part);
    }
}

/* Forward and backward of micro-batch @p m of replica @p d. */
static void train_micro(struct emulation *e, int d, int m) {
    struct serial *s = &e->net.s;
    const struct plan *p = e->plan;
    int b = p->micro, first = d * BATCH / p->dp + m * b, out = s->width[LAYERS], widest = 64;
    double *y[LAYERS + 1], *dy = calloc((size_t)(widest * b), sizeof *dy);
    for (int l = 0; l <= LAYERS; l++) y[l] = malloc((size_t)(s->width[l] * b) * sizeof **y);
    for (int i = 0; i < s->width[0]; i++)
        for (int x = 0; x < b; x++) y[0][i * b + x] = s->y[0][i * BATCH + first + x];
    for (int l = 0; l < LAYERS; l++) {
        serial_multiply(s->width[l + 1], b, s->width[l], s->w[l], y[l], y[l + 1]);
        for (int i = 0; i < s->width[l + 1] * b; i++) y[l + 1][i] = fmax(0, y[l + 1][i]);
    }
    for (int i = 0; i < out; i++)
        for (int x = 0; x < b; x++)
            dy[i * b + x] =
                2 * (y[LAYERS][i * b + x] - s->target[i * BATCH + first + x]) / (out * BATCH);
    for (int l = LAYERS - 1, chunk = p->pp * p->chunks - 1; l >= 0; l--) {
        int in = s->width[l];
        double *dx = calloc((size_t)(widest * b), sizeof *dx);
        for (int o = 0; o < s->width[l + 1]; o++)
            for (int x = 0; x < b; x++) {
                double delta = y[l + 1][o * b + x] > 0 ? dy[o * b + x] : 0;
                e->db[d][l][o] += delta;
                for (int i = 0; i < in; i++) {
                    e->dw[d][l][o * in + i] += delta * y[l][i * b + x];
                    dx[i * b + x] += delta * s->w[l][o * in + i];
                }
            }
        free(dy);
        dy = dx;
        if (l > 0 && l == first_layer(p, chunk)) cross(e, d, --chunk, m, in, b, dy);
    }
    for (int l = 0; l <= LAYERS; l++) free(y[l]);
    free(dy);
}

static void emulation_open(struct emulation *e, const struct plan *p) {
    memset(e, 0, sizeof *e);
    e->plan = p;
    e->micros = BATCH / p->dp / p->micro;
    network_open(&e->net, p);
    for (int d = 0; d < p->dp; d++) {
        for (int l = 0; l < LAYERS; l++) {
            e->dw[d][l] = malloc((size_t)(64 * 64) * sizeof(double));
            e->db[d][l] = malloc(64 * sizeof(double));
        }
        for (int c = 1; c < p->pp * p->chunks; c++)
            for (int j = 0; j < p->tp; j++)
                emulated_open(&e->message[d][c][j], e->net.s.width[first_layer(p, c)] / p->tp,
                              p->micro, RANK, p->lazy, SEED, (uint64_t)(STREAM_CODEC + 10 * c));
    }
}

static void emulation_close(struct emulation *e) {
    network_close(&e->net);
    for (int d = 0; d < e->plan->dp; d++) {
        for (int l = 0; l < LAYERS; l++) {
            free(e->dw[d][l]);
            free(e->db[d][l]);
            for (int i = 0; i < 16; i++) emulated_close(&e->gradient[d][l][i]);
        }
        for (int c = 1; c < e->plan->pp * e->plan->chunks; c++)
            for (int j = 0; j < e->plan->tp; j++) emulated_close(&e->message[d][c][j]);
    }
}

/* An iteration: gradients of every replica by themselves. */
static void emulate(struct emulation *e) {
    for (int d = 0; d < e->plan->dp; d++) {
        for (int l = 0; l < LAYERS; l++) {
            memset(e->dw[d][l], 0, (size_t)(64 * 64) * sizeof(double));
            memset(e->db[d][l], 0, 64 * sizeof(double));
        }
        for (int m = 0; m < e->micros; m++) train_micro(e, d, m);
    }
}

/* Layer @p l as tp rank @p j has it after the replicas have added it up; codecs where its stage's
 * gradients go compressed.  @return its values, in @p wanted. */
static int reduced(struct emulation *e, int stage, int l, int j, double *wanted) {
    const struct plan *p = e->plan;
    struct serial_matrix matrix[16];
    double *part[8];
    int n = 0, n_matrices = 0, low = gradient_rank(p, stage);
    for (int d = 0; d < p->dp; d++) {
        part[d] = malloc((size_t)(64 * 65) * sizeof **part);
        n = part_of(&e->net, p, l, j, e->dw[d][l], e->db[d][l], part[d], matrix, &n_matrices);
    }
    memset(wanted, 0, (size_t)n * sizeof *wanted);
    for (int d = 0; d < p->dp; d++)
        for (int i = 0; i < n; i++) wanted[i] += part[d][i];
    for (int i = 0; i < n_matrices && low > 0 && p->dp > 1; i++) {
        const struct serial_matrix *x = &matrix[i];
        struct emulated_codec codec[8];
        double *in[8];
        if (!saves(p, true, low, x->m, x->n)) continue;
        for (int d = 0; d < p->dp; d++) {
            struct emulated_codec *saved = &e->gradient[d][l][i];
            if (!saved->q)
                emulated_open(saved, x->m, x->n, low, true, SEED,
                              (uint64_t)(STREAM_GRADIENT + 64 * l + i));
            saved->topk = p->topk;
            codec[d] = *saved; /* one beside the other; what they point to is kept */
            in[d] = part[d] + x->at;
        }
        emulated_code(codec, p->dp, in);
        memcpy(wanted + x->at, in[0], (size_t)(x->m * x->n) * sizeof *wanted);
    }
    for (int d = 0; d < p->dp; d++) free(part[d]);
    return n;
}

static void check_gradients(const struct mpi_case *c, struct emulation *e, double tolerance) {
    const struct plan *p = e->plan;
    double *wanted = malloc((size_t)(64 * 65) * sizeof *wanted);
    char what[300], text[500];
    int64_t offset = 0;
    write_plan(p, text, sizeof text);
    for (int chunk = 0; chunk < p->chunks; chunk++) {
        int own = c->real.pp_rank, back = folds(p) && chunk % 2 == 1,
            number = chunk * p->pp + (back ? p->pp - 1 - own : own);
        for (int l = first_layer(p, number); l < first_layer(p, number + 1); l++) {
            int n = reduced(e, c->real.pp_rank, l, c->real.tp_rank, wanted);
            snprintf(what, sizeof what, "layer %d, %.270s", l, text);
            check_block(c, what, offset, wanted, n, tolerance);
            offset += n;
        }
    }
    if (offset != c->real.n_parameters) FAIL("%s: parameters are left over", text);
    free(wanted);
}

/* ---- bytes ------------------------------------------------------------------------------------- */

static const char cluster[] =
    "{\"device\": {\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp64\": {\"peak\": \"1 "
    "TFLOP/s\", \"half_dim\": 8}}}, \"levels\": [{\"name\": \"node\", \"ranks\": 64, "
    "\"latency\": \"1 us\", \"bandwidth\": \"10 GB/s\"}]}";

/* The bytes that this rank sent in @p iterations equal those of its stage's price. */
static void check_bytes(const struct mpi_case *c, const char *model, const char *plan,
                        int iterations, bool lossy) {
    static const int axes[][2] = {{FR_REAL_TP, FR_SENT_TP},
                                  {FR_REAL_PP, FR_SENT_PP},
                                  {FR_REAL_DP, FR_SENT_DP},
                                  {FR_REAL_OTHER, FR_SENT_EMBEDDING}};
    const struct fr_job_names names = {.cluster = cluster, .model = model, .plan = plan};
    struct fr_job job = {0};
    struct fr_pipeline p = {0};
    struct fr_error err = {.status = FR_OK};
    uint32_t extrapolated = 0;
    if (fr_job_load(&names, &job, &err) != FR_OK)
        FAIL("%s: %s: %s", plan, err.where, err.detail);
    else if (fr_pipeline_check(&job, &job.plan) == 0 &&
             fr_pipeline_make(&job, &job.plan, &p, &extrapolated, &err) == FR_OK) {
        const double *priced_B = p.stage[c->real.pp_rank].sent_B;
        for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
            double got = c->real.sent_B[axes[i][0]] / iterations, want = priced_B[axes[i][1]];
            double slack_B = axes[i][0] == FR_REAL_DP ? mpi_case_beyond_B(c, want) : 0;
            if (!(fabs(got - want) <= 1e-9 * fmax(1, want) + slack_B))
                FAIL("%s, rank %d: sends %.17g B over %s, priced %.17g", plan, rank, got,
                     fr_sent_names[axes[i][1]], want);
        }
        n_compared++;
        n_lossy_compared += lossy;
    }
    fr_pipeline_free(&p);
    fr_job_free(&job);
}

/* ---- every mesh --------------------------------------------------------------------------------- */

static void run_plan(const struct plan *p) {
    struct mpi_case c;
    static struct emulation e;
    char model[400], text[500];
    bool lossy = p->scope || p->coded_stages;
    write_plan(p, text, sizeof text);
    emulation_open(&e, p);
    if (mpi_case_open(&c, &fr_real_mesh, model_of(p, model, sizeof model), text, SEED)) {
        serial_gradients(&e.net.s);
        int iterations = lossy ? 2 : 1; /* a codec keeps something for the next */
        for (int iteration = 0; iteration < iterations; iteration++) {
            double loss = mpi_case_gradients(&c);
            if (!(fabs(loss - e.net.s.loss) <= 1e-12 * e.net.s.loss))
                FAIL("%s: loss %.17g, want %.17g", text, loss, e.net.s.loss);
            emulate(&e);
            check_gradients(&c, &e, lossy ? 1e-9 : 1e-12);
        }
        check_bytes(&c, model, text, lossy ? 2 : 1, lossy);
    }
    mpi_case_close(&c);
    emulation_close(&e);
}

static void every_schedule(struct plan *p) {
    static const char *const schedules[] = {"1f1b", "gpipe", "1f1b-double", "interleaved",
                                            "zero-bubble"};
    int replica = BATCH / p->dp;
    for (int i = 0; i < (p->pp > 1 ? 5 : 1); i++) {
        p->schedule = schedules[i];
        p->chunks = i == 3 ? 2 : 1;
        if (p->pp * p->chunks > LAYERS) continue;
        /* A single stage is tried with one micro-batch and several; interleaved takes multiples of
         * the stages. */
        p->micro =
            p->pp > 1 ? replica / (i == 3 ? p->pp * (p->pp < 8 ? 2 : 1) : 4) : replica / 2;
        p->dp_first = i == 1;
        run_plan(p);
        p->overlap = p->dp > 1 && (i == 0 || i > 2);
        if (p->overlap) run_plan(p);
        p->overlap = false;
    }
    p->dp_first = false;
}

/* A rank for each compressed stage, as factors and as sparse parts. */
static void every_rank(struct plan p) {
    p.coded_stages = p.pp, p.ranks = true;
    if (p.dp > 1) run_plan(&p);
    p.topk = true;
    if (p.dp > 1) run_plan(&p);
}

static void every_compression(struct plan *p) {
    int replica = BATCH / p->dp;
    p->schedule = "1f1b", p->chunks = 1;
    p->micro = p->pp > 1 ? replica / 4 : replica;
    p->coded_stages = p->dp > 1 ? (p->pp + 1) / 2 : 0;
    if (p->dp > 1) run_plan(p);
    p->overlap = p->dp > 1; /* of stages whose gradients go whole */
    if (p->dp > 1) run_plan(p);
    p->overlap = false;
    p->topk = true;
    if (p->dp > 1) run_plan(p);
    p->topk = false;
    every_rank(*p);
    if (p->pp == 1) return;
    p->scope = "epilogue", p->lazy = false;
    run_plan(p);
    p->coded_stages = p->dp > 1 ? p->pp : 0;
    p->scope = "all", p->lazy = true;
    run_plan(p);
    p->schedule = "zero-bubble";
    run_plan(p);
    p->topk = true;
    run_plan(p);
    p->topk = false;
    p->schedule = "interleaved", p->chunks = 2;
    if (p->pp * 2 > LAYERS) return;
    p->micro = replica / (2 * p->pp);
    run_plan(p);
    p->scope = "epilogue";
    run_plan(p);
    p->schedule = "dualpipe-v";
    run_plan(p);
    p->schedule = "zero-bubble-v", p->scope = "all", p->topk = true;
    run_plan(p);
    p->topk = false;
}

static void every_mesh(const char *method) {
    for (int tp = 1; tp <= n_ranks; tp++)
        for (int pp = 1; n_ranks % tp == 0 && pp <= n_ranks / tp; pp++) {
            if (n_ranks / tp % pp != 0) continue;
            struct plan p = {.method = method, .tp = tp, .pp = pp, .dp = n_ranks / tp / pp};
            every_schedule(&p);
            every_compression(&p);
        }
}

/* ---- what must be refused -------------------------------------------------------------------- */

static void refused(const char *model, const char *plan, const char *because) {
    struct mpi_case c;
    struct fr_error err = {.status = FR_OK};
    if (mpi_case_read(&c, &fr_real_mesh, model, plan, SEED, &err) != FR_OK)
        FAIL("%s: %s", plan, err.detail);
    else if (c.app->check(&c.run, &err) != FR_ERR_INPUT || !strstr(err.detail, because))
        FAIL("%s: want \"%s\" refused, got \"%s\"", plan, because, err.detail);
    mpi_case_close(&c);
}

static void refusals(void) {
    const char *ffn = "{\"kind\": \"ffn\", \"width\": 64, \"layers\": 4, \"global_batch\": 8}";
    refused("{\"kind\": \"stages\", \"forward\": \"1 ms\", \"backward\": \"2 ms\"}", "{}",
            "no layers");
    refused(ffn, "{\"tp\": 3}", "does not divide");
    refused(ffn, "{\"dp\": 3}", "does not divide by dp");
    refused(ffn, "{\"pp\": 2, \"micro_batch\": 3}", "does not divide by micro_batch");
    refused(ffn, "{\"pp\": 5}", "5 stages");
    refused("{\"kind\": \"ffn\", \"width\": 64, \"layers\": 6, \"global_batch\": 8}",
            "{\"pp\": 2, \"schedule\": \"interleaved\", \"chunks\": 2, \"micro_batch\": 2}",
            "pp x chunks");
    refused(ffn,
            "{\"pp\": 2, \"schedule\": \"interleaved\", \"chunks\": 2, \"micro_batch\": 2, "
            "\"p2p\": \"duplex\"}",
            "one chunk a stage");
    refused(ffn,
            "{\"dp\": 2, \"pp\": 2, \"compression\": {\"gradient\": {\"stages\": 2, "
            "\"ranks\": [2]}}}",
            "lists 1 stages");
    refused(ffn, "{\"method\": \"phantom\", \"tp\": 4, \"ghost\": 12}",
            "below (n/p)(1 - 1/p) = 12");
    refused(ffn, "{\"method\": \"grid\", \"dp\": 2, \"layer_tp\": [1]}", "\"layer_tp\"");
    refused(ffn, "{\"method\": \"subgraph\", \"tp\": 2}", "method subgraph");
}

int main(int argc, char **argv) {
    static const char *const methods[] = {"tensor", "grid", "phantom"};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int i = 0; i < 3; i++) every_mesh(methods[i]);
    refusals();
    if (n_compared == 0 || (n_ranks > 1 && n_lossy_compared == 0))
        FAIL("no plan's bytes were compared with its price");
    if (rank == 0)
        printf("bytes of %d plans compared with their prices, %d of them lossy\n", n_compared,
               n_lossy_compared);
    MPI_Allreduce(MPI_IN_PLACE, &n_failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return n_failed > 0;
}
