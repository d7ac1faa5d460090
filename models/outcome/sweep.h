/** @file
 *  The state of one evaluation of the recurrence (models/outcome/recurrence.h), for the files that make it.
 *
 *  Virtual stage k of P v is row k, so that "the stage before" is one row up whatever the schedule;
 *  fr_schedule_virtual maps (stage, chunk) to its row. */
#ifndef FR_MODELS_OUTCOME_SWEEP_H
#define FR_MODELS_OUTCOME_SWEEP_H

#include "models/outcome/messages/unshared.h"
#include "models/outcome/recurrence.h"

/** How messages go: each alone; in order on lines that share nothing (messages/unshared.h); in order on lines that
 *  share links (messages/message_lines.h). */
enum fr_sweep_mode { FR_SWEEP_ALONE, FR_SWEEP_UNSHARED, FR_SWEEP_SHARED };

/** A message across a boundary. */
enum { FR_UP_WHOLE, FR_DOWN_WHOLE, FR_UP_SMALL, FR_DOWN_SMALL, FR_MESSAGE_KINDS };

/** The last pass that adds to a chunk's gradients: its end and its time. */
struct fr_gradients_made {
    double end_s, pass_s;
};

struct fr_sweep {
    const struct fr_pipeline *p;
    int64_t *next; /**< [P]: slot of the pipeline's order */
    /** End times of passes by virtual stage and micro-batch; < 0: not yet.  Forward ones where messages go alone. */
    double *forward_end_s, *backward_end_s;
    double *free_s; /**< [P] */
    double *pass_s; /**< [P][3]: of one chunk, by slot kind */
    double *met;    /**< [1]: not 0: unshared messages met, so the times are bounds */
    struct fr_gradients_made *made; /**< [P][v] */
    double *up_s, *down_s; /**< [P]: of the message that a pass reads, not compressed */
    int32_t *order;        /**< [v]: chunks as their gradients are made */
    double *apart_s;       /**< [P]: the shortest pass whose end sends a message */
    size_t last;           /**< virtual stage */
    bool messages;         /**< do they take time?  Chunks of one rank hand over without one */
    bool codecs, folds;
    bool coded; /**< some messages go compressed */
    enum fr_sweep_mode mode;
    /* Where messages go in order on lines: */
    struct fr_message_lines *lines; /**< shared */
    struct fr_unshared unshared;
    struct fr_message_parts
        *parts; /**< [P][FR_MESSAGE_KINDS]: across the boundary above a stage */
    double *forward_in_s, *backward_in_s; /**< when a pass's input is there; < 0: not yet */
};

/** Results of a sweep, side by side from free_s on: free_s, met and made. */
static inline size_t fr_sweep_results(const struct fr_sweep *w) {
    return (size_t)w->p->args.stages * (1 + 2 * (size_t)w->p->args.chunks) + 1;
}

/** Do the messages go in order? */
static inline bool fr_sweep_in_order(const struct fr_sweep *w) {
    return w->p->lines && w->messages;
}

/** Scratch memory for messages in order of @p passes passes each way; @p inputs: of the slots that read them, too.
 *  @return false without memory.  Release with fr_sweep_leave, also then. */
bool fr_sweep_line_up(struct fr_sweep *w, size_t passes, bool inputs);
void fr_sweep_leave(struct fr_sweep *w);

/** A message of these @p parts goes over @p line, ready at @p end_s.
 *  @param message  that shared lines know it by: its place in forward_in_s, or behind these in backward_in_s
 *  @return when it is there [s]; -1: fr_message_lines_next will say */
static inline double fr_sweep_send(struct fr_sweep *w, int32_t line,
                                   const struct fr_message_parts *parts, size_t message,
                                   double end_s) {
    if (!(parts->size_B > 0)) return end_s + parts->alone_s;
    if (w->mode == FR_SWEEP_UNSHARED)
        return fr_unshared_send(&w->unshared.line[line], end_s, parts);
    fr_message_lines_send(w->lines, line, message, end_s, parts);
    return -1;
}

/** Stage @p i of virtual stage @p row hands on the result of @p x over lines. */
void fr_sweep_hand_on(struct fr_sweep *w, int32_t i, const struct fr_slot *x, size_t row,
                      double end_s);

/** Write down all values that the recurrence reads of a pipeline, as the key of @p cache.  @return false without memory */
bool fr_sweep_write_key(const struct fr_sweep *w, struct fr_recurrence_cache *cache);

#endif
