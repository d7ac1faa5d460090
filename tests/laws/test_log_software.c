/* A trainer's log states its software: NeMo's container, by its image or by what it prints as it starts. */
#include "answer/trainer/trainer.h"
#include "models/job/preset.h"
#include "tests/cmocka.h"

static const char step[] =
    "Epoch 0: : 100%|#| 50/50 [23:22<00:00, global_step=49.00, train_step_timing in s=24.00]\n";

static bool is_preset(const char *name) {
    for (const struct fr_preset *p = fr_presets; p->name; p++)
        if (strcmp(p->kind, "runtime") == 0 && strcmp(p->name, name) == 0) return true;
    return false;
}

/* @return the runtime, or "". */
static const char *runtime_of(const char *before, struct fr_run_row *row) {
    const struct fr_trainer_ask ask = {.by = &fr_trainer_nemo};
    struct fr_trainer_result trained;
    struct fr_error err = {0};
    char text[1024];
    snprintf(text, sizeof text, "%s%s", before, step);
    if (fr_trainer_read(&ask, text, strlen(text), "log", row, &trained, &err) != FR_OK)
        fail_msg("%s", err.detail);
    fr_trainer_result_free(&trained);
    const char *runtime = fr_run_row_get(row, "runtime");
    return runtime ? runtime : "";
}

static void containers(void **state) {
    static const char *const rows[][2] = {
        {"", ""},
        {"== NeMo Framework ==\n====\n\nNVIDIA Release 24.03 (build 85286408)\n", "nemo-24.03"},
        {"== NeMo Framework ==\nNVIDIA Release 24.07 (build 98231)\n", "nemo-24.03"},
        {"== PyTorch ==\nNVIDIA Release 24.03 (build 1)\n", ""},
        {"NVIDIA Release 24.03 (build 1)\n== NeMo Framework ==\n", ""},
        {"srun --container-image=nvcr.io/nvidia/nemo:25.04.02 bash\n", "nemo-25.04"},
        {"srun --container-image nvcr.io/nvidia/nemo:26.04 bash\n", "megatron-bridge-26.04"},
        {"image: nvcr.io/nvidia/nemo:99.12\n", "megatron-bridge-26.06"},
        {"image: nvcr.io/nvidia/nemo:21.01\n", ""},
        {"image: nvcr.io/nvidia/nemo:dev\n", ""},
        {"image: nvcr.io/nvidia/nemo:24.031\n", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_run_row row = {0};
        FR_TRUE(strcmp(runtime_of(rows[i][0], &row), rows[i][1]) == 0, "%s: %s, not %s",
                rows[i][0], runtime_of(rows[i][0], &row), rows[i][1]);
    }
}

/* Every month: a runtime that there is, of that month or before, and none newer as the months go by than before. */
static void any_release(void **state) {
    char last[8] = "";
    (void)state;
    for (int month = 12 * 24; month < 12 * 30; month++) {
        struct fr_run_row row = {0};
        char text[80], release[8];
        snprintf(release, sizeof release, "%02d.%02d", month / 12, month % 12 + 1);
        snprintf(text, sizeof text, "nvcr.io/nvidia/nemo:%s\n", release);
        const char *name = runtime_of(text, &row);
        if (!*name) continue;
        const char *own = name + strlen(name) - 5;
        FR_TRUE(is_preset(name) && strcmp(own, release) <= 0 && strcmp(own, last) >= 0,
                "%s: %s", release, name);
        snprintf(last, sizeof last, "%.5s", own);
    }
    assert_true(*last);
}

/* The user's statements about a run go before those of its log. */
static void a_column_goes_first(void **state) {
    struct fr_run_row row = {0};
    (void)state;
    fr_run_row_set(&row, "runtime", "papers-2019");
    assert_string_equal(runtime_of("nvcr.io/nvidia/nemo:26.04\n", &row), "papers-2019");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(containers),
                                       cmocka_unit_test(any_release),
                                       cmocka_unit_test(a_column_goes_first)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
