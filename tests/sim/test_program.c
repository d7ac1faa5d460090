/* A program's tasks, what they wait for, and what holds it up. */
#include <stdlib.h>

#include "models/price/pipeline.h"
#include "sim/engine.h"
#include "sim/record.h"
#include "tests/cmocka.h"
#include "tests/job.h"

static void waits_are_kept_once_each(void **state) {
    struct fr_program p = {.n_ranks = 1};
    const struct fr_task task = {.class_id = 3, .rank = 2, .peer = -1, .micro = 7, .chunk = 1};
    (void)state;
    for (int32_t k = 0; k < 2500; k++) {
        assert_int_equal(fr_program_add(&p, &task), k);
        for (int w = 0; w < FR_TASK_WAITS_MAX; w++) assert_int_equal(p.tasks[k].after[w], -1);
    }
    assert_int_equal(p.n_tasks, 2500);
    assert_true(p.tasks[1024].class_id == 3 && p.tasks[1024].micro == 7 &&
                p.tasks[0].rank == 2);
    fr_program_wait(&p, 5, 0);
    fr_program_wait(&p, 5, -1);
    fr_program_wait(&p, 5, 1);
    fr_program_wait(&p, 5, 0);
    fr_program_wait(&p, 5, 4);
    assert_true(p.tasks[5].after[0] == 0 && p.tasks[5].after[1] == 1 &&
                p.tasks[5].after[2] == 4);
    fr_program_wait(&p, 1, 0);
    assert_true(p.tasks[1].after[0] == 0 && p.tasks[1].after[1] == -1);
    fr_program_wait(&p, -1, 0); /* a task that could not be added */
    fr_program_free(&p);
    assert_true(p.n_tasks == 0 && !p.tasks);
}

static uint64_t chance(uint64_t *dice, uint64_t n) {
    *dice ^= *dice << 13, *dice ^= *dice >> 7, *dice ^= *dice << 17;
    return *dice % n;
}

/* By the longest way to it, asked for anew each time. */
static double way_s(const struct fr_program *p, const double *class_s, int64_t task) {
    double most_s = 0;
    for (int w = 0; w < FR_TASK_WAITS_MAX; w++)
        if (p->tasks[task].after[w] >= 0)
            most_s = fmax(most_s, way_s(p, class_s, p->tasks[task].after[w]));
    return most_s + class_s[p->tasks[task].class_id];
}

/* Returns the one of @p tasks that ends last, the first of equals. */
static int64_t last_of(const double *end_s, const int32_t *tasks, int n) {
    int64_t last = -1;
    for (int64_t t = 0; t < 1000; t++)
        for (int k = 0; k < n; k++)
            if (tasks[k] == t && (last < 0 || end_s[t] > end_s[last])) last = t;
    return last;
}

/* Random programs, many tasks of which take no time: ends are the longest ways, and the critical path goes back
 * from the last end by what ended last before it. */
static void ends_and_critical_paths(void **state) {
    enum { TASKS = 14, ROUNDS = 500 };
    static const double class_s[] = {0, 0, 1, 2.5};
    uint64_t dice = 88172645463325252u;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct fr_program p = {.n_ranks = 1, .n_classes = 4};
        double end_s[TASKS], most_s = 0;
        bool critical[TASKS], want[TASKS] = {false};
        int32_t all[TASKS];
        int n = 1 + (int)chance(&dice, TASKS);
        for (int32_t t = 0; t < n; t++) {
            const struct fr_task task = {
                .class_id = (int32_t)chance(&dice, 4), .peer = -1, .micro = -1};
            assert_int_equal(fr_program_add(&p, &task), t);
            for (uint64_t w = t ? chance(&dice, 4) : 0; w > 0; w--)
                fr_program_wait(&p, t, (int32_t)chance(&dice, (uint64_t)t));
            all[t] = t;
        }
        double last_s = fr_engine_run(&p, class_s, end_s);
        for (int t = 0; t < n; t++) {
            FR_NEAR(end_s[t], way_s(&p, class_s, t), 0);
            most_s = fmax(most_s, end_s[t]);
        }
        FR_NEAR(last_s, most_s, 0);
        fr_engine_critical(&p, end_s, critical);
        for (int64_t at = last_of(end_s, all, n); at >= 0;
             at = last_of(end_s, p.tasks[at].after, FR_TASK_WAITS_MAX))
            want[at] = true;
        for (int t = 0; t < n; t++)
            FR_TRUE(critical[t] == want[t], "round %d, task %d of %d", round, t, n);
        fr_program_free(&p);
    }
}

/* Plans of every kind of task: each pass of each stage, chunk and micro-batch is there once, or in its parts; work is
 * its rank's alone, messages go between two; nothing waits for what comes behind it, or twice. */
static void tasks_of_every_plan(void **state) {
    static const char *const plans[][6] = {
        {"schedule=1f1b"},
        {"schedule=gpipe", "p2p=duplex"},
        {"schedule=1f1b", "p2p=duplex"},
        {"schedule=interleaved", "chunks=3"},
        {"schedule=zero-bubble"},
        {"schedule=zero-bubble-v", "chunks=2"},
        {"schedule=dualpipe-v", "chunks=2"},
        {"dp=2", "overlap=gradient"},
        {"dp=2", "overlap=gradient", "schedule=interleaved", "chunks=2"},
        {"dp=2", "overlap=gradient", "schedule=zero-bubble"},
        {"compression.backward.scope=all"},
        {"compression.backward.scope=epilogue"},
        {"compression.backward.scope=all", "schedule=interleaved", "chunks=2"},
        {"compression.backward.scope=epilogue", "schedule=interleaved", "chunks=2"},
        {"compression.backward.scope=epilogue", "schedule=zero-bubble"},
        {"compression.backward.scope=epilogue", "schedule=zero-bubble-v", "chunks=2"},
        {"compression.backward.scope=all", "schedule=dualpipe-v", "chunks=2"},
        {"compression.forward.rank=8"},
        {"dp=2", "compression.embedding=fused"},
        {"pass=forward"}};
    (void)state;
    for (size_t k = 0; k < sizeof plans / sizeof *plans; k++) {
        enum { STAGES = 4, MICRO = 16, CHUNKS = 3 };
        const char *sets[10] = {"pp=4", "micro_batch=1", "global_batch=16",
                                "cluster.device.memory=0 B"};
        static double done[FR_TASK_COUNT][STAGES][CHUNKS][MICRO];
        struct fr_job job;
        struct fr_pipeline p = {0};
        struct fr_program program;
        struct fr_error err = {0};
        uint32_t extrapolated = 0;
        for (int i = 0; i < 6 && plans[k][i]; i++) sets[4 + i] = plans[k][i];
        fr_test_job("a100-hdr", "gpt-2", sets, &job);
        if (fr_pipeline_make(&job, &job.plan, &p, &extrapolated, &err) != FR_OK ||
            fr_program_make(&p, &program, &err) != FR_OK)
            fail_msg("%s: %s", err.where, err.detail);
        /* what goes nowhere is not coded, and of one rank nothing is gathered */
        const struct fr_stage *last = &p.stage[STAGES - 1];
        assert_true(p.args.chunks > 1 || !(last->encode_s + last->small_message_B > 0));
        for (int i = 0; i < STAGES; i++) assert_true(!(p.stage[i].gathered_B > 0));
        double sent[FR_TASK_COUNT] = {0}, coded = 0, coded_forward = 0, all = 0;
        for (int32_t i = 0; i < STAGES; i++) {
            coded += fr_pipeline_n_compressed(&p, i);
            coded_forward += fr_pipeline_n_forward_compressed(&p, i);
            all += fr_pipeline_n_messages(&p, i);
        }
        memset(done, 0, sizeof done);
        for (int64_t t = 0; t < program.n_tasks; t++) {
            const struct fr_task *task = &program.tasks[t];
            assert_true(task->class_id >= 0 && task->class_id < program.n_classes);
            const struct fr_task_class *class = &program.classes[task->class_id];
            bool message = fr_task_is_message(class->kind), ended = false;
            assert_true(task->rank >= 0 && task->rank < STAGES);
            assert_true(task->chunk >= 0 && task->chunk < p.args.chunks);
            assert_true(task->micro >= -1 && task->micro < p.args.micro_batches);
            if (message)
                assert_true(task->peer >= 0 && task->peer < STAGES && task->peer != task->rank);
            else if (class->kind != FR_TASK_EMBEDDING)
                FR_TRUE(task->peer == -1 && class->stage == task->rank,
                        "plan %zu: %s of rank %d: peer %d, stage %d", k,
                        fr_task_names[class->kind], task->rank, task->peer, class->stage);
            for (int w = 0; w < FR_TASK_WAITS_MAX; w++) {
                ended = ended || task->after[w] < 0;
                assert_true(task->after[w] < t && (task->after[w] < 0 || !ended));
                for (int v = 0; v < w; v++)
                    assert_true(task->after[w] < 0 || task->after[w] != task->after[v]);
            }
            sent[class->kind]++;
            if (task->micro >= 0)
                done[class->kind][task->rank][task->chunk][task->micro] +=
                    class->part ? 1.0 / p.stage[task->rank].buckets : 1;
        }
        for (int64_t x = 0; x < STAGES * p.n_slots; x++) {
            const struct fr_slot *slot = &p.slots[x];
            static const fr_task_kind kinds[] = {[FR_SLOT_FORWARD] = FR_TASK_FORWARD,
                                                 [FR_SLOT_BACKWARD] = FR_TASK_BACKWARD,
                                                 [FR_SLOT_WEIGHT] = FR_TASK_WEIGHT};
            double times = done[kinds[slot->kind]][x / p.n_slots][slot->chunk][slot->micro];
            FR_TRUE(fabs(times - 1) < 1e-9,
                    "plan %zu: %s of stage %d, micro-batch %d: %g times", k,
                    fr_task_names[kinds[slot->kind]], (int)(x / p.n_slots), slot->micro, times);
        }
        /* messages are as many as they are counted to be, of which so many go compressed */
        if (!job.plan.duplex) {
            FR_NEAR(sent[FR_TASK_COMPRESSED_MESSAGE] + 1, coded + 1, 1e-12);
            FR_NEAR(sent[FR_TASK_COMPRESSED_FORWARD] + 1, coded_forward + 1, 1e-12);
            FR_NEAR(sent[FR_TASK_FORWARD_MESSAGE] + 1, all - coded_forward + 1, 1e-12);
            if (!job.plan.forward)
                FR_NEAR(sent[FR_TASK_BACKWARD_MESSAGE] + 1, all - coded + 1, 1e-12);
        }
        fr_program_free(&program);
        fr_pipeline_free(&p);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits_are_kept_once_each),
                                       cmocka_unit_test(tasks_of_every_plan),
                                       cmocka_unit_test(ends_and_critical_paths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
