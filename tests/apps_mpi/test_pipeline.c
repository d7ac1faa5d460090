/* Gradients of the program pipeline on the job's ranks, under every mesh dp x pp x tp of them and every
 * schedule, against the same transformer trained in plain loops by one processor: 1e-12 of the largest
 * where a plan is exact, 1e-9 where it compresses, over two iterations, against an emulation of its
 * codecs.  One rank's gradients pass finite differences.  And what the program sends is what the plan's
 * price says, byte for byte. */
#include "models/job/job.h"
#include "models/price/pipeline.h"
#include "tests/apps_mpi/emulated.h"
#include "tests/apps_mpi/mpi_case.h"
#include "tests/apps_mpi/serial_phantom.h"
#include "tests/apps_mpi/serial_words.h"

#include "real/apps/lowrank.h"

enum {
    SEED = 5,
    BATCH = 24,
    RANK = 2,
    STREAM_CODEC = 6,
    STREAM_FORWARD = 5,
    STREAM_GRADIENT = 1000
};
static int rank, n_ranks, n_compared, n_lossy_compared;

/* These plans are tried. */
struct plan {
    const char *schedule;
    int tp, pp, dp, chunks, micro;
    const char *scope;     /* of messages; NULL: none */
    const char *recompute; /* NULL: nothing */
    bool lazy, fused, untied, topk, rows, parts;
    bool forward;      /* activations go compressed, too */
    bool overlap;      /* gradients beside the last backward pass, in several buckets a stage */
    int ghost_neurons; /* 0: not phantom */
    const char *phantom_parts; /* NULL: those of the MLP */
    int cp;                    /* ranks that share a sample; 0: none */
    int cross;                 /* layers of a decoder; 0: there is none */
    bool ring;                 /* whose keys go round */
    const char *branches;      /* of sub-grids; NULL: none */
    bool gathers;              /* their slices whole */
    int coded_stages;
};

static void write_plan(const struct plan *p, char *out, size_t capacity) {
    char messages[120] = "", gradients[120] = "", schedule[80] = "", again[40] = "",
         method[100], context[50] = "", beside[100], forward[40] = "";
    snprintf(beside, sizeof beside, "%s%s", p->parts ? ", \"sequence_parallel\": true" : "",
             p->overlap ? ", \"overlap\": \"gradient\", \"bucket\": \"10 KB\"" : "");
    snprintf(method, sizeof method, "\"%s\"", p->rows ? "grid" : "tensor");
    if (p->ghost_neurons)
        snprintf(method, sizeof method, "\"phantom\", \"ghost\": %d, \"phantom_parts\": \"%s\"",
                 p->ghost_neurons, p->phantom_parts ? p->phantom_parts : "mlp");
    if (p->branches)
        snprintf(method, sizeof method, "\"subgraph\", \"branches\": \"%s\"%s", p->branches,
                 p->gathers ? ", \"exchange\": \"all_gather\"" : "");
    if (p->cp)
        snprintf(context, sizeof context, ", \"cp\": %d%s", p->cp,
                 p->ring ? "" : ", \"context\": \"all-to-all\"");
    if (p->pp > 1)
        snprintf(schedule, sizeof schedule, ", \"schedule\": \"%s\"%s", p->schedule,
                 p->chunks > 1 ? ", \"chunks\": 2" : "");
    if (p->scope)
        snprintf(messages, sizeof messages,
                 ", \"backward\": {\"scope\": \"%s\", \"rank\": %d, \"lazy_error\": %s}",
                 p->scope, RANK, p->lazy ? "true" : "false");
    if (p->forward) snprintf(forward, sizeof forward, ", \"forward\": {\"rank\": %d}", RANK);
    if (p->coded_stages)
        snprintf(gradients, sizeof gradients, ", \"gradient\": {\"stages\": %d, \"rank\": %d}",
                 p->coded_stages, RANK);
    if (p->recompute) snprintf(again, sizeof again, ", \"recompute\": \"%s\"", p->recompute);
    snprintf(
        out, capacity,
        "{\"method\": %s%s%s, \"tp\": %d, \"pp\": %d, \"dp\": %d, \"micro_batch\": %d%s%s, "
        "\"compression\": {\"embedding\": \"%s\"%s%s%s%s}}",
        method, context, beside, p->tp, p->pp, p->dp, p->micro, schedule, again,
        p->fused ? "fused" : "separate", messages, forward, gradients,
        p->topk ? ", \"codec\": \"topk\"" : "");
}

static const char *model_of(bool fp32, bool untied, int cross, char *text, size_t capacity) {
    snprintf(text, capacity,
             "{\"kind\": \"transformer\", \"layers\": %d, \"cross_layers\": %d, "
             "\"hidden\": %d, \"heads\": %d, \"ffn\": %d, \"sequence\": %d, \"vocabulary\": "
             "%d, \"vocabulary_multiple\": 2, "
             "\"tied_embedding\": %s, \"dtype\": \"%s\", \"global_batch\": %d}",
             WORDS_LAYERS, cross, WORDS_H, WORDS_HEADS, WORDS_F, WORDS_S, WORDS_V,
             untied ? "false" : "true", fp32 ? "fp32" : "fp64", BATCH);
    return text;
}

/* ---- training it, with codecs ------------------------------------------------------------------ */

enum { MATRICES = 40, STREAM_LAYER = 64 };

struct emulation {
    const struct plan *plan;
    int micros;           /* of a replica */
    struct words w, g[8]; /* of a replica; of sub-grids, of each rank's own samples */
    struct serial_phantom phantom[WORDS_LAYERS][WORDS_PARTS];
    double loss;
    struct emulated_codec message[8][16][8], forward[8][16][8]; /* [replica][chunk][part] */
    struct emulated_codec gradient[8][WORDS_LAYERS][MATRICES];  /* of this rank's parts */
};

/* First layer of chunk @p number: as equal as can be, the earlier ones one more. */
static int first_layer(const struct plan *p, int number) {
    int parts = p->pp * p->chunks, more = WORDS_LAYERS % parts;
    return number * (WORDS_LAYERS / parts) + (number < more ? number : more);
}

/* Values of 8 B, with top-k their places besides; of gradients every replica gathers what all send. */
static bool saves(const struct plan *p, int copies, int m, int n) {
    int replicas = p->topk && copies ? copies : 2;
    return replicas * RANK * (m + n) * (p->topk ? 12 : 8) < 2 * m * n * 8;
}

/* As in test_mesh.c: the last P - 1 - i that a stage reads; interleaved, what it reads once all forward
 * passes are behind it. */
static bool in_epilogue(const struct plan *p, int number, int micro, int micros) {
    int stages = p->pp, i = number % stages, chunk = number / stages, v = p->chunks;
    if (v == 1) return micro >= micros - (stages - 1 - i);
    int warm_up = 2 * (stages - 1 - i) + (v - 1) * stages, total = v * micros;
    for (int k = total - 1; k > 0 && k >= total - warm_up; k--)
        if (v - 1 - k / stages % v == chunk &&
            stages * (k / (v * stages)) + k % stages == micro)
            return true;
    return false;
}

/* Ranks whose samples are trained apart: those of sub-grids between branches. */
static int ways(const struct plan *p) { return p->branches ? p->tp : 1; }

/* A matrix (hidden x t) goes through the codecs of its tp parts: a rank sends its tokens, or of phantom its
 * values of all tokens; of sub-grids it has no others. */
static void code_parts(const struct plan *p, struct emulated_codec codec[8], int t, double *x) {
    int parts = p->tp / ways(p), n = p->ghost_neurons ? t : t / parts,
        m = p->ghost_neurons ? WORDS_H / p->tp : WORDS_H;
    if (!saves(p, 0, m, n)) return;
    for (int j = 0; j < parts; j++) {
        double *part = words_scratch(m, n), *own = x + (p->ghost_neurons ? j * m * t : j * n);
        for (int i = 0; i < m * n; i++) part[i] = own[i / n * t + i % n];
        codec[j].topk = p->topk;
        emulated_code(&codec[j], 1, &part);
        for (int i = 0; i < m * n; i++) own[i / n * t + i % n] = part[i];
        free(part);
    }
}

/* dx crosses the boundary above chunk @p below, of the samples of way @p w. */
static void cross(struct emulation *e, int d, int w, int below, int micro, int t, double *dx) {
    const struct plan *p = e->plan;
    bool all = p->scope && strcmp(p->scope, "all") == 0;
    if (p->scope && (all || in_epilogue(p, below, micro, e->micros)))
        code_parts(p, e->message[d][below + 1] + w, t, dx);
}

/* Forward and backward of micro-batch @p m of replica @p d, its samples of way @p w. */
static void train_micro(struct emulation *e, int d, int w, int m) {
    const struct plan *p = e->plan;
    struct words *g = &e->g[d * ways(p) + w];
    int micro = p->micro / ways(p), first = d * BATCH / p->dp + m * p->micro + w * micro,
        t = micro * WORDS_S;
    struct words_saved saved[WORDS_LAYERS];
    double *x = words_embed(&e->w, SEED, first, micro), *dy = words_scratch(WORDS_H, t),
           *encoded = words_scratch(WORDS_H, t), *de = words_scratch(WORDS_H, t);
    int decoder = WORDS_LAYERS - p->cross; /* its first layer, whose stream begins with e */
    for (int l = 0, chunk = 0; l < WORDS_LAYERS; l++) {
        double *y = words_scratch(WORDS_H, t);
        if (l == decoder) memcpy(encoded, x, (size_t)(WORDS_H * t) * sizeof *x);
        saved[l] = words_forward(e->w.layer[l], l >= decoder ? e->w.cross[l] : NULL,
                                 p->cross == 0 || l >= decoder, t, x, encoded, y);
        x = y;
        if (l + 1 == WORDS_LAYERS || l + 1 != first_layer(p, chunk + 1)) continue;
        if (p->forward) code_parts(p, e->forward[d][chunk] + w, t, x);
        chunk++;
    }
    e->loss += words_loss(&e->w, g, SEED, first, micro, BATCH * WORDS_S, x, dy);
    for (int l = WORDS_LAYERS - 1, chunk = p->pp * p->chunks - 1; l >= 0; l--) {
        words_backward(e->w.layer[l], g->layer[l], l >= decoder ? e->w.cross[l] : NULL,
                       g->cross[l], t, &saved[l], dy, de);
        for (int i = 0; l == decoder && i < WORDS_H * t; i++) dy[i] += de[i];
        if (l > 0 && l == first_layer(p, chunk)) cross(e, d, w, --chunk, m, t, dy);
    }
    words_embed_back(g, SEED, first, micro, dy);
    double *const owned[] = {x, dy, encoded, de};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

/* ---- phantom matrices ------------------------------------------------------------------------------ */

/* Sublayers whose matrices are phantom: attention (false), MLP (true). */
static bool is_phantom(const struct plan *p, bool mlp) {
    if (!p->ghost_neurons) return false;
    if (!p->phantom_parts) return mlp;
    return strcmp(p->phantom_parts, mlp ? "attention" : "mlp") != 0;
}
static bool is_phantom_part(const struct plan *p, int part) {
    return part == QKV || part == OUT   ? is_phantom(p, false)
           : part == UP || part == DOWN ? is_phantom(p, true)
                                        : false;
}

/* Row of the serial matrix that is row @p r where each rank's rows lie together: of qkv its part of each third. */
static int row_of(const struct plan *p, int part, int r) {
    int all = words_rows[part], own = all / p->tp, third = all / 3, each = third / p->tp;
    if (part != QKV) return r;
    return r % own / each * third + r / own * each + r % own % each;
}

/* A matrix of a layer (m x n): blocks on the diagonal from the stream, the others with ghost neurons. */
static void open_ghost_neurons(struct emulation *e, int l, int part) {
    static const uint64_t streams[WORDS_PARTS] = {
        [QKV] = 40, [OUT] = 48, [UP] = 8, [DOWN] = 16};
    int m = words_rows[part], n = words_columns[part];
    uint64_t stream = (uint64_t)(STREAM_LAYER + 64 * l) + streams[part];
    double *w = words_scratch(m, n);
    words_normal(SEED, stream, m * n, sqrt(1.0 / 3 / n), w);
    serial_phantom_open(&e->phantom[l][part], SEED, stream, m, n, e->plan->tp,
                        e->plan->ghost_neurons, w);
    for (int r = 0; r < m; r++)
        memcpy(e->w.layer[l] + words_at(part) + row_of(e->plan, part, r) * n, w + r * n,
               (size_t)n * sizeof *w);
    free(w);
}

/* Gradients of rank @p j's matrices that make one of a layer. @return how many values */
static int phantom_part_of(const struct emulation *e, int l, int part, int j,
                           const double *from, double *out, int at,
                           struct serial_matrix *matrix, int *n_matrices) {
    int m = words_rows[part], n = words_columns[part];
    double *dw = words_scratch(m, n);
    for (int r = 0; r < m; r++)
        memcpy(dw + r * n, from + words_at(part) + row_of(e->plan, part, r) * n,
               (size_t)n * sizeof *dw);
    int values = serial_phantom_part(&e->phantom[l][part], j, dw, out, at, matrix, n_matrices);
    free(dw);
    return values;
}

static void emulation_open(struct emulation *e, const struct plan *p) {
    memset(e, 0, sizeof *e);
    e->plan = p;
    e->micros = BATCH / p->dp / p->micro;
    words_open(&e->w, SEED, !p->untied);
    for (int l = 0; l < WORDS_LAYERS; l++)
        for (int part = 0; part < WORDS_PARTS; part++)
            if (is_phantom_part(p, part)) open_ghost_neurons(e, l, part);
    int t = p->micro * WORDS_S, m = p->ghost_neurons ? WORDS_H / p->tp : WORDS_H,
        n = p->ghost_neurons ? t : t / p->tp;
    for (int d = 0; d < p->dp; d++)
        for (int c = 0; c < p->pp * p->chunks; c++)
            for (int j = 0; j < p->tp; j++) {
                uint64_t stream = (uint64_t)(STREAM_CODEC + 10 * c);
                emulated_open(&e->message[d][c][j], m, n, RANK, p->lazy, SEED, stream);
                emulated_open(&e->forward[d][c][j], m, n, RANK, true, SEED,
                              stream + STREAM_FORWARD);
            }
}

static void emulation_close(struct emulation *e) {
    for (int l = 0; l < WORDS_LAYERS; l++)
        for (int part = 0; part < WORDS_PARTS; part++)
            serial_phantom_close(&e->phantom[l][part]);
    for (int d = 0; d < e->plan->dp; d++) {
        for (int c = 0; c < e->plan->pp * e->plan->chunks; c++)
            for (int j = 0; j < e->plan->tp; j++) {
                emulated_close(&e->message[d][c][j]);
                emulated_close(&e->forward[d][c][j]);
            }
    }
    for (int d = 0; d < e->plan->dp * ways(e->plan); d++)
        for (int l = 0; l < WORDS_LAYERS; l++)
            for (int i = 0; i < MATRICES; i++) emulated_close(&e->gradient[d][l][i]);
}

/* An iteration: gradients of every replica by themselves. */
static void emulate(struct emulation *e) {
    e->loss = 0;
    memset(e->g, 0, sizeof e->g);
    for (int d = 0; d < e->plan->dp; d++)
        for (int w = 0; w < ways(e->plan); w++)
            for (int m = 0; m < e->micros; m++) train_micro(e, d, w, m);
}

/* ---- a rank's part --------------------------------------------------------------------------------- */

/* Fills @p from with the layer gradients of tp rank @p j, and the places of its matrices.  Heads are rows of each
 * third of qkv and columns of out, the MLP's columns rows of up and columns of down; the rest is whole. A grid
 * divides all matrices by rows, their biases too; phantom has matrices of its own, and divides biases after second
 * products and norms before phantom ones.  Norms come first but of phantom, whose whole one does.
 * @return its values. */
static int part_of(const struct emulation *e, int l, int j, const double *from, double *out,
                   struct serial_matrix *matrix, int *n_matrices) {
    static const int norms_first[WORDS_PARTS] = {NORM1, NORM1_BIAS, NORM2, NORM2_BIAS,
                                                 QKV,   QKV_BIAS,   OUT,   OUT_BIAS,
                                                 UP,    UP_BIAS,    DOWN,  DOWN_BIAS},
                     mlp_first[WORDS_PARTS] = {NORM2, NORM2_BIAS, NORM1, NORM1_BIAS,
                                               QKV,   QKV_BIAS,   OUT,   OUT_BIAS,
                                               UP,    UP_BIAS,    DOWN,  DOWN_BIAS};
    const struct plan *p = e->plan;
    bool heads = is_phantom(p, false), mlp = is_phantom(p, true);
    int n = 0, tp = p->tp;
    *n_matrices = 0;
    for (int place = 0; place < WORDS_PARTS; place++) {
        int part = !p->ghost_neurons ? norms_first[place] : mlp ? place : mlp_first[place];
        if (is_phantom_part(p, part)) {
            n += phantom_part_of(e, l, part, j, from, out + n, n, matrix, n_matrices);
            continue;
        }
        bool thirds = part == QKV || part == QKV_BIAS, second = part == OUT || part == DOWN,
             bias = part == OUT_BIAS || part == DOWN_BIAS,
             norm = part == NORM2 || part == NORM2_BIAS   ? mlp
                    : part == NORM1 || part == NORM1_BIAS ? heads
                                                          : false,
             by_rows = thirds || part == UP || part == UP_BIAS ||
                       (p->rows && (second || bias)) || (p->ghost_neurons && (bias || norm)),
             by_columns = second && !p->rows;
        int blocks = thirds ? 3 : 1, all = words_rows[part] / blocks,
            own = by_rows ? all / tp : all, wide = words_columns[part],
            take = by_columns ? wide / tp : wide;
        if (wide > 1) matrix[(*n_matrices)++] = (struct serial_matrix){n, blocks * own, take};
        for (int b = 0; b < blocks; b++)
            for (int r = 0; r < own; r++)
                for (int c = 0; c < take; c++)
                    out[n++] =
                        from[words_at(part) + (b * all + (by_rows ? j * own : 0) + r) * wide +
                             (by_columns ? j * take : 0) + c];
    }
    return n;
}

/* Fills @p from with the layer gradients that all ranks of a stage share, or those of sub-grid @p j's branches: norms
 * and biases after sums first, then the products.  @return how many. */
static int branch_part(const struct plan *p, int j, bool branch, const double *from,
                       double *out, struct serial_matrix *matrix, int *n_matrices) {
    static const int order[WORDS_PARTS] = {NORM1,    NORM1_BIAS, NORM2,   NORM2_BIAS,
                                           OUT_BIAS, DOWN_BIAS,  QKV,     QKV_BIAS,
                                           OUT,      UP,         UP_BIAS, DOWN};
    bool heads = strcmp(p->branches, "heads") != 0, mlp = strcmp(p->branches, "layer") == 0;
    int n = 0;
    *n_matrices = 0;
    for (int i = 0; i < WORDS_PARTS; i++) {
        int part = order[i], blocks = part == QKV || part == QKV_BIAS ? 3 : 1;
        bool branches = part >= UP && part <= DOWN ? mlp : part >= QKV && part <= OUT && heads;
        bool columns = part == OUT || part == DOWN;
        int all = words_rows[part] / blocks, wide = words_columns[part],
            own = branches && !columns ? all / p->tp : all,
            take = branches && columns ? wide / p->tp : wide,
            row = branches && !columns ? j * own : 0,
            column = branches && columns ? j * take : 0;
        if (branches != branch) continue;
        if (wide > 1) matrix[(*n_matrices)++] = (struct serial_matrix){n, blocks * own, take};
        for (int b = 0; b < blocks; b++)
            for (int r = 0; r < own; r++)
                for (int c = 0; c < take; c++)
                    out[n++] = from[words_at(part) + (b * all + row + r) * wide + column + c];
    }
    return n;
}

/* Tp rank @p j has these gradients of a cross-attention, after @p n values of its layer: rows of each third of qkv,
 * columns of out. @return all its values. */
static int cross_part(const struct plan *p, int j, const double *from, int n, double *out,
                      struct serial_matrix *matrix, int *n_matrices) {
    for (int part = 0; part < WORDS_CROSS_PARTS; part++) {
        bool thirds = part == QKV || part == QKV_BIAS;
        int blocks = thirds ? 3 : 1, all = words_rows[part] / blocks,
            own = thirds ? all / p->tp : all, wide = words_columns[part],
            take = part == OUT ? wide / p->tp : wide;
        if (wide > 1) matrix[(*n_matrices)++] = (struct serial_matrix){n, blocks * own, take};
        for (int b = 0; b < blocks; b++)
            for (int r = 0; r < own; r++)
                for (int c = 0; c < take; c++)
                    out[n++] =
                        from[words_at(part) + (b * all + (thirds ? j * own : 0) + r) * wide +
                             (part == OUT ? j * take : 0) + c];
    }
    return n;
}

/* Who have the same: replicas, or with what is common to sub-grids all ranks of a stage. */
static int copies_of(const struct plan *p, bool branch) {
    return branch || !p->branches ? p->dp : p->dp * p->tp;
}

/* Copy @p d has these gradients of layer @p l before they are added up; returns the number of its first matrix. */
static int own_part(const struct emulation *e, int l, int j, bool branch, int d, double *out,
                    struct serial_matrix *matrix, int *n_matrices, int *first) {
    static double sum[WORDS_LAYER];
    const struct plan *p = e->plan;
    *first = 0;
    if (!p->branches) {
        int n = part_of(e, l, j, e->g[d].layer[l], out, matrix, n_matrices);
        if (l < WORDS_LAYERS - p->cross) return n;
        return cross_part(p, j, e->g[d].cross[l], n, out, matrix, n_matrices);
    }
    if (!branch) return branch_part(p, j, false, e->g[d].layer[l], out, matrix, n_matrices);
    memset(sum, 0, sizeof sum);
    for (int w = 0; w < p->tp; w++)
        for (int i = 0; i < WORDS_LAYER; i++) sum[i] += e->g[d * p->tp + w].layer[l][i];
    branch_part(p, j, false, sum, out, matrix, first);
    return branch_part(p, j, true, sum, out, matrix, n_matrices);
}

/* Layer @p l as tp rank @p j has it after all copies have added it up; codecs where its stage's
 * gradients go compressed.  @return its values, in @p wanted. */
static int reduced(struct emulation *e, int stage, int l, int j, bool branch, double *wanted) {
    const struct plan *p = e->plan;
    static double part[8][WORDS_LAYER + WORDS_CROSS];
    struct serial_matrix matrix[MATRICES];
    int n = 0, n_matrices = 0, first = 0, copies = copies_of(p, branch);
    for (int d = 0; d < copies; d++)
        n = own_part(e, l, j, branch, d, part[d], matrix, &n_matrices, &first);
    memset(wanted, 0, (size_t)n * sizeof *wanted);
    for (int d = 0; d < copies; d++)
        for (int i = 0; i < n; i++) wanted[i] += part[d][i];
    for (int i = 0; i < n_matrices && stage < p->coded_stages && copies > 1; i++) {
        const struct serial_matrix *x = &matrix[i];
        struct emulated_codec codec[8];
        double *in[8];
        if (!saves(p, copies, x->m, x->n)) continue;
        for (int d = 0; d < copies; d++) {
            struct emulated_codec *saved = &e->gradient[d][l][first + i];
            if (!saved->q)
                emulated_open(saved, x->m, x->n, RANK, true, SEED,
                              (uint64_t)(STREAM_GRADIENT + 64 * l + first + i));
            saved->topk = p->topk;
            codec[d] = *saved; /* one beside the other; what they point to is kept */
            in[d] = part[d] + x->at;
        }
        emulated_code(codec, copies, in);
        memcpy(wanted + x->at, in[0], (size_t)(x->m * x->n) * sizeof *wanted);
    }
    return n;
}

/* The sum over replicas of @p n values that begin @p offset doubles into their gradients. */
static void sum_of(const struct emulation *e, size_t offset, int n, bool and_logits,
                   double *sum) {
    memset(sum, 0, (size_t)n * sizeof *sum);
    for (int d = 0; d < e->plan->dp * ways(e->plan); d++)
        for (int i = 0; i < n; i++) {
            sum[i] += ((const double *)&e->g[d])[offset + (size_t)i];
            if (and_logits)
                sum[i] += ((const double *)&e->g[d])[offset + WORDS_V * WORDS_H + (size_t)i];
        }
}

#define OFFSET(member) (offsetof(struct words, member) / sizeof(double))

static int64_t check_table(const struct mpi_case *c, const struct emulation *e, bool logits,
                           const char *what, int64_t offset, double tolerance) {
    static double sum[WORDS_V * WORDS_H];
    int n = WORDS_V * WORDS_H / (e->plan->branches ? 1 : e->plan->tp);
    bool both = !e->plan->untied;
    sum_of(e, both || !logits ? OFFSET(table) : OFFSET(logits), WORDS_V * WORDS_H, both, sum);
    check_block(c, what, offset, sum + (e->plan->branches ? 0 : c->real.tp_rank * n), n,
                tolerance);
    return offset + n;
}

/* Those of a chunk's layers, from value @p at on; of sub-grids what is common, or branches. */
static int64_t check_layers(const struct mpi_case *c, struct emulation *e, int chunk,
                            bool branch, const char *text, int64_t at, double tolerance) {
    const struct plan *p = e->plan;
    static double wanted[WORDS_LAYER + WORDS_CROSS];
    char what[400];
    int number = chunk * p->pp + c->real.pp_rank;
    for (int l = first_layer(p, number); l < first_layer(p, number + 1); l++) {
        int n = reduced(e, c->real.pp_rank, l, c->real.tp_rank, branch, wanted);
        snprintf(what, sizeof what, "layer %d, %.380s", l, text);
        if (n > 0) check_block(c, what, at, wanted, n, tolerance);
        at += n;
    }
    return at;
}

/* Stages begin with the embedding and end with the logits. */
static void check_gradients(const struct mpi_case *c, struct emulation *e, const char *text,
                            double tolerance) {
    const struct plan *p = e->plan;
    static double sum[WORDS_H * WORDS_S];
    char what[400];
    int64_t at = 0;
    snprintf(what, sizeof what, "%s", text);
    if (c->real.pp_rank == 0) {
        at = check_table(c, e, false, what, at, tolerance);
        sum_of(e, OFFSET(positions), WORDS_H * WORDS_S, false, sum);
        check_block(c, what, at, sum, WORDS_H * WORDS_S, tolerance);
        at += WORDS_H * WORDS_S;
    }
    for (int chunk = 0; chunk < p->chunks; chunk++)
        at = check_layers(c, e, chunk, false, text, at, tolerance);
    if (c->real.pp_rank == p->pp - 1) {
        sum_of(e, OFFSET(norm), 2 * WORDS_H, false, sum);
        check_block(c, what, at, sum, 2 * WORDS_H, tolerance);
        at += 2 * WORDS_H;
        if (p->untied || p->pp > 1) at = check_table(c, e, true, what, at, tolerance);
    }
    for (int chunk = 0; chunk < p->chunks && p->branches; chunk++)
        at = check_layers(c, e, chunk, true, text, at, tolerance);
    if (at != c->real.n_parameters) FAIL("%s: parameters are left over", text);
}

/* ---- bytes ------------------------------------------------------------------------------------- */

static const char cluster[] =
    "{\"device\": {\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp64\": {\"peak\": \"1 "
    "TFLOP/s\", \"half_dim\": 8}}}, \"levels\": [{\"name\": \"node\", \"ranks\": 64, "
    "\"latency\": \"1 us\", \"bandwidth\": \"10 GB/s\"}]}";

static int layers_of(const struct plan *p, int stage) {
    int sum = 0;
    for (int chunk = 0; chunk < p->chunks; chunk++)
        sum +=
            first_layer(p, chunk * p->pp + stage + 1) - first_layer(p, chunk * p->pp + stage);
    return sum;
}

static int replicas(const struct plan *p) { return p->dp * (p->cp ? p->cp : 1); }

/* The bytes that this rank sent in @p iterations are held against its stage's price, which leaves out the three values a token that a divided vocabulary's loss takes, and, for phantom and for tokens in parts, the gradients of norms that all ranks have, once.  @param slack_B  that may go over dp beside it. */
static void check_bytes(const struct mpi_case *c, const struct plan *p, const char *model,
                        const char *plan, int iterations, double slack_B) {
    static const int axes[][2] = {{FR_REAL_TP, FR_SENT_TP},
                                  {FR_REAL_PP, FR_SENT_PP},
                                  {FR_REAL_DP, FR_SENT_DP},
                                  {FR_REAL_OTHER, FR_SENT_EMBEDDING},
                                  {FR_REAL_CP, FR_SENT_CP}};
    const struct fr_job_names names = {.cluster = cluster, .model = model, .plan = plan};
    struct fr_job job = {0};
    struct fr_pipeline priced = {0};
    struct fr_error err = {.status = FR_OK};
    uint32_t extrapolated = 0;
    bool last = c->real.pp_rank == p->pp - 1;
    double loss_B = last && !p->branches
                        ? 3.0 * (p->tp - 1) * BATCH / replicas(p) * WORDS_S * sizeof(double)
                        : 0;
    if (p->ghost_neurons || p->parts) {
        int whole = p->parts ? 2 : !is_phantom(p, false) + !is_phantom(p, true);
        loss_B += 2.0 * (p->tp - 1) / p->tp * 2 * WORDS_H * sizeof(double) *
                  (whole * layers_of(p, c->real.pp_rank) + last);
    }
    if (fr_job_load(&names, &job, &err) != FR_OK)
        FAIL("%s: %s: %s", plan, err.where, err.detail);
    else if (fr_pipeline_check(&job, &job.plan) == 0 &&
             fr_pipeline_make(&job, &job.plan, &priced, &extrapolated, &err) == FR_OK) {
        const struct fr_stage *stage = &priced.stage[c->real.pp_rank];
        for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
            if (p->branches && i == 3) continue;
            double got = c->real.sent_B[axes[i][0]] / iterations,
                   want = stage->sent_B[axes[i][1]] + (i == 0 ? loss_B : 0),
                   slack = axes[i][0] == FR_REAL_DP ? slack_B + mpi_case_beyond_B(c, want) : 0;
            if (p->branches && i == 2) { /* those of all ranks, and a tied table's ends */
                got += c->real.sent_B[FR_REAL_OTHER] / iterations;
                want += stage->sent_B[FR_SENT_EMBEDDING];
            }
            if (!(fabs(got - want) <= 1e-9 * fmax(1, want) + slack))
                FAIL("%s, rank %d: sends %.17g B over %s, priced %.17g", plan, rank, got,
                     fr_sent_names[axes[i][1]], want);
        }
        if (stage->parameters_rank != (double)c->real.n_parameters)
            FAIL("%s, rank %d: has %lld parameters, priced %.17g", plan, rank,
                 (long long)c->real.n_parameters, stage->parameters_rank);
        n_compared++;
        n_lossy_compared += p->scope || p->coded_stages || p->forward;
    } else
        FAIL("%s: not priced", plan);
    fr_pipeline_free(&priced);
    fr_job_free(&job);
}

/* ---- every mesh --------------------------------------------------------------------------------- */

static bool open_case(const char *model, const char *text, struct mpi_case *c) {
    struct fr_error err = {.status = FR_OK};
    fr_status status = mpi_case_read(c, &fr_real_pipeline, model, text, SEED, &err);
    if (status == FR_OK)
        status = fr_real_open(&fr_real_pipeline, &c->run, MPI_COMM_WORLD, &c->real, &err);
    if (status != FR_OK) FAIL("%s: %s %s", text, err.where, err.detail);
    return status == FR_OK;
}

/* Every day one in three of the plans on many ranks is tried; all of them where FR_WHOLE is set (ctest -C slow). */
static bool is_passed_over(void) {
    static int n;
    return n_ranks >= 4 && !getenv("FR_WHOLE") && n++ % 3 > 0;
}

static void run_plan(const struct plan *p, bool fp32) {
    struct mpi_case c;
    static struct emulation e;
    char model[400], text[500];
    bool lossy = p->scope || p->coded_stages || p->forward;
    double tolerance = fp32 ? 1e-5 : lossy ? 1e-9 : 1e-12;
    if (p->micro == 0 || BATCH / p->dp % p->micro != 0 || is_passed_over()) return;
    write_plan(p, text, sizeof text);
    emulation_open(&e, p);
    if (open_case(model_of(fp32, p->untied, p->cross, model, sizeof model), text, &c)) {
        int iterations = lossy ? 2 : 1; /* a codec keeps something for the next */
        for (int iteration = 0; iteration < iterations; iteration++) {
            double loss = mpi_case_gradients(&c);
            emulate(&e);
            if (!(fabs(loss - e.loss) <= tolerance * e.loss))
                FAIL("%s: loss %.17g, want %.17g", text, loss, e.loss);
            check_gradients(&c, &e, text, tolerance);
        }
        if (!fp32) check_bytes(&c, p, model, text, iterations, 0);
    }
    mpi_case_close(&c);
    emulation_close(&e);
}

/* Samples of a micro-batch for about @p count of a replica, a multiple of @p of. */
static int micro_for(const struct plan *p, int count, int of) {
    int replica = BATCH / p->dp;
    for (; count >= 1; count--)
        if (replica % count == 0 && count % of == 0) return replica / count;
    return 0;
}

static void every_schedule(struct plan *p) {
    static const char *const schedules[] = {"1f1b", "gpipe", "1f1b-double", "interleaved",
                                            "zero-bubble"};
    for (int i = 0; i < (p->pp > 1 ? 5 : 2); i++) {
        p->schedule = schedules[i];
        p->chunks = i == 3 ? 2 : 1;
        if (p->chunks > 1 && WORDS_LAYERS % (p->pp * p->chunks) != 0) continue;
        /* An order is one whatever the method. */
        if ((p->rows || p->ghost_neurons) && (i == 3 || (i == 1 && n_ranks == 8))) continue;
        p->micro = micro_for(p, i == 3 ? 2 * p->pp : 6 - i, i == 3 ? p->pp : 1);
        p->untied = i == 1;
        p->fused = i == 2 || i == 3;
        p->recompute = i == 1 ? "selective" : i == 2 || i == 4 ? "full" : NULL;
        run_plan(p, false);
        if (i == 0 && !p->rows && !p->ghost_neurons) run_plan(p, true);
    }
    p->untied = p->fused = false;
    p->recompute = NULL;
}

/* CB, FE and SC of Song et al. 2023, alone and together. */
static void every_compression(struct plan *p) {
    p->schedule = "1f1b", p->chunks = 1;
    p->micro = micro_for(p, 4, 1);
    p->coded_stages = p->dp > 1 ? (p->pp + 1) / 2 : 0;
    if (p->dp > 1) run_plan(p, false);
    p->topk = true;
    if (p->dp > 1) run_plan(p, false);
    p->topk = false;
    if (p->pp == 1) return;
    p->scope = "epilogue", p->lazy = true, p->fused = true;
    run_plan(p, false);
    p->coded_stages = p->dp > 1 ? p->pp : 0;
    p->scope = "all", p->lazy = false;
    run_plan(p, false);
    if (p->rows || p->ghost_neurons) return;
    p->schedule = "zero-bubble", p->lazy = true, p->fused = false;
    run_plan(p, false);
    p->topk = true;
    run_plan(p, false);
    p->schedule = "1f1b", p->lazy = false, p->fused = true;
    run_plan(p, false);
    p->forward = true;
    run_plan(p, false);
    p->topk = false, p->lazy = true, p->scope = NULL, p->recompute = "full";
    run_plan(p, false);
    p->forward = false, p->scope = "all", p->recompute = NULL;
    p->schedule = "interleaved", p->chunks = 2;
    p->micro = micro_for(p, 2 * p->pp, p->pp);
    if (WORDS_LAYERS % (p->pp * 2) != 0) return;
    run_plan(p, false);
    p->scope = "epilogue", p->fused = true;
    run_plan(p, false);
    p->forward = true;
    run_plan(p, false);
}

/* Sequence parallel: tokens in parts where nothing multiplies. */
static void every_part(void) {
    for (int tp = 2; tp <= n_ranks; tp++)
        for (int pp = 1; n_ranks % tp == 0 && pp <= n_ranks / tp; pp++) {
            if (n_ranks / tp % pp != 0 || WORDS_HEADS % tp != 0) continue;
            if (n_ranks == 8 && (tp != 2 || pp != 2)) continue; /* as with fewer */
            struct plan p = {
                .tp = tp, .pp = pp, .dp = n_ranks / tp / pp, .parts = true, .chunks = 1};
            p.schedule = "1f1b", p.micro = micro_for(&p, 3, 1), p.untied = pp == 1;
            run_plan(&p, false);
            p.schedule = "zero-bubble", p.untied = false, p.fused = pp > 1;
            p.recompute = "full";
            run_plan(&p, false);
            p.recompute = "selective", p.scope = pp > 1 ? "all" : NULL, p.lazy = true;
            p.coded_stages = p.dp > 1 ? pp : 0;
            run_plan(&p, false);
        }
}

/* Gradients in buckets beside the last pass that makes them, whatever the order. */
static void every_bucket(struct plan p) {
    static const char *const schedules[] = {"1f1b", "zero-bubble", "interleaved"};
    p.overlap = true;
    for (int i = 0; p.dp > 1 && i < (p.pp > 1 ? 3 : 1); i++) {
        p.schedule = schedules[i], p.chunks = i == 2 ? 2 : 1;
        if (p.chunks > 1 && WORDS_LAYERS % (p.pp * 2) != 0) continue;
        p.micro = micro_for(&p, i == 2 ? 2 * p.pp : 3, i == 2 ? p.pp : 1);
        p.fused = p.pp > 1 && i == 1,
        p.parts = p.tp > 1 && i == 1 && !p.rows && !p.ghost_neurons;
        p.recompute = i == 1 ? "full" : NULL;
        run_plan(&p, false);
    }
}

/* @param phantom  NULL, or which parts are */
static void every_mesh(bool rows, const char *phantom) {
    for (int tp = 1; tp <= n_ranks; tp++)
        for (int pp = 1; n_ranks % tp == 0 && pp <= n_ranks / tp; pp++) {
            if (n_ranks / tp % pp != 0 || WORDS_HEADS % tp != 0) continue;
            struct plan p = {.tp = tp, .pp = pp, .dp = n_ranks / tp / pp, .rows = rows};
            if ((rows || phantom) && tp == 1) continue; /* all methods are one */
            if (n_ranks == 8 && tp < 8 && phantom && strcmp(phantom, "mlp") != 0)
                continue;                                  /* as with fewer */
            if (phantom) p.ghost_neurons = tp < 8 ? 2 : 1; /* below (n/p)(1 - 1/p) */
            p.phantom_parts = phantom;
            every_schedule(&p);
            if (phantom && strcmp(phantom, "attention") == 0)
                continue; /* the rest as with all */
            every_bucket(p);
            every_compression(&p);
        }
}

/* Zero 3 leaves a rank its share of the parameters; a pass more gathers the others. */
static void gather_again(struct mpi_case *c, int zero) {
    if (zero == 3) mpi_case_gradients(c);
}

/* Two steps with the optimiser's work divided, and with all of it on each. */
static void check_steps(const struct plan *p, int zero) {
    struct mpi_case c[2];
    char model[400], text[2][500];
    double loss;
    if (is_passed_over()) return;
    for (int i = 0; i < 2; i++) {
        struct fr_error err = {.status = FR_OK};
        write_plan(p, text[i], sizeof text[i]);
        size_t end = strlen(text[i]);
        if (i) snprintf(text[i] + end - 1, sizeof text[i] - end, ", \"zero\": %d}", zero);
        if (!mpi_case_open(&c[i], &fr_real_pipeline,
                           model_of(false, p->untied, p->cross, model, sizeof model), text[i],
                           SEED))
            return;
        for (int step = 0; step < 2; step++)
            if (fr_real_step(c[i].app, &c[i].real, &loss, &err) != FR_OK)
                FAIL("%s: %s", text[i], err.detail);
    }
    /* The last share of each collective ends beyond what is there, by less than a value a copy: a scatter and the gathers of
     * scattered and of whole gradients, or of both passes; with zero 2 and 3 of each unit in each pass. */
    int copies = replicas(p) * ways(p);
    double beyond_B = (p->branches ? 6 : 3) * (copies - 1) * sizeof(double),
           times = zero > 1 ? BATCH / p->dp / p->micro * c[1].real.division.pieces : 1;
    check_bytes(&c[1], p, model, text[1], 2, beyond_B * times);
    gather_again(&c[1], zero);
    double worst = 0;
    for (int64_t k = 0; k < c[0].real.n_parameters; k++)
        worst = fmax(worst, fabs(c[0].real.k->get(c[0].real.parameters, (size_t)k) -
                                 c[1].real.k->get(c[1].real.parameters, (size_t)k)));
    if (!(worst <= 1e-12)) FAIL("%s: parameters differ by %g after two steps", text[1], worst);
    for (int i = 0; i < 2; i++) mpi_case_close(&c[i]);
}

/* Zero 2 and 3: passes in order and split, values and tokens in parts. */
static void every_share(struct plan p) {
    if (n_ranks == 8 && (p.tp != 2 || p.pp != 2)) return; /* as with fewer */
    p.coded_stages = 0, p.topk = p.fused = false, p.untied = p.pp > 1;
    for (int zero = 2; zero <= 3; zero++) {
        p.schedule = zero == 2 ? "1f1b" : "zero-bubble";
        check_steps(&p, zero);
        if (p.tp == 1) continue;
        p.parts = true;
        check_steps(&p, zero);
        p.parts = false, p.ghost_neurons = p.tp < 8 ? 2 : 1;
        p.phantom_parts = zero == 2 ? NULL : "all";
        check_steps(&p, zero);
        p.ghost_neurons = 0;
    }
}

/* Sub-grids whose gradients go as factors and as sparse parts, with all that a plan compresses; whose common
 * part all ranks of a stage divide, and a branch its replicas (zero 1 to 3). */
static void check_branch_gradients(struct plan *p) {
    static const char *const branches[] = {"heads", "attention", "layer"};
    if (n_ranks == 8 && (p->tp != 2 || p->pp != 2)) return; /* as with fewer */
    p->schedule = "1f1b", p->chunks = 1, p->recompute = NULL, p->untied = false;
    for (int i = 0; i < 3; i++) {
        p->branches = branches[i];
        p->coded_stages = p->dp > 1 ? (p->pp + 1) / 2 : 0;
        if (p->dp > 1) run_plan(p, false);
        p->topk = true;
        if (p->dp > 1) run_plan(p, false);
        p->topk = false;
        p->fused = p->pp > 1, p->scope = p->pp > 1 ? "epilogue" : NULL, p->lazy = true;
        if (p->pp > 1) run_plan(p, false);
        if (n_ranks < 8) check_steps(p, 1);
        p->fused = false, p->scope = NULL, p->coded_stages = 0;
        check_steps(p, 1);
        p->untied = p->pp > 1;
        check_steps(p, 2);
        check_steps(p, 3);
        p->untied = false;
    }
}

/* Sub-grids, of heads, attentions and whole layers: every schedule once, messages whole and compressed. */
static void every_branching(struct plan *p) {
    static const char *const branches[] = {"heads", "attention", "layer"}, *const again[] = {
                                                                               NULL,
                                                                               "selective",
                                                                               "full"};
    for (int i = 0; i < 3; i++) {
        p->branches = branches[i], p->schedule = "1f1b", p->chunks = 1;
        p->recompute = again[i], p->untied = i == 1;
        for (int count = 4; count >= 1 && (p->micro = micro_for(p, count, 1)) % p->tp != 0;)
            count--;
        if (p->micro % p->tp != 0) continue;
        run_plan(p, false);
        p->gathers = i == 0;
        if (p->gathers) run_plan(p, false);
        p->gathers = false;
        if (p->pp == 1) continue;
        p->schedule = "zero-bubble";
        run_plan(p, false);
        p->scope = "all", p->lazy = true;
        run_plan(p, false);
        p->scope = NULL;
    }
    check_branch_gradients(p);
}

static void every_sub_grid(void) {
    for (int tp = 2; tp <= n_ranks; tp++)
        for (int pp = 1; n_ranks % tp == 0 && pp <= n_ranks / tp; pp++) {
            if (n_ranks / tp % pp != 0 || WORDS_HEADS % tp != 0) continue;
            struct plan p = {.tp = tp, .pp = pp, .dp = n_ranks / tp / pp};
            every_branching(&p);
        }
}

/* Steps with gradients that go whole, as factors, as sparse parts, and a tied table that goes by itself. */
static void every_division(void) {
    static const struct {
        bool coded, topk, fused;
    } ways[] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 1}, {1, 0, 1}, {0, 0, 1}};
    for (int tp = 1; tp <= n_ranks / 2; tp++)
        for (int pp = 1; n_ranks % tp == 0 && pp <= n_ranks / tp / 2; pp++) {
            struct plan p = {.schedule = "1f1b", .tp = tp, .pp = pp, .chunks = 1};
            if (n_ranks / tp % pp != 0 || WORDS_HEADS % tp != 0) continue;
            p.dp = n_ranks / tp / pp;
            p.micro = micro_for(&p, 3, 1);
            for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
                if (ways[i].fused && pp == 1) continue;
                p.coded_stages = ways[i].coded ? (pp + 1) / 2 : 0;
                p.topk = ways[i].topk, p.fused = ways[i].fused;
                check_steps(&p, 1);
            }
            every_share(p);
        }
}

/* Schedules and what is made again, of one way. */
static void check_context(struct plan p) {
    p.schedule = "1f1b", p.chunks = 1, p.micro = micro_for(&p, 3, 1);
    if (p.branches)
        for (int count = 4; count >= 1 && (p.micro = micro_for(&p, count, 1)) % p.tp != 0;)
            count--;
    if (p.micro % p.tp != 0 && p.branches) return;
    run_plan(&p, false);
    p.schedule = "zero-bubble", p.recompute = "full", p.fused = p.pp > 1 && !p.branches;
    run_plan(&p, false);
    p.recompute = "selective", p.untied = true, p.fused = false;
    run_plan(&p, false);
    if (n_ranks == 8 || p.branches || p.ghost_neurons) return;
    p.recompute = NULL;
    check_steps(&p, 1);
    check_steps(&p, 3);
}

/* Context parallel: cp ranks have a sample's tokens, and its heads' keys go round, or between products each has
 * 1/cp of its heads; of tensor, of tokens in parts, of grids, of phantom layers and of sub-grids. */
static void every_context(void) {
    for (int cp = 2; cp <= n_ranks && cp <= 4; cp *= 2)
        for (int tp = 1; n_ranks % cp == 0 && tp <= n_ranks / cp; tp++)
            for (int pp = 1; n_ranks / cp % tp == 0 && pp <= n_ranks / cp / tp; pp++) {
                if (n_ranks / cp / tp % pp != 0 || WORDS_HEADS % (tp * cp) != 0) continue;
                if (n_ranks == 8 && (tp != 2 || pp != 2)) continue; /* as with fewer */
                struct plan p = {.tp = tp, .pp = pp, .dp = n_ranks / cp / tp / pp, .cp = cp};
                for (int way = 0; way < 10; way++) {
                    bool divided = tp > 1 && way / 2 > 0;
                    if (way / 2 > 0 && !divided) continue;
                    struct plan q = p;
                    q.ring = way % 2 == 0;
                    q.parts = way / 2 == 1, q.rows = way / 2 == 2;
                    q.ghost_neurons = way / 2 == 3 && tp == 2 ? 1 : 0;
                    q.phantom_parts = q.ring ? NULL : "all";
                    q.branches = way / 2 == 4 ? way % 2 ? "layer" : "heads" : NULL;
                    if ((way / 2 == 3 && !q.ghost_neurons) || (n_ranks == 8 && way && !q.ring))
                        continue;
                    check_context(q);
                }
            }
}

/* An encoder and a decoder of three of the layers: its own heads, and those that see the encoder's output, which
 * travels with the messages between its stages. */
static void every_decoder(void) {
    for (int tp = 1; tp <= n_ranks; tp++)
        for (int pp = 1; n_ranks % tp == 0 && pp <= n_ranks / tp; pp++) {
            if (n_ranks / tp % pp != 0 || WORDS_HEADS % tp != 0) continue;
            if (n_ranks == 8 && (tp != 2 || pp != 2)) continue; /* as with fewer */
            struct plan p = {.tp = tp, .pp = pp, .dp = n_ranks / tp / pp, .cross = 3};
            p.schedule = "1f1b", p.chunks = 1, p.micro = micro_for(&p, 3, 1);
            run_plan(&p, false);
            p.schedule = "zero-bubble", p.recompute = "full", p.untied = true;
            run_plan(&p, false);
            p.recompute = "selective", p.coded_stages = p.dp > 1 ? pp : 0, p.untied = false;
            p.fused = pp > 1;
            run_plan(&p, false);
            p.recompute = NULL, p.fused = false;
            if (p.dp > 1) check_steps(&p, 1);
        }
    for (int ring = 0; ring < 2 && n_ranks % 2 == 0 && n_ranks < 8; ring++) {
        struct plan p = {.tp = 1, .pp = n_ranks / 2, .dp = 1, .cross = 5, .cp = 2};
        p.schedule = "1f1b", p.chunks = 1, p.micro = micro_for(&p, 3, 1), p.ring = ring == 1;
        run_plan(&p, false);
    }
}

static void finite_differences(void) {
    enum { PLACES = 60 };
    struct mpi_case c;
    struct fr_error err = {.status = FR_OK};
    char model[400];
    double step = 1e-6, largest = 0, loss[2] = {0}, start = 0;
    if (rank != 0) return;
    if (mpi_case_read(&c, &fr_real_pipeline, model_of(false, false, 0, model, sizeof model),
                      "{\"global_batch\": 3}", SEED, &err) != FR_OK ||
        fr_real_open(c.app, &c.run, MPI_COMM_SELF, &c.real, &err) != FR_OK) {
        FAIL("finite differences: %s", err.detail);
        return;
    }
    const struct fr_kernels *k = c.real.k;
    int64_t n = c.real.n_parameters;
    c.app->gradients(&c.real, &start);
    double *analytic = malloc((size_t)n * sizeof *analytic);
    for (int64_t i = 0; i < n; i++) {
        analytic[i] = mpi_case_gradient(&c, i);
        largest = fmax(largest, fabs(analytic[i]));
    }
    for (int turn = 0; turn < PLACES; turn++) {
        size_t at = fr_random_at(3, 3, (uint64_t)turn) % (uint64_t)n;
        double w = k->get(c.real.parameters, at);
        for (int side = 0; side < 2; side++) {
            k->set(c.real.parameters, at, w + (side ? -step : step));
            c.app->gradients(&c.real, &loss[side]);
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

/* ---- what is lost ---------------------------------------------------------------------------- */

/* Sums of what was encoded and decoded differ by the last error; without it they differ more. */
static void codec_loses_the_last_error_only(void) {
    enum { M = 20, N = 14, LOW = 3, MICRO = 6 };
    struct fr_real real = {.k = fr_kernels_of(FR_FP64)};
    const struct fr_kernels *k = real.k;
    double lost[2] = {0};
    for (int lazy = 0; lazy < 2; lazy++) {
        double encoded[M * N] = {0}, decoded[M * N] = {0}, x[M * N];
        struct fr_lowrank c;
        fr_lowrank_open(k, M, N, LOW, lazy, SEED, 9, &c);
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
    enum { M = 24, N = 18, LOW = 4 };
    struct fr_real real = {.k = fr_kernels_of(FR_FP64)};
    const struct fr_kernels *k = real.k;
    double a[M * LOW], b[LOW * N], x[M * N], y[M * N];
    struct fr_lowrank c;
    fr_fill_normal(k, SEED, 20, 0, M, 0, LOW, LOW, 1, a);
    fr_fill_normal(k, SEED, 21, 0, LOW, 0, N, N, 1, b);
    k->gemm(false, false, M, N, LOW, 1, a, LOW, b, N, 0, x, N);
    fr_lowrank_open(k, M, N, LOW, false, SEED, 9, &c);
    fr_lowrank_encode(&real, &c, x);
    fr_lowrank_decode(&real, &c, c.factors, 1, y);
    for (int i = 0; i < M * N; i++)
        if (!(fabs(x[i] - y[i]) < 1e-11)) {
            FAIL("rank %d: got %.15g, want %.15g", LOW, y[i], x[i]);
            break;
        }
    fr_lowrank_close(&c);
}

/* ---- what must be refused -------------------------------------------------------------------- */

static void refused(const char *model, const char *plan, const char *because) {
    struct mpi_case c;
    struct fr_error err = {.status = FR_OK};
    char usual[400];
    if (!model) model = model_of(true, false, 0, usual, sizeof usual);
    if (mpi_case_read(&c, &fr_real_pipeline, model, plan, SEED, &err) != FR_OK)
        FAIL("pipeline %s: %s", plan, err.detail);
    else if (c.app->check(&c.run, &err) != FR_ERR_INPUT || !strstr(err.detail, because))
        FAIL("pipeline %s: want \"%s\" refused, got \"%s\"", plan, because, err.detail);
    mpi_case_close(&c);
}

static void refusals(void) {
    const char *llama = "{\"kind\": \"transformer\", \"layers\": 2, \"hidden\": 16, "
                        "\"heads\": 4, \"sequence\": 8, \"vocabulary\": 64, \"gated\": "
                        "true, \"global_batch\": 8}";
    const char *t5 = "{\"kind\": \"transformer\", \"layers\": 4, \"cross_layers\": 2, "
                     "\"hidden\": 16, \"heads\": 4, \"sequence\": 8, \"vocabulary\": 64, "
                     "\"global_batch\": 8}";
    refused(llama, "{}", "gated MLPs");
    refused(t5, "{\"method\": \"grid\", \"tp\": 2}", "with method tensor");
    refused(t5,
            "{\"pp\": 2, \"micro_batch\": 4, \"compression\": {\"backward\": {\"rank\": 2, "
            "\"scope\": \"all\"}}}",
            "messages that go whole");
    refused(NULL, "{\"dp\": 5}", "does not divide by dp");
    refused(NULL, "{\"pp\": 2, \"micro_batch\": 5}", "does not divide by micro_batch");
    refused(NULL, "{\"pp\": 9}", "9 stages of 1 chunks for 8 layers");
    refused(NULL, "{\"tp\": 3}", "the number of heads, 8, does not divide by tp");
    refused(NULL,
            "{\"method\": \"phantom\", \"ghost\": 1, \"tp\": 2, \"sequence_parallel\": true}",
            "with methods tensor and grid, not with phantom");
    refused(NULL, "{\"zero\": 3, \"dp\": 2, \"overlap\": \"gradient\"}", "without zero 3");
    refused(NULL,
            "{\"zero\": 2, \"dp\": 2, \"pp\": 2, \"compression\": {\"embedding\": \"fused\"}}",
            "not fused");
    refused(NULL, "{\"cp\": 2, \"tp\": 8, \"context\": \"all-to-all\"}",
            "does not divide by tp x cp");
    refused(NULL, "{\"method\": \"phantom\", \"ghost\": 4, \"tp\": 2}", "(n/p)(1 - 1/p) = 4");
    refused(NULL, "{\"method\": \"subgraph\", \"tp\": 2, \"micro_batch\": 3}",
            "does not divide by tp");
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    every_mesh(false, NULL);
    every_mesh(true, NULL);
    every_mesh(false, "mlp");
    every_mesh(false, "attention");
    every_mesh(false, "all");
    every_part();
    every_context();
    every_decoder();
    every_sub_grid();
    every_division();
    finite_differences();
    codec_loses_the_last_error_only();
    codec_keeps_low_rank();
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
