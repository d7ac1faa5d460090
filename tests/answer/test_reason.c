/* Why a plan cannot be, as a sentence with its numbers: each by itself, word for word. */
#include "answer/outcome/report.h"
#include "models/outcome/cost.h"
#include "tests/job.h"

#define MLP FR_SOURCE_DIR "/tests/search/mlp.json"
#define HOST                                                                                   \
    "cluster.device.host_link=20GB/s cluster.device.host_bandwidth=40GB/s "                    \
    "cluster.device.memory=1000TB"
static const struct {
    const char *cluster, *model, *sets;
    int reason;
    const char *says;
} rows[] = {
    {"dgx-h100", "llama-3-8b", "dp=4 pp=2 global_batch=8 compression.gradient.stages=3",
     FR_REASON_STAGES, "compression.gradient.stages = 3, the plan has pp = 2"},
    {"dgx-h100", "llama-3-8b",
     "dp=2 pp=4 global_batch=8 compression.gradient.stages=3 stage_layers=[20,11]",
     FR_REASON_STAGES,
     "stage_layers lists 2 stages of 31 layers in all; the plan has pp = 4, the model 32 "
     "layers"},
    {"dgx-h100", "llama-3-8b", "pp=33 global_batch=8", FR_REASON_STAGES,
     "the model has 32 layers, too few for pp x chunks = 33"},
    {"dgx-h100", "llama-3-8b", "pp=20 chunks=2 schedule=interleaved global_batch=20",
     FR_REASON_STAGES,
     "the model has 32 layers, too few for pp x chunks = 40, embedding and logits counted as "
     "layers"},
    {"dgx-a100", "gpt-2.5b", "pp=2 dp=4 clock=[\"1.2GHz\",\"1.1GHz\",\"1GHz\"]",
     FR_REASON_STAGES, "clock lists 3 stages, the plan has pp = 2"},
    {"dgx-a100", "gpt-2.5b", "pp=2 dp=4 power_cap=[\"400W\",\"300W\",\"300W\"]",
     FR_REASON_STAGES, "power_cap lists 3 stages, the plan has pp = 2"},
    {"dgx-a100", "gpt-2.5b",
     "pp=2 dp=4 clock=\"1.2GHz\" power_cap=[\"400W\",\"300W\",\"300W\"]", FR_REASON_STAGES,
     "power_cap lists 3 stages, the plan has pp = 2"},
    {"dgx-a100", "gpt-2.5b",
     "pp=2 dp=4 clock=[\"1.2GHz\",\"1.1GHz\"] power_cap=[\"400W\",\"300W\",\"300W\"]",
     FR_REASON_STAGES, "power_cap lists 3 stages, the plan has pp = 2"},
    {"lassen", "gpt-2.5b", "tp=2 clock=1.2GHz", FR_REASON_POWER,
     "the cluster's device states no \"clock\", so what clock does is unknown"},
    {"lassen", "gpt-2.5b", "tp=2 power_cap=200W", FR_REASON_POWER,
     "the cluster's device states no \"clock\", so what power_cap does is unknown"},
    {"lassen", "gpt-2.5b", "tp=2 clock=1.2GHz power_cap=200W", FR_REASON_POWER,
     "the cluster's device states no \"clock\", so what clock does is unknown"},
    {"dgx-a100", "gpt-2.5b", "tp=2 pp=2 clock=[\"1.2GHz\",\"1411MHz\"]", FR_REASON_POWER,
     "a clock of the plan is outside the 855 to 1410 MHz of the device"},
    {"dgx-a100", "gpt-2.5b", "tp=2 clock=854MHz", FR_REASON_POWER,
     "a clock of the plan is outside the 855 to 1410 MHz of the device"},
    {"frontier", "ffn-16384", "pp=9 global_batch=9", FR_REASON_STAGES,
     "the model's layers do not make 9 stages of one at least"},
    {"frontier", "ffn-16384", "pp=3 global_batch=9 stage_layers=[1,1]", FR_REASON_STAGES,
     "the model's layers do not make 3 stages of the numbers in stage_layers"},
    {"frontier",
     "{\"kind\": \"stages\", \"forward\": [\"1 ms\", \"2 ms\"], \"backward\": [\"2 ms\", \"2 "
     "ms\"], \"message\": \"1 MB\"}",
     "pp=7 global_batch=7", FR_REASON_STAGES, "the model lists 2 stages, the plan has pp = 7"},
    {"frontier", "ffn-16384", "dp=3", FR_REASON_BATCH,
     "global_batch = 452 is not divisible by dp = 3"},
    {"frontier", "ffn-16384", "dp=2 global_batch=12 micro_batch=4", FR_REASON_MICRO_BATCH,
     "the 6 samples of a rank are not divisible by micro_batch = 4"},
    {"frontier", "ffn-16384", "tp=3", FR_REASON_WIDTH,
     "tp = 3 does not divide a layer's 16384 outputs"},
    {"frontier", "ffn-16384", "method=phantom tp=3 ghost=4", FR_REASON_WIDTH,
     "tp = 3 does not divide a layer's 16384 outputs"},
    {"frontier", MLP,
     "model.layers=[{\"in\":16,\"out\":16},{\"in\":16,\"out\":20},{\"out\":16},{\"out\":18}] "
     "method=phantom tp=4 ghost=1",
     FR_REASON_WIDTH, "tp = 4 does not divide a layer's 18 outputs"},
    {"frontier", MLP,
     "model.layers=[{\"in\":18,\"out\":16},{\"out\":16}] method=phantom tp=4 ghost=1",
     FR_REASON_WIDTH, "tp = 4 does not divide a layer's 18 inputs"},
    {"frontier", MLP, "model.layers=[{\"in\":18,\"out\":16},{\"out\":22}] method=tensor tp=4",
     FR_REASON_WIDTH, "tp = 4 does not divide a layer's 22 outputs"},
    {"dgx-a100", "gpt-2.5b", "method=phantom tp=7 ghost=1 dp=2", FR_REASON_WIDTH,
     "tp = 7 does not divide the MLP's width of 7680; tp = 7 does not divide the hidden width "
     "of "
     "1920"},
    {"dgx-a100", "gpt-2.5b", "method=phantom tp=9 ghost=1 dp=2 model.ffn=9000", FR_REASON_WIDTH,
     "tp = 9 does not divide the hidden width of 1920"},
    {"cori-knl", "alexnet", "method=grid pp=2 dp=4 layer_tp=[1,1,1,1,1,1,1,1]",
     FR_REASON_PIPELINE, "pp = 2: a grid per layer is priced without pipeline only"},
    {"lassen", "t5-large-mod", "pp=2 dp=4 schedule=interleaved chunks=2", FR_REASON_PIPELINE,
     "pp = 2 with several chunks a stage: the encoder's output, which cross-attention reads, "
     "would travel with messages of some and not of others, which have one price"},
    {"frontier", "ffn-16384", "method=phantom tp=8", FR_REASON_GHOST,
     "method phantom needs ghost, the number of ghost neurons (at least 1)"},
    {"frontier", "ffn-16384", "method=phantom tp=8 ghost=1792", FR_REASON_GHOST_EQ8,
     "ghost = 1792 is not below (n/p)(1 - 1/p) = 1792 for n = 16384, p = 8 (Eq. 8): the "
     "phantom model would not be smaller than the tensor-parallel one"},
    {"dgx-a100", "gpt-2.5b", "method=phantom tp=4 ghost=360", FR_REASON_GHOST_EQ8,
     "ghost = 360 is not below (n/p)(1 - 1/p) = 360 for n = 1920, p = 4 (Eq. 8): the phantom "
     "model would not be smaller than the tensor-parallel one"},
    {"frontier", "ffn-16384", "tp=75264 dp=2 global_batch=64", FR_REASON_RANKS,
     "the plan has 150528 ranks, the cluster holds 75264"},
    {"frontier", "ffn-16384", "model.width=262144", FR_REASON_MEMORY,
     "the fullest rank needs 2.201 TB, the device has 64.00 GB"},
    {"frontier", "ffn-16384", "dp=8 zero=1 zero_ranks=3", FR_REASON_ZERO_RANKS,
     "zero_ranks = 3 does not divide the 8 ranks that hold the same parameters (dp x cp)"},
    {"dgx-h100", "mixtral-8x7b", "dp=8 zero=1 zero_ranks=3", FR_REASON_ZERO_RANKS,
     "zero_ranks = 3 does not divide the 8 ranks that hold the same parameters (dp x cp; of "
     "experts dp x cp x tp / (ep x etp))"},
    {"dgx-h100", "llama-3-8b", "pp=4 chunks=2 schedule=interleaved global_batch=6",
     FR_REASON_SCHEDULE,
     "interleaved needs micro-batches in multiples of the stages (pp = 4, 6 micro-batches, "
     "chunks = 2)"},
    {"dgx-h100", "llama-3-8b", "pp=2 schedule=[\"F0_F1_B0_B1\",\"F0_B0_F1_B1\"] global_batch=6",
     FR_REASON_SCHEDULE,
     "the custom order was written for other stages, micro-batches or chunks (pp = 2, 6 "
     "micro-batches, chunks = 1); it has 2 stages, 2 micro-batches and 1 chunks"},
    {"dgx-h100", "llama-3-8b", "tp=8 global_batch=8", FR_REASON_ITERATIONS,
     "iterations to the loss are unknown for tensor at tp = 8, ghost = 0; give them with --set "
     "model.iterations=FILE or rank --per-iteration"},
    {"frontier", "ffn-16384", "tp=8 global_batch=128", FR_REASON_ITERATIONS,
     "iterations to the loss are unknown for tensor at tp = 8, ghost = 0: the table is of a "
     "global batch of 452, this is 128 (\"scaling\": \"samples\" in it would take it over); "
     "give them with --set model.iterations=FILE or rank --per-iteration"},
    {"frontier", "ffn-16384", "tp=8 model.width=32768", FR_REASON_ITERATIONS,
     "iterations to the loss are unknown for tensor at tp = 8, ghost = 0: the table is of a "
     "width of 16384, this is 32768; give them with --set model.iterations=FILE or rank "
     "--per-iteration"},
    {"frontier", "ffn-16384", "tp=8 model.layers=9", FR_REASON_ITERATIONS,
     "iterations to the loss are unknown for tensor at tp = 8, ghost = 0: the table is of 2 "
     "layers, this has 9; give them with --set model.iterations=FILE or rank --per-iteration"},
    {"frontier", "ffn-16384", "tp=8 dp=2 compression.gradient.stages=1", FR_REASON_ITERATIONS,
     "iterations to the loss are unknown for tensor at tp = 8, ghost = 0, compressed as it is "
     "(rows of the table with such a \"plan\", or with \"compressed\": true); give them with "
     "--set model.iterations=FILE or rank --per-iteration"},
    {"dgx-h100", "llama-3-8b", "dp=8 zero=3 overlap=gradient global_batch=8", FR_REASON_OVERLAP,
     "overlap would have no effect with zero 3, which gathers parameters and scatters "
     "gradients beside every pass anyway"},
    {"dgx-h100", "llama-3-8b",
     "dp=4 pp=2 overlap=gradient global_batch=8 compression.gradient.stages=2",
     FR_REASON_OVERLAP,
     "overlap would have no effect where the gradients of all stages go compressed: a codec "
     "waits for all of them"},
    {"dgx-h100", "llama-3-8b", "dp=8 overlap=gradient launches=blocking global_batch=8",
     FR_REASON_OVERLAP,
     "overlap would have no effect where launches block: nothing runs beside what the host "
     "waits for"},
    {"frontier", "ffn-16384", "recompute=full", FR_REASON_RECOMPUTE,
     "recompute is priced for transformers only"},
    {"frontier", "ffn-16384", "ghost=4", FR_REASON_IDLE_KEY,
     "ghost would have no effect: it needs a method with ghost neurons"},
    {"cori-knl", "alexnet", "tp=2", FR_REASON_LAYER,
     "method tensor divides fully connected layers only; use grid for convolutions"},
    {"cori-knl", "alexnet", "method=grid dp=2 layer_tp=[3,1,1,1,1,1,1,1]", FR_REASON_LAYER_TP,
     "layer_tp needs method grid, a value a layer, and values that divide the ranks and leave "
     "a data axis that divides the batch"},
    {"cori-knl", "alexnet", "method=grid dp=8 layer_tp=[1,1,1,1,1,1,1,1] placement=round-robin",
     FR_REASON_PLACEMENT, "a grid per layer is priced with linear placement"},
    {"cori-knl", "alexnet", "method=grid tp=4096 global_batch=4096", FR_REASON_TOO_WIDE,
     "a layer has fewer output channels than the ranks that should divide them"},
    {"cori-knl", "alexnet", "method=grid tp=2 domain=6", FR_REASON_DOMAIN,
     "domain = 6, the model begins with 5 convolutions"},
    {"cori-knl", "resnet-50", "method=grid tp=2 domain=3", FR_REASON_DOMAIN,
     "domain = 3 ends inside a residual block, which is divided as a whole"},
    {"cori-knl", "resnet-50", "method=grid tp=8 domain=53", FR_REASON_DOMAIN,
     "domain = 53: 8 ranks leave one of them no row of a layer's image, or fewer rows than its "
     "neighbour reads"},
    {"lassen", "attention-branches", "method=subgraph tp=5", FR_REASON_BRANCHES,
     "5 ways must divide the branches (heads), and the micro-batch, whose samples the common "
     "layers share"},
    {"lassen", "attention-branches", "method=subgraph tp=5 common=subgrid", FR_REASON_BRANCHES,
     "5 ways must divide the branches (heads)"},
    {"dgx-h100", "llama-3-8b", "method=subgraph tp=5 global_batch=8", FR_REASON_BRANCHES,
     "of 32 heads (8 of keys and values): 5 ways must divide the branches (heads), and the "
     "micro-batch, whose samples the common layers share"},
    {"dgx-h100", "mixtral-8x7b", "method=phantom tp=4 ghost=4 global_batch=8", FR_REASON_METHOD,
     "experts are divided by methods tensor and grid, not by phantom: how a router's choice "
     "meets it nobody has said"},
    {"dgx-h100", "llama-3-8b",
     "method=phantom tp=4 ghost=4 sequence_parallel=true global_batch=8", FR_REASON_METHOD,
     "sequence_parallel has nothing to divide with method phantom: what is between its "
     "products is divided over tp already, by values or by samples"},
    {"dgx-h100", "llama-3-8b", "pp=4 p2p=duplex schedule=interleaved chunks=2 global_batch=8",
     FR_REASON_SCHEDULE,
     "blocking exchanges are priced for one chunk a stage only (pp = 4, 8 micro-batches, "
     "chunks = 2)"},
    {"dgx-h100", "llama-3-8b", "dp=2 pp=2 zero=2 global_batch=8 compression.gradient.stages=2",
     FR_REASON_COMPRESSION,
     "compression.gradient codes whole matrices once an iteration; zero 2 and 3 scatter their "
     "gradients after every micro-batch: use zero 0 or 1 (zero = 2, pp = 2)"},
    {"dgx-h100", "llama-3-8b", "tp=2 global_batch=4 recompute=save_qkv method=phantom ghost=4",
     FR_REASON_RECOMPUTE,
     "recompute save_qkv is priced for method tensor: what method phantom would keep nobody "
     "has "
     "said"},
    {"dgx-h100", "llama-3-8b", "method=grid tp=2 layer_tp=[2,2] model.layers=1",
     FR_REASON_LAYER_TP,
     "layer_tp has 2 entries, the model 3 groups: attention, MLP, embedding and logits"},
    {"dgx-a100", "gpt-2", "offload=activations", FR_REASON_HOST,
     "offload needs the rate of a device's link to the host's memory: give it with --set "
     "cluster.device.host_link=\"25 GB/s\""},
    {"dgx-a100", "gpt-2", "offload=all cluster.device.host_link=1GB/s", FR_REASON_HOST,
     "offload needs the rate at which a device's share of the host takes the optimiser's step: "
     "give it with --set cluster.device.host_bandwidth=\"30 GB/s\""},
    {"dgx-a100", "gpt-2", HOST " offload=optimizer cluster.device.host_memory=1GB",
     FR_REASON_MEMORY,
     "what is offloaded needs 1.992 GB, a device's share of the host's memory is 1.000 GB"},
    {"dgx-a100", "gpt-2", HOST " offload=optimizer pass=forward", FR_REASON_IDLE_KEY,
     "offload would have no effect: it needs a backward pass (\"pass\": \"both\")"},
};

/* Words of `sets` are parted by blanks, passes of an order by underscores. */
static void words_of(char *buffer, const char **sets) {
    int n = 0;
    for (char *at = strtok(buffer, " "); at; at = strtok(NULL, " ")) {
        sets[n++] = at;
        for (char *c = at; strstr(at, "schedule=[") && *c; c++)
            if (*c == '_') *c = ' ';
    }
    sets[n] = NULL;
}

static void each_says_its_numbers(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char buffer[512];
        const char *sets[24];
        struct fr_job job;
        struct fr_outcome out;
        struct fr_text text = {0};
        snprintf(buffer, sizeof buffer, "%s", rows[i].sets);
        words_of(buffer, sets);
        fr_test_job(rows[i].cluster, rows[i].model, sets, &job);
        fr_cost(&job, &job.plan, &out);
        /* Unknown iterations are a reason of a ranking alone. */
        FR_TRUE((out.reasons >> rows[i].reason & 1) == (rows[i].reason != FR_REASON_ITERATIONS),
                "%s %s", rows[i].model, rows[i].sets);
        fr_report_reason(&job, &out, rows[i].reason, &text);
        assert_string_equal(fr_text_get(&text), rows[i].says);
        fr_text_free(&text);
        fr_job_free(&job);
    }
}

/* ---- keys without effect -------------------------------------------------------------------------- */

#define MEASURED                                                                               \
    "{\"kind\": \"stages\", \"forward\": [\"1 ms\", \"2 ms\"], \"backward\": [\"2 ms\", \"2 "  \
    "ms\"], "                                                                                  \
    "\"message\": \"1 MB\"}"

/* A key's needs are tried one at a time: all else that it needs is there, and once this is too it is read. */
static const struct {
    const char *key, *needs;
    const char *model, *sets;     /* without it */
    const char *with, *with_sets; /* with it; NULL: the same model */
} idle[] = {
    {"method", "a model that a method divides", MEASURED, "pp=2 method=grid", "ffn-4096",
     "method=grid"},
    {"stage_layers", "a model that a method divides", MEASURED, "pp=2 stage_layers=[1,1]",
     "ffn-4096", "pp=2 stage_layers=[1,1] model.layers=2"},
    {"cp", "a model of kind transformer", "ffn-4096", "cp=2", "gpt-2", "cp=2"},
    {"sequence_parallel", "a model of kind transformer", "ffn-4096",
     "tp=2 sequence_parallel=true", "gpt-2", "tp=2 sequence_parallel=true"},
    {"attention", "a model of kind transformer", "ffn-4096", "attention=flash", "gpt-2",
     "attention=flash"},
    {"zero", "a model of kind transformer", "ffn-4096", "dp=2 zero=1", "gpt-2", "dp=2 zero=1"},
    {"loss", "a model of kind transformer", "ffn-4096", "loss=eager", "gpt-2", "loss=eager"},
    {"loss", "a backward pass (\"pass\": \"both\")", "gpt-2", "loss=eager pass=forward", NULL,
     "loss=eager"},
    {"accumulation", "a model of kind transformer", "ffn-4096", "accumulation=apart", "gpt-2",
     "accumulation=apart"},
    {"accumulation", "a backward pass (\"pass\": \"both\")", "gpt-2",
     "accumulation=apart pass=forward", NULL, "accumulation=apart"},
    {"launches", "a model of kind transformer", "ffn-4096", "launches=blocking", "gpt-2",
     "launches=blocking"},
    {"launches", "launches of single kernels (\"graphs\": \"none\")", "gpt-2",
     "launches=blocking graphs=layers", NULL, "launches=blocking"},
    {"offload", "a model of kind transformer", "ffn-4096", "offload=optimizer", "gpt-2",
     "offload=optimizer"},
    {"graphs", "a model of kind transformer", "ffn-4096", "graphs=iteration", "gpt-2",
     "graphs=iteration"},
    {"branches", "a model of kind transformer", "ffn-4096",
     "method=subgraph tp=2 branches=attention", "gpt-2",
     "method=subgraph tp=2 branches=attention"},
    {"divide", "a model of kind transformer", "ffn-4096",
     "method=grid tp=2 layer_tp=[2] divide=pairs", "gpt-2",
     "method=grid tp=2 layer_tp=[2,2,2] divide=pairs"},
    {"compression.backward.scope", "a backward pass (\"pass\": \"both\")", "gpt-2",
     "pp=2 compression.backward.scope=all pass=forward", NULL,
     "pp=2 compression.backward.scope=all"},
    {"compression.forward.rank", "a backward pass (\"pass\": \"both\")", "gpt-2",
     "pp=2 compression.forward.rank=2 pass=forward", NULL, "pp=2 compression.forward.rank=2"},
    {"compression.embedding", "a backward pass (\"pass\": \"both\")", "gpt-2",
     "pp=2 dp=2 compression.embedding=fused pass=forward", NULL,
     "pp=2 dp=2 compression.embedding=fused"},
    {"compression.gradient.stages", "a backward pass (\"pass\": \"both\")", "gpt-2",
     "dp=2 compression.gradient.stages=1 pass=forward", NULL,
     "dp=2 compression.gradient.stages=1"},
    {"overlap", "a backward pass (\"pass\": \"both\")", "gpt-2",
     "dp=2 overlap=gradient pass=forward", NULL, "dp=2 overlap=gradient"},
    {"recompute", "a backward pass (\"pass\": \"both\")", "gpt-2",
     "recompute=full pass=forward", NULL, "recompute=full"},
    {"offload", "a backward pass (\"pass\": \"both\")", "gpt-2",
     "offload=optimizer pass=forward", NULL, "offload=optimizer"},
    {"iterations", "a backward pass (\"pass\": \"both\")", "gpt-2",
     "iterations=100 pass=forward", NULL, "iterations=100"},
    {"ep", "a mixture of experts", "gpt-2", "dp=2 ep=2", "mixtral-8x7b", "dp=2 ep=2"},
    {"etp", "a mixture of experts", "gpt-2", "tp=2 sequence_parallel=true etp=1",
     "mixtral-8x7b", "tp=2 sequence_parallel=true etp=1"},
    {"dispatch_ranks", "a mixture of experts", "gpt-2", "dp=2 dispatch_ranks=1", "mixtral-8x7b",
     "dp=2 ep=2 dispatch_ranks=1"},
    {"overlap_experts", "a mixture of experts", "gpt-2", "dp=2 overlap_experts=true",
     "mixtral-8x7b", "dp=2 ep=2 overlap_experts=true"},
    {"compression.embedding", "logits that share the embedding's weights, on another stage",
     "llama-3-8b", "pp=2 dp=2 compression.embedding=fused", "gpt-2",
     "pp=2 dp=2 compression.embedding=fused"},
    {"compression.embedding", "logits that share the embedding's weights, on another stage",
     "gpt-2", "pp=2 dp=2 compression.embedding=fused schedule=zero-bubble-v chunks=2", NULL,
     "pp=2 dp=2 compression.embedding=fused"},
    {"ghost", "a method with ghost neurons", "gpt-2", "tp=2 ghost=4", NULL,
     "tp=2 ghost=4 method=phantom"},
    {"branches", "method subgraph", "gpt-2", "tp=2 branches=attention", NULL,
     "tp=2 branches=attention method=subgraph"},
    {"common", "method subgraph", "gpt-2", "tp=2 common=subgrid", NULL,
     "tp=2 common=subgrid method=subgraph"},
    {"exchange", "method subgraph", "gpt-2", "tp=2 exchange=all_gather", NULL,
     "tp=2 exchange=all_gather method=subgraph"},
    {"divide", "layer_tp (in pairs on one grid is method tensor)", "gpt-2",
     "tp=2 method=grid divide=pairs", NULL, "tp=2 method=grid divide=pairs layer_tp=[2,2,1]"},
    {"divide", "method grid", "gpt-2", "tp=2 layer_tp=[2,2,1] divide=pairs", NULL,
     "tp=2 layer_tp=[2,2,1] divide=pairs method=grid"},
    {"layer_tp", "method grid", "gpt-2", "tp=2 layer_tp=[2,2,1]", NULL,
     "tp=2 layer_tp=[2,2,1] method=grid"},
    {"compression.backward.scope", "a pipeline (pp above 1)", "gpt-2",
     "compression.backward.scope=all", NULL, "compression.backward.scope=all pp=2"},
    {"compression.forward.rank", "a pipeline (pp above 1)", "gpt-2",
     "compression.forward.rank=2", NULL, "compression.forward.rank=2 pp=2"},
    {"compression.embedding", "a pipeline (pp above 1)", "gpt-2",
     "dp=2 compression.embedding=fused", NULL, "dp=2 compression.embedding=fused pp=2"},
    {"schedule", "a pipeline (pp above 1)", "ffn-4096", "schedule=gpipe", NULL,
     "schedule=gpipe pp=2"},
    {"clock", "a pipeline (pp above 1)", "ffn-4096", "clock=\"1.2GHz\"", NULL,
     "clock=\"1.2GHz\" pp=2"},
    {"bucket", "\"overlap\": \"gradient\"", "gpt-2", "dp=2 bucket=1MiB", NULL,
     "dp=2 bucket=1MiB overlap=gradient"},
    {"compression.backward.rank", "compression.backward.scope", "gpt-2",
     "pp=2 compression.backward.rank=2", NULL,
     "pp=2 compression.backward.rank=2 compression.backward.scope=all"},
    {"compression.backward.lazy_error", "compression.backward.scope", "gpt-2",
     "pp=2 compression.backward.lazy_error=false", NULL,
     "pp=2 compression.backward.lazy_error=false compression.backward.scope=all"},
    {"compression.gradient.rank", "compression.gradient.stages", "gpt-2",
     "dp=2 compression.gradient.rank=2", NULL,
     "dp=2 compression.gradient.rank=2 compression.gradient.stages=1"},
    {"compression.codec",
     "compression.backward.scope, compression.forward.rank or compression.gradient.stages",
     "gpt-2", "dp=2 compression.codec=topk", NULL,
     "dp=2 compression.codec=topk compression.gradient.stages=1"},
    {"compression.warm_up",
     "compression.backward.scope, compression.forward.rank or compression.gradient.stages",
     "gpt-2", "dp=2 compression.warm_up=9", NULL,
     "dp=2 compression.warm_up=9 compression.gradient.stages=1"},
    {"overlap_tp", "sequence_parallel, of products in pairs", "gpt-2", "tp=2 overlap_tp=true",
     NULL, "tp=2 overlap_tp=true sequence_parallel=true"},
    {"zero_ranks", "zero above 0", "gpt-2", "dp=4 zero_ranks=2", NULL,
     "dp=4 zero_ranks=2 zero=1"},
    {"offload_layers", "\"offload\": \"activations\"", "gpt-2",
     "offload=optimizer offload_layers=2", NULL, "offload=all offload_layers=2"},
    {"recompute_layers", "recompute", "gpt-2", "recompute_layers=2", NULL,
     "recompute_layers=2 recompute=full"},
    {"reshard_after_forward", "zero 3", "gpt-2", "dp=2 zero=2 reshard_after_forward=false",
     NULL, "dp=2 zero=3 reshard_after_forward=false"},
    {"zero_exchange", "zero 1", "gpt-2", "dp=2 zero=2 zero_exchange=broadcast", NULL,
     "dp=2 zero=1 zero_exchange=broadcast"},
    {"gradient_sync", "zero 2 or 3", "gpt-2", "dp=2 zero=1 gradient_sync=iteration", NULL,
     "dp=2 zero=2 gradient_sync=iteration"},
};

static const char *idle_key(const char *model, const char *words, const char **needs) {
    char buffer[512];
    const char *sets[24];
    struct fr_job job;
    snprintf(buffer, sizeof buffer, "%s global_batch=8", words);
    words_of(buffer, sets);
    fr_test_job("dgx-h100", model, sets, &job);
    const struct fr_plan_key *key = fr_plan_idle_key(&job.workload, &job.plan, needs);
    fr_job_free(&job);
    return key ? key->name : "";
}

static void a_key_without_effect_says_what_it_needs(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) {
        const char *needs = "", *none = "",
                   *key = idle_key(idle[i].model, idle[i].sets, &needs);
        FR_TRUE(strcmp(key, idle[i].key) == 0 && strcmp(needs, idle[i].needs) == 0,
                "%s: \"%s\" needs %s", idle[i].sets, key, needs);
        key = idle_key(idle[i].with ? idle[i].with : idle[i].model, idle[i].with_sets, &none);
        FR_TRUE(!*key, "%s: \"%s\" needs %s", idle[i].with_sets, key, none);
    }
}

/* A reason without a row in answer/outcome/sentences.h says nothing; those of widths say what does not divide, here nothing. */
static void each_says_something(void **state) {
    static const char *const sets[] = {"dp=8", "global_batch=8", NULL};
    const fr_reasons widths = FR_BECAUSE(FR_REASON_WIDTH) | FR_BECAUSE(FR_REASON_HEADS) |
                              FR_BECAUSE(FR_REASON_SEQUENCE) | FR_BECAUSE(FR_REASON_EXPERTS) |
                              FR_BECAUSE(FR_REASON_LAYER_TP);
    struct fr_job job;
    struct fr_outcome out;
    (void)state;
    fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
    fr_cost(&job, &job.plan, &out);
    for (int i = 0; i < FR_REASON_COUNT; i++) {
        struct fr_text text = {0};
        if (!(widths & FR_BECAUSE(i))) fr_report_reason(&job, &out, i, &text);
        FR_TRUE(widths & FR_BECAUSE(i) || *fr_text_get(&text),
                "reason `%s` has no sentence in answer/outcome/sentences.h",
                fr_reason_names[i]);
        fr_text_free(&text);
    }
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_says_its_numbers),
        cmocka_unit_test(a_key_without_effect_says_what_it_needs),
        cmocka_unit_test(each_says_something)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
