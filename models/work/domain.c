#include "models/work/domain.h"

#include "models/workload/halo.h"

bool fr_domain_divides(const struct fr_plan *plan, int k) {
    return plan->domain > k && plan->tp > 1 && !plan->layer_tp;
}

int fr_domain_most(const struct fr_workload *workload) {
    int k = 0;
    while (k < workload->n_layers && workload->layers[k].window.kernel > 0) k++;
    return k;
}

bool fr_domain_cuts(const struct fr_workload *workload, int64_t k) {
    return k < workload->n_layers && workload->layers[k].carried > 0;
}

static int entry_of(const struct fr_work_part *x) {
    return (int)(x->layer - x->workload->layers);
}

/* The rows of the fullest of @p p ranks. */
static int64_t most_rows(int64_t height, int64_t p) { return (height + p - 1) / p; }

double fr_domain_share(const struct fr_workload *workload, const struct fr_plan *plan, int k) {
    const struct fr_window *w = &workload->layers[k].window;
    return (double)most_rows(w->height, plan->tp) / (double)w->height;
}

/* ---- what cannot be -------------------------------------------------------------------------- */

fr_reasons fr_domain_check(const struct fr_work_part *x) {
    const struct fr_layer *layer = x->layer;
    const int64_t p = (int64_t)x->shard.tp;
    bool last = entry_of(x) == x->plan->domain - 1;
    if (fr_domain_most(x->workload) == 0) return 0; /* no images: the key has no effect */
    bool fits = layer->window.kernel > 0 && fr_halo_fits(&layer->window, p) &&
                (layer->pool.kernel == 0 || fr_halo_fits(&layer->pool, p)) &&
                !(last && fr_domain_cuts(x->workload, x->plan->domain));
    return fits ? 0 : FR_BECAUSE(FR_REASON_DOMAIN);
}

/* ---- what a rank has --------------------------------------------------------------------------- */

struct fr_domain_rows fr_domain_rows(const struct fr_work_part *x) {
    const struct fr_window *w = &x->layer->window, *pool = &x->layer->pool;
    const int64_t p = (int64_t)x->shard.tp;
    const int64_t held = fr_halo_most(w, p).held;
    struct fr_domain_rows rows = {
        .positions = (double)(most_rows(fr_window_rows(w), p) * fr_window_columns(w)),
        .inputs = (double)w->channels * (double)(held * w->width)};
    if (pool->kernel > 0)
        rows.pooled =
            (double)pool->channels *
            (double)((fr_halo_most(pool, p).held - most_rows(pool->height, p)) * pool->width);
    return rows;
}

/* ---- exchanges --------------------------------------------------------------------------------- */

struct exchange {
    const struct fr_work_part *x;
    struct fr_rank_work *work;
    struct fr_domain_packed packed;
};

static double row_B(const struct exchange *e, double channels, int64_t columns) {
    return e->x->shard.batch * channels * (double)columns *
           fr_dtype_size_B(e->x->workload->dtype);
}

/* Rows go down, which are somebody's above, then up; each is read and written twice more, packed and unpacked. */
static void send(struct exchange *e, struct fr_halo halo, double one_B, bool backward) {
    const int64_t rows[] = {halo.above, halo.below};
    for (int k = 0; k < 2; k++) {
        if (rows[k] == 0) continue;
        fr_work_add_comm(e->work, FR_OP_SEND_RECV, backward, (double)rows[k] * one_B);
        e->packed.moved_B += 4 * (double)rows[k] * one_B;
        e->packed.kernels += 2;
    }
}

static void send_pooled(struct exchange *e) {
    const struct fr_window *pool = &e->x->layer->pool;
    if (pool->kernel == 0) return;
    const struct fr_halo ahead = fr_halo_most(pool, (int64_t)e->x->shard.tp).forward;
    const double one_B = row_B(e, (double)pool->channels, pool->width);
    send(e, ahead, one_B, false);
    if (!e->x->plan->forward)
        send(e, (struct fr_halo){ahead.below, ahead.above}, one_B, true); /* back again */
}

/* Is what leaves the last divided layer a mean of each channel, which all ranks have?  A projection stands after the
 * layer that its block ends with. */
static bool ends_with_mean(const struct fr_work_part *x) {
    const struct fr_layer *layer = x->layer;
    return layer->average || (layer->shortcut && (layer - 1)->average);
}

static void gather(struct exchange *e) {
    const struct fr_work_part *x = e->x;
    const int next = entry_of(x) + 1;
    const double value_B = x->shard.batch * fr_dtype_size_B(x->workload->dtype);
    if (x->layer->average)
        fr_work_add_comm(e->work, FR_OP_ALL_REDUCE, false, x->layer->rows * value_B);
    if (next == x->plan->domain && next < x->workload->n_layers && !ends_with_mean(x))
        fr_work_add_comm(e->work, FR_OP_ALL_GATHER, false,
                         x->workload->layers[next].inputs * value_B);
}

struct fr_domain_packed fr_domain_exchange(const struct fr_work_part *x,
                                           struct fr_rank_work *work) {
    const struct fr_window *w = &x->layer->window;
    const struct fr_halo_most most = fr_halo_most(w, (int64_t)x->shard.tp);
    struct exchange e = {.x = x, .work = work};
    send(&e, most.forward, row_B(&e, (double)w->channels, w->width), false);
    send_pooled(&e);
    gather(&e);
    if (!x->plan->forward)
        send(&e, most.backward, row_B(&e, x->layer->rows, fr_window_columns(w)), true);
    return e.packed;
}
