#include "models/work/method.h"

static void add_gemm(struct fr_layer_work *work, double m, double n, double k, double batch,
                     double count) {
    work->gemm[work->n_gemms++] = (struct fr_gemm_work){{m, n, k, batch}, count};
}

void fr_work_add_operator(struct fr_layer_work *work, double m, double n, double k,
                          double batch, double count) {
    add_gemm(work, m, n, k, batch, count);
    add_gemm(work, k, n, m, batch, count);
    add_gemm(work, m, k, n, batch, count);
}

void fr_work_add_elementwise(struct fr_layer_work *work, const struct fr_layer *layer,
                             double size_B) {
    work->elementwise_B =
        (layer->softmax ? 3 * FR_SOFTMAX_PASSES : FR_ELEMENTWISE_PASSES) * size_B;
    work->softmax_B = layer->softmax ? work->elementwise_B : 0;
}

void fr_work_add_comm(struct fr_layer_work *work, fr_op op, fr_axis axis, bool backward,
                      double size_B) {
    work->comm[work->n_comms++] = (struct fr_comm_work){op, axis, backward, size_B};
    if (size_B > work->buffer_B) work->buffer_B = size_B;
}

void fr_work_add_gradient(struct fr_layer_work *work, const struct fr_workload *workload,
                          const struct fr_shard *shard) {
    if (shard->dp <= 1 || work->parameters_rank <= 0) return; /* scores have no weights */
    double size_B = work->parameters_rank_max * fr_dtype_size_B(workload->gradient_dtype);
    work->comm[work->n_comms++] =
        (struct fr_comm_work){FR_OP_ALL_REDUCE, FR_AXIS_DP, true, size_B};
}
