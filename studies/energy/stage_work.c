#include "studies/energy/stage_work.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS_MAX = 96 };

/* A network as Merak cuts it: `before` units that hardly work, `layers` alike, `after` of which the last
 * makes the logits. */
struct network {
    const char *name;
    int before, layers, after;
    double weights, tokens, attention; /* of a layer: w; s; a, summed over its attentions */
    double logits;                     /* weights of what follows the layers */
    bool even;                         /* units of unlike work, which its partition balances */
};

/* perseus_model_configs.json.  BERT's logits follow a square transform.  T5-3B (Raffel et al., JMLR 21, 2020: 24 + 24
 * layers, d_model 1024, d_ff 16384, 32 heads of 128 values) in the mean of an encoder's and a decoder's layer, whose
 * units in the graph are not stated.  Wide-ResNet-101 of width 8 (torchvision's Bottleneck, 224 x 224): a stem and 33
 * blocks of 8.2 G multiply-adds each, within 7 %. */
static const struct network networks[] = {
    {"bert-huge-uncased", 1, 24, 1, 12.0 * 2048 * 2048, 512, 2048,
     30522.0 * 2048 + 2048.0 * 2048, false},
    {"gpt3-2.7b", 1, 32, 1, 12.0 * 2560 * 2560, 1024, 2560, 50257.0 * 2560, false},
    {"bloom-3b", 1, 30, 1, 12.0 * 2560 * 2560, 1024, 2560, 250880.0 * 2560, false},
    {"t5-3b", 0, 48, 0, 6.0 * 1024 * 4096 + 2.0 * 1024 * 16384, 512, 1.5 * 4096, 32128.0 * 1024,
     true},
    {"wide-resnet101_8", 1, 33, 0, 8.2e9, 1, 0, 0, false},
};

static const struct network *network_of(const char *model) {
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        if (strcmp(networks[i].name, model) == 0) return &networks[i];
    return NULL;
}

static double layer_flop(const struct network *n, double samples) {
    return 4 * (2 * n->weights + 4 * n->tokens * n->attention) * n->tokens * samples;
}

static double logits_flop(const struct network *n, double samples) {
    return 3 * 2 * n->logits * n->tokens * samples;
}

static double unit_flop(const struct network *n, int unit, double samples) {
    return unit < n->before               ? 0
           : unit < n->before + n->layers ? layer_flop(n, samples)
                                          : logits_flop(n, samples);
}

/* Where stage @p stage ends, in units. */
static int uniform_end(const struct network *n, int stages, int stage) {
    if (stage + 1 == stages) return n->before + n->layers + n->after;
    return n->before + n->layers / stages * (stage + 1);
}

/* Each stage the same share. */
static void divide_evenly(const struct network *n, int stages, double samples, double *flop) {
    for (int i = 0; i < stages; i++)
        flop[i] = (n->layers * layer_flop(n, samples) + logits_flop(n, samples)) / stages;
}

bool fr_energy_stage_work(const char *model, const char *partition, int stages,
                          double micro_batch, double *flop) {
    const struct network *n = network_of(model);
    bool custom = strncmp(partition, "custom:", 7) == 0;
    const char *at = custom ? partition + 7 : "0";
    if (!n || stages < 1 || stages > FR_STAGES_MAX) return false;
    if (n->even) return divide_evenly(n, stages, micro_batch, flop), true;
    if (!custom && n->layers % stages != 0) return false;
    long from = strtol(at, (char **)(uintptr_t)&at, 10);
    for (int i = 0; i < stages; i++) {
        if (custom && *at != ',') return false;
        long to =
            custom ? strtol(at + 1, (char **)(uintptr_t)&at, 10) : uniform_end(n, stages, i);
        if (to <= from || to > UNITS_MAX) return false;
        flop[i] = 0;
        for (long unit = from; unit < to; unit++)
            flop[i] += unit_flop(n, (int)unit, micro_batch);
        from = to;
    }
    return *at == '\0' && from == n->before + n->layers + n->after;
}
