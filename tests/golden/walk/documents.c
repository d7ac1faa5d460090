/* Files of every kind with something changed: refused with a place and a reason, or priced. */
#include <string.h>

#include "tests/golden/walk/walk.h"

static void read_changed(struct walk *w, const char *path, const char *to) {
    struct fr_text text = {0}, changed = {0};
    walk_read(path, &text);
    walk_change(w, &text, &changed);
    walk_write(to, &changed);
    fr_text_free(&text);
    fr_text_free(&changed);
}

static const char *some_file(struct walk *w) {
    const char *path = w->files[walk_below(w, w->n_files)];
    const char *slash = strrchr(path, '/');
    printf("%s: ", slash ? slash + 1 : path);
    return path;
}

static void run(struct walk *w, const char *commands, struct line *line) {
    char words[512];
    line->n = 0;
    line_add_all(line, walk_word(w, commands, words, sizeof words));
    line_run(line);
}

static const char of_clusters[] =
    "predict --cluster c.json --model gpt-2 --set tp=2 --set pp=2 --set dp=4 --set "
    "global_batch=16 --json|"
    "predict --cluster c.json --model llama-3-8b --set model.dtype=bf16 --set tp=4 --set dp=4 "
    "--set zero=1 "
    "--set attention=flash --set global_batch=16 --json|"
    "predict --cluster c.json --model ffn-4096 --set tp=8 --set dp=2 --json|"
    "predict --cluster c.json --model ffn-4096 --set tp=4 --set method=phantom --set ghost=8|"
    "predict --cluster c.json --model alexnet --set tp=2 --set dp=4 --set method=grid --set "
    "global_batch=64|"
    "predict --cluster c.json --model mixtral-8x7b --set model.dtype=bf16 --set dp=16 --set "
    "ep=8 --set zero=1 "
    "--set global_batch=16 --explain|"
    "predict --cluster c.json --model t5-large-mod --set tp=4 --set dp=2 --set method=subgraph "
    "--set global_batch=8|"
    "predict --cluster c.json --model gpt-2 --set pp=4 --set global_batch=16 --set clock=slack "
    "--set "
    "compression.backward.scope=all --json|"
    "simulate --cluster c.json --model gpt-2 --set pp=4 --set dp=2 --set global_batch=16 "
    "--network shared|"
    "simulate --cluster c.json --model ffn-4096 --set tp=8 --network shared --collectives "
    "messages|"
    "collective --cluster c.json --op all_reduce --ranks 16 --size 8..16MiB*128|"
    "collective --cluster c.json --op all_gather --ranks 8 --size 100,1MB,1GB --json|"
    "collective --cluster c.json --op reduce_scatter --ranks 6 --size 64KiB --algorithm all|"
    "collective --cluster c.json --op all_to_all --ranks 32 --stride 2 --size 1KiB,1MiB|"
    "collective --cluster c.json --op send_recv --ranks 2 --groups 4 --size 8..16MiB*64|"
    "collective --cluster c.json --op broadcast --ranks 24 --size 8..16MiB*64|"
    "gemm --cluster c.json --m 4096 --n 1024 --k 768 --dtype fp32 --json|"
    "gemm --cluster c.json --m 100 --n 7 --k 4096 --dtype bf16|"
    "gemm --cluster c.json --m 513 --n 129 --k 65 --dtype fp16 --batch 8|"
    "search --cluster c.json --model gpt-2 --ranks 8 --vary tp=1,2 --vary pp=1,2 --set "
    "global_batch=16|"
    "place --cluster c.json --ranks 16 --ways 4|"
    "export simgrid --cluster c.json --ranks 8";

void walk_clusters(struct walk *w) {
    struct line line;
    for (int i = 0; i < w->count; i++) {
        read_changed(w, some_file(w), "c.json");
        run(w, of_clusters, &line);
        if (walk_chance(w, 0.5)) run(w, of_clusters, &line);
    }
}

/* A model of each kind is asked this; the first row counts whose words stand in its file. */
static const struct {
    const char *words, *commands;
} of_models[] = {
    {"\"kind\": \"ffn\"",
     "predict --cluster frontier --model m.json --set tp=4 --json|"
     "predict --cluster frontier --model m.json --set tp=4 --set dp=2 --set method=phantom "
     "--set ghost=4 --json|"
     "predict --cluster dgx-a100 --model m.json --set model.dtype=bf16 --set tp=2 --set dp=4 "
     "--set method=grid|"
     "predict --cluster frontier --model m.json --set tp=2 --set pp=2 --set micro_batch=1 "
     "--set global_batch=8 --json|"
     "simulate --cluster frontier --model m.json --set tp=2 --set dp=2 --set global_batch=8 "
     "--network shared|"
     "search --cluster frontier --model m.json --ranks 4,8 --vary method=tensor,phantom --vary "
     "ghost=2,4 --explain"},
    {"\"kind\": \"cnn\"",
     "predict --cluster cori-knl --model m.json --set tp=2 --set dp=4 --set "
     "method=grid --set global_batch=64 --json|"
     "predict --cluster cori-knl --model m.json --set dp=8 --set method=grid --set "
     "global_batch=64 --json|"
     "predict --cluster cori-knl --model m.json --set dp=8 --set method=grid --set "
     "layer_tp=best|"
     "predict --cluster frontier --model m.json --set pp=2 --set global_batch=16 "
     "--set micro_batch=4 --json|"
     "simulate --cluster cori-knl --model m.json --set method=grid --set tp=2 --set "
     "dp=2 --set global_batch=64|"
     "search --cluster cori-knl --model m.json --ranks 8 --vary method=grid --vary "
     "tp=1..8*2 --top 0 --json"},
    {"\"kind\": \"mlp\"",
     "predict --cluster cori-knl --model m.json --set tp=2 --set dp=2 --set method=grid --json|"
     "predict --cluster frontier --model m.json --set tp=4 --json|"
     "predict --cluster frontier --model m.json --set tp=2 --set method=phantom --set ghost=4"},
    {"\"kind\": \"branches\"",
     "predict --cluster lassen --model m.json --set tp=4 --set method=subgraph "
     "--set global_batch=16 --json|"
     "predict --cluster lassen --model m.json --set tp=2 --set dp=2 --set "
     "method=subgraph --set global_batch=16 --set "
     "common=subgrid --json|"
     "predict --cluster lassen --model m.json --set dp=4 --set global_batch=16|"
     "simulate --cluster lassen --model m.json --set tp=4 --set "
     "method=subgraph --set global_batch=16 --json|"
     "search --cluster lassen --model m.json --ranks 4,8 --vary "
     "method=subgraph --vary tp=2,4 --set global_batch=16"},
    {"\"kind\": \"stages\"",
     "predict --cluster frontier --model m.json --set pp=4 --set global_batch=16 --json|"
     "simulate --cluster frontier --model m.json --set pp=4 --set global_batch=8 --json"},
    {"", "predict --cluster dgx-h200 --model m.json --set model.dtype=bf16 --set tp=8 --set "
         "global_batch=16 --json|"
         "predict --cluster dgx-h100 --model m.json --set global_batch=16 --set dp=2 --set "
         "model.dtype=bf16 --json|"
         "predict --cluster dgx-a100 --model m.json --set model.dtype=bf16 --set tp=2 --set "
         "dp=2 --set "
         "global_batch=16 --json|"
         "predict --cluster dgx-a100 --model m.json --set model.dtype=bf16 --set tp=2 --set "
         "pp=2 --set "
         "global_batch=16 --set zero=1 --json|"
         "predict --cluster lassen --model m.json --set tp=4 --set method=subgraph --set "
         "global_batch=16 --json|"
         "predict --cluster a100-hdr --model m.json --set tp=4 --set method=grid --set "
         "global_batch=16|"
         "predict --cluster a100-hdr --model m.json --set tp=2 --set method=phantom --set "
         "ghost=4 --set global_batch=16|"
         "simulate --cluster a100-hdr --model m.json --set pp=2 --set global_batch=8 --json|"
         "search --cluster dgx-h100 --model m.json --ranks 8 --vary tp=1..8*2 --set "
         "global_batch=16|"
         "predict --cluster dgx-h100 --model m.json --defaults modern --set cp=2 --set "
         "global_batch=16 --json|"
         "predict --cluster dgx-h100 --model m.json --set ep=2 --set dp=4 --set "
         "global_batch=16 --explain"},
};

static void run_model(struct walk *w, const char *text, struct line *line) {
    int k = 0;
    while (!strstr(text, of_models[k].words)) k++; /* the last one stands in all */
    run(w, of_models[k].commands, line);
}

void walk_models(struct walk *w) {
    struct line line;
    for (int i = 0; i < w->count; i++) {
        struct fr_text text = {0};
        read_changed(w, some_file(w), "m.json");
        walk_read("m.json", &text);
        run_model(w, fr_text_get(&text), &line);
        if (walk_chance(w, 0.5)) run_model(w, fr_text_get(&text), &line);
        fr_text_free(&text);
    }
}

/* Every member of every file left out and changed in every way. */
void walk_members(struct walk *w) {
    struct line line;
    int first = (int)(w->state % (uint64_t)w->count); /* a seed's share of COUNT */
    for (int i = 0; i < w->n_files; i++) {
        struct fr_text text = {0};
        walk_read(w->files[i], &text);
        bool cluster = strstr(fr_text_get(&text), "\"levels\"") != NULL;
        int places = walk_places(&text);
        for (int k = first; k < WALK_WAYS * places; k += w->count) {
            struct fr_text changed = {0};
            if (walk_change_at(w, &text, k / WALK_WAYS, k % WALK_WAYS, &changed)) {
                printf("%d %d: ", k / WALK_WAYS, k % WALK_WAYS);
                walk_write(cluster ? "c.json" : "m.json", &changed);
                if (cluster)
                    run(w, of_clusters, &line);
                else
                    run_model(w, fr_text_get(&changed), &line);
            }
            fr_text_free(&changed);
        }
        fr_text_free(&text);
    }
}

/* Plans as users write them; a bar parts the model that each is of. */
static const struct {
    const char *command, *plan;
} plans[] = {
    {"predict --cluster a100-hdr --model gpt-2.5b --plan p.json --json",
     "{\"method\": \"tensor\", \"tp\": 4, \"pp\": 4, \"dp\": 2, \"global_batch\": 64, "
     "\"micro_batch\": 2, "
     "\"schedule\": \"interleaved\", \"chunks\": 2, \"stage_layers\": [13, 13, 13, 13], "
     "\"recompute\": \"full\", "
     "\"compression\": {\"backward\": {\"scope\": \"epilogue\", \"rank\": 16}, \"gradient\": "
     "{\"stages\": 2, "
     "\"rank\": 64}, \"embedding\": \"fused\", \"codec\": \"powersgd\"}}"},
    {"predict --cluster dgx-h100 --model llama-3-8b --plan p.json --json",
     "{\"tp\": 2, \"pp\": 2, \"dp\": 4, \"cp\": 2, \"context\": \"all-to-all\", \"zero\": 1, "
     "\"zero_ranks\": 2, "
     "\"attention\": \"flash\", \"sequence_parallel\": true, \"overlap_tp\": true, "
     "\"overlap\": \"gradient\", "
     "\"bucket\": \"25 MB\", \"global_batch\": 32, \"clock\": [\"1.98 GHz\", \"1.4 GHz\"]}"},
    {"predict --cluster cori-knl --model alexnet --plan p.json",
     "{\"method\": \"grid\", \"tp\": 2, \"dp\": 8, \"layer_tp\": [1, 1, 2, 2, 2, 4, 4, 2], "
     "\"global_batch\": 64}"},
    {"predict --cluster lassen --model transformer-base --plan p.json --json",
     "{\"method\": \"subgraph\", \"tp\": 4, \"dp\": 2, \"branches\": \"attention\", "
     "\"common\": \"subgrid\", "
     "\"global_batch\": 16, \"placement\": [0, 1, 2, 3, 7, 6, 5, 4]}"},
    {"predict --cluster dgx-h100 --model mixtral-8x7b --plan p.json --explain",
     "{\"dp\": 8, \"ep\": 4, \"tp\": 2, \"etp\": 2, \"zero\": 1, \"overlap_experts\": true, "
     "\"global_batch\": 16}"},
    {"simulate --cluster frontier --model ffn-4096 --plan p.json --json",
     "{\"tp\": 2, \"pp\": 3, \"global_batch\": 6, \"micro_batch\": 2, \"schedule\": {\"name\": "
     "\"own\", \"stages\": "
     "[\"F0 F1 F2 B0 B1 B2\", \"F0 F1 B0 F2 B1 B2\", \"F0 B0 F1 B1 F2 B2\"]}}"},
    {"simulate --cluster frontier --model ffn-4096 --plan p.json",
     "{\"tp\": 2, \"pp\": 2, \"global_batch\": 4, \"micro_batch\": 2, \"schedule\": {\"name\": "
     "\"chunked\", "
     "\"stages\": [\"F0.0 F0.1 F1.0 F1.1 B0.1 B0.0 B1.1 B1.0\", \"F0.0 F0.1 F1.0 F1.1 B0.1 "
     "B0.0 B1.1 B1.0\"]}}"},
    {"predict --cluster frontier --model ffn-16384 --plan p.json --json",
     "{\"method\": \"phantom\", \"tp\": 8, \"ghost\": 16, \"dp\": 2, \"iterations\": 150, "
     "\"power_cap\": \"300 W\"}"},
};

void walk_plan_files(struct walk *w) {
    struct line line;
    for (int i = 0; i < w->count; i++) {
        int k = walk_below(w, (int)(sizeof plans / sizeof *plans));
        struct fr_text text = {0}, changed = {0};
        fr_text_add(&text, plans[k].plan, strlen(plans[k].plan));
        walk_change(w, &text, &changed);
        walk_write("p.json", &changed);
        printf("%s\n", fr_text_get(&changed));
        line.n = 0;
        line_add_all(&line, plans[k].command);
        line_run(&line);
        fr_text_free(&text);
        fr_text_free(&changed);
    }
}

/* ---- what single operations cost ------------------------------------------------------------------ */

static void collective(struct walk *w, struct line *line) {
    char word[64];
    line_add(line, "--op");
    line_add(line, walk_word(w,
                             "broadcast|reduce|all_reduce|all_gather|reduce_scatter|all_to_all|"
                             "send_recv|scatter|gather",
                             word, sizeof word));
    line_add(line, "--ranks");
    line_add(line, walk_word(w, "2|3|4|6|8|12|16|32|48|64|128|100", word, sizeof word));
    line_add(line, "--size");
    line_add(line,
             walk_word(w, "8..64MiB*256|1000,33333,5000000|1KiB,1MiB|17", word, sizeof word));
    if (walk_chance(w, 0.2)) line_set(line, "--set", "cluster.levels.1.shared_by", "2");
    if (walk_chance(w, 0.3))
        line_add_all(line, walk_chance(w, 0.5) ? "--stride 4" : "--groups 2");
    if (walk_chance(w, 0.5)) line_add_all(line, "--algorithm all");
    line_add(line, walk_word(w, "--json|--csv", word, sizeof word));
}

static void product(struct walk *w, struct line *line) {
    char word[64];
    static const char *const of[] = {"--m", "--n", "--k"};
    for (int i = 0; i < 3; i++) {
        snprintf(word, sizeof word, "%.0f", walk_between(w, 1, 20000));
        line_add(line, of[i]);
        line_add(line, word);
    }
    line_add(line, "--dtype");
    line_add(line, walk_word(w, "fp64|fp32|tf32|bf16|fp16|fp8", word, sizeof word));
    if (walk_chance(w, 0.2)) line_add_all(line, "--batch 16");
    line_add(line, "--json");
}

void walk_costs(struct walk *w) {
    char cluster[256];
    struct line line;
    for (int i = 0; i < w->count; i++) {
        bool own = w->n_files > 0 && walk_chance(w, 0.6);
        bool products = walk_chance(w, 0.4);
        walk_word(w,
                  "a100-hdr|a100-opa|a40|cori-knl|dgx-a100|dgx-b200|dgx-h100|dgx-v100|frontier|"
                  "gb200-nvl72|"
                  "gh200|lassen|mi300x|tpu-v5p|tpu-trillium|mi355x",
                  cluster, sizeof cluster);
        if (own) snprintf(cluster, sizeof cluster, "%s", w->files[walk_below(w, w->n_files)]);
        line.n = 0;
        line_add(&line, products ? "gemm" : "collective");
        line_add(&line, "--cluster");
        line_add(&line, cluster);
        if (products)
            product(w, &line);
        else
            collective(w, &line);
        line_run(&line);
    }
}
