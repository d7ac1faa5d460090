/** @file
 *  Pipelines for tests: made directly, or drawn from a seeded generator. */
#ifndef FR_TESTS_PIPELINE_CASE_H
#define FR_TESTS_PIPELINE_CASE_H

#include <stdlib.h>

#include "models/outcome/iteration.h"
#include "sim/run.h"
#include "tests/cmocka.h"

enum { CASE_STAGES = 16, CASE_SLOTS = 1 << 14 };

struct pipeline_case {
    struct fr_pipeline p;
    struct fr_stage stage[CASE_STAGES];
    struct fr_slot slots[CASE_SLOTS];
};

static inline void case_uniform(struct pipeline_case *c, const struct fr_schedule *schedule,
                                int stages, int micro, int chunks, bool duplex,
                                double forward_s, double backward_s, double message_s) {
    memset(c->stage, 0, sizeof c->stage);
    for (int i = 0; i < stages; i++)
        c->stage[i] = (struct fr_stage){.forward = {.compute_s = forward_s},
                                        .backward = {.compute_s = backward_s},
                                        .weight = {.compute_s = backward_s / 2},
                                        .message_s = message_s};
    c->p = (struct fr_pipeline){
        .schedule = schedule,
        .args = {.stages = stages, .micro_batches = micro, .chunks = chunks},
        .duplex = duplex,
        .stage = c->stage};
    assert_true(fr_schedule_slots(schedule, &c->p.args) * stages <= CASE_SLOTS);
    fr_pipeline_order(&c->p, c->slots);
}

/** splitmix64: the same cases on every machine. */
static inline uint64_t case_random(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
static inline double case_uniform01(uint64_t *state) {
    return (double)(case_random(state) >> 11) * 0x1p-53;
}

static inline double case_event_s(const struct pipeline_case *c, bool messages) {
    struct fr_program program;
    struct fr_error err = {0};
    if (fr_program_make(&c->p, &program, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    double *class_s = malloc((size_t)program.n_classes * sizeof *class_s);
    double *end_s = malloc(((size_t)program.n_tasks + 1) * sizeof *end_s);
    fr_price_classes(&c->p, &program, messages ? FR_WITH_ALL : FR_WITH_ALL & ~FR_WITH_MESSAGES,
                     class_s);
    double time_s = fr_engine_run(&program, class_s, end_s);
    free(class_s);
    free(end_s);
    fr_program_free(&program);
    return time_s;
}

static inline double case_closed_s(const struct pipeline_case *c, bool messages) {
    struct fr_error err = {0};
    struct fr_pipeline_times times = {0};
    if (fr_pipeline_run(&c->p, messages ? FR_WITH_ALL : FR_WITH_ALL & ~FR_WITH_MESSAGES, &times,
                        &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    return times.makespan_s;
}

#endif
