/* The exact statements about pipelines (derived after Song et al. 2023), by the event engine and by the
 * recurrence, which share no code beyond the schedules' lists. */
#include "tests/pipeline_case.h"

static void both(const struct pipeline_case *c, double want_s, double relative) {
    FR_NEAR(case_event_s(c, true), want_s, relative);
    if (!c->p.duplex) FR_NEAR(case_closed_s(c, true), want_s, relative);
}

/* T = (m + P - 1)(F + B) without communication, m >= P; stage i ends i B before stage 0. */
static void no_communication(void **state) {
    (void)state;
    for (int stages = 1; stages <= 16; stages++)
        for (int micro = stages; micro <= 4 * stages; micro += stages) {
            struct pipeline_case c;
            case_uniform(&c, &fr_schedule_one_f_one_b, stages, micro, 1, false, 1, 2, 0);
            both(&c, (micro + stages - 1) * 3.0, 1e-12);
            case_uniform(&c, &fr_schedule_gpipe, stages, micro, 1, false, 1, 2, 0);
            both(&c, (micro + stages - 1) * 3.0, 1e-12);
        }
}

/* Asynchronous 1F1B, F = 1, B = 2, P | m, c <= 0.05: c [2 (P-1) m / P + 2 (P-2)] more. */
static void asynchronous(void **state) {
    (void)state;
    for (int stages = 2; stages <= 16; stages++)
        for (int micro = stages; micro <= 8 * stages; micro += stages)
            for (double c_s = 0.01; c_s <= 0.05; c_s += 0.02) {
                struct pipeline_case c;
                case_uniform(&c, &fr_schedule_one_f_one_b, stages, micro, 1, false, 1, 2, c_s);
                double more_s = c_s * (2.0 * (stages - 1) * micro / stages + 2 * (stages - 2));
                both(&c, 3.0 * (micro + stages - 1) + more_s, 1e-12);
            }
}

/* Blocking duplex: c (2m + 2P - 5) more for P >= 3 and c <= 0.3, c (m + 1) for P = 2. */
static void duplex(void **state) {
    (void)state;
    for (int stages = 2; stages <= 16; stages++)
        for (int micro = 2 * stages; micro <= 8 * stages; micro += stages)
            for (double c_s = 0.05; c_s <= 0.3; c_s += 0.05) {
                struct pipeline_case c;
                case_uniform(&c, &fr_schedule_one_f_one_b, stages, micro, 1, true, 1, 2, c_s);
                double more_s = c_s * (stages == 2 ? micro + 1 : 2 * micro + 2 * stages - 5);
                both(&c, 3.0 * (micro + stages - 1) + more_s, 1e-12);
            }
}

/* Doubled warm-up: 2 (P-1) c more, m >= 2P, c <= (F + B)/2. */
static void doubled(void **state) {
    (void)state;
    for (int stages = 2; stages <= 16; stages++)
        for (int micro = 2 * stages; micro <= 6 * stages; micro += stages)
            for (double c_s = 0.1; c_s <= 1.5; c_s += 0.35) {
                struct pipeline_case c;
                case_uniform(&c, &fr_schedule_doubled, stages, micro, 1, false, 1, 2, c_s);
                both(&c, 3.0 * (micro + stages - 1) + 2 * (stages - 1) * c_s, 1e-12);
            }
}

/* The value that four independent engines agree on. */
static void agreed_value(void **state) {
    (void)state;
    struct pipeline_case c;
    case_uniform(&c, &fr_schedule_one_f_one_b, 8, 64, 1, false, 1e-3, 2e-3, 2e-6);
    both(&c, 0.213248, 1e-9);
}

/* Bubbles of every row that has a formula, no communication, F = B - W = W. */
static void bubbles(void **state) {
    (void)state;
    for (const struct fr_schedule *const *row = fr_schedules; *row; row++)
        for (int stages = 1; stages <= 8 && (*row)->bubble_s; stages++)
            for (int chunks = 1; chunks <= ((*row)->interleaves ? 4 : 1); chunks++) {
                struct pipeline_case c;
                struct fr_schedule_args a = {stages, 4 * stages, chunks, NULL};
                if ((*row)->refuses && (*row)->refuses(&a)) continue;
                case_uniform(&c, *row, stages, 4 * stages, chunks, false, 1, 2, 0);
                both(&c, 12.0 * stages + (*row)->bubble_s(&c.p.args, 1, 2, 1), 1e-12);
            }
}

/* A stage's gradient all-reduce starts after its last backward pass, which for stage i of 1F1B
 * ends i B before stage 0's: the all-reduce of stage i is free up to i B. */
static void gradients_hide_behind_the_lead(void **state) {
    (void)state;
    struct pipeline_case c;
    for (int i = 0; i < 6; i++) {
        case_uniform(&c, &fr_schedule_one_f_one_b, 6, 12, 1, false, 1, 2, 0);
        c.stage[i].gradient_s = 2.0 * i;
        both(&c, 3.0 * 17, 1e-12);
        c.stage[i].gradient_s = 2.0 * i + 0.5;
        both(&c, 3.0 * 17 + 0.5, 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_communication),
                                       cmocka_unit_test(asynchronous),
                                       cmocka_unit_test(duplex),
                                       cmocka_unit_test(doubled),
                                       cmocka_unit_test(agreed_value),
                                       cmocka_unit_test(bubbles),
                                       cmocka_unit_test(gradients_hide_behind_the_lead)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
