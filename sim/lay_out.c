/* A pipeline laid out as tasks: its passes, its messages, and what follows the last pass. */
#include "sim/lay_out.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/plan/schedule_order.h"

/* Classes are laid out kind by kind, a stage each; first the whole ones, then the parts. */
int32_t fr_program_class(const struct fr_program *program, fr_task_kind kind, int32_t stage,
                         bool part) {
    return ((int32_t)kind + (part ? FR_TASK_COUNT : 0)) * program->n_ranks + stage;
}

static int64_t virtual_stage(const struct fr_builder *b, int32_t rank, int chunk) {
    return fr_schedule_virtual(b->p->schedule, b->p->args.stages, rank, chunk);
}

/* The task whose end makes the result of a pass available to its reader: the message if there is one, else the pass. */
static int32_t *output_of(struct fr_builder *b, uint8_t kind, int64_t at, int32_t micro) {
    int64_t all = (int64_t)b->p->args.stages * b->p->args.chunks;
    return &b->output[((kind == FR_SLOT_BACKWARD) * all + at) * b->p->args.micro_batches +
                      micro];
}

static int32_t add(struct fr_builder *b, int32_t class_id, int32_t rank, int32_t peer,
                   const struct fr_slot *slot) {
    const struct fr_task task = {.class_id = class_id,
                                 .rank = rank,
                                 .peer = peer,
                                 .micro = slot ? slot->micro : -1,
                                 .chunk = slot ? slot->chunk : 0};
    int32_t number = fr_program_add(b->program, &task);
    b->failed = b->failed || number < 0;
    return number;
}

int32_t fr_builder_add(struct fr_builder *b, fr_task_kind kind, int32_t stage, int32_t rank,
                       int32_t peer, const struct fr_slot *slot) {
    return add(b, fr_program_class(b->program, kind, stage, false), rank, peer, slot);
}

static int32_t add_part(struct fr_builder *b, fr_task_kind kind, int32_t r,
                        const struct fr_slot *slot) {
    return add(b, fr_program_class(b->program, kind, r, true), r, -1, slot);
}

/* Whom the result of a pass goes to: the rank of the next virtual stage in its direction, or -1
 * at the ends and where the next one is on the same rank. */
static int32_t receiver(const struct fr_builder *b, int32_t rank, const struct fr_slot *slot) {
    int32_t stages = b->p->args.stages;
    int64_t at = virtual_stage(b, rank, slot->chunk),
            last = (int64_t)stages * b->p->args.chunks - 1;
    if (slot->kind == FR_SLOT_WEIGHT || stages == 1) return -1;
    bool forward = slot->kind == FR_SLOT_FORWARD;
    if (at == (forward ? last : 0)) return -1;
    int32_t to = fr_schedule_stage(b->p->schedule, stages, forward ? at + 1 : at - 1);
    return to == rank ? -1 : to;
}

/* The boundary that a result crosses, named by its lower stage: forward passes send up across
 * their own, backward passes down across the receiver's. */
int32_t fr_builder_boundary(const struct fr_slot *slot, int32_t from, int32_t to) {
    return slot->kind == FR_SLOT_FORWARD ? from : to;
}

static fr_task_kind pass_kind(uint8_t slot_kind) {
    return slot_kind == FR_SLOT_FORWARD    ? FR_TASK_FORWARD
           : slot_kind == FR_SLOT_BACKWARD ? FR_TASK_BACKWARD
                                           : FR_TASK_WEIGHT;
}

/* Is this the pass that makes the last of its chunk's gradients, to be sent in buckets? */
static bool finishes_gradients(struct fr_builder *b, int32_t r, const struct fr_slot *slot) {
    uint8_t makes = b->p->splits_backward ? FR_SLOT_WEIGHT : FR_SLOT_BACKWARD;
    if (!b->p->stage[r].buckets || slot->kind != makes) return false;
    return ++b->ranks[r].made[slot->chunk] == b->p->args.micro_batches;
}

/* Such a pass in equal parts, a bucket after each. @return the last part */
static int32_t add_parts(struct fr_builder *b, int32_t r, const struct fr_slot *slot,
                         int32_t input) {
    struct fr_rank *rank = &b->ranks[r];
    int32_t n = b->p->stage[r].buckets, first = -1, part = rank->last_compute;
    for (int32_t j = 0; j < n; j++) {
        int32_t before = part;
        part = add_part(b, pass_kind(slot->kind), r, slot);
        fr_program_wait(b->program, part, before);
        if (j == 0) fr_program_wait(b->program, first = part, input);
    }
    for (int32_t j = 0; j < n && part >= 0; j++) {
        int32_t bucket = add_part(b, FR_TASK_GRADIENT, r, slot);
        fr_program_wait(b->program, bucket, rank->last_collective);
        fr_program_wait(b->program, bucket, first + j);
        rank->last_collective = bucket;
    }
    return part;
}

/* A pass whole, of the class of its clock where passes have clocks.  There a rank's actions are its passes:
 * that under way says which it is. */
static int32_t add_whole(struct fr_builder *b, int32_t r, const struct fr_slot *slot) {
    const struct fr_pipeline *p = b->p;
    fr_task_kind kind = pass_kind(slot->kind);
    if (!p->pass_clock) return fr_builder_add(b, kind, r, r, -1, slot);
    int32_t clocks = fr_device_clocks(&p->device->clock),
            clock = p->pass_clock[r * p->n_slots + b->ranks[r].next];
    if (clock == clocks - 1) return fr_builder_add(b, kind, r, r, -1, slot);
    int32_t first = 2 * FR_TASK_COUNT * b->program->n_ranks;
    return add(b, first + (slot->kind * b->program->n_ranks + r) * clocks + clock, r, -1, slot);
}

/* A pass in its rank's order, with the decompression of what it reads before it and the
 * compression of what it sends after it. @return the pass */
static int32_t add_pass(struct fr_builder *b, int32_t r, const struct fr_slot *slot,
                        int32_t input) {
    struct fr_rank *rank = &b->ranks[r];
    bool forward = slot->kind == FR_SLOT_FORWARD;
    if (fr_pipeline_reads_small(b->p, r, slot)) {
        fr_task_kind kind = forward ? FR_TASK_FORWARD_DECOMPRESS : FR_TASK_DECOMPRESS;
        int32_t task = fr_builder_add(b, kind, r, r, -1, slot);
        fr_program_wait(b->program, task, rank->last_compute);
        fr_program_wait(b->program, task, input);
        rank->last_compute = task;
        input = -1;
    }
    bool parts = finishes_gradients(b, r, slot);
    int32_t pass = parts ? add_parts(b, r, slot, input) : add_whole(b, r, slot);
    if (!parts) fr_program_wait(b->program, pass, rank->last_compute);
    if (!parts) fr_program_wait(b->program, pass, input);
    rank->last_compute = pass;
    if (slot->whole) { /* its weight gradient before anything is sent */
        struct fr_slot weight = *slot;
        weight.kind = FR_SLOT_WEIGHT;
        weight.whole = false;
        pass = add_pass(b, r, &weight, -1);
    }
    if (fr_pipeline_sends_small(b->p, r, slot)) {
        fr_task_kind kind = forward ? FR_TASK_FORWARD_COMPRESS : FR_TASK_COMPRESS;
        int32_t task = fr_builder_add(b, kind, r, r, -1, slot);
        fr_program_wait(b->program, task, pass);
        rank->last_compute = task;
    }
    return rank->last_compute;
}

/* Kind of the message that carries the result of a pass of @p from. */
fr_task_kind fr_builder_message_kind(const struct fr_builder *b, int32_t from,
                                     const struct fr_slot *slot) {
    bool small = fr_pipeline_sends_small(b->p, from, slot);
    if (slot->kind == FR_SLOT_FORWARD)
        return small ? FR_TASK_COMPRESSED_FORWARD : FR_TASK_FORWARD_MESSAGE;
    return small ? FR_TASK_COMPRESSED_MESSAGE : FR_TASK_BACKWARD_MESSAGE;
}

/* ---- asynchronous messages ---------------------------------------------------------------- */

/* The task that brings a pass its input: -1 none needed, -2 not there yet. */
static int32_t input_task(struct fr_builder *b, int32_t rank, const struct fr_slot *slot) {
    int64_t at = virtual_stage(b, rank, slot->chunk);
    int64_t last = (int64_t)b->p->args.stages * b->p->args.chunks - 1;
    int32_t task;
    if (slot->kind == FR_SLOT_FORWARD) {
        if (at == 0) return -1;
        task = *output_of(b, FR_SLOT_FORWARD, at - 1, slot->micro);
    } else if (slot->kind == FR_SLOT_WEIGHT) {
        task = *output_of(b, FR_SLOT_BACKWARD, at, slot->micro);
        return task < 0 ? -2 : -1; /* on this rank and before it in its order */
    } else if (at == last) {
        task = *output_of(b, FR_SLOT_FORWARD, at, slot->micro);
    } else
        task = *output_of(b, FR_SLOT_BACKWARD, at + 1, slot->micro);
    return task < 0 ? -2 : task;
}

/* One slot of rank @p r, if its input has been laid out. A pass waits for two things, as in the recurrence: the rank's
 * previous work and its input. Its message is a task of its own, which the rank does not wait for. */
static bool do_pass(struct fr_builder *b, int32_t r, const struct fr_slot *slot) {
    int32_t input = input_task(b, r, slot), to = receiver(b, r, slot);
    if (slot->whole && slot->kind == FR_SLOT_WEIGHT)
        return true; /* done with its backward pass */
    if (input == -2) return false;
    int32_t pass = add_pass(b, r, slot, input), result = pass;
    if (to >= 0 && !b->p->duplex) {
        bool folds = b->p->schedule->folds;
        int32_t across = folds ? (r < to ? r : to) : fr_builder_boundary(slot, r, to);
        result = fr_builder_add(b, fr_builder_message_kind(b, r, slot), across, r, to, slot);
        fr_program_wait(b->program, result, pass);
    }
    if (slot->kind != FR_SLOT_WEIGHT)
        *output_of(b, slot->kind, virtual_stage(b, r, slot->chunk), slot->micro) = result;
    return true;
}

/* ---- laying out --------------------------------------------------------------------------- */

static void put(struct fr_rank *rank, enum fr_action_kind kind, const struct fr_slot *slot,
                int32_t peer) {
    rank->actions[rank->n_actions++] = (struct fr_action){kind, *slot, peer};
}

/* The slot on the other rank whose result this pass reads. */
static bool source_of(const struct fr_builder *b, int32_t r, const struct fr_slot *slot,
                      struct fr_slot *source, int32_t *from) {
    int32_t stages = b->p->args.stages;
    *source = *slot;
    if (slot->kind == FR_SLOT_WEIGHT || stages == 1) return false;
    if (slot->kind == FR_SLOT_FORWARD ? r == 0 : r == stages - 1) return false;
    *from = slot->kind == FR_SLOT_FORWARD ? r - 1 : r + 1;
    return true;
}

static bool lay_out_rank(struct fr_builder *b, int32_t r) {
    int64_t n_slots = b->p->n_slots;
    struct fr_rank *rank = &b->ranks[r];
    rank->last_compute = rank->last_collective = -1;
    rank->made = fr_calloc((size_t)b->p->args.chunks, sizeof *rank->made);
    rank->actions = fr_malloc((size_t)(3 * n_slots), sizeof *rank->actions);
    if (!rank->actions || !rank->made) return false;
    for (int64_t s = 0; s < n_slots; s++) {
        const struct fr_slot *slot = &b->p->slots[r * n_slots + s];
        struct fr_slot source;
        int32_t from = -1, to = receiver(b, r, slot);
        if (b->p->duplex && source_of(b, r, slot, &source, &from))
            put(rank, FR_ACTION_RECEIVE, &source, from);
        put(rank, FR_ACTION_PASS, slot, -1);
        if (b->p->duplex && to >= 0) put(rank, FR_ACTION_SEND, slot, to);
    }
    return true;
}

static bool step(struct fr_builder *b, int32_t r) {
    struct fr_rank *rank = &b->ranks[r];
    const struct fr_action *a = fr_action_at(rank, 0);
    if (!a) return false;
    if (a->kind != FR_ACTION_PASS) return fr_builder_transfer(b, r);
    if (b->p->duplex) { /* what it reads was received by the action before */
        struct fr_slot slot = a->slot;
        add_pass(b, r, &slot, -1);
    } else if (!do_pass(b, r, &a->slot))
        return false;
    rank->next++;
    return true;
}

static fr_status deadlock(const struct fr_builder *b, struct fr_error *err) {
    int32_t stages = b->p->args.stages;
    if (b->p->duplex) return fr_builder_transfers_deadlock(b, err);
    int64_t *next = fr_calloc((size_t)stages, sizeof *next);
    if (!next) return fr_fail(err, FR_ERR_NOMEM, NULL, "the program does not fit in memory");
    for (int32_t r = 0; r < stages; r++) next[r] = b->ranks[r].next; /* passes alone */
    fr_status status = fr_schedule_deadlock(&b->p->args, b->p->slots, b->p->n_slots, next,
                                            "plan#/schedule", err);
    free(next);
    return status;
}

/* Go round the ranks, each as far as it gets: tasks come out in an order that respects waits. */
static fr_status lay_out(struct fr_builder *b, struct fr_error *err) {
    int64_t left = 0;
    for (int32_t r = 0; r < b->p->args.stages; r++) left += b->ranks[r].n_actions;
    while (left > 0 && !b->failed) {
        int64_t before = left;
        left = 0;
        for (int32_t r = 0; r < b->p->args.stages; r++)
            while (step(b, r) && !b->failed) continue;
        for (int32_t r = b->p->args.stages; r-- > 0;)
            while (step(b, r) && !b->failed) continue;
        for (int32_t r = 0; r < b->p->args.stages; r++)
            left += b->ranks[r].n_actions - b->ranks[r].next;
        if (left == before) return deadlock(b, err);
    }
    return FR_OK;
}

/* After the passes: gradient all-reduces, the tied embedding's between first and last stage, the optimiser.  Work
 * that takes no time is left out. */
static void add_finish(struct fr_builder *b) {
    int32_t last = b->p->args.stages - 1;
    for (int32_t r = 0; r <= last; r++) {
        if (b->p->stage[r].buckets) continue;
        if (b->p->stage[r].gradient_s + b->p->stage[r].gradient_codec_s <= 0) continue;
        int32_t task = fr_builder_add(b, FR_TASK_GRADIENT, r, r, -1, NULL);
        fr_program_wait(b->program, task, b->ranks[r].last_compute);
        b->ranks[r].last_compute = task;
    }
    if (b->p->embedding_s > 0 && last > 0) {
        int32_t task = fr_builder_add(b, FR_TASK_EMBEDDING, 0, 0, last, NULL);
        /* The first stage's last pass sends nothing to compress: its last bucket comes after it. */
        bool buckets = b->ranks[0].last_collective >= 0;
        fr_program_wait(b->program, task,
                        buckets ? b->ranks[0].last_collective : b->ranks[0].last_compute);
        fr_program_wait(b->program, task, b->ranks[last].last_compute);
        fr_program_wait(b->program, task, b->ranks[last].last_collective);
        b->ranks[0].last_compute = b->ranks[last].last_compute = task;
    }
    for (int32_t r = 0; r <= last; r++) {
        const struct fr_stage *stage = &b->p->stage[r];
        if (stage->optimizer_s + stage->offload_s + stage->beside_s <= 0) continue;
        int32_t task = fr_builder_add(b, FR_TASK_OPTIMIZER, r, r, -1, NULL);
        fr_program_wait(b->program, task, b->ranks[r].last_compute);
        fr_program_wait(b->program, task, b->ranks[r].last_collective);
    }
}

/* Behind the others, forward, backward and weight passes of each rank at each clock. */
static void make_clocked(struct fr_program *program, int32_t first, int32_t clocks) {
    static const fr_task_kind kinds[] = {FR_TASK_FORWARD, FR_TASK_BACKWARD, FR_TASK_WEIGHT};
    for (int32_t c = first; c < program->n_classes; c++) {
        int32_t of = (c - first) / clocks;
        program->classes[c] =
            (struct fr_task_class){.kind = kinds[of / program->n_ranks],
                                   .stage = of % program->n_ranks,
                                   .clock = (int16_t)(1 + (c - first) % clocks)};
    }
}

static bool make_classes(struct fr_program *program, const struct fr_pipeline *p) {
    int32_t plain = 2 * FR_TASK_COUNT * program->n_ranks,
            clocks = p->pass_clock ? fr_device_clocks(&p->device->clock) : 0;
    program->n_classes = plain + 3 * program->n_ranks * clocks;
    program->classes = fr_calloc((size_t)program->n_classes, sizeof *program->classes);
    for (int32_t c = 0; program->classes && c < plain; c++) {
        int32_t kind = c / program->n_ranks;
        program->classes[c] =
            (struct fr_task_class){.kind = (fr_task_kind)(kind % FR_TASK_COUNT),
                                   .stage = c % program->n_ranks,
                                   .part = kind >= FR_TASK_COUNT};
    }
    if (program->classes) make_clocked(program, plain, clocks);
    return program->classes != NULL;
}

/* A program is a list of tasks, each with at most three tasks that it waits for, all earlier in the list. So a network
 * can play it in one pass over the list, and no program can deadlock. Durations are not in it: tasks of a class share
 * a price (sim/price.h), and one program is run with parts switched on and off. */
fr_status fr_program_make(const struct fr_pipeline *p, struct fr_program *program,
                          struct fr_error *err) {
    int32_t stages = p->args.stages;
    size_t outputs =
        2 * (size_t)stages * (size_t)p->args.chunks * (size_t)p->args.micro_batches;
    struct fr_builder b = {.p = p, .program = program};
    fr_status status = FR_OK;
    *program = (struct fr_program){.n_ranks = stages};
    b.ranks = fr_calloc((size_t)stages, sizeof *b.ranks);
    b.output = fr_malloc(outputs, sizeof *b.output);
    b.failed = !b.ranks || !b.output || !make_classes(program, p);
    if (!b.failed) {
        memset(b.output, -1, outputs * sizeof *b.output);
        for (int32_t r = 0; r < stages && !b.failed; r++) b.failed = !lay_out_rank(&b, r);
    }
    if (!b.failed) status = lay_out(&b, err);
    if (!b.failed && status == FR_OK) add_finish(&b);
    if (b.failed)
        status = fr_fail(err, FR_ERR_NOMEM, NULL, "the program does not fit in memory");
    for (int32_t r = 0; b.ranks && r < stages; r++) {
        free(b.ranks[r].actions);
        free(b.ranks[r].made);
    }
    free(b.ranks);
    free(b.output);
    return status;
}
