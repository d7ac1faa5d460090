#include "models/work/ssm.h"

#include "models/workload/ssm.h"

/* Sums over a rank's tokens and its share of the heads. */
struct moved {
    double convolved, squares, states, passed, outputs, norm;
};

static struct moved moved_of(const struct fr_stage_view *v) {
    const struct fr_ssm_sizes ssm = fr_ssm_of(v->t);
    double here = v->attention_on.tokens / v->attention_on.p, wide = 4 / v->value_B;
    return (struct moved){
        .convolved = here * 2 * ssm.convolved,
        .squares = here * (2 * ssm.shared + wide * ssm.squares),
        .states = here * (ssm.inner + ssm.shared + wide * ssm.states),
        .passed = here * (wide + 1) * ssm.states,
        .outputs = here * (wide * ssm.squares + ssm.shared + ssm.states + 4 * ssm.inner),
        .norm = here * FR_NORM_PASSES * ssm.inner};
}

double fr_ssm_moved(const struct fr_stage_view *v, double *norm) {
    const struct moved m = moved_of(v);
    *norm = m.norm;
    return m.convolved + m.squares + m.states + m.passed + m.outputs + m.norm;
}

double fr_ssm_saved_B(const struct fr_stage_view *v) {
    const struct fr_ssm_sizes ssm = fr_ssm_of(v->t);
    const struct fr_group_view *on = &v->attention_on;
    double stream = on->tokens * v->h / on->between, here = on->tokens / on->p;
    return stream * (v->value_B + v->read_B) +
           here * ((ssm.in + 2 * ssm.inner) * v->value_B + ssm.inner * v->read_B);
}

static void add_scan(const struct fr_stage_view *v, struct fr_rank_work *work) {
    const struct fr_ssm_sizes ssm = fr_ssm_of(v->t);
    double twice = 2 * v->attention_on.tokens / v->attention_on.p;
    fr_work_add(work, FR_WORK_SCAN, FR_PASS_FORWARD, v->ssm)->size = twice * ssm.forward;
    fr_work_add(work, FR_WORK_SCAN, FR_PASS_INPUT, v->ssm)->size = twice * ssm.backward;
    if (v->full)
        fr_work_add(work, FR_WORK_SCAN, FR_PASS_AGAIN, v->ssm)->size = twice * ssm.forward;
}

static void add_again(const struct fr_stage_view *v, struct fr_rank_work *work) {
    const struct moved m = moved_of(v);
    double again_B = (m.convolved + m.squares + m.states + m.passed) * v->value_B;
    fr_work_add(work, FR_WORK_TRAFFIC, FR_PASS_INPUT, v->ssm)->moved =
        (struct fr_elementwise){.all_B = again_B, .working_set_B = again_B};
}

static void add_context(const struct fr_stage_view *v, struct fr_rank_work *work) {
    static const fr_pass_kind passes[] = {FR_PASS_FORWARD, FR_PASS_INPUT, FR_PASS_AGAIN};
    const struct fr_ssm_sizes ssm = fr_ssm_of(v->t);
    double token_B = v->attention_on.tokens / v->attention_on.p * v->value_B;
    if (v->plan->cp <= 1) return;
    for (int k = 0; k < (v->full ? 3 : 2); k++) {
        fr_work_add_collective(work, passes[k], FR_AXIS_CP, FR_OP_ALL_TO_ALL, ssm.in * token_B,
                               v->ssm);
        fr_work_add_collective(work, passes[k], FR_AXIS_CP, FR_OP_ALL_TO_ALL,
                               ssm.inner * token_B, v->ssm);
    }
}

static void add_product(const struct fr_stage_view *v, double m, double k, bool first,
                        struct fr_rank_work *work) {
    const struct fr_group_view *on = &v->attention_on;
    bool pieces = v->gathers && v->plan->overlap_tp,
         gathered = first && v->gathers && on->p > 1;
    fr_work_add_product(work,
                        &(struct fr_product){.m = m,
                                             .n = on->tokens,
                                             .k = k,
                                             .batch = on->batch,
                                             .times = v->ssm,
                                             .pieces = pieces ? on->p : 1,
                                             .made = true,
                                             .again = v->full,
                                             .copies = on->copies,
                                             .regathers = gathered ? v->ssm : 0,
                                             .regather_axis = on->axis,
                                             .regather_B = on->tokens * v->h * v->value_B});
}

void fr_ssm_add(const struct fr_stage_view *v, struct fr_rank_work *work) {
    const struct fr_ssm_sizes ssm = fr_ssm_of(v->t);
    if (v->ssm <= 0) return;
    add_product(v, ssm.in / v->attention_on.p, v->h, true, work);
    add_product(v, v->h, ssm.inner / v->attention_on.p, false, work);
    if (ssm.narrow > 0)
        add_product(v, ssm.narrow / v->h / v->attention_on.p, v->h, false, work);
    add_scan(v, work);
    add_again(v, work);
    add_context(v, work);
}
