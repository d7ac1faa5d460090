/* A rank's part of a layer: sizes, where parameters are, and buffers. */
#include "real/apps/mesh/layer.h"

#include <math.h>

#include "real/apps/ffn.h"
#include "real/apps/random.h"

static fr_flow flow_of(const struct fr_unit *u, bool branch) {
    const struct fr_method *method = u->run->plan->method;
    return method->uses_ghost ? FR_FLOW_VALUES
           : branch           ? FR_FLOW_SAMPLES
           : method->branches ? FR_FLOW_ALONE
           : u->block.rows    ? u->block.parted ? FR_FLOW_ROW_TOKENS : FR_FLOW_ROWS
           : u->block.parted  ? FR_FLOW_TOKENS
                              : FR_FLOW_WHOLE;
}

static void set_ghost_neurons(const struct fr_unit *u, struct fr_sublayer *s) {
    s->up = s->down = (struct fr_ghost_neurons){
        .p = u->tp, .rank = u->tp_rank, .k = u->ghost, .columns = s->t};
    s->up.in = s->down.out = s->o;
    s->up.out = s->thirds * s->wide;
    s->down.in = s->wide;
}

/* Are the products of attention, or of the MLP, those of ghost neurons? */
static bool has_ghost_neurons(const struct fr_plan *plan, bool mlp) {
    return plan->method->uses_ghost &&
           plan->phantom_parts != (mlp ? FR_PHANTOM_ATTENTION : FR_PHANTOM_MLP);
}

struct fr_sublayer fr_sublayer_of(const struct fr_unit *u, int kind) {
    const struct fr_block_sizes *b = &u->block;
    const struct fr_plan *plan = u->run->plan;
    bool mlp = kind == FR_SUBLAYER_MLP, grouped = plan->method->branches,
         branch = grouped && (mlp ? plan->branches == FR_BRANCHES_LAYER
                                  : plan->branches != FR_BRANCHES_HEADS);
    const struct fr_unit_grid *grid = mlp ? &u->mlp : &u->grid;
    int own = mlp ? b->ffn : b->heads * b->head_dim, columns = grid->columns.n;
    struct fr_sublayer s = {.kind = kind,
                            .flow = flow_of(u, branch),
                            .ghost_neurons = has_ghost_neurons(plan, mlp),
                            .slices = !mlp && grouped && !branch,
                            .rank = grid->rank,
                            .ranks = grid->p,
                            .group = grid->group,
                            .h = b->hidden,
                            .o = b->hidden,
                            .n = columns,
                            .t = branch ? u->group_columns : columns,
                            .before = u->grid.columns.n,
                            .thirds = mlp ? 1 : 3,
                            .all = own * grid->p,
                            .z = *b};
    bool divided = branch || !grouped; /* a rank has all of what is no branch */
    s.wide = divided ? own : s.all;
    s.from = divided ? s.rank * own : 0;
    bool rows = fr_sublayer_by_rows(&s);
    if (fr_sublayer_parted(&s)) s.n = s.before = columns / s.ranks;
    if (s.flow == FR_FLOW_VALUES || rows) s.o /= s.ranks;
    s.rows = rows ? s.o : s.h;
    s.in = rows ? s.all : s.wide;
    if (grouped) s.z.samples = u->group_columns / fr_block_sequence(b);
    s.z.causal = b->causal && kind != FR_SUBLAYER_CROSSING;
    set_ghost_neurons(u, &s);
    return s;
}

int fr_sublayers_of(const struct fr_unit *u, int kind[FR_SUBLAYERS]) {
    int n = 0;
    kind[n++] = FR_SUBLAYER_HEADS;
    if (u->crosses) kind[n++] = FR_SUBLAYER_CROSSING;
    kind[n++] = FR_SUBLAYER_MLP;
    return n;
}

/* ---- parameters ------------------------------------------------------------------------------ */

enum { GAIN, BIAS, FIRST, FIRST_BIAS, SECOND, SECOND_BIAS, PARTS };

/* One matrix, vector or block of ghost neurons' matrices: of which sublayer, how many values,
 * and of which part of the parameters. */
struct part {
    int kind, which, rows, columns;
    int64_t n;
    const struct fr_ghost_neurons *ghost_neurons;
    bool second; /* a branch's, or an MLP's on a grid of its own */
};

static struct part part_of(const struct fr_unit *u, const struct fr_sublayer *s, int which) {
    struct part p = {.kind = s->kind, .which = which, .rows = s->h, .columns = 1};
    bool branch = s->flow == FR_FLOW_SAMPLES;
    if (which <= BIAS && s->ghost_neurons) p.rows = s->o;
    if (which == FIRST || which == FIRST_BIAS) p.rows = s->thirds * s->wide;
    if (which == FIRST) p.columns = s->h, p.ghost_neurons = s->ghost_neurons ? &s->up : NULL;
    if (which == SECOND)
        p.rows = s->rows, p.columns = s->in,
        p.ghost_neurons = s->ghost_neurons ? &s->down : NULL;
    if (which == SECOND_BIAS) p.rows = s->o;
    p.n = p.ghost_neurons ? fr_ghost_neurons_parameters(p.ghost_neurons)
                          : (int64_t)p.rows * p.columns;
    p.second = (branch && which >= FIRST && which <= SECOND) ||
               (u->run->plan->layer_tp && s->kind == FR_SUBLAYER_MLP);
    return p;
}

/* In which order parts lie, NULL: sublayer by sublayer.  A norm of whole values of which a rank has a part of the
 * gradient is first (block.c's `partial`). */
static const int *order_of(const struct fr_plan *plan) {
    enum { MLP = PARTS * FR_SUBLAYER_MLP };
    static const int
        norms_first[] = {GAIN,         BIAS,
                         MLP + GAIN,   MLP + BIAS,
                         FIRST,        FIRST_BIAS,
                         SECOND,       SECOND_BIAS,
                         MLP + FIRST,  MLP + FIRST_BIAS,
                         MLP + SECOND, MLP + SECOND_BIAS},
        sums_first[] =
            {GAIN,  BIAS,       MLP + GAIN, MLP + BIAS,  SECOND_BIAS,      MLP + SECOND_BIAS,
             FIRST, FIRST_BIAS, SECOND,     MLP + FIRST, MLP + FIRST_BIAS, MLP + SECOND},
        mlp_norm_first[] = {MLP + GAIN,  MLP + BIAS,       GAIN,         BIAS,
                            FIRST,       FIRST_BIAS,       SECOND,       SECOND_BIAS,
                            MLP + FIRST, MLP + FIRST_BIAS, MLP + SECOND, MLP + SECOND_BIAS};
    if (!plan->method->uses_ghost) return plan->method->branches ? sums_first : norms_first;
    return plan->phantom_parts == FR_PHANTOM_ATTENTION ? mlp_norm_first : NULL;
}

/* Parts of all sublayers as they lie one after the other. */
static int parts_of(const struct fr_unit *u, struct fr_sublayer s[FR_SUBLAYERS],
                    struct part all[FR_SUBLAYERS * PARTS]) {
    const int *order = order_of(u->run->plan);
    int n = (u->crosses ? FR_SUBLAYERS : FR_SUBLAYER_CROSSING) * PARTS;
    for (int kind = 0; kind < n / PARTS; kind++) s[kind] = fr_sublayer_of(u, kind);
    for (int i = 0; i < n; i++) {
        int at = order && i < 2 * PARTS ? order[i] : i;
        all[i] = part_of(u, &s[at / PARTS], at % PARTS);
    }
    return n;
}

void fr_layer_sizes(const struct fr_unit *u, int64_t n[2]) {
    struct fr_sublayer s[FR_SUBLAYERS];
    struct part all[FR_SUBLAYERS * PARTS];
    int parts = parts_of(u, s, all);
    n[0] = n[1] = 0;
    for (int i = 0; i < parts; i++) n[all[i].second] += all[i].n;
}

void fr_layer_weights(const struct fr_real *real, const struct fr_unit *u, bool gradients,
                      struct fr_sublayer_weights w[FR_SUBLAYERS]) {
    struct fr_sublayer s[FR_SUBLAYERS];
    struct part all[FR_SUBLAYERS * PARTS];
    int parts = parts_of(u, s, all);
    void *at[2] = {gradients ? u->g : u->w, gradients ? u->own_g : u->own_w};
    for (int i = 0; i < parts; i++) {
        struct fr_sublayer_weights *to = &w[all[i].kind];
        void **const where[PARTS] = {&to->gain,       &to->bias,   &to->first,
                                     &to->first_bias, &to->second, &to->second_bias};
        *where[all[i].which] = at[all[i].second];
        at[all[i].second] = fr_at(real->k, at[all[i].second], (size_t)all[i].n);
    }
}

/* Those of the first part, then of the second. */
int fr_layer_matrices(const struct fr_real *real, const struct fr_unit *u,
                      struct fr_unit_matrix *out, int capacity) {
    struct fr_sublayer s[FR_SUBLAYERS];
    struct part all[FR_SUBLAYERS * PARTS];
    int parts = parts_of(u, s, all), n = 0;
    for (int i = 0; i < 2 * parts; i++) {
        const struct part *p = &all[i % parts];
        struct fr_sublayer_weights g[FR_SUBLAYERS];
        if (p->second != i / parts || (p->which != FIRST && p->which != SECOND)) continue;
        fr_layer_weights(real, u, true, g);
        void *at = p->which == FIRST ? g[p->kind].first : g[p->kind].second;
        if (p->ghost_neurons)
            n += fr_ghost_neurons_matrices(real, p->ghost_neurons, at, out ? out + n : NULL,
                                           capacity - n);
        else if (n++ < capacity)
            out[n - 1] = (struct fr_unit_matrix){at, p->rows, p->columns};
    }
    return n;
}

static void fill_sublayer(const struct fr_real *real, const struct fr_sublayer *s,
                          uint64_t stream, const struct fr_sublayer_weights *w) {
    enum { STREAM_UP = 8, STREAM_DOWN = 16, STREAM_QUERIES = 40, STREAM_OUTPUT = 48 };
    bool mlp = s->kind == FR_SUBLAYER_MLP;
    const struct fr_kernels *k = real->k;
    uint64_t seed = real->run->seed, first = stream + 2 * mlp;
    bool rows = fr_sublayer_by_rows(s);
    for (int i = 0; i < (s->ghost_neurons ? s->o : s->h); i++) k->set(w->gain, (size_t)i, 1);
    if (s->ghost_neurons) {
        uint64_t up = mlp ? STREAM_UP : STREAM_QUERIES,
                 down = mlp ? STREAM_DOWN : STREAM_OUTPUT;
        fr_ghost_neurons_fill(k, &s->up, seed, stream + up, w->first);
        fr_ghost_neurons_fill(k, &s->down, seed, stream + down, w->second);
        return;
    }
    for (int part = 0; part < s->thirds; part++)
        fr_fill_normal(k, seed, first, part * s->all + s->from, s->wide, 0, s->h, s->h,
                       1 / sqrt(s->h), fr_at(k, w->first, (size_t)(part * s->wide * s->h)));
    fr_fill_normal(k, seed, first + 1, rows ? s->rank * s->o : 0, s->rows, rows ? 0 : s->from,
                   s->in, s->all, 1 / sqrt(s->all), w->second);
}

void fr_layer_fill(const struct fr_real *real, struct fr_unit *u) {
    enum { STREAM_CROSSING = 32 };
    int kind[FR_SUBLAYERS], n = fr_sublayers_of(u, kind);
    struct fr_sublayer_weights w[FR_SUBLAYERS];
    uint64_t stream = (uint64_t)(FR_STREAM_LAYER + 64 * u->index);
    fr_layer_weights(real, u, false, w);
    for (int i = 0; i < n; i++) {
        struct fr_sublayer s = fr_sublayer_of(u, kind[i]);
        bool crosses = kind[i] == FR_SUBLAYER_CROSSING;
        fill_sublayer(real, &s, crosses ? stream + STREAM_CROSSING : stream, &w[kind[i]]);
    }
}

/* ---- buffers --------------------------------------------------------------------------------- */

static bool attends(const struct fr_sublayer *s) { return s->kind != FR_SUBLAYER_MLP; }
/* Values of the input. */
static int64_t values_of(const struct fr_sublayer *s) {
    return s->flow == FR_FLOW_VALUES ? s->o : s->h;
}
static int64_t input_of(const struct fr_sublayer *s) { return values_of(s) * s->n; }
static int64_t heads_of(const struct fr_sublayer *s) {
    return attends(s) ? (int64_t)s->z.heads * s->z.head_dim * fr_block_tokens(&s->z) : 0;
}
static int64_t ghost_neurons_of(const struct fr_sublayer *s) {
    return s->ghost_neurons ? fr_ghost_neurons_values(&s->up) : 0;
}
static bool gathers(const struct fr_sublayer *s) {
    return fr_sublayer_parted(s) || s->flow == FR_FLOW_SAMPLES ||
           (s->flow == FR_FLOW_VALUES && !s->ghost_neurons);
}

int64_t fr_sublayer_saved(const struct fr_kernels *k, const struct fr_sublayer *s,
                          const void *base, bool softmax, struct fr_sublayer_saved *out) {
    int64_t whole = (int64_t)s->h * s->t, ghost_neurons = s->ranks * ghost_neurons_of(s);
    bool first = s->kind == FR_SUBLAYER_HEADS,
         values = s->flow == FR_FLOW_VALUES && !s->ghost_neurons;
    const struct fr_block_part all[] = {
        {&out->x, first ? 0 : input_of(s)},
        {&out->all, values ? whole : 0},
        {&out->a, values || s->flow == FR_FLOW_SAMPLES ? whole : input_of(s)},
        {&out->mean, s->n},
        {&out->inverse, s->n},
        {&out->first, 3 * heads_of(s)},
        {&out->made, (int64_t)s->in * s->t},
        {&out->heads, s->slices ? heads_of(s) : 0},
        {&out->ghost_neurons[0], ghost_neurons},
        {&out->ghost_neurons[1], ghost_neurons},
        {&out->p, attends(s) ? fr_block_softmax_size(&s->z) : 0}};
    return fr_block_lay_out(k, all, sizeof all / sizeof *all - !softmax, base);
}

int64_t fr_sublayer_deferred(const struct fr_kernels *k, const struct fr_sublayer *s,
                             const void *base, struct fr_sublayer_deferred *out) {
    int64_t whole = (int64_t)s->h * s->t;
    const struct fr_block_part all[] = {
        {&out->first, (int64_t)(attends(s) ? s->thirds * s->wide : s->in) * s->t},
        {&out->left, gathers(s) ? whole : 0},
        {&out->a, fr_sublayer_parted(s) ? whole : 0},
        {&out->dx, s->kind == FR_SUBLAYER_HEADS ? 0 : values_of(s) * s->before},
        {&out->ghost_neurons[0], ghost_neurons_of(s)},
        {&out->ghost_neurons[1], ghost_neurons_of(s)}};
    return fr_block_lay_out(k, all, sizeof all / sizeof *all, base);
}

int64_t fr_sublayer_scratch(const struct fr_kernels *k, const struct fr_sublayer *s,
                            const void *base, struct fr_sublayer_scratch *out) {
    int64_t whole = (int64_t)s->h * s->t,
            group = (int64_t)s->z.samples * fr_block_sequence(&s->z);
    bool split = s->flow == FR_FLOW_SAMPLES || s->slices;
    const struct fr_block_part all[] = {
        {&out->whole, whole},
        {&out->other, whole},
        {&out->mid, attends(s) ? (int64_t)s->in * s->t : 0},
        {&out->heads, s->slices ? heads_of(s) : 0},
        {&out->first, s->slices ? 3 * heads_of(s) : 0},
        {&out->packed, fr_sublayer_parted(s) ? whole
                       : split               ? (s->h > s->all ? s->h : s->all) * group
                                             : 0},
        {&out->bias, s->wide},
        {&out->sums, s->ghost_neurons ? 2 * s->t : 0},
        {&out->local, ghost_neurons_of(s)},
        {&out->all, s->ranks * ghost_neurons_of(s)},
        {&out->context, attends(s) ? fr_context_scratch_size(&s->z) : 0}};
    return fr_block_lay_out(k, all, sizeof all / sizeof *all, base);
}
