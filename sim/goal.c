#include "sim/goal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/rank_ops.h"

struct writer {
    const struct fr_network_work *work;
    const double *class_s;
    struct fr_text *rank; /* [n_ranks]: a block each */
};

/* Gradients in buckets go beside the passes. */
static fr_stream stream_of(const struct writer *w, const struct fr_rank_op *op) {
    const struct fr_program *program = w->work->program;
    const struct fr_task_class *class = &program->classes[program->tasks[op->task].class_id];
    bool beside = class->kind == FR_TASK_GRADIENT && class->part;
    return beside ? FR_STREAM_COLLECTIVE : FR_STREAM_COMPUTE;
}

static void write_message(struct fr_text *text, const struct fr_rank_op *op) {
    bool sent = op->kind == FR_RANK_SENDS || op->kind == FR_RANK_SENDS_WORD;
    bool word = op->kind == FR_RANK_SENDS_WORD || op->kind == FR_RANK_RECEIVES_WORD;
    fr_text_addf(text, "l%" PRId64 ": %s %" PRId64 "b %s %d tag %" PRId64, op->label,
                 sent ? "send" : "recv", op->size_B, sent ? "to" : "from", op->peer, op->tag);
    if (!word) fr_text_addf(text, " cpu %d", sent ? FR_STREAM_SEND : FR_STREAM_RECV);
    fr_text_addf(text, "\n");
}

static void write_op(void *context, const struct fr_rank_op *op) {
    const struct writer *w = context;
    struct fr_text *text = &w->rank[op->rank];
    if (op->kind != FR_RANK_WORKS) {
        write_message(text, op);
        return;
    }
    int64_t length_ns = llround(1e9 * w->class_s[w->work->program->tasks[op->task].class_id]);
    fr_text_addf(text, "l%" PRId64 ": calc %" PRId64 " cpu %d\n", op->label, length_ns,
                 stream_of(w, op));
}

static void write_need(void *context, int32_t rank, int64_t later, int64_t before) {
    const struct writer *w = context;
    fr_text_addf(&w->rank[rank], "l%" PRId64 " requires l%" PRId64 "\n", later, before);
}

fr_status fr_goal_write(const struct fr_network_work *work, const double *class_s,
                        struct fr_text *text, struct fr_error *err) {
    int32_t n = work->program->n_ranks;
    struct writer w = {
        .work = work, .class_s = class_s, .rank = fr_calloc((size_t)n + 1, sizeof *w.rank)};
    if (!w.rank) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_rank_ops(work, &(struct fr_rank_ops_to){&w, write_op, write_need});
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
