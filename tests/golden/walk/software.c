/* Jobs under a named software: its facts and the plan's keys set at random, its file with something changed, and
 * tokens generated. */
#include <string.h>

#include "models/job/fact.h"
#include "tests/golden/walk/walk.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const char runtimes[] =
    "megatron-bridge-26.06|megatron-bridge-26.04|megatron-bridge-26.02|megatron-bridge-25.11|"
    "megatron-bridge-25.09|nemo-25.04|nemo-24.03|openmpi-openblas|primus-2026|pytorch-2.11|"
    "pytorch-compiled-2.11|maxtext-2025|synapse-2025|torchtitan-2025|vllm-2025|deepspeed-2023|"
    "fsdp-mpt-2023|internevo-2023|megatron-lm-2022|megatron-2021|megatron-2020|oneflow-2021|"
    "papers-2019";

/* Clusters, models and settings that most plans can run with. */
static const char *const jobs[] = {
    "--cluster dgx-h100|dgx-a100|dgx-b200 --model llama-3-8b --set global_batch=16",
    "--cluster dgx-b200|gb200-nvl72|gb300-nvl72 --model llama-3-70b --set global_batch=32 "
    "--set pp=4 --set tp=2",
    "--cluster dgx-h100|gb200-nvl72|mi355x --model mixtral-8x7b --set global_batch=16 --set "
    "dp=8 --set ep=8",
    "--cluster dgx-b200|gb200-nvl72 --model deepseek-v3 --set model.layers=8 --set "
    "global_batch=32 --set dp=8 --set ep=8 --set pp=2",
    "--cluster gb300-nvl72|dgx-h100 --model qwen3-30b-a3b --set global_batch=16 --set dp=4 "
    "--set ep=4",
    "--cluster dgx-h100|dgx-b300 --model nemotron-h-8b --set global_batch=16 --set tp=2 --set "
    "dp=2",
    "--cluster dgx-h100|gb200-nvl72 --model nemotron-3-nano --set global_batch=16 --set dp=4 "
    "--set ep=4",
    "--cluster dgx-h100|mi300x --model llama-2-70b --set model.lora_rank=16 --set "
    "global_batch=16 --set tp=4",
    "--cluster a100-hdr|dgx-a100 --model gpt-2.5b --set global_batch=16 --set dp=4",
    "--cluster dgx-h100|a40|lassen --model gpt-2 --set global_batch=16 --set dp=2",
    "--cluster dgx-h100|a100-hdr --model gpt-2 --set global_batch=8 --set tp=4 --set "
    "method=phantom --set ghost=16",
    "--cluster dgx-a100|lassen --model t5-large-mod --set global_batch=8 --set tp=2 --set "
    "method=subgraph",
    "--cluster frontier|dgx-a100 --model ffn-4096 --set global_batch=64 --set tp=4",
    "--cluster cori-knl|dgx-a100 --model alexnet --set global_batch=64 --set dp=4",
};

static const char *const keys[] = {
    "tp=2|4|8",
    "dp=2|4|8",
    "pp=2|4",
    "cp=2|4",
    "ep=2|4|8",
    "etp=1|2",
    "context=ring|all-to-all",
    "rank_order=tp-pp-dp|tp-dp-pp",
    "schedule=1f1b|gpipe|interleaved|zero-bubble|zero-bubble-v|dualpipe-v",
    "chunks=2|4",
    "stage_layers=equal|best",
    "sequence_parallel=true|false",
    "overlap_tp=true|false",
    "attention=plain|flash|flash-2|flash-1",
    "zero=0|1|2|3",
    "zero_ranks=0|2|4",
    "runtime.zero_ranks=node|2",
    "runtime.stage_layers=lighter|equal",
    "runtime.dispatch_ranks=domain|2",
    "runtime.bucket=max(40e6, 1e6 dp cp)|min(1e9, 1e8 dp)",
    "zero_exchange=gather|broadcast",
    "reshard_after_forward=true|false",
    "gradient_sync=micro_batch|iteration",
    "overlap=none|gradient",
    "bucket=1 MB|100 MB|1 GB",
    "dispatch_ranks=domain|0|1|2|4",
    "overlap_experts=true|false",
    ("recompute=none|selective|full|save_qkv|save_qkv_out|selective_op|core_attn|moe_act|"
     "layernorm|mla_up_proj|mlp|moe|shared_experts|core_attn+layernorm|mlp+moe_act"),
    "recompute_layers=1|2|5",
    "offload=none|activations|optimizer|all",
    "offload_layers=1|3",
    "graphs=none|layers|iteration",
    "accumulation=fused|apart",
    "loss=fused|native|unfused|compiled|eager-16|eager|parallel-compiled|parallel|chunked",
    "launches=ahead|blocking",
    "micro_batch=1|2|4",
    "pass=both|forward",
    "ghost=4|32",
    "phantom_parts=mlp|attention|all",
    "model.dtype=fp32|bf16|fp16|fp8|fp4",
    "model.sequence=512|4096|16384",
    "model.gradient_dtype=fp32|bf16",
    "model.fp8_scaling=tensor|block",
    "model.attention_dtype=fp8|bf16",
    "model.logits_dtype=fp8|bf16",
    "model.weight_dtype=fp8|bf16|fp32",
    "model.document=250|2000",
    "model.window=128|1000",
    "model.window_layers=2|5",
    "model.optimizer=adam|sgd|momentum",
    "model.lora_rank=8",
    "model.lora_on=attention|mlp|all",
    "model.capacity=1|1.5",
    "model.imbalance=1.2|2",
    "model.balance=even|loss|none",
    "model.predicted_tokens=1|2",
    "model.shared_ffn=1024|4096",
    "model.dense_layers=1|3",
    "model.tied_embedding=true|false",
    "model.norm=layer|rms",
    "model.gated=true|false",
    "model.biases=true|false",
    "model.qk_norms=true|false",
    "model.dropout=true|false",
    "model.positions=learned|rotary|none",
};

/* A row "KEY=VALUE|VALUE" with one of its values. */
static void set_one(struct walk *w, const char *row, struct line *line) {
    char key[64], value[256];
    const char *values = strchr(row, '=') + 1;
    snprintf(key, sizeof key, "%.*s", (int)(values - 1 - row), row);
    line_set(line, "--set", key, walk_word(w, values, value, sizeof value));
}

/* A fact of the table that is a number, within its bounds and mostly near what is usual of such. */
static void set_fact(struct walk *w, struct line *line) {
    const struct fr_fact_row *row = &fr_facts[walk_below(w, fr_fact_count)];
    char key[96], value[32];
    bool whole = row->least == 0 && row->most >= 1 && row->most <= 1000;
    double low = row->least > 0 ? row->least : 1e-6, high = row->most < 1e12 ? row->most : 1e10;
    if (row->kind == FR_FACT_PLAN || row->word || row->is_quantity) return;
    if (row->most <= 1 && low < 0.05) low = 0.05;
    snprintf(value, sizeof value, "%.4g",
             whole ? (double)walk_below(w, row->most > 5 ? 6 : (int)row->most + 1)
                   : walk_between(w, low, high));
    snprintf(key, sizeof key, "runtime.%s", row->key);
    line_set(line, "--set", key, value);
}

/* "--cluster A|B" has one of its words. */
static void begin(struct walk *w, const char *verb, struct line *line) {
    char word[64];
    const char *job = jobs[walk_below(w, COUNT(jobs))];
    line->n = 0;
    line_add(line, verb);
    while (*job) {
        char words[LINE_WORD_B];
        size_t n = strcspn(job, " ");
        snprintf(words, sizeof words, "%.*s", (int)n, job);
        line_add(line, walk_word(w, words, word, sizeof word));
        job += n + (job[n] == ' ');
    }
}

void walk_software(struct walk *w) {
    static const char ends[] = "--json|--json|--json|--json|--explain|--engine event --json|"
                               "--undisturbed --json|--all";
    struct line line;
    char word[64];
    for (int i = 0; i < w->count; i++) {
        begin(w, "predict", &line);
        if (walk_chance(w, 0.8)) {
            line_add(&line, "--runtime");
            line_add(&line, walk_word(w, runtimes, word, sizeof word));
        }
        for (int n = walk_below(w, 5); n > 0; n--)
            set_one(w, keys[walk_below(w, COUNT(keys))], &line);
        for (int n = walk_below(w, 3); n > 0; n--) set_fact(w, &line);
        line_add_all(&line, walk_word(w, ends, word, sizeof word));
        line_run(&line);
    }
}

/* ---- architectures ------------------------------------------------------------------------------ */

/* Methods with what they need and what else they read; a bar parts what may be set. */
static const struct {
    const char *method, *rows[6];
} methods[] = {
    {"tensor",
     {"placement=linear|round-robin|by-axis:dp-tp-pp", "compression.codec=powersgd|topk",
      "compression.gradient.stages=1|2", "compression.backward.scope=epilogue|all"}},
    {"grid", {"layer_tp=[1,2,4]|[2,4,8]|[4,2,1]|[2,2,4]|[4,4,2]|best", "divide=rows|pairs"}},
    {"phantom", {"ghost=4|16", "phantom_parts=mlp|attention|all"}},
    {"subgraph",
     {"branches=heads|attention|layer", "common=all|subgrid",
      "exchange=all_to_all|all_gather"}},
};

static void set_method(struct walk *w, struct line *line) {
    int k = walk_chance(w, 0.4) ? 0 : 1 + walk_below(w, COUNT(methods) - 1);
    line_set(line, "--set", "method", methods[k].method);
    for (int i = 0; i < 6 && methods[k].rows[i]; i++)
        if (walk_chance(w, k == 0 ? 0.1 : i == 0 ? 0.8 : 0.4))
            set_one(w, methods[k].rows[i], line);
}

/* One of the files of a list "{..., "config": {...}}", a line each, as m.json. */
static void some_config(struct walk *w, const struct fr_text *list) {
    struct fr_text config = {0};
    const char *line = fr_text_get(list) + walk_below(w, (int)list->length - 1);
    while (line > fr_text_get(list) && line[-1] != '\n') line--;
    const char *at = strstr(line, "\"config\":") + 9;
    fr_text_add(&config, at, strcspn(at, "\n") - 1);
    printf("%.60s ", line);
    walk_write("m.json", &config);
    fr_text_free(&config);
}

void walk_architectures(struct walk *w) {
    static const char clusters[] =
        "dgx-h100|dgx-a100|dgx-b200|a100-hdr|gb200-nvl72|mi300x|lassen",
                      mesh[] = "tp=1|2|2|4", replicas[] = "dp=1|2|4", stages[] = "pp=1|1|2|4",
                      ends[] = "--json|--json|--json|--explain|--engine event --json|--json "
                               "--defaults 2019";
    struct fr_text list = {0};
    struct line line;
    char word[64];
    walk_read(w->files[0], &list);
    for (int i = 0; i < w->count; i++) {
        some_config(w, &list);
        line.n = 0;
        line_add_all(&line, "predict --model m.json --set global_batch=16 --set "
                            "cluster.device.memory=10TB --cluster");
        line_add(&line, walk_word(w, clusters, word, sizeof word));
        set_one(w, mesh, &line), set_one(w, replicas, &line), set_one(w, stages, &line);
        set_method(w, &line);
        for (int n = walk_below(w, 3); n > 0; n--) {
            const char *row =
                keys[6 + walk_below(w, COUNT(keys) - 6)]; /* few of a file's own */
            if (strncmp(row, "model.", 6) != 0 || walk_chance(w, 0.2)) set_one(w, row, &line);
        }
        line_add_all(&line, walk_word(w, ends, word, sizeof word));
        line_run(&line);
    }
    fr_text_free(&list);
}

/* A runtime's file with something changed, under one of the jobs. */
void walk_runtimes(struct walk *w) {
    struct line line;
    for (int i = 0; i < w->count; i++) {
        const char *path = w->files[walk_below(w, w->n_files)], *slash = strrchr(path, '/');
        struct fr_text text = {0}, changed = {0};
        walk_read(path, &text);
        walk_change(w, &text, &changed);
        walk_write("r.json", &changed);
        printf("%s: ", slash ? slash + 1 : path);
        begin(w, "predict", &line);
        line_add_all(&line, walk_chance(w, 0.8) ? "--runtime r.json --json"
                                                : "--runtime r.json --explain");
        line_run(&line);
        fr_text_free(&text);
        fr_text_free(&changed);
    }
}

void walk_generations(struct walk *w) {
    static const char models[] =
        "llama-3-8b|llama-2-70b|mixtral-8x7b|deepseek-v2|deepseek-v3|qwen3-32b|qwen3-30b-a3b|"
        "nemotron-3-nano|nemotron-h-8b|gpt-2.5b|grok-1|nemotron-4-15b|t5-large-mod";
    static const char clusters[] = "dgx-h100|dgx-a100|dgx-b200|gb200-nvl72|mi300x|dgx-h200|a40";
    static const char *const sets[] = {"tp=2|4|8|8",
                                       "pp=2|4",
                                       "dp=2",
                                       "ep=2|8",
                                       "model.dtype=bf16|fp8|fp32",
                                       "model.layers=8|16",
                                       "model.window=128|4096",
                                       "model.kv_heads=1|2|8",
                                       "graphs=none|layers|iteration",
                                       "attention=flash|plain|flash-2",
                                       "sequence_parallel=true|false",
                                       "launches=ahead|blocking",
                                       "cluster.device.memory_bandwidth=1 TB/s|5 TB/s"};
    struct line line;
    char word[64];
    for (int i = 0; i < w->count; i++) {
        line.n = 0;
        line_add_all(&line, "generate --cluster");
        line_add(&line, walk_word(w, clusters, word, sizeof word));
        line_add(&line, "--model");
        line_add(&line, walk_word(w, models, word, sizeof word));
        for (int n = walk_below(w, 4); n > 0; n--)
            set_one(w, sets[walk_below(w, COUNT(sets))], &line);
        if (walk_chance(w, 0.3)) {
            line_add(&line, "--runtime");
            line_add(&line, walk_word(w, runtimes, word, sizeof word));
        }
        if (walk_chance(w, 0.3)) set_fact(w, &line);
        line_add(&line, "--batch");
        line_add(&line, walk_word(w, "1|1|4|32|100|513", word, sizeof word));
        line_add(&line, "--prompt");
        line_add(&line, walk_word(w, "1|100|1024|2000|30000", word, sizeof word));
        line_add(&line, "--tokens");
        line_add(&line, walk_word(w, "2|3|100|256|4000", word, sizeof word));
        if (walk_chance(w, 0.8)) line_add(&line, "--json");
        line_run(&line);
    }
}
