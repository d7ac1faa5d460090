/* Messages between neighbouring chunks; each rank of tp sends its part.  Activations go as
 * they are, or all as packets of the codec (codec.h).  So do gradients: all, or those of the
 * epilogue.  With lazy error propagation, forward always, the loss of a message is added to
 * the next micro-batch's. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "real/apps/mesh/mesh.h"

/* ---- the share of features x columns that a rank sends: all, rows, or columns, copied together ---- */

/* Whatever grid has them, all ranks of a stage send equal parts: the same tokens as on any other grid. */
struct fr_mesh_part fr_mesh_part_of(const struct fr_real *real,
                                    const struct fr_mesh_state *mesh,
                                    const struct fr_unit_grid *on, int features) {
    int tp = on->p;
    struct fr_mesh_part part = {.m = features, .n = on->columns.n};
    if (mesh->cut == FR_MESH_COLUMNS || mesh->cut == FR_MESH_TOKENS) part.n /= tp;
    if (mesh->cut != FR_MESH_ROWS) return part;
    part.m /= tp;
    part.first = (size_t)(real->tp_rank * part.m) * (size_t)part.n;
    return part;
}

/* Columns of rank @p r between @p whole, where they are some, and @p part, where they are all. */
static void move_columns(struct fr_real *real, const struct fr_unit_grid *on, int features,
                         int r, bool out, const void *from, void *to) {
    const struct fr_kernels *k = real->k;
    int b = on->columns.n, n = b / on->p;
    if (out)
        FR_COMPUTE(real, k->copy(features, n, fr_at(k, from, (size_t)(r * n)), b, to, n));
    else
        FR_COMPUTE(real, k->copy(features, n, from, n, fr_at(k, to, (size_t)(r * n)), b));
}

void fr_mesh_take_columns(struct fr_real *real, const struct fr_unit_grid *on, int features,
                          const void *whole, void *part) {
    move_columns(real, on, features, on->rank, true, whole, part);
}

fr_status fr_mesh_gather(struct fr_real *real, const struct fr_mesh_state *mesh,
                         const struct fr_unit_grid *on, int features, void *whole) {
    struct fr_mesh_part part = fr_mesh_part_of(real, mesh, on, features);
    int64_t values = (int64_t)part.m * part.n;
    if (mesh->cut == FR_MESH_ALL || mesh->cut == FR_MESH_TOKENS) return FR_OK;
    if (mesh->cut == FR_MESH_ROWS)
        return fr_real_all_gather(real, on->group, MPI_IN_PLACE, values, whole);
    FR_TRY(fr_real_all_gather(real, on->group, mesh->part, values, mesh->parts));
    for (int r = 0; r < on->p; r++)
        move_columns(real, on, features, r, false,
                     fr_at(real->k, mesh->parts, (size_t)r * (size_t)values), whole);
    return FR_OK;
}

/* ---- one message --------------------------------------------------------------------------------- */

/* A message is known by its direction, the boundary it crosses and its micro-batch. */
static int tag_of(const struct fr_mesh_state *mesh, int boundary, int m, bool backward) {
    return 2 * (boundary / mesh->stages * mesh->n_micro + m) + backward;
}

/* The stage of the chunk @p number. */
static int stage_of(const struct fr_real *real, const struct fr_mesh_state *mesh, int number) {
    return fr_schedule_stage(real->run->plan->schedule, mesh->stages, number);
}

/* Where messages block: the one that has gone meanwhile. */
static fr_status end_blocking(struct fr_real *real, struct fr_mesh_state *mesh) {
    if (!mesh->blocking) return FR_OK;
    double start_s = fr_real_clock_s(real);
    FR_REAL_TRY(real, MPI_Wait(mesh->blocking, MPI_STATUS_IGNORE));
    mesh->blocking = NULL;
    real->phases.collective_s += fr_real_clock_s(real) - start_s;
    return FR_OK;
}

/* Synchronous: over once the reader stands there.  Unless it meets what the next pass reads of the same stage, both
 * stand until then. */
static fr_status send_blocking(struct fr_real *real, struct fr_mesh_state *mesh,
                               const void *values, size_t size_B, int to, int tag,
                               MPI_Request *request) {
    FR_REAL_TRY(real, MPI_Issend(values, (int)size_B, MPI_BYTE, to, tag, real->pp, request));
    mesh->blocking = request;
    if (mesh->pairs[mesh->slot]) return FR_OK;
    return end_blocking(real, mesh);
}

static fr_status send_bytes(struct fr_real *real, struct fr_mesh_state *mesh,
                            const void *values, size_t size_B, int to, int tag,
                            MPI_Request *request) {
    double start_s = fr_real_clock_s(real);
    if (size_B == 0) return FR_OK; /* a rank without columns */
    if (to != real->pp_rank) real->sent_B[FR_REAL_PP] += (double)size_B;
    if (real->run->plan->duplex)
        return send_blocking(real, mesh, values, size_B, to, tag, request);
    FR_REAL_TRY(real, MPI_Isend(values, (int)size_B, MPI_BYTE, to, tag, real->pp, request));
    real->phases.collective_s += fr_real_clock_s(real) - start_s;
    return FR_OK;
}

/* Waiting for a message that is not there yet is waiting; taking it in is communication.  The
 * two are distinguished where a step is profiled. */
static fr_status receive(struct fr_real *real, struct fr_mesh_state *mesh, void *values,
                         size_t size_B, int from, int tag) {
    double start_s = fr_real_clock_s(real);
    if (size_B == 0) return end_blocking(real, mesh);
    if (real->profile) FR_REAL_TRY(real, MPI_Probe(from, tag, real->pp, MPI_STATUS_IGNORE));
    double there_s = fr_real_clock_s(real);
    FR_REAL_TRY(
        real, MPI_Recv(values, (int)size_B, MPI_BYTE, from, tag, real->pp, MPI_STATUS_IGNORE));
    real->phases.wait_s += there_s - start_s;
    real->phases.collective_s += fr_real_clock_s(real) - there_s;
    return end_blocking(real, mesh);
}

/* The grids where a chunk reads and leaves activations. */
static const struct fr_unit_grid *bottom_of(const struct fr_mesh_chunk *c) {
    return &c->unit[0].from;
}
static const struct fr_unit_grid *top_of(const struct fr_mesh_chunk *c) {
    return &c->unit[c->n_units - 1].to;
}

/* All of features x columns as they are, where the fold of a schedule leaves them on the rank. */
static size_t whole_B(const struct fr_real *real, const struct fr_unit_grid *on, int features) {
    return (size_t)features * (size_t)on->columns.n * real->k->size_B;
}

static size_t bytes_of(const struct fr_real *real, struct fr_mesh_part part) {
    return (size_t)part.m * (size_t)part.n * real->k->size_B;
}

/* Where a rank's part of @p whole is received. */
static void *arriving(const struct fr_real *real, const struct fr_mesh_state *mesh,
                      struct fr_mesh_part part, void *whole) {
    return mesh->cut == FR_MESH_COLUMNS ? mesh->part : fr_at(real->k, whole, part.first);
}

/* Receive a packet of @p sizes into @p values. */
static fr_status receive_coded(struct fr_real *real, struct fr_mesh_state *mesh,
                               const struct fr_real_codec *sizes, void *values, int from,
                               int tag) {
    FR_TRY(receive(real, mesh, mesh->packet, fr_real_codec_size_B(real->k, sizes), from, tag));
    fr_real_codec_decode(real, sizes, mesh->packet, 1, 0, values);
    return FR_OK;
}

/* ---- forward --------------------------------------------------------------------------------- */

/* Do activations of @p sizes go compressed?  Evaluations and warm-ups set the plan's rank to 0. */
static bool coded_up(const struct fr_real *real, const struct fr_real_codec *sizes) {
    return real->run->plan->compression.forward_rank > 0 &&
           fr_real_codec_shrinks(real->k, sizes);
}

fr_status fr_mesh_receive(struct fr_real *real, struct fr_mesh_state *mesh,
                          struct fr_mesh_chunk *c, int m, void *x) {
    int features = c->unit[0].in;
    const struct fr_unit_grid *on = bottom_of(c);
    struct fr_mesh_part part = fr_mesh_part_of(real, mesh, on, features);
    int from = stage_of(real, mesh, c->number - 1), tag = tag_of(mesh, c->number - 1, m, false);
    if (from == mesh->stage)
        return receive(real, mesh, x, whole_B(real, on, features), from, tag);
    void *local = arriving(real, mesh, part, x);
    FR_TRY(coded_up(real, &c->up_from)
               ? receive_coded(real, mesh, &c->up_from, local, from, tag)
               : receive(real, mesh, local, bytes_of(real, part), from, tag));
    return fr_mesh_gather(real, mesh, on, features, x);
}

fr_status fr_mesh_send(struct fr_real *real, struct fr_mesh_state *mesh,
                       struct fr_mesh_chunk *c, int m) {
    struct fr_mesh_micro *micro = &c->micro[m];
    int features = c->unit[c->n_units - 1].out;
    const struct fr_unit_grid *on = top_of(c);
    struct fr_mesh_part part = fr_mesh_part_of(real, mesh, on, features);
    size_t size_B = bytes_of(real, part);
    int to = stage_of(real, mesh, c->number + 1), tag = tag_of(mesh, c->number, m, false);
    const void *values = fr_at(real->k, micro->top, part.first);
    if (to == mesh->stage)
        return send_bytes(real, mesh, micro->top, whole_B(real, on, features), to, tag,
                          &micro->sent);
    if (mesh->cut == FR_MESH_COLUMNS) {
        fr_mesh_take_columns(real, on, features, micro->top, micro->part);
        values = micro->part;
    }
    if (coded_up(real, &c->up)) {
        if (values != micro->part) FR_COMPUTE(real, memcpy(micro->part, values, size_B));
        const void *packet = fr_real_codec_encode(real, &c->up, micro->part);
        size_B = fr_real_codec_size_B(real->k, &c->up);
        values = micro->part; /* done with what it held */
        FR_COMPUTE(real, memcpy(micro->part, packet, size_B));
    }
    return send_bytes(real, mesh, values, size_B, to, tag, &micro->sent);
}

/* ---- backward -------------------------------------------------------------------------------- */

/* Does the gradient that chunk @p number reads of micro-batch @p m go compressed, of @p sizes? */
static bool compressed(const struct fr_real *real, const struct fr_mesh_state *mesh, int number,
                       const bool *epilogue, int m, const struct fr_real_codec *sizes) {
    if (real->run->plan->compression.scope == FR_SCOPE_NONE ||
        !fr_real_codec_shrinks(real->k, sizes))
        return false;
    return !epilogue || epilogue[number / mesh->stages * mesh->n_micro + m];
}

fr_status fr_mesh_receive_gradient(struct fr_real *real, struct fr_mesh_state *mesh,
                                   struct fr_mesh_chunk *c, int m, void *dy) {
    int features = c->unit[c->n_units - 1].out;
    const struct fr_unit_grid *on = top_of(c);
    struct fr_mesh_part part = fr_mesh_part_of(real, mesh, on, features);
    int from = stage_of(real, mesh, c->number + 1), tag = tag_of(mesh, c->number, m, true);
    if (from == mesh->stage)
        return receive(real, mesh, dy, whole_B(real, on, features), from, tag);
    void *local = arriving(real, mesh, part, dy);
    FR_TRY(compressed(real, mesh, c->number, mesh->reads, m, &c->from)
               ? receive_coded(real, mesh, &c->from, local, from, tag)
               : receive(real, mesh, local, bytes_of(real, part), from, tag));
    return fr_mesh_gather(real, mesh, on, features, dy);
}

static fr_status grow(struct fr_real *real, struct fr_mesh_outbox *out) {
    size_t n = (size_t)out->n + 1;
    void **buffers = fr_realloc(out->buffer, n, sizeof *buffers);
    if (buffers) out->buffer = buffers;
    MPI_Request *requests = fr_realloc(out->request, n, sizeof *requests);
    if (requests) out->request = requests;
    void *buffer = buffers && requests ? fr_real_alloc(real->k, out->values) : NULL;
    if (!buffer) return fr_fail(real->err, FR_ERR_NOMEM, NULL, "a message of %d", out->n);
    out->buffer[out->n] = buffer;
    out->request[out->n++] = MPI_REQUEST_NULL;
    return FR_OK;
}

fr_status fr_mesh_outgoing(struct fr_real *real, struct fr_mesh_state *mesh, int *at,
                           void **buffer) {
    struct fr_mesh_outbox *out = &mesh->out;
    int sent = 0;
    for (*at = 0; *at < out->n; ++*at) {
        FR_REAL_TRY(real, MPI_Test(&out->request[*at], &sent, MPI_STATUS_IGNORE));
        if (sent) break;
    }
    if (*at == out->n) FR_TRY(grow(real, out));
    *buffer = out->buffer[*at];
    return FR_OK;
}

fr_status fr_mesh_send_gradient(struct fr_real *real, struct fr_mesh_state *mesh,
                                struct fr_mesh_chunk *c, int m, int at, const void *dx) {
    const struct fr_unit_grid *on = bottom_of(c);
    struct fr_mesh_part part = fr_mesh_part_of(real, mesh, on, c->unit[0].in);
    size_t size_B = bytes_of(real, part);
    int below = c->number - 1, to = stage_of(real, mesh, below);
    void *buffer = mesh->out.buffer[at], *values = fr_at(real->k, buffer, part.first);
    if (to == mesh->stage) {
        size_B = whole_B(real, on, c->unit[0].in);
        if (dx != buffer) FR_COMPUTE(real, memcpy(buffer, dx, size_B));
        return send_bytes(real, mesh, buffer, size_B, to, tag_of(mesh, below, m, true),
                          &mesh->out.request[at]);
    }
    if (mesh->cut == FR_MESH_COLUMNS) fr_mesh_take_columns(real, on, c->unit[0].in, dx, values);
    if (compressed(real, mesh, below, mesh->before_reads, m, &c->codec)) {
        const void *packet = fr_real_codec_encode(real, &c->codec, values);
        size_B = fr_real_codec_size_B(real->k, &c->codec);
        values = buffer; /* done with what it held */
        FR_COMPUTE(real, memcpy(values, packet, size_B));
    }
    return send_bytes(real, mesh, values, size_B, to, tag_of(mesh, below, m, true),
                      &mesh->out.request[at]);
}
