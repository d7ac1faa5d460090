#include "sim/goal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/record.h"

/* What a task is on a rank: its label's number is 4 t + 1 + that. */
enum role { SEND, RECV, WORK, WORD_SENT };

struct writer {
    const struct fr_network_work *work;
    const double *class_s;
    struct fr_text *rank; /* [n_ranks]: a block each */
    int64_t tag;
};

static int64_t label(int64_t task, enum role role) { return 4 * task + 1 + (int64_t)role; }

static const struct fr_task *task_of(const struct writer *w, int64_t t) {
    return &w->work->program->tasks[t];
}

static fr_task_kind kind_of(const struct writer *w, int64_t t) {
    return w->work->program->classes[task_of(w, t)->class_id].kind;
}

/* Does it go from rank to rank?  A message without bytes is work of no time's length. */
static bool is_message(const struct writer *w, int64_t t) {
    return fr_task_is_message(kind_of(w, t)) && task_of(w, t)->peer >= 0;
}

static void require(struct writer *w, int32_t rank, int64_t later, int64_t before) {
    fr_text_addf(&w->rank[rank], "l%" PRId64 " requires l%" PRId64 "\n", later, before);
}

/* One byte from where task @p before is done to @p rank, for @p later of it: there the word is received
 * under a label of its own, beyond all tasks'. */
static void send_word(struct writer *w, int64_t before, int32_t rank, int64_t later) {
    int32_t from = task_of(w, before)->rank;
    int64_t tag = ++w->tag, beyond = label(w->work->program->n_tasks, SEND) + 2 * tag;
    fr_text_addf(&w->rank[from], "l%" PRId64 ": send 1b to %d tag %" PRId64 "\n", beyond, rank,
                 tag);
    require(w, from, beyond, label(before, WORK));
    fr_text_addf(&w->rank[rank], "l%" PRId64 ": recv 1b from %d tag %" PRId64 "\n", beyond + 1,
                 from, tag);
    require(w, rank, later, beyond + 1);
}

/* Operation @p later of @p rank after all that task @p t waits for. */
static void require_all(struct writer *w, int64_t t, int32_t rank, int64_t later) {
    const int32_t *after = task_of(w, t)->after;
    for (int k = 0; k < FR_TASK_WAITS_MAX && after[k] >= 0; k++) {
        const struct fr_task *before = task_of(w, after[k]);
        bool exchange = kind_of(w, after[k]) == FR_TASK_EXCHANGE;
        if (!is_message(w, after[k]) && before->rank == rank)
            require(w, rank, later, label(after[k], WORK));
        else if (!is_message(w, after[k]))
            send_word(w, after[k], rank, later);
        if (!is_message(w, after[k])) continue;
        if (before->rank == rank) require(w, rank, later, label(after[k], SEND));
        if (before->peer == rank || (exchange && before->rank == rank))
            require(w, rank, later, label(after[k], RECV));
        if (exchange && before->peer == rank) require(w, rank, later, label(after[k], SEND));
    }
}

static void write_message(struct writer *w, int64_t t, int32_t from, int32_t to) {
    double size_B = w->work->class_B[task_of(w, t)->class_id];
    int64_t tag = ++w->tag, bytes = size_B > 1 ? (int64_t)llround(size_B) : 1;
    fr_text_addf(&w->rank[from],
                 "l%" PRId64 ": send %" PRId64 "b to %d tag %" PRId64 " cpu %d\n",
                 label(t, SEND), bytes, to, tag, FR_STREAM_SEND);
    fr_text_addf(&w->rank[to],
                 "l%" PRId64 ": recv %" PRId64 "b from %d tag %" PRId64 " cpu %d\n",
                 label(t, RECV), bytes, from, tag, FR_STREAM_RECV);
    require_all(w, t, from, label(t, SEND));
}

/* Gradients in buckets go beside the passes. */
static void write_work(struct writer *w, int64_t t) {
    const struct fr_task *task = task_of(w, t);
    int64_t length_ns = llround(1e9 * w->class_s[task->class_id]);
    const struct fr_task_class *class = &w->work->program->classes[task->class_id];
    bool beside = class->kind == FR_TASK_GRADIENT && class->part;
    fr_stream stream = beside ? FR_STREAM_COLLECTIVE : FR_STREAM_COMPUTE;
    fr_text_addf(&w->rank[task->rank], "l%" PRId64 ": calc %" PRId64 " cpu %d\n",
                 label(t, WORK), length_ns, stream);
    require_all(w, t, task->rank, label(t, WORK));
}

static void write_tasks(struct writer *w) {
    for (int64_t t = 0; t < w->work->program->n_tasks; t++) {
        const struct fr_task *task = task_of(w, t);
        if (!is_message(w, t)) {
            write_work(w, t);
            continue;
        }
        write_message(w, t, task->rank, task->peer);
        if (kind_of(w, t) == FR_TASK_EXCHANGE) write_message(w, t, task->peer, task->rank);
    }
}

fr_status fr_goal_write(const struct fr_network_work *work, const double *class_s,
                        struct fr_text *text, struct fr_error *err) {
    int32_t n = work->program->n_ranks;
    struct writer w = {.work = work,
                       .class_s = class_s,
                       .rank = fr_calloc((size_t)n + 1, sizeof *w.rank)};
    if (!w.rank) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    write_tasks(&w);
    fr_text_addf(text, "num_ranks %d\n", n);
    for (int32_t i = 0; i < n; i++) {
        fr_text_addf(text, "\nrank %d {\n", i);
        fr_text_add(text, fr_text_get(&w.rank[i]), w.rank[i].length);
        fr_text_addf(text, "}\n");
        text->failed = text->failed || w.rank[i].failed;
        fr_text_free(&w.rank[i]);
    }
    free(w.rank);
    return text->failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory") : FR_OK;
}
