/* A walk through plans: a key at a time is set, changed or taken back, and every plan on the way is priced. A refused
 * setting says why, and is mostly taken back. */
#include <string.h>

#include "models/plan/key.h"
#include "tests/golden/walk/walk.h"

/* Key: mostly left out of plans of other models: t transformers, e experts, l layers, s branches. */
struct choice {
    const char *key, *values; /* a bar parts values */
    const char *of;
};

static const struct choice of_plan[] = {
    {"method", "tensor|phantom|grid|subgraph", "ls"},
    {"tp", "1|2|4|8|3", ""},
    {"dp", "1|2|4|8|6", ""},
    {"pp", "1|2|4|8|3", ""},
    {"pass", "both|forward", ""},
    {"cp", "1|2|4", "t"},
    {"context", "ring|all-to-all", "t"},
    {"ep", "1|2|4|8|3", "e"},
    {"etp", "1|2|4", "e"},
    {"ghost", "1|4|8|16|100000", "l"},
    {"phantom_parts", "mlp|attention|all", "t"},
    {"branches", "heads|attention|layer", "s"},
    {"common", "all|subgrid", "s"},
    {"exchange", "all_to_all|all_gather", "s"},
    {"divide", "rows|pairs", "l"},
    {"domain", "0|1|2|5|6", "l"},
    {"placement",
     "linear|round-robin|by-axis:dp-tp-pp|by-axis:pp|by-axis:tp-pp-dp|[1,0,3,2]|[0,1]", ""},
    {"rank_order", "tp-pp-dp|tp-dp-pp", ""},
    {"schedule", "1f1b|gpipe|interleaved|zero-bubble|1f1b-double|zero-bubble-v|dualpipe-v", ""},
    {"chunks", "1|2|3|4", ""},
    {"p2p", "async|duplex", ""},
    {"compression.backward.scope", "none|epilogue|all", ""},
    {"compression.backward.rank", "1|8|64|4096", ""},
    {"compression.backward.lazy_error", "true|false", ""},
    {"compression.forward.rank", "0|8|64", ""},
    {"compression.embedding", "separate|fused", ""},
    {"compression.gradient.stages", "0|1|2|4", ""},
    {"compression.gradient.rank", "1|32|256|5000", ""},
    {"compression.gradient.ranks", "one|best|[64]|[0,16]|[32,8,0,64]", ""},
    {"compression.codec", "powersgd|topk", ""},
    {"compression.warm_up", "0|100", ""},
    {"stage_layers", "equal|best|[1,3]|[1,1,1,1]|[2,1,1]|[7,6,6,5]|[10,14]|[13,13]", ""},
    {"sequence_parallel", "true|false", "t"},
    {"overlap_tp", "true|false", "t"},
    {"attention", "plain|flash|flash-2|flash-1", "t"},
    {"zero", "0|1|2|3", "t"},
    {"zero_ranks", "0|2|4|3", "t"},
    {"overlap", "none|gradient", ""},
    {"bucket", "1 MB|25 MiB|1 GB|100 B", ""},
    {"overlap_experts", "true|false", "e"},
    {"dispatch_ranks", "0|1|2|4|3", "e"},
    {"recompute", "none|selective|full|save_qkv|save_qkv_out", ""},
    {"offload", "none|activations|optimizer|all", "t"},
    {"offload_layers", "0|1|4|40", "t"},
    {"graphs", "none|layers|iteration", "t"},
    {"accumulation", "fused|apart", "t"},
    {"loss", "fused|native|unfused|compiled|eager|parallel|chunked", "t"},
    {"launches", "ahead|blocking", "t"},
    {"global_batch", "8|16|32|64|96|7", ""},
    {"micro_batch", "1|2|4|8|3", ""},
    {"clock", "1.2 GHz|1.41 GHz|[\"1.41 GHz\",\"1.2 GHz\"]", ""},
    {"power_cap", "300 W|400 W|[\"400 W\",\"300 W\"]|50 W", ""},
    {"iterations", "100|12345", ""},
    {"layer_tp", "best|[1,2,4]|[2,2,2]|[1,1,2,2,4,4,4,2]|[4,2]", "l"},
};

static const struct choice of_others[] = {
    {"model.layers", "4|8|12|24|7", "t"},
    {"model.sequence", "512|2048|4096|100", "t"},
    {"model.dtype", "fp32|bf16|fp16|fp8|tf32", "t"},
    {"model.hidden", "1024|2048|4096|1000", "x"},
    {"model.vocabulary", "32000|50257|1000", "t"},
    {"model.heads", "8|16|32", "x"},
    {"model.experts", "1|4|8", "t"},
    {"model.capacity", "1|1.25|2", "e"},
    {"model.imbalance", "1|1.3|2", "e"},
    {"model.lora_rank", "4|16", "t"},
    {"model.lora_on", "attention|mlp|all", "t"},
    {"model.predicted_tokens", "1|2", "t"},
    {"model.window", "128|700", "t"},
    {"model.document", "256|1000", "t"},
    {"model.optimizer", "adam|sgd|momentum", ""},
    {"model.gradient_dtype", "fp32|bf16", "t"},
    {"cluster.device.launch", "0 s|20 us", ""},
    {"cluster.device.fixed", "0 s|30 ms", ""},
    {"cluster.device.memory", "16 GB|1 TB|200 GB", ""},
    {"cluster.device.memory_bandwidth", "1 TB/s|5 TB/s", ""},
    {"cluster.levels.0.ranks", "2|4|16", ""},
    {"cluster.levels.0.bandwidth", "50 GB/s|900 GB/s", ""},
    {"cluster.levels.1.bandwidth", "5 GB/s|100 GB/s", ""},
    {"cluster.levels.1.latency", "1 us|100 us", ""},
    {"cluster.levels.1.shared_by", "1|4|8", ""},
};

/* A model is mostly tried with these, so that most plans can run. */
static const struct {
    const char *name, *clusters, *keys, *of;
} models[] = {
    {"gpt-2.5b", "a100-hdr|dgx-a100|dgx-h100|a40|lassen|dgx-v100", "global_batch=32", "t"},
    {"gpt-8.3b", "a100-hdr|dgx-a100|dgx-b200|gh200|mi300x", "global_batch=32 recompute=full",
     "t"},
    {"gpt-2", "a100-opa|dgx-v100|lassen|tpu-v5p|a40", "global_batch=16", "ts"},
    {"gpt-tiny", "a100-opa|dgx-h100|cori-knl|frontier", "global_batch=16", "tls"},
    {"llama-3-8b",
     "dgx-h100|dgx-h200|in/rich/tuned-cluster.json|dgx-b200|gb200-nvl72|mi325x|tpu-trillium",
     "global_batch=32 attention=flash model.dtype=bf16", "t"},
    {"llama-2-70b", "dgx-h100|dgx-b300|gb300-nvl72|mi355x",
     "global_batch=16 attention=flash model.dtype=bf16 tp=8 pp=4", "t"},
    {"nemotron-4-15b", "dgx-h100|dgx-a100",
     "global_batch=16 tp=4 attention=flash model.dtype=bf16", "t"},
    {"mixtral-8x7b", "dgx-h100|dgx-b200|gb200-nvl72",
     "global_batch=32 attention=flash model.dtype=bf16 dp=8 ep=4", "te"},
    {"qwen3-30b-a3b", "dgx-h100|gb200-nvl72",
     "global_batch=32 attention=flash model.dtype=bf16 dp=4 ep=4", "te"},
    {"grok-1", "dgx-h100",
     "global_batch=16 attention=flash model.dtype=bf16 dp=8 ep=8 tp=4 pp=8", "te"},
    {"ffn-4096", "frontier|in/rich/cluster.json",
     "tp=2 pp=2 micro_batch=8 global_batch=64 compression.backward.scope=all", "l"},
    {"ffn-4096", "frontier|dgx-a100",
     "tp=4 dp=2 pp=2 method=phantom ghost=8 micro_batch=8 global_batch=64", "l"},
    {"t5-large-mod", "lassen",
     "method=subgraph tp=4 dp=2 global_batch=16 placement=round-robin", "s"},
    {"attention-branches", "lassen|in/rich/cluster.json",
     "method=subgraph tp=2 dp=2 pp=2 global_batch=16 compression.backward.scope=all", "s"},
    {"mixtral-8x7b", "dgx-h100|dgx-a100",
     "method=grid tp=2 dp=8 ep=4 global_batch=32 model.dtype=bf16", "tel"},
    {"gpt-2.5b", "a100-hdr|dgx-a100", "method=grid tp=2 pp=2 layer_tp=[1,2,2] global_batch=32",
     "tl"},
    {"gpt-2", "lassen|in/rich/cluster.json",
     "method=subgraph tp=2 dp=2 branches=attention global_batch=16", "ts"},
    {"gpt-2.5b", "a100-hdr|dgx-a100",
     "tp=2 pp=4 dp=2 recompute=full schedule=interleaved chunks=2 global_batch=32", "t"},
    {"gpt-8.3b", "a100-hdr|dgx-a100",
     "tp=8 pp=4 dp=2 recompute=full compression.backward.scope=epilogue "
     "compression.gradient.stages=2 global_batch=32",
     "t"},
    {"llama-3-8b", "dgx-h100|dgx-b200",
     "dp=4 cp=2 tp=2 zero=3 global_batch=32 attention=flash model.dtype=bf16", "t"},
    {"in/rich/conv.json", "cori-knl|frontier", "method=grid tp=2", "l"},
    {"mixtral-8x7b", "dgx-h100|dgx-h200",
     "dp=8 ep=4 zero=1 zero_ranks=2 global_batch=32 attention=flash", "te"},
    {"gpt-2.5b", "a100-hdr|dgx-a100",
     "method=grid tp=2 dp=4 layer_tp=[1,2,2] zero=1 zero_ranks=2 global_batch=32", "tl"},
    {"gpt-2", "lassen|a40", "method=subgraph tp=2 dp=4 zero=1 zero_ranks=2 global_batch=16",
     "ts"},
    {"in/rich/transformer.json", "in/rich/cluster.json|dgx-h100", "global_batch=32 dp=8 ep=4",
     "te"},
    {"in/rich/profile.json", "in/rich/cluster.json|a100-hdr", "global_batch=32", "t"},
    {"gpt-2", "in/rich/cluster.json", "global_batch=16", "tls"},
    {"llama-3-8b", "in/rich/cluster.json", "global_batch=16 attention=flash model.dtype=bf16",
     "t"},
    {"in/rich/ffn.json", "in/rich/cluster.json|frontier", "tp=4", "l"},
    {"in/rich/stages.json", "in/rich/cluster.json|frontier", "pp=4 global_batch=16", ""},
    {"in/rich/branches.json", "in/rich/cluster.json|lassen", "method=subgraph tp=4", "s"},
    {"in/rich/mlp.json", "in/rich/cluster.json|frontier", "tp=2", "l"},
    {"in/rich/cnn.json", "cori-knl|frontier", "method=grid tp=2", "l"},
    {"ffn-4096", "frontier|dgx-h100|cori-knl|in/rich/cluster.json", "tp=4", "l"},
    {"ffn-16384", "frontier|dgx-a100", "tp=8", "l"},
    {"alexnet", "cori-knl|frontier", "method=grid global_batch=64", "l"},
    {"attention-branches", "lassen|a100-hdr", "method=subgraph tp=4 global_batch=16", "s"},
    {"t5-large-mod", "lassen|dgx-v100", "method=subgraph tp=4 global_batch=16", "s"},
    {"transformer-base", "lassen|a40", "method=subgraph tp=4 global_batch=16", "s"},
    {"transformer-base", "dgx-a100|a40", "tp=2 pp=2 global_batch=16", "t"},
    {"deepseek-v3", "dgx-h100|dgx-b200",
     "model.layers=12 dp=8 ep=8 pp=2 global_batch=32 attention=flash", "te"},
    {"nemotron-3-nano", "dgx-h100|gb200-nvl72",
     "model.layers=24 dp=4 ep=4 global_batch=16 attention=flash", "te"},
    {"llama-3-8b", "dgx-h100|dgx-a100",
     "model.lora_rank=16 tp=2 dp=2 global_batch=16 attention=flash", "t"},
};

enum { SETS = 14 };
struct state {
    const char *model, *of;
    char cluster[32];
    int n;
    char key[SETS][64], value[SETS][64];
};

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static void put(struct state *s, const char *key, const char *value) {
    int at = 0;
    while (at < s->n && strcmp(s->key[at], key) != 0) at++;
    if (at == SETS) return;
    s->n += at == s->n;
    snprintf(s->key[at], sizeof *s->key, "%s", key);
    snprintf(s->value[at], sizeof *s->value, "%s", value);
}

static void take(struct state *s, int at) {
    s->n--;
    for (int i = at; i < s->n; i++) {
        memcpy(s->key[i], s->key[i + 1], sizeof *s->key);
        memcpy(s->value[i], s->value[i + 1], sizeof *s->value);
    }
}

static void start(struct walk *w, struct state *s) {
    int k = walk_below(w, COUNT(models));
    char words[256], *rest = words;
    *s = (struct state){.model = models[k].name, .of = models[k].of};
    walk_word(w, models[k].clusters, s->cluster, sizeof s->cluster);
    snprintf(words, sizeof words, "%s", models[k].keys);
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        put(s, word, value);
    }
}

static void put_any(struct walk *w, struct state *s) {
    bool other = walk_chance(w, 0.15);
    const struct choice *c = other ? &of_others[walk_below(w, COUNT(of_others))]
                                   : &of_plan[walk_below(w, COUNT(of_plan))];
    char value[64];
    if (c->of && *c->of && !strpbrk(s->of, c->of) && walk_chance(w, 0.9)) return;
    put(s, c->key, walk_word(w, c->values, value, sizeof value));
}

static void step(struct walk *w, struct state *s, int refused) {
    if (s->n == 0 || refused > 12 || walk_chance(w, 0.04)) {
        start(w, s);
        if (walk_chance(w, 0.7)) put(s, "pp", walk_chance(w, 0.5) ? "2" : "4");
        if (walk_chance(w, 0.5)) put(s, "dp", walk_chance(w, 0.5) ? "2" : "4");
    } else if (walk_chance(w, 0.25))
        take(s, walk_below(w, s->n));
    else
        put_any(w, s);
}

static void write(const struct state *s, const char *verb, struct line *line) {
    line->n = 0;
    line_add(line, verb);
    line_add_all(line, "--cluster");
    line_add(line, s->cluster);
    line_add(line, "--model");
    line_add(line, s->model);
    for (int i = 0; i < s->n; i++) line_set(line, "--set", s->key[i], s->value[i]);
}

/* Keys of the table that nobody walks: the next one should be given values. */
static void tell_missing(void) {
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        int k = 0;
        while (k < COUNT(of_plan) && strcmp(of_plan[k].key, fr_plan_keys[i].name) != 0) k++;
        if (k == COUNT(of_plan)) printf("no values of %s\n", fr_plan_keys[i].name);
    }
}

void walk_plans(struct walk *w) {
    struct state s = {0}, before;
    static const char *const roads = "--json|--json|--json|--json|--json|--json||--csv|--"
                                     "explain|--engine event --json|--engine event|"
                                     "--json --tokens 1G "
                                     "--price 2USD/h --mtbf 5000h --storage "
                                     "1GB/s|--undisturbed|--defaults modern --json";
    struct line line;
    char road[128];
    int refused = 0;
    tell_missing();
    for (int i = 0; i < w->count; i++) {
        before = s;
        step(w, &s, refused);
        write(&s, "predict", &line);
        line_add_all(&line, walk_word(w, roads, road, sizeof road));
        int code = line_run(&line);
        refused = code == 0 ? 0 : refused + 1;
        if (code != 0 && before.n > 0 && walk_chance(w, 0.9)) s = before;
    }
}

void walk_simulations(struct walk *w) {
    struct state s = {0}, before;
    static const char *const roads =
        "--json|--csv||--network shared --json|--network shared --trace t.csv|--trace t.csv "
        "--json|"
        "--trace t.paje|--collectives messages --json|--collectives messages --network shared "
        "--json|"
        "--collectives messages --network shared --trace t.csv|--trace t.json";
    struct line line;
    char road[128];
    int refused = 0;
    for (int i = 0; i < w->count; i++) {
        before = s;
        step(w, &s, refused);
        put(&s, "global_batch", walk_chance(w, 0.5) ? "16" : "8");
        write(&s, "simulate", &line);
        line_add_all(&line, walk_word(w, roads, road, sizeof road));
        int code = line_run(&line);
        walk_show("t.csv"), walk_show("t.paje"), walk_show("t.json");
        refused = code == 0 ? 0 : refused + 1;
        if (code != 0 && before.n > 0 && walk_chance(w, 0.9)) s = before;
    }
}

/* ---- clocks --------------------------------------------------------------------------------------- */

static const struct choice of_clocks[] = {
    {"pp", "2|3|4", ""},
    {"dp", "1|2", ""},
    {"schedule", "1f1b|gpipe|zero-bubble|interleaved|zero-bubble-v|dualpipe-v|1f1b-double", ""},
    {"chunks", "1|2|3", ""},
    {"global_batch", "4|8|12", ""},
    {"stage_layers", "equal|[2,5,3,2]|[4,1,6,1]|[7,5]|[1,10,1]", ""},
    {"compression.backward.scope", "none|epilogue|all", ""},
    {"compression.gradient.stages", "0|1|2", ""},
    {"overlap", "none|gradient", ""},
    {"recompute", "none|full", ""},
    {"pass", "both|forward", ""},
    {"cluster.device.clock.step", "15 MHz|50 MHz|111 MHz|270 MHz", ""},
};

/* Clocks that a plan leaves to be chosen: of each pass where nothing gets slower, of stages within a slowdown. */
void walk_clocks(struct walk *w) {
    for (int i = 0; i < w->count; i++) {
        static const char *const machines = "dgx-a100|dgx-a100|dgx-h100|a100-hdr";
        struct line line = {.n = 0};
        struct state s = {.model = "gpt-2", .of = ""};
        bool search = walk_chance(w, 0.3);
        char value[64];
        walk_word(w, machines, s.cluster, sizeof s.cluster);
        if (!search) put(&s, "pp", "4");
        put(&s, "micro_batch", "1");
        put(&s, "global_batch", "8");
        for (int n = 1 + walk_below(w, 4); n > 0; n--) {
            const struct choice *c = &of_clocks[walk_below(w, COUNT(of_clocks))];
            if (search && strcmp(c->key, "pp") == 0) continue;
            put(&s, c->key, walk_word(w, c->values, value, sizeof value));
        }
        if (!search) put(&s, "clock", "slack");
        write(&s, search ? "search" : "simulate", &line);
        if (search)
            line_add_all(
                &line,
                walk_chance(w, 0.5)
                    ? "--ranks 4 --vary pp=2,4 --objective energy --max-slowdown 3% --json"
                    : "--ranks 4 --vary pp=2,4 --objective energy --max-slowdown 20% --json");
        else
            line_add_all(&line, "--json --trace t.csv");
        line_run(&line);
        walk_show("t.csv");
    }
}

/* ---- comparisons --------------------------------------------------------------------------------- */

/* Some keys of a plan as JSON, quoted where they are words. */
static void write_plan(struct walk *w, struct line *line) {
    static const char *const keys[] = {"tp: 2",
                                       "tp: 4",
                                       "tp: 8",
                                       "pp: 2",
                                       "pp: 4",
                                       "zero: 1",
                                       "zero: 2",
                                       "zero: 3",
                                       "micro_batch: 2",
                                       "recompute: \"full\"",
                                       "recompute: \"selective\"",
                                       "overlap: \"gradient\"",
                                       "attention: \"plain\"",
                                       "schedule: \"gpipe\"",
                                       "schedule: \"zero-bubble\"",
                                       "rank_order: \"tp-dp-pp\"",
                                       "cp: 2",
                                       "tpp: 2"};
    char plan[256] = "{";
    bool used[COUNT(keys)] = {false};
    for (int n = walk_below(w, 4); n >= 0; n--) {
        int k = walk_below(w, COUNT(keys) - (walk_chance(w, 0.95) ? 1 : 0));
        int colon = (int)strcspn(keys[k], ":");
        for (int i = 0; i < COUNT(keys); i++)
            if (used[i] && strncmp(keys[i], keys[k], (size_t)colon + 1) == 0) colon = 0;
        if (colon == 0) continue;
        used[k] = true;
        size_t at = strlen(plan);
        snprintf(plan + at, sizeof plan - at, "%s\"%.*s\"%s", at > 1 ? "," : "", colon, keys[k],
                 keys[k] + colon);
    }
    size_t at = strlen(plan);
    snprintf(plan + at, sizeof plan - at, "}");
    line_add(line, plan);
}

void walk_comparisons(struct walk *w) {
    static const char *const on =
        "--cluster dgx-h100 --model llama-3-8b --ranks 16 --set global_batch=32|"
        "--cluster in/rich/tuned-cluster.json --model llama-3-8b --ranks 16 --set "
        "global_batch=32|"
        "--cluster in/rich/tuned-cluster.json --model mixtral-8x7b --ranks 32 --set "
        "global_batch=32|"
        "--cluster a100-hdr --model gpt-2.5b --ranks 32 --set global_batch=64|"
        "--cluster in/rich/cluster.json --model gpt-2 --ranks 16 --set global_batch=32|"
        "--cluster dgx-a100 --model mixtral-8x7b --ranks 32 --set global_batch=32 --set ep=2";
    static const char *const with = "--vary tp=1,2,4 --vary zero=0,1|--vary tp=2,4 --vary "
                                    "pp=1,2 --vary micro_batch=1,2|--vary tp=1,8 --vary "
                                    "recompute=none,full";
    struct line line;
    char word[256];
    for (int i = 0; i < w->count; i++) {
        bool search = walk_chance(w, 0.4);
        line.n = 0;
        line_add(&line, search ? "search" : "compare-plans");
        for (int n = walk_below(w, 3) + !search; n >= 0; n--) {
            if (search) line_add(&line, "--include");
            write_plan(w, &line);
        }
        line_add_all(&line, walk_word(w, on, word, sizeof word));
        if (search) line_add_all(&line, walk_word(w, with, word, sizeof word));
        if (walk_chance(w, 0.7)) line_add(&line, "--json");
        if (search && walk_chance(w, 0.3)) line_add(&line, "--explain");
        line_run(&line);
    }
}

/* ---- searches ----------------------------------------------------------------------------------- */

static void vary(struct walk *w, struct line *line, const struct state *s) {
    const struct choice *c = walk_chance(w, 0.15) ? &of_others[walk_below(w, COUNT(of_others))]
                                                  : &of_plan[walk_below(w, COUNT(of_plan))];
    char values[128], value[64], *bar;
    for (int i = 0; i < s->n; i++)
        if (strcmp(s->key[i], c->key) == 0) return;
    bool lists = strpbrk(c->values, "[\"") != NULL, some = lists || walk_chance(w, 0.3);
    snprintf(values, sizeof values, "%s", c->values);
    while ((bar = strchr(values, '|'))) *bar = ',';
    walk_word(w, c->values, value, sizeof value);
    line_set(line, walk_chance(w, lists ? 0.5 : 0.08) ? "--set" : "--vary", c->key,
             some ? value : values);
}

void walk_searches(struct walk *w) {
    static const char *const ends =
        "--json|--json --top 0|--csv --top 0|--csv --top 0|--objective energy|--objective edp "
        "--json|"
        "--per-iteration --csv --top 0|--explain|--objective total-time --json|--memory-limit "
        "40GiB|"
        "--objective energy --max-slowdown 5% --json|--max-lossy 0.5 --json|--top 3 --wide|"
        "--objective total-energy --explain --json";
    struct line line;
    char word[128];
    for (int i = 0; i < w->count; i++) {
        struct state s;
        start(w, &s);
        for (int k = s.n - 1; k >= 0; k--) /* the mesh is found */
            if (strlen(s.key[k]) == 2) take(&s, k);
        if (walk_chance(w, 0.2)) put_any(w, &s);
        write(&s, "search", &line);
        line_add(&line, "--ranks");
        line_add(&line, walk_word(w, "4|8|16|8,16|12|2..16*2", word, sizeof word));
        line_add_all(&line, "--threads 1");
        if (walk_chance(w, 0.7))
            line_set(&line, "--vary", "tp", walk_chance(w, 0.5) ? "1..8*2" : "2,4");
        bool method = false;
        for (int k = 0; k < s.n; k++) method = method || strcmp(s.key[k], "method") == 0;
        if (!method && walk_chance(w, 0.4)) {
            line_add_all(&line, "--vary ghost=2,8 --vary");
            line_add(&line, walk_chance(w, 0.5) ? "method=tensor,phantom"
                                                : "method=phantom,grid,tensor");
        }
        for (int k = walk_below(w, 4); k >= 0; k--) vary(w, &line, &s);
        line_add_all(&line, walk_word(w, ends, word, sizeof word));
        line_run(&line);
    }
}
