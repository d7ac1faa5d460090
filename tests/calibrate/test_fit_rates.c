/* Equal products at once, block scales and rates by shape of an accelerator whose law is known: they are found again, in the
 * cluster file and in the document. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "calibrate/fit/fit.h"
#include "models/job/cluster.h"
#include "models/job/preset.h"
#include "tests/cmocka.h"

enum { SHAPES = 64, BATCHES = 6, SCALED = 3 };
static const double GROUPED = 0.71, EFFICIENCY = 0.58, BLOCKS = 1.2, FLASH = 0.6;

struct measured {
    struct fr_sample_gemm gemm[SHAPES], batched[BATCHES + 1], scaled[SCALED];
    struct fr_sample_attention attention[1];
    struct fr_sample_memory memory[1];
    struct fr_samples samples;
    struct fr_json_document *base;
    struct fr_cluster cluster; /* the law */
};

static double law_s(const struct fr_device *device, fr_dtype dtype,
                    const struct fr_sample_gemm *s) {
    bool extrapolated = false;
    const struct fr_gemm_shape shape = {.m = (double)s->n,
                                        .n = (double)s->m,
                                        .k = (double)s->k,
                                        .at_once = s->batch > 1 ? (double)s->batch : 0};
    return (double)s->batch *
           (fr_gemm_time_of_s(device, dtype, &shape, (struct fr_gemm_use){0}, &extrapolated) +
            fr_gemm_own_s(device, dtype, &shape));
}

static void measure(struct measured *m, fr_dtype dtype) {
    static const int64_t size[] = {2048, 4096, 8192, 16384};
    struct fr_error err = {.status = FR_OK};
    *m = (struct measured){.base = NULL};
    assert_int_equal(fr_preset_or_file_read("cluster", "dgx-h100", &m->base, &err), FR_OK);
    assert_int_equal(fr_cluster_read(m->base, &m->cluster, &err), FR_OK);
    struct fr_device *device = &m->cluster.device;
    device->gemm[dtype].tiles.efficiency = EFFICIENCY;
    device->gemm[dtype].tiles.grouped = GROUPED;
    for (int i = 0; i < SHAPES; i++) {
        struct fr_sample_gemm s = {.dtype = dtype,
                                   .m = size[i % 4],
                                   .n = size[i / 4 % 4],
                                   .k = size[i / 16 % 4],
                                   .batch = 1,
                                   .transposed = FR_TRANSPOSED_B};
        s.time_s = law_s(device, dtype, &s);
        m->gemm[i] = s;
        if (i >= SCALED) continue;
        s.blocks = true, s.time_s *= BLOCKS;
        m->scaled[i] = s;
    }
    for (int i = 0; i <= BATCHES; i++) {
        struct fr_sample_gemm s = {.dtype = dtype,
                                   .m = 256 << (i % 3),
                                   .n = 2048 << (i % 2),
                                   .k = 4096,
                                   .batch = 4 << (i / 2),
                                   .transposed = FR_TRANSPOSED_B};
        s.time_s = law_s(device, dtype, &s);
        if (i == BATCHES) s.k = 128, s.time_s *= 9; /* heads: of another law */
        m->batched[i] = s;
    }
    m->attention[0] =
        (struct fr_sample_attention){.kernel = FR_SAMPLE_FLASH,
                                     .dtype = FR_BF16,
                                     .batch = 1,
                                     .sequence = 4096,
                                     .heads = 8,
                                     .kv_heads = 8,
                                     .width = 128,
                                     .time_s = 4.0 * 8 * 4096 * 4096 * 128 / (FLASH * 989e12)};
    m->memory[0] = (struct fr_sample_memory){.kernel = FR_TRAFFIC_STREAM,
                                             .size_B = 2e9,
                                             .moved_B = 2e9,
                                             .time_s = 2e9 / device->memory_rate_B_per_s};
    m->samples = (struct fr_samples){.provenance = {.host = FR_HOST_IMPORTED,
                                                    .device = "NVIDIA H100",
                                                    .ranks = 1,
                                                    .nodes = 1},
                                     .gemm = m->gemm,
                                     .n_gemm = SHAPES,
                                     .batched = m->batched,
                                     .n_batched = BATCHES + 1,
                                     .scaled = m->scaled,
                                     .n_scaled = SCALED,
                                     .attention = m->attention,
                                     .n_attention = 1,
                                     .memory = m->memory,
                                     .n_memory = 1};
}

static void drop(struct measured *m, struct fr_fit_result *r) {
    fr_fit_free(r);
    fr_cluster_free(&m->cluster);
    fr_json_free(m->base);
}

static void fit(const struct measured *m, struct fr_fit_result *r) {
    struct fr_error err = {.status = FR_OK};
    const struct fr_fit_options options = {.base = m->base, .busy_W = -1, .idle_W = -1};
    if (fr_fit(&m->samples, &options, r, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
}

static void several_at_once_are_found_again(void **state) {
    (void)state;
    for (int narrow = 0; narrow < 2; narrow++) {
        const fr_dtype dtype = narrow ? FR_FP8 : FR_BF16;
        struct measured m;
        struct fr_fit_result r;
        struct fr_json_document *written = NULL;
        struct fr_text text = {0};
        struct fr_error err = {.status = FR_OK};
        struct fr_cluster fitted;
        measure(&m, dtype);
        fit(&m, &r);
        const struct fr_fit_singles *s = &r.singles[dtype];
        int too_short = 0; /* of ten launches */
        for (int i = 0; i < SHAPES; i++)
            too_short += m.gemm[i].time_s < 10 * m.cluster.device.launch_s;
        assert_true(too_short > 0 && too_short < SHAPES / 2);
        assert_int_equal(s->too_short, too_short);
        assert_int_equal(s->n, SHAPES - too_short);
        assert_int_equal(s->n_grouped, BATCHES); /* the one of heads is none of them */
        FR_NEAR(s->value[0], EFFICIENCY, 0.02);  /* priors pull, as in calibrate.fit_device */
        FR_NEAR(s->grouped, GROUPED, 0.01);
        assert_int_equal(s->n_blocks, SCALED);
        FR_NEAR(s->blocks, BLOCKS, 1e-9);
        fr_fit_write_cluster(&r, &text);
        assert_int_equal(fr_json_parse(fr_text_get(&text), text.length, "c", &written, &err),
                         FR_OK);
        if (fr_cluster_read(written, &fitted, &err) != FR_OK)
            fail_msg("%s: %s", err.where, err.detail);
        FR_NEAR(fitted.device.gemm[dtype].tiles.grouped, GROUPED, 0.01);
        /* Utilisation is a share of the data sheet's peak, as it was before the fit. */
        assert_true(fr_gemm_nominal_flop_per_s(&fitted.device.gemm[dtype]) ==
                    m.cluster.device.gemm[dtype].peak_flop_per_s);
        fr_cluster_free(&fitted);
        fr_json_free(written);
        fr_text_free(&text);
        drop(&m, &r);
    }
}

/* Every point is in the document with its rate, under its roof, and the file that is written prices it. */
static void rates_lie_under_their_roofs(void **state) {
    (void)state;
    struct measured m;
    struct fr_fit_result r;
    struct fr_text text = {0};
    struct fr_json_document *document = NULL;
    measure(&m, FR_BF16);
    fit(&m, &r);
    fr_fit_json(&text, &m.samples, &r);
    assert_int_equal(fr_json_parse(fr_text_get(&text), text.length, "fit", &document, NULL),
                     FR_OK);
    struct fr_json root = fr_json_root(document), rates = fr_json_member(&root, "rates"),
                   products = fr_json_member(&rates, "products"),
                   attention = fr_json_member(&rates, "attention"),
                   memory = fr_json_member(&rates, "memory"),
                   roofline = fr_json_member(&root, "roofline");
    assert_int_equal(fr_json_array_length(&attention), 1);
    assert_int_equal(fr_json_array_length(&memory), 1);
    struct fr_json_document *written = NULL;
    struct fr_cluster fitted;
    struct fr_text cluster = {0};
    fr_fit_write_cluster(&r, &cluster);
    assert_int_equal(fr_json_parse(fr_text_get(&cluster), cluster.length, "c", &written, NULL),
                     FR_OK);
    assert_int_equal(fr_cluster_read(written, &fitted, NULL), FR_OK);
    int priced = 0;
    for (int64_t i = 0; i < fr_json_array_length(&products); i++) {
        struct fr_json p = fr_json_element(&products, i);
        double flop = 2 * fr_json_number_at(&p, "m") * fr_json_number_at(&p, "n") *
                      fr_json_number_at(&p, "k") * fr_json_number_at(&p, "at_once"),
               rate = fr_json_number_at(&p, "rate_flop_per_s"),
               error = fr_json_number_at(&p, "fit_error");
        FR_NEAR(rate * fr_json_number_at(&p, "median_s") / flop, 1, 1e-9);
        FR_NEAR(fr_json_number_at(&p, "peak_share"), rate / 989e12, 1e-9);
        if (isnan(error)) continue;
        priced++;
        const struct fr_sample_gemm s = {.dtype = FR_BF16,
                                         .m = (int64_t)fr_json_number_at(&p, "m"),
                                         .n = (int64_t)fr_json_number_at(&p, "n"),
                                         .k = (int64_t)fr_json_number_at(&p, "k"),
                                         .batch = (int64_t)fr_json_number_at(&p, "at_once")};
        double predicted_s = law_s(&fitted.device, FR_BF16, &s);
        FR_TRUE(fabs(1 + error - predicted_s / fr_json_number_at(&p, "median_s")) < 1e-4,
                "%g s predicted, an error of %g", predicted_s, error); /* it is rounded */
    }
    assert_int_equal(priced, fr_json_array_length(&products) - SCALED);
    struct fr_json one = fr_json_element(&attention, 0);
    FR_NEAR(fr_json_number_at(&one, "peak_share"), FLASH, 1e-3);
    int roofs = 0;
    for (int64_t i = 0; i < fr_json_array_length(&roofline); i++) {
        struct fr_json p = fr_json_element(&roofline, i);
        double roof = fmin(989e12, fr_json_number_at(&p, "flop_per_B") *
                                       m.cluster.device.memory_rate_B_per_s),
               rate = fr_json_number_at(&p, "rate_flop_per_s");
        bool of_roof = strcmp(fr_json_text_at(&p, "of"), "roof, bf16") == 0;
        roofs += of_roof;
        if (of_roof) FR_NEAR(rate / roof, 1, 1e-3);
        FR_TRUE(rate <= roof * 1.001, "%s %s lies above its roof", fr_json_text_at(&p, "of"),
                fr_json_text_at(&p, "point"));
    }
    assert_true(roofs > 10);
    fr_cluster_free(&fitted);
    fr_json_free(written);
    fr_text_free(&cluster);
    fr_json_free(document);
    fr_text_free(&text);
    drop(&m, &r);
}

/* Two products say too little of their form: the base's stays, and the rest of the card is fitted all the same. */
static void too_few_products_leave_the_base(void **state) {
    (void)state;
    struct measured m;
    struct fr_fit_result r;
    measure(&m, FR_BF16);
    m.samples.gemm = m.gemm + SHAPES - 2;
    m.samples.n_gemm = 2;
    m.samples.n_batched = m.samples.n_scaled = 0;
    fit(&m, &r);
    assert_int_equal(r.singles[FR_BF16].n, 0);
    assert_true(r.card.memory_rate_B_per_s > 0);
    bool said = false;
    for (int i = 0; i < r.n_missing; i++)
        said = said ||
               strcmp(r.missing[i], "bf16 products (2 of the 3 shapes that a fit needs)") == 0;
    assert_true(said);
    drop(&m, &r);
}

/* Pairs and groups at once beside one alone, at the largest size that was measured both ways. */
static void what_is_at_once_is_compared(void **state) {
    (void)state;
    struct measured m;
    struct fr_fit_result r;
    struct fr_sample_pairs pairs[6];
    struct fr_sample_collective alone[3], groups[3];
    measure(&m, FR_BF16);
    for (int i = 0; i < 6; i++)
        pairs[i] = (struct fr_sample_pairs){.level = FR_SAMPLE_SYSTEM,
                                            .direction = 0,
                                            .n_pairs = i < 3 ? 1 : 4,
                                            .size_B = 1e3 * (1 + i % 3),
                                            .time_s = (i < 3 ? 1 : 2.5) * (1 + i % 3) * 1e-6};
    for (int i = 0; i < 3; i++) {
        alone[i] = (struct fr_sample_collective){.op = FR_OP_ALL_REDUCE,
                                                 .level = FR_SAMPLE_SYSTEM,
                                                 .n_ranks = 2,
                                                 .n_nodes = 2,
                                                 .n_groups = 1,
                                                 .size_B = 4096 << (4 * i),
                                                 .time_s = 1e-5 * (1 + i)};
        groups[i] = alone[i];
        groups[i].n_groups = 3, groups[i].layout = FR_LAYOUT_STRIDE;
        groups[i].time_s *= 1.4 + 0.2 * i;
    }
    groups[2].size_B *= 2; /* which is not measured alone, so that the one before counts */
    m.samples.pairs = pairs, m.samples.n_pairs = 6;
    m.samples.collective = alone, m.samples.n_collective = 3;
    m.samples.segmented = groups, m.samples.n_segmented = 3;
    fit(&m, &r);
    assert_int_equal(r.card.n_at_once, 2);
    const struct fr_fit_at_once *p = &r.card.at_once[0], *g = &r.card.at_once[1];
    assert_true(p->op == FR_OP_SEND_RECV && p->n == 4 && p->size_B == 3e3);
    FR_NEAR(p->slower, 2.5, 1e-9);
    assert_true(g->op == FR_OP_ALL_REDUCE && g->n == 3 && g->layout == FR_LAYOUT_STRIDE &&
                g->size_B == 4096 << 4);
    FR_NEAR(g->slower, 1.6, 1e-9);
    drop(&m, &r);
}

/* A base that is no cluster is refused in its own words, and the samples stay whole. */
static void a_base_that_is_refused(void **state) {
    (void)state;
    struct measured m;
    struct fr_fit_result r;
    struct fr_error err = {.status = FR_OK};
    measure(&m, FR_BF16);
    struct fr_sample_gemm *own = malloc(sizeof m.gemm); /* as they are read: to be freed once */
    memcpy(own, m.gemm, sizeof m.gemm);
    m.samples.gemm = own;
    m.samples.n_attention = 0; /* fitted before products */
    assert_int_equal(fr_json_set(m.base, "levels.1.ranks", "16383", "--set", &err), FR_OK);
    const struct fr_fit_options options = {.base = m.base, .busy_W = -1, .idle_W = -1};
    assert_int_equal(fr_fit(&m.samples, &options, &r, &err), FR_ERR_INPUT);
    assert_non_null(strstr(err.detail, "expected a multiple of the 8 ranks"));
    assert_true(own[SHAPES - 1].time_s == m.gemm[SHAPES - 1].time_s);
    free(own);
    drop(&m, &r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_at_once_are_found_again),
        cmocka_unit_test(rates_lie_under_their_roofs),
        cmocka_unit_test(too_few_products_leave_the_base),
        cmocka_unit_test(what_is_at_once_is_compared),
        cmocka_unit_test(a_base_that_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
