/* Fused attention by hand: its flop, generations, the backward pass and what is computed again. */
#include "models/outcome/cost.h"
#include "models/price/pipeline.h"
#include "tests/job.h"
#include "tests/pipeline.h"

/* llama-3-8b: 32 layers, 32 heads of 128, here 2048 tokens; two products over the causal half of
 * the scores.  half_keys is 0 here, as where a file does not say it, but in the law of keys. */
static const double flop = 32 * (2 * 2 * 32.0 * 2048 * 2048 * 128 / 2);

static struct fr_stage priced(const char *dtype, const char *kernel, const char *share,
                              const char *more) {
    const char *sets[] = {"micro_batch=1",
                          "global_batch=1",
                          "model.sequence=2048",
                          "cluster.device.attention.backward=2",
                          "cluster.device.attention.half_keys=0",
                          dtype,
                          kernel,
                          share,
                          more,
                          NULL};
    struct fr_job job;
    struct fr_pipeline p;
    uint32_t extrapolated = 0;
    fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
    assert_int_equal(fr_pipeline_check(&job, &job.plan), 0);
    assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &extrapolated, NULL), FR_OK);
    struct fr_stage stage = p.stage[0];
    fr_pipeline_free(&p);
    fr_job_free(&job);
    return stage;
}

static double peak(fr_dtype dtype) {
    struct fr_job job;
    fr_test_job("dgx-h100", "llama-3-8b", NULL, &job);
    double rate = job.cluster.device.gemm[dtype].peak_flop_per_s;
    fr_job_free(&job);
    return rate;
}

/* At half the share of the peak all else stays and the kernel takes twice as long: the difference
 * is one kernel forward, 2.5 / 2 of it backward, and one more of what is computed again. */
static void kernel_by_hand(void **state) {
    static const struct {
        const char *kernel, *whole, *half;
    } generations[] = {
        {"attention=flash", "cluster.device.attention.flash=0.5",
         "cluster.device.attention.flash=0.25"},
        {"attention=flash-2", "cluster.device.attention.flash_2=0.5",
         "cluster.device.attention.flash_2=0.25"},
        {"attention=flash-1", "cluster.device.attention.flash_1=0.5",
         "cluster.device.attention.flash_1=0.25"},
    };
    static const struct {
        const char *recompute;
        double again;
    } recomputed[] = {{"recompute=none", 0}, {"recompute=selective", 1}, {"recompute=full", 1}};
    (void)state;
    double one_s = flop / (0.5 * peak(FR_BF16));
    for (int g = 0; g < 3; g++)
        for (int r = 0; r < 3; r++) {
            struct fr_stage whole = priced("model.dtype=bf16", generations[g].kernel,
                                           generations[g].whole, recomputed[r].recompute),
                            half = priced("model.dtype=bf16", generations[g].kernel,
                                          generations[g].half, recomputed[r].recompute);
            FR_NEAR(half.forward.compute_s - whole.forward.compute_s, one_s, 1e-9);
            FR_NEAR(half.backward.compute_s - whole.backward.compute_s,
                    (1.25 + recomputed[r].again) * one_s, 1e-9);
        }
}

/* Heads of 80 values run in the kernel of 96, of 100 in that of 128; of 257, for which there is none, as they are. */
static void heads_are_padded(void **state) {
    static const struct {
        const char *dim;
        double wide;
    } cases[] = {{"model.head_dim=80", 96},
                 {"model.head_dim=96", 96},
                 {"model.head_dim=100", 128},
                 {"model.head_dim=256", 256},
                 {"model.head_dim=257", 257}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct fr_stage whole = priced("model.dtype=bf16", "attention=flash",
                                       "cluster.device.attention.flash=0.5", cases[k].dim),
                        half = priced("model.dtype=bf16", "attention=flash",
                                      "cluster.device.attention.flash=0.25", cases[k].dim);
        FR_NEAR(half.forward.compute_s - whole.forward.compute_s,
                flop / 128 * cases[k].wide / (0.5 * peak(FR_BF16)), 1e-9);
    }
}

/* Products of 8 bits, attention of 16. */
static void eight_bits_attend_in_sixteen(void **state) {
    (void)state;
    struct fr_stage whole = priced("model.dtype=fp8", "attention=flash",
                                   "cluster.device.attention.flash=0.5", "recompute=none"),
                    half = priced("model.dtype=fp8", "attention=flash",
                                  "cluster.device.attention.flash=0.25", "recompute=none");
    FR_NEAR(half.forward.compute_s - whole.forward.compute_s, flop / (0.5 * peak(FR_BF16)),
            1e-9);
}

/* The kernel of today alone computes at 8 bits, where the model says so; heads of more than 128 values have a rate of their
 * own, and a forward pass of narrow ones waits for exponentials. */
static void eight_bits_by_hand(void **state) {
#define EIGHT_BITS                                                                             \
    "model.dtype=fp8", "model.attention_dtype=fp8", "cluster.device.attention.eight_bits=1.25"
    static const struct {
        const char *kernel, *sets[5];
        double forward,
            backward; /* rates, over those of 16 bits and of heads as wide as exponentials need */
        double wide; /* values of a head, over 128 */
    } cases[] = {
        {"flash", {EIGHT_BITS}, 1.25, 1.25, 1},
        {"flash", {"model.dtype=fp8", "cluster.device.attention.eight_bits=1.25"}, 1, 1, 1},
        {"flash",
         {"model.dtype=fp8", "model.attention_dtype=fp8",
          "cluster.device.attention.eight_bits=0.8"},
         0.8,
         0.8,
         1},
        {"flash", {EIGHT_BITS, "cluster.device.attention.eight_bits_wide=1.5"}, 1.25, 1.25, 1},
        {"flash",
         {EIGHT_BITS, "cluster.device.attention.eight_bits_wide=1.5", "model.head_dim=256"},
         1.5,
         1.5,
         2},
        {"flash", {EIGHT_BITS, "model.head_dim=256"}, 1.25, 1.25, 2},
        {"flash", {"model.dtype=bf16", "cluster.device.attention.exponentials=256"}, 0.5, 1, 1},
        {"flash", {EIGHT_BITS, "cluster.device.attention.exponentials=128"}, 1.25, 1.25, 1},
        {"flash",
         {EIGHT_BITS, "cluster.device.attention.exponentials=128", "model.head_dim=64"},
         0.5,
         1.25,
         0.5},
        {"flash-2", {EIGHT_BITS, "cluster.device.attention.exponentials=256"}, 1, 1, 1},
    };
#undef EIGHT_BITS
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct fr_stage of[2];
        char kernel[32], share[2][64];
        bool second = strcmp(cases[k].kernel, "flash") != 0;
        snprintf(kernel, sizeof kernel, "attention=%s", cases[k].kernel);
        for (int half = 0; half < 2; half++) {
            const char *sets[16] = {"micro_batch=1",
                                    "global_batch=1",
                                    "model.sequence=2048",
                                    kernel,
                                    share[half],
                                    "cluster.device.attention.half_keys=0",
                                    "cluster.device.attention.backward=1"};
            for (int i = 0; i < 5; i++) sets[7 + i] = cases[k].sets[i];
            snprintf(share[half], sizeof share[half], "cluster.device.attention.%s=%g",
                     second ? "flash_2" : "flash", half ? 0.25 : 0.5);
            struct fr_job job;
            struct fr_pipeline p;
            fr_test_pipeline("dgx-h100", "llama-3-8b", sets, &job, &p);
            of[half] = p.stage[0];
            fr_test_pipeline_free(&job, &p);
        }
        double one_s = cases[k].wide * flop / (0.5 * peak(FR_BF16));
        FR_NEAR(of[1].forward.compute_s - of[0].forward.compute_s, one_s / cases[k].forward,
                1e-9);
        FR_NEAR(of[1].backward.compute_s - of[0].backward.compute_s,
                2.5 * one_s / cases[k].backward, 1e-9);
    }
}

/* Logits at 8 bits take as long as a product of 8 bits of their shape, and are refused of products of 16. */
static void logits_by_hand(void **state) {
    (void)state;
    const char *wide[] = {"micro_batch=1", "global_batch=1", "model.dtype=fp8", NULL},
               *narrow[] = {"micro_batch=1", "global_batch=1", "model.dtype=fp8",
                            "model.logits_dtype=fp8", NULL};
    struct fr_job job[2];
    struct fr_pipeline p[2];
    fr_test_pipeline("dgx-h100", "llama-3-8b", wide, &job[0], &p[0]);
    fr_test_pipeline("dgx-h100", "llama-3-8b", narrow, &job[1], &p[1]);
    double words = 128256, h = 4096, tokens = 8192,
           rate = 2 * words * h * tokens / peak(FR_FP8),
           less_s = p[0].stage[0].forward.compute_s - p[1].stage[0].forward.compute_s;
    if (less_s < 0.5 * rate || less_s > 2.5 * rate)
        fail_msg("%g s less; the product takes %g s at its peak", less_s, rate);
    for (int i = 0; i < 2; i++) fr_test_pipeline_free(&job[i], &p[i]);
    struct fr_error err = fr_test_refused("dgx-h100", "llama-3-8b", "model.logits_dtype=fp8");
    assert_non_null(strstr(err.detail, "has no effect where dtype is bf16"));
    err = fr_test_refused("dgx-h100", "llama-3-8b", "model.attention_dtype=fp8");
    assert_non_null(strstr(err.detail, "has no effect where dtype is bf16"));
}

static struct fr_stage with_keys(const char *half_keys, const char *more, const char *then) {
    const char *sets[] = {"micro_batch=1",
                          "global_batch=1",
                          "model.dtype=bf16",
                          "model.sequence=2048",
                          "attention=flash",
                          "recompute=none",
                          half_keys,
                          more,
                          then,
                          NULL};
    struct fr_job job;
    struct fr_pipeline p;
    fr_test_pipeline("dgx-h100", "llama-3-8b", sets, &job, &p);
    struct fr_stage stage = p.stage[0];
    fr_test_pipeline_free(&job, &p);
    return stage;
}

/* With K keys a query half_keys = K makes a kernel take twice as long: K is half of the sequence where causal and all
 * where not, and what a window or a document leaves of it.  Heads that are divided leave it.  Around a zigzag ring of two
 * ranks 1 / K is 1 / 1024 with a rank's own keys (half of the work), and 1 / 1024 or 1 / 2048, as often, with others':
 * 7 / 8 of 1 / 1024 in the mean. */
static void keys_by_hand(void **state) {
    static const struct {
        const char *more, *then, *half_keys;
        double share; /* of the flop */
    } cases[] = {
        {"dp=1", NULL, "cluster.device.attention.half_keys=1024", 1},
        {"model.causal=false", NULL, "cluster.device.attention.half_keys=2048", 2},
        {"model.document=512", NULL, "cluster.device.attention.half_keys=256", 0.25},
        {"model.window=1024", NULL, "cluster.device.attention.half_keys=768", 0.75},
        {"cp=2", "context=ring", "cluster.device.attention.half_keys=512", 0.4375},
        {"cp=2", "context=all-to-all", "cluster.device.attention.half_keys=1024", 0.5},
    };
    (void)state;
    struct fr_job job;
    fr_test_job("dgx-h100", "llama-3-8b", NULL, &job);
    double flash = job.cluster.device.attention.flash,
           backward = job.cluster.device.attention.backward;
    fr_job_free(&job);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct fr_stage none = with_keys("cluster.device.attention.half_keys=0", cases[k].more,
                                         cases[k].then),
                        half = with_keys(cases[k].half_keys, cases[k].more, cases[k].then);
        double one_s = cases[k].share * flop / (flash * peak(FR_BF16));
        FR_NEAR(half.forward.compute_s - none.forward.compute_s, one_s, 1e-9);
        FR_NEAR(half.backward.compute_s - none.backward.compute_s, 2.5 / backward * one_s,
                1e-9);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_by_hand),
        cmocka_unit_test(heads_are_padded),
        cmocka_unit_test(eight_bits_attend_in_sixteen),
        cmocka_unit_test(eight_bits_by_hand),
        cmocka_unit_test(logits_by_hand),
        cmocka_unit_test(keys_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
