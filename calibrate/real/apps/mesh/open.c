/* Which units a rank holds, and their buffers. */
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/real/apps/ffn.h"
#include "calibrate/real/apps/mesh/mesh.h"

enum { STREAM_CODEC = 6 };

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t bound(const struct fr_real *real, int layers, int64_t number) {
    return fr_mesh_first_layer(real->run, layers, number);
}

int64_t fr_mesh_parameters(const struct fr_real *real) {
    const struct fr_plan *plan = real->run->plan;
    struct fr_real_layer *layers = NULL;
    int n = 0;
    int64_t sum = 0;
    if (fr_real_layers(real->run->workload, &layers, &n, NULL) != FR_OK) return 0;
    for (int64_t c = 0; c < plan->chunks; c++) {
        int64_t number = c * plan->pp + real->pp_rank;
        for (int64_t i = bound(real, n, number); i < bound(real, n, number + 1); i++)
            sum += fr_unit_make(real->run, &layers[i], i, real->tp_rank, 1).n;
    }
    free(layers);
    return sum;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static bool open_micro(const struct fr_kernels *k, const struct fr_mesh_state *mesh,
                       const struct fr_mesh_chunk *c, struct fr_mesh_micro *micro) {
    const struct fr_unit *last = &c->unit[c->n_units - 1];
    bool whole = true;
    micro->sent = MPI_REQUEST_NULL;
    micro->kept = fr_calloc((size_t)c->n_units, sizeof *micro->kept);
    micro->top = fr_real_alloc(k, (int64_t)last->out * mesh->columns);
    for (int i = 0; micro->kept && i < c->n_units; i++) {
        const struct fr_unit *u = &c->unit[i];
        struct fr_unit_kept *kept = &micro->kept[i];
        int64_t n[3];
        u->kind->keeps(u, n);
        if (i > 0 || !c->first) { /* the network's inputs stay where they are */
            kept->x = fr_real_alloc(k, (int64_t)u->in * mesh->columns);
            whole = whole && kept->x;
        }
        for (int j = 0; j < 3; j++) {
            if (n[j] > 0) kept->own[j] = fr_real_alloc(k, n[j]);
            whole = whole && (n[j] == 0 || kept->own[j]);
        }
    }
    return whole && micro->kept && micro->top;
}

static void close_micro(const struct fr_mesh_chunk *c, struct fr_mesh_micro *micro) {
    if (micro->kept) MPI_Wait(&micro->sent, MPI_STATUS_IGNORE);
    for (int i = 0; micro->kept && i < c->n_units; i++) {
        if (i > 0 || !c->first) free(micro->kept[i].x);
        for (int j = 0; j < 3; j++) free(micro->kept[i].own[j]);
    }
    free(micro->kept);
    free(micro->top);
}

/* The units of chunk @p number, their parameters from value @p offset of the blocks on. */
static bool open_chunk(struct fr_real *real, struct fr_mesh_state *mesh, int number,
                       const struct fr_real_layer *layers, int n, size_t *offset,
                       struct fr_mesh_chunk *c) {
    int64_t from = bound(real, n, number), to = bound(real, n, number + 1);
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
        *u = fr_unit_make(real->run, &layers[from + i], from + i, real->tp_rank, mesh->columns);
        u->splits = mesh->splits;
        u->w = fr_at(real->k, real->parameters, *offset);
        u->g = fr_at(real->k, real->gradients, *offset);
        *offset += (size_t)u->n;
        u->kind->fill(real, u);
    }
    for (int m = 0; whole && m < mesh->n_micro; m++)
        whole = open_micro(real->k, mesh, c, &c->micro[m]);
    return whole;
}

/* ---- what all units of a rank share ------------------------------------------------------------ */

static bool open_shared(struct fr_real *real, struct fr_mesh_state *mesh) {
    int64_t widest = 0, room = 0, in = 0;
    for (int j = 0; j < mesh->n_chunks; j++)
        for (int i = 0; i < mesh->chunk[j].n_units; i++) {
            const struct fr_unit *u = &mesh->chunk[j].unit[i];
            widest = most(widest, most(u->in, u->out));
            if (i == 0) in = most(in, u->in);
            room = most(room, u->kind->room(u));
        }
    const struct fr_real_buffer all[] = {{&mesh->d[0], widest * mesh->columns},
                                         {&mesh->d[1], widest * mesh->columns},
                                         {&mesh->room, room}};
    mesh->out.values = in * mesh->columns;
    if (!fr_real_alloc_all(real->k, all, sizeof all / sizeof *all)) return false;
    for (int j = 0; j < mesh->n_chunks; j++)
        for (int i = 0; i < mesh->chunk[j].n_units; i++)
            mesh->chunk[j].unit[i].room = mesh->room;
    return true;
}

/* A rank sends the 1/tp of the features that are its own: that many rows of a message. */
static int part(const struct fr_unit *u, int features) {
    return u->kind->divided ? features : features / u->tp;
}

/* What the backward passes after a stage's last forward pass read, but the one directly behind it, which
 * pairs with it. */
static void mark_cool_down(const struct fr_mesh_state *mesh, const struct fr_slot *slots,
                           bool *reads) {
    int64_t from = mesh->n_slots;
    int behind = 0;
    while (from > 0 && slots[from - 1].kind != FR_SLOT_FORWARD) from--;
    for (int64_t i = from; i < mesh->n_slots; i++)
        if (slots[i].kind == FR_SLOT_BACKWARD && behind++ > 0)
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

static bool open_codecs(struct fr_real *real, struct fr_mesh_state *mesh) {
    const struct fr_plan_compression *c = &real->run->plan->compression;
    int64_t packet = 0;
    bool whole = true;
    if (c->scope == FR_SCOPE_NONE || mesh->stages == 1) return true;
    if (c->scope == FR_SCOPE_EPILOGUE) {
        int before = (mesh->stage + mesh->stages - 1) % mesh->stages;
        whole = open_epilogue(real->run->plan, mesh, mesh->stage, &mesh->reads) &&
                open_epilogue(real->run->plan, mesh, before, &mesh->before_reads);
    }
    for (int j = 0; whole && j < mesh->n_chunks; j++) {
        struct fr_mesh_chunk *at = &mesh->chunk[j];
        const struct fr_unit *first = at->unit, *last = &at->unit[at->n_units - 1];
        struct fr_lowrank down = {
            .m = part(first, first->in), .n = mesh->columns, .rank = (int)c->backward_rank};
        at->from = down;
        at->from.m = part(last, last->out);
        if (!at->last && fr_mesh_smaller(&at->from))
            packet = most(packet, fr_lowrank_size(&at->from));
        if (at->first || !fr_mesh_smaller(&down)) continue;
        whole =
            fr_lowrank_open(real->k, down.m, down.n, down.rank, c->lazy_error, real->run->seed,
                            (uint64_t)(STREAM_CODEC + 10 * at->number), &at->codec);
        if (!real->residual) real->residual = at->codec.error;
    }
    mesh->packet = fr_real_alloc(real->k, packet);
    return whole && mesh->packet;
}

static fr_status open_order(const struct fr_plan *plan, struct fr_mesh_state *mesh,
                            struct fr_error *err) {
    struct fr_schedule_args args = {mesh->stages, mesh->n_micro, mesh->n_chunks, plan->order};
    mesh->n_slots = fr_schedule_slots(plan->schedule, &args);
    mesh->splits = fr_schedule_splits(plan->schedule, &args);
    mesh->slots = fr_calloc((size_t)mesh->n_slots, sizeof *mesh->slots);
    if (!mesh->slots)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "%d micro-batches", mesh->n_micro);
    plan->schedule->order(&args, mesh->stage, mesh->slots);
    return FR_OK;
}

fr_status fr_mesh_open(struct fr_real *real, struct fr_error *err) {
    const struct fr_plan *plan = real->run->plan;
    struct fr_mesh_state *mesh = fr_calloc(1, sizeof *mesh);
    struct fr_real_layer *layers = NULL;
    size_t offset = 0;
    int n = 0;
    real->state = mesh;
    if (!mesh) return fr_fail(err, FR_ERR_NOMEM, NULL, "the program's state");
    mesh->stages = (int)plan->pp;
    mesh->stage = real->pp_rank;
    mesh->n_chunks = (int)plan->chunks;
    mesh->n_micro = (int)fr_mesh_micro_batches(real->run);
    mesh->columns = (int)fr_mesh_micro_batch(real->run);
    FR_TRY(open_order(plan, mesh, err));
    FR_TRY(fr_real_layers(real->run->workload, &layers, &n, err));
    mesh->chunk = fr_calloc((size_t)mesh->n_chunks, sizeof *mesh->chunk);
    bool whole = mesh->chunk;
    for (int c = 0; whole && c < mesh->n_chunks; c++)
        whole = open_chunk(real, mesh, c * mesh->stages + mesh->stage, layers, n, &offset,
                           &mesh->chunk[c]);
    free(layers);
    whole = whole && open_shared(real, mesh) && open_codecs(real, mesh) &&
            fr_mesh_open_coded(real, mesh);
    if (!whole)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "activations of %d micro-batches",
                       mesh->n_micro);
    return fr_mesh_open_task(real, mesh, err);
}

static void close_chunk(struct fr_mesh_state *mesh, struct fr_mesh_chunk *c) {
    for (int m = 0; c->micro && m < mesh->n_micro; m++) close_micro(c, &c->micro[m]);
    fr_lowrank_close(&c->codec);
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
    for (int i = 0; i < mesh->n_coded; i++) fr_lowrank_close(&mesh->coded[i].codec);
    void *const owned[] = {
        mesh->chunk,  mesh->slots,   mesh->out.buffer, mesh->out.request,  mesh->d[0],
        mesh->d[1],   mesh->room,    mesh->packet,     mesh->coded,        mesh->factors,
        mesh->inputs, mesh->targets, mesh->reads,      mesh->before_reads, mesh};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}
