/* Megatron-LM and Primus: launch scripts, the arguments that they print at their start, and a line every so many iterations.
 *
 *      " iteration       20/     100 | consumed samples: ... | elapsed time per iteration (ms): 5431.2 | ..."
 *      "  tensor_model_parallel_size ...................... 4"
 */
#include <string.h>

#include "answer/trainer/megatron/megatron.h"

fr_line_kind fr_megatron_line(const char *line, struct fr_logged_step *step) {
    double skipped = 0;
    static const char label[] = "elapsed time per iteration (ms):";
    const char *at = strstr(line, "iteration ");
    if (!at || !(strstr(at, "| consumed samples") || strstr(at, label))) {
        if (strstr(line, "validation loss at") || strstr(line, "evaluating iter"))
            return FR_LINE_EVALUATION;
        if (strstr(line, "saving checkpoint") || strstr(line, "saved checkpoint"))
            return FR_LINE_CHECKPOINT;
        bool heals = strstr(line, "ealing") && (strstr(line, "fp8") || strstr(line, "FP8"));
        return heals ? FR_LINE_HEALING : FR_LINE_OTHER;
    }
    if (!fr_step_number(at, label, &step->time_s)) return FR_LINE_MALFORMED;
    step->time_s *= 1e-3;
    fr_step_number(at, "iteration ", &step->number);
    fr_step_number(at, "global batch size:", &step->batch);
    step->skipped =
        fr_step_number(at, "number of skipped iterations:", &skipped) && skipped > 0;
    return FR_LINE_STEP;
}

/* "using world size: 16, data-parallel size: 4, ..."; Lightning's "Starting with 16 processes". */
void fr_megatron_facts(const char *line, struct fr_run_row *row) {
    double ranks = 0;
    if ((fr_step_number(line, "using world size:", &ranks) ||
         (strstr(line, "processes registered") &&
          fr_step_number(line, "Starting with", &ranks))) &&
        ranks >= 1 && ranks < 1 << 24)
        fr_run_row_set(row, "ranks", "%.0f", ranks);
}

/* Primus: "model: llama3.1_8B.yaml", a file that comes with it. */
static void take_model(struct fr_reading *r) {
    static const char *const names[] = {"pre_trainer.model", "post_trainer.model"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *title = fr_reading_value(r, names[i]);
        if (!title || fr_reading_stated(r, "model")) continue;
        /* Sizes beside it, as --emit writes them, say the model themselves. */
        if (!fr_reading_model(r, title) && !fr_reading_stated(r, "model.hidden"))
            fr_reading_tell(
                r, "model %.80s: no preset is it; give --model FILE, its config.json", title);
    }
}

static fr_status finish(struct fr_reading *r, struct fr_error *err) {
    take_model(r);
    fr_megatron_defaults(r);
    FR_TRY(fr_megatron_plan(r, err));
    FR_TRY(fr_megatron_model(r, err));
    fr_megatron_bucket(r);
    return FR_OK;
}

/* Names that no plan, model or answer of ours has. */
static const char *const signs[] = {
    "tensor_model_parallel_size", "pipeline_model_parallel_size", "micro_batch_size",
    "use_distributed_optimizer",  "recompute_granularity",        NULL};
static const char *const marks[] = {"elapsed time per iteration (ms):", NULL};

const struct fr_trainer fr_trainer_megatron = {
    .name = "megatron",
    .summary = "Megatron-LM's and Primus' scripts, printed arguments and logs",
    .source = "NVIDIA/Megatron-LM, megatron/training: _print_args, training_log",
    .emitter = "megatron",
    .signs = signs,
    .marks = marks,
    .rows = fr_megatron_rows,
    .families = fr_megatron_families,
    .finish = finish,
    .line = fr_megatron_line,
    .facts = fr_megatron_facts,
};
