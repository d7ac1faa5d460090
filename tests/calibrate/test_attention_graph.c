/* The graphs of attention against NVIDIA's own cuDNN, which plans for devices that are not here: it has a kernel for each
 * of them on four generations.  Skipped where there is no cuDNN 9.8 or later.  It
 * wants a libcuda, of which that of CUDA's stubs is enough. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "calibrate/measure/device/cuda/context.h"

static struct fr_dnn_api api;

/* Facts of a device as cuDNN writes them down itself (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION). */
static cudnnBackendDescriptor_t properties_of(int version) {
    char text[900];
    cudnnBackendDescriptor_t made = NULL;
    snprintf(text, sizeof text,
             "{\"cudaDeviceId\": 0, \"deviceId\": 0, \"deviceVer\": %d, \"driverVer\": 13000, "
             "\"totalGlobalMem\": 85000000000, \"regsPerBlock\": 65536, \"maxGridSize\": "
             "[2147483647, 65535, 65535], \"maxBlockSize\": [1024, 1024, 64], "
             "\"multiProcessorCount\": 132, \"warpSize\": 32, \"maxSharedMemoryPerBlock\": "
             "49152, \"maxSharedMemoryPerBlockOptin\": 232448, "
             "\"reservedSharedMemoryPerBlock\": 1024, \"maxRegistersPerSM\": 65536, "
             "\"maxCtasPerSM\": 32, \"maxThreadsPerBlock\": 1024, \"maxThreadsPerSM\": 2048, "
             "\"pciDeviceId\": 0, \"isTccDriver\": 0, \"supportCoopLaunch\": 1, "
             "\"smClockRateKHz\": 1980000, \"memClockRateKHz\": 2619000, \"l2CacheSize\": "
             "52428800, \"deviceName\": \"a device that is not here\"}",
             version);
    assert_int_equal(api.cudnnBackendCreateDescriptor(FR_DNN_PROPERTIES, &made), FR_DNN_OK);
    assert_int_equal(api.cudnnBackendSetAttribute(made, FR_DNN_PROPERTIES_TEXT, FR_DNN_IS_CHAR,
                                                  (int64_t)strlen(text), text),
                     FR_DNN_OK);
    assert_int_equal(api.cudnnBackendFinalize(made), FR_DNN_OK);
    return made;
}

static int64_t count_kernels(const struct fr_device_task *t,
                             cudnnBackendDescriptor_t properties) {
    struct fr_error err = {.status = FR_OK};
    struct fr_dnn_graph g = {.api = &api, .err = &err};
    const struct fr_dnn_target target = {.properties = properties};
    cudnnBackendDescriptor_t candidate[FR_DNN_CANDIDATES];
    fr_attention_graph(&g, t);
    int64_t n = fr_dnn_propose(&g, &target, candidate);
    if (g.status != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    fr_dnn_release(&g);
    return n;
}

/* cuDNN 9.19 has a backward kernel for heads of 256 values on Hopper alone; later ones may have more. */
static bool is_wide(const struct fr_device_task *t) { return t->width == 256 && t->backward; }

static void cudnn_has_a_kernel_for_each(void **state) {
    static const int versions[] = {800, 900, 1000, 1030};
    static const int widths[] = {64, 96, 128, 256};
    (void)state;
    for (size_t v = 0; v < sizeof versions / sizeof *versions; v++) {
        cudnnBackendDescriptor_t properties = properties_of(versions[v]);
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            for (int kind = 0; kind < 8; kind++) {
                const struct fr_device_task task = {.kind = FR_DEVICE_ATTENTION,
                                                    .dtype = w == 1 ? FR_FP16 : FR_BF16,
                                                    .batch = 2,
                                                    .heads = 32,
                                                    .kv_heads = kind & 1 ? 8 : 32,
                                                    .width = widths[w],
                                                    .sequence = 131072 >> (2 * w),
                                                    .causal = kind & 2,
                                                    .backward = kind & 4};
                int64_t n = count_kernels(&task, properties);
                if (is_wide(&task) && versions[v] > 900) continue;
                if ((n > 0) == (is_wide(&task) && versions[v] < 900))
                    fail_msg("compute capability %d, width %d, kind %d: %lld kernels",
                             versions[v], widths[w], kind, (long long)n);
            }
        api.cudnnBackendDestroyDescriptor(properties);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cudnn_has_a_kernel_for_each),
    };
    enum { SKIPPED = 77, FIRST = 90800 };
    struct fr_error err = {.status = FR_OK};
    void *library = NULL;
    if (fr_library_is_there(&fr_cuda_driver_library, &err) != FR_OK ||
        fr_library_open(&fr_cuda_dnn_library, &library, &api, &err) != FR_OK ||
        api.cudnnGetVersion() < FIRST) {
        printf("skipped: no cuDNN 9.8 or later, or no libcuda: %s\n", err.detail);
        return SKIPPED;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fr_library_close(library);
    return failed;
}
