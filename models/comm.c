#include "models/comm.h"

#include <stdlib.h>
#include <string.h>

const struct fr_form *const fr_forms[] = {
#define FR_FORM(name) &fr_form_##name,
#include "models/form_list.h"
#undef FR_FORM
    NULL};

struct fr_collective_args fr_group_args(const struct fr_group *group, double size_B) {
    return (struct fr_collective_args){.n_ranks = group->n_ranks,
                                       .ranks_per_node = group->ranks_per_node,
                                       .size_B = size_B,
                                       .inner = group->inner,
                                       .outer = group->outer,
                                       .ring = group->ring};
}

double fr_price_message_B(const struct fr_price *price, int64_t n_ranks, double size_B) {
    bool divided = price->op == FR_OP_ALL_GATHER || price->op == FR_OP_REDUCE_SCATTER ||
                   price->op == FR_OP_ALL_TO_ALL || price->op == FR_OP_SCATTER ||
                   price->op == FR_OP_GATHER;
    return price->per_rank && divided ? size_B / (double)n_ranks : size_B;
}

static fr_status price_read(const struct fr_json *object, const struct fr_levels *levels,
                            struct fr_price *price, struct fr_error *err) {
    const char *names[8] = {NULL};
    int which = 0;
    for (int i = 0; fr_forms[i]; i++) names[i] = fr_forms[i]->name;
    if (!fr_json_is_object(object))
        return fr_json_fail(object, err, "expected an object with a \"form\"");
    FR_TRY(fr_json_get_choice(object, "form", true, names, &which, err));
    struct fr_json residuals = fr_json_member(object, "residuals");
    price->residual_median = price->residual_p90 = -1;
    if (fr_json_present(&residuals)) {
        static const char *const keys[] = {"median", "p90", "points", NULL};
        FR_TRY(fr_json_object(&residuals, keys, err));
        FR_TRY(fr_json_get_number(&residuals, "median", false, 0, 1e9, &price->residual_median,
                                  err));
        FR_TRY(fr_json_get_number(&residuals, "p90", false, 0, 1e9, &price->residual_p90, err));
    }
    price->form = fr_forms[which];
    return price->form->read(object, levels, price, err);
}

fr_status fr_comm_read(const struct fr_json *object, const struct fr_levels *levels,
                       struct fr_price price[FR_OP_COUNT], struct fr_error *err) {
    bool present = fr_json_present(object);
    if (present) FR_TRY(fr_json_object(object, fr_op_names, err));
    for (int op = 0; op < FR_OP_COUNT; op++) {
        price[op].op = (fr_op)op;
        price[op].form = &fr_form_algorithm;
        price[op].residual_median = price[op].residual_p90 = -1;
        if (!present) continue;
        struct fr_json one = fr_json_member(object, fr_op_names[op]);
        if (fr_json_present(&one)) FR_TRY(price_read(&one, levels, &price[op], err));
    }
    return FR_OK;
}

void fr_comm_free(struct fr_price price[FR_OP_COUNT]) {
    for (int op = 0; op < FR_OP_COUNT; op++) {
        for (int i = 0; i < price[op].n_fits; i++) free(price[op].fits[i].segments);
        free(price[op].fits);
        price[op] = (struct fr_price){0};
    }
}
