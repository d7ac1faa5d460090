#include "sim/goal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/rank_ops.h"

/* One clock: a rank's work, or its work beside the passes. */
struct lane {
    struct fr_text text;
    int32_t id;   /**< of GOAL; -1: none */
    int64_t last; /**< task of its last work so far; -1: none */
};

/* A send, and the last work of its lane that it waits for. */
struct sent {
    struct lane *lane;
    int64_t label, after; /* after: a task; -1: none so far */
    bool waits;           /* for a message too: it is not ready with the work */
};

struct writer {
    const struct fr_network_work *work;
    const double *class_s;
    struct lane (*rank)[2]; /* [n_ranks]: its own work, and beside */
    int64_t *next;          /* [n_tasks]: the work behind one in its lane; 0: none */
    struct sent *sent;
    int64_t n_sent;
    int64_t words; /* told between a rank and its work beside */
};

/* Gradients in buckets go beside the passes; and so do waits, of collectives played beside a pass. */
static bool is_beside(const struct writer *w, int64_t task) {
    const struct fr_program *program = w->work->program;
    const struct fr_task_class *class = &program->classes[program->tasks[task].class_id];
    bool waits = class->unseen && w->class_s[program->tasks[task].class_id] > 0;
    return waits || (class->kind == FR_TASK_GRADIENT && class->part);
}

/* Is a label that of work, and of work beside the passes?  (rank_ops.h's traversal gives the labels) */
static bool works(const struct writer *w, int64_t label) {
    return label <= 4 * w->work->program->n_tasks && (label - 1) % 4 == FR_RANK_WORKS;
}
static bool works_beside(const struct writer *w, int64_t label) {
    return works(w, label) && is_beside(w, (label - 1) / 4);
}

static void require(struct lane *lane, int64_t later, int64_t before) {
    fr_text_addf(&lane->text, "l%" PRId64 " requires l%" PRId64 "\n", later, before);
}

static void take_send(struct writer *w, struct lane *lane, int64_t label, int64_t after) {
    w->sent[w->n_sent++] = (struct sent){lane, label, after, false};
}

static void write_message(struct writer *w, const struct fr_rank_op *op) {
    bool sent = op->kind == FR_RANK_SENDS || op->kind == FR_RANK_SENDS_WORD;
    struct lane *lane = &w->rank[op->rank][0];
    fr_text_addf(&lane->text, "l%" PRId64 ": %s %" PRId64 "b %s %d tag %" PRId64 "\n",
                 op->label, sent ? "send" : "recv", op->size_B, sent ? "to" : "from", op->peer,
                 op->tag);
    if (sent) take_send(w, lane, op->label, -1);
}

static void write_op(void *context, const struct fr_rank_op *op) {
    struct writer *w = context;
    if (op->kind != FR_RANK_WORKS) {
        write_message(w, op);
        return;
    }
    struct lane *lane = &w->rank[op->rank][is_beside(w, op->task)];
    int64_t length_ns = llround(1e9 * w->class_s[w->work->program->tasks[op->task].class_id]);
    fr_text_addf(&lane->text, "l%" PRId64 ": calc %" PRId64 "\n", op->label, length_ns);
    if (lane->last >= 0) w->next[lane->last] = op->label;
    lane->last = op->task;
}

/* One byte from a rank to its work beside, or back, between @p before and @p later. */
static void write_word(struct writer *w, struct lane *from, struct lane *to, int64_t later,
                       int64_t before) {
    int64_t tag = ++w->words, sent = 32 * w->work->program->n_tasks + 64 + 2 * tag;
    fr_text_addf(&from->text, "l%" PRId64 ": send 1b to %d tag %" PRId64 "\n", sent, to->id,
                 tag);
    fr_text_addf(&to->text, "l%" PRId64 ": recv 1b from %d tag %" PRId64 "\n", sent + 1,
                 from->id, tag);
    require(from, sent, before);
    require(to, later, sent + 1);
    if (works(w, before)) take_send(w, from, sent, (before - 1) / 4);
}

/* Requirements follow their send: it is the last one, or, in an exchange, not far before. */
static struct sent *send_called(struct writer *w, const struct lane *lane, int64_t label) {
    for (int64_t i = w->n_sent; i-- > 0 && i + 4 >= w->n_sent;)
        if (w->sent[i].lane == lane && w->sent[i].label == label) return &w->sent[i];
    return NULL;
}

static void write_need(void *context, int32_t rank, int64_t later, int64_t before) {
    struct writer *w = context;
    struct lane *from = &w->rank[rank][works_beside(w, before)],
                *to = &w->rank[rank][works_beside(w, later)];
    struct sent *sent = send_called(w, to, later);
    if (sent && from == to && works(w, before))
        sent->after = (before - 1) / 4 > sent->after ? (before - 1) / 4 : sent->after;
    else if (sent)
        sent->waits = true;
    if (from == to)
        require(to, later, before);
    else
        write_word(w, from, to, later, before);
}

/* The work behind the one that a send waits for requires it. */
static void sends_first(struct writer *w) {
    for (int64_t i = 0; i < w->n_sent; i++) {
        const struct sent *s = &w->sent[i];
        int64_t next = s->after >= 0 && !s->waits ? w->next[s->after] : 0;
        if (next) require(s->lane, next, s->label);
    }
}

/* Ranks of GOAL behind the program's, of those with work beside. @return how many there are in all. */
static int32_t number_lanes(struct writer *w) {
    const struct fr_program *program = w->work->program;
    int32_t n = program->n_ranks;
    for (int32_t i = 0; i < n; i++)
        for (int k = 0; k < 2; k++) w->rank[i][k] = (struct lane){.id = k ? -1 : i, .last = -1};
    for (int64_t t = 0; t < program->n_tasks; t++)
        if (!fr_rank_ops_is_message(program, t) && is_beside(w, t))
            w->rank[program->tasks[t].rank][1].id = 0;
    for (int32_t i = 0; i < program->n_ranks; i++)
        if (w->rank[i][1].id == 0) w->rank[i][1].id = n++;
    return n;
}

static void write_lane(struct fr_text *text, const struct lane *lane) {
    if (lane->id < 0) return;
    fr_text_addf(text, "\nrank %d {\n", lane->id);
    fr_text_add(text, fr_text_get(&lane->text), lane->text.length);
    fr_text_addf(text, "}\n");
    text->failed = text->failed || lane->text.failed;
}

/* Sends there can be at most: two of a message, a word for each wait, and one more to or from work beside. */
static size_t most_sends(const struct fr_program *program) {
    return (size_t)program->n_tasks * (2 + 2 * FR_TASK_WAITS_MAX) + 1;
}

fr_status fr_goal_write(const struct fr_network_work *work, const double *class_s,
                        struct fr_text *text, struct fr_error *err) {
    const struct fr_program *program = work->program;
    int32_t n = program->n_ranks;
    struct writer w = {.work = work,
                       .class_s = class_s,
                       .rank = fr_calloc((size_t)n + 1, sizeof *w.rank),
                       .next = fr_calloc((size_t)program->n_tasks + 1, sizeof *w.next),
                       .sent = fr_calloc(most_sends(program), sizeof *w.sent)};
    bool made = w.rank && w.next && w.sent;
    if (made) {
        fr_text_addf(text, "num_ranks %d\n", number_lanes(&w));
        fr_rank_ops(work, &(struct fr_rank_ops_to){&w, write_op, write_need});
        sends_first(&w);
        for (int k = 0; k < 2; k++)
            for (int32_t i = 0; i < n; i++) write_lane(text, &w.rank[i][k]);
    }
    for (int32_t i = 0; i < n && made; i++)
        for (int k = 0; k < 2; k++) fr_text_free(&w.rank[i][k].text);
    free(w.rank);
    free(w.next);
    free(w.sent);
    return !made || text->failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory") : FR_OK;
}
