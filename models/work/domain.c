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
    struct fr_domain_rows rows = {
        .positions = (double)(most_rows(fr_window_rows(w), p) * fr_window_columns(w)),
        .inputs = (double)w->channels * (double)(fr_halo_held(w, p) * w->width)};
    if (pool->kernel > 0)
        rows.pooled =
            (double)pool->channels *
            (double)((fr_halo_held(pool, p) - most_rows(pool->height, p)) * pool->width);
    return rows;
}

/* ---- exchanges --------------------------------------------------------------------------------- */

struct exchange {
    const struct fr_work_part *x;
    struct fr_rank_work *work;
    struct fr_domain_packed packed;
};

/* Rows go down, then up, to who reads them; backward their gradients return.  Each is packed and unpacked, which reads and
 * writes it twice. */
static void send(struct exchange *e, const struct fr_window *w, bool backward) {
    const struct fr_halo halo = fr_halo_most(w, (int64_t)e->x->shard.tp);
    const int64_t rows[] = {halo.above, halo.below};
    const double row_B = e->x->shard.batch * (double)(w->channels * w->width) *
                         fr_dtype_size_B(e->x->workload->dtype);
    for (int k = 0; k < 2; k++) {
        if (rows[k] == 0) continue;
        fr_work_add_comm(e->work, FR_OP_SEND_RECV, backward, (double)rows[k] * row_B);
        e->packed.moved_B += 4 * (double)rows[k] * row_B;
        e->packed.kernels += 2;
    }
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
    const struct fr_layer *layer = x->layer;
    struct exchange e = {.x = x, .work = work};
    for (int back = 0; back < (x->plan->forward ? 1 : 2); back++) {
        send(&e, &layer->window, back);
        if (layer->pool.kernel > 0) send(&e, &layer->pool, back);
    }
    gather(&e);
    return e.packed;
}
