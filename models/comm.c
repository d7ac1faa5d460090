#include "models/comm.h"

#include <math.h>
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
        int64_t points = 0;
        FR_TRY(fr_json_get_integer(&residuals, "points", false, 0, 1 << 30, &points, err));
        price->residual_points = (int)points;
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

void fr_price_free(struct fr_price *price) {
    for (int i = 0; i < price->n_fits; i++) free(price->fits[i].segments);
    free(price->fits);
    fr_similarity_free(&price->similarity);
    *price = (struct fr_price){0};
}

void fr_comm_free(struct fr_price price[FR_OP_COUNT]) {
    for (int op = 0; op < FR_OP_COUNT; op++) fr_price_free(&price[op]);
}

void fr_price_write(const struct fr_price *price, const struct fr_levels *levels,
                    struct fr_json_writer *w) {
    fr_json_begin_object(w);
    fr_json_add_string(w, "form", price->form->name);
    price->form->write(price, levels, w);
    if (price->residual_median >= 0) {
        fr_json_key(w, "residuals");
        fr_json_begin_object(w);
        fr_json_add_number(w, "median", price->residual_median);
        fr_json_add_number(w, "p90", price->residual_p90);
        fr_json_add_integer(w, "points", price->residual_points);
        fr_json_end_object(w);
    }
    fr_json_end_object(w);
}

void fr_price_interval(const struct fr_price *price, const struct fr_group *group,
                       double size_B, double time_s, double *low_s, double *high_s) {
    double fast = 0, slow = 0;
    bool known = group->n_ranks > 1 && price->form->interval &&
                 price->form->interval(price, group, size_B, &fast, &slow);
    if (!known && price->residual_p90 > 0) fast = slow = log2(1 + price->residual_p90);
    *low_s = time_s * exp2(-fast);
    *high_s = time_s * exp2(slow);
}
