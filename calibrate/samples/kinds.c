/* A reader for each kind of line. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/samples/lines.h"

static fr_status get_count(const struct fr_json *node, const char *key, int64_t min,
                           int64_t *out, struct fr_error *err) {
    return fr_json_get_integer(node, key, true, min, FR_SAMPLE_COUNT_MAX, out, err);
}

static fr_status get_launch(const struct fr_json *node, int64_t *launch, struct fr_error *err) {
    return fr_json_get_integer(node, "launch", false, 0, FR_SAMPLE_COUNT_MAX, launch, err);
}

static fr_status get_sample(const struct fr_json *node, int64_t *launch, int64_t *rep,
                            double *time_s, struct fr_error *err) {
    FR_TRY(get_launch(node, launch, err));
    FR_TRY(get_count(node, "rep", 0, rep, err));
    return fr_json_get_number(node, "time_s", true, FR_SAMPLE_TIME_MIN_S, FR_SAMPLE_TIME_MAX_S,
                              time_s, err);
}

static const char *const collective_keys[] = {
    "kind",   "op",     "ranks",  "level",     "nodes",    "groups",
    "layout", "size_B", "source", "pattern",   "in_place", "failed",
    "launch", "rep",    "time_s", "algorithm", "protocol", NULL};

/* How many nodes the ranks sit on: one, or where messages left it several, two if it is not said.  With communicators side by side, the first one may sit on one node and others not. */
static fr_status get_nodes(const struct fr_json *node, struct fr_sample_collective *s,
                           struct fr_error *err) {
    struct fr_json nodes = fr_json_member(node, "nodes");
    int64_t fewest = s->level == FR_SAMPLE_SYSTEM && s->n_groups == 1 ? 2 : 1;
    int64_t most = s->level == FR_SAMPLE_SYSTEM ? s->n_ranks : 1;
    s->n_nodes = s->level == FR_SAMPLE_SYSTEM ? 2 : 1;
    FR_TRY(fr_json_get_integer(node, "nodes", false, 1, s->n_ranks, &s->n_nodes, err));
    if (s->n_nodes >= fewest && s->n_nodes <= most) return FR_OK;
    return fr_json_fail(&nodes, err, "is %" PRId64 ", but level \"%s\" is of ranks on %s",
                        s->n_nodes, fr_sample_level_names[s->level],
                        most > 1 ? "several nodes" : "one node");
}

/* A word of a library: small letters, digits and "_". */
static fr_status get_choice(const struct fr_json *node, const char *key, char *out,
                            size_t capacity, struct fr_error *err) {
    struct fr_json value = fr_json_member(node, key);
    const char *word = "";
    if (!fr_json_present(&value)) return FR_OK;
    FR_TRY(fr_json_text(&value, &word, err));
    if (strlen(word) >= capacity ||
        word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0')
        return fr_json_fail(&value, err, "expected a word such as \"ring\" or \"simple\"");
    snprintf(out, capacity, "%s", word);
    return FR_OK;
}

static fr_status read_collective(const struct fr_json *node, struct fr_samples *samples,
                                 struct fr_error *err) {
    struct fr_sample_collective s = {.n_groups = 1};
    int op = 0;
    FR_TRY(fr_json_object(node, collective_keys, err));
    FR_TRY(fr_json_get_choice(node, "op", true, fr_op_names, &op, err));
    FR_TRY(fr_json_get_choice(node, "level", true, fr_sample_level_names, &s.level, err));
    FR_TRY(get_count(node, "ranks", 2, &s.n_ranks, err));
    FR_TRY(
        fr_json_get_integer(node, "groups", false, 1, FR_SAMPLE_COUNT_MAX, &s.n_groups, err));
    FR_TRY(get_nodes(node, &s, err));
    FR_TRY(fr_json_get_choice(node, "layout", false, fr_sample_layout_names, &s.layout, err));
    FR_TRY(fr_json_get_number(node, "size_B", true, 0, FR_SAMPLE_SIZE_MAX_B, &s.size_B, err));
    FR_TRY(fr_json_get_choice(node, "pattern", false, fr_pattern_names, &s.pattern, err));
    FR_TRY(fr_json_get_bool(node, "in_place", false, &s.in_place, err));
    FR_TRY(fr_json_get_bool(node, "failed", false, &s.failed, err));
    FR_TRY(get_choice(node, "algorithm", s.algorithm, sizeof s.algorithm, err));
    FR_TRY(get_choice(node, "protocol", s.protocol, sizeof s.protocol, err));
    FR_TRY(fr_sample_get_source(node, samples, &s.source, err));
    FR_TRY(get_sample(node, &s.launch, &s.rep, &s.time_s, err));
    s.op = (fr_op)op;
    return s.n_groups > 1 ? fr_samples_add_segmented(samples, &s)
                          : fr_samples_add_collective(samples, &s);
}

static fr_status get_shape(const struct fr_json *node, int64_t *m, int64_t *n, int64_t *k,
                           struct fr_error *err) {
    FR_TRY(get_count(node, "m", 1, m, err));
    FR_TRY(get_count(node, "n", 1, n, err));
    return k ? get_count(node, "k", 1, k, err) : FR_OK;
}

static const char *const gemm_keys[] = {"kind",   "dtype", "m",          "n",
                                        "k",      "batch", "transposed", "scales",
                                        "launch", "rep",   "time_s",     NULL};

static fr_status read_gemm(const struct fr_json *node, struct fr_samples *samples,
                           struct fr_error *err) {
    static const char *const scales[] = {"tensor", "blocks", NULL};
    struct fr_sample_gemm s = {.batch = 1};
    int dtype = 0, scaled = 0;
    FR_TRY(fr_json_object(node, gemm_keys, err));
    FR_TRY(fr_json_get_choice(node, "dtype", true, fr_dtype_names, &dtype, err));
    FR_TRY(get_shape(node, &s.m, &s.n, &s.k, err));
    FR_TRY(fr_json_get_integer(node, "batch", false, 1, FR_SAMPLE_COUNT_MAX, &s.batch, err));
    FR_TRY(
        fr_json_get_choice(node, "transposed", false, fr_transposed_names, &s.transposed, err));
    FR_TRY(get_sample(node, &s.launch, &s.rep, &s.time_s, err));
    FR_TRY(fr_json_get_choice(node, "scales", false, scales, &scaled, err));
    s.blocks = scaled == 1;
    s.dtype = (fr_dtype)dtype;
    s.probe = (int64_t)samples->n_probe;
    if (s.blocks) return fr_samples_add_scaled(samples, &s);
    return s.batch > 1 ? fr_samples_add_batched(samples, &s) : fr_samples_add_gemm(samples, &s);
}

static const char *const memory_keys[] = {"kind", "kernel", "size_B", "moved_B", "m", "n", "k",
                                          "adds", "launch", "rep",    "time_s",  NULL};

static fr_status read_memory(const struct fr_json *node, struct fr_samples *samples,
                             struct fr_error *err) {
    struct fr_sample_memory s = {0};
    FR_TRY(fr_json_object(node, memory_keys, err));
    FR_TRY(fr_json_get_choice(node, "kernel", false, fr_traffic_names, &s.kernel, err));
    FR_TRY(fr_json_get_number(node, "size_B", true, 1, FR_SAMPLE_SIZE_MAX_B, &s.size_B, err));
    s.moved_B = s.size_B;
    FR_TRY(
        fr_json_get_number(node, "moved_B", false, 1, FR_SAMPLE_SIZE_MAX_B, &s.moved_B, err));
    if (s.kernel == FR_TRAFFIC_RESULTS)
        return fr_json_fail(node, err, "is of results; a product's samples are of operands");
    if (s.kernel == FR_TRAFFIC_OPERANDS) FR_TRY(get_shape(node, &s.m, &s.n, &s.k, err));
    FR_TRY(fr_json_get_bool(node, "adds", false, &s.adds, err));
    FR_TRY(get_sample(node, &s.launch, &s.rep, &s.time_s, err));
    s.probe = (int64_t)samples->n_probe;
    return fr_samples_add_memory(samples, &s);
}

static const char *const kernel_keys[] = {"kind", "graph", "launch", "rep", "time_s", NULL};

static fr_status read_kernel(const struct fr_json *node, struct fr_samples *samples,
                             struct fr_error *err) {
    struct fr_sample_kernel s = {0};
    FR_TRY(fr_json_object(node, kernel_keys, err));
    FR_TRY(fr_json_get_bool(node, "graph", false, &s.graph, err));
    FR_TRY(get_sample(node, &s.launch, &s.rep, &s.time_s, err));
    return fr_samples_add_kernel(samples, &s);
}

static const char *const link_keys[] = {"kind",   "way", "pinned", "size_B",
                                        "launch", "rep", "time_s", NULL};

static fr_status read_link(const struct fr_json *node, struct fr_samples *samples,
                           struct fr_error *err) {
    struct fr_sample_link s = {0};
    FR_TRY(fr_json_object(node, link_keys, err));
    FR_TRY(fr_json_get_choice(node, "way", true, fr_sample_way_names, &s.way, err));
    FR_TRY(fr_json_get_bool(node, "pinned", true, &s.pinned, err));
    FR_TRY(fr_json_get_number(node, "size_B", true, 1, FR_SAMPLE_SIZE_MAX_B, &s.size_B, err));
    FR_TRY(get_sample(node, &s.launch, &s.rep, &s.time_s, err));
    return fr_samples_add_link(samples, &s);
}

static const char *const attention_keys[] = {
    "kind",     "kernel", "pass",   "dtype",  "batch", "sequence", "heads",
    "kv_heads", "width",  "causal", "launch", "rep",   "time_s",   NULL};

static fr_status read_attention(const struct fr_json *node, struct fr_samples *samples,
                                struct fr_error *err) {
    struct fr_sample_attention s = {0};
    struct fr_json shared = fr_json_member(node, "kv_heads");
    int dtype = 0;
    FR_TRY(fr_json_object(node, attention_keys, err));
    FR_TRY(fr_json_get_choice(node, "kernel", true, fr_sample_attention_names, &s.kernel, err));
    FR_TRY(fr_json_get_choice(node, "pass", true, fr_sample_pass_names, &s.pass, err));
    FR_TRY(fr_json_get_choice(node, "dtype", true, fr_dtype_names, &dtype, err));
    FR_TRY(get_count(node, "batch", 1, &s.batch, err));
    FR_TRY(get_count(node, "sequence", 1, &s.sequence, err));
    FR_TRY(get_count(node, "heads", 1, &s.heads, err));
    FR_TRY(get_count(node, "kv_heads", 1, &s.kv_heads, err));
    FR_TRY(get_count(node, "width", 1, &s.width, err));
    FR_TRY(fr_json_get_bool(node, "causal", true, &s.causal, err));
    FR_TRY(get_sample(node, &s.launch, &s.rep, &s.time_s, err));
    if (s.heads % s.kv_heads != 0)
        return fr_json_fail(&shared, err, "is %" PRId64 ", no divisor of the %" PRId64 " heads",
                            s.kv_heads, s.heads);
    s.dtype = (fr_dtype)dtype;
    return fr_samples_add_attention(samples, &s);
}

static const char *const pairs_keys[] = {"kind",   "level", "direction", "pairs", "size_B",
                                         "launch", "rep",   "time_s",    NULL};

static fr_status read_pairs(const struct fr_json *node, struct fr_samples *samples,
                            struct fr_error *err) {
    struct fr_sample_pairs s = {0};
    FR_TRY(fr_json_object(node, pairs_keys, err));
    FR_TRY(fr_json_get_choice(node, "level", true, fr_sample_level_names, &s.level, err));
    FR_TRY(fr_json_get_choice(node, "direction", true, fr_sample_direction_names, &s.direction,
                              err));
    FR_TRY(get_count(node, "pairs", 1, &s.n_pairs, err));
    FR_TRY(fr_json_get_number(node, "size_B", true, 0, FR_SAMPLE_SIZE_MAX_B, &s.size_B, err));
    FR_TRY(get_sample(node, &s.launch, &s.rep, &s.time_s, err));
    return fr_samples_add_pairs(samples, &s);
}

static const char *const overlap_keys[] = {"kind", "op",     "ranks", "level", "size_B",
                                           "m",    "n",      "k",     "part",  "launch",
                                           "rep",  "time_s", NULL};

static fr_status read_overlap(const struct fr_json *node, struct fr_samples *samples,
                              struct fr_error *err) {
    struct fr_sample_overlap s = {0};
    int op = 0;
    FR_TRY(fr_json_object(node, overlap_keys, err));
    FR_TRY(fr_json_get_choice(node, "op", true, fr_op_names, &op, err));
    FR_TRY(fr_json_get_choice(node, "level", true, fr_sample_level_names, &s.level, err));
    FR_TRY(fr_json_get_choice(node, "part", true, fr_sample_overlap_names, &s.part, err));
    FR_TRY(get_count(node, "ranks", 2, &s.n_ranks, err));
    FR_TRY(fr_json_get_number(node, "size_B", true, 0, FR_SAMPLE_SIZE_MAX_B, &s.size_B, err));
    FR_TRY(get_shape(node, &s.m, &s.n, &s.k, err));
    FR_TRY(get_sample(node, &s.launch, &s.rep, &s.time_s, err));
    s.op = (fr_op)op;
    return fr_samples_add_overlap(samples, &s);
}

static const char *const codec_keys[] = {"kind", "codec",  "part", "m",      "n",
                                         "rank", "launch", "rep",  "time_s", NULL};
static const char *const codecs[] = {"powersgd", NULL};

static fr_status read_codec(const struct fr_json *node, struct fr_samples *samples,
                            struct fr_error *err) {
    struct fr_sample_codec s = {0};
    int codec = 0;
    FR_TRY(fr_json_object(node, codec_keys, err));
    FR_TRY(fr_json_get_choice(node, "codec", true, codecs, &codec, err));
    FR_TRY(fr_json_get_choice(node, "part", true, fr_sample_codec_names, &s.part, err));
    FR_TRY(get_shape(node, &s.m, &s.n, NULL, err));
    FR_TRY(get_count(node, "rank", 1, &s.rank, err));
    FR_TRY(get_sample(node, &s.launch, &s.rep, &s.time_s, err));
    return fr_samples_add_codec(samples, &s);
}

static const char *const power_keys[] = {"kind",   "state",   "meter",    "quality",
                                         "ranks",  "power_W", "clock_Hz", "call_s",
                                         "launch", "rep",     "time_s",   NULL};

static fr_status read_power(const struct fr_json *node, struct fr_samples *samples,
                            struct fr_error *err) {
    struct fr_sample_power s = {0};
    FR_TRY(fr_json_object(node, power_keys, err));
    FR_TRY(fr_json_get_choice(node, "state", true, fr_sample_power_names, &s.state, err));
    FR_TRY(fr_json_get_choice(node, "quality", true, fr_quality_names, &s.quality, err));
    FR_TRY(fr_json_get_string(node, "meter", true, s.meter, sizeof s.meter, err));
    FR_TRY(get_count(node, "ranks", 1, &s.n_ranks, err));
    FR_TRY(fr_json_get_number(node, "power_W", s.quality != FR_QUALITY_UNAVAILABLE, 0, 1e9,
                              &s.power_W, err));
    FR_TRY(fr_json_get_number(node, "clock_Hz", false, 1e6, 1e11, &s.clock_Hz, err));
    FR_TRY(fr_json_get_number(node, "call_s", false, 1e-12, 1e6, &s.call_s, err));
    FR_TRY(get_sample(node, &s.launch, &s.rep, &s.time_s, err));
    return fr_samples_add_power(samples, &s);
}

static const char *const point_keys[] = {"kind",     "point",      "launch", "n",
                                         "median_s", "half_width", "state",  "warmup",
                                         "drift",    "outliers",   NULL};

static fr_status read_point(const struct fr_json *node, struct fr_samples *samples,
                            struct fr_error *err) {
    struct fr_sample_point s = {.half_width = 1e9, .drift = 1e9};
    struct fr_json outliers = fr_json_member(node, "outliers");
    FR_TRY(fr_json_object(node, point_keys, err));
    FR_TRY(fr_json_get_string(node, "point", true, s.key, sizeof s.key, err));
    FR_TRY(get_launch(node, &s.launch, err));
    FR_TRY(get_count(node, "n", 1, &s.n, err));
    FR_TRY(get_count(node, "warmup", 0, &s.n_warm, err));
    FR_TRY(fr_json_get_choice(node, "state", true, fr_sample_state_names, &s.state, err));
    FR_TRY(fr_json_get_number(node, "median_s", true, FR_SAMPLE_TIME_MIN_S,
                              FR_SAMPLE_TIME_MAX_S, &s.median_s, err));
    FR_TRY(fr_json_get_number(node, "half_width", false, 0, 1e9, &s.half_width, err));
    FR_TRY(fr_json_get_number(node, "drift", false, 0, 1e9, &s.drift, err));
    if (fr_json_present(&outliers))
        FR_TRY(fr_json_array(&outliers, 0, FR_SAMPLE_COUNT_MAX, err));
    s.n_outliers = fr_json_is_array(&outliers) ? fr_json_array_length(&outliers) : 0;
    return fr_samples_add_point(samples, &s);
}

static const char *const probe_keys[] = {"kind",      "launch",   "rep",
                                         "product_s", "stream_s", NULL};

static fr_status read_probe(const struct fr_json *node, struct fr_samples *samples,
                            struct fr_error *err) {
    struct fr_sample_probe s = {0};
    FR_TRY(fr_json_object(node, probe_keys, err));
    FR_TRY(get_launch(node, &s.launch, err));
    FR_TRY(get_count(node, "rep", 0, &s.rep, err));
    FR_TRY(fr_json_get_number(node, "product_s", true, FR_SAMPLE_TIME_MIN_S,
                              FR_SAMPLE_TIME_MAX_S, &s.product_s, err));
    FR_TRY(fr_json_get_number(node, "stream_s", true, FR_SAMPLE_TIME_MIN_S,
                              FR_SAMPLE_TIME_MAX_S, &s.stream_s, err));
    return fr_samples_add_probe(samples, &s);
}

static const char *const end_keys[] = {"kind",        "launch",    "reason",
                                       "unconverged", "elapsed_s", NULL};

static fr_status read_end(const struct fr_json *node, struct fr_samples *samples,
                          struct fr_error *err) {
    struct fr_sample_end s = {0};
    FR_TRY(fr_json_object(node, end_keys, err));
    FR_TRY(get_launch(node, &s.launch, err));
    FR_TRY(fr_json_get_choice(node, "reason", true, fr_sample_end_names, &s.reason, err));
    FR_TRY(get_count(node, "unconverged", 0, &s.unconverged, err));
    FR_TRY(fr_json_get_number(node, "elapsed_s", true, 0, 1e9, &s.elapsed_s, err));
    return fr_samples_add_end(samples, &s);
}

const char *const fr_sample_kinds[] = {
    "provenance", "collective", "gemm", "memory", "kernel", "pairs", "overlap",   "codec",
    "power",      "point",      "end",  "source", "probe",  "link",  "attention", NULL};
fr_sample_reader *const fr_sample_readers[] = {fr_sample_read_provenance,
                                               read_collective,
                                               read_gemm,
                                               read_memory,
                                               read_kernel,
                                               read_pairs,
                                               read_overlap,
                                               read_codec,
                                               read_power,
                                               read_point,
                                               read_end,
                                               fr_sample_read_source,
                                               read_probe,
                                               read_link,
                                               read_attention};
