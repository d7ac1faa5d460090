/* Measurements of made-up machines: what they are fitted to.
 *
 * A machine draws its coefficients, which kinds of samples there are and how many, its scatter, outliers and
 * drift; now and then a line is changed (change.c).  Times follow the forms that are fitted, so that fits find
 * something, with so much beside them that they have to choose. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/golden/walk/walk.h"

struct machine {
    struct walk *w;
    struct fr_text *out;
    double scatter, outliers, drift, speed; /* relative */
    int launches, reps, nodes, per_node;
    bool probes;
};

static double noisy(const struct machine *m, double time_s, int launch) {
    double sum = 0;
    for (int i = 0; i < 4; i++) sum += walk_between(m->w, 1, M_E) - 1.7182818284590452 / 2;
    time_s *= 1 + m->scatter * fabs(sum) + m->drift * launch;
    return walk_chance(m->w, m->outliers) ? time_s * walk_between(m->w, 1.3, 20) : time_s;
}

/* All repetitions of a point whose line begins with @p head. */
static void point(const struct machine *m, const char *head, double time_s) {
    for (int launch = 0; launch < m->launches; launch++)
        for (int rep = 0; rep < m->reps; rep++) {
            if (m->probes && walk_chance(m->w, 0.3))
                fr_text_addf(
                    m->out,
                    "{\"kind\": \"probe\", \"launch\": %d, \"rep\": %d, \"product_s\": %.6g, "
                    "\"stream_s\": %.6g}\n",
                    launch, rep, noisy(m, 9e-5, launch), noisy(m, 2e-4, launch));
            fr_text_addf(m->out, "{%s, \"launch\": %d, \"rep\": %d, \"time_s\": %.6g}\n", head,
                         launch, rep, noisy(m, time_s * m->speed, launch));
        }
}

static void provenance(const struct machine *m) {
    fr_text_addf(m->out,
                 "{\"schema\": \"forerun/samples/1\", \"kind\": \"provenance\", \"date\": "
                 "\"2026-01-01\", "
                 "\"host\": \"drawn\", \"kernel\": \"\", \"cpu\": \"none\", \"cores\": 8, "
                 "\"memory_B\": 1e10, "
                 "\"mpi\": \"none\", \"blas\": \"none\", \"blas_core\": \"\", \"ranks\": %d, "
                 "\"ranks_per_node\": %d, \"nodes\": %d, \"oversubscribed\": %s, \"seed\": 1, "
                 "\"version\": \"0.1.0\"}\n",
                 m->nodes * m->per_node, m->per_node, m->nodes,
                 walk_chance(m->w, 0.2) ? "true" : "false");
}

static void collectives(const struct machine *m) {
    char head[256], op[32];
    static const char ops[] =
        "broadcast|reduce|all_reduce|all_gather|reduce_scatter|all_to_all|send_recv";
    double latency_s = walk_between(m->w, 5e-7, 5e-5), rate = walk_between(m->w, 1e8, 1e11);
    double kink_B = walk_between(m->w, 1e3, 1e6), kink = walk_between(m->w, 0.3, 3);
    bool extra = walk_chance(m->w, 0.3), segmented = walk_chance(m->w, 0.3);
    walk_word(m->w, ops, op, sizeof op);
    for (int p = 2; p <= m->nodes * m->per_node; p += p < 4 && extra ? 1 : p) {
        bool inside = p <= m->per_node;
        int nodes = inside ? 1 : (p + m->per_node - 1) / m->per_node;
        if (strcmp(op, "send_recv") == 0 && p > 2 && p != m->per_node * 2) continue;
        for (double size_B = 8; size_B < 2e7; size_B *= extra ? 8 : 32) {
            double time_s = latency_s * log2(p) * (inside ? 1 : 3) +
                            size_B / rate * (p - 1) / p * (size_B > kink_B ? kink : 1) * nodes;
            snprintf(head, sizeof head,
                     "\"kind\": \"collective\", \"op\": \"%s\", \"ranks\": %d, \"level\": "
                     "\"%s\", \"nodes\": %d, "
                     "\"size_B\": %.0f",
                     op, p, inside ? "node" : "system", nodes, size_B);
            point(m, head, time_s);
            if (!segmented || p == m->nodes * m->per_node) continue;
            snprintf(head, sizeof head,
                     "\"kind\": \"collective\", \"op\": \"%s\", \"ranks\": %d, \"level\": "
                     "\"%s\", \"nodes\": %d, "
                     "\"groups\": 2, \"layout\": \"%s\", \"size_B\": %.0f",
                     op, p, inside ? "node" : "system", nodes, inside ? "block" : "stride",
                     size_B);
            point(m, head, time_s * 1.4);
        }
    }
}

static void products(const struct machine *m) {
    char head[200], dtype[16];
    double rate = walk_between(m->w, 1e9, 1e13), start_s = walk_between(m->w, 1e-7, 1e-4);
    int by = walk_chance(m->w, 0.5) ? 8 : 16, from = walk_chance(m->w, 0.5) ? 1 : 16;
    bool holes = walk_chance(m->w, 0.3), batched = walk_chance(m->w, 0.3);
    walk_word(m->w, "fp32|fp32|fp64|bf16", dtype, sizeof dtype);
    int more = walk_chance(m->w, 0.4) ? walk_below(m->w, 9) : 0; /* no powers of two */
    for (int i = from; i <= 2048; i *= by)
        for (int n = from; n <= 2048; n *= by)
            for (int k = 16; k <= 2048; k *= by) {
                double time_s = start_s + 2.0 * i * n * k / rate * (1 + 8.0 / i + 8.0 / n);
                if (holes && walk_chance(m->w, 0.2)) continue;
                snprintf(
                    head, sizeof head,
                    "\"kind\": \"gemm\", \"dtype\": \"%s\", \"m\": %d, \"n\": %d, \"k\": %d",
                    dtype, i + more, n, k + 8 * more);
                point(m, head, time_s);
                if (!batched || i > 256) continue;
                snprintf(head, sizeof head,
                         "\"kind\": \"gemm\", \"dtype\": \"%s\", \"m\": %d, \"n\": %d, \"k\": "
                         "%d, \"batch\": 16",
                         dtype, i + more, n, k + 8 * more);
                point(m, head, 14 * time_s);
            }
}

static void memory(const struct machine *m) {
    char head[200], kernel[24];
    double rate = walk_between(m->w, 1e9, 1e12), cache_B = walk_between(m->w, 1e5, 1e7);
    int kinds = 1 + walk_below(m->w, 4);
    for (int kind = 0; kind < kinds; kind++) {
        walk_word(m->w, "elementwise|norm|softmax|update|operands|stream", kernel,
                  sizeof kernel);
        if (kind == 0) snprintf(kernel, sizeof kernel, "stream");
        bool operands = strcmp(kernel, "operands") == 0;
        for (double size_B = 65536; size_B < 2e8; size_B *= 4) {
            int used = snprintf(
                head, sizeof head,
                "\"kind\": \"memory\", \"kernel\": \"%s\", \"size_B\": %.0f, \"moved_B\": %.0f",
                kernel, size_B, 1.5 * size_B);
            if (operands)
                snprintf(head + used, sizeof head - (size_t)used,
                         ", \"m\": 64, \"n\": %.0f, \"k\": 64", size_B / 512);
            double bound = operands ? 2.0 * 64 * 64 * size_B / 512 / 1e11 : 0;
            point(m, head,
                  bound + 1e-6 +
                      1.5 * size_B / rate * (size_B < cache_B ? 0.2 + 0.1 * kind : 1));
        }
    }
}

static void small(const struct machine *m) {
    char head[256];
    if (walk_chance(m->w, 0.7))
        point(m, "\"kind\": \"kernel\"", walk_between(m->w, 1e-7, 1e-5));
    if (walk_chance(m->w, 0.5))
        for (int pairs = 1; pairs <= m->per_node; pairs *= 2)
            for (double size_B = 4096; size_B < 1e7; size_B *= 16) {
                snprintf(head, sizeof head,
                         "\"kind\": \"pairs\", \"level\": \"%s\", \"direction\": \"%s\", "
                         "\"pairs\": %d, \"size_B\": %.0f",
                         m->nodes > 1 ? "system" : "node",
                         walk_chance(m->w, 0.5) ? "one" : "both", pairs, size_B);
                point(m, head, 3e-6 + size_B * (pairs > 2 ? 0.5 * pairs : 1) / 1e10);
            }
    if (walk_chance(m->w, 0.5)) {
        static const char *const parts[] = {"comm", "compute", "both", "compute_during"};
        double share = walk_between(m->w, 0.05, 1.2);
        for (int i = 0; i < 12; i++) {
            int part = i % 4;
            snprintf(head, sizeof head,
                     "\"kind\": \"overlap\", \"op\": \"all_reduce\", \"ranks\": %d, \"level\": "
                     "\"node\", \"size_B\": %d, "
                     "\"m\": 512, \"n\": 512, \"k\": 512, \"part\": \"%s\"",
                     m->per_node, 65536 << (i / 4), parts[part]);
            point(m, head,
                  part < 2    ? 1e-4
                  : part == 2 ? 1e-4 * (1 + share)
                              : 1e-4 * (1 + share / 2));
        }
    }
    if (walk_chance(m->w, 0.4))
        for (int i = 0; i < 6; i++) {
            int wide = 256 << i, rank = 4 << (i % 3);
            snprintf(head, sizeof head,
                     "\"kind\": \"codec\", \"codec\": \"powersgd\", \"part\": \"%s\", \"m\": "
                     "%d, \"n\": %d, \"rank\": %d",
                     i % 2 ? "encode" : "decode", wide, wide / 2, rank);
            point(m, head, 1e-5 + 4e-11 * wide * wide * rank);
        }
    if (walk_chance(m->w, 0.4)) {
        static const char *const states[] = {"idle", "busy", "communicating"};
        for (int i = 0; i < 3; i++) {
            if (walk_chance(m->w, 0.2)) continue;
            snprintf(head, sizeof head,
                     "\"kind\": \"power\", \"state\": \"%s\", \"quality\": \"%s\", \"meter\": "
                     "\"powercap\", \"ranks\": %d, "
                     "\"power_W\": %.0f",
                     states[i], walk_chance(m->w, 0.7) ? "measured" : "estimated", m->per_node,
                     walk_between(m->w, 50, 900));
            point(m, head, 2);
        }
    }
}

/* ---- accelerators ------------------------------------------------------------------------------- */

/* A fused kernel forward and backward: sequences, widths and masks. */
static void attentions(const struct machine *m) {
    char head[256], kernel[16], dtype[8];
    double rate = walk_between(m->w, 1e14, 7e14), half = walk_between(m->w, 1, 900),
           back = walk_between(m->w, 0.5, 1), wide = walk_between(m->w, 40, 100);
    int longest = 4096 << walk_below(m->w, 3), step = walk_chance(m->w, 0.5) ? 2 : 4;
    for (int kind = walk_below(m->w, 3); kind >= 0; kind--) {
        int width = 32 << walk_below(m->w, 3);
        bool causal = walk_chance(m->w, 0.7), forward_alone = walk_chance(m->w, 0.2);
        walk_word(m->w, "flash|flash|flash-2", kernel, sizeof kernel);
        walk_word(m->w, "bf16|bf16|bf16|fp8", dtype, sizeof dtype);
        for (int s = 512; s <= longest; s *= step)
            for (int pass = 0; pass < (forward_alone ? 1 : 2); pass++) {
                double keys = s * (causal ? 0.5 : 1),
                       whole_s = 4.0 * 2 * 16 * s * width * keys / rate;
                snprintf(head, sizeof head,
                         "\"kind\": \"attention\", \"kernel\": \"%s\", \"pass\": \"%s\", "
                         "\"dtype\": \"%s\", \"batch\": 2, \"sequence\": %d, \"heads\": 16, "
                         "\"kv_heads\": %d, \"width\": %d, \"causal\": %s",
                         kernel, pass ? "backward" : "forward", dtype, s, 4 << (kind % 2),
                         width, causal ? "true" : "false");
                point(m, head,
                      (1 + half / keys) * whole_s *
                          (pass           ? 2.5 / back
                           : width < wide ? wide / width
                                          : 1) *
                          (kernel[5] ? 1.3 : 1));
            }
    }
}

/* Products of an accelerator: alone, transposed, scaled by blocks, several at once. */
static void large_products(const struct machine *m) {
    char head[256], dtype[8];
    double launch_s = walk_between(m->w, 1e-6, 1e-5), tail = walk_between(m->w, 0.05, 2);
    int by = walk_chance(m->w, 0.5) ? 2 : 4, odd = walk_chance(m->w, 0.3) ? 8 : 0;
    walk_word(m->w, "bf16|bf16|fp8|fp32|fp16", dtype, sizeof dtype);
    double rate = (strcmp(dtype, "fp32") == 0 ? 4e13 : 4e14) * walk_between(m->w, 0.5, 1.5);
    bool scaled = walk_chance(m->w, 0.4), grouped = walk_chance(m->w, 0.5);
    for (int i = 512; i <= 8192; i *= by)
        for (int n = 1024; n <= 8192; n *= by)
            for (int k = 1024; k <= 8192; k *= 4) {
                double waves = ceil(i / 128.0) * ceil(n / 256.0) / 132,
                       time_s = launch_s +
                                2.0 * i * n * k / rate * (1 + tail * (ceil(waves) / waves - 1));
                int used = snprintf(head, sizeof head,
                                    "\"kind\": \"gemm\", \"dtype\": \"%s\", \"m\": %d, \"n\": "
                                    "%d, \"k\": %d, \"transposed\": \"%s\"",
                                    dtype, i, n + odd, k, walk_chance(m->w, 0.9) ? "b" : "a");
                point(m, head, time_s);
                char *more = head + used;
                size_t left = sizeof head - (size_t)used;
                if (scaled && n == 4096) {
                    snprintf(more, left, ", \"scales\": \"blocks\"");
                    point(m, head, 1.2 * time_s);
                }
                if (grouped && i <= 2048 && k < 8192) {
                    snprintf(more, left, ", \"batch\": %d", 4 << (n / 4096));
                    point(m, head, (4 << (n / 4096)) * time_s * 0.9);
                }
            }
}

/* Launches, the host's link, passes over memory, power at clocks. */
static void parts(const struct machine *m) {
    char head[256];
    static const char *const kernels[] = {"stream", "elementwise", "norm", "softmax", "update"};
    double rate = walk_between(m->w, 1e12, 5e12);
    if (walk_chance(m->w, 0.8)) point(m, "\"kind\": \"kernel\", \"graph\": false", 4e-6);
    if (walk_chance(m->w, 0.6)) point(m, "\"kind\": \"kernel\", \"graph\": true", 1.1e-6);
    for (int i = walk_below(m->w, 5); i > 0; i--) {
        snprintf(head, sizeof head,
                 "\"kind\": \"link\", \"way\": \"%s\", \"pinned\": %s, \"size_B\": %d",
                 i % 2 ? "to_host" : "to_device", walk_chance(m->w, 0.7) ? "true" : "false",
                 1 << (20 + 2 * i));
        point(m, head, 1e-5 + (1 << (20 + 2 * i)) / walk_between(m->w, 1e10, 6e10));
    }
    for (int kind = 0; kind < 5; kind++) {
        double slow = walk_between(m->w, 1, 2);
        if (walk_chance(m->w, 0.3)) continue;
        for (double size_B = 1e7; size_B < 3e9; size_B *= 8) {
            if (kind == 3 && size_B > 1e9) continue;
            snprintf(head, sizeof head,
                     "\"kind\": \"memory\", \"kernel\": \"%s\", \"size_B\": %.0f, \"moved_B\": "
                     "%.0f",
                     kernels[kind], size_B, 1.5 * size_B);
            point(m, head, 3e-6 + 1.5 * size_B * (kind ? slow : 1) / rate);
        }
    }
    for (int k = walk_chance(m->w, 0.5) ? 2 + walk_below(m->w, 4) : 0; k > 0; k--)
        for (int memory = 0; memory < 2; memory++) {
            double clock = 1.98 - 0.25 * k, watts = 120 + 60 * clock * clock * clock;
            snprintf(head, sizeof head,
                     "\"kind\": \"power\", \"state\": \"%s\", \"quality\": \"measured\", "
                     "\"meter\": \"nvml\", \"ranks\": 1, \"power_W\": %.1f, \"clock_Hz\": "
                     "%.0f, \"call_s\": %.6g",
                     memory ? "memory" : "busy", memory ? 0.6 * watts : watts, clock * 1e9,
                     memory ? 1e-3 : 1e-3 * (0.1 + 1.7 / clock));
            point(m, head, 2);
        }
}

static void card(struct walk *w, struct fr_text *out) {
    struct machine m = {.w = w, .out = out, .speed = walk_between(w, 0.8, 1.2)};
    m.scatter = walk_chance(w, 0.2) ? 0 : walk_between(w, 0.001, 0.03);
    m.outliers = walk_chance(w, 0.4) ? 0.05 : 0;
    m.launches = 1, m.reps = 1 + walk_below(w, 3);
    m.nodes = 1 << walk_below(w, 2), m.per_node = 1 << walk_below(w, 4);
    fr_text_addf(out,
                 "{\"schema\": \"forerun/samples/1\", \"kind\": \"provenance\", \"date\": "
                 "\"2026-01-01\", \"host\": \"drawn\", \"kernel\": \"\", \"cpu\": \"none\", "
                 "\"cores\": 8, \"memory_B\": 1e10, \"mpi\": \"none\", \"blas\": \"none\", "
                 "\"blas_core\": \"\", \"ranks\": %d, \"ranks_per_node\": %d, \"nodes\": %d, "
                 "\"device\": \"NVIDIA H100\", \"device_memory_B\": %s, \"seed\": 1, "
                 "\"version\": \"0.1.0\"}\n",
                 m.nodes * m.per_node, m.per_node, m.nodes,
                 walk_chance(w, 0.5) ? "8.5e10" : "8e10");
    if (walk_chance(w, 0.6)) large_products(&m);
    if (walk_chance(w, 0.3)) large_products(&m);
    if (walk_chance(w, 0.6)) attentions(&m);
    if (walk_chance(w, 0.7)) parts(&m);
    if (walk_chance(w, 0.3) && m.per_node > 1) collectives(&m);
    if (walk_chance(w, 0.3) && m.per_node > 1) small(&m);
}

static void machine(struct walk *w, struct fr_text *out) {
    struct machine m = {.w = w, .out = out, .speed = walk_between(w, 0.5, 2)};
    m.scatter = walk_chance(w, 0.2) ? 0 : walk_between(w, 0.001, 0.1);
    m.outliers = walk_chance(w, 0.5) ? 0.05 : 0;
    m.drift = walk_chance(w, 0.3) ? 0.15 : 0;
    m.launches = 1 + walk_below(w, 3), m.reps = 1 + walk_below(w, 4);
    m.nodes = 1 << walk_below(w, 3), m.per_node = 2 << walk_below(w, 3);
    m.probes = walk_chance(w, 0.3);
    if (walk_chance(w, 0.9)) provenance(&m);
    for (int i = walk_below(w, 3); i >= 0; i--) collectives(&m);
    if (walk_chance(w, 0.6)) products(&m);
    if (walk_chance(w, 0.6)) memory(&m);
    small(&m);
}

/* One line of it changed. */
static void spoil(struct walk *w, struct fr_text *samples) {
    struct fr_text line = {0}, out = {0};
    const char *text = fr_text_get(samples);
    const char *at = text + walk_below(w, (int)samples->length - 1);
    while (at > text && at[-1] != '\n') at--;
    size_t n = strcspn(at, "\n");
    fr_text_add(&line, at, n);
    fr_text_add(&out, text, (size_t)(at - text));
    walk_change(w, &line, &out);
    fr_text_addf(&out, "%s", at + n);
    fr_text_free(&line);
    fr_text_free(samples);
    *samples = out;
}

void walk_samples(struct walk *w) {
    static const char forms[] = "best|best|best|log|segments|algorithm|similarity";
    static const char ends[] =
        "--json|--json|--out c.json|--out c.json --base a100-hdr|--json --base frontier|"
        "--out c.json --power-busy 300W --power-idle 40W --name mine|--json --power-busy "
        "250W|--out c.json --power-busy 250W|--json --power-idle 30W|";
    static const char uses[] =
        "predict --cluster c.json --model gpt-2 --set tp=2 --set dp=2 --set global_batch=8 "
        "--json|"
        "predict --cluster c.json --model ffn-4096 --set tp=2 --set dp=4 --json|"
        "collective --cluster c.json --op all_reduce --ranks 6 --size 8..16MiB*128|"
        "collective --cluster c.json --op all_gather --ranks 8 --size 100,1MB,1GB|"
        "gemm --cluster c.json --m 513 --n 129 --k 65 --dtype fp32 --json|"
        "gemm --cluster c.json --m 7 --n 5000 --k 300 --dtype fp32";
    struct line line;
    char word[256];
    for (int i = 0; i < w->count; i++) {
        struct fr_text samples = {0};
        machine(w, &samples);
        if (walk_chance(w, 0.25)) spoil(w, &samples);
        walk_write("s.jsonl", &samples);
        line.n = 0;
        line_add_all(&line, "fit s.jsonl --form");
        line_add(&line, walk_word(w, forms, word, sizeof word));
        line_add_all(&line, walk_word(w, ends, word, sizeof word));
        if (line_run(&line) == 0 && strstr(word, "--out")) {
            for (int k = 0; k < 2; k++) {
                line.n = 0;
                line_add_all(&line, walk_word(w, uses, word, sizeof word));
                line_run(&line);
            }
            walk_show("c.json");
        }
        fr_text_free(&samples);
    }
}

void walk_cards(struct walk *w) {
    static const char ends[] =
        "dgx-h100 --json|dgx-h100 --json|dgx-h100 --out c.json|dgx-h100 --out c.json|dgx-a100 "
        "--out c.json|dgx-b200 --json|dgx-h200 --out c.json|mi300x --json|frontier --json|"
        "dgx-h100|in/rich/cluster.json --json";
    static const char uses[] =
        "predict --cluster c.json --model llama-3-8b --set tp=2 --set dp=4 --set "
        "global_batch=16 --json|"
        "predict --cluster c.json --model gpt-2 --set dp=2 --set global_batch=8 --json|"
        "gemm --cluster c.json --m 513 --n 4096 --k 6500 --dtype bf16 --json|"
        "gemm --cluster c.json --m 2048 --n 4096 --k 4096 --dtype fp8 --json";
    struct line line;
    char word[128];
    for (int i = 0; i < w->count; i++) {
        struct fr_text samples = {0};
        card(w, &samples);
        if (walk_chance(w, 0.15)) spoil(w, &samples);
        walk_write("s.jsonl", &samples);
        line.n = 0;
        line_add_all(&line, "fit s.jsonl --base");
        line_add_all(&line, walk_word(w, ends, word, sizeof word));
        if (line_run(&line) == 0 && strstr(word, "--out")) {
            line.n = 0;
            line_add_all(&line, walk_word(w, uses, word, sizeof word));
            line_run(&line);
            walk_show("c.json");
        }
        fr_text_free(&samples);
    }
}
