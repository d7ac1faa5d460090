/* The exact recurrence over a pipeline's passes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/extremes.h"
#include "models/outcome/periodic.h"
#include "models/outcome/sweep.h"
#include "models/plan/schedule_order.h"

/* ---- the recurrence ---------------------------------------------------------------------- */

/* Where the ends of its passes stand: the row of its virtual stage, and its micro-batch. */
static size_t row_of(const struct fr_sweep *w, int32_t i, const struct fr_slot *x) {
    return (size_t)fr_schedule_virtual(w->p->schedule, w->p->args.stages, i, x->chunk);
}

/* Time of the message that backward pass @p x reads. */
static double down_s(const struct fr_sweep *w, int32_t i, const struct fr_slot *x) {
    if (!w->coded || !w->messages || !fr_pipeline_compressed(w->p, i, x->chunk, x->micro))
        return w->down_s[i];
    return w->p->stage[i].small_message_s;
}

/* Time of the message between virtual stage @p at and the next, where chunks come back: across either boundary of a
 * stage, or none. */
static double folded_lag_s(const struct fr_sweep *w, size_t at, const struct fr_slot *x) {
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
static double input_s(const struct fr_sweep *w, int32_t i, const struct fr_slot *x,
                      size_t row) {
    size_t m = (size_t)w->p->args.micro_batches, at = row * m + (size_t)x->micro;
    double ready_s, lag_s;
    if (x->kind == FR_SLOT_WEIGHT) return w->backward_end_s[at];
    if (w->mode != FR_SWEEP_ALONE)
        return (x->kind == FR_SLOT_FORWARD ? w->forward_in_s : w->backward_in_s)[at];
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

/* The last pass that adds to a chunk's gradients sends them off in buckets (finish): it is the one noted last. */
static void note_gradients(struct fr_sweep *w, int32_t i, const struct fr_slot *x,
                           double end_s) {
    const uint8_t makes = w->p->splits_backward ? FR_SLOT_WEIGHT : FR_SLOT_BACKWARD;
    if (x->kind != (x->whole ? FR_SLOT_BACKWARD : makes)) return;
    w->made[i * w->p->args.chunks + x->chunk] = (struct fr_gradients_made){
        end_s, w->pass_s[3 * i + (x->whole ? FR_SLOT_WEIGHT : x->kind)]};
}

/* A backward pass that is not split takes its weight gradient's time as well, whose slot then takes none. */
static double slot_s(const struct fr_sweep *w, int32_t i, const struct fr_slot *x) {
    const double *pass_s = w->pass_s + 3 * i;
    if (!x->whole) return pass_s[x->kind];
    return x->kind == FR_SLOT_BACKWARD ? pass_s[FR_SLOT_BACKWARD] + pass_s[FR_SLOT_WEIGHT] : 0;
}

/* ---- following the slots -------------------------------------------------------------------------- */

/* Does nothing but passes and whole messages take time? */
static bool is_plain(const struct fr_sweep *w) {
    return !w->coded && !w->folds && !w->p->longer_s;
}

/* The same as below of such a stage: the loop that searches run most. */
static int64_t advance_plain(struct fr_sweep *w, int32_t i) {
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
        note_gradients(w, i, x, free_s);
    }
    int64_t done = k - w->next[i];
    w->next[i] = k;
    w->free_s[i] = free_s;
    return done;
}

/* The same of such a stage whose messages go over lines.  Sums are in the engine's order, since differences of rounding
 * grow where messages hold up one another. */
static int64_t advance_lined(struct fr_sweep *w, int32_t i) {
    const int32_t stages = w->p->args.stages, below = (i + stages - 1) % stages,
                  up = fr_line_of(stages, i, (i + 1) % stages),
                  down = fr_line_of(stages, i, below);
    const struct fr_message_parts *sent_up = &w->parts[FR_MESSAGE_KINDS * i + FR_UP_WHOLE],
                                  *sent_down =
                                      &w->parts[FR_MESSAGE_KINDS * below + FR_DOWN_WHOLE];
    const size_t m = (size_t)w->p->args.micro_batches, passes = (w->last + 1) * m;
    const struct fr_slot *slots = w->p->slots + i * w->p->n_slots;
    const double *pass_s = w->pass_s + 3 * i;
    double free_s = w->free_s[i];
    int64_t k = w->next[i];
    for (; k < w->p->n_slots; k++) {
        const struct fr_slot *x = &slots[k];
        const size_t row = (size_t)x->chunk * (size_t)stages + (size_t)i,
                     at = row * m + (size_t)x->micro;
        double start_s = x->kind == FR_SLOT_FORWARD  ? w->forward_in_s[at]
                         : x->kind == FR_SLOT_WEIGHT ? w->backward_end_s[at]
                                                     : w->backward_in_s[at];
        if (start_s < 0) break;
        start_s = fr_larger(start_s, free_s);
        free_s = start_s + (x->whole && x->kind == FR_SLOT_WEIGHT ? 0 : pass_s[x->kind]);
        if (x->whole && x->kind == FR_SLOT_BACKWARD) free_s += pass_s[FR_SLOT_WEIGHT];
        note_gradients(w, i, x, free_s);
        if (x->kind == FR_SLOT_BACKWARD) w->backward_end_s[at] = free_s;
        if (x->kind == FR_SLOT_FORWARD && row == w->last)
            w->backward_in_s[at] = free_s;
        else if (x->kind == FR_SLOT_FORWARD)
            w->forward_in_s[at + m] = fr_sweep_send(w, up, sent_up, at + m, free_s);
        else if (x->kind == FR_SLOT_BACKWARD && row > 0)
            w->backward_in_s[at - m] =
                fr_sweep_send(w, down, sent_down, passes + at - m, free_s);
    }
    int64_t done = k - w->next[i];
    w->next[i] = k;
    w->free_s[i] = free_s;
    return done;
}

/* Run stage @p i as far as its inputs allow. @return slots done */
static int64_t advance(struct fr_sweep *w, int32_t i) {
    size_t m = (size_t)w->p->args.micro_batches;
    int64_t done = 0;
    if (is_plain(w)) return (w->mode == FR_SWEEP_ALONE ? advance_plain : advance_lined)(w, i);
    for (; w->next[i] < w->p->n_slots; w->next[i]++, done++) {
        const struct fr_slot *x = &w->p->slots[i * w->p->n_slots + w->next[i]];
        size_t row = row_of(w, i, x);
        double start_s = input_s(w, i, x, row);
        if (start_s < 0) break;
        if (start_s < w->free_s[i]) start_s = w->free_s[i];
        double read_s = w->codecs ? fr_pipeline_codec_s(w->p, i, x, false) : 0,
               sent_s = w->codecs ? fr_pipeline_codec_s(w->p, i, x, true) : 0;
        double longer_s = w->p->longer_s ? w->p->longer_s[i * w->p->n_slots + w->next[i]] : 0;
        /* In the engine's order where messages hold up one another, since differences of rounding grow there. */
        bool apart = w->mode != FR_SWEEP_ALONE && x->whole && x->kind == FR_SLOT_BACKWARD;
        double pass_s = apart ? w->pass_s[3 * i + FR_SLOT_BACKWARD] : slot_s(w, i, x),
               then_s = apart ? w->pass_s[3 * i + FR_SLOT_WEIGHT] : 0;
        w->free_s[i] = start_s + read_s + pass_s + longer_s + then_s + sent_s;
        note_gradients(w, i, x, w->free_s[i] - sent_s);
        size_t at = row * m + (size_t)x->micro;
        if (x->kind == FR_SLOT_FORWARD) w->forward_end_s[at] = w->free_s[i];
        if (x->kind == FR_SLOT_BACKWARD) w->backward_end_s[at] = w->free_s[i];
        if (w->mode != FR_SWEEP_ALONE) fr_sweep_hand_on(w, i, x, row, w->free_s[i]);
    }
    return done;
}

static fr_status deadlock(const struct fr_sweep *w, struct fr_error *err) {
    return fr_schedule_deadlock(&w->p->args, w->p->slots, w->p->n_slots, w->next,
                                "plan#/schedule", err);
}

/* Stages go on as their messages arrive, in order of time. */
static fr_status follow_messages(struct fr_sweep *w, struct fr_error *err) {
    const struct fr_schedule_args *a = &w->p->args;
    int64_t left = w->p->n_slots * a->stages;
    size_t message;
    int32_t to;
    double end_s;
    for (int32_t i = 0; i < a->stages; i++) left -= advance(w, i);
    while (fr_message_lines_next(w->lines, &message, &to, &end_s)) {
        w->forward_in_s[message] = end_s; /* or behind these, backward_in_s */
        left -= advance(w, to);
    }
    return left > 0 ? deadlock(w, err) : FR_OK;
}

/* A topological order need not be found: going down the stages and up again meets the slots as passes travel, and a
 * stage stops where an input is not there yet. Each turn of the loop finishes at least one slot, or the order
 * deadlocks and is reported with the slots that wait for each other. */
static fr_status sweep_run(struct fr_sweep *w, struct fr_error *err) {
    int64_t left = w->p->n_slots * w->p->args.stages;
    if (w->mode == FR_SWEEP_SHARED) return follow_messages(w, err);
    while (left > 0) {
        int64_t done = 0; /* down and up, as forward and backward passes travel */
        for (int32_t i = 0; i < w->p->args.stages; i++) done += advance(w, i);
        for (int32_t i = w->p->args.stages; i-- > 0;) done += advance(w, i);
        if (done == 0) return deadlock(w, err);
        left -= done;
    }
    return FR_OK;
}

/* A chunk's gradients come out of the last pass that adds to them, of d seconds.  The stream's end is then the maximum of
 * three lines, derived in the header: the stream was busy; the first bucket was late; the last was. */
static double send_buckets(const struct fr_stage *stage, struct fr_gradients_made made,
                           double b_s, double stream_s) {
    double n = stage->buckets;
    return fr_larger(fr_larger(stream_s, made.end_s - made.pass_s + made.pass_s / n) + n * b_s,
                     made.end_s + b_s);
}

/* When the buckets of all chunks of stage @p i are over: one chunk after another, as they are made. */
static double stream_end_s(const struct fr_sweep *w, int32_t i, double b_s) {
    const int32_t chunks = w->p->args.chunks;
    const struct fr_gradients_made *made = w->made + i * chunks;
    double stream_s = 0;
    if (w->p->forward) return 0;
    for (int32_t k = 0; k < chunks; k++) {
        int32_t before = 0; /* chunks */
        for (int32_t c = 0; c < chunks; c++)
            before += c < k ? made[c].end_s <= made[k].end_s : made[c].end_s < made[k].end_s;
        w->order[before] = k;
    }
    for (int32_t k = 0; k < chunks; k++)
        stream_s = send_buckets(&w->p->stage[i], made[w->order[k]], b_s, stream_s);
    return stream_s;
}

/* After the last backward pass, in this order: compress gradients, all-reduce them (what buckets did not hide), sum
 * the tied embedding between the first and last stage, update.  The iteration ends with the slowest stage, since the
 * next one begins when all have updated. */
static void finish(const struct fr_sweep *w, int with, struct fr_pipeline_times *times) {
    const struct fr_pipeline *p = w->p;
    int32_t last = p->args.stages - 1;
    double makespan_s = 0, *end_s = w->free_s;
    for (int32_t i = 0; i <= last; i++) {
        if (with & FR_WITH_CODEC) end_s[i] += p->stage[i].gradient_codec_s;
        if (p->stage[i].buckets)
            end_s[i] = fr_larger(
                end_s[i],
                stream_end_s(w, i, with & FR_WITH_GRADIENTS ? p->stage[i].bucket_s : 0));
        else if (with & FR_WITH_GRADIENTS)
            end_s[i] += p->stage[i].gradient_s;
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

/* Follow the slots; scratch of P m numbers. */
static fr_status follow_slots(struct fr_sweep *w, struct fr_error *err) {
    size_t stages = (size_t)w->p->args.stages, chunks = (size_t)w->p->args.chunks;
    size_t passes = stages * chunks * (size_t)w->p->args.micro_batches;
    fr_status status = FR_ERR_NOMEM;
    w->next = fr_calloc(stages, sizeof *w->next);
    w->forward_end_s = fr_malloc(passes, sizeof *w->forward_end_s);
    w->backward_end_s = fr_malloc(passes, sizeof *w->backward_end_s);
    if (!w->next || !w->forward_end_s || !w->backward_end_s ||
        (w->mode != FR_SWEEP_ALONE && !fr_sweep_line_up(w, passes, true))) {
        fr_fail(err, FR_ERR_NOMEM, NULL, "the pipeline does not fit in memory");
    } else {
        for (size_t k = 0; k < passes; k++) w->forward_end_s[k] = w->backward_end_s[k] = -1;
        status = sweep_run(w, err);
    }
    free(w->next);
    free(w->forward_end_s);
    free(w->backward_end_s);
    return status;
}

/* The same for one that alternates; its last passes make the gradients. */
static fr_status periodic(struct fr_sweep *w, struct fr_error *err) {
    struct fr_periodic_with with = {.messages = w->messages, .codecs = w->codecs};
    const struct fr_slot last = {.kind = FR_SLOT_BACKWARD,
                                 .micro = w->p->args.micro_batches - 1};
    if (w->mode == FR_SWEEP_UNSHARED) {
        if (!fr_sweep_line_up(w, 0, false))
            return fr_fail(err, FR_ERR_NOMEM, NULL, "the pipeline does not fit in memory");
        with.unshared = &w->unshared;
        with.parts = w->parts;
    }
    FR_TRY(fr_pipeline_periodic(w->p, w->pass_s, with, w->free_s, err));
    for (int32_t i = 0; i < w->p->args.stages; i++)
        note_gradients(w, i, &last,
                       w->free_s[i] -
                           (w->codecs ? fr_pipeline_codec_s(w->p, i, &last, true) : 0));
    return FR_OK;
}

/* ---- runs that were made before ------------------------------------------------------------- */

/* Many plans of a search differ in keys that change no time of the recurrence (a rank order inside a node, an
 * optimizer's dtype). Their passes take the same bits, so the ends of all stages are looked up by the words of the
 * key. Passes at clocks of their own have inputs that the key lacks, hence they are never cached. */
static bool cached(const struct fr_sweep *w, const struct fr_recurrence_cache *cache) {
    return cache && !w->p->longer_s;
}

static bool find_run(struct fr_sweep *w, struct fr_recurrence_cache *cache) {
    size_t n = fr_sweep_results(w);
    if (!cached(w, cache) || !fr_sweep_write_key(w, cache)) return false;
    const double *found = fr_recurrence_cache_find(cache, n);
    if (found) memcpy(w->free_s, found, n * sizeof *found);
    return found;
}

/* ---- all of it --------------------------------------------------------------------------------- */

/* Numbers of scratch, zeroes. */
static size_t scratch_of(const struct fr_pipeline *p) {
    size_t stages = (size_t)p->args.stages, chunks = (size_t)p->args.chunks;
    return stages * (7 + 2 * chunks) + 1 + chunks;
}

static void begin(struct fr_sweep *w, const struct fr_pipeline *p, int with, double *scratch) {
    size_t stages = (size_t)p->args.stages;
    *w = (struct fr_sweep){.p = p,
                           .messages = with & FR_WITH_MESSAGES && stages > 1,
                           .codecs = with & FR_WITH_CODEC && fr_pipeline_codes(p),
                           .folds = p->schedule->folds,
                           .coded = fr_pipeline_codes(p)};
    w->free_s = scratch;
    w->met = scratch + stages;
    w->made = (void *)(w->met + 1);
    w->pass_s = w->met + 1 + 2 * stages * (size_t)p->args.chunks;
    w->up_s = w->pass_s + 3 * stages;
    w->down_s = w->up_s + stages;
    w->apart_s = w->down_s + stages;
    w->order = (void *)(w->apart_s + stages);
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
    for (int32_t i = 0; fr_sweep_in_order(w) && !p->longer_s && i < p->args.stages; i++) {
        const double *pass_s = w->pass_s + 3 * i;
        w->apart_s[i] = p->forward
                            ? pass_s[FR_SLOT_FORWARD]
                            : fr_smaller(pass_s[FR_SLOT_FORWARD], pass_s[FR_SLOT_BACKWARD]);
    }
}

/* Plain 1F1B repeats itself: after the first P micro-batches each stage alternates one forward and one backward pass.
 * The periodic form (models/outcome/periodic.h) needs P numbers and a tenth of the time. Following slots needs P m. */
static bool has_periodic_form(const struct fr_pipeline *p, enum fr_sweep_mode mode) {
    bool unshared = mode == FR_SWEEP_UNSHARED && !fr_pipeline_codes(p);
    return fr_pipeline_is_periodic(p) && !p->longer_s && (mode == FR_SWEEP_ALONE || unshared);
}

bool fr_pipeline_needs_order(const struct fr_pipeline *p, bool bound) {
    return !has_periodic_form(p, !p->lines ? FR_SWEEP_ALONE
                                 : bound   ? FR_SWEEP_UNSHARED
                                           : FR_SWEEP_SHARED);
}

/* In its mode, looked up or made anew. */
static fr_status make_run(struct fr_sweep *w, struct fr_recurrence_cache *cache,
                          struct fr_error *err) {
    if (find_run(w, cache)) return FR_OK;
    fr_status status =
        has_periodic_form(w->p, w->mode) ? periodic(w, err) : follow_slots(w, err);
    if (status == FR_OK && w->mode == FR_SWEEP_UNSHARED)
        *w->met = fr_unshared_meet(&w->unshared, w->apart_s);
    fr_sweep_leave(w);
    if (status == FR_OK && cached(w, cache))
        fr_recurrence_cache_keep(cache, w->free_s, fr_sweep_results(w));
    return status;
}

static fr_status only_find(struct fr_sweep *w, struct fr_recurrence_cache *cache,
                           struct fr_error *err) {
    (void)err;
    return find_run(w, cache) ? FR_OK : FR_ERR_INPUT;
}

typedef fr_status get_run(struct fr_sweep *w, struct fr_recurrence_cache *cache,
                          struct fr_error *err);

/* Messages in order are first priced as if they shared no link, which nearly always is the whole of it. */
static fr_status run_sweep(struct fr_sweep *w, get_run *get, struct fr_pipeline_times *times,
                           struct fr_error *err) {
    w->mode = fr_sweep_in_order(w) ? FR_SWEEP_UNSHARED : FR_SWEEP_ALONE;
    FR_TRY(get(w, times->cache, err));
    times->is_bound = *w->met > 0;
    if (!times->is_bound || times->bound) return FR_OK;
    memset(w->free_s, 0, fr_sweep_results(w) * sizeof *w->free_s);
    w->mode = FR_SWEEP_SHARED;
    times->is_bound = false;
    return get(w, times->shared, err);
}

fr_status fr_pipeline_run(const struct fr_pipeline *p, int with,
                          struct fr_pipeline_times *times, struct fr_error *err) {
    struct fr_sweep w;
    if (p->duplex)
        return fr_fail(
            err, FR_ERR_UNSUPPORTED, "plan#/p2p",
            "blocking exchanges are priced by the event engine only (forerun simulate)");
    double *scratch = fr_calloc(scratch_of(p), sizeof *scratch);
    if (!scratch)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the pipeline does not fit in memory");
    begin(&w, p, with, scratch);
    fr_status status = run_sweep(&w, make_run, times, err);
    if (status == FR_OK) finish(&w, with, times);
    free(scratch);
    return status;
}

bool fr_pipeline_ran(const struct fr_pipeline *p, int with, struct fr_pipeline_times *times) {
    struct fr_sweep w;
    double *scratch = p->duplex ? NULL : fr_calloc(scratch_of(p), sizeof *scratch);
    if (!scratch) return false;
    begin(&w, p, with, scratch);
    bool found = run_sweep(&w, only_find, times, NULL) == FR_OK;
    if (found) finish(&w, with, times);
    free(scratch);
    return found;
}
