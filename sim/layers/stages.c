/* Layers of several stages played by all their ranks: passes in the schedule's order, and a message from each rank to that
 * of the same place in the next stage.
 *
 * A message is under way beside both ranks' work, and so is the all-gather that follows its arrival: the pass that reads it
 * waits for both, as in the closed form (models/price/pipeline.c). */
#include <stdlib.h>

#include "base/alloc.h"
#include "models/plan/schedule_order.h"
#include "models/price/ledger.h"
#include "sim/layers.h"
#include "sim/layers/program.h"

struct order {
    struct fr_layers_builder *b;
    const struct fr_pipeline *p;
    struct fr_layers_stage *stages;
    int64_t *next; /* [stage]: slots that are done */
    bool *made;    /* [2][stage][micro]: the pass is laid out */
    int32_t
        *arrived;   /* [2][micro][rank]: the task after which a pass's input is there, or -1 */
    int32_t *lasts; /* [rank]: scratch */
};

const char *fr_layers_stages_refused(const struct fr_job *job, const struct fr_plan *plan,
                                     const struct fr_pipeline *p) {
    if (job->workload.n_layers == 0)
        return "collectives of this kind of model are part of its passes; messages are played "
               "one by one for models of layers (kinds ffn, mlp and cnn)";
    if (plan->method->branches)
        return "sub-graphs in a pipeline are played by operations; messages need pp=1";
    if (plan->domain > 0)
        return "images divided by height in a pipeline are played by operations; messages need "
               "pp=1";
    if (p->args.chunks > 1 || p->splits_backward || p->duplex)
        return "messages are played for one chunk a stage, whole backward passes and "
               "asynchronous sends; set chunks=1, schedule=1f1b or gpipe, p2p=async";
    if (fr_pipeline_codes(p))
        return "compressed messages between stages are played by operations";
    for (int32_t i = 0; i < p->args.stages; i++) {
        const struct fr_stage *stage = &p->stage[i];
        if (stage->buckets > 0 || stage->beside_s > 0 || stage->offload_s > 0)
            return "what runs beside passes is played by operations; set overlap=none";
        if (stage->clock_Hz > 0 || p->pass_clock)
            return "stages at clocks of their own are played by operations";
    }
    return NULL;
}

static int32_t *arrival(const struct order *o, bool forward, int32_t micro, int32_t rank) {
    int64_t at = (int64_t)(forward ? 0 : o->p->args.micro_batches) + micro;
    return &o->arrived[at * o->b->program->n_ranks + rank];
}

static bool *made(const struct order *o, bool forward, int32_t stage, int32_t micro) {
    int64_t at = (forward ? 0 : o->p->args.stages) + stage;
    return &o->made[at * o->p->args.micro_batches + micro];
}

/* ---- messages -------------------------------------------------------------------------------- */

static int32_t message_class(struct fr_layers_builder *b, const struct fr_stage *boundary,
                             int32_t lower, bool forward) {
    const struct fr_group pair = fr_rank_map_pair(b->rank_map, lower, lower + 1);
    const struct fr_ledger one = {&b->job->cluster, NULL, 1, &b->extrapolated};
    struct fr_class_price price = {.size_B = boundary->message_B};
    price.part_s[FR_PRICE_MESSAGES] =
        fr_ledger_s(&one, FR_OP_SEND_RECV, &pair, boundary->message_B, 1);
    int32_t class_id = fr_layers_class(
        b, forward ? FR_TASK_FORWARD_MESSAGE : FR_TASK_BACKWARD_MESSAGE, &price);
    if (class_id >= 0) b->program->classes[class_id].stage = lower;
    return class_id;
}

/* From every rank of stage @p i to its neighbour, where tp ranks gather what is theirs together.  Neither side's own work
 * waits: what a receiver did last is put back. */
static void send(struct order *o, int32_t i, bool forward, int32_t micro) {
    struct fr_layers_builder *b = o->b;
    int32_t to = forward ? i + 1 : i - 1, lower = forward ? i : to;
    int64_t apart = (to - i) * fr_mesh_stride(&b->rank_map->mesh, FR_MESH_PP);
    const struct fr_stage *boundary = &o->p->stage[lower];
    const struct fr_operation gather = {.kind = FR_WORK_COLLECTIVE,
                                        .op = FR_OP_ALL_GATHER,
                                        .axis = FR_AXIS_TP,
                                        .times = 1,
                                        .size = boundary->gathered_B};
    fr_layers_stand_at(b, o->stages, to);
    fr_layers_begin(b, &o->stages[to].arriving[forward ? 0 : 1]);
    int32_t class_id = message_class(b, boundary, lower, forward);
    for (int32_t k = 0; k < b->n_here && !b->failed; k++) {
        int32_t r = b->here[k], from = (int32_t)(r - apart);
        int32_t task = fr_layers_task(b, class_id, from, r, micro);
        fr_program_wait(b->program, task, b->ranks[from].last);
        o->lasts[r] = b->ranks[r].last;
        b->ranks[r].last = task;
    }
    if (boundary->gathered_B > 0) fr_layers_collective(b, &gather, FR_PRICE_MESSAGES, micro);
    for (int32_t k = 0; k < b->n_here && !b->failed; k++) {
        int32_t r = b->here[k];
        *arrival(o, forward, micro, r) = b->ranks[r].last;
        b->ranks[r].last = o->lasts[r];
    }
}

/* The next task of the ranks at hand waits for their input too. */
static void receive(struct order *o, bool forward, int32_t micro) {
    struct fr_layers_builder *b = o->b;
    const struct fr_class_price nothing = {0};
    fr_layers_begin(b, &o->stages[b->stage].joining[forward ? 0 : 1]);
    int32_t class_id = fr_layers_class(b, FR_TASK_COLLECTIVE, &nothing);
    for (int32_t k = 0; k < b->n_here && !b->failed; k++) {
        int32_t r = b->here[k], task = fr_layers_task(b, class_id, r, -1, micro);
        fr_program_wait(b->program, task, b->ranks[r].last);
        fr_program_wait(b->program, task, *arrival(o, forward, micro, r));
        b->ranks[r].last = task;
    }
}

/* ---- the order --------------------------------------------------------------------------------- */

static bool is_ready(const struct order *o, int32_t i, const struct fr_slot *slot) {
    int32_t last = o->p->args.stages - 1;
    if (slot->kind == FR_SLOT_FORWARD) return i == 0 || *made(o, true, i - 1, slot->micro);
    return i == last ? *made(o, true, i, slot->micro) : *made(o, false, i + 1, slot->micro);
}

/* The next slot of stage @p i.  @return false: there is none, or what it reads is not laid out */
static bool step(struct order *o, int32_t i) {
    struct fr_layers_builder *b = o->b;
    int32_t last = o->p->args.stages - 1;
    if (o->next[i] == o->p->n_slots || b->failed || b->status != FR_OK) return false;
    const struct fr_slot *slot = &o->p->slots[i * o->p->n_slots + o->next[i]];
    if (!is_ready(o, i, slot)) return false;
    bool forward = slot->kind == FR_SLOT_FORWARD;
    fr_layers_stand_at(b, o->stages, i);
    if (i != (forward ? 0 : last)) receive(o, forward, slot->micro);
    fr_layers_pass(b, &o->stages[i], forward, slot->micro);
    if (i != (forward ? last : 0)) send(o, i, forward, slot->micro);
    *made(o, forward, i, slot->micro) = true;
    o->next[i]++;
    return true;
}

/* Go round the stages, each as far as it gets. */
static fr_status go_round(struct order *o) {
    const struct fr_pipeline *p = o->p;
    bool moved = true;
    while (moved) {
        moved = false;
        for (int32_t i = 0; i < p->args.stages; i++)
            while (step(o, i)) moved = true;
    }
    if (o->b->failed || o->b->status != FR_OK) return FR_OK;
    for (int32_t i = 0; i < p->args.stages; i++)
        if (o->next[i] < p->n_slots)
            return fr_schedule_deadlock(&p->args, p->slots, p->n_slots, o->next,
                                        "plan#/schedule", o->b->err);
    for (int32_t i = 0; i < p->args.stages; i++) {
        fr_layers_stand_at(o->b, o->stages, i);
        fr_layers_finish(o->b, &o->stages[i]);
    }
    return FR_OK;
}

fr_status fr_layers_lay_out_stages(struct fr_layers_builder *b, const struct fr_pipeline *p,
                                   struct fr_layers_stage *stages) {
    size_t n_stages = (size_t)p->args.stages, micro = (size_t)p->args.micro_batches,
           ranks = (size_t)b->program->n_ranks;
    struct order o = {.b = b, .p = p, .stages = stages};
    fr_status status = FR_OK;
    o.next = fr_calloc(n_stages, sizeof *o.next);
    o.made = fr_calloc(2 * n_stages * micro, sizeof *o.made);
    o.arrived = fr_malloc(2 * micro * ranks, sizeof *o.arrived);
    o.lasts = fr_malloc(ranks, sizeof *o.lasts);
    b->failed = !o.next || !o.made || !o.arrived || !o.lasts;
    for (size_t k = 0; k < 2 * micro * ranks && !b->failed; k++) o.arrived[k] = -1;
    if (!b->failed) status = go_round(&o);
    free(o.next);
    free(o.made);
    free(o.arrived);
    free(o.lasts);
    return status;
}
