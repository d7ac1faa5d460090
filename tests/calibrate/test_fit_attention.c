/* The fit of attention finds again what made its samples: the law of calibrate/fit/attention.c with random coefficients,
 * each pass with keys of its own, and FlashAttention-2's two passes. */
#include <string.h>

#include "base/random.h"
#include "calibrate/fit/parts.h"
#include "models/job/preset.h"
#include "tests/cmocka.h"

static double between(uint64_t *random, double low, double high) {
    return low + (high - low) * fr_random_uniform(fr_random_next(random));
}

struct law {
    double peak, flash, half_keys, backward, backward_keys, exponentials, older_forward,
        older_backward;
};

static double time_s(const struct law *l, const struct fr_sample_attention *a) {
    double keys = (double)a->sequence * (a->causal ? 0.5 : 1), d = (double)a->width;
    double whole_s = 4 * (double)a->batch * (double)a->heads * (double)a->sequence * d * keys /
                     (l->flash * l->peak),
           forward_s = whole_s * (1 + l->half_keys / keys),
           backward_s = 2.5 * whole_s * (1 + l->backward_keys / keys) / l->backward;
    if (a->kernel == FR_SAMPLE_FLASH_2)
        return a->pass ? backward_s * l->older_backward : forward_s * l->older_forward;
    if (a->pass) return backward_s;
    return d < l->exponentials ? forward_s * l->exponentials / d : forward_s;
}

static void add(struct fr_samples *samples, const struct law *l, uint64_t *random, int kernel,
                int sequence, int width, bool causal) {
    for (int pass = 0; pass < 2; pass++)
        for (int rep = 0; rep < 3; rep++) {
            struct fr_sample_attention a = {.kernel = kernel,
                                            .dtype = FR_BF16,
                                            .batch = 2,
                                            .sequence = sequence,
                                            .heads = 16,
                                            .kv_heads = 4,
                                            .width = width,
                                            .causal = causal,
                                            .pass = pass,
                                            .rep = rep};
            a.time_s = time_s(l, &a) * (rep == 2 ? between(random, 1, 3) : 1); /* disturbed */
            assert_int_equal(fr_samples_add_attention(samples, &a), FR_OK);
        }
}

static void near(double got, double wanted, const char *what) {
    if (!(fabs(got / wanted - 1) < 1e-6))
        fail_msg("%s: got %.9g, wanted %.9g", what, got, wanted);
}

static void laws_are_found_again(void **state) {
    uint64_t random = 7;
    struct fr_json_document *base = NULL;
    (void)state;
    assert_int_equal(fr_preset_or_file_read("cluster", "dgx-h100", &base, NULL), FR_OK);
    const struct fr_fit_options options = {.base = base};
    for (int round = 0; round < 50; round++) {
        struct fr_samples samples = {0};
        struct fr_fit_result result = {0};
        const struct law l = {.peak = 989e12,
                              .flash = between(&random, 0.3, 0.9),
                              .half_keys = between(&random, 20, 900),
                              .backward = between(&random, 0.6, 1),
                              .backward_keys = between(&random, 20, 900),
                              .exponentials = between(&random, 66, 95),
                              .older_forward = between(&random, 1, 2),
                              .older_backward = between(&random, 1, 3)};
        for (int sequence = 1024; sequence <= 16384; sequence *= 2) {
            add(&samples, &l, &random, FR_SAMPLE_FLASH, sequence, 128, true);
            add(&samples, &l, &random, FR_SAMPLE_FLASH_2, sequence, 128, true);
        }
        add(&samples, &l, &random, FR_SAMPLE_FLASH, 4096, 128, false);
        add(&samples, &l, &random, FR_SAMPLE_FLASH, 4096, 64, true);
        assert_int_equal(fr_fit_attentions(&samples, &options, &result, NULL), FR_OK);
        const struct fr_fit_attention *a = &result.attention;
        near(a->flash, l.flash, "flash");
        near(a->half_keys, l.half_keys, "half_keys");
        near(a->backward, l.backward, "backward");
        near(a->exponentials, l.exponentials, "exponentials");
        near(a->backward_keys, l.backward_keys, "backward_keys");
        near(a->flash_2, fmin(1, l.flash / l.older_forward),
             "flash_2"); /* a share of the peak */
        near(a->flash_2_backward, l.backward * l.older_forward / l.older_backward,
             "flash_2_backward");
        fr_samples_free(&samples);
    }
    fr_json_free(base);
}

/* Samples of @p l at five lengths; backward at all of them, or at one. */
static struct fr_fit_attention fit_of(const struct law *l, bool one) {
    struct fr_json_document *base = NULL;
    struct fr_samples samples = {0};
    struct fr_fit_result result = {0};
    uint64_t random = 5;
    size_t n = 0;
    assert_int_equal(fr_preset_or_file_read("cluster", "dgx-h100", &base, NULL), FR_OK);
    const struct fr_fit_options options = {.base = base};
    for (int sequence = 1024; sequence <= 16384; sequence *= 2)
        add(&samples, l, &random, FR_SAMPLE_FLASH, sequence, 128, true);
    for (size_t i = 0; i < samples.n_attention; i++)
        if (!one || samples.attention[i].pass == 0 || samples.attention[i].sequence == 2048)
            samples.attention[n++] = samples.attention[i];
    samples.n_attention = n;
    assert_int_equal(fr_fit_attentions(&samples, &options, &result, NULL), FR_OK);
    fr_samples_free(&samples);
    fr_json_free(base);
    return result.attention;
}

/* A backward pass of one length saturates as the forward pass, which a file says by 0; one that does not saturate says so by
 * few keys. */
static void backward_passes_of_their_own(void **state) {
    const struct law alike = {
        .peak = 989e12, .flash = 0.5, .half_keys = 500, .backward = 0.8, .backward_keys = 500};
    struct law level = alike;
    (void)state;
    level.backward_keys = 0;
    struct fr_fit_attention a = fit_of(&alike, true);
    near(a.half_keys, 500, "half_keys");
    near(a.backward, 0.8, "backward of one length");
    assert_true(a.backward_keys == 0);
    a = fit_of(&level, false);
    near(a.backward, 0.8, "backward that does not saturate");
    FR_TRUE(a.backward_keys > 0 && a.backward_keys < 1, "%g keys", a.backward_keys);
}

/* Nothing is said of what was not measured. */
static void nothing_is_made_up(void **state) {
    struct fr_json_document *base = NULL;
    struct fr_samples samples = {0};
    struct fr_fit_result result = {0};
    uint64_t random = 3;
    const struct law l = {.peak = 989e12, .flash = 0.5, .backward = 0.8};
    (void)state;
    assert_int_equal(fr_preset_or_file_read("cluster", "dgx-h100", &base, NULL), FR_OK);
    const struct fr_fit_options options = {.base = base};
    assert_int_equal(fr_fit_attentions(&samples, &options, &result, NULL), FR_OK);
    assert_true(result.attention.n == 0 && result.attention.flash == 0);
    add(&samples, &l, &random, FR_SAMPLE_FLASH, 4096, 128, true);
    assert_int_equal(fr_fit_attentions(&samples, &options, &result, NULL), FR_OK);
    assert_true(result.attention.n == 2 && result.attention.flash_2 == 0 &&
                result.attention.half_keys == 0 && result.attention.exponentials == 0);
    near(result.attention.flash, 0.5, "one size");
    fr_samples_free(&samples);
    fr_json_free(base);
}

/* Narrow heads say where exponentials take over only if they wait for them, whatever widths were measured. */
static void narrow_heads_that_do_not_wait(void **state) {
    static const struct {
        double law;
        int width[2];
        double wanted;
    } rows[] = {{0, {80, 80}, 0},   {0, {64, 80}, 0},   {0, {80, 32}, 0},  {70, {64, 80}, 70},
                {70, {80, 64}, 70}, {90, {80, 80}, 90}, {40, {32, 64}, 40}};
    struct fr_json_document *base = NULL;
    uint64_t random = 11;
    (void)state;
    assert_int_equal(fr_preset_or_file_read("cluster", "dgx-h100", &base, NULL), FR_OK);
    const struct fr_fit_options options = {.base = base};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_samples samples = {0};
        struct fr_fit_result result = {0};
        const struct law l = {
            .peak = 989e12, .flash = 0.5, .backward = 0.8, .exponentials = rows[i].law};
        add(&samples, &l, &random, FR_SAMPLE_FLASH, 4096, 128, true);
        for (int k = 0; k < 2; k++)
            add(&samples, &l, &random, FR_SAMPLE_FLASH, 4096, rows[i].width[k], true);
        assert_int_equal(fr_fit_attentions(&samples, &options, &result, NULL), FR_OK);
        FR_NEAR(result.attention.exponentials, rows[i].wanted, 1e-6);
        fr_samples_free(&samples);
    }
    fr_json_free(base);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_are_found_again),
        cmocka_unit_test(backward_passes_of_their_own),
        cmocka_unit_test(nothing_is_made_up),
        cmocka_unit_test(narrow_heads_that_do_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
