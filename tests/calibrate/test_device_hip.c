/* The driver of AMD's GPUs against libraries of ours (fake_hip/): the same laws as NVIDIA's by AMD's names and numbers, and
 * faults that end in sentences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FR_DRIVER fr_device_hip
#include "tests/calibrate/fake_cuda/use.h"

static const struct fr_device_task pass = {
    .kind = FR_DEVICE_TRAFFIC, .traffic = FR_TRAFFIC_NORM, .size_B = 1e9};
static const struct fr_device_task launch = {.kind = FR_DEVICE_LAUNCH};

static void it_knows_what_it_has(void **state) {
    (void)state;
    int n = 0;
    struct fr_device_state now;
    setenv("FAKE_CUDA_NAMES", "AMD Instinct MI300X", 1);
    assert_int_equal(driver->count(&n, NULL), FR_OK);
    struct fr_device_handle *device = open_device();
    const struct fr_device_facts *facts = driver->facts(device);
    assert_string_equal(facts->name, "AMD Instinct MI300X");
    assert_non_null(strstr(facts->libraries, "hipBLASLt, no cuDNN, RCCL 22809"));
    assert_string_equal(facts->lacks, "");
    assert_int_equal(facts->units, FAKE_UNITS);
    near(facts->shown_B, FAKE_SHOWN_B, "memory");
    near(facts->context_B, FAKE_CONTEXT_B, "context");
    driver->state(device, &now);
    assert_true(now.energy_J > 999 && now.free_B > 0);
    driver->close(device);
    unsetenv("FAKE_CUDA_NAMES");
}

/* The laws of fake.h: products of each dtype and direction, passes, launches, NCCL's kin. */
static void laws_are_found_again(void **state) {
    static const struct {
        fr_dtype dtype;
        double peak;
    } formats[] = {{FR_BF16, FAKE_PEAK},
                   {FR_FP16, FAKE_PEAK},
                   {FR_TF32, FAKE_PEAK / 2},
                   {FR_FP32, FAKE_PEAK / 15},
                   {FR_FP8, FAKE_PEAK * 1979 / 989}};
    (void)state;
    struct fr_device_handle *device = open_device();
    driver->choice_end(device);
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
        for (int way = FR_TRANSPOSED_NONE; way <= FR_TRANSPOSED_B; way++) {
            struct fr_device_task t = product;
            t.dtype = formats[f].dtype, t.transposed = (fr_transposed)way;
            near(time_s(device, &t, 8), product_s(&t, formats[f].peak),
                 fr_dtype_names[t.dtype]);
        }
    struct fr_device_task four = product;
    four.dtype = FR_FP4;
    assert_int_equal(driver->prepare(device, &four, NULL), FR_ERR_UNSUPPORTED);
    near(time_s(device, &pass, 8), FAKE_LAUNCH_S + driver->moved_B(&pass) / FAKE_MEMORY,
         "norm");
    near(time_s(device, &launch, 8), FAKE_LAUNCH_S, "launch");
    unsigned char id[FR_DEVICE_GROUP_ID_B];
    struct fr_device_task sum = {
        .kind = FR_DEVICE_COLLECTIVE, .op = FR_OP_BROADCAST, .size_B = 1e6};
    assert_int_equal(driver->group_id(device, id, NULL), FR_OK);
    assert_int_equal(driver->group_open(device, id, 1, 0, &sum.group, NULL), FR_OK);
    near(time_s(device, &sum, 8), FAKE_NCCL_S + 1e6 / FAKE_NVLINK, "broadcast");
    driver->group_close(device, sum.group);
    driver->close(device);
}

static fr_status use(const struct fr_device_task *task, struct fr_error *err) {
    struct fr_device_handle *device = NULL;
    double took_s = 0;
    fr_status status = driver->open(0, &device, err);
    if (status == FR_OK) status = driver->prepare(device, task, err);
    if (status == FR_OK) status = driver->run(device, 2, &took_s, err);
    if (device) driver->close(device);
    return status;
}

static void faults_are_sentences(void **state) {
    static const struct {
        const char *fault, *says;
        const struct fr_device_task *task;
        fr_status status;
    } faults[] = {
        {"hipInit:100", "AMD's driver is here, but it sees no GPU", &launch, FR_ERR_EXTERNAL},
        {"hipInit:3", "hipInit: a fault on demand", &launch, FR_ERR_EXTERNAL},
        {"hipMalloc:2", "hipMalloc: out of memory", &launch, FR_ERR_EXTERNAL},
        {"hipModuleLoadDataEx:209", "code 209", &launch, FR_ERR_EXTERNAL},
        {"hiprtcCreateProgram:1", "hiprtcCreateProgram of the kernels: code 1", &launch,
         FR_ERR_EXTERNAL},
        {"hiprtcCompileProgram:6", "hiprtcCompileProgram of the kernels: code 6", &launch,
         FR_ERR_EXTERNAL},
        {"hiprtcGetCodeSize:6", "hiprtcGetCodeSize", &launch, FR_ERR_EXTERNAL},
        {"hiprtcGetCode:6", "hiprtcGetCode", &launch, FR_ERR_EXTERNAL},
        {"hipModuleLaunchKernel:719", "hipModuleLaunchKernel: ", &pass, FR_ERR_EXTERNAL},
        {"hipStreamSynchronize:214", "code 214", &pass, FR_ERR_EXTERNAL},
        {"hipblasLtMatmul:13", "hipblasLtMatmul of a bf16 product 4096 x 6144 x 4096: code 13",
         &product, FR_ERR_EXTERNAL},
        {"hipblasLtMatmulAlgoGetHeuristic:7", "code 7", &product, FR_ERR_UNSUPPORTED},
        {"hipblasLtCreate:1", "hipBLASLt", &product, FR_ERR_UNSUPPORTED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct fr_error err = {.status = FR_OK};
        setenv("FAKE_CUDA_FAULT", faults[i].fault, 1);
        fr_status status = use(faults[i].task, &err);
        unsetenv("FAKE_CUDA_FAULT");
        if (status != faults[i].status ||
            (!strstr(err.detail, faults[i].says) && !strstr(err.where, faults[i].says)))
            fail_msg("%s: status %d, \"%s: %s\"", faults[i].fault, (int)status, err.where,
                     err.detail);
        assert_int_equal(use(faults[i].task, &err), FR_OK);
    }
}

static void lacking_energy_is_said(void **state) {
    static const char *const faults[] = {"amdsmi_init:8",
                                         "amdsmi_get_processor_handle_from_bdf:30"};
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        setenv("FAKE_CUDA_FAULT", faults[i], 1);
        struct fr_device_handle *device = open_device();
        unsetenv("FAKE_CUDA_FAULT");
        assert_non_null(
            strstr(driver->facts(device)->lacks, "so nothing is known of energy of AMD GPUs"));
        driver->close(device);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_knows_what_it_has),
        cmocka_unit_test(laws_are_found_again),
        cmocka_unit_test(faults_are_sentences),
        cmocka_unit_test(lacking_energy_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
