#include "models/work/predicted.h"

static double norms_of(const struct fr_transformer *t) {
    return 3 * (double)t->hidden * (t->norm_biases ? 2 : 1);
}

double fr_predicted_parameters(const struct fr_transformer *t, double p) {
    double h = (double)t->hidden;
    return (double)t->predicted * (2 * h * h / p + norms_of(t));
}

static void exchange(const struct fr_stage_view *v, fr_pass_kind pass, fr_op op, double values,
                     struct fr_rank_work *work) {
    const struct fr_group_view *on = &v->attention_on;
    if (on->p > 1)
        fr_work_add_collective(work, pass, on->axis, op, on->tokens * values * v->value_B,
                               v->predicted);
}

void fr_predicted_add(const struct fr_stage_view *v, struct fr_rank_work *work) {
    const struct fr_group_view *on = &v->attention_on;
    double stream = on->tokens * v->h / on->between;
    if (v->predicted <= 0) return;
    fr_work_add_product(work, &(struct fr_product){.m = v->h / on->p,
                                                   .n = on->tokens,
                                                   .k = 2 * v->h,
                                                   .batch = on->batch,
                                                   .times = v->predicted,
                                                   .copies = on->copies});
    exchange(v, FR_PASS_FORWARD, FR_OP_ALL_GATHER, v->h, work);
    exchange(v, FR_PASS_INPUT, FR_OP_ALL_REDUCE, 2 * v->h, work);
    const struct fr_stage_share share = {
        .forward_B = v->predicted * (3 * FR_NORM_PASSES + 2) * stream * v->value_B,
        .norm_B = v->predicted * 3 * FR_NORM_PASSES * stream * v->value_B,
        .kernels = 5 * v->predicted}; /* three norms, their joining, the product */
    fr_transformer_add_share(work, &share, 0, FR_RECOMPUTE_NONE);
    /* Inputs of three norms, and of the product. */
    double stored_B = v->predicted * (3 * stream * v->value_B + 2 * stream * v->read_B);
    work->activation_B += stored_B;
    work->ends_B += stored_B;
}
