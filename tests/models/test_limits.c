/* Every number of cluster and model files at its ends (docs/reference/cluster-keys.md). */
#include "models/job/cluster.h"
#include "models/plan/iterations.h"
#include "tests/models/limits.h"

static fr_status read_cluster(const struct fr_json_document *document, struct fr_error *err) {
    struct fr_cluster cluster;
    fr_status status = fr_cluster_read(document, &cluster, err);
    fr_cluster_free(&cluster);
    return status;
}

static fr_status read_model(const struct fr_json_document *document, struct fr_error *err) {
    struct fr_workload workload;
    fr_status status = fr_model_read(document, &workload, err);
    fr_workload_free(&workload);
    return status;
}

#define HOLD(text, limits, read) limits_hold(text, limits, sizeof limits / sizeof *limits, read)
#define LENGTHS(text, lengths, read)                                                           \
    limits_lengths(text, lengths, sizeof lengths / sizeof *lengths, read)
#define LEVELS                                                                                 \
    "\"levels\": [{\"name\": \"node\", \"ranks\": 4, \"latency\": \"2 us\", \"bandwidth\": "   \
    "\"50 GB/s\"}, {\"name\": \"system\", \"ranks\": 16, \"latency\": \"5 us\", "              \
    "\"bandwidth\": \"25 GB/s\", \"shared_by\": 1}]"

static void of_a_device(void **state) {
    static const char text[] =
        "{" LEVELS ", \"device\": {\"memory\": \"80 GB\", \"memory_margin\": 0.1, "
        "\"memory_bandwidth\": \"1 TB/s\", \"launch\": \"1 us\", \"fixed\": \"1 ms\", "
        "\"host_launch\": \"1 us\", \"host_pass\": \"1 us\", \"host_experts\": \"1 us\", "
        "\"host_overlap\": 0.1, "
        "\"host_skew\": 0.1, \"interference\": 0.1, \"jitter\": \"1 ms\", \"noise\": 0.1, "
        "\"attention\": {\"plain\": "
        "0.5, \"flash\": 0.5, \"flash_2\": 0.4, \"flash_1\": 0.3, \"backward\": 1.2, \"scan\": "
        "0.2, \"scan_backward\": 0.5, \"half_keys\": 300, \"eight_bits\": 1.2}, "
        "\"gemm\": {\"fp32\": {\"peak\": \"1 TFLOP/s\", \"half_dim\": 8, \"residuals\": "
        "{\"median\": 0.1, \"p90\": 0.2, \"beyond_octave\": 0.1}}}, \"power\": {\"busy\": "
        "\"300 W\", \"idle\": \"50 "
        "W\", \"communicating\": \"100 W\", \"uncertainty\": 0.1}, \"host_link\": \"9 GB/s\", "
        "\"host_memory\": \"1 TB\", \"host_bandwidth\": \"99 GB/s\", \"clock\": {\"min\": \"1 "
        "GHz\", "
        "\"max\": \"2 GHz\", \"step\": \"100 MHz\", \"knee\": \"1.5 GHz\", \"rise\": 0.5, "
        "\"static\": 0.2, "
        "\"fixed\": 0.3}, \"usual\": {\"products\": 1.1, \"memory\": 1.2}, "
        "\"interruptions\": {\"every\": \"1 s\", \"length\": \"1 ms\"}}}";
    static const struct limit limits[] = {
        {"device.memory", "-1 B", "0 B", "1e18 B", "1.1e18 B", false},
        {"device.memory_margin", "-0.1", "0", "10", "10.1", false},
        {"device.memory_bandwidth", "0.5 B/s", "1 B/s", "1e18 B/s", "1.1e18 B/s", true},
        {"device.launch", "-1 s", "0 s", "3600 s", "3600.5 s", false},
        {"device.fixed", "-1 s", "0 s", "86400 s", "86400.5 s", false},
        {"device.host_launch", "-1 s", "0 s", "3600 s", "3600.5 s", false},
        {"device.host_pass", "-1 s", "0 s", "3600 s", "3600.5 s", false},
        {"device.host_experts", "-1 s", "0 s", "3600 s", "3600.5 s", false},
        {"device.host_overlap", "-0.1", "0", "100", "100.5", false},
        {"device.host_skew", "-0.1", "0", "100", "100.5", false},
        {"device.interference", "-0.1", "0", "1", "1.01", false},
        {"device.jitter", "-1 s", "0 s", "3600 s", "3600.5 s", false},
        {"device.noise", "-0.1", "0", "10", "10.1", false},
        {"device.attention.plain", "0", "1e-6", "1", "1.01", false},
        {"device.attention.flash", "0", "1e-6", "1", "1.01", false},
        {"device.attention.flash_2", "0", "1e-6", "1", "1.01", false},
        {"device.attention.flash_1", "0", "1e-6", "1", "1.01", false},
        {"device.attention.backward", "0", "1e-6", "10", "10.1", false},
        {"device.attention.scan", "0", "1e-6", "1", "1.01", false},
        {"device.attention.scan_backward", "0", "1e-6", "10", "10.1", false},
        {"device.attention.half_keys", "-0.1", "0", "1e6", "1000000.5", false},
        {"device.attention.eight_bits", "0", "1e-6", "10", "10.1", false},
        {"device.gemm.fp32.peak", "0.5 FLOP/s", "1 FLOP/s", "1e24 FLOP/s", "1.1e24 FLOP/s",
         true},
        {"device.gemm.fp32.half_dim", "-0.1", "0", "1e9", "1000000000.5", false},
        {"device.gemm.fp32.residuals.median", "-0.1", "0", "1e9", "1000000000.5", false},
        {"device.gemm.fp32.residuals.p90", "-0.1", "0", "1e9", "1000000000.5", false},
        {"device.gemm.fp32.residuals.beyond_octave", "-0.1", "0", "10", "10.1", false},
        {"device.host_link", "0.5 B/s", "1 B/s", "1e18 B/s", "1.1e18 B/s", false},
        {"device.host_memory", "-1 B", "0 B", "1e18 B", "1.1e18 B", false},
        {"device.host_bandwidth", "0.5 B/s", "1 B/s", "1e18 B/s", "1.1e18 B/s", false},
        {"device.clock.min", "0.9e6 Hz", "1e6 Hz", "2e9 Hz", "2.1e9 Hz", true},
        {"device.clock.max", "1.4e9 Hz", "1.5e9 Hz", "1e11 Hz", "1.1e11 Hz", true},
        {"device.clock.step", "0.9e6 Hz", "1e6 Hz", "1e11 Hz", "1.1e11 Hz", false},
        {"device.clock.knee", "0.9e6 Hz", "1e6 Hz", "2e9 Hz", "2.1e9 Hz", true},
        {"device.clock.rise", "-0.1", "0", "10", "10.1", true},
        {"device.clock.static", "-0.1", "0", "1", "1.01", true},
        {"device.clock.fixed", "-0.1", "0", "1", "1.01", true},
        {"device.power.uncertainty", "-0.1", "0", "10", "10.1", false},
        {"device.power.busy", "0 W", "100 W", "1e6 W", "1000000.5 W", true},
        {"device.power.idle", "-1 W", "0 W", "100 W", "301 W", true},
        {"device.power.communicating", "49 W", "50 W", "1e6 W", "1000000.5 W", false},
        {"device.usual.products", "0.0009", "0.001", "1e6", "1000000.5", false},
        {"device.usual.memory", "0.0009", "0.001", "1e6", "1000000.5", false},
        {"device.interruptions.every", "0.9e-9 s", "1e-9 s", "1e12 s", "1.1e12 s", true},
        {"device.interruptions.length", "-1 s", "0 s", "1e6 s", "1000000.5 s", true},
    };
    (void)state;
    HOLD(text, limits, read_cluster);
    limits_strangers(text, 0, read_cluster);
}

static void of_products(void **state) {
    static const char text[] =
        "{" LEVELS ", \"device\": {\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp16\": "
        "{\"peak\": \"1 TFLOP/s\", \"half_batch\": 2}, \"fp32\": {\"peak\": \"1 TFLOP/s\", "
        "\"half_batch\": 2, \"full_batch\": 8}, \"bf16\": "
        "{\"units\": "
        "4, \"peak\": \"1 TFLOP/s\", \"efficiency\": 0.5, \"grouped\": 0.9, \"half_k\": 8, "
        "\"tail\": 0.5, "
        "\"tile\": 128, \"misaligned\": 1.5, \"odd\": 2, \"align\": 8}, \"fp64\": {\"table\": "
        "{\"m\": [2, 16], \"n\": [4, 8], \"k\": [8], \"unit\": \"ns\", \"time\": [1, 2, 3, "
        "4]}}}, \"working_sets\": {\"size\": [\"1 MB\", \"1 GB\"], \"stream\": [\"9 TB/s\", "
        "\"1 TB/s\"], \"update\": [\"8 TB/s\", \"1 TB/s\"], \"operands\": [\"1 PB/s\", \"2 "
        "TB/s\"]}}}";
    static const struct limit limits[] = {
        {"device.gemm.fp16.peak", "0.5 FLOP/s", "1 FLOP/s", "1e24 FLOP/s", "1.1e24 FLOP/s",
         true},
        {"device.gemm.fp32.full_batch", "0.5", "1", "1e18", "1.1e18", false},
        {"device.gemm.fp16.half_batch", "-1", "0", "1e9", "1000000000.5", false},
        {"device.gemm.bf16.peak", "0.5 FLOP/s", "1 FLOP/s", "1e24 FLOP/s", "1.1e24 FLOP/s",
         true},
        {"device.gemm.bf16.efficiency", "0", "1e-6", "1", "1.01", false},
        {"device.gemm.bf16.grouped", "0", "1e-6", "1", "1.01", false},
        {"device.gemm.bf16.half_k", "-1", "0", "1e9", "1000000000.5", false},
        {"device.gemm.bf16.tail", "-1", "0", "1e3", "1000.5", false},
        {"device.gemm.bf16.tile", "0.5", "1", "1e6", "1000000.5", false},
        {"device.gemm.bf16.misaligned", "0.9", "1", "100", "100.5", false},
        {"device.gemm.bf16.odd", "0.9", "1", "100", "100.5", false},
        {"device.gemm.bf16.align", "0.5", "1", "1e6", "1000000.5", false},
        {"device.gemm.bf16.units", "0.5", "1", "1e9", "1000000000.5", true},
        {"device.gemm.fp64.table.m", "[0, 16]", "[1, 16]", "[16, 1099511627776]",
         "[16, 1099511627777]", true},
        {"device.gemm.fp64.table.n", "[8, 8]", "[1, 2]", "[1, 1099511627776]", "[1]", true},
        {"device.gemm.fp64.table.k", "[]", "[1]", "[1099511627776]", "[1099511627777]", true},
        {"device.gemm.fp64.table.time", "[1, 2, 3, 0.9e-12]", "[1e-12, 1e-12, 1e-12, 1e-12]",
         "[1e15, 1e15, 1e15, 1e15]", "[1, 2, 3, 1000000000000000.5]", true},
        {"device.gemm.fp64.table.unit", NULL, "s", "us", "min", true},
        {"device.working_sets.size", "[\"0.5 B\", \"1 GB\"]", "[\"1 B\", \"2 B\"]",
         "[\"1 B\", \"1e18 B\"]", "[\"1 B\", \"1.1e18 B\"]", true},
        {"device.working_sets.stream", "[\"0.5 B/s\", \"1 B/s\"]", "[\"1 B/s\", \"1 B/s\"]",
         "[\"1 B/s\", \"1e18 B/s\"]", "[\"1 B/s\", \"1.1e18 B/s\"]", true},
        {"device.working_sets.update", "[\"1 B/s\"]", "[\"1 B/s\", \"1 B/s\"]",
         "[\"1 B/s\", \"1e18 B/s\"]", "[\"1 B/s\", \"1 B/s\", \"1 B/s\"]", true},
    };
    static const struct length lengths[] = {{"device.gemm.fp64.table.m", 1, 64},
                                            {"device.gemm.fp64.table.time", 4, 4},
                                            {"device.working_sets.size", 2, 32},
                                            {"device.working_sets.update", 2, 2}};
    (void)state;
    HOLD(text, limits, read_cluster);
    LENGTHS(text, lengths, read_cluster);
    limits_strangers(text, 0, read_cluster);
}

static void of_a_network(void **state) {
    static const char text[] =
        "{" LEVELS
        ", \"pue\": 1.2, \"collectives\": {\"all_reduce\": {\"form\": \"log\", \"message\": "
        "\"total\", \"c1\": \"1 us\", \"c2\": \"1 ns/B\", \"c3\": \"1 us\", \"residuals\": "
        "{\"median\": 0.1, \"p90\": 0.2, \"points\": 5, \"beyond_octave\": 0.1}, \"domain\": "
        "{\"min_ranks\": 2, "
        "\"max_ranks\": 8, \"min\": \"8 B\", \"max\": \"1 MB\", \"one_node\": true, "
        "\"several_nodes\": true}}, \"send_recv\": {\"form\": \"algorithm\", \"name\": "
        "\"direct\", \"latency\": \"1 us\", \"per_byte\": \"1 ns/B\"}, \"all_gather\": "
        "{\"form\": \"segments\", \"message\": \"total\", \"fits\": [{\"ranks\": 4, \"level\": "
        "\"node\", \"min\": \"8 B\", \"max\": \"1 MB\", \"segments\": [{\"up_to\": \"1 KB\", "
        "\"latency\": \"1 us\", \"per_byte\": \"1 ns/B\"}]}]}, \"broadcast\": {\"form\": "
        "\"similarity\", \"message\": \"total\", \"laws\": [{\"level\": \"node\", \"steps\": "
        "\"1\", \"bytes\": \"1\", \"slow\": 0.1, \"fast\": 0.1}], \"tables\": [{\"level\": "
        "\"node\", \"ranks\": 4, \"nodes\": 1, \"unit\": \"us\", \"size\": [8, 64], \"time\": "
        "[1, 2], \"left_out\": [0, 0]}]}}}";
#define FIT "collectives.all_gather.fits.0."
#define TABLE "collectives.broadcast.tables.0."
#define LAW "collectives.broadcast.laws.0."
    static const struct limit limits[] = {
        {"levels.0.ranks", "0", "1", "16", NULL, true},
        {"levels.1.ranks", "2", "4", "1099511627776", "1099511627780", true},
        {"levels.1.latency", "-1 s", "0 s", "3600 s", "3600.5 s", true},
        {"levels.1.bandwidth", "0.5 B/s", "1 B/s", "1e18 B/s", "1.1e18 B/s", true},
        {"levels.1.shared_by", "0", "1", "4", "5", false},
        {"pue", "0.9", "1", "10", "10.1", false},
        {"collectives.all_reduce.residuals.beyond_octave", "-0.1", "0", "10", "10.1", false},
        {"collectives.all_reduce.c1", "-1 s", "0 s", "3600 s", "3600.5 s", true},
        {"collectives.all_reduce.c2", "-1 s/B", "0 s/B", "1 s/B", "1.01 s/B", true},
        {"collectives.all_reduce.c3", "-1 s", "0 s", "3600 s", "3600.5 s", false},
        {"collectives.all_reduce.message", NULL, "per_rank", "total", "half", true},
        {"collectives.all_reduce.residuals.median", "-0.1", "0", "1e9", "1000000000.5", false},
        {"collectives.all_reduce.residuals.p90", "-0.1", "0", "1e9", "1000000000.5", false},
        {"collectives.all_reduce.residuals.points", "-1", "0", "1073741824", "1073741825",
         false},
        {"collectives.all_reduce.domain.min_ranks", "1", "2", "8", NULL, true},
        {"collectives.all_reduce.domain.max_ranks", "1", "2", "1099511627776", "1099511627777",
         true},
        {"collectives.all_reduce.domain.min", "-1 B", "0 B", "1 MB", NULL, true},
        {"collectives.all_reduce.domain.max", "7 B", "8 B", "1e18 B", "1.1e18 B", true},
        {"collectives.all_reduce.domain.one_node", NULL, "true", "false", "1", true},
        {"collectives.all_reduce.domain.several_nodes", NULL, "true", "false", "1", true},
        {"collectives.send_recv.name", NULL, "auto", "direct", "ring", true},
        {"collectives.send_recv.latency", "-1 s", "0 s", "3600 s", "3600.5 s", true},
        {"collectives.send_recv.per_byte", "-1 s/B", "0 s/B", "1 s/B", "1.01 s/B", true},
        {"collectives.all_gather.message", NULL, "per_rank", "total", "half", true},
        {FIT "ranks", "1", "2", "1099511627776", "1099511627777", true},
        {FIT "min", "-1 B", "0 B", "1 MB", NULL, true},
        {FIT "max", "7 B", "8 B", "1e18 B", "1.1e18 B", true},
        {FIT "segments.0.up_to", "-1 B", "0 B", "1e18 B", "1.1e18 B", true},
        {FIT "segments.0.latency", "-1 s", "0 s", "3600 s", "3600.5 s", true},
        {FIT "segments.0.per_byte", "-1 s/B", "0 s/B", "1 s/B", "1.01 s/B", true},
        {"collectives.broadcast.laws", "{}", NULL, NULL, "[]", true},
        {"collectives.broadcast.tables", "{}", NULL, NULL, "[]", true},
        {"collectives.broadcast.message", NULL, "total", NULL, "per_rank", true},
        {"collectives.all_gather.fits", "{}", NULL, NULL, "[]", true},
        {FIT "segments", "{}", NULL, NULL, "[]", true},
        {FIT "level", NULL, "system", "node", "other", true},
        {TABLE "level", NULL, "node", NULL, "system", true},
        {LAW "level", NULL, "node", NULL, "system", true},
        {"levels", "{}", NULL, NULL, "[]", true},
        {LAW "steps", NULL, "N - 1", "log2 p", "p", true},
        {LAW "bytes", NULL, "p - 1", "log2 p", "p", true},
        {LAW "slow", "-0.1", "0", "64", "64.1", true},
        {LAW "fast", "-0.1", "0", "64", "64.1", true},
        {TABLE "ranks", "1", "2", "1099511627776", "1099511627777", true},
        {TABLE "nodes", "0", "1", NULL, "2", true},
        {TABLE "unit", NULL, "s", "ns", "min", true},
        {TABLE "size", "[-1, 8]", "[0, 1]", "[0, 1e18]", "[0, 1.1e18]", true},
        {TABLE "time", "[1, 0.9e-12]", "[1e-12, 1e-12]", "[1, 1e15]", "[1, 1000000000000000.5]",
         true},
        {TABLE "left_out", "[0, -0.1]", "[0, 0]", "[64, 64]", "[0, 64.1]", false},
    };
    static const struct length lengths[] = {{"collectives.broadcast.laws", 1, 8},
                                            {"collectives.broadcast.tables", 1, 1024},
                                            {TABLE "size", 1, 4096},
                                            {TABLE "time", 2, 2},
                                            {"collectives.all_gather.fits", 1, 1024},
                                            {FIT "segments", 1, 64}};
    (void)state;
    HOLD(text, limits, read_cluster);
    LENGTHS(text, lengths, read_cluster);
    limits_strangers(text, 0, read_cluster);
}

static void of_what_a_calibration_says(void **state) {
    static const char text[] =
        "{" LEVELS
        ", \"widths\": {\"device.launch\": 0.5, \"levels.1.latency\": 0.5, \"together\": "
        "[{\"of\": {\"device.launch\": 1, \"device.fixed\": 1}, \"width\": 0.5}]}, "
        "\"calibration\": {\"oversubscribed\": false, \"verdict\": \"PASS\", "
        "\"held_out\": 0.1, \"variation\": 0.1, \"reasons\": [\"a\"]}, \"tuning\": "
        "{\"spread\": 0.1, \"stretch\": 2, \"experts\": true, \"sharded\": false, "
        "\"covariance\": [[0.1]], \"coefficients\": [{\"fitted\": true, \"name\": \"tail\"}], "
        "\"seen\": [{\"model\": [64, 8], \"missed\": 0.1, \"covariance\": [0, 1]}]}}";
    static const struct limit limits[] = {
        {"calibration.held_out", "-0.1", "0", "1e9", "1000000000.5", false},
        {"calibration.variation", "-0.1", "0", "1e9", "1000000000.5", false},
        {"calibration.verdict", NULL, "WARN", "FAIL", "BAD", false},
        {"calibration.oversubscribed", NULL, "true", "false", "2", false},
        {"calibration.reasons", "1", "[]", "[\"b\", \"c\"]", "[1]", false},
        {"tuning.spread", "-0.1", "0", "10", "10.1", true},
        {"tuning.stretch", "-0.1", "0", "100", "100.1", true},
        {"tuning.covariance", "[[-0.1]]", "[[0]]", "[[1e6]]", "[[1000000.5]]", true},
        {"widths", "{\"device.launch\": 0}", "{\"device.launch\": 0.001}",
         "{\"levels.0.bandwidth\": 2}", "{\"device.launch\": 2.1}", false},
        {"widths.together.0.width", "0", "0.001", "2", "2.1", true},
        {"widths.together.0.of", "{\"device.launch\": -100.5, \"device.fixed\": 1}",
         "{\"device.launch\": -100, \"device.fixed\": 1}",
         "{\"device.launch\": 100, \"device.fixed\": 1}",
         "{\"device.launch\": 100.5, \"device.fixed\": 1}", true},
        {"tuning.experts", NULL, "true", "false", "2", false},
        {"tuning.sharded", NULL, "true", "false", "2", false},
        {"tuning.seen.0.model.0", "-1", "0", NULL, "2.5", true},
        {"tuning.seen.0.missed", "-10.1", "-10", "10", "10.1", false},
        {"tuning.seen.0.covariance.0", "-1000000.5", "-1e6", "1e6", "1000000.5", true},
        {"tuning.seen.0.covariance.1", "-0.1", "0", "1e6", "1000000.5", true},
        {"tuning.coefficients.0.fitted", NULL, "true", NULL, "2", true},
        {"tuning.coefficients.0.name", NULL, "odd", NULL, "2", true},
    };
    static const struct length lengths[] = {
        {"calibration.reasons", 0, 1000}, {"tuning.covariance", 0, 24},
        {"tuning.covariance.0", 1, 1},    {"tuning.seen", 0, 32},
        {"tuning.seen.0.model", 2, 2},    {"tuning.seen.0.covariance", 2, 2}};
    (void)state;
    HOLD(text, limits, read_cluster);
    LENGTHS(text, lengths, read_cluster);
    limits_strangers(text, 2, read_cluster);
}

/* ---- models -------------------------------------------------------------------------------------- */

static void of_a_transformer(void **state) {
    static const char text[] =
        "{\"kind\": \"transformer\", \"layers\": 8, \"hidden\": 64, \"heads\": 8, "
        "\"sequence\": 32, \"vocabulary\": 1000, \"kv_heads\": 4, \"head_dim\": 8, \"ffn\": "
        "256, \"vocabulary_multiple\": 128, \"experts\": 4, \"experts_per_token\": 2, "
        "\"expert_ffn\": 128, \"capacity\": 1.5, \"imbalance\": 1.2, \"cross_layers\": 2, "
        "\"head_kernels\": 3, \"gated\": true, \"tied_embedding\": true, \"biases\": false, "
        "\"norm\": \"rms\", \"positions\": \"none\", \"dropout\": true, \"token_types\": 2, "
        "\"layer_profile\": "
        "[{\"tp\": 1, \"micro_batch\": 1, \"forward\": \"1 ms\", \"backward\": \"2 ms\", "
        "\"logits_forward\": \"1 ms\", \"logits_backward\": \"1 ms\"}]}";
#define PROFILE "layer_profile.0."
    static const struct limit limits[] = {
        {"layers", "0", NULL, "100000", "100001", true},
        {"hidden", "0", "1", "67108864", "67108865", true},
        {"heads", "0", "4", "67108864", "67108865", true},
        {"sequence", "0", "1", "67108864", "67108865", true},
        {"vocabulary", "0", "1", "67108864", "67108865", true},
        {"kv_heads", "0", "1", "8", "3", false},
        {"head_dim", "0", "1", "67108864", "67108865", false},
        {"ffn", "0", "1", "67108864", "67108865", false},
        {"vocabulary_multiple", "0", "1", "67108864", "67108865", false},
        {"experts", "1", "2", "1048576", "1048577", true}, /* capacity hangs on it */
        {"experts_per_token", "0", "1", "4", "5", false},
        {"expert_ffn", "0", "1", "67108864", "67108865", false},
        {"capacity", "0.9", "1", "1e6", "1000000.5", false},
        {"imbalance", "0.9", "1", "1e6", "1000000.5", false},
        {"cross_layers", "-1", "0", "8", "9", false},
        {"token_types", "-1", "0", "1048576", "1048577", false},
        {"head_kernels", "0.5", "1", "1000", "1001", false},
        {"gated", NULL, "true", "false", "2", false},
        {"tied_embedding", NULL, "true", "false", "2", false},
        {"biases", NULL, "true", "false", "2", false},
        {"dropout", NULL, "true", "false", "2", false},
        {"norm", NULL, "layer", "rms", "batch", false},
        {"positions", NULL, "learned", "rotary", "other", false},
        {PROFILE "tp", "0", "1", "1048576", "1048577", true},
        {PROFILE "micro_batch", "0", "1", "1048576", "1048577", true},
        {PROFILE "forward", "-1 s", "0 s", "86400 s", "86400.5 s", true},
        {PROFILE "backward", "-1 s", "0 s", "86400 s", "86400.5 s", true},
        {PROFILE "logits_forward", "-1 s", "0 s", "86400 s", "86400.5 s",
         true}, /* both or none */
        {PROFILE "logits_backward", "-1 s", "0 s", "86400 s", "86400.5 s", true},
    };
    static const struct length lengths[] = {{"layer_profile", 1, 4096}};
    (void)state;
    HOLD(text, limits, read_model);
    LENGTHS(text, lengths, read_model);
    limits_strangers(text, 0, read_model);
    static const char dense[] = "{\"kind\": \"transformer\", \"layers\": 8, \"hidden\": 64, "
                                "\"heads\": 8, \"sequence\": 32, \"vocabulary\": 1000}";
    static const char windows[] = "{\"kind\": \"transformer\", \"layers\": 8, \"hidden\": 64, "
                                  "\"heads\": 8, \"sequence\": 32, \"vocabulary\": 1000, "
                                  "\"window\": 8, \"window_layers\": 4}";
    static const struct limit of_windows[] = {
        {"window", "0", "1", "67108864", "67108865", true}, /* its layers hang on it */
        {"window_layers", "0", "1", "8", "9", false}};
    HOLD(windows, of_windows, read_model);
    static const char latent[] =
        "{\"kind\": \"transformer\", \"layers\": 8, \"hidden\": 64, \"heads\": 8, "
        "\"sequence\": 32, "
        "\"vocabulary\": 1000, \"experts\": 4, \"dense_layers\": 3, \"shared_ffn\": 16, "
        "\"expert_groups\": 2, "
        "\"groups_per_token\": 1, \"predicted_tokens\": 1, \"document\": 8, "
        "\"head_dim\": 12, \"kv_latent\": 16, \"q_latent\": 24, \"rope_dim\": 4, "
        "\"value_dim\": 8}";
    static const struct limit of_latent[] = {
        {"dense_layers", "-1", "0", "7", "8", false},
        {"predicted_tokens", "-1", "0", "16", "17", false},
        {"document", "0", "1", "67108864", "67108865", false},
        {"expert_groups", "0", "1", "4", "5", true}, /* how many a token meets hangs on it */
        {"groups_per_token", "0", "1", "2", "3", false},
        {"shared_ffn", "0", "1", "67108864", "67108865", false},
        {"kv_latent", "0", "1", "67108864", "67108865", true}, /* the others hang on it */
        {"q_latent", "0", "1", "67108864", "67108865", false},
        {"rope_dim", "-1", "0", "12", "13", false},
        {"value_dim", "0", "1", "67108864", "67108865", false}};
    HOLD(latent, of_latent, read_model);
    static const char adapters[] = "{\"kind\": \"transformer\", \"layers\": 8, \"hidden\": 64, "
                                   "\"heads\": 8, \"sequence\": 32, \"vocabulary\": 1000, "
                                   "\"lora_rank\": 8, \"lora_on\": \"all\"}";
    static const struct limit of_adapters[] = {
        {"lora_rank", "0", "1", "1048576", "1048577", true}}; /* where they are hangs on it */
    HOLD(adapters, of_adapters, read_model);
    static const char rank_alone[] =
        "{\"kind\": \"transformer\", \"layers\": 8, \"hidden\": 64, "
        "\"heads\": 8, \"sequence\": 32, \"vocabulary\": 1000, "
        "\"lora_rank\": 8}";
    static const struct limit of_rank[] = {
        {"lora_rank", "0", "1", "1048576", "1048577", false}};
    HOLD(rank_alone, of_rank, read_model);
    static const char hybrid[] =
        "{\"kind\": \"transformer\", \"layers\": 8, \"hidden\": 64, \"sequence\": 32, "
        "\"vocabulary\": 1000, \"pattern\": \"M-\", \"ssm_heads\": 4, \"ssm_head_dim\": 32, "
        "\"ssm_state\": 16, \"ssm_groups\": 1, \"ssm_chunk\": 8, \"ssm_conv\": 4}";
    static const struct limit of_hybrid[] = {
        {"ssm_heads", "0", "1", "67108864", "67108865", true},
        {"ssm_head_dim", "0", "1", "67108864", "67108865", false},
        {"ssm_state", "0", "1", "67108864", "67108865", false},
        {"ssm_groups", "0", "1", "4", "5", false}, /* they divide the heads */
        {"ssm_chunk", "0", "1", "67108864", "67108865", false},
        {"ssm_conv", "0", "1", "67108864", "67108865", false}};
    HOLD(hybrid, of_hybrid, read_model);
    static const struct limit of_experts_alone[] = {
        {"capacity", "2", NULL, NULL, NULL, false},
        {"imbalance", "2", NULL, NULL, NULL, false},
        {"experts_per_token", "1", NULL, NULL, NULL, false}};
    for (int i = 0; i < 3; i++)
        limits_value(dense, &of_experts_alone[i], of_experts_alone[i].below, false, read_model);
}

static void of_layers(void **state) {
    static const char ffn[] =
        "{\"kind\": \"ffn\", \"width\": 8, \"layers\": 2, \"bias\": true}";
    static const char mlp[] = "{\"kind\": \"mlp\", \"layers\": [{\"in\": 4, \"out\": 5, "
                              "\"bias\": false}, {\"in\": 5, \"out\": 6}]}";
    static const char widths[] = "{\"kind\": \"mlp\", \"bias\": true, \"layers\": [4, 5]}";
    static const char cnn[] =
        "{\"kind\": \"cnn\", \"input\": [4, 16, 16], \"layers\": [{\"type\": \"conv\", "
        "\"filters\": 8, \"kernel\": 3, \"stride\": 1, \"padding\": 1, \"groups\": 2, "
        "\"bias\": "
        "true, \"pool\": {\"kernel\": 2, \"stride\": 2, \"padding\": 0}}, {\"type\": \"full\", "
        "\"outputs\": 10, \"bias\": true}]}";
    static const char branches[] =
        "{\"kind\": \"branches\", \"width\": 12, \"positions\": 2, \"repeat\": 1, \"bias\": "
        "true, \"layers\": [{\"branches\": 4, \"split\": \"slice\", \"join\": "
        "\"concatenation\", \"layers\": [{\"attention\": 1}]}, {\"out\": 8, \"bias\": false}, "
        "{\"branches\": 2, \"layers\": [{\"out\": 4}]}]}";
    static const struct limit of_ffn[] = {{"width", "0", "1", "4294967296", "4294967297", true},
                                          {"layers", "0", "1", "1000000", "1000001", true},
                                          {"bias", NULL, "true", "false", "2", false}};
    static const struct limit of_mlp[] = {
        {"layers.0.in", "0", "1", "4294967296", "4294967297", true},
        {"layers.0.out", "0", "5", NULL, "4294967297", true},
        {"layers.1.in", "4", "5", NULL, "6", false},
        {"layers.1.out", "0", "1", "4294967296", "4294967297", true},
        {"layers.0.bias", NULL, "true", "false", "2", false}};
    static const struct limit of_widths[] = {
        {"layers", "[4]", "[1, 1]", "[4294967296, 1]", "[4294967297, 1]", true},
        {"bias", NULL, "true", "false", "2", false}};
    static const struct limit of_cnn[] = {
        {"input", "[4, 16]", "[2, 2, 2]", "[1048576, 1048576, 1048576]", "[4, 16, 1048577]",
         true},
        {"layers.0.filters", "0", "2", "16777216", "16777218", true},
        {"layers.0.kernel", "0", "1", "17", "19", true},
        {"layers.0.stride", "0", "1", "15", "1048577", false},
        {"layers.0.padding", "-1", "0", "1048576", "1048577", false},
        {"layers.0.groups", "0", "1", "4", "3", false},
        {"layers.0.pool.kernel", "0", "1", "16", "17", true},
        {"layers.0.pool.stride", "0", "1", "1048576", "1048577", false},
        {"layers.0.pool.padding", "-1", "0", "1048576", "1048577", false},
        {"layers.0.bias", NULL, "true", "false", "2", false},
        {"layers.1.outputs", "0", "1", "4294967296", "4294967297", true},
        {"layers.1.bias", NULL, "true", "false", "2", false}};
    static const struct limit of_branches[] = {
        {"width", "0", "12", NULL, "67108865", true},
        {"positions", "0", "1", "67108864", "67108865", false},
        {"repeat", "0", "1", NULL, "2", false}, /* 8 values are not 12 */
        {"layers.0.branches", "0", "4", NULL, "5", true},
        {"layers.0.layers.0.attention", "0", "1", NULL, "2", true},
        {"layers.2.branches", "0", "1", "1048576", "1048577", true},
        {"layers.1.out", "0", "1", "67108864", "67108865", true},
        {"layers.1.bias", NULL, "true", "false", "2", false}};
    static const struct length of_all_widths[] = {{"layers", 2, 4096}};
    static const struct length of_image[] = {{"input", 3, 3}, {"layers", 1, 4096}};
    static const struct length of_forks[] = {{"layers", 1, 4096}, {"layers.0.layers", 1, 4096}};
    (void)state;
    HOLD(ffn, of_ffn, read_model);
    limits_strangers(ffn, 0, read_model);
    HOLD(mlp, of_mlp, read_model);
    limits_strangers(mlp, 0, read_model);
    HOLD(widths, of_widths, read_model);
    LENGTHS(widths, of_all_widths, read_model);
    limits_strangers(widths, 0, read_model);
    HOLD(cnn, of_cnn, read_model);
    LENGTHS(cnn, of_image, read_model);
    limits_strangers(cnn, 0, read_model);
    HOLD(branches, of_branches, read_model);
    LENGTHS(branches, of_forks, read_model);
    limits_strangers(branches, 0, read_model);
}

static void of_stages_and_iterations(void **state) {
    static const char stages[] =
        "{\"kind\": \"stages\", \"forward\": \"1 ms\", \"backward\": \"2 ms\", \"weight\": \"1 "
        "ms\", \"message\": \"1 MB\", \"gradient\": \"1 MB\"}";
    static const char ffn[] =
        "{\"kind\": \"ffn\", \"width\": 8, \"layers\": 2, \"global_batch\": 8, \"samples\": "
        "64, \"iterations\": "
        "{\"width\": 8, \"layers\": 2, \"sequence\": 4, \"global_batch\": 8, \"rate\": 0.1, "
        "\"loss\": 0.2, "
        "\"table\": [{\"method\": \"phantom\", \"tp\": 4, \"ghost\": 2, \"iterations\": "
        "100}], \"laws\": [{\"along\": \"batch\", \"from\": 8, \"to\": 64, \"error\": 0.1, "
        "\"critical_batch\": "
        "9}, {\"along\": \"ghost\", \"from\": 2, \"to\": 8, \"error\": 0.1, \"method\": "
        "\"phantom\", "
        "\"iterations\": 50, \"ghost_power\": -1, \"tp_power\": 1, \"tp_from\": 2, \"tp_to\": "
        "4}, "
        "{\"along\": \"backward\", \"from\": 0, \"to\": 0.5, \"error\": 0.1, \"slope\": 1}]}}";
#define BATCH "iterations.laws.0."
#define GHOSTS "iterations.laws.1."
#define SHARES "iterations.laws.2."
    static const struct limit of_stages[] = {
        {"forward", "-1 s", "0 s", "86400 s", "86400.5 s", true},
        {"backward", "0.5 ms", "1 ms", "86400 s", "86400.5 s", true},
        {"weight", "-1 s", "0 s", "2 ms", "3 ms", false},
        {"message", "-1 B", "0 B", "1e18 B", "1.1e18 B", false},
        {"gradient", "-1 B", "0 B", "1e18 B", "1.1e18 B", false}};
    static const struct limit of_iterations[] = {
        {"global_batch", "0", "1", "1099511627776", "1099511627777", false},
        {"samples", "0", "1", "1152921504606846976", "1152921504606846977", false},
        {"iterations.width", "0", "1", "1099511627776", "1099511627777", false},
        {"iterations.layers", "0", "1", "1073741824", "1073741825", false},
        {"iterations.sequence", "0", "1", "1073741824", "1073741825", false},
        {"iterations.global_batch", "0", "1", "1099511627776", "1099511627777", false},
        {"iterations.rate", "-0.1", "0", "1e6", "1000000.5", false},
        {"iterations.loss", "-0.1", "0", "1e300", "1.1e300", false},
        {"iterations.table.0.method", NULL, "tensor", "grid", "other", true},
        {"iterations.table.0.tp", "0", "1", "1099511627776", "1099511627777", false},
        {"iterations.table.0.ghost", "-1", "0", "1099511627776", "1099511627777", false},
        {"iterations.table.0.iterations", "0", "1e-9", "1e15", "1000000000000000.5", true},
        {BATCH "along", NULL, "batch", NULL, "depth", true},
        {BATCH "from", "0", "1", "64", NULL, true},
        {BATCH "to", "7", "8", "1099511627776", "1099511627777", true},
        {BATCH "error", "-0.1", "0", "1e6", "1000000.5", false},
        {BATCH "critical_batch", "-0.1", "0", "1e15", "1000000000000000.5", true},
        {GHOSTS "from", "0", "1", "8", NULL, true},
        {GHOSTS "to", "1", "2", "1099511627776", "1099511627777", true},
        {GHOSTS "method", NULL, "tensor", NULL, "other", true},
        {GHOSTS "iterations", "0", "1e-9", "1e15", "1000000000000000.5", true},
        {GHOSTS "ghost_power", "-100.5", "-100", "100", "100.5", true},
        {GHOSTS "tp_power", "-100.5", "-100", "100", "100.5", true},
        {GHOSTS "tp_from", "0", "1", "4", NULL, true},
        {GHOSTS "tp_to", "1", "2", "1099511627776", "1099511627777", true},
        {SHARES "from", "-0.1", "0", "0.5", NULL, true},
        {SHARES "to", "-0.1", "0", "1", "1.01", true},
        {SHARES "slope", "-100.5", "-100", "100", "100.5", true}};
    static const struct length of_lists[] = {{"forward", 1, 65536}};
    static const struct length of_rows[] = {{"iterations.table", 1, 4096}};
    (void)state;
    HOLD(stages, of_stages, read_model);
    LENGTHS(stages, of_lists, read_model);
    limits_strangers(stages, 0, read_model);
    HOLD(ffn, of_iterations, read_model);
    LENGTHS(ffn, of_rows, read_model);
    limits_strangers(ffn, 0, read_model);
}

/* Reads other people's files: sizes of a llama, and the values that --set adds to it. */
static void of_a_config(void **state) {
    static const char llama[] =
        "{\"model_type\": \"llama\", \"num_hidden_layers\": 2, \"hidden_size\": 64, "
        "\"intermediate_size\": 128, \"num_attention_heads\": 8, \"num_key_value_heads\": 4, "
        "\"vocab_size\": 1000, \"max_position_embeddings\": 2048, \"head_dim\": 8, "
        "\"tie_word_embeddings\": true, \"attention_bias\": false, \"mlp_bias\": false, "
        "\"torch_dtype\": \"bfloat16\", \"gradient_dtype\": \"fp32\", \"weight_dtype\": "
        "\"bf16\", \"activation_store\": \"fp8\", "
        "\"optimizer_state\": \"8 B\", \"sequence\": 128, \"global_batch\": 8, "
        "\"num_local_experts\": 1}";
    static const char gpt2[] = "{\"model_type\": \"gpt2\", \"n_layer\": 2, \"n_embd\": 64, "
                               "\"n_head\": 8, \"n_inner\": 256, \"n_positions\": 1024, "
                               "\"vocab_size\": 1000, \"sequence\": 128}";
    static const struct limit of_llama[] = {
        {"num_hidden_layers", "0", "1", "100000", "100001", true},
        {"hidden_size", "0", "1", "67108864", "67108865", true},
        {"intermediate_size", "0", "1", "67108864", "67108865", true},
        {"num_attention_heads", "0", "4", "67108864", "67108865", true},
        {"num_key_value_heads", "3", "1", "8", "16", false},
        {"vocab_size", "0", "1", "67108864", "67108865", true},
        {"max_position_embeddings", "0", "128", "67108864", "67108865", true},
        {"head_dim", "0", "1", "67108864", "67108865", false},
        {"tie_word_embeddings", NULL, "true", "false", "2", false},
        {"attention_bias", NULL, "false", "true", "2", false},
        {"mlp_bias", NULL, "false", "true", "2", false},
        {"torch_dtype", NULL, "float64", "fp8", "int8", false},
        {"gradient_dtype", NULL, "fp64", "fp16", "int8", false},
        {"weight_dtype", "fp8", "bf16", "fp64", "int8", false}, /* no narrower than bf16 */
        {"activation_store", NULL, "computed", "fp8", "bf16", false},
        {"optimizer_state", "-1 B", "0 B", "1024 B", "1025 B", false},
        {"sequence", "0", "1", "67108864", "67108865",
         false}, /* rotary: as long as one likes */
        {"global_batch", "0", "1", "1099511627776", "1099511627777", false},
        {"num_local_experts", "-1", "0", "1", "1048577000", false}};
    static const struct limit of_gpt2[] = {
        {"n_layer", "0", "1", "100000", "100001", true},
        {"n_embd", "0", "8", "67108864", "67108865", true},
        {"n_head", "0", "1", "64", "67108865", true},
        {"n_inner", "0", "1", "67108864", "67108865", false},
        {"n_positions", "0", "128", "67108864", "67108865", true},
        {"vocab_size", "0", "1", "67108864", "67108865", true},
        {"sequence", "0", "1", "1024", "1025", false}}; /* learned positions end */
    (void)state;
    HOLD(llama, of_llama, read_model);
    HOLD(gpt2, of_gpt2, read_model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_device),
        cmocka_unit_test(of_products),
        cmocka_unit_test(of_a_network),
        cmocka_unit_test(of_what_a_calibration_says),
        cmocka_unit_test(of_a_transformer),
        cmocka_unit_test(of_layers),
        cmocka_unit_test(of_stages_and_iterations),
        cmocka_unit_test(of_a_config),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
