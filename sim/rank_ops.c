#include "sim/rank_ops.h"

#include <math.h>

#include "sim/record.h"

struct traversal {
    const struct fr_network_work *work;
    const struct fr_rank_ops_to *to;
    int64_t tag;
};

static int64_t label(int64_t task, fr_rank_op_kind kind) {
    return 4 * task + 1 + (int64_t)kind;
}

static const struct fr_task *task_of(const struct traversal *w, int64_t t) {
    return &w->work->program->tasks[t];
}

static fr_task_kind kind_of(const struct traversal *w, int64_t t) {
    return w->work->program->classes[task_of(w, t)->class_id].kind;
}

bool fr_rank_ops_is_message(const struct fr_program *program, int64_t t) {
    const struct fr_task *task = &program->tasks[t];
    return fr_task_is_message(program->classes[task->class_id].kind) && task->peer >= 0;
}

static bool is_message(const struct traversal *w, int64_t t) {
    return fr_rank_ops_is_message(w->work->program, t);
}

static void tell(struct traversal *w, const struct fr_rank_op *op) {
    w->to->op(w->to->context, op);
}

static void need(struct traversal *w, int32_t rank, int64_t later, int64_t before) {
    w->to->need(w->to->context, rank, later, before);
}

/* One byte from where task @p before is done to @p rank, for @p later of it; at both ends under labels
 * beyond all tasks'. */
static void send_word(struct traversal *w, int64_t before, int32_t rank, int64_t later) {
    int32_t from = task_of(w, before)->rank;
    int64_t tag = ++w->tag, beyond = label(w->work->program->n_tasks, FR_RANK_SENDS) + 2 * tag;
    tell(w, &(struct fr_rank_op){FR_RANK_SENDS_WORD, from, rank, beyond, tag, 1, before});
    need(w, from, beyond, label(before, FR_RANK_WORKS));
    tell(w,
         &(struct fr_rank_op){FR_RANK_RECEIVES_WORD, rank, from, beyond + 1, tag, 1, before});
    need(w, rank, later, beyond + 1);
}

/* Operation @p later of @p rank after all that task @p t waits for. */
static void need_all(struct traversal *w, int64_t t, int32_t rank, int64_t later) {
    const int32_t *after = task_of(w, t)->after;
    for (int k = 0; k < FR_TASK_WAITS_MAX && after[k] >= 0; k++) {
        const struct fr_task *before = task_of(w, after[k]);
        bool exchange = kind_of(w, after[k]) == FR_TASK_EXCHANGE;
        if (!is_message(w, after[k]) && before->rank == rank)
            need(w, rank, later, label(after[k], FR_RANK_WORKS));
        else if (!is_message(w, after[k]))
            send_word(w, after[k], rank, later);
        if (!is_message(w, after[k])) continue;
        if (before->rank == rank) need(w, rank, later, label(after[k], FR_RANK_SENDS));
        if (before->peer == rank || (exchange && before->rank == rank))
            need(w, rank, later, label(after[k], FR_RANK_RECEIVES));
        if (exchange && before->peer == rank)
            need(w, rank, later, label(after[k], FR_RANK_SENDS));
    }
}

static void tell_message(struct traversal *w, int64_t t, int32_t from, int32_t to) {
    double size_B = w->work->class_B[task_of(w, t)->class_id];
    int64_t tag = ++w->tag, bytes = size_B > 1 ? (int64_t)llround(size_B) : 1;
    struct fr_rank_op sent = {FR_RANK_SENDS, from, to, label(t, FR_RANK_SENDS), tag, bytes, t};
    struct fr_rank_op got = {
        FR_RANK_RECEIVES, to, from, label(t, FR_RANK_RECEIVES), tag, bytes, t};
    tell(w, &sent);
    tell(w, &got);
    need_all(w, t, from, sent.label);
}

static void tell_work(struct traversal *w, int64_t t) {
    int32_t rank = task_of(w, t)->rank;
    struct fr_rank_op op = {.kind = FR_RANK_WORKS,
                            .rank = rank,
                            .peer = -1,
                            .label = label(t, FR_RANK_WORKS),
                            .task = t};
    tell(w, &op);
    need_all(w, t, rank, op.label);
}

void fr_rank_ops(const struct fr_network_work *work, const struct fr_rank_ops_to *to) {
    struct traversal w = {.work = work, .to = to};
    for (int64_t t = 0; t < work->program->n_tasks; t++) {
        const struct fr_task *task = task_of(&w, t);
        if (!is_message(&w, t)) {
            tell_work(&w, t);
            continue;
        }
        tell_message(&w, t, task->rank, task->peer);
        if (kind_of(&w, t) == FR_TASK_EXCHANGE) tell_message(&w, t, task->peer, task->rank);
    }
}
