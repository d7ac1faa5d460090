#include "sim/conflicts.h"

#include "sim/record.h"

const char *const fr_conflict_names[FR_PRICE_PARTS] = {
    [FR_PRICE_TP] = "tp",        [FR_PRICE_MESSAGES] = "pp",
    [FR_PRICE_GRADIENTS] = "dp", [FR_PRICE_EMBEDDING] = "embedding",
    [FR_PRICE_CP] = "cp",        [FR_PRICE_EP] = "ep"};

/* The part that a message's time belongs to: it has one. */
static int part_of(const struct fr_class_price *price) {
    int most = FR_PRICE_ALWAYS;
    for (int k = 0; k < FR_PRICE_PARTS; k++)
        if (price->part_s[k] > price->part_s[most]) most = k;
    return most;
}

void fr_conflicts_add(const struct fr_program *program, const struct fr_class_price *price,
                      const double *class_s, const double *start_s, const double *end_s,
                      struct fr_conflicts *conflicts) {
    for (int64_t t = 0; t < program->n_tasks; t++) {
        int32_t c = program->tasks[t].class_id;
        if (fr_task_is_message(program->classes[c].kind))
            conflicts->lost_s[part_of(&price[c])] +=
                (end_s[t] - start_s[t] - class_s[c]) / program->n_ranks;
    }
}

int fr_conflicts_most(const struct fr_conflicts *conflicts) {
    int most = 0;
    for (int k = 0; k < FR_PRICE_PARTS; k++)
        if (fr_conflict_names[k] && conflicts->lost_s[k] > conflicts->lost_s[most]) most = k;
    return conflicts->lost_s[most] > 0 ? most : 0;
}
