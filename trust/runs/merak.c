#include "trust/runs/merak.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the trainings published those of one stack of layers; sequences of 1024 tokens or what the tokenizer
 * holds (merak/examples, utils.py; run_bert.py: 24 encoders of BERT-Large's heads). */
static const struct shape {
    const char *name;
    int layers, hidden, heads, vocabulary, sequence;
} shapes[] = {{"gpt3-xl", 24, 2048, 16, 50257, 1024},
              {"gpt3-2.7b", 32, 2560, 32, 50257, 1024},
              {"gpt3-6.7b", 32, 4096, 32, 50257, 1024},
              {"bloom-3b", 30, 2560, 32, 250880, 1024},
              {"bert-huge-uncased", 24, 2048, 16, 30522, 512}};

static const struct shape *shape_of(const char *name) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(shapes[i].name, name) == 0) return &shapes[i];
    return NULL;
}

static void set_model(const struct shape *s, struct fr_run_row *out) {
    fr_run_row_set(out, "model.name", "%s", s->name);
    fr_run_row_set(out, "model.layers", "%d", s->layers);
    fr_run_row_set(out, "model.hidden", "%d", s->hidden);
    fr_run_row_set(out, "model.heads", "%d", s->heads);
    fr_run_row_set(out, "model.vocabulary", "%d", s->vocabulary);
    fr_run_row_set(out, "model.vocabulary_multiple", "1");
    fr_run_row_set(out, "model.sequence", "%d", s->sequence);
    fr_run_row_set(out, "runtime", "megatron-2021");
    fr_run_row_set(out, "model.dtype", "tf32");
    fr_run_row_set(out, "model.gradient_dtype", "fp32");
    fr_run_row_set(out, "model.optimizer_state", "8 B");
}

/* "custom:0,10,18,26,32" cuts the embedding, the layers and the head, counted alike. */
static bool set_stages(const char *partition, const struct shape *s, int64_t pp,
                       struct fr_run_row *out) {
    char list[144] = "[";
    long sum = 0;
    if (strncmp(partition, "custom:", 7) != 0) return s->layers % pp == 0;
    const char *at = partition + 7;
    long from = strtol(at, (char **)(uintptr_t)&at, 10);
    for (int64_t i = 0; i < pp; i++) {
        if (*at != ',') return false;
        long to = strtol(at + 1, (char **)(uintptr_t)&at, 10),
             layers = to - from - (i == 0) - (i == pp - 1);
        size_t n = strlen(list);
        if (layers < 0) return false;
        snprintf(list + n, sizeof list - n, "%s%ld", i ? ", " : "", layers);
        sum += layers;
        from = to;
    }
    size_t n = strlen(list);
    snprintf(list + n, sizeof list - n, "]");
    if (*at || sum != s->layers) return false;
    fr_run_row_set(out, "plan.stage_layers", "%s", list);
    return true;
}

fr_run_skip fr_run_merak(const struct fr_run_source *in, const char *model,
                         const char *partition, const char *micro_batch,
                         struct fr_run_row *out) {
    const struct shape *s = shape_of(fr_run_cell(in, model));
    int64_t pp = 0, tp = 0, dp = 0, micro = 0, many = 0;
    if (!s) return FR_RUN_UNKNOWN_MODEL;
    if (!fr_run_integer(in, "pp", &pp) || !fr_run_integer(in, "tp", &tp) ||
        !fr_run_integer(in, "dp", &dp))
        return FR_RUN_NO_DEGREES;
    if (!fr_run_integer(in, micro_batch, &micro)) return FR_RUN_NO_MICRO_BATCH;
    if (!fr_run_integer(in, "num_microbatches", &many)) return FR_RUN_NO_BATCH;
    set_model(s, out);
    if (!set_stages(fr_run_cell(in, partition), s, pp, out)) return FR_RUN_DEGREES;
    fr_run_row_set(out, "plan.dp", "%" PRId64, dp);
    fr_run_row_set(out, "plan.tp", "%" PRId64, tp);
    fr_run_row_set(out, "plan.pp", "%" PRId64, pp);
    fr_run_row_set(out, "plan.micro_batch", "%" PRId64, micro);
    fr_run_row_set(out, "plan.global_batch", "%" PRId64, micro * many * dp);
    fr_run_row_set(out, "plan.recompute", "full");
    fr_run_row_set(out, "id", "%s", fr_run_cell(in, "row_id"));
    fr_run_row_set(out, "note.device", "%s", fr_run_cell(in, "gpu"));
    fr_run_row_set(out, "group", "%s, %s", s->name, fr_run_cell(in, "gpu"));
    if (!fr_run_time(in, "measured_iter_time_s", 1, out)) return FR_RUN_NO_TIME;
    double energy_J = 0;
    if (!fr_run_number(in, "measured_iter_energy_J_all_gpus", &energy_J)) return FR_RUN_USABLE;
    fr_run_row_set(out, "measured_J", "%.9g", energy_J);
    fr_run_row_set(out, "measured_at", "device");
    return FR_RUN_USABLE;
}
