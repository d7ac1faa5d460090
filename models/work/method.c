#include "models/work/method.h"

void fr_work_add_elementwise(struct fr_rank_work *work, const struct fr_layer *layer,
                             double size_B, double more_B, double kernels) {
    double own_B = (layer->softmax ? 3 * FR_SOFTMAX_PASSES : FR_ELEMENTWISE_PASSES) * size_B,
           all_B = own_B + more_B, softmax_B = layer->softmax ? own_B : 0;
    double bytes = FR_ELEMENTWISE_PASSES_FORWARD / FR_ELEMENTWISE_PASSES;
    for (int pass = FR_PASS_FORWARD; pass <= FR_PASS_INPUT; pass++) {
        double share = pass == FR_PASS_FORWARD ? bytes : 1 - bytes;
        fr_work_add(work, FR_WORK_TRAFFIC, (fr_pass_kind)pass, 1)->moved =
            (struct fr_elementwise){
                .all_B = share * all_B, .softmax_B = share * softmax_B, .working_set_B = all_B};
    }
    double each = kernels / FR_KERNELS_PER_OPERATOR;
    fr_work_add(work, FR_WORK_KERNELS, FR_PASS_FORWARD, FR_KERNELS_FORWARD * each);
    fr_work_add(work, FR_WORK_KERNELS, FR_PASS_INPUT,
                (FR_KERNELS_PER_OPERATOR - FR_KERNELS_FORWARD - 1) * each);
    fr_work_add(work, FR_WORK_KERNELS, FR_PASS_WEIGHT, each); /* one of the products */
}

void fr_work_add_comm(struct fr_rank_work *work, fr_op op, bool backward, double size_B) {
    fr_work_add_collective(work, backward ? FR_PASS_INPUT : FR_PASS_FORWARD, FR_AXIS_TP, op,
                           size_B, 1);
    if (size_B > work->working_B) work->working_B = size_B;
}

void fr_work_add_gradient(struct fr_rank_work *work, const struct fr_workload *workload,
                          fr_axis axis, double ranks) {
    if (ranks <= 1 || work->parameters_rank <= 0) return; /* scores have no weights */
    fr_work_add_collective(work, FR_PASS_ONCE, axis, FR_OP_ALL_REDUCE,
                           work->parameters_rank * fr_dtype_size_B(workload->gradient_dtype),
                           1);
}
