/* What every division of a transformer adds to its list (models/work/transformer.h). */
#include "models/work/transformer.h"

static void add_traffic(struct fr_rank_work *work, fr_pass_kind pass, double times,
                        struct fr_elementwise moved, bool common) {
    if (moved.all_B <= 0) return;
    struct fr_operation *o = fr_work_add(work, FR_WORK_TRAFFIC, pass, times);
    o->moved = moved;
    o->common = common;
}

static void add_kernels(struct fr_rank_work *work, double kernels, bool common) {
    static const double times[] = {
        [FR_PASS_FORWARD] = 1, [FR_PASS_INPUT] = 1.5, [FR_PASS_WEIGHT] = 0.5};
    for (int pass = FR_PASS_FORWARD; pass <= FR_PASS_WEIGHT && kernels > 0; pass++)
        fr_work_add(work, FR_WORK_KERNELS, (fr_pass_kind)pass, times[pass] * kernels)->common =
            common;
}

/* What is recomputed: all, or the softmax alone. */
static struct fr_elementwise again_part(const struct fr_stage_share *s, double set_B,
                                        fr_recompute recompute) {
    bool full = recompute == FR_RECOMPUTE_FULL;
    if (recompute == FR_RECOMPUTE_NONE) return (struct fr_elementwise){0};
    return (struct fr_elementwise){full ? s->forward_B - s->once_B : s->softmax_B,
                                   full ? s->norm_B : 0, s->softmax_B, set_B};
}

void fr_transformer_add_share(struct fr_rank_work *work, const struct fr_stage_share *s,
                              double layers, fr_recompute recompute) {
    double set_B = layers > 0 ? s->forward_B / layers : s->forward_B;
    const struct fr_elementwise own = {s->forward_B - s->common_B, s->norm_B - s->common_norm_B,
                                       s->softmax_B, set_B},
                                common = {s->common_B, s->common_norm_B, 0, set_B};
    for (int pass = FR_PASS_FORWARD; pass <= FR_PASS_INPUT; pass++) {
        add_traffic(work, (fr_pass_kind)pass, pass == FR_PASS_INPUT ? 2 : 1, own, false);
        add_traffic(work, (fr_pass_kind)pass, pass == FR_PASS_INPUT ? 2 : 1, common, true);
    }
    add_traffic(work, FR_PASS_AGAIN, 1, again_part(s, set_B, recompute), false);
    add_kernels(work, s->kernels - s->common_kernels, false);
    add_kernels(work, s->common_kernels, true);
    if (s->again_kernels > 0)
        fr_work_add(work, FR_WORK_KERNELS, FR_PASS_AGAIN, s->again_kernels);
}

void fr_transformer_add_attention(struct fr_rank_work *work, double flop, bool again) {
    fr_work_add(work, FR_WORK_ATTENTION, FR_PASS_FORWARD, 1)->size = flop;
    fr_work_add(work, FR_WORK_ATTENTION, FR_PASS_INPUT, 1)->size = 2.5 * flop;
    if (again) fr_work_add(work, FR_WORK_ATTENTION, FR_PASS_AGAIN, 1)->size = flop;
}
