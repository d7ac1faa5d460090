/* Which messages go compressed (models/price/pipeline.h). */
#include "base/alloc.h"
#include "models/price/pipeline.h"

static int64_t place(const struct fr_pipeline *p, int32_t i, int32_t chunk, int32_t micro) {
    return ((int64_t)i * p->args.chunks + chunk) * p->args.micro_batches + micro;
}

fr_status fr_pipeline_find_epilogue(struct fr_pipeline *p, fr_scope scope,
                                    struct fr_error *err) {
    size_t passes =
        (size_t)p->args.stages * (size_t)p->args.chunks * (size_t)p->args.micro_batches;
    if (scope != FR_SCOPE_EPILOGUE || p->args.chunks == 1) return FR_OK;
    p->cool_down = fr_calloc(passes, sizeof *p->cool_down);
    if (!p->cool_down)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the pipeline does not fit in memory");
    for (int32_t i = 0; i < p->args.stages; i++) {
        const struct fr_slot *slots = p->slots + i * p->n_slots;
        int64_t last = p->n_slots - 1;
        while (last > 0 && slots[last].kind != FR_SLOT_FORWARD) last--;
        for (int64_t k = last + 2; k < p->n_slots; k++)
            if (slots[k].kind == FR_SLOT_BACKWARD)
                p->cool_down[place(p, i, slots[k].chunk, slots[k].micro)] = 1;
    }
    return FR_OK;
}

/* The last virtual stage's passes read no message, whatever this says of them. */
bool fr_pipeline_compressed(const struct fr_pipeline *p, int32_t i, int32_t chunk,
                            int32_t micro) {
    if (p->scope == FR_SCOPE_NONE || p->stage[i].sends_whole) return false;
    if (p->scope == FR_SCOPE_ALL) return true;
    return p->cool_down ? p->cool_down[place(p, i, chunk, micro)]
                        : micro >= p->args.micro_batches - (p->args.stages - 1 - i);
}

double fr_pipeline_n_read(const struct fr_pipeline *p, int32_t i, int32_t chunk) {
    double marked = 0;
    for (int32_t m = 0; m < p->args.micro_batches; m++)
        marked += fr_pipeline_compressed(p, i, chunk, m);
    return marked;
}

double fr_pipeline_n_marked(const struct fr_pipeline *p, int32_t i) {
    double marked = 0;
    int32_t chunks = p->args.chunks - (i == p->args.stages - 1 ? 1 : 0);
    if (p->schedule &&
        p->schedule->folds) /* down to chunk 0 of it, up to chunk 1 of the stage above */
        return fr_pipeline_n_read(p, i, 0) + fr_pipeline_n_read(p, i + 1, 1);
    for (int32_t c = 0; c < chunks; c++)
        for (int32_t m = 0; m < p->args.micro_batches; m++)
            marked += p->cool_down[place(p, i, c, m)];
    return marked;
}

/* ---- forward: all of them, where that makes them smaller ------------------------------------------ */

double fr_pipeline_n_forward_compressed(const struct fr_pipeline *p, int32_t i) {
    bool coded = p->codes_forward && p->args.stages > 1 && p->stage[i].small_forward_B > 0;
    return coded ? fr_pipeline_n_messages(p, i) : 0;
}

/* Is the message of micro-batch @p micro compressed between virtual stage @p at and the next, forward or backward? */
static bool small(const struct fr_pipeline *p, int64_t at, const struct fr_slot *x) {
    if (at < 0 || at >= (int64_t)p->args.stages * p->args.chunks - 1) return false;
    if (x->kind == FR_SLOT_BACKWARD) return fr_pipeline_small(p, at, x->micro);
    int32_t across = fr_pipeline_boundary(p, at);
    return p->codes_forward && across >= 0 && p->stage[across].small_forward_B > 0;
}

static int64_t virtual_of(const struct fr_pipeline *p, int32_t i, const struct fr_slot *x) {
    return fr_schedule_virtual(p->schedule, p->args.stages, i, x->chunk);
}

bool fr_pipeline_reads_small(const struct fr_pipeline *p, int32_t i, const struct fr_slot *x) {
    if (x->kind == FR_SLOT_WEIGHT || p->args.stages == 1 || !fr_pipeline_codes(p)) return false;
    return small(p, virtual_of(p, i, x) - (x->kind == FR_SLOT_FORWARD), x);
}

bool fr_pipeline_sends_small(const struct fr_pipeline *p, int32_t i, const struct fr_slot *x) {
    if (x->kind == FR_SLOT_WEIGHT || p->args.stages == 1 || !fr_pipeline_codes(p)) return false;
    return small(p, virtual_of(p, i, x) - (x->kind == FR_SLOT_BACKWARD), x);
}
