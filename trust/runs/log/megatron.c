/* Megatron-LM's training log: the arguments it prints at its start, and a line every so many iterations.
 *
 *      " iteration       20/     100 | consumed samples: ... | elapsed time per iteration (ms): 5431.2 | ..."
 *      "  tensor_model_parallel_size ...................... 4"
 *
 *  Arguments that are absent are at the trainer's defaults, which are these of a row too. */
#include <stdio.h>
#include <string.h>

#include "trust/runs/log.h"
#include "trust/runs/row/recompute.h"

static const struct {
    const char *argument, *key,
        *value; /* value: what of the key a "True" is; NULL: the number itself */
} arguments[] = {
    {"world_size", "ranks", NULL},
    {"num_layers", "model.layers", NULL},
    {"hidden_size", "model.hidden", NULL},
    {"ffn_hidden_size", "model.ffn", NULL},
    {"num_attention_heads", "model.heads", NULL},
    {"num_query_groups", "model.kv_heads", NULL},
    {"seq_length", "model.sequence", NULL},
    {"padded_vocab_size", "model.vocabulary", NULL},
    {"swiglu", "model.gated", "true"},
    {"bf16", "model.dtype", "bf16"},
    {"fp16", "model.dtype", "fp16"},
    {"tensor_model_parallel_size", "plan.tp", NULL},
    {"pipeline_model_parallel_size", "plan.pp", NULL},
    {"context_parallel_size", "plan.cp", NULL},
    {"expert_model_parallel_size", "plan.ep", NULL},
    {"micro_batch_size", "plan.micro_batch", NULL},
    {"global_batch_size", "plan.global_batch", NULL},
    {"sequence_parallel", "plan.sequence_parallel", "true"},
    {"use_distributed_optimizer", "plan.zero", "1"},
    {"overlap_grad_reduce", "plan.overlap", "gradient"},
    {"tp_comm_overlap", "plan.overlap_tp", "true"},
    {"use_flash_attn", "plan.attention", "flash"},
};

/* "  name ......... value": @return whether it is one, with @p value what follows the dots, and in @p rest all of it. */
static bool argument(const char *line, char name[64], char value[64], char rest[256]) {
    int used = 0, at = 0;
    bool is =
        sscanf(line, " %63[a-z0-9_] .%*[.] %n%63s%n", name, &at, value, &used) == 2 && used > 0;
    if (is) snprintf(rest, 256, "%s", line + at);
    return is;
}

static fr_log_line say(const char *name, const char *value, const char *rest,
                       struct fr_run_row *row) {
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        if (strcmp(arguments[i].argument, name) != 0) continue;
        bool truth = arguments[i].value != NULL;
        if (strcmp(value, "None") == 0 || (truth && strcmp(value, "True") != 0))
            return FR_LOG_OTHER;
        fr_run_row_set(row, arguments[i].key, "%s", truth ? arguments[i].value : value);
        return FR_LOG_SAID;
    }
    if (strcmp(name, "exp_avg_dtype") == 0 && strcmp(value, "torch.uint8") == 0) {
        fr_run_row_set(row, "model.optimizer_state", "8-bit");
        return FR_LOG_SAID;
    }
    return fr_run_take_recompute(name, rest, row) ? FR_LOG_SAID : FR_LOG_OTHER;
}

static fr_log_line read(const char *line, struct fr_run_row *row, double *number) {
    char name[64], value[64], rest[256];
    const char *step = strstr(line, "iteration ");
    if (step && strstr(step, "| consumed samples")) {
        if (!fr_log_number(step, "elapsed time per iteration (ms):", number))
            return FR_LOG_MALFORMED;
        *number *= 1e-3;
        return FR_LOG_STEP;
    }
    return argument(line, name, value, rest) ? say(name, value, rest, row) : FR_LOG_OTHER;
}

const struct fr_run_log fr_run_log_megatron = {
    .name = "megatron",
    .summary = "Megatron-LM's training log: arguments and elapsed time per iteration",
    .source = "NVIDIA/Megatron-LM, megatron/training: _print_args, training_log",
    .read = read,
};
