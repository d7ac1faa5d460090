#include "models/outcome/periodic.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "models/outcome/sweep.h"

bool fr_pipeline_is_periodic(const struct fr_pipeline *p) {
    bool form = p->schedule->warm_up > 0 || p->schedule->phases;
    return form && !p->forward && p->args.chunks == 1 && p->args.micro_batches < 1 << 28 &&
           p->args.stages < 1 << 24;
}

/* One stage: when it is free, and when the last message of each kind that it sent arrives.  A
 * stage before the first and one after the last have sent theirs before anything began. */
struct stage {
    double free_s, forward_s, backward_s;   /* times */
    double forward_pass_s, backward_pass_s; /* durations */
    double forward_lag_s, backward_lag_s;   /* of the messages it sends */
};

/* Where messages go compressed.  Forward all across a boundary do or none.  Backward a stage reads those from
 * one micro-batch on, and sends those from another on. */
struct coded {
    int64_t reads_from, sends_from; /* micro-batch; m: none */
    double forward_read_s, forward_send_s;
    double decode_s, encode_s, small_lag_s; /* of backward messages that do */
};

static void step_forward(struct stage *s) {
    double start_s = s[-1].forward_s > s->free_s ? s[-1].forward_s : s->free_s;
    s->free_s = start_s + s->forward_pass_s;
    s->forward_s = s->free_s + s->forward_lag_s;
}

static void step_backward(struct stage *s) {
    double start_s = s[1].backward_s > s->free_s ? s[1].backward_s : s->free_s;
    s->free_s = start_s + s->backward_pass_s;
    s->backward_s = s->free_s + s->backward_lag_s;
}

/* Summed in the order of the recurrence, so that both round alike. */
static void step_forward_coded(struct stage *s, const struct coded *c) {
    double start_s = s[-1].forward_s > s->free_s ? s[-1].forward_s : s->free_s;
    s->free_s = start_s + c->forward_read_s + s->forward_pass_s + c->forward_send_s;
    s->forward_s = s->free_s + s->forward_lag_s;
}

static void step_backward_coded(struct stage *s, const struct coded *c, int64_t micro) {
    double start_s = s[1].backward_s > s->free_s ? s[1].backward_s : s->free_s;
    bool sends = micro >= c->sends_from;
    double read_s = micro >= c->reads_from ? c->decode_s : 0, send_s = sends ? c->encode_s : 0;
    s->free_s = start_s + read_s + s->backward_pass_s + send_s;
    s->backward_s = s->free_s + (sends ? c->small_lag_s : s->backward_lag_s);
}

/* A line, and what goes over it; NULL: each message goes alone. */
struct way {
    struct fr_unshared_line *line;
    const struct fr_message_parts *parts;
};

/* Over which lines a stage sends. */
struct lined {
    struct way up, down;
};

static void step_forward_lined(struct stage *s, const struct way *up) {
    double start_s = s[-1].forward_s > s->free_s ? s[-1].forward_s : s->free_s;
    s->free_s = start_s + s->forward_pass_s;
    s->forward_s = up->line ? fr_unshared_send(up->line, s->free_s, up->parts)
                            : s->free_s + s->forward_lag_s;
}

static void step_backward_lined(struct stage *s, const struct way *down) {
    double start_s = s[1].backward_s > s->free_s ? s[1].backward_s : s->free_s;
    s->free_s = start_s + s->backward_pass_s;
    s->backward_s = down->line ? fr_unshared_send(down->line, s->free_s, down->parts)
                               : s->free_s + s->backward_lag_s;
}

/* Whole part of a / b, b > 0, also of a negative a. */
static int64_t below(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

/* Ticks: e k + d i forward, e j + turn - d i backward, e = 1 or 2. */
struct ticks {
    int64_t e, d, turn, P, m;
    const struct coded *coded; /* [P], or NULL */
    const struct lined *lined; /* [P], or NULL */
};

/* Step between the stages of one tick, where stages are e apart in their ticks: each, every second, or none. */
static int64_t step_of(const struct ticks *x, int64_t since) {
    if (x->e == 1) return 1;
    if (x->d % 2) return 2;
    return since % 2 ? 0 : 1;
}

/* Stages with t - d i in [0, e m), a multiple of e.  Upwards they could read what this tick
 * wrote, so downwards. */
static void forward_tick(struct stage *s, const struct ticks *x, int64_t t) {
    int64_t high = below(t, x->d), low = below(t - x->e * x->m, x->d) + 1;
    int64_t step = step_of(x, t);
    if (high > x->P - 1) high = x->P - 1;
    if (low < 0) low = 0;
    if (step == 0) return;
    if (step == 2 && (t - high) % 2 != 0) high--;
    if (x->coded)
        for (int64_t i = high; i >= low; i -= step) step_forward_coded(&s[i], &x->coded[i]);
    else if (x->lined)
        for (int64_t i = high; i >= low; i -= step) step_forward_lined(&s[i], &x->lined[i].up);
    else
        for (int64_t i = high; i >= low; i -= step) step_forward(&s[i]);
}

/* Likewise t - turn + d i in [0, e m), upwards. */
static void backward_tick(struct stage *s, const struct ticks *x, int64_t t) {
    int64_t since = t - x->turn, step = step_of(x, since);
    int64_t low = -below(since, x->d), high = below(x->e * x->m - 1 - since, x->d);
    if (low < 0) low = 0;
    if (high > x->P - 1) high = x->P - 1;
    if (step == 0) return;
    if (step == 2 && (since + low) % 2 != 0) low++;
    if (x->coded)
        for (int64_t i = low; i <= high; i += step)
            step_backward_coded(&s[i], &x->coded[i], (since + x->d * i) / x->e);
    else if (x->lined)
        for (int64_t i = low; i <= high; i += step)
            step_backward_lined(&s[i], &x->lined[i].down);
    else
        for (int64_t i = low; i <= high; i += step) step_backward(&s[i]);
}

static struct ticks ticks_of(const struct fr_pipeline *p) {
    int64_t P = p->args.stages, m = p->args.micro_batches, d = p->schedule->warm_up;
    if (p->schedule->phases) return (struct ticks){1, 1, m + 2 * (P - 1), P, m, NULL, NULL};
    return (struct ticks){2, d, 2 * d * (P - 1) + 1, P, m, NULL, NULL};
}

/* Micro-batch from which backward messages that stage @p i reads go compressed. */
static int64_t reads_from(const struct fr_pipeline *p, int32_t i) {
    int32_t m = p->args.micro_batches;
    if (i < 0 || i >= p->args.stages - 1 || !fr_pipeline_compressed(p, i, 0, m - 1)) return m;
    return p->scope == FR_SCOPE_ALL ? 0 : m - (p->args.stages - 1 - i);
}

static void code(const struct fr_pipeline *p, struct fr_periodic_with with, struct stage *s,
                 struct coded *c) {
    for (int32_t i = 0; i < p->args.stages; i++) {
        const struct fr_stage *above = &p->stage[i], *below = &p->stage[i > 0 ? i - 1 : 0];
        bool sends = i < p->args.stages - 1 && above->small_forward_B > 0,
             reads = i > 0 && below->small_forward_B > 0;
        c[i] = (struct coded){.reads_from = reads_from(p, i),
                              .sends_from = reads_from(p, i - 1),
                              .small_lag_s = with.messages ? below->small_message_s : 0};
        if (sends && with.messages) s[i].forward_lag_s = above->small_forward_s;
        if (!with.codecs) continue;
        c[i].forward_read_s = reads && p->codes_forward ? below->forward_decode_s : 0;
        c[i].forward_send_s = sends && p->codes_forward ? above->forward_encode_s : 0;
        c[i].decode_s = above->decode_s;
        c[i].encode_s = below->encode_s;
    }
}

static struct way way_of(struct fr_periodic_with with, int32_t stages, int32_t from, int32_t to,
                         size_t parts) {
    if (!(with.parts[parts].size_B > 0)) return (struct way){.line = NULL};
    return (struct way){&with.unshared->line[fr_line_of(stages, from, to)], &with.parts[parts]};
}

static void line_up(const struct fr_pipeline *p, struct fr_periodic_with with,
                    struct lined *lined) {
    int32_t P = p->args.stages;
    for (int32_t i = 0; i < P; i++) {
        size_t kinds = FR_MESSAGE_KINDS * (size_t)i;
        lined[i] = (struct lined){.up = {.line = NULL}};
        if (i < P - 1) lined[i].up = way_of(with, P, i, i + 1, kinds + FR_UP_WHOLE);
        if (i > 0)
            lined[i].down = way_of(with, P, i, i - 1, kinds - FR_MESSAGE_KINDS + FR_DOWN_WHOLE);
    }
}

/* All ticks, one after the other. */
static void tick(struct stage *s, const struct ticks *x) {
    for (int64_t t = 0; t < x->turn + x->e * x->m; t++) {
        forward_tick(s, x, t);
        backward_tick(s, x, t);
    }
}

fr_status fr_pipeline_periodic(const struct fr_pipeline *p, const double *pass_s,
                               struct fr_periodic_with with, double *end_s,
                               struct fr_error *err) {
    struct ticks x = ticks_of(p);
    int64_t P = x.P;
    bool codes = fr_pipeline_codes(p);
    struct stage *all = fr_calloc((size_t)P + 2, sizeof *all), *s = all + 1;
    struct coded *coded = all && codes ? fr_malloc((size_t)P, sizeof *coded) : NULL;
    struct lined *lined = all && with.unshared ? fr_malloc((size_t)P, sizeof *lined) : NULL;
    if (!all || (codes && !coded) || (with.unshared && !lined)) {
        free(all);
        free(coded);
        free(lined);
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the pipeline does not fit in memory");
    }
    for (int64_t i = 0; i < P; i++)
        s[i] = (struct stage){.forward_pass_s = pass_s[3 * i + FR_SLOT_FORWARD],
                              .backward_pass_s = pass_s[3 * i + FR_SLOT_BACKWARD],
                              .forward_lag_s = with.messages ? p->stage[i].message_s : 0,
                              .backward_lag_s =
                                  with.messages && i > 0 ? p->stage[i - 1].message_s : 0};
    if (codes) code(p, with, s, coded);
    if (lined) line_up(p, with, lined);
    x.coded = coded;
    x.lined = lined;
    tick(s, &x);
    for (int64_t i = 0; i < P; i++) end_s[i] = s[i].free_s;
    free(coded);
    free(lined);
    free(all);
    return FR_OK;
}
