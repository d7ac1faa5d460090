/* Lines.  The point that a sample belongs to comes first (the head), then the number of the
 * sample and the measured values.  So a line can be recognised by its head alone. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "calibrate/samples/samples.h"

const char *const fr_sample_level_names[] = {"node", "system", NULL};
const char *const fr_sample_layout_names[] = {"block", "stride", NULL};
const char *const fr_sample_way_names[] = {"to_device", "to_host", NULL};
const char *const fr_sample_attention_names[] = {"flash", "flash-2", NULL};
const char *const fr_sample_pass_names[] = {"forward", "backward", NULL};
const char *const fr_sample_direction_names[] = {"one", "both", NULL};
const char *const fr_sample_overlap_names[] = {"comm", "compute", "both", "compute_during",
                                               NULL};
const char *const fr_sample_codec_names[] = {"encode", "decode", NULL};
const char *const fr_sample_power_names[] = {"idle",   "busy",    "communicating",
                                             "memory", "waiting", NULL};
const char *const fr_quality_names[] = {"measured", "sampled", "estimated", "unavailable",
                                        NULL};
const char *const fr_sample_state_names[] = {"converged", "unconverged", NULL};
const char *const fr_sample_end_names[] = {"complete", "budget", "signal", NULL};

struct fr_json_writer fr_sample_begin(struct fr_text *line, const char *kind) {
    struct fr_json_writer w = {.text = line};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", kind);
    return w;
}

void fr_sample_tail_chosen(int64_t launch, int64_t rep, double time_s, const char *algorithm,
                           const char *protocol, struct fr_text *line) {
    char number[32];
    fr_text_addf(line, ", \"launch\": %lld, \"rep\": %lld, \"time_s\": %s", (long long)launch,
                 (long long)rep, fr_number_write(time_s, number, sizeof number));
    if (*algorithm) fr_text_addf(line, ", \"algorithm\": \"%s\"", algorithm);
    if (*protocol) fr_text_addf(line, ", \"protocol\": \"%s\"", protocol);
    fr_text_addf(line, "}\n");
}

void fr_sample_tail(int64_t launch, int64_t rep, double time_s, struct fr_text *line) {
    fr_sample_tail_chosen(launch, rep, time_s, "", "", line);
}

static void add_device(const struct fr_provenance *p, struct fr_json_writer *w) {
    fr_json_add_string(w, "device", p->device);
    fr_json_add_string(w, "device_driver", p->device_driver);
    fr_json_add_string(w, "device_libraries", p->device_libraries);
    fr_json_add_number(w, "device_memory_B", p->device_memory_B);
    if (p->device_context_B > 0) fr_json_add_number(w, "device_context_B", p->device_context_B);
}

void fr_sample_line_provenance(const struct fr_provenance *p, struct fr_text *line) {
    struct fr_json_writer w = {.text = line};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", FR_SAMPLES_SCHEMA);
    fr_json_add_string(&w, "kind", "provenance");
    fr_json_add_string(&w, "date", p->date);
    fr_json_add_string(&w, "host", p->host);
    if (*p->cluster) fr_json_add_string(&w, "cluster", p->cluster);
    fr_json_add_string(&w, "kernel", p->kernel);
    fr_json_add_string(&w, "cpu", p->cpu);
    fr_json_add_integer(&w, "cores", p->cores);
    fr_json_add_number(&w, "memory_B", p->memory_B);
    fr_json_add_string(&w, "mpi", p->mpi);
    fr_json_add_string(&w, "blas", p->blas);
    fr_json_add_string(&w, "blas_core", p->blas_core);
    fr_json_add_integer(&w, "ranks", p->ranks);
    fr_json_add_integer(&w, "ranks_per_node", p->ranks_per_node);
    fr_json_add_integer(&w, "nodes", p->nodes);
    fr_json_add_bool(&w, "oversubscribed", p->oversubscribed);
    fr_json_add_integer(&w, "seed", p->seed);
    fr_json_add_string(&w, "version", p->version);
    if (*p->pinning) fr_json_add_string(&w, "pinning", p->pinning);
    if (*p->hosts) fr_json_add_string(&w, "hosts", p->hosts);
    if (*p->host_set) fr_json_add_string(&w, "host_set", p->host_set);
    if (p->clock_resolution_s > 0)
        fr_json_add_number(&w, "clock_resolution_s", p->clock_resolution_s);
    if (p->simulated) fr_json_add_bool(&w, "simulated", true);
    if (*p->device) add_device(p, &w);
    fr_json_end_object(&w);
    fr_text_add(line, "\n", 1);
}

void fr_sample_head_collective(const struct fr_sample_collective *s, struct fr_text *line) {
    struct fr_json_writer w = fr_sample_begin(line, "collective");
    fr_json_add_string(&w, "op", fr_op_names[s->op]);
    fr_json_add_integer(&w, "ranks", s->n_ranks);
    fr_json_add_string(&w, "level", fr_sample_level_names[s->level]);
    if (s->n_nodes > 0) fr_json_add_integer(&w, "nodes", s->n_nodes);
    if (s->n_groups > 1) {
        fr_json_add_integer(&w, "groups", s->n_groups);
        fr_json_add_string(&w, "layout", fr_sample_layout_names[s->layout]);
    }
    fr_json_add_number(&w, "size_B", s->size_B);
    if (s->source > 0) fr_json_add_integer(&w, "source", s->source - 1);
    if (s->pattern != FR_PATTERN_OP)
        fr_json_add_string(&w, "pattern", fr_pattern_names[s->pattern]);
    if (s->in_place) fr_json_add_bool(&w, "in_place", true);
    if (s->failed) fr_json_add_bool(&w, "failed", true);
}

void fr_sample_head_gemm(const struct fr_sample_gemm *s, struct fr_text *line) {
    struct fr_json_writer w = fr_sample_begin(line, "gemm");
    fr_json_add_string(&w, "dtype", fr_dtype_names[s->dtype]);
    fr_json_add_integer(&w, "m", s->m);
    fr_json_add_integer(&w, "n", s->n);
    fr_json_add_integer(&w, "k", s->k);
    if (s->batch > 1) fr_json_add_integer(&w, "batch", s->batch);
    if (s->transposed != FR_TRANSPOSED_MIXED)
        fr_json_add_string(&w, "transposed", fr_transposed_names[s->transposed]);
    if (s->blocks) fr_json_add_string(&w, "scales", "blocks");
}

void fr_sample_head_memory(const struct fr_sample_memory *s, struct fr_text *line) {
    struct fr_json_writer w = fr_sample_begin(line, "memory");
    if (s->kernel != FR_TRAFFIC_STREAM)
        fr_json_add_string(&w, "kernel", fr_traffic_names[s->kernel]);
    fr_json_add_number(&w, "size_B", s->size_B);
    if (s->moved_B > 0 && s->moved_B != s->size_B)
        fr_json_add_number(&w, "moved_B", s->moved_B);
    if (s->kernel != FR_TRAFFIC_OPERANDS) return;
    fr_json_add_integer(&w, "m", s->m);
    fr_json_add_integer(&w, "n", s->n);
    fr_json_add_integer(&w, "k", s->k);
    if (s->adds) fr_json_add_bool(&w, "adds", true);
}

void fr_sample_head_kernel(const struct fr_sample_kernel *s, struct fr_text *line) {
    struct fr_json_writer w = fr_sample_begin(line, "kernel");
    if (s->graph) fr_json_add_bool(&w, "graph", true);
}

void fr_sample_head_link(const struct fr_sample_link *s, struct fr_text *line) {
    struct fr_json_writer w = fr_sample_begin(line, "link");
    fr_json_add_string(&w, "way", fr_sample_way_names[s->way]);
    fr_json_add_bool(&w, "pinned", s->pinned);
    fr_json_add_number(&w, "size_B", s->size_B);
}

void fr_sample_head_attention(const struct fr_sample_attention *s, struct fr_text *line) {
    struct fr_json_writer w = fr_sample_begin(line, "attention");
    fr_json_add_string(&w, "kernel", fr_sample_attention_names[s->kernel]);
    fr_json_add_string(&w, "pass", fr_sample_pass_names[s->pass]);
    fr_json_add_string(&w, "dtype", fr_dtype_names[s->dtype]);
    fr_json_add_integer(&w, "batch", s->batch);
    fr_json_add_integer(&w, "sequence", s->sequence);
    fr_json_add_integer(&w, "heads", s->heads);
    fr_json_add_integer(&w, "kv_heads", s->kv_heads);
    fr_json_add_integer(&w, "width", s->width);
    fr_json_add_bool(&w, "causal", s->causal);
}

void fr_sample_head_pairs(const struct fr_sample_pairs *s, struct fr_text *line) {
    struct fr_json_writer w = fr_sample_begin(line, "pairs");
    fr_json_add_string(&w, "level", fr_sample_level_names[s->level]);
    fr_json_add_string(&w, "direction", fr_sample_direction_names[s->direction]);
    fr_json_add_integer(&w, "pairs", s->n_pairs);
    fr_json_add_number(&w, "size_B", s->size_B);
}

void fr_sample_head_overlap(const struct fr_sample_overlap *s, struct fr_text *line) {
    struct fr_json_writer w = fr_sample_begin(line, "overlap");
    fr_json_add_string(&w, "op", fr_op_names[s->op]);
    fr_json_add_integer(&w, "ranks", s->n_ranks);
    fr_json_add_string(&w, "level", fr_sample_level_names[s->level]);
    fr_json_add_number(&w, "size_B", s->size_B);
    fr_json_add_integer(&w, "m", s->m);
    fr_json_add_integer(&w, "n", s->n);
    fr_json_add_integer(&w, "k", s->k);
    fr_json_add_string(&w, "part", fr_sample_overlap_names[s->part]);
}

void fr_sample_head_codec(const struct fr_sample_codec *s, struct fr_text *line) {
    struct fr_json_writer w = fr_sample_begin(line, "codec");
    fr_json_add_string(&w, "codec", "powersgd");
    fr_json_add_string(&w, "part", fr_sample_codec_names[s->part]);
    fr_json_add_integer(&w, "m", s->m);
    fr_json_add_integer(&w, "n", s->n);
    fr_json_add_integer(&w, "rank", s->rank);
}

void fr_sample_head_power(const struct fr_sample_power *s, struct fr_text *line) {
    struct fr_json_writer w = fr_sample_begin(line, "power");
    fr_json_add_string(&w, "state", fr_sample_power_names[s->state]);
    fr_json_add_string(&w, "quality", fr_quality_names[s->quality]);
    fr_json_add_string(&w, "meter", s->meter);
    fr_json_add_integer(&w, "ranks", s->n_ranks);
    if (s->quality != FR_QUALITY_UNAVAILABLE) fr_json_add_number(&w, "power_W", s->power_W);
    if (s->clock_Hz > 0) fr_json_add_number(&w, "clock_Hz", s->clock_Hz);
    if (s->call_s > 0) fr_json_add_number(&w, "call_s", s->call_s);
}

#define FR_SAMPLE_LINE(kind)                                                                   \
    void fr_sample_line_##kind(const struct fr_sample_##kind *s, struct fr_text *line) {       \
        fr_sample_head_##kind(s, line);                                                        \
        fr_sample_tail(s->launch, s->rep, s->time_s, line);                                    \
    }
FR_SAMPLE_HEADS(FR_SAMPLE_LINE)

void fr_sample_line_point(const struct fr_sample_point *s, const int *outliers,
                          struct fr_text *line) {
    struct fr_json_writer w = fr_sample_begin(line, "point");
    fr_json_add_string(&w, "point", s->key);
    fr_json_add_integer(&w, "launch", s->launch);
    fr_json_add_integer(&w, "n", s->n);
    fr_json_add_number(&w, "median_s", s->median_s);
    if (s->half_width < 1e9) fr_json_add_number(&w, "half_width", s->half_width);
    fr_json_add_string(&w, "state", fr_sample_state_names[s->state]);
    fr_json_add_integer(&w, "warmup", s->n_warm);
    if (s->drift < 1e9) fr_json_add_number(&w, "drift", s->drift);
    fr_json_add_array(&w, "outliers");
    for (int i = 0; i < s->n_outliers; i++) fr_json_put_integer(&w, outliers[i]);
    fr_json_end_array(&w);
    fr_json_end_object(&w);
    fr_text_add(line, "\n", 1);
}

void fr_sample_line_probe(const struct fr_sample_probe *s, struct fr_text *line) {
    struct fr_json_writer w = fr_sample_begin(line, "probe");
    fr_json_add_integer(&w, "launch", s->launch);
    fr_json_add_integer(&w, "rep", s->rep);
    fr_json_add_number(&w, "product_s", s->product_s);
    fr_json_add_number(&w, "stream_s", s->stream_s);
    fr_json_end_object(&w);
    fr_text_add(line, "\n", 1);
}

void fr_sample_line_end(const struct fr_sample_end *s, struct fr_text *line) {
    struct fr_json_writer w = fr_sample_begin(line, "end");
    fr_json_add_integer(&w, "launch", s->launch);
    fr_json_add_string(&w, "reason", fr_sample_end_names[s->reason]);
    fr_json_add_integer(&w, "unconverged", s->unconverged);
    fr_json_add_number(&w, "elapsed_s", s->elapsed_s);
    fr_json_end_object(&w);
    fr_text_add(line, "\n", 1);
}

void fr_sample_key(const char *head, char *key, size_t capacity) {
    static const char kind[] = "{\"kind\": ";
    size_t used = 0;
    if (strncmp(head, kind, sizeof kind - 1) == 0) head += sizeof kind - 1;
    for (; *head && used + 1 < capacity; head++) {
        if (*head == '"' || *head == ' ') continue;
        key[used++] = *head == ':' ? '=' : *head == ',' ? ' ' : *head;
    }
    key[used] = '\0';
}
