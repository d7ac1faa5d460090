/* The driver of NVIDIA's GPUs against libraries of ours (fake_cuda/), which the loader finds first: times follow the
 * laws that these keep, and every fault ends in a sentence that names the call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "calibrate/measure/device/cuda/hip.h"
#include "calibrate/measure/device/device.h"
#include "calibrate/measure/device/library.h"
#include "tests/calibrate/fake_cuda/fake.h"

static const struct fr_device_driver *const driver = &fr_device_cuda;
static const struct fr_device_task launch = {.kind = FR_DEVICE_LAUNCH},
                                   graph = {.kind = FR_DEVICE_GRAPH};
static const struct fr_device_task copy_in = {
    .kind = FR_DEVICE_LINK, .size_B = 1 << 20, .to_device = true, .pinned = true};
static const struct fr_device_task copy_out = {.kind = FR_DEVICE_LINK, .size_B = 1 << 20};
static const struct fr_device_task pass = {
    .kind = FR_DEVICE_TRAFFIC, .traffic = FR_TRAFFIC_STREAM, .size_B = 1e9};
static const struct fr_device_task product = {.kind = FR_DEVICE_PRODUCT,
                                              .dtype = FR_BF16,
                                              .m = 4096,
                                              .n = 6144,
                                              .k = 4096,
                                              .transposed = FR_TRANSPOSED_B};

static const struct fr_device_task batch = {
    .kind = FR_DEVICE_PRODUCT, .dtype = FR_BF16, .batch = 8, .m = 512, .n = 1024, .k = 2048};

static const struct fr_device_task attention = {.kind = FR_DEVICE_ATTENTION,
                                                .dtype = FR_BF16,
                                                .batch = 2,
                                                .sequence = 4096,
                                                .heads = 32,
                                                .kv_heads = 8,
                                                .width = 128,
                                                .causal = true,
                                                .backward = true};

static double time_s(struct fr_device_handle *device, const struct fr_device_task *task,
                     int calls) {
    struct fr_error err = {.status = FR_OK};
    double took_s = 0;
    if (driver->prepare(device, task, &err) != FR_OK ||
        driver->run(device, calls, &took_s, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    return took_s / calls;
}

static struct fr_device_handle *open_device(void) {
    struct fr_device_handle *device = NULL;
    struct fr_error err = {.status = FR_OK};
    if (driver->open(0, &device, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    return device;
}

static void near(double got, double wanted, const char *what) {
    if (!(got > wanted * 0.999 && got < wanted * 1.001))
        fail_msg("%s: got %g, wanted %g", what, got, wanted);
}

static void it_knows_what_it_has(void **state) {
    (void)state;
    int n = 0;
    struct fr_device_state now;
    assert_int_equal(driver->count(&n, NULL), FR_OK);
    assert_int_equal(n, 1);
    struct fr_device_handle *device = open_device();
    const struct fr_device_facts *facts = driver->facts(device);
    assert_string_equal(facts->name, "NVIDIA H100 80GB HBM3");
    assert_string_equal(facts->driver, "580.00");
    assert_string_equal(facts->libraries,
                        "CUDA 13.0, cuBLASLt 130100, cuDNN 91900, NCCL 22809");
    assert_string_equal(facts->lacks, "");
    assert_int_equal(facts->units, FAKE_UNITS);
    near(facts->shown_B, FAKE_SHOWN_B, "memory");
    near(facts->context_B, FAKE_CONTEXT_B, "context");
    driver->state(device, &now);
    near(now.clock_Hz, 1470e6, "clock");
    assert_true(now.energy_J > 0 && now.free_B > 0);
    driver->close(device);
}

/* The law of fake.h, of m x n x k in whole tiles. */
static double product_s(const struct fr_device_task *t, double peak) {
    double tiles = (double)(t->m / 128) * (double)(t->n / 128);
    double value_B = t->dtype == FR_FP32 || t->dtype == FR_TF32 ? 4
                     : t->dtype == FR_FP64                      ? 8
                                                                : 2;
    return 2 * (double)t->m * (double)t->n * (double)t->k / (FAKE_EFFICIENCY * peak) *
               (1 + FAKE_TAIL * FAKE_UNITS / tiles) +
           (double)t->m * (double)t->n * value_B / FAKE_MEMORY;
}

/* Every dtype, direction and some shapes: cuBLAS gets the right sizes, or the fake would not take them. */
static void products_keep_their_law(void **state) {
    (void)state;
    static const struct {
        fr_dtype dtype;
        double peak;
    } formats[] = {{FR_BF16, FAKE_PEAK},      {FR_FP16, FAKE_PEAK},
                   {FR_TF32, FAKE_PEAK / 2},  {FR_FP32, FAKE_PEAK / 15},
                   {FR_FP64, FAKE_PEAK / 15}, {FR_FP8, FAKE_PEAK * 1979 / 989},
                   {FR_FP4, FAKE_PEAK * 4}};
    static const int64_t shapes[][3] = {{4096, 6144, 2048}, {256, 128, 512}, {128, 8192, 1024}};
    struct fr_device_handle *device = open_device();
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            for (int way = FR_TRANSPOSED_NONE; way <= FR_TRANSPOSED_B; way++) {
                const struct fr_device_task task = {.kind = FR_DEVICE_PRODUCT,
                                                    .dtype = formats[f].dtype,
                                                    .m = shapes[i][0],
                                                    .n = shapes[i][1],
                                                    .k = shapes[i][2],
                                                    .transposed = (fr_transposed)way};
                near(time_s(device, &task, 50), product_s(&task, formats[f].peak),
                     fr_dtype_names[task.dtype]);
            }
    driver->close(device);
}

/* Several at once: waves count all tiles, and each reads its own second operand.  With scales of blocks. */
static void batches_and_block_scales_keep_their_law(void **state) {
    (void)state;
    struct fr_device_handle *device = open_device();
    struct fr_device_task t = product;
    for (t.batch = 2; t.batch <= 32; t.batch *= 4)
        for (int way = FR_TRANSPOSED_NONE; way <= FR_TRANSPOSED_B; way++)
            for (int narrow = 0; narrow < 2; narrow++) {
                t.m = 1024, t.transposed = (fr_transposed)way;
                t.dtype = narrow ? FR_FP8 : FR_BF16;
                double tiles = (double)t.batch * 1024 / 128 * 6144 / 128,
                       peak = narrow ? FAKE_PEAK * 1979 / 989 : FAKE_PEAK,
                       flop = 2 * (double)t.batch * 1024 * 6144 * 4096,
                       moved_B = (double)t.batch * 6144 * (1024 * 2 + 4096 * (narrow ? 1 : 2));
                near(time_s(device, &t, 5),
                     flop / (FAKE_GROUPED * FAKE_EFFICIENCY * peak) *
                             (1 + FAKE_TAIL * FAKE_UNITS / tiles) +
                         moved_B / FAKE_MEMORY,
                     "a batch");
            }
    t = product, t.dtype = FR_FP8;
    double written_s = (double)t.m * (double)t.n * 2 / FAKE_MEMORY,
           plain_s = time_s(device, &t, 5) - written_s;
    t.blocks = true;
    near(time_s(device, &t, 5), FAKE_BLOCKS * plain_s + written_s, "scales of blocks");
    t.blocks = false, t.dtype = FR_FP4; /* other scales lie where those were */
    near(time_s(device, &t, 5), product_s(&t, 4 * FAKE_PEAK), "fp4 after them");
    driver->close(device);
}

static double attention_s(const struct fr_device_task *t) {
    double s = (double)t->sequence, keys = t->causal ? s / 2 : s, d = (double)t->width;
    double forward_s = 4 * (double)t->batch * (double)t->heads * s * d * keys *
                       (1 + FAKE_HALF_KEYS / keys) / (FAKE_FLASH * FAKE_PEAK);
    if (t->backward) return 2.5 * forward_s / FAKE_BACKWARD;
    return d < FAKE_EXPONENTIALS ? forward_s * FAKE_EXPONENTIALS / d : forward_s;
}

/* Sizes, sharing, mask and pass: cuDNN gets a whole graph and all its tensors, or the fake has no kernel. */
static void attention_keeps_its_law(void **state) {
    (void)state;
    struct fr_device_handle *device = open_device();
    for (int width = 64; width <= 256; width *= 2)
        for (int shared = 1; shared <= 4; shared *= 4)
            for (int kind = 0; kind < 4; kind++)
                for (int sequence = 1024; sequence <= 65536; sequence *= 8) {
                    struct fr_device_task t = attention;
                    t.width = width, t.kv_heads = t.heads / shared, t.sequence = sequence;
                    t.batch = 65536 / sequence > 4 ? 4 : 1, t.causal = kind % 2,
                    t.backward = kind / 2;
                    near(time_s(device, &t, 3), attention_s(&t), "attention");
                }
    driver->close(device);
}

static struct fr_device_group *open_group(struct fr_device_handle *device) {
    unsigned char id[FR_DEVICE_GROUP_ID_B];
    struct fr_device_group *group = NULL;
    struct fr_error err = {.status = FR_OK};
    if (driver->group_id(device, id, &err) != FR_OK ||
        driver->group_open(device, id, 1, 0, &group, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    return group;
}

/* One rank has no link, so that what is left is NCCL's own start: of every kind, and beside a product.  Several ranks
 * are calibrate_mpi.device_law's. */
static void groups_keep_their_law(void **state) {
    (void)state;
    struct fr_device_handle *device = open_device();
    driver->choice_end(device);
    struct fr_device_task t = {.kind = FR_DEVICE_COLLECTIVE,
                               .group = open_group(device),
                               .size_B = 1 << 20,
                               .first = true,
                               .both = true};
    for (int op = 0; op < FR_OP_COUNT; op++) {
        bool whole = op == FR_OP_BROADCAST || op == FR_OP_REDUCE;
        double moved_s = whole ? t.size_B / FAKE_NVLINK : 0;
        t.op = (fr_op)op;
        if (op == FR_OP_GATHER || op == FR_OP_SCATTER) {
            assert_int_equal(driver->prepare(device, &t, NULL), FR_ERR_UNSUPPORTED);
            continue;
        }
        near(time_s(device, &t, 7), (op == FR_OP_SEND_RECV ? 2 : 1) * (FAKE_NCCL_S + moved_s),
             fr_op_names[op]);
    }
    struct fr_device_task beside = product;
    beside.kind = FR_DEVICE_BESIDE, beside.group = t.group;
    beside.op = FR_OP_BROADCAST, beside.size_B = 512e6;
    double alone_s = product_s(&product, FAKE_PEAK),
           moves_s = FAKE_NCCL_S + beside.size_B / FAKE_NVLINK;
    assert_true(moves_s > 2 * alone_s);
    const double wanted_s[] = {moves_s, alone_s, moves_s, alone_s * (1 + FAKE_INTERFERENCE)};
    for (beside.part = 0; beside.part < 4; beside.part++)
        near(time_s(device, &beside, 4), wanted_s[beside.part], "a collective and a product");
    driver->group_close(device, t.group);
    driver->close(device);
}

/* NCCL logs what it chooses until it is told not to, and then takes no longer than it does.  A user's own settings stay. */
static void choices_are_noted_until_they_end(void **state) {
    (void)state;
    struct fr_device_handle *device = open_device();
    struct fr_device_choice choice = {.algorithm = ""};
    struct fr_device_task t = {.kind = FR_DEVICE_COLLECTIVE,
                               .group = open_group(device),
                               .op = FR_OP_ALL_REDUCE,
                               .size_B = 4096};
    near(time_s(device, &t, 1), FAKE_NCCL_S + FAKE_NOTED_S, "a choice that is noted");
    driver->choice(device, &choice);
    assert_string_equal(choice.algorithm, "tree");
    assert_string_equal(choice.protocol, "ll");
    driver->choice(device, &choice); /* nothing was run since */
    assert_string_equal(choice.algorithm, "");
    t.size_B = 1 << 20;
    time_s(device, &t, 3);
    driver->choice(device, &choice);
    assert_string_equal(choice.algorithm, "ring");
    assert_string_equal(choice.protocol, "simple");
    t.op = FR_OP_ALL_TO_ALL; /* of messages, for which there is no choice */
    time_s(device, &t, 1);
    driver->choice(device, &choice);
    assert_string_equal(choice.algorithm, "");
    driver->choice_end(device);
    assert_null(getenv("NCCL_DEBUG"));
    t.op = FR_OP_ALL_REDUCE;
    near(time_s(device, &t, 1), FAKE_NCCL_S, "a choice that is not");
    driver->choice(device, &choice);
    assert_string_equal(choice.algorithm, "");
    driver->group_close(device, t.group);
    driver->close(device);
    setenv("NCCL_DEBUG", "WARN", 1);
    device = open_device();
    assert_null(getenv("NCCL_DEBUG_FILE"));
    driver->close(device);
    assert_string_equal(getenv("NCCL_DEBUG"), "WARN");
    unsetenv("NCCL_DEBUG");
}

/* Lines of NCCL from 2.24 on, of an older release with numbers, and those that state nothing. */
static void lines_of_nccl_state_choices(void **state) {
    static const struct {
        const char *line, *algorithm, *protocol;
    } lines[] = {
        {"n:1:2 [5] NCCL INFO AllReduce: 4 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..0}",
         "tree", "ll"},
        {"AllGather: 16777216 Bytes -> Algo NVLS_TREE proto SIMPLE channel{Lo..Hi}={0..15}",
         "nvls_tree", "simple"},
        {"n:1:2 [0] NCCL INFO AllReduce: 512 Bytes -> Algo 1 proto 1 time 12.5", "ring",
         "ll128"},
        {"n:1:2 [0] NCCL INFO AllReduce: 512 Bytes -> Algo 9 proto 7 time 12.5", "9", "7"},
        {"n:1:2 [0] NCCL INFO Channel 00/02 : 0 1", NULL, NULL},
        {"512 Bytes -> Algo", NULL, NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct fr_device_choice choice = {.algorithm = ""};
        assert_int_equal(fr_cuda_choice_read(lines[i].line, &choice),
                         lines[i].algorithm != NULL);
        assert_string_equal(choice.algorithm, lines[i].algorithm ? lines[i].algorithm : "");
        assert_string_equal(choice.protocol, lines[i].protocol ? lines[i].protocol : "");
    }
}

/* A group that cannot be made, or fails on the way, is told in a sentence. */
static void faults_of_groups_are_sentences(void **state) {
    static const char *const faulty[] = {
        "ncclBroadcast", "ncclReduce",     "ncclAllReduce",         "ncclAllGather",
        "ncclSend",      "ncclRecv",       "ncclReduceScatter",     "ncclGroupEnd",
        "async",         "ncclGroupStart", "ncclCommGetAsyncError", "cuStreamSynchronize"};
    (void)state;
    for (size_t i = 0; i < sizeof faulty / sizeof *faulty; i++) {
        struct fr_device_handle *device = open_device();
        struct fr_device_task t = {.kind = FR_DEVICE_COLLECTIVE, .size_B = 1024, .both = true};
        struct fr_error err = {.status = FR_OK};
        fr_status status = FR_OK;
        double took_s = 0;
        t.group = open_group(device);
        setenv("FAKE_CUDA_FAULT", faulty[i], 1);
        for (int op = 0; op < FR_OP_COUNT && status == FR_OK; op++) {
            t.op = (fr_op)op;
            status = driver->prepare(device, &t, &err);
            if (status == FR_OK) status = driver->run(device, 2, &took_s, &err);
            if (status == FR_ERR_UNSUPPORTED) status = FR_OK;
        }
        unsetenv("FAKE_CUDA_FAULT");
        if (status != FR_ERR_EXTERNAL || !strstr(err.detail, "code 1"))
            fail_msg("%s: status %d, \"%s: %s\"", faulty[i], (int)status, err.where,
                     err.detail);
        driver->group_close(device, t.group);
        driver->close(device);
    }
    struct fr_device_handle *device = open_device();
    unsigned char id[FR_DEVICE_GROUP_ID_B] = "";
    struct fr_device_group *group = NULL;
    struct fr_error err = {.status = FR_OK};
    setenv("FAKE_CUDA_FAULT", "ncclGetUniqueId:2;ncclCommInitRank:2", 1);
    assert_int_equal(driver->group_id(device, id, &err), FR_ERR_EXTERNAL);
    assert_int_equal(driver->group_open(device, id, 1, 0, &group, &err), FR_ERR_EXTERNAL);
    assert_non_null(strstr(err.detail, "ncclCommInitRank: a fault on demand, code 2"));
    unsetenv("FAKE_CUDA_FAULT");
    driver->close(device);
}

static void all_else_keeps_its_law(void **state) {
    (void)state;
    struct fr_device_handle *device = open_device();
    near(time_s(device, &launch, 100), FAKE_LAUNCH_S, "launch");
    near(time_s(device, &graph, 100), FAKE_GRAPH_S, "graph");
    near(time_s(device, &graph, 1000), FAKE_GRAPH_S, "graph, several of them");
    for (int kind = 0; kind < FR_TRAFFIC_OPERANDS; kind++)
        for (double size_B = 1 << 20; size_B < 4e9; size_B *= 16) {
            const struct fr_device_task task = {
                .kind = FR_DEVICE_TRAFFIC, .traffic = (fr_traffic)kind, .size_B = size_B};
            double rate = FAKE_MEMORY * (size_B > FAKE_CACHE_B ? 1 : FAKE_CACHE_TIMES);
            if (kind == FR_TRAFFIC_SELECT) continue;
            assert_true(driver->moved_B(&task) > 0.99 * size_B);
            near(time_s(device, &task, 3), FAKE_LAUNCH_S + driver->moved_B(&task) / rate,
                 fr_traffic_names[kind]);
        }
    for (int pinned = 0; pinned < 2; pinned++)
        for (int in = 0; in < 2; in++) {
            const struct fr_device_task task = {
                .kind = FR_DEVICE_LINK, .size_B = 3e6, .to_device = in, .pinned = pinned};
            near(time_s(device, &task, 3),
                 (FAKE_COPY_S + 3e6 / FAKE_LINK) * (pinned ? 1 : FAKE_PAGED), "copy");
        }
    driver->close(device);
}

/* These calls go to a device that has a fault. */
static fr_status use(const struct fr_device_task *task, struct fr_error *err) {
    struct fr_device_handle *device = NULL;
    double took_s = 0;
    int n = 0;
    fr_status status = driver->count(&n, err);
    if (status == FR_OK) status = driver->open(0, &device, err);
    if (status == FR_OK) status = driver->prepare(device, task, err);
    if (status == FR_OK) status = driver->run(device, 2, &took_s, err);
    if (device) driver->close(device);
    return status;
}

static const struct {
    const char *call;
    unsigned code;
    const struct fr_device_task *task;
    const char *remedy; /* NULL: of a call that the library refuses, whatever was done */
} faults[] = {
    {"cuInit", 3, &launch, "the driver is not running"},
    {"cuInit", 803, &launch, "restart the machine"}, /* driver and libraries do not match */
    {"cuDeviceGetCount", 999, &launch, "dmesg"},
    {"cuDeviceGet", 101, &launch, "CUDA_VISIBLE_DEVICES"},
    {"cuDeviceGetName", 1, &launch, NULL},
    {"cuDeviceGetPCIBusId", 1, &launch, NULL},
    {"cuDeviceTotalMem_v2", 1, &launch, NULL},
    {"cuDevicePrimaryCtxRetain", 46, &launch,
     "compute mode DEFAULT"}, /* another process has it alone */
    {"cuDevicePrimaryCtxRetain", 2, &launch, "free memory"},
    {"cuCtxSetCurrent", 201, &launch, "dmesg"},
    {"cuStreamCreate", 2, &launch, "free memory"},
    {"cuEventCreate", 2, &launch, "free memory"},
    {"cuModuleLoadDataEx", 222, &launch,
     "update the driver"}, /* a driver too old for the kernels */
    {"cuModuleGetFunction", 500, &launch, "version that is not known"},
    {"cuMemGetInfo_v2", 700, &launch, "dmesg"},
    {"cuMemAlloc_v2", 2, &launch, "free memory"},
    {"cuMemcpyHtoD_v2", 700, &launch, "dmesg"},
    {"cuEventRecord", 400, &launch, NULL},
    {"cuLaunchKernel", 719, &launch, "dmesg"},
    {"cuStreamSynchronize", 214, &launch,
     "reset the GPU"}, /* memory with an error that cannot be corrected */
    {"cuStreamSynchronize", 702, &launch,
     "GPU with a display"}, /* taken from us: it took too long */
    {"cuEventElapsedTime", 600, &launch, NULL},
    {"cuStreamBeginCapture_v2", 900, &graph, NULL},
    {"cuStreamEndCapture", 901, &graph, NULL},
    {"cuGraphInstantiateWithFlags", 2, &graph, "free memory"},
    {"cuGraphLaunch", 700, &graph, "dmesg"},
    {"cuMemAllocHost_v2", 2, &copy_in, "free memory"},
    {"cuMemcpyHtoDAsync_v2", 700, &copy_in, "dmesg"},
    {"cuMemcpyDtoHAsync_v2", 700, &copy_out, "dmesg"},
    {"cuMemcpyDtoDAsync_v2", 700, &pass, "dmesg"},
    {"cuMemsetD32Async", 700, &pass, "dmesg"},
    {"cublasLtMatmulDescCreate", 3, &product, "free memory"},
    {"cublasLtMatmulDescSetAttribute", 7, &product, "version that is not known"},
    {"cublasLtMatrixLayoutCreate", 3, &product, "free memory"},
    {"cublasLtMatrixLayoutSetAttribute", 7, &batch, "version that is not known"},
    {"cublasLtMatmulPreferenceCreate", 3, &product, "free memory"},
    {"cublasLtMatmulPreferenceSetAttribute", 7, &product, "version that is not known"},
    {"cublasLtMatmulAlgoGetHeuristic", 14, &product, "dmesg"},
    {"cublasLtMatmul", 13, &product, "dmesg"},
    {"cudnnBackendCreateDescriptor", 4003, &attention, "free memory"},
    {"cudnnBackendSetAttribute", 2000, &attention, "version that is not known"},
    {"cudnnBackendFinalize", 2004, &attention, "version that is not known"},
    {"cudnnBackendGetAttribute", 4000, &attention, "free memory"},
    {"cudnnBackendExecute", 5001, &attention, "dmesg"},
};

static void every_fault_is_a_sentence(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct fr_error err = {.status = FR_OK};
        char fault[96], code[32];
        snprintf(fault, sizeof fault, "%s:%u", faults[i].call, faults[i].code);
        snprintf(code, sizeof code, "code %u", faults[i].code);
        setenv("FAKE_CUDA_FAULT", fault, 1);
        fr_status status = use(faults[i].task, &err);
        unsetenv("FAKE_CUDA_FAULT");
        if (status != FR_ERR_EXTERNAL || !strstr(err.detail, faults[i].call) ||
            !strstr(err.detail, code) || !*err.where ||
            !strstr(err.detail, faults[i].remedy ? faults[i].remedy : "or report this line"))
            fail_msg("%s: status %d, \"%s: %s\"", fault, (int)status, err.where, err.detail);
        assert_int_equal(use(faults[i].task, &err),
                         FR_OK); /* it is over, and nothing is left of it */
    }
}

/* A clean-up that fails says nothing: what was measured is measured. */
static void ends_may_fail(void **state) {
    static const char *const ends[] = {"cuMemFree_v2",
                                       "cuMemFreeHost",
                                       "cuModuleUnload",
                                       "cuEventDestroy_v2",
                                       "cuStreamDestroy_v2",
                                       "cuGraphDestroy",
                                       "cuGraphExecDestroy",
                                       "cublasLtDestroy",
                                       "cublasLtMatmulDescDestroy",
                                       "cudnnDestroy",
                                       "cudnnBackendDestroyDescriptor",
                                       "nvmlShutdown",
                                       "cuDevicePrimaryCtxRelease_v2"};
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct fr_error err = {.status = FR_OK};
        setenv("FAKE_CUDA_FAULT", ends[i], 1);
        assert_int_equal(use(&attention, &err), FR_OK);
        assert_int_equal(use(&product, &err), FR_OK);
        unsetenv("FAKE_CUDA_FAULT");
    }
}

static void not_supported_is_told_apart(void **state) {
    (void)state;
    const struct fr_device_task huge = {
        .kind = FR_DEVICE_PRODUCT, .dtype = FR_FP32, .m = 1 << 17, .n = 1 << 17, .k = 1 << 17};
    struct fr_device_task other = product, wide = pass;
    struct fr_error err = {.status = FR_OK};
    other.dtype = FR_FP4, other.k = (int64_t)1 << 20; /* of which the scales do not fit */
    wide.size_B = 1e12;
    setenv("FAKE_CUDA_FAULT", "cublasLtMatmulAlgoGetHeuristic:15", 1);
    assert_int_equal(use(&product, &err), FR_ERR_UNSUPPORTED);
    setenv("FAKE_CUDA_FAULT", "cublasLtMatmul:8", 1);
    assert_int_equal(use(&product, &err), FR_ERR_UNSUPPORTED);
    unsetenv("FAKE_CUDA_FAULT");
    assert_int_equal(use(&other, &err), FR_ERR_UNSUPPORTED);
    /* cuBLASLt of before block scales knows no such attribute. */
    struct fr_device_task scaled = product;
    scaled.dtype = FR_FP8, scaled.blocks = true;
    setenv("FAKE_CUDA_FAULT", "cublasLtMatmulDescSetAttribute:7@2", 1);
    assert_int_equal(use(&scaled, &err), FR_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.detail, "no scales of blocks of fp8: code 7"));
    unsetenv("FAKE_CUDA_FAULT");
    struct fr_device_task narrow = attention, endless = attention;
    narrow.dtype = FR_FP8;
    endless.batch = 1 << 20;
    assert_int_equal(use(&narrow, &err), FR_ERR_UNSUPPORTED);
    assert_int_equal(use(&endless, &err), FR_ERR_UNSUPPORTED);
    setenv("FAKE_CUDA_FAULT", "cudnnBackendFinalize:3001", 1);
    assert_int_equal(use(&attention, &err), FR_ERR_UNSUPPORTED);
    unsetenv("FAKE_CUDA_FAULT");
    assert_int_equal(use(&huge, &err), FR_ERR_UNSUPPORTED);
    assert_int_equal(use(&wide, &err), FR_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.detail, "no memory"));
}

/* Without a library all else goes on, and it is said what is not known. */
static void lacking_libraries_are_said(void **state) {
    static const char *const lacks[][2] = {
        {"nvmlInit_v2:9", "NVML: cannot be started: code 9"},
        {"nvmlDeviceGetHandleByPciBusId_v2:6", "NVML: does not know the GPU at"},
        {"cublasLtCreate:1", "cuBLASLt: cannot be started: code 1"},
        {"cudnnCreate:1001", "cuDNN: cannot be started: cudnnCreate: code 1001"},
        {"cudnnSetStream:2000", "cuDNN: cannot be started: cudnnSetStream: code 2000"}};
    (void)state;
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++) {
        setenv("FAKE_CUDA_FAULT", lacks[i][0], 1);
        struct fr_device_handle *device = open_device();
        if (!strstr(driver->facts(device)->lacks, lacks[i][1]))
            fail_msg("%s: \"%s\"", lacks[i][0], driver->facts(device)->lacks);
        near(time_s(device, &pass, 1), FAKE_LAUNCH_S + 1e9 / FAKE_MEMORY,
             "a pass all the same");
        driver->close(device);
    }
    struct fr_error err = {.status = FR_OK};
    assert_int_equal(use(&attention, &err), FR_ERR_UNSUPPORTED);
    setenv("FAKE_CUDA_FAULT", "cublasLtCreate:1", 1);
    assert_int_equal(use(&product, &err), FR_ERR_UNSUPPORTED);
    unsetenv("FAKE_CUDA_FAULT");
}

static void counts_and_indices_are_checked(void **state) {
    (void)state;
    int n = 0;
    struct fr_device_handle *device = NULL;
    struct fr_error err = {.status = FR_OK};
    setenv("FAKE_CUDA_GPUS", "0", 1);
    assert_int_equal(driver->count(&n, &err), FR_ERR_EXTERNAL);
    assert_non_null(strstr(err.detail, "sees no GPU"));
    setenv("FAKE_CUDA_GPUS", "3", 1);
    assert_int_equal(driver->count(&n, &err), FR_OK);
    assert_int_equal(n, 3);
    assert_int_equal(driver->open(3, &device, &err), FR_ERR_EXTERNAL);
    assert_non_null(strstr(err.detail, "no GPU 3: the driver sees 3"));
    unsetenv("FAKE_CUDA_GPUS");
}

/* Whatever does not fit is not asked for: of a GPU that others have filled what is left is used. */
static void little_memory_is_enough(void **state) {
    (void)state;
    setenv("FAKE_CUDA_FREE_B", "1e9", 1);
    struct fr_device_handle *device = open_device();
    const struct fr_device_task small = {
        .kind = FR_DEVICE_TRAFFIC, .traffic = FR_TRAFFIC_NORM, .size_B = 1 << 26};
    near(time_s(device, &small, 1), FAKE_LAUNCH_S + driver->moved_B(&small) / FAKE_MEMORY,
         "norm");
    driver->close(device);
    unsetenv("FAKE_CUDA_FREE_B");
}

static void libraries_say_what_they_lack(void **state) {
    static const struct fr_library_symbol no_such[] = {{"cuInitialise", 0}};
    static const char *const files[] = {"libcuda.so.1", NULL}, *const none[] = {
                                                                   "libno_such.so.7", NULL};
    const struct fr_library other = {"x",    "CUDA driver", files, "NVIDIA's driver",
                                     "GPUs", no_such,       1};
    const struct fr_library absent = {"x", "Nothing", none, "nobody", "nothing", NULL, 0};
    struct fr_error err = {.status = FR_OK};
    (void)state;
    for (int i = 0; fr_device_libraries[i] != &fr_hip_driver_library; i++)
        assert_int_equal(fr_library_is_there(fr_device_libraries[i], &err), FR_OK);
    assert_int_equal(fr_library_is_there(&other, &err), FR_ERR_EXTERNAL);
    assert_non_null(strstr(err.detail, "has no function cuInitialise"));
    assert_int_equal(fr_library_is_there(&absent, &err), FR_ERR_EXTERNAL);
    assert_string_equal(err.detail, "libno_such.so.7 is not here: it comes with nobody");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_knows_what_it_has),
        cmocka_unit_test(products_keep_their_law),
        cmocka_unit_test(batches_and_block_scales_keep_their_law),
        cmocka_unit_test(attention_keeps_its_law),
        cmocka_unit_test(groups_keep_their_law),
        cmocka_unit_test(choices_are_noted_until_they_end),
        cmocka_unit_test(lines_of_nccl_state_choices),
        cmocka_unit_test(faults_of_groups_are_sentences),
        cmocka_unit_test(all_else_keeps_its_law),
        cmocka_unit_test(every_fault_is_a_sentence),
        cmocka_unit_test(ends_may_fail),
        cmocka_unit_test(not_supported_is_told_apart),
        cmocka_unit_test(lacking_libraries_are_said),
        cmocka_unit_test(counts_and_indices_are_checked),
        cmocka_unit_test(little_memory_is_enough),
        cmocka_unit_test(libraries_say_what_they_lack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
