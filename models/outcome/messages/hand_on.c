/* Messages of a sweep on lines. */
#include <stdlib.h>

#include "base/alloc.h"
#include "models/outcome/sweep.h"

static void split_messages(struct fr_sweep *w) {
    const struct fr_pipeline *p = w->p;
    for (int32_t i = 0; i < p->args.stages; i++) {
        const struct fr_stage *s = &p->stage[i];
        int32_t above = (i + 1) % p->args.stages;
        const struct fr_path *up = &p->lines->path[fr_line_of(p->args.stages, i, above)],
                             *down = &p->lines->path[fr_line_of(p->args.stages, above, i)];
        struct fr_message_parts *parts = w->parts + FR_MESSAGE_KINDS * i;
        parts[FR_UP_WHOLE] = fr_message_split(up, s->message_B, s->message_s);
        parts[FR_DOWN_WHOLE] = fr_message_split(down, s->message_B, s->message_s);
        parts[FR_UP_SMALL] = fr_message_split(up, s->small_forward_B, s->small_forward_s);
        parts[FR_DOWN_SMALL] = fr_message_split(down, s->small_message_B, s->small_message_s);
    }
}

static void wait_for_inputs(struct fr_sweep *w, size_t passes) {
    for (size_t k = 0; k < 2 * passes; k++) w->forward_in_s[k] = -1;
    for (int32_t k = 0; k < w->p->args.micro_batches; k++) w->forward_in_s[k] = 0; /* samples */
    w->backward_in_s = w->forward_in_s + passes;
}

bool fr_sweep_line_up(struct fr_sweep *w, size_t passes, bool inputs) {
    const struct fr_schedule_args *a = &w->p->args;
    size_t each = (size_t)a->micro_batches * (size_t)a->chunks;
    w->parts = fr_malloc(FR_MESSAGE_KINDS * (size_t)a->stages, sizeof *w->parts);
    if (!w->parts) return false;
    split_messages(w);
    if (inputs) {
        w->forward_in_s = fr_malloc(2 * passes, sizeof *w->forward_in_s);
        if (!w->forward_in_s) return false;
        wait_for_inputs(w, passes);
    }
    /* Two stages have one line each way, for both kinds. */
    if (w->mode == FR_SWEEP_UNSHARED)
        return fr_unshared_make(w->p->lines, a->stages > 2 ? each : 2 * each, &w->unshared);
    w->lines = fr_message_lines_make(w->p->lines, 2 * passes);
    return w->lines;
}

void fr_sweep_leave(struct fr_sweep *w) {
    fr_message_lines_free(w->lines);
    fr_unshared_free(&w->unshared);
    free(w->parts);
    free(w->forward_in_s);
    w->lines = NULL;
    w->unshared = (struct fr_unshared){.lines = NULL};
    w->parts = NULL;
    w->forward_in_s = NULL;
}

void fr_sweep_hand_on(struct fr_sweep *w, int32_t i, const struct fr_slot *x, size_t row,
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
            kind = forward ? FR_UP_WHOLE : FR_DOWN_WHOLE;
    double *in_s = (forward ? w->forward_in_s : w->backward_in_s) + message;
    *in_s = end_s;
    if (across < 0) return;
    bool small = forward ? p->stage[across].small_forward_B > 0
                         : w->coded && fr_pipeline_small(p, (int64_t)lower, x->micro);
    const struct fr_message_parts *parts =
        &w->parts[FR_MESSAGE_KINDS * across + kind + 2 * small];
    int32_t line = fr_line_of(p->args.stages, i,
                              fr_schedule_stage(p->schedule, p->args.stages, (int64_t)to));
    *in_s =
        fr_sweep_send(w, line, parts, forward ? message : (w->last + 1) * m + message, end_s);
}
