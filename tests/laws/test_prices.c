/* Every form of a matrix product, of a collective and of a compression keeps the contract of its kind,
 * and a row without an example here fails. */
#include <stdlib.h>

#include "models/job/cluster.h"
#include "models/network/segment_fit.h"
#include "models/plan/compression.h"
#include "tests/job.h"
#include "tests/laws/law.h"

/* ---- matrix products -------------------------------------------------------------------------- */

static const struct {
    const char *form, *set; /* of cluster frontier */
    bool whole;             /* a doubled product is never dearer than two */
} products[] = {
    {"saturating", "cluster.device.gemm={\"fp32\":{\"peak\":\"10 TFLOP/s\",\"half_dim\":64}}",
     true},
    {"batch", "cluster.device.gemm={\"fp32\":{\"peak\":\"10 TFLOP/s\",\"half_batch\":32}}",
     true},
    {"tiled",
     "cluster.device.gemm={\"fp32\":{\"peak\":\"10 TFLOP/s\",\"units\":108,\"half_k\":64,"
     "\"misaligned\":1.5,\"odd\":2}}",
     true},
    {"table",
     "cluster.device.gemm={\"fp32\":{\"table\":{\"m\":[64,1024],\"n\":[64,1024],\"k\":[64,1024]"
     ","
     "\"unit\":\"us\",\"time\":[1,3,3,12,3,12,12,300]}}}",
     false},
};

typedef double product_time(const struct fr_gemm_model *model,
                            const struct fr_gemm_shape *shape, bool *extrapolated);

/* Time is positive and grows with every side (sides are whole tiles: waves of tiles are smoothed), the
 * rate is never above the peak, and the flop of a product in which nothing saturates cost no less than
 * at the peak. */
static bool law_product(const struct fr_gemm_model *model, product_time *time_s, bool whole,
                        struct law_why *why) {
    bool outside = false;
    for (double m = 64; m <= 4096; m *= 4)
        for (double n = 64; n <= 4096; n *= 4)
            for (double k = 64; k <= 4096; k *= 4) {
                const struct fr_gemm_shape shape[] = {{m, n, k, n, 0},
                                                      {2 * m, n, k, n, 0},
                                                      {m, 2 * n, k, 2 * n, 0},
                                                      {m, n, 2 * k, n, 0}};
                double t[4];
                for (int i = 0; i < 4; i++) t[i] = time_s(model, &shape[i], &outside);
                LAW(isfinite(t[0]) && t[0] > 0, "%g x %g x %g takes %g s", m, n, k, t[0]);
                LAW(2 * m * n * k <= model->peak_flop_per_s * t[0] * (1 + 1e-12),
                    "%g x %g x %g at %g flop/s", m, n, k, 2 * m * n * k / t[0]);
                for (int i = 1; i < 4; i++) {
                    LAW(t[i] >= t[0] * (1 - 1e-12), "%g x %g x %g takes %g s, twice as much %g",
                        m, n, k, t[0], t[i]);
                    LAW(!whole || t[i] <= 2 * t[0] * (1 + 1e-12),
                        "%g x %g x %g takes %g s, twice as much %g", m, n, k, t[0], t[i]);
                }
            }
    const struct fr_gemm_shape nothing = {64, 0, 64, 0, 0};
    LAW(time_s(model, &nothing, &outside) == 0, "nothing takes time");
    return true;
}

static double too_fast(const struct fr_gemm_model *model, const struct fr_gemm_shape *s,
                       bool *outside) {
    (void)outside;
    return s->m * s->n * s->k / model->peak_flop_per_s;
}
static double falls(const struct fr_gemm_model *model, const struct fr_gemm_shape *s,
                    bool *outside) {
    (void)outside;
    return s->n > 0 ? 1e6 / s->k + 0 * model->half : 0;
}
static double steep(const struct fr_gemm_model *model, const struct fr_gemm_shape *s,
                    bool *outside) {
    (void)outside;
    return s->m * s->m * s->n * s->n * s->k * s->k / model->peak_flop_per_s;
}
static double costs_nothing(const struct fr_gemm_model *model, const struct fr_gemm_shape *s,
                            bool *outside) {
    (void)outside;
    return 0 * (model->half + s->m);
}

static void forms_of_products(void **state) {
    (void)state;
    for (const struct fr_gemm_form *const *f = fr_gemm_forms; *f; f++) {
        bool tried = false;
        for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
            struct fr_job job;
            struct law_why why = {""};
            const char *sets[] = {products[i].set, NULL};
            if (strcmp((*f)->name, products[i].form) != 0) continue;
            tried = true;
            fr_test_job("frontier", "ffn-4096", sets, &job);
            const struct fr_gemm_model *model = &job.cluster.device.gemm[FR_FP32];
            assert_ptr_equal(model->form, *f);
            FR_TRUE(law_product(model, (*f)->time_s, products[i].whole, &why), "%s: %s",
                    (*f)->name, why.text);
            assert_false(law_product(model, too_fast, products[i].whole, &why));
            assert_false(law_product(model, falls, products[i].whole, &why));
            assert_false(law_product(model, costs_nothing, products[i].whole, &why));
            if (products[i].whole) assert_false(law_product(model, steep, true, &why));
            fr_job_free(&job);
        }
        FR_TRUE(tried, "form %s of a product has no example here", (*f)->name);
        assert_true(*(*f)->equation && *(*f)->source && *(*f)->key);
    }
}

/* Products of any shape that are made at once take as long as alone at a `grouped` share of the efficiency, one alone
 * as before. */
static void groups_reach_their_share(void **state) {
    static const char *const settings[] = {"cluster.device.gemm.fp8.grouped=1",
                                           "cluster.device.gemm.fp8.grouped=0.8",
                                           "cluster.device.gemm.fp8.grouped=0.3"};
    static const double share[] = {1, 0.8, 0.3};
    (void)state;
    struct fr_job plain;
    fr_test_job("gb300-nvl72", "llama-3-8b", (const char *[]){settings[0], NULL}, &plain);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct fr_job job;
        const char *sets[] = {settings[i], NULL};
        fr_test_job("gb300-nvl72", "llama-3-8b", sets, &job);
        const struct fr_gemm_model *now = &job.cluster.device.gemm[FR_FP8],
                                   *then = &plain.cluster.device.gemm[FR_FP8];
        for (int k = 0; k < 200; k++) {
            const struct fr_gemm_shape shape = {1 + rand() % 9000, 1 + rand() % 9000,
                                                1 + rand() % 9000, 1, rand() % 5};
            bool outside = false;
            double one_s = then->form->time_s(then, &shape, &outside),
                   s = now->form->time_s(now, &shape, &outside);
            FR_NEAR(s, shape.at_once > 1 ? one_s / share[i] : one_s, 1e-12);
        }
        fr_job_free(&job);
    }
    fr_job_free(&plain);
}

/* Its own value by hand for each: 128 x 128 x 256, batch 32. */
static void products_by_hand(void **state) {
    (void)state;
    const double flop = 2.0 * 128 * 128 * 256;
    const double want[] = {
        flop * (128 + 64) / 128 / 10e12, flop * (32 + 32) / 32 / 10e12,
        /* one tile of 128 x 128 on 108 units, half of the rest waiting; k is deep enough by a fifth */
        flop / 10e12 * (1 + 64.0 / 256) * (1 + 0.5 * 108),
        /* on the grid's first cell: a quarter of the way (log 2 / log 16) along m and n, a half along k */
        NAN};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        struct fr_job job;
        bool outside = false;
        const char *sets[] = {products[i].set, NULL};
        const struct fr_gemm_shape shape = {128, 128, 256, 32, 0},
                                   corner = {64, 1024, 64, 1024, 0},
                                   middle = {64, 256, 64, 256, 0},
                                   far = {2048, 1024, 1024, 1024, 0};
        fr_test_job("frontier", "ffn-4096", sets, &job);
        const struct fr_gemm_model *model = &job.cluster.device.gemm[FR_FP32];
        if (!isnan(want[i])) {
            FR_NEAR(model->form->time_s(model, &shape, &outside), want[i], 1e-12);
        } else {
            FR_NEAR(model->form->time_s(model, &corner, &outside), 3e-6, 1e-9);
            FR_NEAR(model->form->time_s(model, &middle, &outside), sqrt(3e-6 * 1e-6), 1e-9);
            assert_false(outside);
            /* Beyond the grid the rate is kept. */
            FR_NEAR(model->form->time_s(model, &far, &outside), 600e-6, 1e-9);
            assert_true(outside);
            FR_NEAR(model->peak_flop_per_s, 2 * 64 * 1024.0 * 1024 / 12e-6, 1e-9);
        }
        fr_job_free(&job);
    }
}

/* ---- collectives ------------------------------------------------------------------------------ */

static const struct {
    const char *form, *set;
} collectives[] = {
    {"log", "cluster.collectives={\"all_reduce\":{\"form\":\"log\",\"c1\":\"5 us\",\"c2\":"
            "\"1 ns/B\",\"c3\":\"2 us\",\"message\":\"per_rank\"}}"},
    {"algorithm",
     "cluster.collectives={\"all_reduce\":{\"form\":\"algorithm\",\"name\":\"ring\"}}"},
    {"segments",
     "cluster.collectives={\"all_reduce\":{\"form\":\"segments\",\"message\":\"total\","
     "\"fits\":["
     "{\"ranks\":8,\"level\":\"node\",\"min\":\"8 B\",\"max\":\"1 "
     "MB\",\"segments\":[{\"up_to\":"
     "\"1 KB\",\"latency\":\"4 us\",\"per_byte\":\"0 ns/B\"},{\"up_to\":\"1 MB\",\"latency\":"
     "\"6 us\",\"per_byte\":\"1 ns/B\"}]},{\"ranks\":2,\"level\":\"node\",\"min\":\"8 B\","
     "\"max\":\"1 MB\",\"segments\":[{\"up_to\":\"1 MB\",\"latency\":\"1 us\",\"per_byte\":"
     "\"1 ns/B\"}]}]}}"},
    {"similarity",
     "cluster.collectives={\"all_reduce\":{\"form\":\"similarity\",\"message\":\"total\","
     "\"laws\":["
     "{\"level\":\"node\",\"steps\":\"log2 "
     "p\",\"bytes\":\"(p - 1)/p\",\"slow\":0.3,\"fast\":0.2}],"
     "\"tables\":[{\"level\":\"node\",\"ranks\":4,\"nodes\":1,\"size\":[1024,65536,1048576],"
     "\"unit\":\"us\",\"time\":[5,20,200]}]}}"},
};

typedef double collective_time(const struct fr_price *price, const struct fr_group *group,
                               double size_B, bool *extrapolated);

/* Time is positive and never falls with the size (where it was measured: beyond, a form carries its
 * fits on); no bytes still take a message's start; the interval
 * holds the time. */
static bool law_collective(const struct fr_cluster *cluster, collective_time *time_s,
                           struct law_why *why) {
    const struct fr_price *price = &cluster->price[FR_OP_ALL_REDUCE];
    for (int64_t p = 2; p <= 64; p *= 2)
        for (int64_t stride = 1; stride <= 8; stride *= 8) {
            struct fr_group group = fr_group_make(&cluster->levels, p, stride);
            bool outside = false;
            double before_s = time_s(price, &group, 0, &outside);
            LAW(isfinite(before_s) && before_s > 0, "nothing over %d ranks takes %g s", (int)p,
                before_s);
            outside = false; /* of nothing */
            for (double size_B = 8; size_B < 1e10; size_B *= 3) {
                double now_s = time_s(price, &group, size_B, &outside), low_s, high_s;
                LAW(isfinite(now_s) && now_s > 0 &&
                        (outside || now_s >= before_s * (1 - 1e-12)),
                    "%g B over %d ranks take %g s, a third of them %g", size_B, (int)p, now_s,
                    before_s);
                fr_price_interval(price, &group, size_B, now_s, &low_s, &high_s);
                LAW(low_s > 0 && low_s <= now_s && now_s <= high_s, "%g s within %g to %g",
                    now_s, low_s, high_s);
                before_s = now_s;
            }
            LAW(before_s > 1e-3, "10 GB over %d ranks take %g s", (int)p, before_s);
        }
    return true;
}

static double any_size(const struct fr_price *price, const struct fr_group *group,
                       double size_B, bool *outside) {
    (void)price, (void)group, (void)size_B, (void)outside;
    return 1e-6;
}
static double larger_is_faster(const struct fr_price *price, const struct fr_group *group,
                               double size_B, bool *outside) {
    (void)price, (void)group, (void)outside;
    return 1 / (1 + size_B);
}
static double starts_for_nothing(const struct fr_price *price, const struct fr_group *group,
                                 double size_B, bool *outside) {
    (void)price, (void)group, (void)outside;
    return 1e-9 * size_B;
}

/* Written and read again, a form says the same. */
static void comes_back(const struct fr_cluster *cluster) {
    struct fr_price again[FR_OP_COUNT] = {{0}};
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    fr_json_begin_object(&w);
    fr_json_key(&w, "all_reduce");
    fr_price_write(&cluster->price[FR_OP_ALL_REDUCE], &cluster->levels, &w);
    fr_json_end_object(&w);
    if (fr_json_parse(fr_text_get(&text), text.length, "again", &document, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    struct fr_json root = fr_json_root(document);
    if (fr_comm_read(&root, &cluster->levels, again, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    for (int64_t p = 2; p <= 16; p *= 2)
        for (double size_B = 100; size_B < 1e9; size_B *= 17) {
            struct fr_group group = fr_group_make(&cluster->levels, p, 1);
            bool outside = false;
            FR_NEAR(fr_comm_time_s(&again[FR_OP_ALL_REDUCE], &group, size_B, &outside),
                    fr_comm_time_s(&cluster->price[FR_OP_ALL_REDUCE], &group, size_B, &outside),
                    1e-4);
        }
    fr_comm_free(again);
    fr_json_free(document);
    fr_text_free(&text);
}

static void forms_of_collectives(void **state) {
    (void)state;
    for (const struct fr_form *const *f = fr_forms; *f; f++) {
        bool tried = false;
        for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++) {
            struct fr_job job;
            struct law_why why = {""};
            const char *sets[] = {collectives[i].set, NULL};
            if (strcmp((*f)->name, collectives[i].form) != 0) continue;
            tried = true;
            fr_test_job("a100-opa", "ffn-4096", sets, &job);
            assert_ptr_equal(job.cluster.price[FR_OP_ALL_REDUCE].form, *f);
            FR_TRUE(law_collective(&job.cluster, (*f)->time_s, &why), "%s: %s", (*f)->name,
                    why.text);
            assert_false(law_collective(&job.cluster, any_size, &why));
            assert_false(law_collective(&job.cluster, larger_is_faster, &why));
            assert_false(law_collective(&job.cluster, starts_for_nothing, &why));
            comes_back(&job.cluster);
            fr_job_free(&job);
        }
        FR_TRUE(tried, "form %s of a collective has no example here", (*f)->name);
        assert_true(*(*f)->equation && *(*f)->source);
    }
}

/* ---- compressions ----------------------------------------------------------------------------- */

static double codec_flop(const struct fr_codec_work *w) {
    double flop = 0;
    for (int i = 0; i < w->n_gemms; i++)
        flop +=
            2 * w->gemm[i].count * w->gemm[i].shape.m * w->gemm[i].shape.n * w->gemm[i].shape.k;
    return flop;
}

/* A small rank sends less than the matrix and more than nothing, a larger one no less; making it and
 * undoing it is work that grows with the matrix; keeping what was lost is memory and more work. */
static bool law_codec(const struct fr_compression *c, struct law_why *why) {
    for (double m = 256; m <= 4096; m *= 4)
        for (double n = 256; n <= 4096; n *= 4)
            for (double value_B = 2; value_B <= 4; value_B *= 2) {
                double before_B = 0;
                for (double rank = 1; rank <= 64; rank *= 2) {
                    struct fr_codec_args a = {.m = m,
                                              .n = n,
                                              .rank = rank,
                                              .value_B = value_B,
                                              .parts = 1},
                                         kept = a, more = a;
                    struct fr_codec_work e = {0}, d = {0}, r = {0}, g = {0};
                    double sent_B = c->sent_B(&a);
                    kept.residual = true;
                    more.m *= 2;
                    c->encode(&a, &e), c->decode(&a, &d), c->encode(&kept, &r);
                    c->encode(&more, &g);
                    LAW(sent_B > 0 && sent_B >= before_B, "rank %g sends %g B, half of it %g",
                        rank, sent_B, before_B);
                    LAW(rank > 8 || sent_B < m * n * value_B, "rank %g sends %g B of %g", rank,
                        sent_B, m * n * value_B);
                    LAW(c->sent_B(&more) >= sent_B, "a larger matrix sends less");
                    LAW(e.kernels >= 1 && d.kernels >= 1, "%g and %g kernels", e.kernels,
                        d.kernels);
                    LAW(codec_flop(&e) + e.moved_B >= m * n * value_B / 4,
                        "encodes %g x %g in %g flop and %g B", m, n, codec_flop(&e), e.moved_B);
                    LAW(e.passes * e.passed_B <= e.moved_B,
                        "%g passes of %g B move more than %g", e.passes, e.passed_B, e.moved_B);
                    LAW(codec_flop(&d) + d.moved_B >= m * n, "decodes %g x %g in %g flop, %g B",
                        m, n, codec_flop(&d), d.moved_B);
                    LAW(codec_flop(&g) + g.moved_B > codec_flop(&e) + e.moved_B,
                        "a larger matrix is encoded for less");
                    LAW(c->stored_B(&kept) >= c->stored_B(&a) + m * n * value_B * (1 - 1e-12),
                        "keeps %g B with what was lost, %g without", c->stored_B(&kept),
                        c->stored_B(&a));
                    LAW(r.moved_B > e.moved_B && r.kernels > e.kernels,
                        "keeps what was lost for nothing");
                    /* Codes that are gathered arrive from every replica, and all are decoded. */
                    struct fr_codec_args parts = a;
                    struct fr_codec_work p = {0};
                    bool gathered = c->op == FR_OP_ALL_GATHER;
                    parts.parts = 4;
                    c->decode(&parts, &p);
                    LAW(gathered || c->op == FR_OP_ALL_REDUCE, "is added up by %s",
                        fr_op_names[c->op]);
                    LAW(gathered == (codec_flop(&p) + p.moved_B > codec_flop(&d) + d.moved_B) &&
                            gathered == (c->stored_B(&parts) > c->stored_B(&a)),
                        "four parts are decoded for %g B and %g flop, one for %g and %g",
                        p.moved_B, codec_flop(&p), d.moved_B, codec_flop(&d));
                    before_B = sent_B;
                }
            }
    return true;
}

static double sends_all_B(const struct fr_codec_args *a) { return a->m * a->n * a->value_B; }
static double falls_B(const struct fr_codec_args *a) { return 1e3 / a->rank; }
static double keeps_nothing_B(const struct fr_codec_args *a) { return 0 * a->m; }
static void works_not(const struct fr_codec_args *a, struct fr_codec_work *work) {
    work->kernels += a->rank;
}
static void forgets(const struct fr_codec_args *a, struct fr_codec_work *work) {
    struct fr_codec_args plain = *a;
    plain.residual = false;
    fr_compression_powersgd.encode(&plain, work);
}

static void compressions(void **state) {
    (void)state;
    struct law_why why = {""};
    for (const struct fr_compression *const *c = fr_compressions; *c; c++) {
        FR_TRUE(law_codec(*c, &why), "%s: %s", (*c)->name, why.text);
        assert_true(*(*c)->summary && *(*c)->source);
    }
    struct fr_compression wrong = fr_compression_powersgd;
    wrong.sent_B = sends_all_B;
    assert_false(law_codec(&wrong, &why));
    wrong.sent_B = falls_B;
    assert_false(law_codec(&wrong, &why));
    wrong = fr_compression_topk;
    wrong.op = FR_OP_ALL_REDUCE;
    assert_false(law_codec(&wrong, &why));
    wrong = fr_compression_powersgd;
    wrong.op = FR_OP_ALL_GATHER;
    assert_false(law_codec(&wrong, &why));
    wrong = fr_compression_powersgd;
    wrong.stored_B = keeps_nothing_B;
    assert_false(law_codec(&wrong, &why));
    wrong = fr_compression_powersgd;
    wrong.encode = works_not;
    assert_false(law_codec(&wrong, &why));
    wrong.encode = forgets;
    assert_false(law_codec(&wrong, &why));
    wrong = fr_compression_powersgd;
    wrong.decode = works_not;
    assert_false(law_codec(&wrong, &why));
}

/* Power as a file states it; communicating draws as much as idling where nobody says. */
static void power_is_read(void **state) {
    (void)state;
    struct fr_job job;
    const char *stated[] = {"cluster.device.power={\"busy\":\"600 W\",\"idle\":\"80 W\","
                            "\"communicating\":\"300 W\"}",
                            NULL};
    fr_test_job("frontier", "ffn-4096", stated, &job);
    assert_true(job.cluster.device.power.known);
    assert_true(job.cluster.device.power.busy_W == 600 &&
                job.cluster.device.power.idle_W == 80);
    assert_true(job.cluster.device.power.communicating_W == 300);
    fr_job_free(&job);
    fr_test_job("frontier", "ffn-4096", NULL, &job);
    assert_true(job.cluster.device.power.communicating_W == job.cluster.device.power.idle_W);
    fr_job_free(&job);
}

/* ---- segments --------------------------------------------------------------------------------- */

enum { PIECES = 4 };

static double random_share(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Pieces that do not meet: the next may begin below where the last ended. */
static void draw(uint64_t *state, int64_t n_ranks, struct fr_segment piece[PIECES],
                 struct fr_segment_fit *fit) {
    double up_to_B = 8;
    *fit = (struct fr_segment_fit){
        .n_ranks = n_ranks, .min_B = 8, .count = PIECES, .segments = piece};
    for (int i = 0; i < PIECES; i++) {
        up_to_B *= 2 + 100 * random_share(state);
        piece[i] = (struct fr_segment){
            .up_to_B = up_to_B,
            .latency_s = 1e-6 * exp(4 * random_share(state)),
            .s_per_B = random_share(state) < 0.2 ? 0 : 1e-10 * exp(4 * random_share(state))};
    }
    fit->max_B = up_to_B;
}

/* The two fits predict this for exactly this size. */
static double stated_s(const struct fr_segment_fit *fewer, const struct fr_segment_fit *more,
                       double ranks, double size_B) {
    double fewer_s = fr_segment_fit_s(fewer, size_B), more_s = fr_segment_fit_s(more, size_B),
           w = log(ranks / 4) / log(2), s = exp((1 - w) * log(fewer_s) + w * log(more_s));
    return w > 1 ? fmax(s, more_s) : w < 0 ? fmin(s, fewer_s) : s;
}

/* The largest at an end of a piece, or just beyond it, within (@p above_B, @p size_B]. */
static double ends_s(const struct fr_segment_fit *fewer, const struct fr_segment_fit *more,
                     double ranks, double above_B, double size_B) {
    double largest = 0;
    for (int i = 0; i < 2 * PIECES; i++) {
        double end_B = (i < PIECES ? fewer : more)->segments[i % PIECES].up_to_B;
        if (end_B <= above_B || end_B > size_B) continue;
        largest = fmax(largest, stated_s(fewer, more, ranks, end_B));
        end_B = nextafter(end_B, HUGE_VAL);
        if (end_B <= size_B) largest = fmax(largest, stated_s(fewer, more, ranks, end_B));
    }
    return largest;
}

/* No rank count, calibrated or not, sends a larger message faster than a smaller, whatever the fits; what is
 * taken is the largest that the two fits say up to there, as a walk over sizes finds it. */
static void segments_never_fall(void **state) {
    static const double ranks[] = {2, 3, 4, 5, 7, 8, 11, 64, 1000}, STEP = 1.07;
    uint64_t random = 20261122;
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct fr_segment low[PIECES], high[PIECES];
        struct fr_segment_fit fewer, more;
        draw(&random, 4, low, &fewer);
        draw(&random, 8, high, &more);
        for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++) {
            double p = ranks[r], before_s = 0, seen_s = 0;
            for (double size_B = 4; size_B < 1e9; size_B *= STEP) {
                double now_s = fr_segment_fits_s(&fewer, &more, p, size_B);
                seen_s = fmax(seen_s, fmax(stated_s(&fewer, &more, p, size_B),
                                           ends_s(&fewer, &more, p, size_B / STEP, size_B)));
                FR_TRUE(now_s >= before_s * (1 - 1e-12),
                        "round %d, %g ranks, %g B: %g s after %g", round, p, size_B, now_s,
                        before_s);
                FR_TRUE(now_s >= seen_s * (1 - 1e-9) && now_s <= seen_s * pow(STEP, 8),
                        "round %d, %g ranks, %g B: %g s, and %g were said", round, p, size_B,
                        now_s, seen_s);
                if (p == 4) FR_NEAR(now_s, fr_segment_fit_s(&fewer, size_B), 1e-9);
                if (p == 8) FR_NEAR(now_s, fr_segment_fit_s(&more, size_B), 1e-9);
                before_s = now_s;
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_of_products),   cmocka_unit_test(groups_reach_their_share),
        cmocka_unit_test(products_by_hand),    cmocka_unit_test(forms_of_collectives),
        cmocka_unit_test(segments_never_fall), cmocka_unit_test(compressions),
        cmocka_unit_test(power_is_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
