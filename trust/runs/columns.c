#include "trust/runs/runs.h"

#include <inttypes.h>
#include <stdlib.h>

enum { STAGES_MAX = 1024 }; /* of a list that a row holds */

static bool copy_all(const struct fr_run_source *in, struct fr_run_row *out,
                     const char *const pairs[][2]) {
    for (int i = 0; pairs[i][0]; i++)
        if (!fr_run_copy(in, pairs[i][0], out, pairs[i][1])) return false;
    return true;
}

/* A column that is absent, or empty in a row, leaves the default. */
static void copy_some(const struct fr_run_source *in, struct fr_run_row *out,
                      const char *const pairs[][2]) {
    for (int i = 0; pairs[i][0]; i++) fr_run_copy(in, pairs[i][0], out, pairs[i][1]);
}

fr_run_skip fr_run_plan_columns(const struct fr_run_source *in, struct fr_run_row *out) {
    static const char *const degrees[][2] = {
        {"tp", "plan.tp"}, {"pp", "plan.pp"}, {"gpus", "ranks"}, {NULL, NULL}};
    static const char *const optional[][2] = {
        {"dp", "plan.dp"}, {"cp", "plan.cp"}, {NULL, NULL}};
    if (fr_run_cell(in, "quality")[0] == 'C') return FR_RUN_QUALITY;
    if (!fr_run_copy(in, "micro_batch_seqs", out, "plan.micro_batch"))
        return FR_RUN_NO_MICRO_BATCH;
    if (!fr_run_copy(in, "global_batch_seqs", out, "plan.global_batch")) return FR_RUN_NO_BATCH;
    if (!copy_all(in, out, degrees)) return FR_RUN_NO_DEGREES;
    copy_some(in, out, optional);
    fr_run_row_set(out, "id", "%s", fr_run_cell(in, "row_id"));
    fr_run_row_set(out, "plan.rank_order", "tp-dp-pp");
    fr_run_row_set(out, "model.optimizer_state", "12 B");
    if (*fr_run_cell(in, "gpu"))
        fr_run_row_set(out, "note.device", "%s", fr_run_cell(in, "gpu"));
    fr_run_row_set(out, "group", "%s, %s GPUs, batch %s", fr_run_cell(in, "model"),
                   fr_run_cell(in, "gpus"), fr_run_cell(in, "global_batch_seqs"));
    return FR_RUN_USABLE;
}

bool fr_run_shape_columns(const struct fr_run_source *in, struct fr_run_row *out) {
    static const char *const sizes[][2] = {{"layers", "model.layers"},
                                           {"hidden", "model.hidden"},
                                           {"heads", "model.heads"},
                                           {"seq", "model.sequence"},
                                           {NULL, NULL}};
    static const char *const optional[][2] = {
        {"ffn", "model.ffn"}, {"kv_heads", "model.kv_heads"}, {NULL, NULL}};
    if (!copy_all(in, out, sizes)) return false;
    copy_some(in, out, optional);
    if (*fr_run_cell(in, "model"))
        fr_run_row_set(out, "model.name", "%s", fr_run_cell(in, "model"));
    return true;
}

fr_run_skip fr_run_columns(const struct fr_run_source *in, struct fr_run_row *out) {
    fr_run_skip skip = fr_run_plan_columns(in, out);
    if (skip != FR_RUN_USABLE) return skip;
    return fr_run_shape_columns(in, out) && fr_run_copy(in, "vocab", out, "model.vocabulary")
               ? FR_RUN_USABLE
               : FR_RUN_NO_SIZES;
}

bool fr_run_time(const struct fr_run_source *in, const char *column, double unit_s,
                 struct fr_run_row *out) {
    double time = 0;
    if (!fr_run_number(in, column, &time) || !(time > 0)) return false;
    fr_run_row_set(out, "measured_s", "%.9g", time * unit_s);
    return true;
}

void fr_run_ends_as_layers(int64_t layers, struct fr_run_row *out) {
    const char *stages = fr_run_row_get(out, "plan.pp");
    int64_t pp = stages ? strtoll(stages, NULL, 10) : 1;
    struct fr_text list = {0};
    if (pp < 2 || pp > STAGES_MAX || (layers + 2) % pp != 0) return;
    for (int64_t i = 0; i < pp; i++)
        fr_text_addf(&list, "%s%" PRId64, i ? ", " : "[",
                     (layers + 2) / pp - (i == 0 || i == pp - 1));
    if (!list.failed) fr_run_row_set(out, "plan.stage_layers", "%s]", fr_text_get(&list));
    fr_text_free(&list);
}

void fr_run_memory(const struct fr_run_source *in, const char *column, double unit_B,
                   fr_run_counted at, struct fr_run_row *out) {
    double size = 0;
    if (!fr_run_number(in, column, &size) || !(size > 0)) return;
    fr_run_row_set(out, "measured_memory_B", "%.9g", size * unit_B);
    fr_run_row_set(out, "measured_memory_at", "%s", fr_run_counted_names[at]);
}

bool fr_run_tokens_rate(const struct fr_run_source *in, const char *column, double per_unit,
                        struct fr_run_row *out) {
    double rate = 0, batch = 0, sequence = 0;
    if (!fr_run_number(in, column, &rate) || !(rate > 0)) return false;
    if (!fr_run_number(in, "global_batch_seqs", &batch)) return false;
    if (!fr_run_number(in, "seq", &sequence)) return false;
    fr_run_row_set(out, "measured_s", "%.9g", batch * sequence / (rate * per_unit));
    return true;
}
