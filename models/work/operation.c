#include "models/work/operation.h"

static void add_shape(struct fr_rank_work *work, const struct fr_product *p, fr_pass_kind pass,
                      double m, double n, double k, double share) {
    fr_work_kind kind = p->scores ? FR_WORK_SCORES : FR_WORK_PRODUCT;
    bool whole = pass == FR_PASS_WEIGHT || (pass == FR_PASS_INPUT && p->regathers > 0);
    double pieces = p->pieces > 1 && !whole ? p->pieces : 1;
    struct fr_operation *o = fr_work_add(work, kind, pass, share * p->times * pieces);
    o->shape = (struct fr_gemm_shape){m, n / pieces, k, p->batch, p->at_once};
    o->transposed = (uint8_t)fr_work_transposed(pass);
    o->common = p->common && pass != FR_PASS_AGAIN;
    o->made = p->made && (pass == FR_PASS_FORWARD || pass == FR_PASS_AGAIN);
    o->wide = p->wide;
    o->frozen = p->frozen;
    if (pass == FR_PASS_WEIGHT) o->axis = (uint8_t)(p->copies ? p->copies : FR_AXIS_DP);
}

void fr_work_add_product(struct fr_rank_work *work, const struct fr_product *p) {
    if (p->times <= 0) return;
    add_shape(work, p, FR_PASS_FORWARD, p->m, p->n, p->k, 1);
    add_shape(work, p, FR_PASS_INPUT, p->k, p->n, p->m, 1);
    if (p->regathers > 0)
        fr_work_add_collective(work, FR_PASS_INPUT, p->regather_axis, FR_OP_ALL_GATHER,
                               p->regather_B, p->regathers)
            ->beside = FR_BESIDE_PRODUCT;
    /* Both factors of scores are activations, whose gradients the pass cannot delay. */
    fr_pass_kind second = p->scores ? FR_PASS_INPUT : FR_PASS_WEIGHT;
    if (!p->frozen) add_shape(work, p, second, p->m, p->k, p->n, 1);
    if (p->again > 0) add_shape(work, p, FR_PASS_AGAIN, p->m, p->n, p->k, p->again);
}

void fr_work_keep_forward(struct fr_rank_work *work) {
    int n = 0, layer_ops = 0;
    for (int k = 0; k < work->n_ops; k++) {
        if (work->op[k].pass != FR_PASS_FORWARD) continue;
        if (k < work->n_layer_ops) layer_ops++;
        work->op[n++] = work->op[k];
    }
    work->n_ops = n;
    work->n_layer_ops = layer_ops;
    double layers_B = work->activation_B - work->ends_B,
           one_B = work->layers > 0 ? layers_B / work->layers : layers_B;
    work->working_B += one_B > work->ends_B ? one_B : work->ends_B;
    work->activation_B = work->ends_B = 0;
    work->moment = (struct fr_moment_sizes){0};
}
