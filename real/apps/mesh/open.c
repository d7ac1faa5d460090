/* Which units a rank holds, and their buffers. */
#include <stdlib.h>

#include "base/alloc.h"
#include "real/apps/mesh/blocking.h"
#include "real/apps/mesh/mesh.h"
#include "real/apps/mesh/words.h"

enum { STREAM_CODEC = 6, STREAM_FORWARD = 5 /* beyond that of the chunk */ };

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* Parameters of this rank's units that each kind of holder has. */
static void count(const struct fr_real *real, const struct fr_chain *chain,
                  int64_t held[FR_HOLDERS]) {
    const struct fr_plan *plan = real->run->plan;
    for (int h = 0; h < FR_HOLDERS; h++) held[h] = 0;
    for (int64_t c = 0; c < plan->chunks; c++) {
        int64_t number = fr_schedule_virtual(plan->schedule, (int32_t)plan->pp, real->pp_rank,
                                             (int32_t)c),
                end = fr_chain_units_before(chain, number + 1);
        for (int64_t i = fr_chain_units_before(chain, number); i < end; i++) {
            const struct fr_unit u = fr_chain_unit(chain, i, real->tp_rank, 1);
            int64_t first = u.kind->common ? u.kind->common(&u) : u.n;
            held[u.holder[0]] += first;
            held[u.holder[1]] += u.n - first;
        }
    }
}

int64_t fr_mesh_parameters(const struct fr_real *real) {
    struct fr_chain chain;
    int64_t held[FR_HOLDERS], sum = 0;
    if (fr_chain_make(real->run, &chain, NULL) != FR_OK) return 0;
    count(real, &chain, held);
    for (int h = 0; h < FR_HOLDERS; h++) sum += held[h];
    fr_chain_free(&chain);
    return sum;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static bool open_micro(const struct fr_real *real, const struct fr_mesh_state *mesh,
                       const struct fr_mesh_chunk *c, struct fr_mesh_micro *micro) {
    const struct fr_kernels *k = real->k;
    const struct fr_unit *last = &c->unit[c->n_units - 1];
    bool whole = true;
    micro->sent = MPI_REQUEST_NULL;
    micro->saved = fr_calloc((size_t)c->n_units, sizeof *micro->saved);
    micro->top = fr_real_alloc(k, fr_unit_leaves(last));
    if (!c->last &&
        (mesh->cut == FR_MESH_COLUMNS || real->run->plan->compression.forward_rank > 0)) {
        struct fr_mesh_part part = fr_mesh_part_of(real, mesh, &last->to, last->out);
        micro->part = fr_real_alloc(k, (int64_t)part.m * part.n);
        whole = micro->part;
    }
    for (int i = 0; micro->saved && i < c->n_units; i++) {
        const struct fr_unit *u = &c->unit[i];
        struct fr_unit_saved *saved = &micro->saved[i];
        int64_t n[3];
        u->kind->keeps(u, n);
        if (i > 0 || !c->first) { /* the network's inputs stay where they are */
            saved->x = fr_real_alloc(k, fr_unit_enters(u));
            whole = whole && saved->x;
        }
        for (int j = 0; j < 3; j++) {
            if (n[j] > 0) saved->own[j] = fr_real_alloc(k, n[j]);
            whole = whole && (n[j] == 0 || saved->own[j]);
        }
    }
    return whole && micro->saved && micro->top;
}

static void close_micro(const struct fr_mesh_chunk *c, struct fr_mesh_micro *micro) {
    if (micro->saved) MPI_Wait(&micro->sent, MPI_STATUS_IGNORE);
    for (int i = 0; micro->saved && i < c->n_units; i++) {
        if (i > 0 || !c->first) free(micro->saved[i].x);
        for (int j = 0; j < 3; j++) free(micro->saved[i].own[j]);
    }
    free(micro->saved);
    free(micro->top);
    free(micro->part);
}

/* Where a unit's parameters are: those of each holder from value @p offset[holder] of the blocks on. */
static void place(const struct fr_real *real, struct fr_unit *u, size_t offset[FR_HOLDERS]) {
    int64_t common = u->kind->common ? u->kind->common(u) : u->n;
    u->w = fr_at(real->k, real->parameters, offset[u->holder[0]]);
    u->g = fr_at(real->k, real->gradients, offset[u->holder[0]]);
    offset[u->holder[0]] += (size_t)common;
    u->own_w = fr_at(real->k, real->parameters, offset[u->holder[1]]);
    u->own_g = fr_at(real->k, real->gradients, offset[u->holder[1]]);
    offset[u->holder[1]] += (size_t)(u->n - common);
}

/* The rank's row and column on a grid of R / P_r columns. */
static void place_grid(const struct fr_real *real, struct fr_unit_grid *grid) {
    int place = fr_real_place(real);
    grid->group = real->tp;
    if (real->rows[grid->of] == MPI_COMM_NULL) return;
    grid->rank = place % grid->p;
    grid->columns.first = place / grid->p * grid->columns.n;
    grid->group = real->rows[grid->of];
}

static void place_grids(const struct fr_real *real, struct fr_unit *u) {
    struct fr_unit_grid *const all[] = {&u->grid, &u->mlp, &u->from, &u->to};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) place_grid(real, all[i]);
    u->group = u->grid.group;
    u->entering = real->between[FR_GRID_MLP];
    u->inside = real->between[FR_GRID_ATTENTION];
    u->leaving =
        real->between[u->kind == &fr_unit_embedding ? FR_GRID_ENDS : FR_GRID_ATTENTION];
    if (real->rows[u->grid.of] != MPI_COMM_NULL) u->tp_rank = u->block.rank = u->grid.rank;
}

/* The units of chunk @p number. */
static bool open_chunk(struct fr_real *real, struct fr_mesh_state *mesh, int number,
                       const struct fr_chain *chain, size_t offset[FR_HOLDERS],
                       struct fr_mesh_chunk *c) {
    int64_t from = fr_chain_units_before(chain, number),
            to = fr_chain_units_before(chain, number + 1);
    bool whole = true;
    c->number = number;
    c->first = number == 0;
    c->last = number == mesh->stages * mesh->n_chunks - 1;
    c->n_units = (int)(to - from);
    c->unit = fr_calloc((size_t)c->n_units, sizeof *c->unit);
    c->micro = fr_calloc((size_t)mesh->n_micro, sizeof *c->micro);
    if (!c->unit || !c->micro) return false;
    for (int i = 0; i < c->n_units; i++) {
        struct fr_unit *u = &c->unit[i];
        *u = fr_chain_unit(chain, from + i, real->tp_rank, mesh->columns);
        u->splits = mesh->splits;
        place_grids(real, u);
        place(real, u, offset);
        u->kind->fill(real, u);
    }
    for (int m = 0; whole && m < mesh->n_micro; m++)
        whole = open_micro(real, mesh, c, &c->micro[m]);
    return whole;
}

/* ---- what all units of a rank share ------------------------------------------------------------ */

static bool open_shared(struct fr_real *real, struct fr_mesh_state *mesh) {
    int64_t widest = 0, scratch = 0, in = 0, columns = mesh->columns;
    for (int j = 0; j < mesh->n_chunks; j++)
        for (int i = 0; i < mesh->chunk[j].n_units; i++) {
            const struct fr_unit *u = &mesh->chunk[j].unit[i];
            widest = most(widest, u->in);
            if (u->kind != &fr_unit_logits) widest = most(widest, u->out);
            if (i == 0) in = most(in, fr_unit_enters(u));
            columns = most(columns, most(u->from.columns.n, u->to.columns.n));
            scratch = most(scratch, u->kind->scratch(u));
        }
    int64_t parts = mesh->cut == FR_MESH_COLUMNS ? widest * columns : 0;
    const struct fr_real_buffer all[] = {
        {&mesh->d[0], widest * columns}, {&mesh->d[1], widest * columns},
        {&mesh->scratch, scratch},       {&mesh->part, parts},
        {&mesh->parts, parts},           {&mesh->partials, fr_mesh_partials(mesh)},
    };
    mesh->out.values = in;
    if (!fr_real_alloc_all(real->k, all, sizeof all / sizeof *all)) return false;
    for (int j = 0; j < mesh->n_chunks; j++)
        for (int i = 0; i < mesh->chunk[j].n_units; i++)
            mesh->chunk[j].unit[i].scratch = mesh->scratch;
    return true;
}

/* Mark messages of the backward passes after a stage's last forward pass, except the one
 * directly behind it, which pairs with it. */
static void mark_cool_down(const struct fr_mesh_state *mesh, const struct fr_slot *slots,
                           bool *reads) {
    int64_t from = mesh->n_slots;
    int later = 0;
    while (from > 0 && slots[from - 1].kind != FR_SLOT_FORWARD) from--;
    for (int64_t i = from; i < mesh->n_slots; i++)
        if (slots[i].kind == FR_SLOT_BACKWARD && later++ > 0)
            reads[slots[i].chunk * mesh->n_micro + slots[i].micro] = true;
}

/* The epilogue: messages that stage @p stage reads with no forward pass left to do meanwhile.  With one
 * chunk they are the last P - 1 - i of the boundary above stage i (Song et al. 2023). */
static bool open_epilogue(const struct fr_plan *plan, const struct fr_mesh_state *mesh,
                          int stage, bool **out) {
    struct fr_schedule_args args = {mesh->stages, mesh->n_micro, mesh->n_chunks, plan->order};
    struct fr_slot *slots = fr_calloc((size_t)mesh->n_slots, sizeof *slots);
    bool *reads = fr_calloc((size_t)(mesh->n_chunks * mesh->n_micro), sizeof *reads);
    bool whole = slots && reads;
    *out = reads;
    if (whole) plan->schedule->order(&args, stage, slots);
    if (whole && mesh->n_chunks > 1) mark_cool_down(mesh, slots, reads);
    for (int m = 0; whole && mesh->n_chunks == 1 && m < mesh->n_micro; m++)
        reads[m] = m >= mesh->n_micro - (mesh->stages - 1 - stage);
    free(slots);
    return whole;
}

/* A codec of @p part of what flows between chunks, with memory where @p opened and it shrinks that. */
static bool open_codec(struct fr_real *real, struct fr_mesh_part part, int64_t rank, bool lazy,
                       uint64_t stream, bool opened, struct fr_real_codec *codec) {
    const struct fr_plan_compression *c = &real->run->plan->compression;
    *codec = fr_real_codec_of(c->codec, part.m, part.n, (int)rank, lazy);
    if (!opened || !fr_real_codec_shrinks(real->k, codec)) return true;
    return fr_real_codec_open(real->k, real->run->seed, STREAM_CODEC + stream, codec);
}

/* Codecs of gradients down and activations up: for sending, and sizes of those that are read. */
static bool open_chunk_codecs(struct fr_real *real, const struct fr_mesh_state *mesh,
                              struct fr_mesh_chunk *at) {
    const struct fr_plan_compression *c = &real->run->plan->compression;
    int64_t down = c->backward_rank, up = c->forward_rank;
    const struct fr_unit *first = at->unit, *last = &at->unit[at->n_units - 1];
    struct fr_mesh_part below = fr_mesh_part_of(real, mesh, &first->from, first->in),
                        above = fr_mesh_part_of(real, mesh, &last->to, last->out);
    uint64_t stream = 10 * (uint64_t)at->number;
    bool lazy = c->lazy_error, coded_down = c->scope != FR_SCOPE_NONE && !at->first,
         coded_up = up > 0 && !at->last;
    return open_codec(real, above, down, lazy, 0, false, &at->from) &&
           open_codec(real, below, up, true, 0, false, &at->up_from) &&
           open_codec(real, below, down, lazy, stream, coded_down, &at->codec) &&
           open_codec(real, above, up, true, stream + STREAM_FORWARD, coded_up, &at->up);
}

/* Mark the messages that stages below this one's chunks read; a schedule that folds has them on either side. */
static bool open_before(const struct fr_plan *plan, struct fr_mesh_state *mesh) {
    size_t n = (size_t)mesh->n_micro;
    bool whole = true;
    mesh->before_reads = fr_calloc((size_t)mesh->n_chunks * n, sizeof *mesh->before_reads);
    for (int j = 0; mesh->before_reads && j < mesh->n_chunks; j++) {
        int below = mesh->chunk[j].number - 1, row = below / mesh->stages;
        int stage =
            below < 0 ? mesh->stage : fr_schedule_stage(plan->schedule, mesh->stages, below);
        bool *reads = NULL;
        if (stage == mesh->stage) continue; /* nobody reads it, or it stays */
        whole = open_epilogue(plan, mesh, stage, &reads) && whole;
        for (size_t m = 0; reads && m < n; m++)
            mesh->before_reads[(size_t)row * n + m] = reads[(size_t)row * n + m];
        free(reads);
    }
    return whole && mesh->before_reads;
}

static bool open_codecs(struct fr_real *real, struct fr_mesh_state *mesh) {
    const struct fr_plan_compression *c = &real->run->plan->compression;
    int64_t packet_B = 0, value_B = (int64_t)real->k->size_B;
    bool whole = true;
    if ((c->scope == FR_SCOPE_NONE && c->forward_rank == 0) || mesh->stages == 1) return true;
    if (c->scope == FR_SCOPE_EPILOGUE)
        whole = open_epilogue(real->run->plan, mesh, mesh->stage, &mesh->reads) &&
                open_before(real->run->plan, mesh);
    for (int j = 0; whole && j < mesh->n_chunks; j++) {
        struct fr_mesh_chunk *at = &mesh->chunk[j];
        whole = open_chunk_codecs(real, mesh, at);
        packet_B = most(packet_B, (int64_t)fr_real_codec_size_B(real->k, &at->from));
        packet_B = most(packet_B, (int64_t)fr_real_codec_size_B(real->k, &at->up_from));
    }
    mesh->packet = fr_real_alloc(real->k, (packet_B + value_B - 1) / value_B);
    return whole && mesh->packet;
}

/* Which of the stage's slots send and receive at once. */
static bool open_blocking(const struct fr_plan *plan, const struct fr_schedule_args *args,
                          struct fr_mesh_state *mesh) {
    int64_t n = mesh->n_slots;
    if (!plan->duplex) return true;
    struct fr_slot *all = fr_blocking_orders(plan->schedule, args);
    mesh->pairs = fr_calloc((size_t)n, sizeof *mesh->pairs);
    bool whole = all && mesh->pairs;
    for (int64_t at = 0; whole && at < n; at++)
        mesh->pairs[at] = fr_blocking_pairs(mesh->stages, all, n, mesh->stage, at);
    free(all);
    return whole;
}

static fr_status open_order(const struct fr_plan *plan, struct fr_mesh_state *mesh,
                            struct fr_error *err) {
    struct fr_schedule_args args = {mesh->stages, mesh->n_micro, mesh->n_chunks, plan->order};
    mesh->n_slots = fr_schedule_slots(plan->schedule, &args);
    mesh->splits = fr_schedule_splits(plan->schedule, &args);
    mesh->slots = fr_calloc((size_t)mesh->n_slots, sizeof *mesh->slots);
    if (!mesh->slots || !open_blocking(plan, &args, mesh))
        return fr_fail(err, FR_ERR_NOMEM, NULL, "%d micro-batches", mesh->n_micro);
    plan->schedule->order(&args, mesh->stage, mesh->slots);
    return FR_OK;
}

/* ---- the ends of a transformer ------------------------------------------------------------------- */

/* Where one rank has both ends and they are tied, the logits use the embedding's table. */
static void share_table(const struct fr_real_case *run, struct fr_mesh_state *mesh) {
    struct fr_mesh_chunk *tail = &mesh->chunk[mesh->n_chunks - 1];
    const struct fr_unit *embedding = &mesh->chunk[0].unit[0];
    struct fr_unit *logits = &tail->unit[tail->n_units - 1];
    if (fr_words_apart(run)) return;
    logits->table = embedding->table;
    logits->d_table = embedding->d_table;
}

/* Copies of a tied table are kept equal by the ranks of equal tp that have one, of a replica or of
 * all; sub-grids have it whole. */
static fr_status open_tied(struct fr_real *real, struct fr_mesh_state *mesh) {
    const struct fr_plan *plan = real->run->plan;
    struct fr_mesh_chunk *tail = &mesh->chunk[mesh->n_chunks - 1];
    const struct fr_unit *u = !fr_mesh_has_common(real) ? NULL
                              : mesh->chunk[0].first    ? mesh->chunk[0].unit
                              : tail->last              ? &tail->unit[tail->n_units - 1]
                                                        : NULL;
    bool fused = fr_mesh_fused(real->run), whole = plan->method->branches;
    int replica = fused ? 0 : real->dp_rank, part = fused && whole ? 0 : real->tp_rank;
    if (!real->run->workload->transformer.tied || fr_plan_last_stage(plan) == 0) return FR_OK;
    FR_REAL_TRY(real,
                MPI_Comm_split(real->world, u ? replica * (int)plan->tp + part : MPI_UNDEFINED,
                               real->rank, &mesh->ends));
    if (!u) return FR_OK;
    FR_REAL_TRY(real, MPI_Comm_set_errhandler(mesh->ends, MPI_ERRORS_RETURN));
    mesh->tied = u->d_table;
    mesh->n_tied = fr_words_size(u);
    return FR_OK;
}

static fr_mesh_cut cut_of(const struct fr_chain *chain, const struct fr_unit *u) {
    const struct fr_plan *plan = chain->run->plan;
    bool parted = fr_chain_reads_words(chain) && fr_unit_parts_tokens(plan);
    if (plan->layer_tp) return parted ? FR_MESH_TOKENS : FR_MESH_COLUMNS;
    if (plan->tp == 1 || u->kind->divided || plan->method->divided) return FR_MESH_ALL;
    if (plan->sequence_parallel) return FR_MESH_TOKENS;
    return fr_chain_reads_words(chain) ? FR_MESH_COLUMNS : FR_MESH_ROWS;
}

/* ---- all of it --------------------------------------------------------------------------------- */

/* Where the parameters of each kind of holder begin: what is common to sub-grids, then the rest. */
static void find_regions(const struct fr_real *real, const struct fr_chain *chain,
                         struct fr_mesh_state *mesh) {
    int64_t *const held = mesh->held, *const at = mesh->region;
    count(real, chain, held);
    at[FR_HELD_BY_STAGE] = 0;
    at[FR_HELD_BY_REPLICAS] = held[FR_HELD_BY_STAGE];
    at[FR_HELD_BY_GRIDS] = at[FR_HELD_BY_REPLICAS] + held[FR_HELD_BY_REPLICAS];
    for (int h = FR_HELD_BY_GRIDS + 1; h < FR_HOLDERS; h++) at[h] = at[h - 1] + held[h - 1];
}

static bool open_chunks(struct fr_real *real, struct fr_mesh_state *mesh,
                        const struct fr_chain *chain) {
    const struct fr_unit first = fr_chain_unit(chain, 0, real->tp_rank, mesh->columns);
    size_t offset[FR_HOLDERS];
    find_regions(real, chain, mesh);
    for (int h = 0; h < FR_HOLDERS; h++) offset[h] = (size_t)mesh->region[h];
    mesh->cut = cut_of(chain, &first);
    mesh->chunk = fr_calloc((size_t)mesh->n_chunks, sizeof *mesh->chunk);
    bool whole = mesh->chunk;
    int before = 0;
    for (int c = 0; whole && c < mesh->n_chunks; c++) {
        int number =
            (int)fr_schedule_virtual(real->run->plan->schedule, mesh->stages, mesh->stage, c);
        mesh->chunk[c].before = before;
        whole = open_chunk(real, mesh, number, chain, offset, &mesh->chunk[c]);
        before += mesh->chunk[c].n_units;
    }
    return whole && open_shared(real, mesh) && open_codecs(real, mesh);
}

static fr_status open_chain(struct fr_real *real, struct fr_mesh_state *mesh,
                            const struct fr_chain *chain) {
    bool words = fr_chain_reads_words(chain);
    mesh->task = words ? &fr_mesh_words : &fr_mesh_regression;
    if (!open_chunks(real, mesh, chain))
        return fr_fail(real->err, FR_ERR_NOMEM, NULL, "activations of %d micro-batches",
                       mesh->n_micro);
    if (words) {
        share_table(real->run, mesh);
        FR_TRY(open_tied(real, mesh));
    }
    if (!fr_mesh_open_batches(real, mesh) || !fr_mesh_open_share(real, mesh) ||
        !fr_mesh_open_buckets(real, mesh))
        return fr_fail(real->err, FR_ERR_NOMEM, NULL, "codecs and shares of gradients");
    return mesh->task->open(real, mesh, chain);
}

fr_status fr_mesh_open(struct fr_real *real) {
    const struct fr_plan *plan = real->run->plan;
    struct fr_mesh_state *mesh = fr_calloc(1, sizeof *mesh);
    struct fr_chain chain;
    real->state = mesh;
    if (!mesh) return fr_fail(real->err, FR_ERR_NOMEM, NULL, "the program's state");
    mesh->ends = MPI_COMM_NULL;
    real->gathers = plan->zero == 3 || (plan->zero > 0 && plan->overlap);
    mesh->stages = (int)plan->pp;
    mesh->stage = real->pp_rank;
    mesh->n_chunks = (int)plan->chunks;
    mesh->n_micro = (int)fr_mesh_micro_batches(real->run);
    mesh->columns = fr_mesh_has_common(real) ? (int)fr_mesh_columns(real->run) : 0;
    FR_TRY(open_order(plan, mesh, real->err));
    fr_status status = fr_chain_make(real->run, &chain, real->err);
    if (status == FR_OK) status = open_chain(real, mesh, &chain);
    fr_chain_free(&chain);
    return status;
}

static void close_chunk(struct fr_mesh_state *mesh, struct fr_mesh_chunk *c) {
    for (int m = 0; c->micro && m < mesh->n_micro; m++) close_micro(c, &c->micro[m]);
    fr_real_codec_close(&c->codec);
    fr_real_codec_close(&c->up);
    free(c->micro);
    free(c->unit);
}

void fr_mesh_close(struct fr_real *real) {
    struct fr_mesh_state *mesh = real->state;
    for (int i = 0; i < mesh->out.n; i++) {
        MPI_Wait(&mesh->out.request[i], MPI_STATUS_IGNORE);
        free(mesh->out.buffer[i]);
    }
    for (int c = 0; mesh->chunk && c < mesh->n_chunks; c++) close_chunk(mesh, &mesh->chunk[c]);
    if (mesh->ends != MPI_COMM_NULL) MPI_Comm_free(&mesh->ends);
    for (int i = 0; i < mesh->n_coded; i++) fr_real_codec_close(&mesh->coded[i].codec);
    fr_mesh_close_share(mesh);
    fr_mesh_close_buckets(mesh);
    void *const owned[] = {mesh->chunk,
                           mesh->slots,
                           mesh->out.buffer,
                           mesh->out.request,
                           mesh->d[0],
                           mesh->d[1],
                           mesh->scratch,
                           mesh->packet,
                           mesh->part,
                           mesh->parts,
                           mesh->batch,
                           mesh->coded,
                           mesh->factors,
                           mesh->gathered,
                           mesh->partials,
                           mesh->inputs,
                           mesh->targets,
                           mesh->reads,
                           mesh->before_reads,
                           mesh->shares,
                           mesh->pairs,
                           mesh->share,
                           mesh};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}
