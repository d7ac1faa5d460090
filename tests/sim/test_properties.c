/* Laws that any pipeline keeps, over random ones from a fixed seed. */
#include <math.h>

#include "models/outcome/periodic.h"
#include "tests/pipeline_case.h"

static void random_case(struct pipeline_case *c, uint64_t *seed) {
    const struct fr_schedule *schedule;
    int n = 0;
    while (fr_schedules[n]) n++;
    int stages, chunks, micro;
    struct fr_schedule_args a;
    do { /* custom has no order of its own */
        schedule = fr_schedules[case_random(seed) % (uint64_t)n];
        stages = 1 + (int)(case_random(seed) % 9);
        chunks = schedule->interleaves ? 1 + (int)(case_random(seed) % 3) : 1;
        micro = schedule->interleaves ? stages * (1 + (int)(case_random(seed) % 4))
                                      : 1 + (int)(case_random(seed) % 24);
        a = (struct fr_schedule_args){stages, micro, chunks, NULL};
    } while (schedule == &fr_schedule_custom || schedule->refuses(&a));
    case_uniform(c, schedule, stages, micro, chunks, false, 1, 2, 0);
    for (int i = 0; i < stages; i++) {
        struct fr_stage *x = &c->stage[i];
        double *parts[] = {&x->forward.compute_s, &x->forward.launch_s, &x->forward.tp_s,
                           &x->weight.compute_s,  &x->weight.launch_s,  &x->weight.tp_s,
                           &x->message_s,         &x->gradient_s,       &x->optimizer_s};
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            *parts[k] = 0.3 * case_uniform01(seed);
        x->backward = x->weight;
        x->backward.compute_s += case_uniform01(seed);
        x->backward.tp_s += 0.1 * case_uniform01(seed);
    }
    if (stages > 1 && case_random(seed) % 2) c->p.embedding_s = case_uniform01(seed);
    if (case_random(seed) % 2) return;
    for (int i = 0; i < stages; i++) { /* gradients overlapped, but for some stages */
        c->stage[i].buckets = (int32_t)(case_random(seed) % 6);
        if (c->stage[i].buckets)
            c->stage[i].bucket_s = c->stage[i].gradient_s / c->stage[i].buckets / chunks;
    }
}

/* On an idle network, whatever the durations. */
static void engine_equals_recurrence(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int k = 0; k < 2000; k++) {
        struct pipeline_case c;
        random_case(&c, &seed);
        FR_NEAR(case_event_s(&c, true), case_closed_s(&c, true), 1e-12);
        FR_NEAR(case_event_s(&c, false), case_closed_s(&c, false), 1e-12);
    }
}

/* Overlapping the same all-reduces in buckets never costs; n buckets of b seconds beside a pass
 * of d, alone on one stage, end max(d/n + n b, d + b) after it begins. */
static void overlap_never_costs(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (int k = 0; k < 500; k++) {
        struct pipeline_case c;
        random_case(&c, &seed);
        for (int i = 0; i < c.p.args.stages; i++) c.stage[i].buckets = 0;
        double plain_s = case_event_s(&c, true);
        for (int i = 0; i < c.p.args.stages; i++) {
            c.stage[i].buckets = 1 + (int32_t)(case_random(&seed) % 7);
            c.stage[i].bucket_s = c.stage[i].gradient_s / c.p.args.chunks / c.stage[i].buckets;
        }
        FR_TRUE(case_event_s(&c, true) <= plain_s * (1 + 1e-12), "case %d", k);
    }
    for (int n = 1; n <= 8; n++)
        for (double b_s = 0.05; b_s < 1; b_s += 0.1) {
            struct pipeline_case c;
            case_uniform(&c, &fr_schedule_one_f_one_b, 1, 3, 1, false, 1, 2, 0);
            c.stage[0].buckets = n;
            c.stage[0].bucket_s = b_s;
            double want_s = 7 + fmax(2.0 / n + n * b_s, 2 + b_s);
            FR_NEAR(case_event_s(&c, true), want_s, 1e-12);
            FR_NEAR(case_closed_s(&c, true), want_s, 1e-12);
        }
}

/* In a schedule of fixed order nothing gets faster when any duration grows. */
static void longer_is_never_faster(void **state) {
    (void)state;
    uint64_t seed = 2;
    for (int k = 0; k < 500; k++) {
        struct pipeline_case c;
        random_case(&c, &seed);
        double before_s = case_event_s(&c, true);
        struct fr_stage *x = &c.stage[case_random(&seed) % (uint64_t)c.p.args.stages];
        double *parts[] = {&x->forward.compute_s, &x->backward.tp_s, &x->message_s,
                           &x->gradient_s, &x->optimizer_s};
        *parts[case_random(&seed) % 5] *= 1 + case_uniform01(&seed);
        FR_TRUE(case_event_s(&c, true) >= before_s * (1 - 1e-12), "case %d", k);
    }
}

/* Every stage runs each of its passes once, in its list's order; waits point backwards; bytes
 * are conserved: one message per pass that leaves its stage. */
static void programs_are_whole(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (int k = 0; k < 500; k++) {
        struct pipeline_case c;
        struct fr_program program;
        random_case(&c, &seed);
        c.p.duplex = c.p.args.chunks == 1 && k % 2;
        int stages = c.p.args.stages, micro = c.p.args.micro_batches, chunks = c.p.args.chunks;
        int64_t n_slots = fr_schedule_slots(c.p.schedule, &c.p.args), messages = 0, passes = 0,
                buckets = 0, next[CASE_STAGES] = {0};
        struct fr_slot *slots = malloc((size_t)(stages * n_slots) * sizeof *slots);
        for (int i = 0; i < stages; i++) c.p.schedule->order(&c.p.args, i, slots + i * n_slots);
        if (fr_program_make(&c.p, &program, NULL) != FR_OK) {
            FR_TRUE(c.p.duplex, "%s deadlocks",
                    c.p.schedule->name); /* only blocking ones may */
            fr_program_free(&program);
            free(slots);
            continue;
        }
        for (int64_t t = 0; t < program.n_tasks; t++) {
            const struct fr_task *task = &program.tasks[t];
            fr_task_kind kind = program.classes[task->class_id].kind;
            for (int w = 0; w < FR_TASK_WAITS_MAX; w++) assert_true(task->after[w] < t);
            if (kind == FR_TASK_FORWARD_MESSAGE || kind == FR_TASK_BACKWARD_MESSAGE) messages++;
            if (kind == FR_TASK_EXCHANGE) messages += 2;
            if (kind == FR_TASK_GRADIENT && program.classes[task->class_id].part) buckets++;
            if (kind > FR_TASK_WEIGHT) continue;
            bool goes_on = program.classes[task->class_id].part && t > 0 &&
                           task[-1].class_id == task->class_id && task[-1].chunk == task->chunk;
            if (goes_on) continue; /* the next part of the same pass */
            const struct fr_slot *slot = &slots[task->rank * n_slots + next[task->rank]++];
            assert_int_equal(slot->micro, task->micro);
            assert_int_equal(slot->chunk, task->chunk);
            assert_int_equal(slot->kind, kind);
            passes++;
        }
        assert_int_equal(passes, n_slots * stages);
        for (int i = 0; i < stages; i++) buckets -= c.stage[i].buckets * chunks;
        assert_int_equal(buckets, 0);
        assert_int_equal(
            messages,
            stages == 1 ? 0 : 2 * (int64_t)micro * (stages * chunks - 1 - c.p.schedule->folds));
        fr_program_free(&program);
        free(slots);
    }
}

/* The backward pass split, with equal parts and no communication, is never slower. */
static void zero_bubble_is_never_slower(void **state) {
    (void)state;
    for (int stages = 1; stages <= 12; stages++)
        for (int micro = 1; micro <= 40; micro++) {
            struct pipeline_case zero, plain;
            case_uniform(&zero, &fr_schedule_zero_bubble, stages, micro, 1, false, 1, 2, 0);
            case_uniform(&plain, &fr_schedule_one_f_one_b, stages, micro, 1, false, 1, 2, 0);
            FR_TRUE(case_event_s(&zero, true) <= case_event_s(&plain, true) * (1 + 1e-12),
                    "P %d m %d", stages, micro);
        }
}

/* Activations held: GPipe all m, 1F1B P - i, doubled 2 (P - i) - 1, memory-neutral zero bubble P. */
static void activations_held(void **state) {
    (void)state;
    struct fr_schedule_args a = {6, 24, 1, NULL};
    struct fr_slot slots[3 * 24];
    for (int i = 0; i < 6; i++) {
        const struct {
            const struct fr_schedule *row;
            int64_t held;
        } want[] = {{&fr_schedule_gpipe, 24},
                    {&fr_schedule_one_f_one_b, 6 - i},
                    {&fr_schedule_doubled, 2 * (6 - i) - 1},
                    {&fr_schedule_interleaved, 6 - i}};
        for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
            int64_t n = want[k].row->order(&a, i, slots);
            assert_int_equal(fr_schedule_in_flight(false, slots, n), want[k].held);
        }
        int64_t n = fr_schedule_zero_bubble.order(&a, i, slots);
        assert_true(fr_schedule_in_flight(true, slots, n) <= 6);
    }
}

/* A schedule says of each stage what its slots hold. */
static void held_as_slots_say(void **state) {
    (void)state;
    struct fr_slot slots[3 * 24 * 4];
    int stated = 0;
    for (const struct fr_schedule *const *row = fr_schedules; *row; row++)
        for (int32_t k = 0; k < 9 * 24 * 4 && (*row)->held; k++) {
            const struct fr_schedule_args a = {k % 9 + 1, k / 9 % 24 + 1, k / 9 / 24 + 1, NULL};
            if ((*row)->refuses(&a)) continue;
            for (int32_t i = 0; i < a.stages; i++, stated++) {
                int64_t n = (*row)->order(&a, i, slots);
                FR_TRUE((*row)->held(&a, i) == fr_schedule_in_flight(false, slots, n) &&
                            !(*row)->splits_backward,
                        "%s P %d m %d v %d stage %d", (*row)->name, a.stages, a.micro_batches,
                        a.chunks, i);
            }
        }
    assert_true(stated > 3000);
}

/* Critical tasks hang together: each starts when the one before it ends, from 0 to the end. */
static void critical_path_is_a_chain(void **state) {
    (void)state;
    uint64_t seed = 4;
    for (int k = 0; k < 200; k++) {
        struct pipeline_case c;
        struct fr_program program;
        random_case(&c, &seed);
        assert_int_equal(fr_program_make(&c.p, &program, NULL), FR_OK);
        double *class_s = malloc((size_t)program.n_classes * sizeof *class_s), sum_s = 0;
        double *end_s = malloc((size_t)program.n_tasks * sizeof *end_s);
        bool *critical = malloc((size_t)program.n_tasks * sizeof *critical);
        fr_price_classes(&c.p, &program, FR_WITH_ALL, class_s);
        double time_s = fr_engine_run(&program, class_s, end_s);
        fr_engine_critical(&program, end_s, critical);
        for (int64_t t = 0; t < program.n_tasks; t++)
            if (critical[t]) sum_s += class_s[program.tasks[t].class_id];
        FR_NEAR(sum_s, time_s, 1e-12);
        free(class_s);
        free(end_s);
        free(critical);
        fr_program_free(&program);
    }
}

/* Which pipelines the recurrence of ticks runs: both passes of what alternates or comes in two phases, of one chunk. */
static void who_runs_in_ticks(void **state) {
    (void)state;
    for (const struct fr_schedule *const *row = fr_schedules; *row; row++) {
        static struct pipeline_case c;
        const struct fr_schedule_args one = {4, 8, 1, NULL}, two = {4, 8, 2, NULL};
        if (*row == &fr_schedule_custom) continue;
        bool simple = *row == &fr_schedule_gpipe || *row == &fr_schedule_one_f_one_b ||
                      *row == &fr_schedule_doubled;
        case_uniform(&c, *row, 4, 8, (*row)->refuses(&one) ? 2 : 1, false, 1, 2, 0);
        assert_int_equal(fr_pipeline_is_periodic(&c.p), simple);
        assert_true(!simple || (*row)->refuses(&two));
        c.p.forward = true;
        assert_false(fr_pipeline_is_periodic(&c.p));
        c.p.forward = false, c.p.codes_forward = true, c.p.scope = FR_SCOPE_EPILOGUE;
        assert_int_equal(fr_pipeline_is_periodic(&c.p), simple);
        c.p.args.chunks = 2;
        assert_false(fr_pipeline_is_periodic(&c.p));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(engine_equals_recurrence),
                                       cmocka_unit_test(overlap_never_costs),
                                       cmocka_unit_test(longer_is_never_faster),
                                       cmocka_unit_test(programs_are_whole),
                                       cmocka_unit_test(zero_bubble_is_never_slower),
                                       cmocka_unit_test(activations_held),
                                       cmocka_unit_test(held_as_slots_say),
                                       cmocka_unit_test(critical_path_is_a_chain),
                                       cmocka_unit_test(who_runs_in_ticks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
