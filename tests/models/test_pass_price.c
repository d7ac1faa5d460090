/* The cost of a pass: host against device, attention kernels, tiled products, rank order. */
#include <math.h>
#include <string.h>

#include "models/outcome/cost.h"
#include "models/price/pipeline.h"
#include "tests/job.h"

static double predict_s(const char *const *sets) {
    struct fr_job job;
    struct fr_outcome out;
    fr_test_job("dgx-a100", "gpt-2.5b", sets, &job);
    fr_cost(&job, &job.plan, &out);
    fr_job_free(&job);
    return out.time_s;
}

static void near(double got, double wanted, double tolerance) {
    if (!(fabs(got / wanted - 1) <= tolerance)) fail_msg("got %.9g, wanted %.9g", got, wanted);
}

/* A host slower than any device sets the time: 12 kernels a layer forward and twice that
 * backward, at ten times the launch time ten times as long. */
static void a_slow_host_sets_the_pace(void **state) {
    (void)state;
#define COMMON                                                                                 \
    "global_batch=4", "model.dtype=fp16", "cluster.device.fixed=0 s",                          \
        "cluster.device.host_pass=0 s", "tp=4"
    const char *slow[] = {COMMON, "cluster.device.host_launch=1 s",
                          "cluster.device.host_skew=0", NULL};
    const char *slower[] = {COMMON, "cluster.device.host_launch=10 s",
                            "cluster.device.host_skew=0", NULL};
    const char *skewed[] = {COMMON, "cluster.device.host_launch=1 s",
                            "cluster.device.host_skew=0.25", NULL};
    near(predict_s(slower), 10 * predict_s(slow), 1e-2);
    near(predict_s(skewed), 1.5 * predict_s(slow), 1e-2); /* 1 + 0.25 log2 4 */
}

/* A host that is never in the way costs nothing. */
static void a_fast_host_is_hidden(void **state) {
    const char *none[] = {COMMON, "micro_batch=4", "cluster.device.host_launch=0 s", NULL};
    const char *fast[] = {COMMON, "micro_batch=4", "cluster.device.host_launch=0.1 us", NULL};
    (void)state;
    near(predict_s(fast), predict_s(none), 1e-12);
}

/* Launches that block: the host's time on top of whatever the device takes, so that each second of it counts as
 * often as where the host sets the pace; a host that takes none changes nothing. */
static void blocking_hosts_add(void **state) {
#define BLOCKS COMMON, "micro_batch=2", "cluster.device.host_skew=0.25", "recompute=full"
    const char *none[] = {BLOCKS, "cluster.device.host_launch=0 s", NULL};
    const char *free_of_charge[] = {BLOCKS, "cluster.device.host_launch=0 s",
                                    "launches=blocking", NULL};
    const char *one[] = {BLOCKS, "cluster.device.host_launch=1 s", NULL};
    const char *two[] = {BLOCKS, "cluster.device.host_launch=2 s", NULL};
    const char *quick[] = {BLOCKS, "cluster.device.host_launch=1 us", "launches=blocking",
                           NULL};
    const char *slow[] = {BLOCKS, "cluster.device.host_launch=1 s", "launches=blocking", NULL};
    (void)state;
    double device_s = predict_s(none), kernels = predict_s(two) - predict_s(one);
    near(predict_s(free_of_charge), device_s, 1e-12);
    near(predict_s(quick) - device_s, kernels * 1e-6, 1e-6);
    near(predict_s(slow) - device_s, kernels, 1e-9);
}

/* Half the link's rate adds the exchange's time once more where it comes in turn, a quarter of it three times; launched
 * ahead it hides beside the attention, or beside passes. */
static void blocking_leaves_nothing_beside(void **state) {
#define TURNS                                                                                  \
    "global_batch=8", "micro_batch=1", "model.dtype=fp16", "cluster.device.fixed=0 s",         \
        "cluster.device.host_launch=0 s", "cluster.device.memory=8000 GB",                     \
        "cluster.device.interference=0", "cluster.levels.0.latency=0 s",                       \
        "model.sequence=8192", "model.layers=48"
#define RATE(r) "cluster.levels.0.bandwidth=" #r " GB/s"
    static const char *const beside[][2] = {
        {"cp=2", "dp=1"}, {"dp=2", "zero=2"}, {"dp=2", "zero=3"}};
    (void)state;
    for (size_t k = 0; k < sizeof beside / sizeof *beside; k++) {
        static const char *const launches[] = {"launches=ahead", "launches=blocking"};
        double slower_s[2], slowest_s[2];
        for (int b = 0; b < 2; b++) {
            const char *whole[] = {TURNS,       beside[k][0], beside[k][1],
                                   launches[b], RATE(400),    NULL};
            const char *half[] = {TURNS,       beside[k][0], beside[k][1],
                                  launches[b], RATE(200),    NULL};
            const char *quarter[] = {TURNS,       beside[k][0], beside[k][1],
                                     launches[b], RATE(100),    NULL};
            slower_s[b] = predict_s(half) - predict_s(whole);
            slowest_s[b] = predict_s(quarter) - predict_s(whole);
        }
        near(slowest_s[1], 3 * slower_s[1], 1e-6);
        FR_TRUE(slower_s[1] > 2 * slower_s[0], "%s %s: %g s in turn, %g s beside", beside[k][0],
                beside[k][1], slower_s[1], slower_s[0]);
    }
}

/* Gradients added apart: a product writes 2 B of each value where it would have read and written g, and a kernel
 * reads those 2 B, and reads and writes g: 4 B more of each of the 12 h^2 / tp weights of a layer and micro-batch,
 * whatever g is.  One micro-batch has nothing to add to. */
static void gradients_added_apart(void **state) {
#define ADDS                                                                                   \
    "global_batch=4", "model.dtype=fp16", "tp=4", "cluster.device.fixed=0 s",                  \
        "cluster.device.host_pass=0 s", "cluster.device.host_launch=0 s",                      \
        "cluster.device.memory=8000 GB"
    static const char *const width[] = {"model.gradient_dtype=fp16",
                                        "model.gradient_dtype=fp32"};
    (void)state;
    for (int g = 0; g < 2; g++) {
        double more_s[2];
        for (int k = 0; k < 2; k++) {
            const char *layers = k ? "model.layers=48" : "model.layers=24";
            const char *fused[] = {ADDS, width[g], layers, "micro_batch=1", NULL};
            const char *apart[] = {
                ADDS, width[g], layers, "micro_batch=1", "accumulation=apart", NULL};
            more_s[k] = predict_s(apart) - predict_s(fused);
        }
        near(more_s[1] - more_s[0], 24 * 4 * 4 * 12. * 1920 * 1920 / 4 / 1.7e12, 1e-6);
    }
    const char *fused[] = {ADDS, "micro_batch=4", NULL};
    const char *apart[] = {ADDS, "micro_batch=4", "accumulation=apart", NULL};
    near(predict_s(apart), predict_s(fused), 1e-12);
}

/* With the same share of the peak the fused kernel saves the scores' traffic and half the
 * products. */
static void flash_attention_is_faster(void **state) {
    const char *plain[] = {COMMON, "model.sequence=4096", NULL};
    const char *flash[] = {COMMON, "model.sequence=4096", "attention=flash",
                           "cluster.device.attention.flash=0.35", NULL};
    (void)state;
    assert_true(predict_s(flash) < predict_s(plain));
}

/* An attention of F seconds at the whole peak takes F / r (1 + 2.5 / b) on top of the rest: halving
 * the backward ratio b adds 2.5 F / r, halving the rate r then 3.5 F / r more than b = 1 took. */
static void generations_of_fused_attention(void **state) {
#define LONG                                                                                   \
    COMMON, "model.sequence=16384", "cluster.device.generation=none",                          \
        "cluster.device.host_launch=0 s" /* what no runtime knows */
    const char *now[] = {LONG, "attention=flash", "cluster.device.attention={\"flash\":0.4}",
                         NULL};
    const char *second[] = {LONG, "attention=flash-2",
                            "cluster.device.attention={\"flash\":0.9,\"flash_2\":0.4}", NULL};
    const char *first[] = {LONG, "attention=flash-1",
                           "cluster.device.attention={\"flash\":0.9,\"flash_2\":0.8}", NULL};
    const char *backward[] = {LONG, "attention=flash",
                              "cluster.device.attention={\"flash\":0.4,\"backward\":0.5}",
                              NULL};
    const char *half[] = {LONG, "attention=flash", "cluster.device.attention={\"flash\":0.2}",
                          NULL};
    (void)state;
    near(predict_s(second), predict_s(now), 1e-12);
    near(predict_s(first), predict_s(now), 1e-12); /* half of the second's */
    near((predict_s(backward) - predict_s(now)) / (predict_s(half) - predict_s(now)), 2.5 / 3.5,
         1e-6);
}

/* 256 x 256 x 512 on tiles of 128: 4 tiles, 4/2 waves; by hand. */
static void a_tiled_product(void **state) {
    const char *sets[] = {"cluster.device.gemm.fp16={\"peak\":\"1 GFLOP/s\",\"units\":2,"
                          "\"efficiency\":0.5,\"half_k\":256,\"tail\":0.5,\"misaligned\":1.5,"
                          "\"odd\":3}",
                          NULL};
    struct fr_job job;
    bool outside = false;
    (void)state;
    fr_test_job("dgx-a100", "gpt-2.5b", sets, &job);
    const struct fr_device *d = &job.cluster.device;
    double work_flop = 2.0 * 256 * 256 * 512;
    struct fr_gemm_shape shape = {256, 256, 512, 1, 0};
    near(fr_gemm_time_s(d, FR_FP16, &shape, &outside), work_flop / 0.5e9 * 1.5 * 1.25, 1e-12);
    shape.m = 248; /* whole tiles all the same, and no multiple of 64 */
    near(fr_gemm_time_s(d, FR_FP16, &shape, &outside), work_flop / 0.5e9 * 1.5 * 1.25 * 1.5,
         1e-12);
    shape.m = 249; /* nor of 8 */
    near(fr_gemm_time_s(d, FR_FP16, &shape, &outside), work_flop / 0.5e9 * 1.5 * 1.25 * 3,
         1e-12);
    fr_job_free(&job);
}

/* Stages that are neighbours in a node exchange faster than those whose replicas lie between. */
static void rank_order_moves_the_stages(void **state) {
    const char *near_stages[] = {COMMON, "pp=2", "dp=2", "cluster.collectives={}", NULL};
    const char *far_stages[] = {
        COMMON, "pp=2", "dp=2", "rank_order=tp-dp-pp", "cluster.collectives={}", NULL};
    struct fr_job job;
    struct fr_pipeline p;
    uint32_t extrapolated = 0;
    double message_s[2];
    (void)state;
    for (int k = 0; k < 2; k++) {
        fr_test_job("dgx-a100", "gpt-2.5b", k ? far_stages : near_stages, &job);
        assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &extrapolated, NULL), FR_OK);
        message_s[k] = p.stage[0].message_s;
        fr_pipeline_free(&p);
        fr_job_free(&job);
    }
    assert_true(message_s[1] > message_s[0]);
}

/* With layers and logits measured, no messages and nothing to update, 1F1B takes m (F + B) of the
 * slowest stage and the other's F + B once: layers of 3 s, logits of 1 s. */
static void measured_layers_replace_the_analytic_ones(void **state) {
    const char *sets[] = {
        "model.layers=8",
        "pp=2",
        "tp=4",
        "global_batch=6",
        "model.dtype=fp16",
        "cluster.device.fixed=0 s",
        "cluster.device.host_pass=0 s",
        "model.layer_profile=[{\"tp\":4,\"micro_batch\":1,\"forward\":\"1 s\","
        "\"backward\":\"2 s\",\"logits_forward\":\"0.4 s\","
        "\"logits_backward\":\"0.6 s\"}]",
        NULL};
    (void)state;
    near(predict_s(sets), 6 * (4 * 3 + 1) + 4 * 3, 5e-3); /* messages and optimiser: 0.5 % */
    struct fr_error err =
        fr_test_refused("dgx-a100", "ffn-4096", "model.layer_profile=[{\"tp\":1}]");
    assert_non_null(strstr(err.detail, "transformer"));
    err = fr_test_refused("dgx-a100", "gpt-2.5b",
                          "model.layer_profile=[{\"tp\":1,\"micro_batch\":1,\"forward\":\"1\","
                          "\"backward\":\"1 s\"}]");
    assert_non_null(strstr(err.where, "layer_profile/0/forward"));
    for (int i = 0; i < 2; i++) {
        err = fr_test_refused("dgx-a100", "gpt-2.5b",
                              i ? "model.layer_profile=[]" : "model.layer_profile=7");
        assert_non_null(strstr(err.where, "layer_profile"));
    }
}

static void outcome_of(const char *const *sets, struct fr_outcome *out) {
    struct fr_job job;
    fr_test_job("dgx-a100", "gpt-2.5b", sets, &job);
    fr_cost(&job, &job.plan, out);
    fr_job_free(&job);
}

/* The second of two stages has the logits and sets the pace: launched ahead, one message on the way in shows and one
 * on the way out; where launches block the first, and one behind each of its m backward passes. */
static void blocking_passes_send(void **state) {
    double shows_s[2];
    (void)state;
    for (int k = 0; k < 2; k++) {
        const char *sets[] = {"pp=2",
                              "global_batch=8",
                              "micro_batch=1",
                              "model.dtype=fp16",
                              "cluster.device.host_launch=0 s",
                              "cluster.device.memory=8000 GB",
                              k ? "launches=blocking" : "launches=ahead",
                              NULL};
        struct fr_outcome out;
        outcome_of(sets, &out);
        shows_s[k] = out.part_s[FR_PART_PP_COMM];
    }
    near(shows_s[1], (1 + 8) / 2. * shows_s[0], 1e-6);
}

#define SHARDED                                                                                \
    "global_batch=16", "model.dtype=fp16", "dp=8", "cluster.device.fixed=0 s",                 \
        "cluster.device.memory=800 GB"
/* Zero divides tensors, and they leave the rank: 1/8 of the state, then of the gradients, then of the weights. */
static void zero_divides_memory(void **state) {
    const char *sets[][8] = {{SHARDED, NULL},
                             {SHARDED, "zero=1", NULL},
                             {SHARDED, "zero=2", NULL},
                             {SHARDED, "zero=3", NULL}};
    static const int divided_by[] = {FR_MEMORY_OPTIMIZER, FR_MEMORY_GRADIENTS,
                                     FR_MEMORY_PARAMETERS};
    struct fr_outcome whole, out;
    (void)state;
    outcome_of(sets[0], &whole);
    for (int zero = 1; zero <= 3; zero++) {
        outcome_of(sets[zero], &out);
        for (int k = 0; k < 3; k++)
            near(out.memory_B[divided_by[k]],
                 whole.memory_B[divided_by[k]] / (k < zero ? 8 : 1), 1e-9);
        assert_int_equal(out.ranks, 8);
    }
}

/* Collectives that a pass hides take their share from it: in proportion, and as long as they last
 * where it is all of it, so that nothing is won by overlapping. */
static void interference_takes_its_share(void **state) {
    const char *sets[][10] = {{SHARDED, "zero=3", "cluster.device.interference=0", NULL},
                              {SHARDED, "zero=3", "cluster.device.interference=0.1", NULL},
                              {SHARDED, "zero=3", "cluster.device.interference=0.2", NULL}};
    const struct fr_device all = {.interference = 1}, none = {0};
    double time_s[3];
    (void)state;
    for (int k = 0; k < 3; k++) time_s[k] = predict_s(sets[k]);
    assert_true(time_s[1] > time_s[0]);
    near(time_s[2] - time_s[0], 2 * (time_s[1] - time_s[0]), 1e-9);
    near(fr_device_beside_s(&all, 3, 5), 3, 1e-12);
    near(fr_device_beside_s(&all, 5, 3), 5, 1e-12);
    near(fr_device_beside_s(&none, 5, 3), 2, 1e-12);
    assert_true(fr_device_beside_s(&none, 3, 5) == 0);
}

/* With a free network zero 3 is as fast as zero 1; on a real one it is never faster. */
static void sharding_costs_only_communication(void **state) {
    const char *one[] = {SHARDED, "zero=1", "overlap=gradient", NULL};
    const char *three[] = {SHARDED, "zero=3", NULL};
#define FREE "cluster.levels.0.latency=0 s", "cluster.levels.0.bandwidth=1e9 GB/s"
    const char *free_one[] = {SHARDED, "zero=1", "overlap=gradient", FREE, NULL};
    const char *free_three[] = {SHARDED, "zero=3", FREE, NULL};
    (void)state;
    near(predict_s(free_three), predict_s(free_one), 1e-6);
    assert_true(predict_s(three) >= predict_s(one) * (1 - 1e-12));
}

#define DEVICE "cluster.device.host_launch=0 s", "cluster.device.launch=1 us"

/* In pieces over p ranks a p-th of the exchanges shows where the products outlast the rest and nothing is
 * taken from them; where a link is slow what outlasts the products shows too. */
static void tensor_exchanges_in_pieces(void **state) {
    double shown_s[2][2], slow_s[2];
    (void)state;
    for (int beside = 0; beside < 2; beside++) {
        const char *key = beside ? "overlap_tp=true" : "overlap_tp=false";
        for (int deep = 0; deep < 2; deep++) {
            const char *sets[] = {"tp=4",
                                  "sequence_parallel=true",
                                  "attention=flash",
                                  "global_batch=4",
                                  "micro_batch=4",
                                  "model.dtype=fp16",
                                  "cluster.device.interference=0",
                                  DEVICE,
                                  key,
                                  deep ? "model.layers=8" : "model.layers=4",
                                  NULL};
            struct fr_outcome out;
            outcome_of(sets, &out);
            shown_s[beside][deep] = out.part_s[FR_PART_TP_COMM];
        }
        const char *slow[] = {"tp=4",
                              "sequence_parallel=true",
                              "attention=flash",
                              "global_batch=4",
                              "micro_batch=4",
                              "model.dtype=fp16",
                              DEVICE,
                              "cluster.levels.0.bandwidth=1 GB/s",
                              key,
                              NULL};
        struct fr_outcome out;
        outcome_of(slow, &out);
        slow_s[beside] = out.part_s[FR_PART_TP_COMM];
    }
    double whole_s = shown_s[0][1] - shown_s[0][0], pieces_s = shown_s[1][1] - shown_s[1][0];
    near(pieces_s, whole_s / 4,
         1e-9); /* of four layers; embedding and logits are not in pieces */
    assert_true(slow_s[1] < slow_s[0] && slow_s[1] > slow_s[0] / 2);
}

static struct fr_pass pass_of(const char *const *sets, bool backward, struct fr_job *job) {
    struct fr_pipeline p;
    uint32_t extrapolated = 0;
    fr_test_job("dgx-a100", "gpt-2.5b", sets, job);
    assert_int_equal(fr_pipeline_make(job, &job->plan, &p, &extrapolated, NULL), FR_OK);
    struct fr_pass pass = backward ? p.stage[0].backward : p.stage[0].forward;
    fr_pipeline_free(&p);
    return pass;
}

/* Beside their exchanges products are made as pieces of the tokens come: forward the four of a layer, and the
 * input's gradient of the second of a pair, are p products of T/p tokens each, whose tiles fill a device
 * worse; the others, beside whole exchanges, stay one, and so do embedding's and logits'. */
static void products_in_pieces_by_hand(void **state) {
    const char *whole[] = {"tp=4",
                           DEVICE,
                           "micro_batch=1",
                           "sequence_parallel=true",
                           "model.dtype=fp16",
                           "attention=flash",
                           "global_batch=1",
                           "overlap_tp=false",
                           NULL};
    const char *pieces[] = {"tp=4",
                            DEVICE,
                            "micro_batch=1",
                            "sequence_parallel=true",
                            "model.dtype=fp16",
                            "attention=flash",
                            "global_batch=1",
                            "overlap_tp=true",
                            NULL};
    (void)state;
    for (int backward = 0; backward < 2; backward++) {
        struct fr_job job, other;
        double one_s = pass_of(whole, backward, &job).compute_s,
               four_s = pass_of(pieces, backward, &other).compute_s, more_s = 0;
        const struct fr_transformer *t = &job.workload.transformer;
        double h = (double)t->hidden, f = (double)t->ffn, T = (double)t->sequence;
        const double sizes[4][2] = {{3 * h / 4, h}, {h, h / 4}, {f / 4, h}, {h, f / 4}};
        for (int k = backward; k < 4; k += 1 + backward) {
            double m = sizes[k][backward], inner = sizes[k][!backward];
            const struct fr_gemm_shape all = {m, T, inner, 1, 0},
                                       piece = {m, T / 4, inner, 1, 0};
            bool outside;
            const struct fr_gemm_use saved = {0};
            const struct fr_device *d = &job.cluster.device;
            more_s += (double)t->layers *
                      (4 * fr_device_product_s(d, FR_FP16, &piece, 0, saved, &outside) -
                       fr_device_product_s(d, FR_FP16, &all, 0, saved, &outside));
        }
        assert_true(more_s > 0);
        near(four_s - one_s, more_s, 1e-9);
        fr_job_free(&job);
        fr_job_free(&other);
    }
}

/* Two ranks of a sequence do at least half of the work each, where the device and not its host decides, and
 * together are cp dp ranks. */
static void context_parallel_shares_a_sequence(void **state) {
    const char *whole[] = {"global_batch=8", "model.dtype=fp16", "attention=flash", DEVICE,
                           NULL};
    const char *shared[] = {
        "global_batch=8", "model.dtype=fp16", "attention=flash", DEVICE, "cp=2", NULL};
    struct fr_outcome one, two;
    (void)state;
    outcome_of(whole, &one);
    outcome_of(shared, &two);
    assert_int_equal(two.ranks, 2);
    assert_true(two.time_s < one.time_s && two.time_s > one.time_s / 2);
    assert_true(two.memory_B[FR_MEMORY_ACTIVATIONS] <
                0.6 * one.memory_B[FR_MEMORY_ACTIVATIONS]);
}

/* One expert that every token goes to is the MLP it stands for, but for its router and the way there. */
static void one_expert_is_an_mlp(void **state) {
    const char *dense[] = {COMMON, "micro_batch=4", "model.biases=false", NULL};
    const char *one[] = {COMMON,
                         "micro_batch=4",
                         "model.biases=false",
                         "model.experts=1",
                         "model.experts_per_token=1",
                         NULL};
    (void)state;
    near(predict_s(one), predict_s(dense), 0.05);
}

/* Ranks that share experts hold fewer; an uneven router makes the fullest slower, up to capacity. */
static void experts_are_shared(void **state) {
#define EXPERTS SHARDED, "model.experts=8", "micro_batch=2"
    const char *alone[] = {EXPERTS, NULL}, *shared[] = {EXPERTS, "ep=8", NULL};
    const char *uneven[] = {EXPERTS, "ep=8", "model.imbalance=2", NULL};
    const char *dropping[] = {EXPERTS, "ep=8", "model.imbalance=2", "model.capacity=1.25",
                              NULL};
    const char *as_much[] = {EXPERTS, "ep=8", "model.imbalance=1.25", NULL};
    struct fr_outcome whole, eighth, refused;
    (void)state;
    outcome_of(alone, &whole);
    outcome_of(shared, &eighth);
    assert_true(whole.parameters == eighth.parameters);
    double experts = 2 * 8.0 * 1920 * 7680 * 52; /* two matrices of eight experts, 52 layers */
    near(whole.parameters_rank_max - eighth.parameters_rank_max, experts * 7 / 8, 1e-9);
    assert_true(predict_s(uneven) > predict_s(shared));
    near(predict_s(dropping), predict_s(as_much), 1e-12);
    /* A single micro-batch has no other beside whose products its tokens could travel. */
    const char *hidden[] = {EXPERTS, "ep=8", "overlap_experts=true", NULL};
    near(predict_s(hidden), predict_s(shared), 1e-12);
    const char *cannot[] = {EXPERTS, "ep=3", NULL};
    outcome_of(cannot, &refused);
    assert_true(refused.reasons & FR_BECAUSE(FR_REASON_EXPERTS));
}

/* Whole experts on each of tp x dp ranks instead of slices on dp: as many parameters a rank, and the
 * collectives over tp that fed the slices are gone; of the products only shapes differ. */
static void whole_experts_over_tp(void **state) {
#define FOLDED                                                                                 \
    "global_batch=16", "model.dtype=fp16", "dp=4", "tp=2", "cluster.device.memory=800 GB",     \
        "sequence_parallel=true", "model.experts=8", "cluster.device.host_launch=0 s"
    const char *sliced[] = {FOLDED, "ep=4", NULL};
    const char *whole[] = {FOLDED, "ep=8", "etp=1", NULL};
    const char *beside[] = {FOLDED, "ep=8", "etp=1", "overlap_experts=true", NULL};
    const char *unknown[] = {FOLDED, "ep=4", "etp=3", NULL};
    struct fr_outcome a, b, refused;
    (void)state;
    outcome_of(sliced, &a);
    outcome_of(whole, &b);
    assert_true(a.reasons == 0 && b.reasons == 0);
    near(a.parameters_rank_max, b.parameters_rank_max, 1e-12);
    near(a.part_s[FR_PART_COMPUTE], b.part_s[FR_PART_COMPUTE], 0.05);
    assert_true(predict_s(beside) < b.time_s);
    assert_true(b.sent_B[FR_SENT_TP] <
                0.6 * a.sent_B[FR_SENT_TP]); /* the attention's half, and the ends */
    outcome_of(unknown, &refused);
    assert_true(refused.reasons & FR_BECAUSE(FR_REASON_EXPERTS));
}

/* A host that takes a second for a layer of experts sets the time: two backward for each layer and micro-batch, three
 * where all is computed again, and forward a second for which the device waits, so that its own time is on top.  Dense
 * layers pay nothing. */
static void choosing_experts_takes_the_host(void **state) {
#define CHOICE                                                                                 \
    "global_batch=4", "model.dtype=fp16", "micro_batch=1", "cluster.device.fixed=0 s",         \
        "cluster.device.host_pass=0 s", "cluster.device.memory=8000 GB"
    const char *slow[] = {CHOICE, "model.experts=8", "cluster.device.host_experts=1 s", NULL};
    const char *again[] = {CHOICE, "model.experts=8", "cluster.device.host_experts=1 s",
                           "recompute=full", NULL};
    const char *dense[] = {CHOICE, "cluster.device.host_experts=1 s", NULL};
    const char *none[] = {CHOICE, NULL};
    (void)state;
    near(predict_s(slow), 4 * 52 * 3, 0.02);
    near(predict_s(again), 4 * 52 * 4, 0.02);
    near(predict_s(dense), predict_s(none), 1e-15);
}

/* Launching a graph takes a second like a kernel: 52 layers forward and backward, and the embedding and logits with one
 * each way; experts' time stays, and of an iteration's graph nothing does, but the device's own. */
static void graphs_spare_the_host(void **state) {
#define SLOW CHOICE, "cluster.device.host_launch=1 s", "cluster.device.host_skew=0"
    const char *layers[] = {SLOW, "graphs=layers", NULL}, *kernels[] = {SLOW, NULL},
               *experts[] = {SLOW, "graphs=layers", "model.experts=8",
                             "cluster.device.host_experts=1 s", NULL},
               *whole[] = {SLOW,
                           "graphs=iteration",
                           "model.experts=8",
                           "cluster.device.host_experts=1 s",
                           "cluster.device.host_pass=1 s",
                           NULL},
               *free_of_it[] = {CHOICE, "model.experts=8", "cluster.device.host_launch=0 s",
                                "cluster.device.host_experts=0 s", NULL};
    (void)state;
    near(predict_s(layers), 4 * 2 * (52 + 1), 0.01);
    near(predict_s(experts), 4 * (2 * (52 + 1) + 3 * 52), 0.01);
    near(predict_s(whole), predict_s(free_of_it), 1e-15);
    assert_true(predict_s(kernels) > 10 * predict_s(layers));
}

/* A host of 0.1 ms a layer of experts adds this to passes that take the device longer: forward all of it, for each
 * layer, where the device waits for it; nothing where graphs hold the layer or another micro-batch is at hand. */
static void devices_wait_for_experts(void **state) {
#define WAITING                                                                                \
    CHOICE, "model.experts=8", "dp=4", "ep=4", "cluster.device.host_launch=0 s",               \
        "cluster.device.interference=0", "cluster.device.host_overlap=0"
    static const struct {
        const char *how;
        double waits; /* with two micro-batches */
    } cases[] = {{"graphs=none", 2},
                 {"recompute=full", 4},
                 {"graphs=layers", 0},
                 {"graphs=iteration", 0},
                 {"overlap_experts=true", 0}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *spared[] = {WAITING, "global_batch=8", cases[k].how,
                                "cluster.device.host_experts=0 s", NULL},
                   *asked[] = {WAITING, "global_batch=8", cases[k].how,
                               "cluster.device.host_experts=0.1 ms", NULL};
        FR_NEAR(1 + predict_s(asked) - predict_s(spared), 1 + cases[k].waits * 52 * 1e-4,
                1e-12);
    }
}

/* Layers cut up take the host half as long again, kernels and experts, and others do not. */
static void cut_layers_take_the_host_longer(void **state) {
#define CUT                                                                                    \
    CHOICE, "global_batch=8", "model.experts=8", "dp=4", "ep=4",                               \
        "cluster.device.host_launch=1 s", "cluster.device.host_skew=0",                        \
        "cluster.device.host_experts=1 s"
    const char *apart[] = {CUT, "cluster.device.host_overlap=0.5", NULL}, *same[] = {CUT, NULL},
               *whole[] = {CUT, "overlap_experts=true", "cluster.device.host_overlap=0", NULL},
               *longer[] = {CUT, "overlap_experts=true", "cluster.device.host_overlap=0.5",
                            NULL};
    (void)state;
    near(predict_s(apart), predict_s(same), 1e-15);
    near(predict_s(longer), 1.5 * predict_s(whole), 0.01);
}

static double whole_s(const struct fr_pass *pass) {
    return pass->compute_s + pass->launch_s + pass->tp_s + pass->cp_s + pass->ep_s;
}

/* Forward and backward of the only stage. */
static void passes_of(const char *cluster, const char *model, const char *const *sets,
                      double pass_s[2]) {
    struct fr_job job;
    struct fr_pipeline p;
    uint32_t extrapolated = 0;
    fr_test_job(cluster, model, sets, &job);
    assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &extrapolated, NULL), FR_OK);
    pass_s[0] = whole_s(&p.stage[0].forward);
    pass_s[1] = whole_s(&p.stage[0].backward);
    fr_pipeline_free(&p);
    fr_job_free(&job);
}

/* Layers measured to take what they are priced at, the ends not measured: the same pass. */
static void layers_measured_as_priced_change_nothing(void **state) {
    (void)state;
    for (int tp = 1; tp <= 4; tp *= 4) {
        char layers[32], split[16], profile[160];
        const char *sets[] = {split,
                              "global_batch=4",
                              "model.dtype=fp16",
                              "cluster.device.memory=800 GB",
                              "cluster.device.host_launch=0 s",
                              layers,
                              NULL,
                              NULL};
        double four[2], eight[2], measured[2];
        snprintf(split, sizeof split, "tp=%d", tp);
        snprintf(layers, sizeof layers, "model.layers=4");
        passes_of("dgx-a100", "gpt-2.5b", sets, four);
        snprintf(layers, sizeof layers, "model.layers=8");
        passes_of("dgx-a100", "gpt-2.5b", sets, eight);
        snprintf(profile, sizeof profile,
                 "model.layer_profile=[{\"tp\":%d,\"micro_batch\":1,\"forward\":\"%.17g s\","
                 "\"backward\":\"%.17g s\"}]",
                 tp, (eight[0] - four[0]) / 4, (eight[1] - four[1]) / 4);
        sets[6] = profile;
        passes_of("dgx-a100", "gpt-2.5b", sets, measured);
        for (int k = 0; k < 2; k++) near(measured[k], eight[k], 1e-9);
    }
}

/* The host's time for experts is the layers'.  Forward the device waits for it; backward it is beside what devices do: once
 * it is longer, each second more of it is two for each layer, three where the pass is done again. */
static void experts_wait_for_the_host(void **state) {
    (void)state;
    for (int again = 0; again < 2; again++) {
        double pass_s[4][2];
        for (int k = 0; k < 4; k++) {
            char host[48];
            const char *sets[] = {host,
                                  "ep=1",
                                  "global_batch=1",
                                  "cluster.device.memory=8000 GB",
                                  "cluster.device.host_launch=0 s",
                                  "recompute=full",
                                  NULL};
            if (!again) sets[5] = NULL;
            snprintf(host, sizeof host, "cluster.device.host_experts=%d s", k < 2 ? k : k + 8);
            passes_of("dgx-h100", "mixtral-8x7b", sets, pass_s[k]);
        }
        near(pass_s[3][0] - pass_s[2][0], 32, 1e-9);
        near(pass_s[3][1] - pass_s[2][1], 32 * (2 + again), 1e-9);
        /* The rest without the host's time: forward all, backward that of the ends, less than the
         * layers'. */
        double ends_s = pass_s[2][1] - 32 * 10 * (2 + again);
        near(pass_s[2][0] - 32 * 10, pass_s[0][0], 1e-9);
        FR_TRUE(ends_s > 0 && ends_s < pass_s[0][1] / 2, "ends take %g of %g s", ends_s,
                pass_s[0][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_host_sets_the_pace),
        cmocka_unit_test(a_fast_host_is_hidden),
        cmocka_unit_test(blocking_hosts_add),
        cmocka_unit_test(blocking_leaves_nothing_beside),
        cmocka_unit_test(blocking_passes_send),
        cmocka_unit_test(gradients_added_apart),
        cmocka_unit_test(flash_attention_is_faster),
        cmocka_unit_test(generations_of_fused_attention),
        cmocka_unit_test(interference_takes_its_share),
        cmocka_unit_test(a_tiled_product),
        cmocka_unit_test(rank_order_moves_the_stages),
        cmocka_unit_test(layers_measured_as_priced_change_nothing),
        cmocka_unit_test(experts_wait_for_the_host),
        cmocka_unit_test(measured_layers_replace_the_analytic_ones),
        cmocka_unit_test(zero_divides_memory),
        cmocka_unit_test(sharding_costs_only_communication),
        cmocka_unit_test(tensor_exchanges_in_pieces),
        cmocka_unit_test(products_in_pieces_by_hand),
        cmocka_unit_test(context_parallel_shares_a_sequence),
        cmocka_unit_test(one_expert_is_an_mlp),
        cmocka_unit_test(experts_are_shared),
        cmocka_unit_test(whole_experts_over_tp),
        cmocka_unit_test(choosing_experts_takes_the_host),
        cmocka_unit_test(graphs_spare_the_host),
        cmocka_unit_test(devices_wait_for_experts),
        cmocka_unit_test(cut_layers_take_the_host_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
