/* forerun --emit: what it prints, what it refuses; bash reads it. */
#include "tests/app/command.h"

#define PLAN                                                                                   \
    "--cluster a100-hdr --model gpt-8.3b --set tp=8 --set pp=4 --set dp=4 --set "              \
    "micro_batch=8 --set recompute=full "

static void scripts(void **state) {
    (void)state;
    fr_test_expect("forerun predict " PLAN "--emit megatron", 0,
                   "  --pipeline-model-parallel-size 4 ", NULL);
    fr_test_expect("forerun predict " PLAN "--emit sbatch", 0,
                   "#SBATCH --nodes=16\n#SBATCH --ntasks=128\n", NULL);
    fr_test_expect("forerun predict " PLAN "--emit sbatch,torchtitan", 0, "--cpu-bind=cores",
                   NULL);
    fr_test_expect("forerun predict " PLAN "--emit deepspeed", 0, "\"train_batch_size\": 512,",
                   NULL);
    fr_test_expect("forerun predict " PLAN "--emit megatron --json", 0,
                   "\"schema\": \"forerun/emit/1\"", NULL);
    fr_test_expect(
        "forerun predict --cluster dgx-h100 --model llama-3-8b --set dp=8 --emit megatron", 4,
        "# IT CANNOT RUN: the fullest rank needs", NULL);
    fr_test_expect(
        "forerun predict --cluster dgx-h100 --model llama-3-8b --set tp=3 --emit megatron", 4,
        "tp = 3 does not divide", NULL);
}

/* The best of what it can run: no zero-bubble for Megatron-LM, which the search finds otherwise. */
static void searches(void **state) {
    static const char search[] = "forerun search --cluster dgx-h100 --model llama-3-405b "
                                 "--ranks 128 --set global_batch=64 --set loss=native "
                                 "--fix micro_batch=1 --fix tp=8 --fix zero=1 ";
    char line[400];
    (void)state;
    snprintf(line, sizeof line, "%s--top 1 --all", search);
    fr_test_expect(line, 0, "zero-bubble", NULL);
    snprintf(line, sizeof line, "%s--emit megatron", search);
    fr_test_expect(line, 0, "# of what Megatron-LM can run the best\n", NULL);
    struct output o = fr_test_run(line);
    FR_TRUE(!strstr(o.out, "NOT WHAT WAS PRICED"), "%s", o.out);
    fr_test_output_free(&o);
    snprintf(line, sizeof line, "%s--emit megatron --top 3", search);
    fr_test_expect(line, 0, "case ${FORERUN_PLAN:-1} in\n1)\n", NULL);
}

/* Software of the plan and of the script. */
static void priced_for(void **state) {
    static const char *const rows[][3] = {
        {"nemo-24.03", "megatron-bridge", "priced for nemo-24.03, written for Megatron-Bridge"},
        {"megatron-bridge-26.04", "megatron-bridge", NULL},
        {"megatron-bridge-26.04", "torchtitan",
         "priced for megatron-bridge-26.04, written for torchtitan"},
        {"torchtitan-2025", "sbatch,torchtitan", NULL},
    };
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        char line[400];
        snprintf(line, sizeof line,
                 "forerun predict --cluster dgx-h100 --model llama-3-8b --set tp=8 --set "
                 "runtime=%s --emit %s",
                 rows[r][0], rows[r][1]);
        struct output o = fr_test_run(line);
        FR_TRUE(o.exit_code == 0, "%s: %s", line, o.err);
        FR_TRUE(rows[r][2] ? strstr(o.err, rows[r][2]) != NULL : !strstr(o.err, "priced for"),
                "%s: %s", line, o.err);
        fr_test_output_free(&o);
    }
}

static void refused(void **state) {
    (void)state;
    fr_test_expect("forerun predict " PLAN "--emit megatrn", 2, NULL,
                   "did you mean \"megatron\"");
    fr_test_expect("forerun predict " PLAN "--emit megatron,deepspeed", 2, NULL,
                   "one framework");
    fr_test_expect("forerun predict " PLAN "--emit megatron --csv", 2, NULL, "--emit");
    fr_test_expect("forerun predict " PLAN "--emit sbatch --json", 2, NULL,
                   "names a framework");
    fr_test_expect("forerun predict --cluster frontier --model ffn-4096 --emit megatron", 3,
                   NULL, "trains transformers");
    fr_test_expect("forerun search " PLAN "--ranks 128 --vary zero=0,1 --emit sbatch --top 2",
                   2, NULL, "one plan");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(scripts), cmocka_unit_test(searches),
                                       cmocka_unit_test(priced_for), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
