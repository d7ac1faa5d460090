/* Values of a plan and its model, as rows of option_table.c name them. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/emit.h"
#include "answer/emit/mesh.h"
#include "models/job/assume.h"
#include "models/work/transformer.h"
#include "models/workload/optimizer.h"
#include "models/workload/rotary.h"

enum { WORD_MAX = 128 };

static const char *number(double value, char *word) {
    snprintf(word, WORD_MAX, "%.0f", value);
    return word;
}

static const char *shortest(double value, char *word) {
    snprintf(word, WORD_MAX, "%g", value);
    return word;
}

/* 0: a plan that left the batch open. */
static int64_t micro_batches(const struct fr_plan *p) {
    int64_t samples = p->dp * p->micro_batch;
    return samples > 0 ? p->global_batch / samples : 0;
}

/* Ranks of a sequence divide parameters too: zero_ranks counts both. */
static int64_t dp_shard(const struct fr_plan *p) {
    int64_t z = p->zero_ranks;
    if (p->zero < 2) return 1;
    return z > 0 && z < fr_plan_replicas(p) && z >= p->cp ? z / p->cp : p->dp;
}

/* Layers of virtual stage @p i of pp chunks, in the model's order; as equal as a stage's can be. */
static int64_t layers_of(const struct fr_emitted *e, int64_t i) {
    const struct fr_plan *p = &e->plan;
    const struct fr_transformer *t = &e->job->workload.transformer;
    int64_t chunk = i / p->pp, stage = i % p->pp, lacking = p->pp * p->chunks - t->layers;
    int64_t layers = fr_transformer_stage_layers(t, p, stage);
    /* Where logits and embedding count as layers, the last chunk of all and the first lack one. */
    if (!p->stage_layers && p->chunks > 1 && lacking > 0)
        return i == p->pp * p->chunks - 1 || (i == 0 && lacking == 2) ? 0 : 1;
    return layers / p->chunks + (chunk < layers % p->chunks);
}

static bool layers_equal(const struct fr_emitted *e) {
    for (int64_t i = 1; i < e->plan.pp * e->plan.chunks; i++)
        if (layers_of(e, i) != layers_of(e, 0)) return false;
    return true;
}

/* Megatron's words for layers of stages: "Et*3|t*3|t*3L", virtual stages in the model's order, E the embedding, L
 * the loss; "" where it is too long for a line. */
static void layout(const struct fr_emitted *e, char *out, size_t capacity) {
    size_t used = 0;
    if (capacity > 1024) capacity = 1024;
    for (int64_t i = 0; i < e->plan.pp * e->plan.chunks; i++) {
        int64_t layers = layers_of(e, i);
        fr_line_addf(out, capacity, &used, "%s", i ? "|" : "E");
        if (layers > 1) fr_line_addf(out, capacity, &used, "t*%" PRId64, layers);
        if (layers == 1) fr_line_addf(out, capacity, &used, "t");
    }
    fr_line_addf(out, capacity, &used, "L");
    if (used + 1 >= capacity) out[0] = '\0';
}

/* Some keys are left to others: those of fr_job_stated. */
static bool states_all(const struct fr_job *job) {
    int stated = 0;
    for (int k = 0; k < FR_PLAN_KEYS; k++)
        stated += fr_job_plan_says(job, fr_plan_keys[k].name);
    return stated >= FR_PLAN_KEYS - 4;
}

/* Is the size of buckets another than the runtime's, or stated by a plan that does not state every key, as plans that
 * forerun prints do? */
static bool bucket_chosen(const struct fr_emitted *e) {
    struct fr_plan usual = e->plan;
    const fr_plan_key_set bucket =
        FR_PLAN_KEY_BIT(fr_plan_key_find("bucket", NULL) - fr_plan_keys);
    fr_job_forget(e->job, bucket, &usual);
    fr_job_complete(e->job, bucket, &usual);
    if (e->plan.bucket_size_B != usual.bucket_size_B) return true;
    return fr_job_plan_says(e->job, "bucket") && !states_all(e->job);
}

/* Layers of a hybrid, a letter each. */
static void letters(const struct fr_emitted *e, char *out, size_t capacity) {
    const struct fr_transformer *t = &e->job->workload.transformer;
    size_t used = 0, n = strlen(t->pattern);
    out[0] = '\0';
    for (int64_t i = 0; n && i < t->layers; i++)
        fr_line_addf(out, capacity, &used, "%c", t->pattern[(size_t)i % n]);
}

/* As Megatron-Bridge's scripts call it, or "unknown".  The newest first: gb200 has b200 in it. */
static void gpu(const struct fr_emitted *e, char *out, size_t capacity) {
    static const char *const known[] = {"gb300", "gb200", "b300", "b200", "h100", "unknown"};
    char name[WORD_MAX];
    size_t n = 0;
    int i = 0;
    for (const char *at = e->job->cluster.name; *at && n + 1 < sizeof name; at++)
        name[n++] = (char)tolower((unsigned char)*at);
    name[n] = '\0';
    while (i < 5 && !strstr(name, known[i])) i++;
    snprintf(out, capacity, "%s", known[i]);
}

static bool on_tpu(const struct fr_emitted *e) {
    return strncmp(e->job->cluster.device.generation, "tpu", 3) == 0;
}

/* JAX finds its peers in Slurm's variables, a process for each device. */
static const char *launcher(const struct fr_emitted *e, char *word) {
    snprintf(word, WORD_MAX, "srun --ntasks %" PRId64, e->out->ranks);
    return word;
}

/* MaxText's decoder of such layers. */
static const char *decoder(const struct fr_transformer *t) {
    if (t->experts > 0)
        return t->kv_latent || t->shared_ffn || t->dense_layers ? "deepseek" : "mixtral";
    if (t->positions && !t->gated) return "gpt3";
    return t->qk_norms ? "qwen3" : t->qkv_biases ? "qwen2" : "llama2";
}

/* Layers without a window are the floor of layers over this. */
static int64_t full_layers(const struct fr_transformer *t) {
    const int64_t without = t->layers - t->window_layers;
    const int64_t every = without > 0 ? t->layers / without : 0;
    return every >= 2 && t->layers / every == without ? every : 0;
}

static const char *device_batch(const struct fr_emitted *e, char *word) {
    const struct fr_plan *p = &e->plan;
    const double steps = p->pp > 1 ? 1 : (double)micro_batches(p);
    snprintf(word, WORD_MAX, "%.15g",
             steps > 0 ? (double)p->global_batch / ((double)e->out->ranks * steps) : 0);
    return word;
}

/* ---- rows ----------------------------------------------------------------------------------- */

#define VALUE(name, ...)                                                                       \
    static void name##_value(const struct fr_emitted *e, char *out, size_t capacity) {         \
        const struct fr_plan *p = &e->plan;                                                    \
        const struct fr_workload *w = &e->job->workload;                                       \
        const struct fr_transformer *t = &w->transformer;                                      \
        char word[WORD_MAX] = "";                                                              \
        (void)p, (void)t, (void)word;                                                          \
        snprintf(out, capacity, __VA_ARGS__);                                                  \
    }
#define FR_INTEGER(name, of) VALUE(name, "%" PRId64, (int64_t)(of))
#define FR_TRUTH(name, of) VALUE(name, "%s", (of) ? "true" : "false")
#define FR_WORD(name, of) VALUE(name, "%s", of)
#define FR_LINE(name, of)
#include "answer/emit/value_list.h"
#undef FR_INTEGER
#undef FR_TRUTH
#undef FR_WORD
#undef FR_LINE

static const struct {
    const char *name;
    void (*of)(const struct fr_emitted *e, char *out, size_t capacity);
} values[] = {
#define ROW(name, of) {#name, name##_value},
#define FR_INTEGER ROW
#define FR_TRUTH ROW
#define FR_WORD ROW
#define FR_LINE(name, of) {#name, of},
#include "answer/emit/value_list.h"
};

bool fr_emit_value(const struct fr_emitted *e, const char *name, char *out, size_t capacity) {
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strcmp(values[i].name, name) == 0) return values[i].of(e, out, capacity), true;
    for (int k = 0; k < FR_PLAN_KEYS; k++)
        if (strcmp(fr_plan_keys[k].name, name) == 0) {
            fr_plan_keys[k].type->text(&fr_plan_keys[k], &e->plan, out, capacity);
            return true;
        }
    return false;
}
