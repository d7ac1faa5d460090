/* Gradients that go beside the last backward pass (`overlap`).  Each chunk's, side by side in
 * the block, form n buckets of equal size, from the last unit down.  A bucket is all-reduced
 * over those who hold it as soon as its units have made the last of it: scattered, summed, and gathered while
 * the next one is scattered.  They are waited for after the last pass.
 *
 * Where replicas divide the optimiser's work (zero 1) a bucket is units whose share of the chunk is reached.  It is
 * scattered, and parameters are gathered beside the next iteration's first passes (zero.c).
 *
 * A stage whose gradients go compressed sends them after the last pass, since its codec waits for all of them.
 *
 * An MPI that moves nothing outside its calls moves most of them there: then nothing is gained. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "real/apps/mesh/mesh.h"

static bool overlaps(const struct fr_real *real, const struct fr_mesh_state *mesh) {
    const struct fr_plan *plan = real->run->plan;
    return plan->overlap && plan->zero < 2 && !fr_real_alone(plan) && mesh->n_coded == 0;
}

/* Gradients of a chunk that a fused embedding does not take apart, and that @p holder have: where they begin, and how
 * many. */
static int64_t range_of(const struct fr_real *real, const struct fr_mesh_state *mesh,
                        const struct fr_mesh_chunk *c, int holder, void **at) {
    const struct fr_unit *first = &c->unit[0], *last = &c->unit[c->n_units - 1];
    bool apart = fr_mesh_apart(real, mesh) && holder == fr_mesh_table_holder(real);
    int64_t n = 0;
    if (!fr_real_holds(real->run->plan, holder)) return 0;
    if (holder == FR_HELD_BY_STAGE && !fr_mesh_has_common(real)) return 0;
    for (int i = c->n_units - 1; i >= 0; i--) {
        void *begin;
        int64_t own = fr_unit_held(&c->unit[i], holder, &begin);
        n += own;
        if (own > 0) *at = begin;
    }
    if (apart && c->first && first->d_table == mesh->tied) {
        *at = fr_at(real->k, *at, (size_t)mesh->n_tied);
        n -= mesh->n_tied;
    } else if (apart && c->last && last->d_table == mesh->tied)
        n -= mesh->n_tied;
    return n;
}

/* Number of the slot that makes the last of a chunk's gradients. */
static int64_t last_slot(const struct fr_mesh_state *mesh, int chunk) {
    int makes = mesh->splits ? FR_SLOT_WEIGHT : FR_SLOT_BACKWARD;
    for (int64_t i = mesh->n_slots - 1; i >= 0; i--)
        if (mesh->slots[i].chunk == chunk && mesh->slots[i].kind == makes) return i;
    return -1;
}

static int ranks_of(MPI_Comm comm) {
    int n = 1;
    MPI_Comm_size(comm, &n);
    return n;
}

/* @return values of its largest bucket, with all ranks' equal shares */
static int64_t open_chunk(const struct fr_real *real, struct fr_mesh_state *mesh, int chunk) {
    struct fr_mesh_chunk *c = &mesh->chunk[chunk];
    double size_B = 0;
    int64_t most = 0;
    for (int h = 0; h < FR_HOLDERS; h++) {
        c->buckets[h].n_values = range_of(real, mesh, c, h, &c->buckets[h].at);
        size_B += (double)c->buckets[h].n_values * (double)real->k->size_B;
    }
    c->last_slot = last_slot(mesh, chunk);
    for (int h = 0; h < FR_HOLDERS; h++) {
        struct fr_mesh_buckets *b = &c->buckets[h];
        bool any = b->n_values > 0 || real->run->plan->zero > 0;
        if (any) b->n = (int)ceil(size_B / real->run->plan->bucket_size_B);
        b->left = b->n;
        b->unit = c->n_units;
        if (b->n_values == 0) continue;
        int64_t values = b->n_values / b->n + 1 + ranks_of(fr_shares_comm(real, h));
        most = values > most ? values : most;
    }
    return most;
}

bool fr_mesh_open_buckets(struct fr_real *real, struct fr_mesh_state *mesh) {
    int64_t most = 0;
    mesh->beside = overlaps(real, mesh);
    for (int i = 0; mesh->beside && i < mesh->n_chunks; i++) {
        int64_t one = open_chunk(real, mesh, i);
        most = one > most ? one : most;
    }
    if (most == 0 || real->run->plan->zero > 0) return true;
    mesh->bucketed = true;
    const struct fr_real_buffer all[] = {{&mesh->sums[0].packed, most},
                                         {&mesh->sums[0].arrived, most},
                                         {&mesh->sums[1].packed, most},
                                         {&mesh->sums[1].arrived, most}};
    return fr_real_alloc_all(real->k, all, sizeof all / sizeof *all);
}

void fr_mesh_close_buckets(struct fr_mesh_state *mesh) {
    for (int i = 0; i < 2; i++) {
        free(mesh->sums[i].packed);
        free(mesh->sums[i].arrived);
    }
}

static void copy(struct fr_real *real, int64_t n, const void *from, void *to) {
    FR_COMPUTE(real, memcpy(to, from, (size_t)n * real->k->size_B));
}

/* The next leg of a bucket, until its sum is in place. */
static fr_status advance(struct fr_real *real, struct fr_mesh_sum *s) {
    int rank = 0;
    if (s->leg == FR_MESH_DONE) return FR_OK;
    if (s->leg == FR_MESH_GATHERED) {
        s->leg = FR_MESH_DONE;
        FR_TRY(fr_real_wait(real, &s->request));
        copy(real, s->n, s->packed, s->at);
        return FR_OK;
    }
    s->leg = FR_MESH_GATHERED;
    FR_REAL_TRY(real, MPI_Comm_rank(s->comm, &rank));
    FR_TRY(fr_real_scatter_sum_end(real, s->comm, s->share, s->arrived, &s->request));
    copy(real, s->share, s->arrived, fr_at(real->k, s->packed, (size_t)(rank * s->share)));
    return fr_real_all_gather_begin(real, s->comm, MPI_IN_PLACE, s->share, s->packed,
                                    &s->request);
}

/* A bucket whose parts are there goes on. */
static fr_status poll(struct fr_real *real, struct fr_mesh_sum *s) {
    int there = 0;
    if (s->leg != FR_MESH_SCATTERED) return FR_OK;
    FR_REAL_TRY(real, MPI_Test(&s->request, &there, MPI_STATUS_IGNORE));
    return there ? advance(real, s) : FR_OK;
}

static fr_status begin(struct fr_real *real, struct fr_mesh_state *mesh, int holder, void *at,
                       int64_t n) {
    int turn = mesh->n_sums++ % 2, ranks = ranks_of(fr_shares_comm(real, holder));
    struct fr_mesh_sum *s = &mesh->sums[turn];
    if (mesh->sums[1 - turn].leg == FR_MESH_SCATTERED)
        FR_TRY(advance(real, &mesh->sums[1 - turn]));
    while (s->leg != FR_MESH_DONE) FR_TRY(advance(real, s));
    s->at = at;
    s->n = n;
    s->share = (n + ranks - 1) / ranks;
    s->comm = fr_shares_comm(real, holder);
    s->leg = FR_MESH_SCATTERED;
    copy(real, n, at, s->packed);
    return fr_real_scatter_sum_begin(real, s->comm, s->packed, s->share, s->arrived,
                                     &s->request);
}

/* The first gradient of @p holder that unit @p unit and those above it have made. */
static const char *made_from(const struct fr_real *real, const struct fr_mesh_chunk *c,
                             int holder, int unit) {
    const struct fr_mesh_buckets *b = &c->buckets[holder];
    void *at;
    if (unit == 0) return b->at;
    for (int i = unit; i < c->n_units; i++)
        if (fr_unit_held(&c->unit[i], holder, &at) > 0) return at;
    return fr_at(real->k, b->at, (size_t)b->n_values);
}

/* Send the buckets of @p holder that are made. */
static fr_status reduce(struct fr_real *real, struct fr_mesh_state *mesh,
                        struct fr_mesh_chunk *c, int holder, int unit) {
    struct fr_mesh_buckets *b = &c->buckets[holder];
    const char *made = made_from(real, c, holder, unit);
    while (b->left > 0) {
        int64_t from = b->n_values * (b->left - 1) / b->n, to = b->n_values * b->left / b->n;
        void *at = fr_at(real->k, b->at, (size_t)from);
        if ((const char *)at < made) break;
        FR_TRY(begin(real, mesh, holder, at, to - from));
        b->left--;
    }
    return FR_OK;
}

/* Zero 1: units that make up the next bucket, or are the last; of all holders together. */
static fr_status scatter(struct fr_real *real, struct fr_mesh_state *mesh,
                         struct fr_mesh_chunk *c, int unit) {
    struct fr_mesh_buckets *b = &c->buckets[FR_HELD_BY_REPLICAS];
    int64_t all = 0, done = 0;
    for (int i = 0; i < c->n_units; i++) {
        all += c->unit[i].n;
        done += i >= unit ? c->unit[i].n : 0;
    }
    if (unit > 0 && done * b->n < all * (b->n - b->left + 1)) return FR_OK;
    while (b->left > 0 && done * b->n >= all * (b->n - b->left + 1)) b->left--;
    FR_TRY(fr_mesh_scatter_begin(real, mesh, c, unit, b->unit - unit));
    b->unit = unit;
    return FR_OK;
}

fr_status fr_mesh_send_buckets(struct fr_real *real, struct fr_mesh_state *mesh,
                               struct fr_mesh_chunk *c, int64_t slot, int unit) {
    bool makes_last = slot == c->last_slot;
    if (!mesh->beside) return FR_OK;
    if (real->run->plan->zero > 0) return makes_last ? scatter(real, mesh, c, unit) : FR_OK;
    for (int i = 0; i < 2; i++) FR_TRY(poll(real, &mesh->sums[i]));
    if (!makes_last) return FR_OK;
    for (int h = FR_HOLDERS - 1; h >= 0; h--) FR_TRY(reduce(real, mesh, c, h, unit));
    return FR_OK;
}

fr_status fr_mesh_end_buckets(struct fr_real *real, struct fr_mesh_state *mesh) {
    for (int i = 0; i < 4; i++) FR_TRY(advance(real, &mesh->sums[i % 2]));
    for (int i = 0; i < mesh->n_chunks * FR_HOLDERS; i++) {
        struct fr_mesh_chunk *c = &mesh->chunk[i / FR_HOLDERS];
        c->buckets[i % FR_HOLDERS].left = c->buckets[i % FR_HOLDERS].n;
        c->buckets[i % FR_HOLDERS].unit = c->n_units;
    }
    return mesh->beside ? fr_mesh_scatter_end(real, mesh) : FR_OK;
}
