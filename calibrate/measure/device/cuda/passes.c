/* Passes over memory, empty kernels, and copies over the host link. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "calibrate/measure/device/cuda/context.h"

/* By kind of traffic: arrays that a call reads and writes, of bytes that it has in use.  kernels.cu says what each
 * does; norm and softmax take whole rows of 8 KiB. */
static const struct pass {
    int reads, writes; /* arrays */
    int in_inputs, in_outputs;
    double row_B;
} passes[FR_TRAFFIC_COUNT] = {
    [FR_TRAFFIC_STREAM] = {1, 1, 1, 1, 16}, [FR_TRAFFIC_ELEMENTWISE] = {2, 1, 2, 1, 16},
    [FR_TRAFFIC_NORM] = {1, 1, 1, 1, 8192}, [FR_TRAFFIC_SOFTMAX] = {1, 1, 1, 1, 8192},
    [FR_TRAFFIC_UPDATE] = {4, 3, 1, 3, 16}, /* gradients; weights and both moments in place */
};

static double array_B(const struct fr_device_task *t) {
    const struct pass *p = &passes[t->traffic];
    double rows = floor(t->size_B / (p->in_inputs + p->in_outputs) / p->row_B);
    return fmax(rows, 1) * p->row_B;
}

double fr_cuda_moved_B(const struct fr_device_task *t) {
    if (t->kind == FR_DEVICE_LINK) return t->size_B;
    if (t->kind != FR_DEVICE_TRAFFIC) return 0;
    return array_B(t) * (passes[t->traffic].reads + passes[t->traffic].writes);
}

fr_status fr_cuda_pass_prepare(struct fr_device_handle *d, struct fr_error *err) {
    const struct fr_device_task *t = &d->task;
    const struct pass *p = &passes[t->traffic];
    if (!d->passes[t->traffic])
        return fr_fail(err, FR_ERR_UNSUPPORTED, "cuda", "no kernel for traffic of kind %s",
                       fr_traffic_names[t->traffic]);
    if (array_B(t) * p->in_inputs > (double)d->pool_B ||
        array_B(t) * p->in_outputs > (double)d->pool_B)
        return fr_fail(err, FR_ERR_UNSUPPORTED, d->facts.name,
                       "has no memory for a working set of %.0f B", t->size_B);
    FR_TRY(fr_cuda_fill(d, t->traffic == FR_TRAFFIC_UPDATE ? FR_FP32 : FR_BF16, err));
    size_t words = (size_t)(array_B(t) * p->in_outputs / 4);
    FR_CUDA_TRY(d, cuMemsetD32Async, d->outputs, 0x3a83126f, words,
                d->stream); /* 1e-3: of moments no denormal */
    return FR_OK;
}

static fr_status launch(struct fr_device_handle *d, CUfunction kernel, double blocks,
                        void **arguments, struct fr_error *err) {
    double most = 32.0 * (double)d->facts.units; /* the grid strides */
    unsigned grid = (unsigned)fmax(1, fmin(blocks, most));
    FR_CUDA_TRY(d, cuLaunchKernel, kernel, grid, 1, 1, FR_CUDA_THREADS, 1, 1, 0, d->stream,
                arguments, NULL);
    return FR_OK;
}

fr_status fr_cuda_pass_run(struct fr_device_handle *d, int calls, struct fr_error *err) {
    const struct fr_device_task *t = &d->task;
    const struct pass *p = &passes[t->traffic];
    double one_B = array_B(t);
    CUdeviceptr x = d->inputs, y = p->in_inputs > 1 ? x + (CUdeviceptr)one_B : x,
                z = d->outputs;
    unsigned long long pieces = (unsigned long long)(one_B / 16);
    void *arguments[] = {&x, &y, &z, &pieces};
    double per_block = p->row_B > 16 ? 512 : FR_CUDA_THREADS;
    for (int i = 0; i < calls; i++)
        FR_TRY(
            launch(d, d->passes[t->traffic], ceil((double)pieces / per_block), arguments, err));
    return FR_OK;
}

fr_status fr_cuda_launch_run(struct fr_device_handle *d, int calls, struct fr_error *err) {
    CUdeviceptr none = 0;
    void *arguments[] = {&none};
    for (int i = 0; i < calls; i++) FR_TRY(launch(d, d->nothing, 1, arguments, err));
    return FR_OK;
}

fr_status fr_cuda_graph_prepare(struct fr_device_handle *d, struct fr_error *err) {
    CUgraph graph = NULL;
    if (d->graph) return FR_OK;
    FR_CUDA_TRY(d, cuStreamBeginCapture_v2, d->stream, FR_CUDA_CAPTURE_RELAXED);
    fr_status status = fr_cuda_launch_run(d, FR_CUDA_GRAPH, err);
    CUresult ended = d->cuda.cuStreamEndCapture(d->stream, &graph);
    if (status == FR_OK) status = fr_cuda_check(d, ended, "cuStreamEndCapture", err);
    if (status == FR_OK)
        status = fr_cuda_check(d, d->cuda.cuGraphInstantiateWithFlags(&d->graph, graph, 0),
                               "cuGraphInstantiateWithFlags", err);
    if (graph) d->cuda.cuGraphDestroy(graph);
    return status;
}

/* Calls are kernels: whole graphs of them, rounded up. */
fr_status fr_cuda_graph_run(struct fr_device_handle *d, int calls, struct fr_error *err) {
    for (int i = 0; i < calls; i++) FR_CUDA_TRY(d, cuGraphLaunch, d->graph, d->stream);
    return FR_OK;
}

fr_status fr_cuda_link_prepare(struct fr_device_handle *d, struct fr_error *err) {
    size_t size_B = (size_t)d->task.size_B;
    if (size_B > d->pool_B)
        return fr_fail(err, FR_ERR_UNSUPPORTED, d->facts.name,
                       "has no memory for a copy of %zu B", size_B);
    if (size_B <= d->host_B) return FR_OK;
    if (d->host_pinned) d->cuda.cuMemFreeHost(d->host_pinned);
    free(d->host_pages);
    d->host_pinned = NULL;
    d->host_B = 0;
    d->host_pages = fr_malloc(size_B, 1);
    if (!d->host_pages) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    memset(d->host_pages, 1, size_B);
    FR_CUDA_TRY(d, cuMemAllocHost_v2, &d->host_pinned, size_B);
    memset(d->host_pinned, 1, size_B);
    d->host_B = size_B;
    return FR_OK;
}

fr_status fr_cuda_link_run(struct fr_device_handle *d, int calls, struct fr_error *err) {
    size_t size_B = (size_t)d->task.size_B;
    void *host = d->task.pinned ? d->host_pinned : d->host_pages;
    for (int i = 0; i < calls; i++) {
        if (d->task.to_device)
            FR_CUDA_TRY(d, cuMemcpyHtoDAsync_v2, d->inputs, host, size_B, d->stream);
        else
            FR_CUDA_TRY(d, cuMemcpyDtoHAsync_v2, host, d->inputs, size_B, d->stream);
    }
    if (d->task.to_device) d->filled = -1;
    return FR_OK;
}
