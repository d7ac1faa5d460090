/* The lower bound of an iteration, by hand and beside the iteration itself. */
#include "models/outcome/lower_bound.h"
#include "tests/pipeline_case.h"

/* Three stages, four micro-batches, forward 1 s and backward 2 s, a message 0.1 s.  Every stage begins when the
 * messages of those before are there, does its twelve seconds, and then its own end, or the gradients' way down to
 * a stage before and that one's end. */
static void by_hand(void **state) {
    static struct pipeline_case c;
    (void)state;
    static const struct {
        double embedding_s, optimizer_s, gradient_s, codec_s, beside_s, bucket_s, small_s;
        bool buckets;
        double wanted_s;
    } rows[] = {
        /* Ends alone: 12 s after 0, 1.1 and 2.2 s; down takes 2.1 s each. */
        {.wanted_s = 2.2 + 12 + 2 * 2.1},
        {.optimizer_s = 3, .wanted_s = 2.2 + 12 + 2 * 2.1 + 3},
        {.gradient_s = 7, .codec_s = 2, .beside_s = 1, .wanted_s = 2.2 + 12 + 2 * 2.1 + 10},
        /* The embedding is of the first stage and the last. */
        {.embedding_s = 50, .wanted_s = 2.2 + 12 + 2 * 2.1 + 50},
        /* Buckets: what the codec or the last bucket takes, whichever longer. */
        {.gradient_s = 7, .codec_s = 2, .bucket_s = 5, .buckets = true, .wanted_s = 18.4 + 5},
        {.gradient_s = 7, .codec_s = 6, .bucket_s = 5, .buckets = true, .wanted_s = 18.4 + 6},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        case_uniform(&c, &fr_schedule_one_f_one_b, 3, 4, 1, false, 1, 2, 0.1);
        c.p.embedding_s = rows[k].embedding_s;
        for (int i = 0; i < 3; i++) {
            struct fr_stage *s = &c.stage[i];
            s->optimizer_s = rows[k].optimizer_s;
            s->gradient_s = rows[k].gradient_s;
            s->gradient_codec_s = rows[k].codec_s;
            s->beside_s = rows[k].beside_s;
            s->bucket_s = rows[k].bucket_s;
            s->buckets = rows[k].buckets ? 3 : 0;
        }
        FR_NEAR(fr_pipeline_lower_bound_s(&c.p), rows[k].wanted_s * FR_LOWER_BOUND_SURE, 1e-12);
    }
}

/* One stage's end is seen wherever it is: of 100 s at stage k, 18.4 s of passes and ways are not all before it. */
static void the_end_of_one_stage(void **state) {
    static struct pipeline_case c;
    static const double before_s[] = {2.2 + 12 + 2 * 2.1, 2.2 + 12 + 2.1, 2.2 + 12};
    (void)state;
    for (int k = 0; k < 3; k++) {
        case_uniform(&c, &fr_schedule_one_f_one_b, 3, 4, 1, false, 1, 2, 0.1);
        c.stage[k].optimizer_s = 100;
        double own_s =
            1.1 * k + 12; /* after its own passes, or those above it and the way down */
        double want_s = k == 0 ? before_s[0] + 100 : own_s + 100;
        FR_NEAR(fr_pipeline_lower_bound_s(&c.p), want_s * FR_LOWER_BOUND_SURE, 1e-12);
    }
    /* The embedding at the ends alone: the middle stage's end is its own. */
    case_uniform(&c, &fr_schedule_one_f_one_b, 3, 4, 1, false, 1, 2, 0);
    c.p.embedding_s = 50;
    c.stage[0].forward.compute_s = 0.25; /* so that the last stage ends last */
    c.stage[0].backward.compute_s = 0;
    FR_NEAR(fr_pipeline_lower_bound_s(&c.p), (0.25 + 1 + 12 + 2 + 50) * FR_LOWER_BOUND_SURE,
            1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand),
                                       cmocka_unit_test(the_end_of_one_stage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
