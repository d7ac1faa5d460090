#include "models/outcome/pass_graph.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "models/outcome/recurrence.h"
#include "models/price/clock.h"

int32_t fr_pass_graph_stage(const struct fr_pass_graph *s, int32_t k) {
    return (int32_t)(k / s->p->n_slots);
}

struct fr_clocked_pass fr_pass_graph_pass(const struct fr_pass_graph *s, int32_t k) {
    return fr_clock_pass(s->p, fr_pass_graph_stage(s, k), &s->p->slots[k]);
}

/* ---- who waits for whom ------------------------------------------------------------------------ */

/* Where a pass stands in a table of all: kind, virtual stage, micro-batch. */
static int64_t place_of(const struct fr_pass_graph *s, int kind, int64_t at, int32_t micro) {
    const struct fr_schedule_args *a = &s->p->args;
    return (kind * (int64_t)a->stages * a->chunks + at) * a->micro_batches + micro;
}

static int64_t virtual_of(const struct fr_pass_graph *s, int32_t k) {
    return fr_schedule_virtual(s->p->schedule, s->p->args.stages, fr_pass_graph_stage(s, k),
                               s->p->slots[k].chunk);
}

/* The place of the pass whose result pass @p k reads; below 0: it reads samples. */
static int64_t source_of(const struct fr_pass_graph *s, int32_t k) {
    const struct fr_slot *x = &s->p->slots[k];
    int64_t at = virtual_of(s, k), last = (int64_t)s->p->args.stages * s->p->args.chunks - 1;
    if (x->kind == FR_SLOT_WEIGHT) return place_of(s, FR_SLOT_BACKWARD, at, x->micro);
    if (x->kind == FR_SLOT_FORWARD)
        return at == 0 ? -1 : place_of(s, FR_SLOT_FORWARD, at - 1, x->micro);
    return at == last ? place_of(s, FR_SLOT_FORWARD, at, x->micro)
                      : place_of(s, FR_SLOT_BACKWARD, at + 1, x->micro);
}

/* Of the message with which @p x on stage @p i gets its input. */
static double lag_of(const struct fr_pass_graph *s, int32_t i, const struct fr_slot *x) {
    const struct fr_pipeline *p = s->p;
    int64_t at = fr_schedule_virtual(p->schedule, p->args.stages, i, x->chunk),
            last = (int64_t)p->args.stages * p->args.chunks - 1;
    if (x->kind == FR_SLOT_WEIGHT || (x->kind == FR_SLOT_BACKWARD && at == last)) return 0;
    int64_t lower = x->kind == FR_SLOT_FORWARD ? at - 1 : at;
    int32_t across = fr_pipeline_boundary(p, lower);
    if (across < 0) return 0;
    const struct fr_stage *stage = &p->stage[across];
    if (!fr_pipeline_reads_small(p, i, x)) return stage->message_s;
    return x->kind == FR_SLOT_FORWARD ? stage->small_forward_s : stage->small_message_s;
}

static fr_status link_passes(struct fr_pass_graph *s, struct fr_error *err) {
    const struct fr_pipeline *p = s->p;
    size_t all = 3 * (size_t)(p->args.stages * p->args.chunks) * (size_t)p->args.micro_batches;
    int32_t *where = fr_malloc(all, sizeof *where);
    if (!where) return fr_fail(err, FR_ERR_NOMEM, NULL, "the passes do not fit in memory");
    for (int32_t k = 0; k < s->n; k++)
        where[place_of(s, p->slots[k].kind, virtual_of(s, k), p->slots[k].micro)] = k;
    for (int32_t k = 0; k < s->n; k++) {
        int64_t from = source_of(s, k);
        s->needs[k] = from < 0 ? -1 : where[from];
        s->lag_s[k] = from < 0 ? 0 : lag_of(s, fr_pass_graph_stage(s, k), &p->slots[k]);
    }
    free(where);
    return FR_OK;
}

/* Round and round the stages, each as far as it gets. @return false: some never get anywhere */
static bool order_passes(struct fr_pass_graph *s) {
    int32_t done = 0, before = -1, n_slots = (int32_t)s->p->n_slots;
    int16_t *over = s->clock; /* not needed yet, and 0 */
    while (done < s->n && done > before) {
        before = done;
        for (int32_t i = 0; i < s->p->args.stages; i++)
            for (int32_t k = i * n_slots; k < (i + 1) * n_slots; k++) {
                if (over[k]) continue;
                if (s->needs[k] >= 0 && !over[s->needs[k]]) break;
                over[k] = 1;
                s->order[done++] = k;
            }
    }
    return done == s->n;
}

/* The pass that makes the last of a chunk's gradients sends them in buckets beside itself. */
static void pin(struct fr_pass_graph *s) {
    const struct fr_pipeline *p = s->p;
    for (int32_t i = 0; i < p->args.stages; i++) {
        if (!p->stage[i].buckets) continue;
        for (int32_t c = 0; c < p->args.chunks; c++)
            for (int64_t x = p->n_slots; x-- > 0;) {
                const struct fr_slot *slot = &p->slots[i * p->n_slots + x];
                bool makes = slot->whole
                                 ? slot->kind == FR_SLOT_BACKWARD
                                 : slot->kind ==
                                       (p->splits_backward ? FR_SLOT_WEIGHT : FR_SLOT_BACKWARD);
                if (slot->chunk != c || !makes) continue;
                s->pinned[i * p->n_slots + x] = true;
                break;
            }
    }
}

/* Behind the last pass: gradients, the embedding's, the optimiser. */
static void make_tails(struct fr_pass_graph *s) {
    const struct fr_pipeline *p = s->p;
    int32_t last = p->args.stages - 1;
    double ends_s = 0;
    for (int32_t i = 0; i <= last; i++) {
        const struct fr_stage *stage = &p->stage[i];
        double step_s = stage->optimizer_s + stage->offload_s + stage->beside_s,
               d_s = s->full_s[(i + 1) * p->n_slots - 1], n = stage->buckets;
        if (i == 0 || i == last) ends_s = fmax(ends_s, step_s + p->embedding_s);
        s->tail_s[i] =
            stage->gradient_codec_s +
            (stage->buckets ? fmax(d_s / n - d_s + n * stage->bucket_s, stage->bucket_s)
                            : stage->gradient_s);
        if ((i > 0 && i < last) || !(p->embedding_s > 0)) s->tail_s[i] += step_s;
    }
    if (!(p->embedding_s > 0)) return;
    s->tail_s[0] += ends_s;
    if (last > 0) s->tail_s[last] += ends_s;
}

/* ---- all of it --------------------------------------------------------------------------------- */

static void price_passes(struct fr_pass_graph *s) {
    for (int32_t k = 0; k < s->n; k++) {
        const struct fr_slot *x = &s->p->slots[k];
        int32_t i = fr_pass_graph_stage(s, k);
        bool none = x->whole && x->kind == FR_SLOT_WEIGHT;
        s->full_s[k] = fr_pipeline_codec_s(s->p, i, x, false) +
                       fr_pipeline_codec_s(s->p, i, x, true) +
                       (none ? 0 : fr_pipeline_pass_s(s->p, i, x->kind, FR_WITH_ALL));
        if (x->whole && !none)
            s->full_s[k] += fr_pipeline_pass_s(s->p, i, FR_SLOT_WEIGHT, FR_WITH_ALL);
        s->pinned[k] = none;
    }
}

static fr_status grow(struct fr_pass_graph *s, struct fr_error *err) {
    size_t n = (size_t)s->n, stages = (size_t)s->p->args.stages;
    s->full_s = fr_calloc(2 * n + stages, sizeof *s->full_s);
    s->needs = fr_calloc(2 * n, sizeof *s->needs);
    s->clock = fr_calloc(n, sizeof *s->clock);
    s->pinned = fr_calloc(n, sizeof *s->pinned);
    if (!s->full_s || !s->needs || !s->clock || !s->pinned)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the passes do not fit in memory");
    s->lag_s = s->full_s + n;
    s->tail_s = s->lag_s + n;
    s->order = s->needs + n;
    return FR_OK;
}

void fr_pass_graph_free(struct fr_pass_graph *s) {
    free(s->full_s);
    free(s->needs);
    free(s->clock);
    free(s->pinned);
}

fr_status fr_pass_graph_make(const struct fr_device *device, const struct fr_pipeline *pipeline,
                             struct fr_pass_graph *s, struct fr_error *err) {
    *s = (struct fr_pass_graph){.device = device,
                                .p = pipeline,
                                .n = (int32_t)(pipeline->args.stages * pipeline->n_slots),
                                .n_clocks = fr_device_clocks(&device->clock)};
    FR_TRY(grow(s, err));
    price_passes(s);
    FR_TRY(link_passes(s, err));
    s->ordered = order_passes(s);
    for (int32_t k = 0; k < s->n; k++) s->clock[k] = (int16_t)(s->n_clocks - 1);
    pin(s);
    make_tails(s);
    return FR_OK;
}

static double duration_s(const struct fr_pass_graph *s, int32_t k) {
    if (s->clock[k] == s->n_clocks - 1) return s->full_s[k];
    struct fr_clocked_pass pass = fr_pass_graph_pass(s, k);
    return s->full_s[k] +
           fr_clocked_longer_s(s->device, &pass,
                               fr_device_clock_at(&s->device->clock, s->clock[k]));
}

double fr_pass_graph_early(const struct fr_pass_graph *s, double *at_s) {
    double over_s = 0;
    for (int32_t j = 0; j < s->n; j++) {
        int32_t k = s->order[j], x = (int32_t)(k % s->p->n_slots);
        double start_s = x > 0 ? at_s[2 * (k - 1) + 1] : 0;
        if (s->needs[k] >= 0) start_s = fmax(start_s, at_s[2 * s->needs[k] + 1] + s->lag_s[k]);
        at_s[2 * k] = start_s;
        at_s[2 * k + 1] = start_s + duration_s(s, k);
        if (x == s->p->n_slots - 1)
            over_s = fmax(over_s, at_s[2 * k + 1] + s->tail_s[fr_pass_graph_stage(s, k)]);
    }
    return over_s;
}

void fr_pass_graph_late(const struct fr_pass_graph *s, double deadline_s, double *late_s) {
    for (int32_t k = 0; k < s->n; k++) {
        bool last = k % s->p->n_slots == s->p->n_slots - 1;
        late_s[k] = last ? deadline_s - s->tail_s[fr_pass_graph_stage(s, k)] : INFINITY;
    }
    for (int32_t j = s->n; j-- > 0;) {
        int32_t k = s->order[j];
        double start_s = late_s[k] - duration_s(s, k);
        if (k % s->p->n_slots > 0) late_s[k - 1] = fmin(late_s[k - 1], start_s);
        if (s->needs[k] >= 0)
            late_s[s->needs[k]] = fmin(late_s[s->needs[k]], start_s - s->lag_s[k]);
    }
}
