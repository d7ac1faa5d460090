/* Runs that are looked up are the runs that would have been made: random pipelines, changed in one place at
 * a time, by a memory too small for them against none. */
#include <math.h>

#include "tests/pipeline_case.h"

enum { ROUNDS = 4000, PLACES = 64 };

static const struct fr_schedule *schedules[] = {&fr_schedule_one_f_one_b, &fr_schedule_gpipe,
                                                &fr_schedule_interleaved,
                                                &fr_schedule_zero_bubble};

static int below(uint64_t *state, int n) { return (int)(case_random(state) % (uint64_t)n); }

static void draw(struct pipeline_case *c, uint64_t *state) {
    const struct fr_schedule *schedule = schedules[below(state, 4)];
    int stages = 1 + below(state, 4);
    int chunks = schedule->interleaves && stages > 1 ? 1 + below(state, 3) : 1;
    case_uniform(c, schedule, stages, stages * (1 + below(state, 3)), chunks, false, 1, 2, 0.1);
    c->p.n_slots = fr_schedule_slots(schedule, &c->p.args);
    c->p.splits_backward = fr_schedule_splits(schedule, &c->p.args);
}

/* One number of one stage, or where its buckets go. */
static void change(struct pipeline_case *c, uint64_t *state) {
    struct fr_stage *s = &c->stage[below(state, c->p.args.stages)];
    double *const numbers[] = {
        &s->forward.compute_s, &s->backward.compute_s, &s->weight.compute_s,
        &s->message_s,         &s->bucket_s,           &s->gradient_s,
        &s->optimizer_s,       &s->beside_s,           &s->forward.launch_s,
        &s->backward.launch_s, &c->p.embedding_s,      &s->gradient_codec_s};
    int n = sizeof numbers / sizeof *numbers, which = below(state, n + 1);
    if (which == n)
        s->buckets = below(state, 3);
    else
        *numbers[which] = below(state, 3) * 0.25 + (which == 1); /* weights' are part of it */
}

static bool same(const double *a, const double *b, size_t n) {
    return memcmp(a, b, n * sizeof *a) == 0;
}

static void made_anew(const struct fr_pipeline *p, int with, struct fr_pipeline_times *times) {
    struct fr_error err = {0};
    if (fr_pipeline_run(p, with, times, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
}

/* With some parts of it left out: every time it is made anew, too. */
static void found_or_made(const struct pipeline_case *c, int bits,
                          struct fr_recurrence_cache *cache, int *found, int *made) {
    struct fr_pipeline_times with = {.cache = cache}, without = {.cache = NULL},
                             again = {.cache = cache};
    if (fr_pipeline_ran(&c->p, bits, &with))
        ++*found;
    else
        ++*made, made_anew(&c->p, bits, &with);
    made_anew(&c->p, bits, &without);
    assert_true(fr_pipeline_ran(&c->p, bits, &again));
    assert_true(same(&with.makespan_s, &without.makespan_s, 1));
    assert_true(same(&again.makespan_s, &without.makespan_s, 1));
}

static void what_is_found_is_what_would_be_made(void **state) {
    static struct pipeline_case c;
    struct fr_recurrence_cache *cache = fr_recurrence_cache_make(PLACES);
    uint64_t seed = 20261122;
    int found = 0, made = 0;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int bits = below(&seed, 4) ? FR_WITH_ALL : below(&seed, FR_WITH_ALL + 1);
        if (round % 40 == 0) draw(&c, &seed);
        change(&c, &seed);
        found_or_made(&c, bits, cache, &found, &made);
        for (int bit = 1; bit <= FR_WITH_ALL && round % 4 == 0; bit *= 2)
            found_or_made(&c, bits ^ bit, cache, &found, &made); /* the same but for one part */
    }
    fr_recurrence_cache_free(cache);
    assert_true(found > ROUNDS / 10 && made > ROUNDS / 10); /* both were tried */
}

/* So are runs with compressed messages, changed in one of the numbers that codecs bring. */
static void compressed_messages_are_kept_apart(void **state) {
    static const fr_scope scopes[] = {FR_SCOPE_NONE, FR_SCOPE_EPILOGUE, FR_SCOPE_ALL};
    static struct pipeline_case c;
    struct fr_recurrence_cache *cache = fr_recurrence_cache_make(PLACES);
    uint64_t seed = 20261127;
    int found = 0, made = 0;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        if (round % 40 == 0)
            case_uniform(&c, below(&seed, 2) ? &fr_schedule_gpipe : &fr_schedule_one_f_one_b,
                         2 + below(&seed, 3), 8, 1, false, 1, 2, 0.5);
        struct fr_stage *s = &c.stage[below(&seed, c.p.args.stages)];
        double *const numbers[] = {
            &s->small_message_s,  &s->small_forward_s,  &s->encode_s,       &s->decode_s,
            &s->forward_encode_s, &s->forward_decode_s, &s->small_forward_B};
        *numbers[below(&seed, 7)] = below(&seed, 3) * 0.25;
        c.p.scope = scopes[below(&seed, 3)];
        c.p.codes_forward = below(&seed, 2);
        s->sends_whole = below(&seed, 4) == 0;
        found_or_made(&c, below(&seed, 4) ? FR_WITH_ALL : FR_WITH_ALL ^ FR_WITH_CODEC, cache,
                      &found, &made);
    }
    fr_recurrence_cache_free(cache);
    assert_true(found > ROUNDS / 20 && made > ROUNDS / 20); /* both were tried */
}

/* A key saves nothing but under itself: not under its beginning, nor for another count of numbers. */
static void keys_are_whole(void **state) {
    struct fr_recurrence_cache *cache = fr_recurrence_cache_make(1);
    const double saved[] = {1, 2, 3};
    (void)state;
    memcpy(fr_recurrence_cache_key(cache, 3), (uint64_t[]){7, 8, 9}, 3 * sizeof(uint64_t));
    assert_null(fr_recurrence_cache_find(cache, 3));
    fr_recurrence_cache_keep(cache, saved, 3);
    assert_true(same(fr_recurrence_cache_find(cache, 3), saved, 3));
    assert_null(fr_recurrence_cache_find(cache, 2));
    memcpy(fr_recurrence_cache_key(cache, 2), (uint64_t[]){7, 8}, 2 * sizeof(uint64_t));
    assert_null(fr_recurrence_cache_find(cache, 3));
    for (int i = 0; i < 3; i++) {
        uint64_t other[] = {7, 8, 9};
        other[i]++;
        memcpy(fr_recurrence_cache_key(cache, 3), other, sizeof other);
        assert_null(fr_recurrence_cache_find(cache, 3));
    }
    fr_recurrence_cache_free(cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_found_is_what_would_be_made),
                                       cmocka_unit_test(compressed_messages_are_kept_apart),
                                       cmocka_unit_test(keys_are_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
