/* The exact recurrence over a pipeline's passes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/extremes.h"
#include "models/outcome/message_lines.h"
#include "models/outcome/periodic.h"
#include "models/outcome/recurrence.h"
#include "models/plan/schedule_order.h"

/* ---- the recurrence ---------------------------------------------------------------------- */

/* End times of forward and backward passes by virtual stage and micro-batch; < 0: not yet. */
/* The state of one evaluation. Virtual stage k of P v is row k, so that "the stage before" is one row up whatever the
 * schedule; fr_schedule_virtual maps (stage, chunk) to its row. */
struct sweep {
    const struct fr_pipeline *p;
    int64_t *next; /* [P]: slot of the pipeline's order */
    double *forward_end_s, *backward_end_s, *free_s;
    double *pass_s;        /* [P][3]: of one chunk, by slot kind */
    int32_t *made;         /* [P][v]: passes that added to the chunk's gradients */
    double *stream_s;      /* [P]: end of the collective stream's last bucket */
    double *shown_s;       /* [P]: that the stream was busy between passes */
    double *up_s, *down_s; /* [P]: of the message that a pass reads, not compressed */
    size_t last;           /* virtual stage */
    bool messages;         /* do they take time?  Chunks of one rank hand over without one */
    bool codecs, gradients, folds;
    bool coded; /* some messages go compressed */
    /* Where messages go in order on lines; else NULL. */
    struct fr_message_lines *lines;
    struct fr_message_parts *parts; /* [P][4]: across a boundary up and down, whole and small */
    double *forward_in_s, *backward_in_s; /* when a pass's input is there; < 0: not yet */
};

static bool in_order(const struct sweep *w) { return w->p->lines && w->messages; }

/* Where the ends of its passes stand: the row of its virtual stage, and its micro-batch. */
static size_t row_of(const struct sweep *w, int32_t i, const struct fr_slot *x) {
    return (size_t)fr_schedule_virtual(w->p->schedule, w->p->args.stages, i, x->chunk);
}

/* Time of the message that backward pass @p x reads. */
static double down_s(const struct sweep *w, int32_t i, const struct fr_slot *x) {
    if (!w->coded || !w->messages || !fr_pipeline_compressed(w->p, i, x->chunk, x->micro))
        return w->down_s[i];
    return w->p->stage[i].small_message_s;
}

/* Time of the message between virtual stage @p at and the next, where chunks come back: across either boundary of a
 * stage, or none. */
static double folded_lag_s(const struct sweep *w, size_t at, const struct fr_slot *x) {
    int32_t across = fr_pipeline_boundary(w->p, (int64_t)at);
    if (across < 0 || !w->messages) return 0;
    const struct fr_stage *stage = &w->p->stage[across];
    if (x->kind == FR_SLOT_FORWARD)
        return stage->small_forward_B > 0 ? stage->small_forward_s : stage->message_s;
    bool small = w->coded && fr_pipeline_small(w->p, (int64_t)at, x->micro);
    return small ? stage->small_message_s : stage->message_s;
}

/* Earliest start of slot @p x on stage @p i for its input, or < 0 while that is not there.
 *
 *     F(k, j)  after  F(k - 1, j) + message        first row: at once
 *     B(k, j)  after  B(k + 1, j) + message        last row: after F(k, j), on the same rank
 *     W(k, j)  after  B(k, j)                      on the same rank */
static double input_s(const struct sweep *w, int32_t i, const struct fr_slot *x, size_t row) {
    size_t m = (size_t)w->p->args.micro_batches, at = row * m + (size_t)x->micro;
    double ready_s, lag_s;
    if (x->kind == FR_SLOT_WEIGHT) return w->backward_end_s[at];
    if (w->lines && x->kind == FR_SLOT_FORWARD) return w->forward_in_s[at];
    if (w->lines) return w->backward_in_s[at];
    if (x->kind == FR_SLOT_FORWARD) {
        if (row == 0) return 0;
        ready_s = w->forward_end_s[at - m];
        lag_s = w->folds ? folded_lag_s(w, row - 1, x) : w->up_s[i];
    } else if (row == w->last) {
        ready_s = w->forward_end_s[at];
        lag_s = 0;
    } else {
        ready_s = w->backward_end_s[at + m];
        lag_s = w->folds ? folded_lag_s(w, row, x) : down_s(w, i, x);
    }
    return ready_s < 0 ? -1 : ready_s + lag_s;
}

double fr_pipeline_codec_s(const struct fr_pipeline *p, int32_t i, const struct fr_slot *x,
                           bool send) {
    const struct fr_stage *above = &p->stage[i],
                          *below = &p->stage[(i + p->args.stages - 1) % p->args.stages];
    bool forward = x->kind == FR_SLOT_FORWARD;
    if (send && !fr_pipeline_sends_small(p, i, x)) return 0;
    if (!send && !fr_pipeline_reads_small(p, i, x)) return 0;
    if (send) return forward ? above->forward_encode_s : below->encode_s;
    return forward ? below->forward_decode_s : above->decode_s;
}

/* The pass of @p d_s that makes the last of a chunk's gradients sends them off in buckets.  The stream's end is the
 * maximum of three lines, derived in the header: the stream was busy; the first bucket was late; the last was. */
static void send_buckets(struct sweep *w, int32_t i, double d_s, double end_s) {
    const struct fr_stage *stage = &w->p->stage[i];
    double n = stage->buckets, b_s = w->gradients ? stage->bucket_s : 0;
    w->stream_s[i] =
        fr_larger(fr_larger(w->stream_s[i], end_s - d_s + d_s / n) + n * b_s, end_s + b_s);
}

/* A backward pass that is not split takes its weight gradient's time as well, whose slot then takes none. */
static double slot_s(const struct sweep *w, int32_t i, const struct fr_slot *x) {
    const double *pass_s = w->pass_s + 3 * i;
    if (!x->whole) return pass_s[x->kind];
    return x->kind == FR_SLOT_BACKWARD ? pass_s[FR_SLOT_BACKWARD] + pass_s[FR_SLOT_WEIGHT] : 0;
}

/* Does this slot add the last of its chunk's gradients?  Asked once for each. */
static bool completes(struct sweep *w, int32_t i, const struct fr_slot *x) {
    uint8_t makes = w->p->splits_backward ? FR_SLOT_WEIGHT : FR_SLOT_BACKWARD;
    if (!w->p->stage[i].buckets || (x->whole ? x->kind != FR_SLOT_BACKWARD : x->kind != makes))
        return false;
    return ++w->made[i * w->p->args.chunks + x->chunk] == w->p->args.micro_batches;
}

/* ---- messages on lines ---------------------------------------------------------------------------- */

enum { UP_WHOLE, DOWN_WHOLE, UP_SMALL, DOWN_SMALL, KINDS };

/* Stage @p i of virtual stage @p row hands on the result of @p x. */
static void hand_on(struct sweep *w, int32_t i, const struct fr_slot *x, size_t row,
                    double end_s) {
    const struct fr_pipeline *p = w->p;
    bool forward = x->kind == FR_SLOT_FORWARD;
    size_t m = (size_t)p->args.micro_batches, at = row * m + (size_t)x->micro;
    if (x->kind == FR_SLOT_WEIGHT || (!forward && row == 0)) return;
    if (forward && row == w->last) {
        w->backward_in_s[at] = end_s;
        return;
    }
    size_t to = forward ? row + 1 : row - 1, lower = forward ? row : to,
           message = to * m + (size_t)x->micro;
    int32_t across = fr_pipeline_boundary(p, (int64_t)lower),
            kind = forward ? UP_WHOLE : DOWN_WHOLE;
    double *in_s = forward ? w->forward_in_s : w->backward_in_s;
    in_s[message] = end_s;
    if (across < 0) return;
    bool small = forward ? p->stage[across].small_forward_B > 0
                         : w->coded && fr_pipeline_small(p, (int64_t)lower, x->micro);
    const struct fr_message_parts *parts = &w->parts[KINDS * across + kind + 2 * small];
    in_s[message] += parts->alone_s;
    if (!(parts->size_B > 0)) return;
    in_s[message] = -1;
    fr_message_lines_send(
        w->lines,
        fr_line_of(p->args.stages, i,
                   fr_schedule_stage(p->schedule, p->args.stages, (int64_t)to)),
        forward ? message : (w->last + 1) * m + message, end_s, parts);
}

static void split_messages(struct sweep *w) {
    const struct fr_pipeline *p = w->p;
    for (int32_t i = 0; i < p->args.stages; i++) {
        const struct fr_stage *s = &p->stage[i];
        int32_t above = (i + 1) % p->args.stages;
        const struct fr_path *up = &p->lines->path[fr_line_of(p->args.stages, i, above)],
                             *down = &p->lines->path[fr_line_of(p->args.stages, above, i)];
        struct fr_message_parts *parts = w->parts + KINDS * i;
        parts[UP_WHOLE] = fr_message_split(up, s->message_B, s->message_s);
        parts[DOWN_WHOLE] = fr_message_split(down, s->message_B, s->message_s);
        parts[UP_SMALL] = fr_message_split(up, s->small_forward_B, s->small_forward_s);
        parts[DOWN_SMALL] = fr_message_split(down, s->small_message_B, s->small_message_s);
    }
}

/* ---- following the slots -------------------------------------------------------------------------- */

/* Does nothing but passes and whole messages, each alone, take time on stage @p i? */
static bool is_plain(const struct sweep *w, int32_t i) {
    return !w->coded && !w->folds && !w->lines && !w->p->longer_s && !w->p->stage[i].buckets;
}

/* The same as below of such a stage: the loop that searches run most. */
static int64_t advance_plain(struct sweep *w, int32_t i) {
    const size_t m = (size_t)w->p->args.micro_batches, stages = (size_t)w->p->args.stages;
    const struct fr_slot *slots = w->p->slots + i * w->p->n_slots;
    const double up_s = w->up_s[i], lower_s = w->down_s[i];
    double free_s = w->free_s[i];
    int64_t k = w->next[i];
    for (; k < w->p->n_slots; k++) {
        const struct fr_slot *x = &slots[k];
        const size_t row = (size_t)x->chunk * stages + (size_t)i,
                     at = row * m + (size_t)x->micro;
        double start_s = 0;
        if (x->kind == FR_SLOT_FORWARD)
            start_s = row == 0 ? 0 : w->forward_end_s[at - m];
        else if (x->kind == FR_SLOT_WEIGHT)
            start_s = w->backward_end_s[at];
        else
            start_s = row == w->last ? w->forward_end_s[at] : w->backward_end_s[at + m];
        if (start_s < 0) break;
        if (x->kind == FR_SLOT_FORWARD && row > 0) start_s += up_s;
        if (x->kind == FR_SLOT_BACKWARD && row < w->last) start_s += lower_s;
        free_s = (start_s < free_s ? free_s : start_s) + slot_s(w, i, x);
        if (x->kind == FR_SLOT_FORWARD) w->forward_end_s[at] = free_s;
        if (x->kind == FR_SLOT_BACKWARD) w->backward_end_s[at] = free_s;
    }
    int64_t done = k - w->next[i];
    w->next[i] = k;
    w->free_s[i] = free_s;
    return done;
}

/* Run stage @p i as far as its inputs allow. @return slots done */
static int64_t advance(struct sweep *w, int32_t i) {
    size_t m = (size_t)w->p->args.micro_batches;
    int64_t done = 0;
    if (is_plain(w, i)) return advance_plain(w, i);
    for (; w->next[i] < w->p->n_slots; w->next[i]++, done++) {
        const struct fr_slot *x = &w->p->slots[i * w->p->n_slots + w->next[i]];
        size_t row = row_of(w, i, x);
        double start_s = input_s(w, i, x, row);
        if (start_s < 0) break;
        if (start_s < w->free_s[i]) start_s = w->free_s[i];
        if (w->stream_s[i] > w->free_s[i]) /* nearly never: after a chunk's last pass */
            w->shown_s[i] += fr_smaller(start_s, w->stream_s[i]) - w->free_s[i];
        double read_s = w->codecs ? fr_pipeline_codec_s(w->p, i, x, false) : 0,
               sent_s = w->codecs ? fr_pipeline_codec_s(w->p, i, x, true) : 0;
        double longer_s = w->p->longer_s ? w->p->longer_s[i * w->p->n_slots + w->next[i]] : 0;
        /* In the engine's order where messages hold up one another, since differences of rounding grow there. */
        bool apart = w->lines && x->whole && x->kind == FR_SLOT_BACKWARD;
        double pass_s = apart ? w->pass_s[3 * i + FR_SLOT_BACKWARD] : slot_s(w, i, x),
               then_s = apart ? w->pass_s[3 * i + FR_SLOT_WEIGHT] : 0;
        w->free_s[i] = start_s + read_s + pass_s + longer_s + then_s + sent_s;
        if (completes(w, i, x))
            send_buckets(w, i, w->pass_s[3 * i + (x->whole ? FR_SLOT_WEIGHT : x->kind)],
                         w->free_s[i] - sent_s);
        size_t at = row * m + (size_t)x->micro;
        if (x->kind == FR_SLOT_FORWARD) w->forward_end_s[at] = w->free_s[i];
        if (x->kind == FR_SLOT_BACKWARD) w->backward_end_s[at] = w->free_s[i];
        if (w->lines) hand_on(w, i, x, row, w->free_s[i]);
    }
    return done;
}

static fr_status deadlock(const struct sweep *w, struct fr_error *err) {
    return fr_schedule_deadlock(&w->p->args, w->p->slots, w->p->n_slots, w->next,
                                "plan#/schedule", err);
}

/* Stages go on as their messages arrive, in order of time. */
static fr_status follow_messages(struct sweep *w, struct fr_error *err) {
    const struct fr_schedule_args *a = &w->p->args;
    size_t m = (size_t)a->micro_batches, passes = (w->last + 1) * m, message;
    int64_t left = w->p->n_slots * a->stages;
    double end_s;
    for (int32_t i = 0; i < a->stages; i++) left -= advance(w, i);
    while (fr_message_lines_next(w->lines, &message, &end_s)) {
        (message < passes ? w->forward_in_s : w->backward_in_s)[message % passes] = end_s;
        left -= advance(
            w, fr_schedule_stage(w->p->schedule, a->stages, (int64_t)(message % passes / m)));
    }
    return left > 0 ? deadlock(w, err) : FR_OK;
}

/* A topological order need not be found: going down the stages and up again meets the slots as passes travel, and a
 * stage stops where an input is not there yet. Each turn of the loop finishes at least one slot, or the order
 * deadlocks and is reported with the slots that wait for each other. */
static fr_status sweep_run(struct sweep *w, struct fr_error *err) {
    int64_t left = w->p->n_slots * w->p->args.stages;
    if (w->lines) return follow_messages(w, err);
    while (left > 0) {
        int64_t done = 0; /* down and up, as forward and backward passes travel */
        for (int32_t i = 0; i < w->p->args.stages; i++) done += advance(w, i);
        for (int32_t i = w->p->args.stages; i-- > 0;) done += advance(w, i);
        if (done == 0) return deadlock(w, err);
        left -= done;
    }
    return FR_OK;
}

/* After the last backward pass, in this order: compress gradients, all-reduce them (what buckets did not hide), sum
 * the tied embedding between the first and last stage, update.  The iteration ends with the slowest stage, since the
 * next one begins when all have updated. */
static void finish(const struct sweep *w, int with, struct fr_pipeline_times *times) {
    const struct fr_pipeline *p = w->p;
    int32_t last = p->args.stages - 1;
    double makespan_s = 0, *end_s = w->free_s;
    for (int32_t i = 0; i <= last; i++) {
        if (with & FR_WITH_CODEC) end_s[i] += p->stage[i].gradient_codec_s;
        double passes_s = end_s[i];
        if (p->stage[i].buckets)
            end_s[i] = fr_larger(end_s[i], w->stream_s[i]);
        else if (with & FR_WITH_GRADIENTS)
            end_s[i] += p->stage[i].gradient_s;
        if (times->gradient_exposed_s)
            times->gradient_exposed_s[i] = w->shown_s[i] + end_s[i] - passes_s;
    }
    if (p->embedding_s > 0) /* both ends wait for each other, however long it takes */
        end_s[0] = end_s[last] =
            fr_larger(end_s[0], end_s[last]) + (with & FR_WITH_EMBEDDING ? p->embedding_s : 0);
    for (int32_t i = 0; i <= last; i++)
        makespan_s =
            fr_larger(makespan_s, end_s[i] + p->stage[i].optimizer_s +
                                      (with & FR_WITH_OFFLOAD ? p->stage[i].offload_s : 0) +
                                      (with & FR_WITH_GRADIENTS ? p->stage[i].beside_s : 0));
    times->makespan_s = makespan_s;
}

static bool line_up(struct sweep *w, size_t passes) {
    if (!in_order(w)) return true;
    w->parts = fr_malloc(KINDS * (size_t)w->p->args.stages, sizeof *w->parts);
    w->forward_in_s = fr_malloc(2 * passes, sizeof *w->forward_in_s);
    w->lines = fr_message_lines_make(w->p->lines, 2 * passes);
    if (!w->parts || !w->forward_in_s || !w->lines) return false;
    w->backward_in_s = w->forward_in_s + passes;
    for (size_t k = 0; k < 2 * passes; k++) w->forward_in_s[k] = -1;
    for (int32_t k = 0; k < w->p->args.micro_batches; k++) w->forward_in_s[k] = 0; /* samples */
    split_messages(w);
    return true;
}

/* Follow the slots; scratch of P m numbers. */
static fr_status follow_slots(struct sweep *w, struct fr_error *err) {
    size_t stages = (size_t)w->p->args.stages, chunks = (size_t)w->p->args.chunks;
    size_t passes = stages * chunks * (size_t)w->p->args.micro_batches;
    fr_status status = FR_ERR_NOMEM;
    w->next = fr_calloc(stages, sizeof *w->next);
    w->made = fr_calloc(stages * chunks, sizeof *w->made);
    w->forward_end_s = fr_malloc(passes, sizeof *w->forward_end_s);
    w->backward_end_s = fr_malloc(passes, sizeof *w->backward_end_s);
    if (!w->next || !w->made || !w->forward_end_s || !w->backward_end_s ||
        !line_up(w, passes)) {
        fr_fail(err, FR_ERR_NOMEM, NULL, "the pipeline does not fit in memory");
    } else {
        for (size_t k = 0; k < passes; k++) w->forward_end_s[k] = w->backward_end_s[k] = -1;
        status = sweep_run(w, err);
    }
    free(w->next);
    free(w->made);
    free(w->forward_end_s);
    free(w->backward_end_s);
    fr_message_lines_free(w->lines);
    free(w->parts);
    free(w->forward_in_s);
    return status;
}

/* The same for one that alternates; its last passes send the buckets. */
static fr_status periodic(struct sweep *w, struct fr_error *err) {
    const struct fr_periodic_with with = {.messages = w->messages, .codecs = w->codecs};
    const struct fr_slot last = {.kind = FR_SLOT_BACKWARD,
                                 .micro = w->p->args.micro_batches - 1};
    FR_TRY(fr_pipeline_periodic(w->p, w->pass_s, with, w->free_s, err));
    for (int32_t i = 0; i < w->p->args.stages; i++) {
        if (!w->p->stage[i].buckets) continue;
        double sent_s = w->codecs ? fr_pipeline_codec_s(w->p, i, &last, true) : 0;
        send_buckets(w, i, w->pass_s[3 * i + FR_SLOT_BACKWARD], w->free_s[i] - sent_s);
    }
    return FR_OK;
}

/* ---- runs that were made before ------------------------------------------------------------- */

enum { RESULTS = 3 }; /* free_s, stream_s and shown_s, side by side */

/* Words that the recurrence reads of a stage: always, with messages in order, and with compressed messages. */
enum { PLAIN = 6, IN_ORDER = 1, CODED = 9 };

/* A stage that sends its buckets after all passes reads them there. */
static uint64_t *write_stage(const struct sweep *w, size_t i, uint64_t *key) {
    const struct fr_stage *s = &w->p->stage[i];
    const double *pass_s = w->pass_s + 3 * i;
    const double plain[] = {pass_s[0],    pass_s[1],  pass_s[2],
                            s->message_s, s->buckets, s->bucket_s},
                 coded[] = {s->small_message_s,  s->small_forward_s,  s->small_message_B,
                            s->small_forward_B,  s->encode_s,         s->decode_s,
                            s->forward_encode_s, s->forward_decode_s, s->sends_whole};
    _Static_assert(sizeof plain == PLAIN * sizeof *key && sizeof coded == CODED * sizeof *key,
                   "words of a stage");
    memcpy(key, plain, sizeof plain);
    key += PLAIN;
    if (in_order(w)) memcpy(key, &s->message_B, sizeof *key);
    key += in_order(w);
    if (w->coded) memcpy(key, coded, sizeof coded);
    return key + (w->coded ? CODED : 0);
}

/* All values that the recurrence reads of a pipeline, as words.  Which messages of an epilogue are compressed depends on
 * the order of passes. */
static bool write_key(const struct sweep *w, struct fr_recurrence_cache *cache) {
    const struct fr_pipeline *p = w->p;
    const struct fr_schedule_args *a = &p->args;
    const uint64_t head[] = {(uint64_t)(uintptr_t)p->schedule,
                             (uint64_t)(uintptr_t)a->order,
                             (uint64_t)a->stages,
                             (uint64_t)a->micro_batches,
                             (uint64_t)a->chunks,
                             (uint64_t)(w->messages | w->gradients << 1 |
                                        p->splits_backward << 2 | p->forward << 3 |
                                        w->codecs << 4 | p->codes_forward << 5) |
                                 (uint64_t)p->scope << 8,
                             in_order(w) ? p->lines->digest : 0};
    enum { HEAD = sizeof head / sizeof *head };
    size_t stages = (size_t)a->stages,
           each = PLAIN + (in_order(w) ? IN_ORDER : 0) + (w->coded ? CODED : 0);
    uint64_t *key = fr_recurrence_cache_key(cache, HEAD + each * stages);
    if (!key) return false;
    memcpy(key, head, sizeof head);
    key += HEAD;
    for (size_t i = 0; i < stages; i++) key = write_stage(w, i, key);
    return true;
}

/* Many plans of a search differ in keys that change no time of the recurrence (a rank order inside a node, an
 * optimizer's dtype). Their passes take the same bits, so the ends of all stages are looked up by the words of the
 * key. Passes at clocks of their own have inputs that the key lacks, hence they are never cached. */
static bool cached(const struct sweep *w, const struct fr_recurrence_cache *cache) {
    return cache && !w->p->longer_s;
}

static bool find_run(struct sweep *w, struct fr_recurrence_cache *cache) {
    size_t n = RESULTS * (size_t)w->p->args.stages;
    if (!cached(w, cache) || !write_key(w, cache)) return false;
    const double *found = fr_recurrence_cache_find(cache, n);
    if (found) memcpy(w->free_s, found, n * sizeof *found);
    return found;
}

/* ---- all of it --------------------------------------------------------------------------------- */

/* @p scratch: eight numbers a stage, zeroes */
static void begin(struct sweep *w, const struct fr_pipeline *p, int with, double *scratch) {
    size_t stages = (size_t)p->args.stages;
    *w = (struct sweep){.p = p,
                        .messages = with & FR_WITH_MESSAGES && stages > 1,
                        .codecs = with & FR_WITH_CODEC && fr_pipeline_codes(p),
                        .gradients = with & FR_WITH_GRADIENTS,
                        .folds = p->schedule->folds,
                        .coded = fr_pipeline_codes(p)};
    w->free_s = scratch;
    w->stream_s = scratch + stages;
    w->shown_s = scratch + 2 * stages;
    w->pass_s = scratch + 3 * stages;
    w->up_s = scratch + 6 * stages;
    w->down_s = scratch + 7 * stages;
    w->last = stages * (size_t)p->args.chunks - 1;
    for (size_t i = 0; w->messages && i < stages; i++) {
        w->up_s[(i + 1) % stages] = p->stage[i].small_forward_B > 0
                                        ? p->stage[i].small_forward_s
                                        : p->stage[i].message_s;
        w->down_s[i] = p->stage[i].message_s;
    }
    for (int32_t i = 0; i < p->args.stages; i++)
        for (uint8_t kind = 0; kind < 3; kind++)
            w->pass_s[3 * i + kind] = p->stage[i].repeats
                                          ? w->pass_s[3 * (i - 1) + kind]
                                          : fr_pipeline_pass_s(p, i, kind, with);
}

/* Plain 1F1B repeats itself: after the first P micro-batches each stage alternates one forward and one backward pass.
 * The periodic form (models/outcome/periodic.h) needs P numbers and a tenth of the time. Following slots needs P m. */
static fr_status run_sweep(struct sweep *w, struct fr_recurrence_cache *cache,
                           struct fr_error *err) {
    if (find_run(w, cache)) return FR_OK;
    bool simple = fr_pipeline_is_periodic(w->p) && !w->p->longer_s && !in_order(w);
    FR_TRY(simple ? periodic(w, err) : follow_slots(w, err));
    if (cached(w, cache))
        fr_recurrence_cache_keep(cache, w->free_s, RESULTS * (size_t)w->p->args.stages);
    return FR_OK;
}

static double *make_scratch(const struct fr_pipeline *p) {
    return fr_calloc(8 * (size_t)p->args.stages, sizeof(double));
}

fr_status fr_pipeline_run(const struct fr_pipeline *p, int with,
                          struct fr_pipeline_times *times, struct fr_error *err) {
    struct sweep w;
    if (p->duplex)
        return fr_fail(
            err, FR_ERR_UNSUPPORTED, "plan#/p2p",
            "blocking exchanges are priced by the event engine only (forerun simulate)");
    double *scratch = make_scratch(p);
    if (!scratch)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the pipeline does not fit in memory");
    begin(&w, p, with, scratch);
    fr_status status = run_sweep(&w, times->cache, err);
    if (status == FR_OK) finish(&w, with, times);
    free(scratch);
    return status;
}

bool fr_pipeline_ran(const struct fr_pipeline *p, int with, struct fr_pipeline_times *times) {
    struct sweep w;
    double *scratch = p->duplex ? NULL : make_scratch(p);
    if (!scratch) return false;
    begin(&w, p, with, scratch);
    bool found = find_run(&w, times->cache);
    if (found) finish(&w, with, times);
    free(scratch);
    return found;
}
