/* Stands in for libcuda.so.1. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/calibrate/fake_cuda/fake.h"

#define DECLARE(name, arguments) CUresult name arguments;
FR_CUDA_FUNCTIONS(DECLARE)
#undef DECLARE

enum { INVALID = 1, NOT_FOUND = 500, HOST_MAX = 64, CALLS_MAX = 128 };

struct CUstream_st {
    bool beside;
};
struct CUevent_st {
    double at_s;
};
struct CUgraph_st {
    int kernels;
};
struct CUfunc_st {
    char name[32];
};

static struct {
    double now_s, free_B, beside_s;
    int n_streams;
    enum fake_work last;
    void *pinned[HOST_MAX];
    int n_pinned, captured; /* kernels; -1: nothing is captured */
    unsigned long long next;
} gpu = {.free_B = -1, .captured = -1, .next = 1ULL << 40};

/* Names are copied, since a library that has been closed takes its own along. */
static struct {
    char name[64];
    int calls;
} counted[CALLS_MAX];

static int count_call(const char *name) {
    for (int i = 0; i < CALLS_MAX; i++) {
        if (!*counted[i].name)
            snprintf(counted[i].name, sizeof counted[i].name, "%s", name);
        if (strcmp(counted[i].name, name) == 0) return ++counted[i].calls;
    }
    return 0;
}

/* Is it the entry NAME[:CODE][@N] of the list?  @return its code, or 1 where it has none; 0: it is not */
static unsigned listed(const char *list, const char *name, int call) {
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ';')) {
        at += *at == ';';
        if (strncmp(at, name, length) != 0 || !strchr(":@;", at[length])) continue;
        unsigned code = 1;
        const char *rest = at + length;
        if (*rest == ':') code = (unsigned)strtoul(rest + 1, (char **)&rest, 10);
        int from = *rest == '@' ? atoi(rest + 1) : 1;
        if (call >= from) return code;
    }
    return 0;
}

unsigned fake_fault(const char *name) {
    int call = count_call(name);
    while (listed(getenv("FAKE_CUDA_HANG"), name, call)) pause();
    return listed(getenv("FAKE_CUDA_FAULT"), name, call);
}
#define MAY_FAIL()                                                                             \
    do {                                                                                       \
        unsigned code_ = fake_fault(__func__);                                                 \
        if (code_) return code_;                                                               \
    } while (0)

/* A product beside a collective is slower while both run. */
void fake_spend(double time_s, enum fake_work work) {
    double both_s = gpu.beside_s < gpu.now_s + time_s ? gpu.beside_s - gpu.now_s : time_s;
    if (work == FAKE_PRODUCT && both_s > 0) time_s += FAKE_INTERFERENCE * both_s;
    gpu.now_s += time_s;
    gpu.last = work;
}

void fake_spend_on(CUstream stream, double time_s) {
    if (stream->beside)
        gpu.beside_s += time_s;
    else
        fake_spend(time_s, FAKE_TRAFFIC);
}

static double *clock_of(CUstream stream) { return stream->beside ? &gpu.beside_s : &gpu.now_s; }

enum fake_work fake_last(void) {
    enum fake_work last = gpu.last;
    gpu.last = FAKE_NOTHING;
    return last;
}

static double number(const char *name, double unsaid) {
    const char *text = getenv(name);
    return text ? strtod(text, NULL) : unsaid;
}

static double *free_B(void) {
    if (gpu.free_B < 0) gpu.free_B = number("FAKE_CUDA_FREE_B", 80e9);
    return &gpu.free_B;
}

CUresult cuInit(unsigned flags) {
    (void)flags;
    MAY_FAIL();
    return number("FAKE_CUDA_GPUS", 1) > 0 ? 0 : FR_CUDA_NO_DEVICE;
}

CUresult cuDriverGetVersion(int *version) {
    MAY_FAIL();
    *version = 13000;
    return 0;
}

CUresult cuGetErrorName(CUresult code, const char **name) {
    *name =
        code == FR_CUDA_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_THE_FAKE";
    return 0;
}

CUresult cuGetErrorString(CUresult code, const char **text) {
    *text = code == FR_CUDA_OUT_OF_MEMORY ? "out of memory" : "a fault on demand";
    return 0;
}

CUresult cuDeviceGetCount(int *n) {
    MAY_FAIL();
    *n = (int)number("FAKE_CUDA_GPUS", 1);
    return 0;
}

CUresult cuDeviceGet(CUdevice *device, int index) {
    MAY_FAIL();
    *device = index;
    return 0;
}

CUresult cuDeviceGetName(char *name, int capacity, CUdevice device) {
    const char *at = getenv("FAKE_CUDA_NAMES");
    MAY_FAIL();
    if (!at) at = "NVIDIA H100 80GB HBM3";
    for (int i = 0; i < device && strchr(at, ';'); i++) at = strchr(at, ';') + 1;
    snprintf(name, (size_t)capacity, "%.*s", (int)strcspn(at, ";"), at);
    return 0;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device) {
    (void)device;
    MAY_FAIL();
    *value = which == FR_CUDA_UNITS       ? FAKE_UNITS
             : which == FR_CUDA_CACHE_B   ? FAKE_CACHE_B
             : which == FR_CUDA_CLOCK_KHZ ? 1980000
             : which == FR_CUDA_MAJOR     ? 9
                                          : 0;
    return 0;
}

CUresult cuDeviceGetPCIBusId(char *bus, int capacity, CUdevice device) {
    MAY_FAIL();
    snprintf(bus, (size_t)capacity, "0000:%02x:00.0", device + 1);
    return 0;
}

CUresult cuDeviceTotalMem_v2(size_t *total_B, CUdevice device) {
    (void)device;
    MAY_FAIL();
    *total_B = (size_t)FAKE_SHOWN_B;
    return 0;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    static int some;
    (void)device;
    MAY_FAIL();
    *free_B() -= FAKE_CONTEXT_B;
    gpu.n_streams = 0;
    gpu.beside_s = 0;
    *context = (CUcontext)(void *)&some;
    return 0;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    (void)device;
    MAY_FAIL();
    return 0;
}

CUresult cuCtxSetCurrent(CUcontext context) {
    MAY_FAIL();
    return context ? 0 : INVALID;
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total_B) {
    MAY_FAIL();
    *free = *free_B() > 0 ? (size_t)*free_B() : 0;
    *total_B = (size_t)FAKE_SHOWN_B;
    return 0;
}

CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t size_B) {
    MAY_FAIL();
    if ((double)size_B > *free_B()) return FR_CUDA_OUT_OF_MEMORY;
    *free_B() -= (double)size_B;
    *out = gpu.next;
    gpu.next += size_B + 65536;
    return 0;
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
    MAY_FAIL();
    return pointer ? 0 : INVALID;
}

CUresult cuMemAllocHost_v2(void **out, size_t size_B) {
    MAY_FAIL();
    if (gpu.n_pinned == HOST_MAX) return FR_CUDA_OUT_OF_MEMORY;
    *out = gpu.pinned[gpu.n_pinned++] = malloc(size_B);
    return *out ? 0 : FR_CUDA_OUT_OF_MEMORY;
}

CUresult cuMemFreeHost(void *pointer) {
    MAY_FAIL();
    for (int i = 0; i < gpu.n_pinned; i++)
        if (gpu.pinned[i] == pointer) gpu.pinned[i] = NULL;
    free(pointer);
    return 0;
}

static void copy(const void *host, size_t size_B) {
    bool pinned = false;
    for (int i = 0; i < gpu.n_pinned; i++) pinned = pinned || gpu.pinned[i] == host;
    fake_spend((FAKE_COPY_S + (double)size_B / FAKE_LINK) * (pinned ? 1 : FAKE_PAGED),
               FAKE_TRAFFIC);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size_B) {
    MAY_FAIL();
    if (!to) return INVALID;
    copy(from, size_B);
    return 0;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size_B,
                              CUstream stream) {
    (void)stream;
    MAY_FAIL();
    if (!to) return INVALID;
    copy(from, size_B);
    return 0;
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size_B, CUstream stream) {
    (void)stream;
    MAY_FAIL();
    if (!from) return INVALID;
    copy(to, size_B);
    return 0;
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size_B,
                              CUstream stream) {
    (void)stream;
    MAY_FAIL();
    if (!to || !from) return INVALID;
    fake_spend(2 * (double)size_B / FAKE_MEMORY, FAKE_TRAFFIC);
    return 0;
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t words, CUstream stream) {
    (void)value, (void)words, (void)stream;
    MAY_FAIL();
    return to ? 0 : INVALID;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    static struct CUstream_st streams[] = {{false}, {true}};
    (void)flags;
    MAY_FAIL();
    *stream = &streams[gpu.n_streams++ % 2];
    return 0;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
    (void)stream;
    MAY_FAIL();
    return 0;
}

CUresult cuStreamSynchronize(CUstream stream) {
    (void)stream;
    MAY_FAIL();
    usleep((useconds_t)number("FAKE_CUDA_WAIT_US", 0));
    return 0;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
    (void)stream, (void)mode;
    MAY_FAIL();
    gpu.captured = 0;
    return 0;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
    (void)stream;
    MAY_FAIL();
    *graph = malloc(sizeof **graph);
    (*graph)->kernels = gpu.captured;
    gpu.captured = -1;
    return 0;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
                                     unsigned long long flags) {
    (void)flags;
    MAY_FAIL();
    CUgraph copied = malloc(sizeof *copied);
    *copied = *graph;
    *exec = (CUgraphExec)(void *)copied;
    return 0;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    (void)stream;
    MAY_FAIL();
    fake_spend(((CUgraph)(void *)exec)->kernels * FAKE_GRAPH_S, FAKE_NOTHING);
    return 0;
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
    MAY_FAIL();
    free(exec);
    return 0;
}

CUresult cuGraphDestroy(CUgraph graph) {
    MAY_FAIL();
    free(graph);
    return 0;
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
    (void)flags;
    MAY_FAIL();
    *event = calloc(1, sizeof **event);
    return *event ? 0 : FR_CUDA_OUT_OF_MEMORY;
}

CUresult cuEventDestroy_v2(CUevent event) {
    free(event);
    MAY_FAIL();
    return 0;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    MAY_FAIL();
    event->at_s = *clock_of(stream);
    return 0;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    (void)flags;
    MAY_FAIL();
    if (event->at_s > *clock_of(stream)) *clock_of(stream) = event->at_s;
    return 0;
}

CUresult cuEventElapsedTime(float *ms, CUevent from, CUevent to) {
    MAY_FAIL();
    *ms = (float)((to->at_s - from->at_s) * 1e3);
    return 0;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *text, unsigned n,
                            CUjit_option *options, void **values) {
    static int some;
    (void)n, (void)options, (void)values;
    MAY_FAIL();
    if (strncmp(text, "\n.version", 8) != 0 && !strstr(text, ".version")) return INVALID;
    *module = (CUmodule)(void *)&some;
    return 0;
}

CUresult cuModuleUnload(CUmodule module) {
    (void)module;
    MAY_FAIL();
    return 0;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    static struct CUfunc_st made[16];
    static int n;
    (void)module;
    MAY_FAIL();
    if (n == sizeof made / sizeof *made) return NOT_FOUND;
    snprintf(made[n].name, sizeof made[n].name, "%s", name);
    *function = &made[n++];
    return 0;
}

/* Arrays of 16-byte pieces that a kernel reads and writes, and that it has in use. */
static const struct {
    const char *name;
    double moved, used;
} passes[] = {{"fr_stream", 2, 2},
              {"fr_elementwise", 3, 3},
              {"fr_norm", 2, 2},
              {"fr_softmax", 2, 2},
              {"fr_update", 7, 4}};

CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared_B, CUstream stream,
                        void **arguments, void **extra) {
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared_B, (void)stream,
        (void)extra;
    MAY_FAIL();
    if (gpu.captured >= 0) {
        gpu.captured++;
        return 0;
    }
    double move_s = 0;
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        if (strcmp(passes[i].name, function->name) != 0) continue;
        double piece_B = 16 * (double)*(unsigned long long *)arguments[3];
        double rate =
            FAKE_MEMORY * (passes[i].used * piece_B > FAKE_CACHE_B ? 1 : FAKE_CACHE_TIMES);
        move_s = passes[i].moved * piece_B / rate;
    }
    fake_spend(FAKE_LAUNCH_S + move_s, move_s > 0 ? FAKE_TRAFFIC : FAKE_NOTHING);
    return 0;
}
