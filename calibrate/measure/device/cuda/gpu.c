/* A GPU of a platform: found, opened, given tasks, closed.  Nothing of its libraries is needed to build, and all but the
 * driver may be missing. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "calibrate/measure/device/cuda/platform.h"

#define N_OF(list) (sizeof(list) / sizeof *(list))

const char *fr_gpu_call(const struct fr_gpu_platform *platform, const char *nvidias) {
    for (int i = 0; platform->calls && platform->calls[i][0]; i++)
        if (strcmp(platform->calls[i][0], nvidias) == 0) return platform->calls[i][1];
    return nvidias;
}

fr_status fr_cuda_check(const struct fr_device_handle *d, CUresult code, const char *what,
                        struct fr_error *err) {
    const char *name = NULL, *text = NULL;
    char where[64];
    if (code == 0) return FR_OK;
    snprintf(where, sizeof where, "%s", d->platform->name);
    if (d->index >= 0) snprintf(where, sizeof where, "GPU %d", d->index);
    if (d->cuda.cuGetErrorName(code, &name) != 0 || !name) name = "unknown";
    if (d->cuda.cuGetErrorString(code, &text) != 0 || !text) text = "no text";
    return fr_fail(err, FR_ERR_EXTERNAL, where, "%s: %s (%s, code %u)%s",
                   fr_gpu_call(d->platform, what), text, name, code,
                   fr_remedy(FR_REMEDY_DRIVER, code));
}

/* The driver alone, and how many GPUs it sees. */
static fr_status start(struct fr_device_handle *d, int *n, struct fr_error *err) {
    FR_TRY(fr_library_open(d->platform->driver_library, &d->driver_library, &d->cuda, err));
    CUresult code = d->cuda.cuInit(0);
    *n = 0;
    if (code == FR_CUDA_NO_DEVICE)
        return fr_fail(err, FR_ERR_EXTERNAL, d->platform->name,
                       "%s is here, but it sees no GPU", d->platform->driver);
    FR_TRY(fr_cuda_check(d, code, "cuInit", err));
    FR_CUDA_TRY(d, cuDeviceGetCount, n);
    if (*n == 0)
        return fr_fail(err, FR_ERR_EXTERNAL, d->platform->name,
                       "%s is here, but it sees no GPU", d->platform->driver);
    return FR_OK;
}

fr_status fr_gpu_count(const struct fr_gpu_platform *platform, int *n, struct fr_error *err) {
    struct fr_device_handle d = {.platform = platform, .index = -1};
    fr_status status = start(&d, n, err);
    fr_library_close(d.driver_library);
    return status;
}

/* Note a library that does not work; all else goes on without it. */
static void lack(struct fr_device_handle *d, const struct fr_library *library,
                 const struct fr_error *why) {
    size_t used = strlen(d->facts.lacks);
    snprintf(d->facts.lacks + used, sizeof d->facts.lacks - used,
             "%s%s: %.200s, so nothing is known of %s", used ? "; " : "", library->name,
             why->detail, library->gives);
}

/* @param[out] used_B  of its memory, before there is a context; as it was: not known */
static void read_nvml(struct fr_device_handle *d, double *used_B) {
    nvmlMemory_t memory = {0};
    unsigned value = 0, pending = 0;
    d->nvml.nvmlSystemGetDriverVersion(d->facts.driver, sizeof d->facts.driver);
    if (d->nvml.nvmlDeviceGetMaxClockInfo(d->nvml_device, FR_NVML_CLOCK_SM, &value) == 0)
        d->facts.clock_Hz = 1e6 * value;
    if (d->nvml.nvmlDeviceGetMigMode(d->nvml_device, &value, &pending) == 0)
        d->facts.divided = value == 1;
    if (d->nvml.nvmlDeviceGetMemoryInfo(d->nvml_device, &memory) != 0) return;
    *used_B = (double)memory.used;
    d->facts.shown_B = (double)memory.total;
}

static void open_nvml(struct fr_device_handle *d, double *used_B) {
    struct fr_error why = {.status = FR_OK};
    if (d->platform->find_management(d, &why) == FR_OK)
        read_nvml(d, used_B);
    else
        lack(d, d->platform->management_library, &why);
}

static double attribute(const struct fr_device_handle *d, CUdevice_attribute which) {
    int value = 0;
    return d->cuda.cuDeviceGetAttribute(&value, which, d->device) == 0 ? value : 0;
}

static fr_status describe(struct fr_device_handle *d, struct fr_error *err) {
    size_t total_B = 0;
    FR_CUDA_TRY(d, cuDeviceGet, &d->device, d->index);
    FR_CUDA_TRY(d, cuDeviceGetName, d->facts.name, sizeof d->facts.name, d->device);
    FR_CUDA_TRY(d, cuDeviceGetPCIBusId, d->facts.bus, sizeof d->facts.bus, d->device);
    FR_CUDA_TRY(d, cuDeviceTotalMem_v2, &total_B, d->device);
    d->facts.memory_B = (double)total_B;
    d->facts.units = (int64_t)attribute(d, (CUdevice_attribute)d->platform->units);
    d->facts.cache_B = attribute(d, (CUdevice_attribute)d->platform->cache_B);
    d->facts.generation = (int64_t)(10 * attribute(d, (CUdevice_attribute)d->platform->major) +
                                    attribute(d, (CUdevice_attribute)d->platform->minor));
    return FR_OK;
}

static fr_status load_kernels(struct fr_device_handle *d, struct fr_error *err) {
    static const struct {
        fr_traffic kind;
        const char *name;
    } named[] = {{FR_TRAFFIC_STREAM, "fr_stream"},
                 {FR_TRAFFIC_ELEMENTWISE, "fr_elementwise"},
                 {FR_TRAFFIC_NORM, "fr_norm"},
                 {FR_TRAFFIC_SOFTMAX, "fr_softmax"},
                 {FR_TRAFFIC_UPDATE, "fr_update"}};
    const void *image = NULL;
    void *made = NULL;
    fr_status status = d->platform->kernels(d, &image, &made, err);
    if (status == FR_OK)
        status = fr_cuda_check(d, d->cuda.cuModuleLoadDataEx(&d->kernels, image, 0, NULL, NULL),
                               "cuModuleLoadDataEx", err);
    free(made);
    FR_TRY(status);
    FR_CUDA_TRY(d, cuModuleGetFunction, &d->nothing, d->kernels, "fr_nothing");
    for (size_t i = 0; i < N_OF(named); i++)
        FR_CUDA_TRY(d, cuModuleGetFunction, &d->passes[named[i].kind], d->kernels,
                    named[i].name);
    return FR_OK;
}

static void open_blas(struct fr_device_handle *d) {
    struct fr_error why = {.status = FR_OK};
    fr_status status =
        fr_library_open(d->platform->blas_library, &d->blas_library, &d->blas, &why);
    cublasStatus_t code =
        status == FR_OK ? d->blas.cublasLtCreate(&d->blas_handle) : FR_BLAS_OK;
    if (code != FR_BLAS_OK) {
        d->blas_handle = NULL;
        status = fr_fail(&why, FR_ERR_EXTERNAL, NULL, "cannot be started: code %u", code);
    }
    if (status != FR_OK) lack(d, d->platform->blas_library, &why);
}

static void open_dnn(struct fr_device_handle *d) {
    struct fr_error why = {.status = FR_OK};
    if (!d->platform->dnn_library) return;
    fr_status status =
        fr_library_open(d->platform->dnn_library, &d->dnn_library, &d->dnn, &why);
    const char *what = "cudnnCreate";
    cudnnStatus_t code = status == FR_OK ? d->dnn.cudnnCreate(&d->dnn_handle) : FR_DNN_OK;
    if (status == FR_OK && code == FR_DNN_OK) {
        what = "cudnnSetStream";
        code = d->dnn.cudnnSetStream(d->dnn_handle, d->stream);
        if (code != FR_DNN_OK) d->dnn.cudnnDestroy(d->dnn_handle);
    }
    if (code != FR_DNN_OK) {
        d->dnn_handle = NULL;
        status =
            fr_fail(&why, FR_ERR_EXTERNAL, NULL, "cannot be started: %s: code %u", what, code);
    }
    if (status != FR_OK) lack(d, d->platform->dnn_library, &why);
}

static void open_nccl(struct fr_device_handle *d) {
    struct fr_error why = {.status = FR_OK};
    if (fr_library_open(d->platform->nccl_library, &d->nccl_library, &d->nccl, &why) != FR_OK)
        lack(d, d->platform->nccl_library, &why);
    else
        fr_cuda_choice_begin(d);
}

/* Three eighths of what is free for operands and as much for results, at most 8 GiB each. */
static fr_status take_memory(struct fr_device_handle *d, struct fr_error *err) {
    static const double MOST_B = 8589934592.0, SHARE = 0.375;
    const float scales[FR_CUDA_ALIGN_B / sizeof(float) + 1] = {
        [0] = 1, [FR_CUDA_ALIGN_B / sizeof(float)] = 1};
    size_t free_B = 0, total_B = 0;
    FR_CUDA_TRY(d, cuMemGetInfo_v2, &free_B, &total_B);
    d->pool_B =
        (size_t)fmin(MOST_B, SHARE * (double)free_B) / FR_CUDA_ALIGN_B * FR_CUDA_ALIGN_B;
    FR_CUDA_TRY(d, cuMemAlloc_v2, &d->inputs, d->pool_B);
    FR_CUDA_TRY(d, cuMemAlloc_v2, &d->outputs, d->pool_B);
    FR_CUDA_TRY(d, cuMemAlloc_v2, &d->workspace, FR_CUDA_WORKSPACE_B);
    FR_CUDA_TRY(d, cuMemAlloc_v2, &d->scales, sizeof scales);
    FR_CUDA_TRY(d, cuMemcpyHtoD_v2, d->scales, scales, sizeof scales);
    return FR_OK;
}

static void name_libraries(struct fr_device_handle *d) {
    const struct fr_gpu_platform *p = d->platform;
    char *text = d->facts.libraries;
    size_t capacity = sizeof d->facts.libraries, used = 0;
    int version = 0;
    d->cuda.cuDriverGetVersion(&version);
    fr_line_addf(text, capacity, &used, "%s %d.%d", p == &fr_gpu_cuda ? "CUDA" : "HIP",
                 version / p->version_unit,
                 version % p->version_unit / (p->version_unit / 100));
    long blas_version = d->blas_handle ? p->blas_version(d) : 0;
    fr_line_addf(text, capacity, &used, ", %s%s", d->blas_handle ? "" : "no ",
                 p->blas_library->name);
    if (blas_version > 0) fr_line_addf(text, capacity, &used, " %ld", blas_version);
    if (d->dnn_handle)
        fr_line_addf(text, capacity, &used, ", cuDNN %zu", d->dnn.cudnnGetVersion());
    else
        fr_line_addf(text, capacity, &used, ", no cuDNN");
    if (d->nccl_library && d->nccl.ncclGetVersion(&version) == FR_NCCL_OK)
        fr_line_addf(text, capacity, &used, ", %s %d", p->nccl_library->name, version);
    else
        fr_line_addf(text, capacity, &used, ", no %s", p->nccl_library->name);
    if (!d->nvml_device)
        fr_line_addf(text, capacity, &used, ", no %s", p->management_library->name);
}

static void measure_context(struct fr_device_handle *d, double used_before_B) {
    nvmlMemory_t memory = {0};
    if (used_before_B < 0 || d->nvml.nvmlDeviceGetMemoryInfo(d->nvml_device, &memory) != 0)
        return;
    d->facts.context_B = fmax(0, (double)memory.used - used_before_B);
}

static fr_status bring_up(struct fr_device_handle *d, struct fr_error *err) {
    int n = 0;
    double used_B = -1;
    FR_TRY(start(d, &n, err));
    if (d->index >= n)
        return fr_fail(err, FR_ERR_EXTERNAL, d->platform->name,
                       "there is no GPU %d: the driver sees %d", d->index, n);
    FR_TRY(describe(d, err));
    open_nvml(d, &used_B);
    FR_CUDA_TRY(d, cuDevicePrimaryCtxRetain, &d->context, d->device);
    FR_CUDA_TRY(d, cuCtxSetCurrent, d->context);
    FR_CUDA_TRY(d, cuStreamCreate, &d->stream, 0);
    FR_CUDA_TRY(d, cuStreamCreate, &d->beside, 0);
    FR_CUDA_TRY(d, cuEventCreate, &d->start, 0);
    FR_CUDA_TRY(d, cuEventCreate, &d->stop, 0);
    FR_CUDA_TRY(d, cuEventCreate, &d->joined, 0);
    FR_TRY(load_kernels(d, err));
    open_blas(d);
    measure_context(d, used_B);
    open_dnn(d);
    open_nccl(d);
    name_libraries(d);
    return take_memory(d, err);
}

void fr_gpu_close(struct fr_device_handle *d) {
    if (d->context) {
        fr_cuda_product_release(d);
        fr_cuda_attention_release(d);
        if (d->dnn_handle) d->dnn.cudnnDestroy(d->dnn_handle);
        if (d->graph) d->cuda.cuGraphExecDestroy(d->graph);
        if (d->host_pinned) d->cuda.cuMemFreeHost(d->host_pinned);
        const CUdeviceptr memory[] = {d->inputs, d->outputs, d->workspace, d->scales,
                                      d->block_scales};
        for (size_t i = 0; i < N_OF(memory); i++)
            if (memory[i]) d->cuda.cuMemFree_v2(memory[i]);
        if (d->blas_handle) d->blas.cublasLtDestroy(d->blas_handle);
        if (d->kernels) d->cuda.cuModuleUnload(d->kernels);
        if (d->start) d->cuda.cuEventDestroy_v2(d->start);
        if (d->stop) d->cuda.cuEventDestroy_v2(d->stop);
        if (d->joined) d->cuda.cuEventDestroy_v2(d->joined);
        if (d->beside) d->cuda.cuStreamDestroy_v2(d->beside);
        if (d->stream) d->cuda.cuStreamDestroy_v2(d->stream);
        d->cuda.cuDevicePrimaryCtxRelease_v2(d->device);
    }
    fr_cuda_choice_end(d);
    d->platform->close_management(d);
    fr_library_close(d->nvml_library);
    fr_library_close(d->nccl_library);
    fr_library_close(d->dnn_library);
    fr_library_close(d->blas_library);
    fr_library_close(d->driver_library);
    for (int i = 0; i < FR_DTYPE_COUNT; i++) free(d->drawn[i]);
    free(d->host_pages);
    free(d);
}

fr_status fr_gpu_open(const struct fr_gpu_platform *platform, int index,
                      struct fr_device_handle **device, struct fr_error *err) {
    struct fr_device_handle *d = fr_calloc(1, sizeof *d);
    *device = NULL;
    if (!d) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    d->platform = platform;
    d->index = index;
    d->filled = -1;
    fr_status status = bring_up(d, err);
    if (status == FR_OK)
        *device = d;
    else
        fr_gpu_close(d);
    return status;
}

const struct fr_device_facts *fr_gpu_facts(const struct fr_device_handle *d) {
    return &d->facts;
}

fr_status fr_gpu_prepare(struct fr_device_handle *d, const struct fr_device_task *task,
                         struct fr_error *err) {
    fr_cuda_product_release(d);
    fr_cuda_attention_release(d);
    d->task = *task;
    switch (task->kind) {
    case FR_DEVICE_PRODUCT:
        return fr_cuda_product_prepare(d, err);
    case FR_DEVICE_TRAFFIC:
        return fr_cuda_pass_prepare(d, err);
    case FR_DEVICE_GRAPH:
        return fr_cuda_graph_prepare(d, err);
    case FR_DEVICE_LINK:
        return fr_cuda_link_prepare(d, err);
    case FR_DEVICE_ATTENTION:
        return fr_cuda_attention_prepare(d, err);
    case FR_DEVICE_COLLECTIVE:
    case FR_DEVICE_BESIDE:
        return fr_cuda_collective_prepare(d, err);
    default:
        return FR_OK;
    }
}

static fr_status issue(struct fr_device_handle *d, int calls, struct fr_error *err) {
    switch (d->task.kind) {
    case FR_DEVICE_PRODUCT:
        return fr_cuda_product_run(d, calls, err);
    case FR_DEVICE_TRAFFIC:
        return fr_cuda_pass_run(d, calls, err);
    case FR_DEVICE_GRAPH:
        return fr_cuda_graph_run(d, calls, err);
    case FR_DEVICE_LINK:
        return fr_cuda_link_run(d, calls, err);
    case FR_DEVICE_ATTENTION:
        return fr_cuda_attention_run(d, calls, err);
    case FR_DEVICE_COLLECTIVE:
        return fr_cuda_collective_run(d, calls, err);
    case FR_DEVICE_BESIDE:
        return fr_cuda_beside_run(d, calls, err);
    default:
        return fr_cuda_launch_run(d, calls, err);
    }
}

fr_status fr_gpu_run(struct fr_device_handle *d, int calls, double *time_s,
                     struct fr_error *err) {
    float took_ms = 0;
    /* A graph holds many kernels, of which a call is one. */
    int whole =
        d->task.kind == FR_DEVICE_GRAPH ? (calls + FR_CUDA_GRAPH - 1) / FR_CUDA_GRAPH : calls;
    FR_CUDA_TRY(d, cuEventRecord, d->start, d->stream);
    FR_TRY(issue(d, whole, err));
    FR_CUDA_TRY(d, cuEventRecord, d->stop, d->stream);
    FR_CUDA_TRY(d, cuStreamSynchronize, d->stream);
    if (d->task.kind == FR_DEVICE_BESIDE) FR_CUDA_TRY(d, cuStreamSynchronize, d->beside);
    FR_TRY(fr_cuda_group_check(d, err));
    FR_CUDA_TRY(d, cuEventElapsedTime, &took_ms, d->start, d->stop);
    *time_s = 1e-3 * (double)took_ms;
    if (d->task.kind == FR_DEVICE_GRAPH)
        *time_s *= (double)calls / ((double)whole * FR_CUDA_GRAPH);
    return FR_OK;
}

void fr_gpu_state(struct fr_device_handle *d, struct fr_device_state *state) {
    unsigned long long energy_mJ = 0;
    unsigned value = 0;
    size_t free_B = 0, total_B = 0;
    *state = (struct fr_device_state){0};
    if (d->cuda.cuMemGetInfo_v2(&free_B, &total_B) == 0) state->free_B = (double)free_B;
    if (!d->nvml_device) return;
    if (d->nvml.nvmlDeviceGetTotalEnergyConsumption(d->nvml_device, &energy_mJ) == 0)
        state->energy_J = 1e-3 * (double)energy_mJ;
    if (d->nvml.nvmlDeviceGetPowerUsage(d->nvml_device, &value) == 0)
        state->power_W = 1e-3 * value;
    if (d->nvml.nvmlDeviceGetClockInfo(d->nvml_device, FR_NVML_CLOCK_SM, &value) == 0)
        state->clock_Hz = 1e6 * value;
}
