#include "models/work/adapters.h"

#include "models/workload/adapters.h"

static double times_of(const struct fr_stage_view *v, const struct fr_adapted *a) {
    return a->mlp ? v->layers : v->attentions;
}

static bool again(const struct fr_stage_view *v) { return v->full; }

/* At 16 bits: Megatron-Bridge's adapters are Megatron-Core's linear layers, not Transformer Engine's (peft/utils.py). */
static void add_products(const struct fr_stage_view *v, const struct fr_group_view *on,
                         const struct fr_adapted *a, struct fr_rank_work *work) {
    double r = (double)v->t->lora_rank, n = on->tokens;
    struct fr_product in = {.m = a->second ? r : r / on->p,
                            .n = n,
                            .k = a->second ? a->inputs / on->p : a->inputs,
                            .batch = on->batch,
                            .times = times_of(v, a),
                            .again = again(v),
                            .wide = true,
                            .copies = FR_AXIS_DP};
    struct fr_product out = in;
    out.m = a->outputs / on->p;
    out.k = r;
    fr_work_add_product(work, &in);
    fr_work_add_product(work, &out);
}

static void exchange(const struct fr_stage_view *v, const struct fr_group_view *on,
                     fr_pass_kind pass, fr_op op, double values, double times,
                     struct fr_rank_work *work) {
    if (pass == FR_PASS_AGAIN && !again(v)) return;
    fr_work_add_collective(work, pass, on->axis, op, on->tokens * values * v->value_B, times);
}

static void add_exchanges(const struct fr_stage_view *v, const struct fr_group_view *on,
                          const struct fr_adapted *a, struct fr_rank_work *work) {
    static const fr_pass_kind made[] = {FR_PASS_FORWARD, FR_PASS_AGAIN};
    double r = (double)v->t->lora_rank, n = times_of(v, a);
    bool scatters = v->gathers && v->t->lora_all_to_all,
         own = v->gathers && v->plan->overlap_tp && !a->second;
    fr_op out = scatters ? FR_OP_ALL_TO_ALL : FR_OP_ALL_GATHER;
    double outputs = scatters ? a->outputs / on->p : a->outputs;
    if (on->p <= 1) return;
    for (int k = 0; k < 2; k++) {
        if (own) exchange(v, on, made[k], FR_OP_ALL_GATHER, a->inputs, n, work);
        exchange(v, on, made[k], a->second ? FR_OP_ALL_REDUCE : FR_OP_ALL_GATHER, r, n, work);
        if (a->second) exchange(v, on, made[k], out, outputs, n, work);
    }
    if (own) exchange(v, on, FR_PASS_INPUT, FR_OP_REDUCE_SCATTER, a->inputs, n, work);
    if (a->second || !v->gathers)
        exchange(v, on, FR_PASS_INPUT, FR_OP_ALL_REDUCE, a->second ? r : a->inputs, n, work);
    if (a->second && v->gathers) exchange(v, on, FR_PASS_INPUT, out, outputs, n, work);
}

/* Two products and an addition. */
static void add_rest(const struct fr_stage_view *v, const struct fr_group_view *on,
                     const struct fr_adapted *a, struct fr_stage_share *share) {
    double between = a->second ? on->between : on->p;
    share->forward_B += times_of(v, a) * 3 * on->tokens * a->outputs / between * v->value_B;
    share->kernels += 3 * times_of(v, a);
}

void fr_adapters_add(const struct fr_stage_view *v, struct fr_rank_work *work) {
    struct fr_adapted list[FR_ADAPTED_MAX];
    struct fr_stage_share share = {0};
    int n = fr_adapters_list(v->t, list);
    for (int i = 0; i < n; i++) {
        const struct fr_group_view *on = list[i].mlp ? &v->mlp_on : &v->attention_on;
        add_products(v, on, &list[i], work);
        add_exchanges(v, on, &list[i], work);
        add_rest(v, on, &list[i], &share);
    }
    if (n == 0) return;
    share.again_kernels = again(v) ? share.kernels : 0;
    fr_transformer_add_share(work, &share, v->layers,
                             again(v) ? FR_RECOMPUTE_FULL : FR_RECOMPUTE_NONE);
}

double fr_adapters_saved(const struct fr_stage_view *v, bool mlp) {
    bool here = mlp ? v->t->lora_mlp : v->t->lora_attention;
    return here
               ? 2 * (double)v->t->lora_rank * (mlp ? v->mlp_on.tokens : v->attention_on.tokens)
               : 0;
}

double fr_adapters_parameters(const struct fr_stage_view *v) {
    struct fr_adapted list[FR_ADAPTED_MAX];
    int n = fr_adapters_list(v->t, list);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += times_of(v, &list[i]) * (double)v->t->lora_rank *
               (list[i].inputs + list[i].outputs);
    return sum;
}
