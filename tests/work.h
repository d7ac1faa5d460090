/** @file
 *  Sums over a list of operations (models/work/operation.h), for tests. */
#ifndef FR_TESTS_WORK_H
#define FR_TESTS_WORK_H

#include "models/plan/plan.h"
#include "models/work/method.h"

/** Stage @p i of a transformer as its plan's method lowers it; and why it cannot. */
static inline void test_stage(const struct fr_workload *workload, const struct fr_plan *plan,
                              int64_t i, struct fr_rank_work *work) {
    plan->method->lower(&(struct fr_work_part){.workload = workload, .plan = plan, .stage = i},
                        work);
}
static inline fr_reasons test_stage_check(const struct fr_workload *workload,
                                          const struct fr_plan *plan) {
    return plan->method->check(&(struct fr_work_part){.workload = workload, .plan = plan});
}

static inline bool test_is_product(const struct fr_operation *o) {
    return o->kind == FR_WORK_PRODUCT || o->kind == FR_WORK_SCORES;
}

/** Flop of one operation's products, or of its fused attention; 0 of others. */
static inline double test_flop(const struct fr_operation *o) {
    if (o->kind == FR_WORK_ATTENTION || o->kind == FR_WORK_SCAN) return o->times * o->size;
    return test_is_product(o) ? 2 * o->times * o->shape.m * o->shape.n * o->shape.k : 0;
}

/** Times, bytes moved, bytes of collectives: what an operation has of its kind. */
static inline double test_amount(const struct fr_operation *o) {
    if (o->kind == FR_WORK_TRAFFIC) return o->times * o->moved.all_B;
    if (o->kind == FR_WORK_KERNELS) return o->times;
    return o->kind == FR_WORK_COLLECTIVE ? o->times * o->size : test_flop(o);
}

/** The same of all operations of a kind in a pass. */
static inline double test_sum(const struct fr_rank_work *w, fr_work_kind kind,
                              fr_pass_kind pass) {
    double sum = 0;
    for (int k = 0; k < w->n_ops; k++)
        if (w->op[k].kind == kind && w->op[k].pass == pass) sum += test_amount(&w->op[k]);
    return sum;
}

/** Flop of products, scores included. */
static inline double test_flops(const struct fr_rank_work *w, fr_pass_kind pass) {
    return test_sum(w, FR_WORK_PRODUCT, pass) + test_sum(w, FR_WORK_SCORES, pass);
}

/** Bytes of the collectives over the tp ranks, forward or backward (again included). */
static inline double test_tp_B(const struct fr_rank_work *w, bool backward) {
    double sum_B = 0;
    for (int k = 0; k < w->n_ops; k++) {
        const struct fr_operation *o = &w->op[k];
        if (o->kind == FR_WORK_COLLECTIVE && o->axis == FR_AXIS_TP &&
            (o->pass != FR_PASS_FORWARD) == backward)
            sum_B += test_amount(o);
    }
    return sum_B;
}

/** Make everything of a kind, in every pass, `factor` as often. */
static inline void test_scale(struct fr_rank_work *w, fr_work_kind kind, double factor) {
    for (int k = 0; k < w->n_ops; k++)
        if (w->op[k].kind == kind) w->op[k].times *= factor;
}
static inline void test_scale_products(struct fr_rank_work *w, double factor) {
    test_scale(w, FR_WORK_PRODUCT, factor);
    test_scale(w, FR_WORK_SCORES, factor);
}

#endif
