/* Each ground for refusing a plan, by itself, beside the nearest plan that it lets through. */
#include "models/outcome/cost.h"
#include "models/outcome/memory.h"
#include "models/price/pipeline.h"
#include "tests/job.h"

static fr_reasons reasons_of(const char *cluster, const char *model, const char *words) {
    char text[512];
    const char *sets[24];
    int n = 0;
    struct fr_job job;
    struct fr_outcome out;
    snprintf(text, sizeof text, "%s", words);
    for (char *at = strtok(text, " "); at; at = strtok(NULL, " ")) sets[n++] = at;
    sets[n] = NULL;
    fr_test_job(cluster, model, sets, &job);
    fr_cost(&job, &job.plan, &out);
    assert_true((out.reasons & ~FR_BECAUSE(FR_REASON_MEMORY)) == 0 || isnan(out.time_s));
    fr_job_free(&job);
    return out.reasons;
}

struct refusal {
    int reason;
    const char *refused, *accepted; /* what is set */
};

static void hold(const char *cluster, const char *model, const struct refusal *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        fr_reasons no = reasons_of(cluster, model, rows[i].refused),
                   yes = reasons_of(cluster, model, rows[i].accepted);
        FR_TRUE(no >> rows[i].reason & 1, "%s %s: not %s", model, rows[i].refused,
                fr_reason_names[rows[i].reason]);
        FR_TRUE(!(yes >> rows[i].reason & 1), "%s %s: %s", model, rows[i].accepted,
                fr_reason_names[rows[i].reason]);
    }
}
#define HOLD(cluster, model, rows) hold(cluster, model, rows, sizeof rows / sizeof *rows)

/* 52 layers, 24 heads, 1920 wide, 7680 in the MLP, 1024 tokens; 4096 GPUs in nodes of eight. */
static void of_a_transformer(void **state) {
    static const struct refusal rows[] = {
        {FR_REASON_BATCH, "dp=3 global_batch=8", "dp=4 global_batch=8"},
        {FR_REASON_MICRO_BATCH, "dp=2 global_batch=8 micro_batch=3",
         "dp=2 global_batch=8 micro_batch=4"},
        {FR_REASON_HEADS, "tp=16", "tp=8"},
        {FR_REASON_HEADS, "tp=5", "tp=6"},
        {FR_REASON_HEADS, "tp=8 cp=2 context=all-to-all attention=flash",
         "tp=4 cp=2 context=all-to-all attention=flash"},
        {FR_REASON_BRANCHES,
         "method=subgraph branches=heads tp=8 cp=2 context=all-to-all attention=flash",
         "method=subgraph branches=heads tp=4 cp=2 context=all-to-all attention=flash"},
        {FR_REASON_WIDTH, "tp=8 model.ffn=7684", "tp=4 model.ffn=7684"},
        {FR_REASON_SEQUENCE, "cp=3 attention=flash", "cp=4 attention=flash"},
        {FR_REASON_SEQUENCE, "tp=3 sequence_parallel=true", "tp=4 sequence_parallel=true"},
        {FR_REASON_STAGES, "pp=53", "pp=52"},
        {FR_REASON_STAGES, "pp=2 stage_layers=[26,25]", "pp=2 stage_layers=[27,25]"},
        {FR_REASON_STAGES, "pp=2 stage_layers=[26,25,1]", "pp=2 stage_layers=[51,1]"},
        /* with chunks embedding and logits count as layers */
        {FR_REASON_STAGES,
         "pp=5 schedule=interleaved chunks=11 global_batch=10 micro_batch=1 model.layers=52",
         "pp=6 schedule=interleaved chunks=9 global_batch=12 micro_batch=1 model.layers=52"},
        {FR_REASON_SCHEDULE, "pp=2 chunks=2", "pp=2 chunks=1"},
        {FR_REASON_SCHEDULE, "pp=2 chunks=2 schedule=gpipe", "pp=2 schedule=gpipe"},
        {FR_REASON_SCHEDULE, "pp=2 chunks=2 schedule=zero-bubble", "pp=2 schedule=zero-bubble"},
        {FR_REASON_SCHEDULE, "pp=2 chunks=2 schedule=1f1b-double", "pp=2 schedule=1f1b-double"},
        {FR_REASON_SCHEDULE, "pp=4 chunks=2 schedule=interleaved global_batch=6 micro_batch=1",
         "pp=4 chunks=2 schedule=interleaved global_batch=8 micro_batch=1"},
        {FR_REASON_NO_CLOSED_FORM, "pp=2 p2p=duplex", "pp=2 p2p=async"},
        {FR_REASON_OVERLAP, "dp=2 overlap=gradient zero=3", "dp=2 overlap=gradient zero=2"},
        {FR_REASON_OVERLAP, "dp=2 pp=2 overlap=gradient compression.gradient.stages=2",
         "dp=2 pp=2 overlap=gradient compression.gradient.stages=1"},
        {FR_REASON_SCHEDULE,
         "pp=4 chunks=2 schedule=interleaved global_batch=8 micro_batch=1 launches=blocking",
         "pp=4 global_batch=8 micro_batch=1 launches=blocking"},
        {FR_REASON_COMPRESSION,
         "pp=2 compression.backward.scope=all micro_batch=1 launches=blocking",
         "pp=2 compression.backward.scope=all micro_batch=1"},
        {FR_REASON_COMPRESSION,
         "pp=2 compression.forward.rank=8 micro_batch=1 launches=blocking",
         "pp=2 dp=2 compression.gradient.stages=1 micro_batch=1 launches=blocking"},
        {FR_REASON_OVERLAP, "dp=2 overlap=gradient launches=blocking",
         "dp=2 overlap=gradient launches=ahead"},
        {FR_REASON_OVERLAP, "tp=2 sequence_parallel=true overlap_tp=true launches=blocking",
         "tp=2 sequence_parallel=true launches=blocking"},
        {FR_REASON_COMPRESSION, "pp=2 dp=2 zero=2 compression.embedding=fused",
         "pp=2 dp=2 zero=1 compression.embedding=fused"},
        {FR_REASON_COMPRESSION, "dp=2 zero=2 compression.gradient.stages=1",
         "dp=2 zero=1 compression.gradient.stages=1"},
        {FR_REASON_STAGES, "dp=2 pp=2 compression.gradient.stages=3",
         "dp=2 pp=2 compression.gradient.stages=2"},
        {FR_REASON_WIDTH, "method=grid tp=8 model.hidden=1924 model.head_dim=80",
         "method=tensor tp=8 model.hidden=1924 model.head_dim=80"},
        {FR_REASON_DTYPE, "model.dtype=fp8", "model.dtype=fp16"},
        {FR_REASON_GHOST_EQ8, "method=phantom tp=2 ghost=480", "method=phantom tp=2 ghost=479"},
        {FR_REASON_WIDTH, "method=phantom tp=7 ghost=2", "method=phantom tp=6 ghost=2"},
        {FR_REASON_HEADS, "method=phantom tp=8 ghost=2 cp=2 context=all-to-all",
         "method=phantom tp=8 ghost=2 cp=2 context=ring"},
        {FR_REASON_METHOD, "method=phantom tp=2 ghost=2 sequence_parallel=true",
         "method=phantom tp=2 ghost=2 sequence_parallel=false"},
        {FR_REASON_METHOD,
         "method=phantom tp=2 ghost=2 model.experts=1 model.experts_per_token=1 "
         "model.expert_ffn=7680",
         "method=tensor tp=2 model.experts=1 model.experts_per_token=1 model.expert_ffn=7680"},
        {FR_REASON_IDLE_KEY, "ghost=2", "ghost=0"},
        {FR_REASON_IDLE_KEY, "method=grid tp=2 domain=1", "method=grid tp=2"},
        {FR_REASON_IDLE_KEY, "compression.backward.scope=all",
         "pp=2 compression.backward.scope=all"},
    };
    (void)state;
    HOLD("dgx-a100", "gpt-2.5b", rows);
}

static void of_branches(void **state) {
    static const struct refusal rows[] = {
        {FR_REASON_BRANCHES, "method=subgraph tp=2 cp=4 micro_batch=2 context=all-to-all",
         "method=subgraph tp=2 cp=4 micro_batch=2 context=ring"},
        {FR_REASON_METHOD, "method=subgraph tp=4 micro_batch=4 sequence_parallel=true",
         "method=subgraph tp=4 micro_batch=4"},
        {FR_REASON_BRANCHES, "method=subgraph tp=5 micro_batch=5 global_batch=20",
         "method=subgraph tp=4 micro_batch=4 global_batch=20"},
        {FR_REASON_BRANCHES, "method=subgraph tp=4 micro_batch=2",
         "method=subgraph tp=4 micro_batch=2 common=subgrid"},
        {FR_REASON_BRANCHES, "method=subgraph tp=4 micro_batch=4 branches=layer model.ffn=3074",
         "method=subgraph tp=4 micro_batch=4 branches=attention model.ffn=3074"},
        {FR_REASON_STAGES, "method=subgraph tp=4 micro_batch=4 compression.gradient.stages=2",
         "method=subgraph tp=4 micro_batch=4 compression.gradient.stages=1"},
    };
    static const struct refusal cross[] = {
        {FR_REASON_PIPELINE, "pp=2 schedule=interleaved chunks=2", "pp=2"}};
    (void)state;
    HOLD("lassen", "gpt-2", rows);
    HOLD("lassen", "t5-large-mod", cross);
}

static void of_layers(void **state) {
    static const struct refusal ffn[] = {
        {FR_REASON_WIDTH, "tp=3", "tp=4"},
        {FR_REASON_BATCH, "dp=3 global_batch=8", "dp=4 global_batch=8"},
        {FR_REASON_MICRO_BATCH, "dp=2 global_batch=8 micro_batch=3",
         "dp=2 global_batch=8 micro_batch=4"},
        {FR_REASON_RECOMPUTE, "recompute=full", "recompute=none"},
        {FR_REASON_RECOMPUTE, "pp=2 recompute=full", "pp=2 recompute=none"},
        {FR_REASON_STAGES, "pp=4 model.layers=3", "pp=3 model.layers=3"},
        {FR_REASON_STAGES, "pp=2 model.layers=4 stage_layers=[3,2]",
         "pp=2 model.layers=4 stage_layers=[3,1]"},
        {FR_REASON_STAGES, "pp=2 model.layers=4 stage_layers=[2,1,1]",
         "pp=2 model.layers=4 stage_layers=[2,2]"},
        {FR_REASON_GHOST, "method=phantom tp=4", "method=phantom tp=4 ghost=2"},
        {FR_REASON_GHOST_EQ8, "method=phantom tp=4 ghost=768",
         "method=phantom tp=4 ghost=767"}, /* 4096/4 (1 - 1/4) */
        {FR_REASON_WIDTH, "method=phantom tp=3 ghost=2", "method=phantom tp=4 ghost=2"},
        {FR_REASON_TOO_WIDE, "method=grid tp=4097", "method=grid tp=4096"},
        {FR_REASON_LAYER_TP, "method=grid dp=8 layer_tp=[3]", "method=grid dp=8 layer_tp=[4]"},
        {FR_REASON_STAGES, "dp=2 compression.gradient.stages=2",
         "dp=2 compression.gradient.stages=1"},
        {FR_REASON_COMPRESSION, "compression.gradient.stages=1",
         "dp=2 compression.gradient.stages=1"},
        {FR_REASON_IDLE_KEY, "pp=2 micro_batch=4 compression.embedding=fused", "pp=2"},
        {FR_REASON_DTYPE, "model.dtype=fp8", "model.dtype=fp32"},
        {FR_REASON_PLACEMENT, "method=grid dp=8 layer_tp=[4] placement=round-robin",
         "method=grid dp=8 layer_tp=[4]"},
    };
    static const struct refusal alexnet[] = {
        {FR_REASON_LAYER, "method=tensor tp=2 dp=2", "method=grid tp=2 dp=2"},
        {FR_REASON_TOO_WIDE, "method=grid tp=97", "method=grid tp=96"}, /* 96 filters first */
        {FR_REASON_BATCH, "method=grid dp=3 global_batch=8", "method=grid dp=4 global_batch=8"},
        {FR_REASON_SCHEDULE, "method=grid pp=2 schedule=interleaved chunks=2",
         "method=grid pp=2"},
        {FR_REASON_DOMAIN, "method=grid tp=2 domain=6", "method=grid tp=2 domain=5"},
        {FR_REASON_DOMAIN, "method=grid tp=7 domain=5", "method=grid tp=6 domain=5"},
        {FR_REASON_IDLE_KEY, "method=grid tp=2 domain=1 layer_tp=[1,1,1,1,1,2,2,2]",
         "method=grid tp=2 layer_tp=[1,1,1,1,1,2,2,2]"},
    };
    static const struct refusal resnet[] = {
        {FR_REASON_DOMAIN, "method=grid tp=2 domain=6", "method=grid tp=2 domain=5"},
        {FR_REASON_DOMAIN, "method=grid tp=8 domain=53", "method=grid tp=7 domain=53"},
    };
    (void)state;
    HOLD("cori-knl", "resnet-50", resnet);
    HOLD("frontier", "ffn-4096", ffn);
    HOLD("cori-knl", "alexnet", alexnet);
}

/* Eight experts, 32 heads, eight key-value heads. */
static void of_experts(void **state) {
    static const struct refusal rows[] = {
        {FR_REASON_EXPERTS, "dp=16 ep=16 global_batch=16", "dp=16 ep=8 global_batch=16"},
        {FR_REASON_EXPERTS, "dp=4 ep=8 global_batch=8", "dp=8 ep=8 global_batch=8"},
        {FR_REASON_EXPERTS, "tp=4 dp=2 etp=2 sequence_parallel=true",
         "tp=4 dp=2 etp=1 sequence_parallel=true"},
        {FR_REASON_EXPERTS, "tp=4 dp=2 etp=1", "tp=4 dp=2 etp=4"},
        {FR_REASON_HEADS, "tp=16", "tp=8"},
        {FR_REASON_OVERLAP, "dp=4 ep=4 overlap_experts=true launches=blocking",
         "dp=4 ep=4 launches=blocking"},
        {FR_REASON_COMPRESSION, "dp=2 zero=2 compression.gradient.stages=1",
         "dp=2 zero=1 compression.gradient.stages=1"},
        {FR_REASON_METHOD, "method=phantom tp=2 ghost=2", "tp=2"},
        {FR_REASON_METHOD, "method=subgraph tp=2 micro_batch=2", "tp=2"},
    };
    (void)state;
    HOLD("dgx-h100", "mixtral-8x7b", rows);
}

/* One rank more than the cluster has; one micro-batch more than 2^25 passes of three kinds. */
static void of_sizes(void **state) {
    static const char *const sets[] = {"pp=32", "micro_batch=1", NULL};
    struct fr_job job;
    (void)state;
    fr_test_job("dgx-a100", "gpt-2.5b", sets, &job);
    int64_t most = ((int64_t)1 << 25) / (3 * 32), all = fr_levels_capacity(&job.cluster.levels);
    struct fr_plan plan = job.plan;
    for (int more = 0; more < 2; more++) {
        plan.global_batch = most + more;
        assert_int_equal(fr_pipeline_check(&job, &plan), more ? FR_BECAUSE(FR_REASON_SIZE) : 0);
    }
    plan = job.plan;
    plan.pp = 1;
    for (int more = 0; more < 2; more++) {
        plan.dp = plan.global_batch = all + more;
        assert_int_equal(fr_pipeline_check(&job, &plan),
                         more ? FR_BECAUSE(FR_REASON_RANKS) : 0);
    }
    fr_job_free(&job);
}

/* Memory with which a plan that needs @p peak_B is refused, and the next number is enough. */
static double edge_B(const struct fr_job *job, double *memory_B, double peak_B) {
    double low_B = peak_B / 2, high_B = 2 * peak_B;
    struct fr_outcome out;
    for (;;) {
        *memory_B = low_B + (high_B - low_B) / 2;
        if (*memory_B <= low_B || *memory_B >= high_B) return high_B;
        fr_cost(job, &job->plan, &out);
        *(out.reasons ? &low_B : &high_B) = *memory_B;
    }
}

/* Memory is enough to the last bit: what needs just what there is runs, on the device and in the host; what needs the
 * least bit more does not, and says of which.  A device that shows tensors alone has enough where a plan fits with 5
 * %: for transformers a little less than the peak that is expected. */
static void memory_is_enough_to_the_last_bit(void **state) {
    static const struct {
        const char *cluster, *model, *sets[8];
        bool host;
    } rows[] = {
        {"frontier", "ffn-4096", {"tp=4"}, false},
        {"dgx-h100", "llama-3-8b", {"tp=4", "global_batch=8"}, false},
        {"dgx-h100", "mixtral-8x7b", {"dp=8", "ep=8", "zero=1", "global_batch=8"}, false},
        {"dgx-a100", "gpt-2", {"pp=4", "schedule=zero-bubble", "global_batch=16"}, false},
        {"dgx-a100", "gpt-2", {"offload=all", "pp=2", "global_batch=8"}, true},
        {"dgx-a100", "gpt-2", {"offload=optimizer", "dp=2", "zero=1"}, true}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int host = 0; host <= rows[i].host; host++) {
            struct fr_job job;
            struct fr_outcome out;
            fr_test_job(rows[i].cluster, rows[i].model, rows[i].sets, &job);
            struct fr_device *d = &job.cluster.device;
            double *memory_B = host ? &d->host_memory_B : &d->memory_B;
            d->memory_B = d->host_memory_B = 0; /* as much as one likes */
            d->host_link_B_per_s = 20e9, d->host_rate_B_per_s = 40e9;
            fr_cost(&job, &job.plan, &out);
            double spread = job.workload.transformer.layers > 0 ? FR_MEMORY_SPREAD : 0,
                   edge = host ? out.host_memory_B : edge_B(&job, memory_B, out.memory_peak_B);
            if (!host) FR_NEAR(edge, out.memory_peak_B * (1 - 1.6448536 * spread), 1e-6);
            if (!host && spread == 0) assert_true(edge == out.memory_peak_B);
            *memory_B = edge;
            out.reasons = 0;
            FR_TRUE(out.reasons == 0 && *memory_B > 0, "row %zu: %g B", i, *memory_B);
            fr_cost(&job, &job.plan, &out);
            FR_TRUE(out.reasons == 0, "row %zu: refused at %.17g B", i, *memory_B);
            *memory_B = nextafter(*memory_B, 0);
            fr_cost(&job, &job.plan, &out);
            FR_TRUE(out.reasons == FR_BECAUSE(FR_REASON_MEMORY), "row %zu: %llx at %.17g B", i,
                    (unsigned long long)out.reasons, *memory_B);
            *memory_B = 1; /* which is not none said */
            fr_cost(&job, &job.plan, &out);
            assert_int_equal(out.reasons, FR_BECAUSE(FR_REASON_MEMORY));
            fr_job_free(&job);
        }
}

/* A batch that replicas do not divide says nothing of grids. */
static void one_ground_at_a_time(void **state) {
    (void)state;
    assert_int_equal(reasons_of("frontier", "ffn-4096", "dp=3 global_batch=8"),
                     FR_BECAUSE(FR_REASON_BATCH));
}

/* One stage waits for nobody: no bubble, not even of rounding. */
static void a_stage_alone_has_no_bubble(void **state) {
    static const char *const sets[] = {"tp=8", "attention=flash", "global_batch=64", NULL};
    struct fr_job job;
    struct fr_outcome out;
    (void)state;
    fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
    fr_cost(&job, &job.plan, &out);
    assert_true(out.time_s > 0 && out.part_s[FR_PART_BUBBLE] == 0);
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_a_transformer),
                                       cmocka_unit_test(of_branches),
                                       cmocka_unit_test(of_layers),
                                       cmocka_unit_test(of_experts),
                                       cmocka_unit_test(of_sizes),
                                       cmocka_unit_test(memory_is_enough_to_the_last_bit),
                                       cmocka_unit_test(one_ground_at_a_time),
                                       cmocka_unit_test(a_stage_alone_has_no_bubble)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
