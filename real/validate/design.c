/* The designed set: sizes that a step takes milliseconds for, so that compute, traffic and
 * messages all matter somewhere, and every choice a user has within each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/meant.h"
#include "real/validate/validate.h"

struct design {
    struct fr_validation *validation;
    int ranks;
    struct fr_error *err;
    fr_status status;
};

/* Into a text of the case. */
#define PUT(field, ...) snprintf(run.field, sizeof run.field, __VA_ARGS__)

static void add(struct design *d, struct fr_validate_case *run) {
    if (d->status != FR_OK) return;
    run->id = d->validation->n_rows;
    run->ranks = d->ranks;
    d->status = fr_validation_add(d->validation, run, d->err);
}

/* ---- one feed-forward network, divided in several ways --------------------------------------- */

enum { LAYERS = 2, FEW = 8 };

/* Lists end with 0.  Many ranks, as simulated ones are, want a wide network, or no ghost is left
 * to choose. */
struct ffns {
    int widths[4], batches[3], ghost_neurons[5];
};
static const struct ffns few_ffns = {{512, 1024, 2048}, {32, 128}, {4, 16, 64}};
static const struct ffns many_ffns = {{1024, 2048}, {64, 256}, {2, 4, 8, 16}};

static const struct ffns *ffns_of(const struct design *d) {
    return d->ranks <= FEW ? &few_ffns : &many_ffns;
}

static struct fr_validate_case ffn(const struct design *d, const char *app, int n, int b) {
    struct fr_validate_case run = {0};
    PUT(app, "%s", app);
    PUT(group, "ffn n=%d b=%d p=%d", n, b, d->ranks);
    PUT(model, "{\"kind\": \"ffn\", \"width\": %d, \"layers\": %d, \"global_batch\": %d}", n,
        LAYERS, b);
    return run;
}

static void each_ffn(struct design *d, void (*one)(struct design *d, int n, int b)) {
    const struct ffns *all = ffns_of(d);
    for (const int *n = all->widths; *n; n++)
        for (const int *b = all->batches; *b; b++)
            if (*n % d->ranks == 0) one(d, *n, *b);
}

static void tensor_one(struct design *d, int n, int b) {
    struct fr_validate_case run = ffn(d, "tensor", n, b);
    PUT(label, "tensor");
    PUT(plan, "{\"tp\": %d}", d->ranks);
    add(d, &run);
}

static void tensor(struct design *d) { each_ffn(d, tensor_one); }

static void phantom_one(struct design *d, int n, int b) {
    double limit = (double)n / (double)d->ranks * (1 - 1 / (double)d->ranks);
    for (const int *ghost = ffns_of(d)->ghost_neurons; *ghost && *ghost < limit; ghost++) {
        struct fr_validate_case run = ffn(d, "phantom", n, b);
        PUT(label, "phantom k=%d", *ghost);
        PUT(plan, "{\"method\": \"phantom\", \"tp\": %d, \"ghost\": %d}", d->ranks, *ghost);
        add(d, &run);
    }
}

static void phantom(struct design *d) {
    if (d->ranks > 1) each_ffn(d, phantom_one);
}

static void grid_one(struct design *d, int n, int b) {
    for (int r = 1; r <= d->ranks; r++) {
        if (d->ranks % r != 0 || b % (d->ranks / r) != 0) continue;
        struct fr_validate_case run = ffn(d, "grid", n, b);
        PUT(label, "grid %dx%d", r, d->ranks / r);
        PUT(plan, "{\"method\": \"grid\", \"tp\": %d, \"dp\": %d}", r, d->ranks / r);
        add(d, &run);
    }
}

/* A network that narrows: its wide layers gain from dividing the model, its narrow ones from
 * dividing the batch, so that grids per layer have something to win. */
static void grid_per_layer(struct design *d) {
    int p = d->ranks, batch = p > 128 ? p : 128;
    if (batch % p != 0) return; /* some grid would not divide it */
    const int uses[][3] = {{1, 1, 1}, {p, p, p}, {p, 1, 1}, {p, p, 1}, {1, p, p}};
    for (size_t i = 0; p > 1 && i < sizeof uses / sizeof *uses; i++) {
        struct fr_validate_case run = {.app = "grid"};
        const int *tp = uses[i];
        PUT(group, "mlp 2048-1024-512-512 b=%d p=%d", batch, p);
        PUT(label, "grid P_r %d,%d,%d", tp[0], tp[1], tp[2]);
        PUT(model,
            "{\"kind\": \"mlp\", \"layers\": [2048, 1024, 512, 512], "
            "\"global_batch\": %d}",
            batch);
        PUT(plan, "{\"method\": \"grid\", \"dp\": %d, \"layer_tp\": [%d, %d, %d]}", p, tp[0],
            tp[1], tp[2]);
        add(d, &run);
    }
}

static void grid(struct design *d) {
    each_ffn(d, grid_one);
    grid_per_layer(d);
}

/* ---- methods x stages x replicas, compressed or not ------------------------------------------------- */

enum { MESH_LAYERS = 4 };

/* @p extra follows dp and pp. */
static void add_mesh(struct design *d, int n, int b, const int mesh[3], const char *method,
                     const char *what, const char *extra) {
    struct fr_validate_case run = {.app = "mesh"};
    int tp = mesh[0], pp = mesh[1], dp = mesh[2], replica = b / dp;
    int layers = d->ranks <= FEW ? MESH_LAYERS : 2 * MESH_LAYERS;
    int micro = pp == 1 ? replica : replica / 4 > 0 ? replica / 4 : 1;
    if (pp * (strstr(extra, "chunks") ? 2 : 1) > layers || n % (tp * 4) != 0 || b % dp != 0 ||
        (strstr(extra, "chunks") && replica / micro % pp != 0))
        return;
    PUT(group, "ffn n=%d layers=%d b=%d p=%d", n, layers, b, d->ranks);
    PUT(label, "%s tp %d pp %d dp %d%s", method, tp, pp, dp, what);
    PUT(model, "{\"kind\": \"ffn\", \"width\": %d, \"layers\": %d, \"global_batch\": %d}", n,
        layers, b);
    PUT(plan, "{\"method\": \"%s\", \"tp\": %d, \"pp\": %d, \"dp\": %d, \"micro_batch\": %d%s}",
        method, tp, pp, dp, micro, extra);
    add(d, &run);
}

/* With each of what the mesh has something for: chunks, split backward passes, messages and
 * gradients compressed. */
static void mesh_options(struct design *d, int n, int b, const int mesh[3], const char *method,
                         const char *label, const char *ghost) {
    static const struct {
        bool stages, replicas;
        const char *what, *extra;
    } options[] = {
        {false, false, "", ""},
        {true, false, ", interleaved", ", \"schedule\": \"interleaved\", \"chunks\": 2"},
        {true, false, ", zero-bubble", ", \"schedule\": \"zero-bubble\""},
        {true, false, ", CB all r 4",
         ", \"compression\": {\"backward\": {\"rank\": 4, \"scope\": \"all\"}}"},
        {false, true, ", SC 1 r 8",
         ", \"compression\": {\"gradient\": {\"rank\": 8, \"stages\": 1}}"},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char what[64], extra[200];
        if ((options[i].stages && mesh[1] == 1) || (options[i].replicas && mesh[2] == 1))
            continue;
        snprintf(what, sizeof what, "%s%s", label, options[i].what);
        snprintf(extra, sizeof extra, "%s%s", ghost, options[i].extra);
        add_mesh(d, n, b, mesh, method, what, extra);
    }
}

static void mesh_one(struct design *d, int n, int b) {
    for (int tp = 1; tp <= d->ranks && tp <= FEW; tp++)
        for (int pp = 1; d->ranks % tp == 0 && pp <= d->ranks / tp && pp <= FEW; pp++) {
            const int mesh[3] = {tp, pp, d->ranks / tp / pp};
            if (d->ranks / tp % pp != 0) continue;
            mesh_options(d, n, b, mesh, "tensor", "", "");
            if (tp == 1) continue; /* all methods are one */
            mesh_options(d, n, b, mesh, "grid", "", "");
            mesh_options(d, n, b, mesh, "phantom", ", k 4", ", \"ghost\": 4");
        }
}

/* Convolutions of equal sizes.  Only where ranks are many, which are simulated: im2col moves values that
 * no price has. */
static void add_cnn(struct design *d, const int mesh[3], const char *what, const char *extra) {
    enum { CNN_LAYERS = 8, CHANNELS = 16, CNN_BATCH = 256 };
    struct fr_validate_case run = {.app = "mesh"};
    size_t length = 0;
    int replica = CNN_BATCH / mesh[2], micro = mesh[1] == 1 ? replica : replica / 4;
    if (mesh[1] > CNN_LAYERS || CNN_BATCH % mesh[2] != 0 || micro == 0) return;
    PUT(group, "cnn b=%d p=%d", CNN_BATCH, d->ranks);
    PUT(label, "cnn %dx%d pp %d%s", mesh[0], mesh[2], mesh[1], what);
    fr_line_addf(run.model, sizeof run.model, &length,
                 "{\"kind\": \"cnn\", \"input\": [%d, 8, 8], \"global_batch\": %d, "
                 "\"layers\": [",
                 CHANNELS, CNN_BATCH);
    for (int l = 0; l < CNN_LAYERS; l++)
        fr_line_addf(run.model, sizeof run.model, &length,
                     "%s{\"type\": \"conv\", \"filters\": %d, \"kernel\": 3, \"padding\": 1}",
                     l ? ", " : "", CHANNELS);
    fr_line_addf(run.model, sizeof run.model, &length, "]}");
    PUT(plan,
        "{\"method\": \"grid\", \"tp\": %d, \"pp\": %d, \"dp\": %d, \"micro_batch\": %d%s}",
        mesh[0], mesh[1], mesh[2], micro, extra);
    add(d, &run);
}

static void cnn(struct design *d) {
    for (int tp = 1; d->ranks > FEW && tp <= FEW; tp *= 2)
        for (int pp = 1; d->ranks % tp == 0 && pp <= d->ranks / tp && pp <= FEW; pp *= 2) {
            const int mesh[3] = {tp, pp, d->ranks / tp / pp};
            if (d->ranks / tp % pp != 0) continue;
            add_cnn(d, mesh, "", "");
            if (pp == 1 && tp > 1) add_cnn(d, mesh, ", domain 7", ", \"domain\": 7");
            if (mesh[2] > 1)
                add_cnn(d, mesh, ", SC 1 r 2",
                        ", \"compression\": {\"gradient\": {\"rank\": 2, \"stages\": 1}}");
            if (pp > 1)
                add_cnn(d, mesh, ", CB all r 4",
                        ", \"compression\": {\"backward\": {\"rank\": 4, \"scope\": "
                        "\"all\"}}");
        }
}

static void mesh(struct design *d) {
    static const int few[][2] = {{512, 128}, {1024, 64}}, many[][2] = {{1024, 256}};
    const int(*sizes)[2] = d->ranks <= FEW ? few : many;
    for (int i = 0; d->ranks > 1 && i < (d->ranks <= FEW ? 2 : 1); i++)
        mesh_one(d, sizes[i][0], sizes[i][1]);
    cnn(d);
}

/* ---- a transformer, over stages, replicas and tp ranks ---------------------------------------- */

struct gpt {
    int layers, hidden, heads, sequence, vocabulary, batch;
};

/* @p extra follows dp, pp and tp. */
static void add_gpt(struct design *d, const struct gpt *g, const int mesh[3], const char *what,
                    const char *extra) {
    struct fr_validate_case run = {.app = "pipeline"};
    int tp = mesh[0], pp = mesh[1], dp = mesh[2];
    if (pp > g->layers || g->heads % tp != 0 || g->batch % dp != 0) return;
    PUT(group, "gpt h=%d s=%d b=%d p=%d", g->hidden, g->sequence, g->batch, d->ranks);
    if (tp > 1)
        PUT(label, "tp %d pp %d dp %d%s", tp, pp, dp, what);
    else
        PUT(label, "pp %d dp %d%s", pp, dp, what);
    PUT(model,
        "{\"kind\": \"transformer\", \"layers\": %d, \"hidden\": %d, \"heads\": %d, "
        "\"sequence\": %d, \"vocabulary\": %d, \"global_batch\": %d}",
        g->layers, g->hidden, g->heads, g->sequence, g->vocabulary, g->batch);
    PUT(plan, "{\"tp\": %d, \"pp\": %d, \"dp\": %d%s}", tp, pp, dp, extra);
    add(d, &run);
}

/* On sub-grids, a micro-batch having a sample for each. */
static void add_branches(struct design *d, const struct gpt *g, const int mesh[3],
                         const char *branches) {
    char what[64], extra[160];
    if (g->batch / mesh[2] % mesh[0] != 0) return;
    snprintf(what, sizeof what, ", sub-grids, %s", branches);
    snprintf(extra, sizeof extra,
             ", \"method\": \"subgraph\", \"branches\": \"%s\", \"micro_batch\": %d", branches,
             mesh[0]);
    add_gpt(d, g, mesh, what, extra);
}

/* Each traffic of Song et al. 2023 compressed where the mesh has it, and all together. */
static void gpt_options(struct design *d, const struct gpt *g, const int mesh[3]) {
    static const struct {
        bool stages, replicas;
        const char *what, *extra;
    } options[] = {
        {false, false, "", ""},
        {true, false, ", epilogue r 4",
         ", \"compression\": {\"backward\": {\"rank\": 4, \"scope\": \"epilogue\"}}"},
        {true, false, ", all r 4",
         ", \"compression\": {\"backward\": {\"rank\": 4, \"scope\": \"all\"}}"},
        {true, false, ", zero-bubble", ", \"schedule\": \"zero-bubble\""},
        {false, false, ", recompute full", ", \"recompute\": \"full\""},
        {false, true, ", zero 1", ", \"zero\": 1"},
        {true, true, ", fused", ", \"compression\": {\"embedding\": \"fused\"}"},
        {false, true, ", stage 0 r 8",
         ", \"compression\": {\"gradient\": {\"rank\": 8, \"stages\": 1}}"},
        {false, true, ", stage 0 top-k r 8",
         ", \"compression\": {\"gradient\": {\"rank\": 8, \"stages\": 1}, \"codec\": "
         "\"topk\"}"},
        {true, true, ", CB all r 4, FE, SC 1 r 8",
         ", \"compression\": {\"backward\": {\"rank\": 4, \"scope\": \"all\"}, "
         "\"embedding\": \"fused\", \"gradient\": {\"rank\": 8, \"stages\": 1}}"},
        {true, true, ", zero 1, FE, SC 1 r 8",
         ", \"zero\": 1, \"compression\": {\"embedding\": \"fused\", "
         "\"gradient\": {\"rank\": 8, \"stages\": 1}}"},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if ((!options[i].stages || mesh[1] > 1) && (!options[i].replicas || mesh[2] > 1))
            add_gpt(d, g, mesh, options[i].what, options[i].extra);
    if (mesh[0] == 1) return; /* all methods are one */
    add_gpt(d, g, mesh, ", phantom k 4", ", \"method\": \"phantom\", \"ghost\": 4");
    add_gpt(d, g, mesh, ", phantom k 4, recompute full",
            ", \"method\": \"phantom\", \"ghost\": 4, \"recompute\": \"full\"");
    add_branches(d, g, mesh, "heads");
    add_branches(d, g, mesh, "layer");
    add_gpt(d, g, mesh, ", grid", ", \"method\": \"grid\"");
    if (mesh[1] > 1)
        add_gpt(d, g, mesh, ", grid, zero-bubble",
                ", \"method\": \"grid\", \"schedule\": \"zero-bubble\"");
    if (mesh[2] > 1)
        add_gpt(d, g, mesh, ", grid, SC 1 r 8",
                ", \"method\": \"grid\", \"compression\": {\"gradient\": {\"rank\": 8, "
                "\"stages\": 1}}");
}

static void pipeline(struct design *d) {
    static const struct gpt gpts[] = {{4, 128, 4, 32, 512, 8}, {4, 192, 6, 64, 1024, 8}};
    /* Many ranks, as simulated ones are, want more layers and samples. */
    const struct gpt many = {16, 128, 2, 16, 512, 2 * (int)d->ranks};
    bool few = d->ranks <= FEW;
    for (size_t i = 0; i < (few ? sizeof gpts / sizeof *gpts : 1); i++) {
        const struct gpt *g = few ? &gpts[i] : &many;
        for (int tp = 1; tp <= d->ranks && tp <= g->heads; tp++)
            for (int pp = 1; d->ranks % tp == 0 && pp <= d->ranks / tp; pp++) {
                const int mesh[3] = {tp, pp, d->ranks / tp / pp};
                if (d->ranks / tp % pp == 0) gpt_options(d, g, mesh);
            }
    }
}

/* ---- attention heads and MLP parts over sub-grids --------------------------------------------- */

struct heads {
    int width, heads, positions, batch;
};

static void add_heads(struct design *d, const struct heads *h, int g, const char *what,
                      const char *extra) {
    struct fr_validate_case run = {.app = "subgraph"};
    int dp = d->ranks / g;
    if (d->ranks % g != 0 || h->heads % g != 0 || h->batch % d->ranks != 0) return;
    PUT(group, "heads h=%d a=%d s=%d b=%d p=%d", h->width, h->heads, h->positions, h->batch,
        d->ranks);
    PUT(label, "ways %d%s", g, what);
    PUT(model,
        "{\"kind\": \"branches\", \"width\": %d, \"positions\": %d, \"global_batch\": %d, "
        "\"layers\": [{\"out\": %d}, {\"branches\": %d, \"split\": \"slice\", "
        "\"join\": \"concatenation\", \"layers\": [{\"attention\": %d}]}, {\"out\": %d}, "
        "{\"branches\": %d, \"split\": \"copy\", \"join\": \"sum\", "
        "\"layers\": [{\"out\": %d}, {\"out\": %d}]}, {\"out\": %d}]}",
        h->width, h->positions, h->batch, 3 * h->width, h->heads, h->width / h->heads, h->width,
        h->heads, 4 * h->width / h->heads, h->width, h->width);
    PUT(plan, "{\"method\": \"subgraph\", \"tp\": %d, \"dp\": %d%s}", g, dp, extra);
    add(d, &run);
}

static void subgraph(struct design *d) {
    static const struct heads sets[] = {{256, 8, 32, 8}, {256, 16, 32, 8}, {512, 8, 64, 8}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        for (int g = 1; g <= d->ranks && g <= sets[i].heads; g++) {
            struct heads h = sets[i]; /* a sample a rank at least */
            if (d->ranks > h.batch) h.batch = (int)d->ranks;
            add_heads(d, &h, g, "", "");
            if (g == 1) continue;
            add_heads(d, &h, g, ", all-gather", ", \"exchange\": \"all_gather\"");
            add_heads(d, &h, g, ", cSub", ", \"common\": \"subgrid\"");
            if (g < d->ranks)
                add_heads(d, &h, g, ", round-robin", ", \"placement\": \"round-robin\"");
        }
}

/* ------------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    void (*design)(struct design *d);
} designs[] = {{"tensor", tensor},     {"phantom", phantom},   {"grid", grid},
               {"pipeline", pipeline}, {"subgraph", subgraph}, {"mesh", mesh}};

enum { N_DESIGNS = sizeof designs / sizeof *designs };

fr_status fr_validate_design(const char *app, int64_t ranks, struct fr_validation *validation,
                             struct fr_error *err) {
    struct design d = {
        .validation = validation, .ranks = (int)ranks, .err = err, .status = FR_OK};
    const char *known[N_DESIGNS + 2] = {"all"};
    bool all = !*app || strcmp(app, "all") == 0, found = all;
    for (int i = 0; i < N_DESIGNS; i++) {
        known[i + 1] = designs[i].name;
        if (!all && strcmp(app, designs[i].name) != 0) continue;
        found = true;
        designs[i].design(&d);
    }
    if (found) return d.status;
    char tail[200];
    return fr_fail(err, FR_ERR_USAGE, "--app", "no program \"%.40s\"%s", app,
                   fr_meant_tail(app, known, tail, sizeof tail));
}

const char *fr_validate_program(const struct fr_workload *workload,
                                const struct fr_plan *plan) {
    if (workload->transformer.layers) return "pipeline";
    if (plan->method->branches) return "subgraph";
    return plan->layer_tp ? "grid" : "mesh";
}
