/* A whole training from one iteration, by hand; and what its words may be. */
#include <math.h>

#include "answer/predict/training.h"
#include "tests/job.h"

static struct fr_training read(const struct fr_training_words words) {
    struct fr_training t;
    struct fr_error err = {0};
    if (fr_training_read(&words, &t, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    return t;
}

static void near(double a, double b) {
    FR_TRUE(fabs(a - b) <= 1e-12 * fabs(b), "%.17g, %.17g", a, b);
}

/* 10^12 / (512 x 8192) = 238418.58 iterations of 2 s (1 to 4) and 100 kJ on 64 devices. */
static void a_trillion_tokens(void **state) {
    static const char *const sets[] = {"global_batch=512", "dp=64", NULL};
    struct fr_job job;
    struct fr_training t = read((struct fr_training_words){
        .tokens = "1T", .price = "2.5 USD/h", .carbon = "0.4 kg/kWh"});
    (void)state;
    fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
    const struct fr_outcome out = {
        .plan = job.plan, .ranks = 64, .time_s = 2, .low_s = 1, .high_s = 4, .energy_J = 1e5};
    struct fr_training_cost c = fr_training_cost_of(&t, &job, &out);
    near(c.iterations, 238419);
    near(c.samples, 238419.0 * 512);
    near(c.tokens, 238419.0 * 512 * 8192);
    near(c.time_s, 476838);
    near(c.low_s, 238419);
    near(c.high_s, 953676);
    near(c.device_s, 64 * 476838.0);
    near(c.price, 2.5 * 64 * 476838 / 3600);
    near(c.energy_J, 238419e5);
    near(c.carbon_kg, 0.4 * 238419e5 / 3.6e6);
    assert_string_equal(t.currency, "USD");
    fr_job_free(&job);
}

/* A number of samples that the batch divides takes no iteration more; no price, no carbon: unknown. */
static void whole_batches(void **state) {
    static const char *const sets[] = {"global_batch=48", "dp=8", NULL};
    struct fr_job job;
    struct fr_training t = read((struct fr_training_words){.samples = "4.8k"});
    (void)state;
    fr_test_job("frontier", "ffn-4096", sets, &job);
    const struct fr_outcome out = {.plan = job.plan, .ranks = 8, .time_s = 3, .energy_J = NAN};
    struct fr_training_cost c = fr_training_cost_of(&t, &job, &out);
    near(c.iterations, 100);
    near(c.time_s, 300);
    assert_true(isnan(c.tokens) && isnan(c.price) && isnan(c.carbon_kg) && isnan(c.energy_J));
    struct fr_error err = {0};
    t = read((struct fr_training_words){.tokens = "1e9"});
    assert_int_equal(fr_training_check(&t, &job, &err), FR_ERR_INPUT);
    fr_job_free(&job);
}

static void words_are_read(void **state) {
    static const struct {
        const char *word;
        double tokens;
    } good[] = {{"1", 1},       {"7k", 7e3},         {"2M", 2e6},   {"300B", 3e11},
                {"300G", 3e11}, {"15.6 T", 15.6e12}, {"2e12", 2e12}};
    static const struct fr_training_words bad[] = {{.tokens = ""},
                                                   {.tokens = "T"},
                                                   {.tokens = "1TB"},
                                                   {.tokens = "0"},
                                                   {.tokens = "-1T"},
                                                   {.tokens = "nan"},
                                                   {.tokens = "1e19"},
                                                   {.tokens = "1 t"},
                                                   {.tokens = "1", .samples = "1"},
                                                   {.price = "2 USD/h"},
                                                   {.carbon = "1 kg/kWh"},
                                                   {.tokens = "1", .price = "2.5"},
                                                   {.tokens = "1", .price = "2.5 /h"},
                                                   {.tokens = "1", .price = "USD/h"},
                                                   {.tokens = "1", .price = "-1 USD/h"},
                                                   {.tokens = "1", .price = "2 USD/d"},
                                                   {.tokens = "1", .carbon = "0.4"},
                                                   {.tokens = "1", .carbon = "0.4 kg"},
                                                   {.tokens = "1", .carbon = "0 kg/kWh"}};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        near(read((struct fr_training_words){.tokens = good[i].word}).tokens, good[i].tokens);
    near(read((struct fr_training_words){.tokens = "1", .carbon = "380 g/kWh"}).carbon_kg_per_J,
         0.38 / 3.6e6);
    near(read((struct fr_training_words){.tokens = "1", .price = "3EUR/h"}).price_per_s,
         3.0 / 3600);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fr_training t;
        struct fr_error err = {0};
        FR_TRUE(fr_training_read(&bad[i], &t, &err) == FR_ERR_USAGE && *err.detail, "%zu", i);
    }
    const struct fr_training_words none = {0};
    struct fr_training t;
    assert_int_equal(fr_training_read(&none, &t, NULL), FR_OK);
    assert_false(fr_training_asked(&t));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_trillion_tokens),
                                       cmocka_unit_test(whole_batches),
                                       cmocka_unit_test(words_are_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
