/* Attention through cuDNN: operands are the random inputs, what a pass writes goes to the outputs, its workspace behind
 * them.  A backward pass reads what a forward pass has written just before. */
#include "calibrate/measure/device/cuda/attention.h"

#include <math.h>

#include "calibrate/measure/device/cuda/context.h"
#include "calibrate/measure/device/cuda/remedy.h"

static const bool is_input[FR_ATTENTION_NAMES] = {[FR_ATTENTION_Q] = true,
                                                  [FR_ATTENTION_K] = true,
                                                  [FR_ATTENTION_V] = true,
                                                  [FR_ATTENTION_DO] = true};

static bool is_value(int name) {
    return name == FR_ATTENTION_SCALE || name == FR_ATTENTION_MASKED ||
           name == FR_ATTENTION_ONE;
}

static CUdeviceptr aligned_B(double size_B) {
    return (CUdeviceptr)(ceil(size_B / FR_CUDA_ALIGN_B) * FR_CUDA_ALIGN_B);
}

/* @return the outputs' bytes, of which the rest is workspace */
static fr_status place(struct fr_device_handle *d, CUdeviceptr *outputs_B,
                       struct fr_error *err) {
    struct fr_cuda_attention *a = &d->attention;
    CUdeviceptr inputs_B = 0;
    *outputs_B = 0;
    for (int name = 1; name < FR_ATTENTION_NAMES; name++) {
        CUdeviceptr *used_B = is_input[name] ? &inputs_B : outputs_B;
        a->place[name] = (is_input[name] ? d->inputs : d->outputs) + *used_B;
        *used_B += aligned_B(fr_attention_tensor_B(&d->task, name));
    }
    if (inputs_B <= d->pool_B && *outputs_B <= d->pool_B) return FR_OK;
    return fr_fail(err, FR_ERR_UNSUPPORTED, d->facts.name,
                   "has no memory for attention over %lld sequences of %lld tokens",
                   (long long)d->task.batch, (long long)d->task.sequence);
}

static fr_status make_pass(struct fr_device_handle *d, bool backward, CUdeviceptr outputs_B,
                           struct fr_error *err) {
    struct fr_cuda_attention *a = &d->attention;
    struct fr_cuda_pass *pass = &a->pass[backward];
    struct fr_device_task task = d->task;
    const struct fr_dnn_target target = {.handle = d->dnn_handle};
    int64_t names[FR_ATTENTION_NAMES], workspace_B = 0;
    void *pointers[FR_ATTENTION_NAMES];
    int n = 0;
    task.backward = backward;
    pass->graph = (struct fr_dnn_graph){.api = &d->dnn, .err = err};
    fr_attention_graph(&pass->graph, &task);
    FR_TRY(fr_dnn_plan(&pass->graph, &target, (int64_t)(d->pool_B - outputs_B), &pass->plan,
                       &workspace_B));
    for (int name = 1; name < FR_ATTENTION_NAMES; name++) {
        bool is_there = fr_attention_tensor_B(&task, name) > 0 || name == FR_ATTENTION_SCALE ||
                        (name == FR_ATTENTION_MASKED && task.causal) ||
                        (name == FR_ATTENTION_ONE && backward);
        if (!is_there) continue;
        names[n] = name;
        pointers[n++] =
            is_value(name) ? (void *)&a->value[name] : (void *)(uintptr_t)a->place[name];
    }
    return fr_dnn_variants(&pass->graph, n, names, pointers,
                           (void *)(uintptr_t)(d->outputs + outputs_B), &pass->variants);
}

static fr_status execute(struct fr_device_handle *d, bool backward, struct fr_error *err) {
    const struct fr_cuda_pass *pass = &d->attention.pass[backward];
    cudnnStatus_t code = d->dnn.cudnnBackendExecute(d->dnn_handle, pass->plan, pass->variants);
    if (code == FR_DNN_OK) return FR_OK;
    return fr_fail(err, FR_ERR_EXTERNAL, "cuDNN", "cudnnBackendExecute: %s, code %u%s",
                   d->dnn.cudnnGetErrorString(code), code, fr_remedy(FR_REMEDY_DNN, code));
}

void fr_cuda_attention_release(struct fr_device_handle *d) {
    for (int i = 0; i < 2; i++)
        if (d->attention.pass[i].graph.api) fr_dnn_release(&d->attention.pass[i].graph);
    d->attention = (struct fr_cuda_attention){.value = {0}};
}

fr_status fr_cuda_attention_prepare(struct fr_device_handle *d, struct fr_error *err) {
    struct fr_cuda_attention *a = &d->attention;
    const struct fr_device_task *t = &d->task;
    CUdeviceptr outputs_B = 0;
    if (!d->dnn_handle)
        return fr_fail(err, FR_ERR_UNSUPPORTED, "cuDNN",
                       "is not here, so attention is not measured");
    if (t->dtype != FR_BF16 && t->dtype != FR_FP16)
        return fr_fail(err, FR_ERR_UNSUPPORTED, "cuDNN", "attention in %s is not measured yet",
                       fr_dtype_names[t->dtype]);
    FR_TRY(place(d, &outputs_B, err));
    a->value[FR_ATTENTION_SCALE] = (float)(1 / sqrt((double)t->width));
    a->value[FR_ATTENTION_MASKED] = -INFINITY;
    a->value[FR_ATTENTION_ONE] = 1;
    FR_TRY(make_pass(d, false, outputs_B, err));
    if (t->backward) FR_TRY(make_pass(d, true, outputs_B, err));
    FR_TRY(fr_cuda_fill(d, t->dtype, err));
    return t->backward ? execute(d, false, err) : FR_OK;
}

fr_status fr_cuda_attention_run(struct fr_device_handle *d, int calls, struct fr_error *err) {
    for (int i = 0; i < calls; i++) FR_TRY(execute(d, d->task.backward, err));
    return FR_OK;
}
