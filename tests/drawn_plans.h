/** @file
 *  Random plans over all axes of examples of every kind of network, for laws that any plan keeps. */
#ifndef FR_TESTS_DRAWN_PLANS_H
#define FR_TESTS_DRAWN_PLANS_H

#include "tests/job.h"
#include "tests/plan_values.h"

static const struct {
    const char *cluster, *model, *sets;
} drawn_starts[] = {
    {"dgx-a100", "gpt-2", "micro_batch=1 global_batch=16"},
    {"a100-hdr", "gpt-2.5b", "micro_batch=1 global_batch=32"},
    {"a100-hdr", "gpt-8.3b", "micro_batch=1 global_batch=16 tp=2 pp=4 recompute=full"},
    {"dgx-h100", "llama-3-8b", "micro_batch=1 global_batch=16 attention=flash"},
    {"dgx-h100", "mixtral-8x7b", "micro_batch=1 global_batch=16 attention=flash dp=4 ep=4"},
    {"dgx-a100", "mixtral-8x7b", "micro_batch=2 global_batch=16 method=grid tp=2 dp=4 ep=2"},
    {"lassen", "t5-large-mod", "global_batch=16 method=subgraph tp=4"},
    {"lassen", "gpt-2", "global_batch=16 method=subgraph tp=2 branches=attention"},
    {"dgx-a100", "gpt-2", "micro_batch=2 global_batch=16 method=grid tp=2"},
    {"dgx-a100", "gpt-2", "micro_batch=1 global_batch=16 method=phantom tp=2 ghost=8"},
    {"dgx-a100", "gpt-2",
     "micro_batch=1 global_batch=16 method=phantom tp=2 ghost=8 phantom_parts=all"},
    {"a100-hdr", "gpt-2.5b", "micro_batch=2 global_batch=16 method=grid tp=2 layer_tp=[2,1,2]"},
    {"a100-hdr", "gpt-2.5b",
     "micro_batch=4 global_batch=16 method=grid tp=4 dp=2 layer_tp=[1,4,2] divide=pairs"},
    {"a100-hdr", "gpt-2.5b",
     "micro_batch=1 global_batch=16 pp=4 schedule=interleaved chunks=2"},
    {"dgx-a100", "gpt-2", "micro_batch=1 global_batch=16 pp=2 schedule=dualpipe-v chunks=2"},
    {"dgx-a100", "gpt-2",
     "micro_batch=1 global_batch=16 pp=4 schedule=zero-bubble-v chunks=2 "
     "compression.backward.scope=all"},
    {"dgx-a100", "gpt-2",
     "micro_batch=1 global_batch=16 pp=4 schedule=zero-bubble-v chunks=2 "
     "compression.backward.scope=epilogue"},
    {"dgx-a100", "gpt-2",
     "micro_batch=1 global_batch=16 pp=2 schedule=dualpipe-v chunks=2 "
     "compression.backward.scope=epilogue"},
    {"dgx-a100", "gpt-2",
     "micro_batch=1 global_batch=16 pp=4 dp=2 compression.backward.scope=epilogue "
     "compression.gradient.stages=2"},
    {"dgx-a100", "gpt-2",
     "micro_batch=1 global_batch=16 pp=4 schedule=interleaved chunks=3 "
     "compression.backward.scope=epilogue"},
    {"dgx-a100", "gpt-2", "micro_batch=1 global_batch=16 pp=2 dp=4 zero=2 overlap=gradient"},
    {"dgx-a100", "gpt-2", "micro_batch=1 global_batch=16 pp=2 clock=slack"},
    {"dgx-a100", "gpt-2",
     "micro_batch=1 global_batch=16 pp=4 clock=slack compression.backward.scope=all"},
    {"dgx-a100", "gpt-2", "micro_batch=1 global_batch=16 pp=2 offload=all recompute=full"},
    {"dgx-a100", "gpt-2",
     "micro_batch=1 global_batch=16 pp=4 schedule=zero-bubble-v chunks=2 "
     "compression.forward.rank=8 compression.backward.scope=epilogue"},
    {"dgx-a100", "gpt-2", "micro_batch=1 global_batch=16 model.lora_rank=8"},
    {"dgx-h100", "mixtral-8x7b",
     "micro_batch=1 global_batch=16 dp=4 ep=2 attention=flash model.lora_rank=16"},
    {"dgx-h100", "deepseek-v3",
     "micro_batch=1 global_batch=16 dp=4 ep=4 pp=2 attention=flash model.layers=12"},
    {"dgx-h100", "llama-3-8b",
     "micro_batch=1 global_batch=16 pp=2 tp=2 attention=flash model.predicted_tokens=1"},
    {"dgx-h100", "nemotron-3-nano",
     "micro_batch=1 global_batch=16 pp=2 dp=4 ep=2 attention=flash model.layers=24"},
    {"frontier", "ffn-4096", "tp=4 global_batch=64"},
    {"frontier", "ffn-4096",
     "tp=2 dp=2 pp=2 method=phantom ghost=8 micro_batch=8 global_batch=64"},
    {"frontier", "ffn-4096",
     "tp=2 pp=2 dp=2 micro_batch=8 global_batch=64 "
     "compression.backward.scope=all compression.gradient.stages=1"},
};

static const struct {
    const char *key, *values;
} drawn_keys[] = {
    {"tp", "1|2|4"},
    {"dp", "1|2|4"},
    {"pp", "1|2|4|3"},
    {"cp", "1|2"},
    {"divide", "rows|pairs"},
    {"layer_tp", "[1,2,2]|[2,1,2]|[2,2,1]|[4,2,1]"},
    {"context", "ring|all-to-all"},
    {"ep", "1|2|4"},
    {"schedule", "1f1b|gpipe|interleaved|zero-bubble|1f1b-double|zero-bubble-v|dualpipe-v"},
    {"chunks", "1|2|3"},
    {"pass", "both|forward"},
    {"compression.backward.scope", "none|epilogue|all"},
    {"compression.backward.rank", "1|8|64"},
    {"compression.forward.rank", "0|8|64"},
    {"offload", "none|activations|optimizer|all"},
    {"graphs", "none|layers|iteration"},
    {"compression.embedding", "separate|fused"},
    {"compression.gradient.stages", "0|1|2|4"},
    {"compression.gradient.rank", "1|32|256"},
    {"compression.gradient.ranks", "one|[64]|[0,16]|[32,8,0,64]"},
    {"compression.codec", "powersgd|topk"},
    {"sequence_parallel", "true|false"},
    {"overlap_tp", "true|false"},
    {"overlap_experts", "true|false"},
    {"dispatch_ranks", "0|1|2"},
    {"attention", "plain|flash"},
    {"zero", "0|1|2|3"},
    {"zero_ranks", "0|2"},
    {"overlap", "none|gradient"},
    {"bucket", "1 MB|25 MiB|1 GB"},
    {"recompute", "none|selective|full"},
    {"accumulation", "fused|apart"},
    {"launches", "ahead|blocking"},
    {"micro_batch", "1|2|4"},
    {"global_batch", "16|32|64"},
    {"rank_order", "tp-pp-dp|tp-dp-pp"},
    {"placement", "linear|round-robin|by-axis:pp-dp-tp"},
    {"clock", "full|slack|1.2 GHz"},
    {"model.lora_rank", "4|16"},
    {"power_cap", "none|300 W"},
    {"cluster.device.fixed", "0 s|30 ms"},
    {"cluster.device.launch", "0 s|20 us"},
    {"cluster.levels.1.bandwidth", "1 GB/s|100 GB/s"},
};

enum { DRAWN_WORDS = 32, DRAWN_WORD = 96 };

/** Text of a plan, key=value each. */
struct drawn {
    char word[DRAWN_WORDS][DRAWN_WORD];
    int n;
};

/** Say @p n characters of @p value of @p key; a key that is there already gets the new value. */
static inline void drawn_say(struct drawn *w, const char *key, const char *value, int n) {
    int at = 0;
    size_t length = strlen(key);
    while (at < w->n && (strncmp(w->word[at], key, length) != 0 || w->word[at][length] != '='))
        at++;
    if (at == DRAWN_WORDS) return;
    w->n += at == w->n;
    if (snprintf(w->word[at], DRAWN_WORD, "%s=%.*s", key, n, value) >= DRAWN_WORD)
        fail_msg("%s: too long", key);
}

/** One of the examples with some keys changed. */
static inline void drawn_plan(uint64_t *dice, struct drawn *w, size_t *start) {
    *w = (struct drawn){.n = 0};
    *start = fr_test_random(dice, sizeof drawn_starts / sizeof *drawn_starts);
    for (const char *at = drawn_starts[*start].sets; *at;) {
        int n = (int)strcspn(at, " "), k = (int)strcspn(at, "=");
        char key[DRAWN_WORD];
        snprintf(key, sizeof key, "%.*s", k, at);
        drawn_say(w, key, at + k + 1, n - k - 1);
        at += n + (at[n] == ' ');
    }
    for (uint64_t n = fr_test_random(dice, 5); n-- > 0;) {
        size_t k = fr_test_random(dice, sizeof drawn_keys / sizeof *drawn_keys);
        const char *value = drawn_keys[k].values;
        int bars = 0;
        for (const char *c = value; *c; c++) bars += *c == '|';
        for (uint64_t skip = fr_test_random(dice, (uint64_t)bars + 1); skip-- > 0;)
            value = strchr(value, '|') + 1;
        drawn_say(w, drawn_keys[k].key, value, (int)strcspn(value, "|"));
    }
}

/** @return false: it is none.  @p job is the caller's to free where it is one. */
static inline bool drawn_load(const struct drawn *w, size_t start, struct fr_job *job) {
    const char *sets[DRAWN_WORDS + 4] = {"model.defaults=2019", "cluster.device.memory=0 B",
                                         "cluster.device.host_link=25 GB/s",
                                         "cluster.device.host_bandwidth=100 GB/s"};
    struct fr_job_names names = {.cluster = drawn_starts[start].cluster,
                                 .model = drawn_starts[start].model,
                                 .sets = sets};
    struct fr_error err = {0};
    names.n_sets = 4;
    for (int i = 0; i < w->n; i++) sets[names.n_sets++] = w->word[i];
    if (fr_job_load(&names, job, &err) == FR_OK) return true;
    fr_job_free(job);
    return false;
}

#endif
