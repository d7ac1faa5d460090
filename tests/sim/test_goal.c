/* A GOAL schedule read back by a reader of its own and replayed: sends take no time, a receive ends when its
 * message has arrived; the last end is the event engine's.  Each send has its one receive. */
#include <math.h>
#include <stdlib.h>

#include "sim/goal.h"
#include "sim/run.h"
#include "tests/job.h"

enum { OPS = 1 << 14, NEEDS = 1 << 16 };

struct op {
    int rank, peer; /* peer of a message, else -1 */
    long number, tag, bytes;
    double length_ns, end_ns; /* end < 0: not yet */
    char kind;                /* s, r, c */
};

struct schedule {
    struct op op[OPS];
    int n, ranks;
    struct {
        int later, before; /* operations */
    } need[NEEDS];
    int n_needs;
};

static int op_called(const struct schedule *s, int rank, long number) {
    for (int i = s->n; i-- > 0;)
        if (s->op[i].rank == rank && s->op[i].number == number) return i;
    fail_msg("rank %d has no l%ld before it is required", rank, number);
    return -1;
}

/* A line of rank @p rank: an operation, or who waits for whom, which may come before both do. */
static bool read_op(struct schedule *s, int rank, const char *line) {
    struct op op = {.rank = rank, .peer = -1, .end_ns = -1};
    char to[8] = "";
    long number = 0;
    assert_true(s->n < OPS && s->n_needs < NEEDS);
    assert_null(strstr(line, "cpu")); /* whose clocks are their own in LogGOPSim */
    if (sscanf(line, "l%ld: calc %lf", &op.number, &op.length_ns) == 2)
        op.kind = 'c';
    else if (sscanf(line, "l%ld: send %ldb %4s %d tag %ld", &op.number, &op.bytes, to, &op.peer,
                    &op.tag) == 5)
        op.kind = 's';
    else if (sscanf(line, "l%ld: recv %ldb %4s %d tag %ld", &op.number, &op.bytes, to, &op.peer,
                    &op.tag) == 5)
        op.kind = 'r';
    else
        return sscanf(line, "l%ld requires l%ld", &op.number, &number) == 2;
    for (int i = 0; i < s->n; i++)
        assert_false(s->op[i].rank == rank && s->op[i].number == op.number);
    s->op[s->n++] = op;
    return true;
}

static void read_need(struct schedule *s, int rank, const char *line) {
    long later, before;
    if (sscanf(line, "l%ld requires l%ld", &later, &before) != 2) return;
    s->need[s->n_needs].later = op_called(s, rank, later);
    s->need[s->n_needs++].before = op_called(s, rank, before);
}

static void read_schedule(const char *text, struct schedule *s) {
    s->n = s->n_needs = 0;
    for (int pass = 0; pass < 2; pass++) {
        int rank = -1;
        char line[256];
        for (const char *at = text; *at; at += strcspn(at, "\n") + 1) {
            snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
            if (sscanf(line, "num_ranks %d", &s->ranks) == 1 || !*line || *line == '}')
                continue;
            if (sscanf(line, "rank %d {", &rank) == 1) continue;
            if (pass == 0 && !read_op(s, rank, line)) fail_msg("not GOAL: %s", line);
            if (pass == 1) read_need(s, rank, line);
        }
    }
}

static int other_end(const struct schedule *s, const struct op *op) {
    int found = -1;
    for (int i = 0; i < s->n; i++) {
        const struct op *o = &s->op[i];
        if (o->tag != op->tag || o->rank != op->peer || o->peer != op->rank || o->kind == 'c' ||
            o->kind == op->kind)
            continue;
        assert_true(found < 0 && o->bytes == op->bytes);
        found = i;
    }
    assert_true(found >= 0);
    return found;
}

/* The latest end of what it waits for; < 0 while one of them has none. */
static double ready_ns(const struct schedule *s, int i) {
    double ready = 0;
    for (int k = 0; k < s->n_needs; k++) {
        if (s->need[k].later != i) continue;
        double end = s->op[s->need[k].before].end_ns;
        if (end < 0) return -1;
        ready = fmax(ready, end);
    }
    return ready;
}

/* @param message_ns  of messages that carry bytes; a word of one byte takes none */
static double replay_ns(struct schedule *s, double message_ns) {
    double last = 0;
    int left = s->n;
    for (bool more = true; more && left > 0;) {
        more = false;
        for (int i = 0; i < s->n; i++) {
            struct op *op = &s->op[i];
            double ready = op->end_ns < 0 ? ready_ns(s, i) : -1;
            if (ready < 0) continue;
            if (op->kind == 'r') {
                double sent = s->op[other_end(s, op)].end_ns;
                if (sent < 0) continue;
                ready = fmax(ready, sent + (op->bytes > 1 ? message_ns : 0));
            }
            op->end_ns = ready + op->length_ns;
            last = fmax(last, op->end_ns);
            more = true;
            left--;
        }
    }
    assert_int_equal(left, 0); /* no deadlock */
    return last;
}

/* Gradients in buckets are of ranks behind the program's @p ranks, all other work is of these. */
static void lanes(const struct schedule *s, int ranks, int beside, double beside_s) {
    for (int i = 0; i < s->n; i++) {
        const struct op *op = &s->op[i];
        if (op->kind == 'c' && op->rank >= ranks) {
            beside--;
            beside_s -= 1e-9 * op->length_ns;
        }
    }
    assert_int_equal(beside, 0);
    FR_TRUE(fabs(beside_s) < 1e-6, "gradients %g s too short", beside_s);
}

/* Each of a rank's tasks waits for the one before, with the messages between: one clock is enough. */
static void one_after_another(const struct schedule *s) {
    for (int r = 0; r < s->ranks; r++) {
        double end_ns = 0;
        for (int i = 0; i < s->n; i++) {
            const struct op *op = &s->op[i];
            if (op->rank != r || op->kind != 'c' || op->length_ns <= 0) continue;
            FR_TRUE(op->end_ns - op->length_ns >= end_ns - 1, "rank %d, l%ld: at %g ns", r,
                    op->number, end_ns);
            end_ns = op->end_ns;
        }
    }
}

struct seen {
    struct fr_text text;
    int beside; /* gradients in buckets */
    double beside_s, message_s;
    int64_t n_tasks;
};

static fr_status look(void *context, const struct fr_network_work *work, const double *class_s,
                      struct fr_error *err) {
    struct seen *seen = context;
    seen->n_tasks = work->program->n_tasks;
    for (int64_t t = 0; t < work->program->n_tasks; t++) {
        const struct fr_task_class *class =
            &work->program->classes[work->program->tasks[t].class_id];
        if (class->kind != FR_TASK_GRADIENT || !class->part) continue;
        seen->beside++;
        seen->beside_s += class_s[work->program->tasks[t].class_id];
    }
    for (int32_t c = 0; c < work->program->n_classes; c++)
        if (work->class_B[c] > 1) seen->message_s = fmax(seen->message_s, class_s[c]);
    return fr_goal_write(work, class_s, &seen->text, err);
}

static void replayed_as_simulated(void **state) {
    static const char *const plans[][8] = {
        {"tp=8", "pp=1", "dp=2", "global_batch=8", NULL},
        {"tp=8", "pp=4", "dp=2", "global_batch=16", NULL},
        {"tp=8", "pp=4", "dp=2", "global_batch=16", "schedule=zero-bubble", NULL},
        {"tp=8", "pp=4", "dp=2", "global_batch=16", "schedule=interleaved", "chunks=2", NULL},
        {"tp=8", "pp=4", "dp=2", "global_batch=16", "overlap=gradient", NULL},
        {"tp=8", "pp=2", "dp=2", "global_batch=4", "compression.embedding=fused", NULL}};
    static struct schedule schedule;
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct seen seen = {.message_s = 0};
        const struct fr_simulate_options how = {
            .network = &fr_network_isolated, .look = look, .context = &seen};
        struct fr_simulation simulation;
        struct fr_error err = {0};
        struct fr_job job;
        fr_test_job("a100-hdr", "gpt-2.5b", plans[i], &job);
        if (fr_simulate(&job, &job.plan, &how, &simulation, &err) != FR_OK)
            fail_msg("%s: %s", err.where, err.detail);
        read_schedule(fr_text_get(&seen.text), &schedule);
        int apart = job.plan.overlap ? (int)job.plan.pp : 0;
        assert_int_equal(schedule.ranks, job.plan.pp + apart);
        assert_true((seen.beside > 0) == (job.plan.overlap));
        lanes(&schedule, (int)job.plan.pp, seen.beside, seen.beside_s);
        double want_ns = 1e9 * (simulation.outcome.time_s - job.cluster.device.fixed_s),
               ours_ns = replay_ns(&schedule, 1e9 * seen.message_s);
        one_after_another(&schedule);
        FR_TRUE(fabs(ours_ns - want_ns) <= (double)seen.n_tasks, "plan %zu: %.9g, %.9g ns", i,
                ours_ns, want_ns);
        fr_simulation_free(&simulation);
        fr_text_free(&seen.text);
        fr_job_free(&job);
    }
}

/* All ranks: with messages of no time the replay ends when the engine does. */
static fr_status look_without_messages(void *context, const struct fr_network_work *work,
                                       const double *class_s, struct fr_error *err) {
    struct seen *seen = context;
    const struct fr_program *program = work->program;
    double *only_s = calloc((size_t)program->n_classes, sizeof *only_s),
           *end_s = calloc((size_t)program->n_tasks, sizeof *end_s);
    assert_true(only_s && end_s);
    for (int32_t c = 0; c < program->n_classes; c++)
        if (!(work->class_B[c] > 0)) only_s[c] = class_s[c];
    seen->message_s = fr_engine_run(program, only_s, end_s); /* the whole of it, here */
    seen->n_tasks = program->n_tasks;
    free(only_s);
    free(end_s);
    return fr_goal_write(work, class_s, &seen->text, err);
}

static void all_ranks_are_replayed(void **state) {
    static const char *const plans[][10] = {
        {"tp=2", "pp=2", "dp=2", "global_batch=8", "micro_batch=2", NULL},
        {"tp=2", "pp=2", "dp=2", "global_batch=8", "micro_batch=2", "p2p=duplex", NULL},
        {"tp=2", "pp=2", "cp=2", "global_batch=4", "micro_batch=2", "recompute=full", NULL},
        {"pp=2", "dp=4", "global_batch=16", "micro_batch=2", "zero=3", NULL},
        {"pp=2", "dp=3", "global_batch=12", "micro_batch=2", "overlap=gradient", "zero=1",
         NULL}};
    static struct schedule schedule;
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct seen seen = {.message_s = 0};
        const struct fr_simulate_options how = {.network = &fr_network_isolated,
                                                .look = look_without_messages,
                                                .context = &seen,
                                                .as_messages = true};
        struct fr_simulation simulation;
        struct fr_error err = {0};
        struct fr_job job;
        fr_test_job("a100-hdr", "gpt-tiny", plans[i], &job);
        if (fr_simulate(&job, &job.plan, &how, &simulation, &err) != FR_OK)
            fail_msg("%s: %s", err.where, err.detail);
        read_schedule(fr_text_get(&seen.text), &schedule);
        double ours_ns = replay_ns(&schedule, 0);
        one_after_another(&schedule);
        FR_TRUE(fabs(ours_ns - 1e9 * seen.message_s) <= (double)seen.n_tasks,
                "plan %zu: %.9g, %.9g ns", i, ours_ns, 1e9 * seen.message_s);
        fr_simulation_free(&simulation);
        fr_text_free(&seen.text);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(replayed_as_simulated),
                                       cmocka_unit_test(all_ranks_are_replayed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
