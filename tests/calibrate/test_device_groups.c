/* Groups of GPUs through NCCL against a library of ours: times follow its law, what it chose is noted, and faults end in
 * sentences.  One rank is a group here; several are calibrate_mpi.device_groups_law's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "calibrate/measure/device/cuda/context.h"
#include "tests/calibrate/fake_cuda/use.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_keep_their_law),
        cmocka_unit_test(choices_are_noted_until_they_end),
        cmocka_unit_test(lines_of_nccl_state_choices),
        cmocka_unit_test(faults_of_groups_are_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
