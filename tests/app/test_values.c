/* Values that no machine, model or plan has are refused with their place, or priced to finite
 * numbers: never a NaN, never a crash, never another exit code. */
#include "tests/app/command.h"

static const char *const bases[] = {
    "forerun predict --cluster a100-opa --model gpt-2 --set dp=4 --set tp=2 --json",
    "forerun predict --cluster frontier --model ffn-4096 --set tp=4 --set method=phantom "
    "--set ghost=8 --json",
    "forerun predict --cluster dgx-h100 --model mixtral-8x7b --set tp=4 --set dp=4 --set ep=4 "
    "--set micro_batch=1 --set global_batch=64 --json",
};

/* Numbers of the three files; a key that a base does not know is refused as such, which is as
 * good. */
static const char *const keys[] = {"cluster.device.memory",
                                   "cluster.device.memory_bandwidth",
                                   "cluster.device.launch",
                                   "cluster.device.fixed",
                                   "cluster.device.host_launch",
                                   "cluster.device.host_skew",
                                   "cluster.device.interference",
                                   "cluster.device.attention.flash",
                                   "cluster.device.attention.backward",
                                   "cluster.device.power.busy",
                                   "cluster.device.power.idle",
                                   "cluster.device.power.communicating",
                                   "cluster.device.power.uncertainty",
                                   "cluster.levels.0.power.idle",
                                   "cluster.levels.0.power.busy",
                                   "cluster.levels.0.power.efficiency",
                                   "cluster.levels.1.power.switches",
                                   "cluster.levels.1.power.switches_idle",
                                   "cluster.pue",
                                   "cluster.device.noise",
                                   "cluster.device.gemm.fp32.peak",
                                   "cluster.device.gemm.fp16.peak",
                                   "cluster.levels.0.ranks",
                                   "cluster.levels.0.latency",
                                   "cluster.levels.0.bandwidth",
                                   "cluster.levels.0.shared_by",
                                   "cluster.levels.1.ranks",
                                   "cluster.levels.1.latency",
                                   "cluster.levels.1.bandwidth",
                                   "cluster.levels.1.shared_by",
                                   "model.layers",
                                   "model.hidden",
                                   "model.heads",
                                   "model.kv_heads",
                                   "model.sequence",
                                   "model.vocabulary",
                                   "model.width",
                                   "model.global_batch",
                                   "model.iterations",
                                   "model.ffn",
                                   "model.experts.count",
                                   "model.experts.active",
                                   "model.experts.capacity",
                                   "model.experts.imbalance",
                                   "dp",
                                   "tp",
                                   "pp",
                                   "cp",
                                   "ep",
                                   "ghost",
                                   "chunks",
                                   "micro_batch",
                                   "global_batch",
                                   "zero",
                                   "bucket",
                                   "compression.gradient.stages",
                                   "compression.gradient.rank",
                                   "iterations"};

static const char *const nonsense[] = {
    "-1",  "0",    "-1e300", "1e300", "1e-300", "nan",   "\"\"",  "null",
    "[]",  "true", "-5GB/s", "0s",    "-1us",   "0GB/s", "1e30W", "9223372036854775807",
    "1.5", "0W",   "3parsec"};

static void every_key_and_every_nonsense(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        for (size_t v = 0; v < sizeof nonsense / sizeof *nonsense; v++) {
            char line[512];
            snprintf(line, sizeof line, "%s --set %s=%s", bases[(k + v) % 3], keys[k],
                     nonsense[v]);
            struct output o = fr_test_run(line);
            bool ends = o.exit_code == 0 || (o.exit_code >= 2 && o.exit_code <= 4);
            if (!ends) fail_msg("%s: exit %d\n%s", line, o.exit_code, o.err);
            if (o.exit_code == 3 && !strchr(o.err, '#') && !strstr(o.err, "cannot be opened"))
                fail_msg("%s: no place in \"%s\"", line, o.err);
            if (strstr(o.out, ": nan") || strstr(o.out, ": -nan") || strstr(o.out, ": inf"))
                fail_msg("%s: prints a number that is none", line);
            fr_test_output_free(&o);
        }
}

/* Each meaning is printed with the file's place, the value found and the values expected. */
static void impossible_machines_are_refused(void **state) {
    static const char predict[] =
        "forerun predict --cluster frontier --model ffn-4096 --set tp=4";
    static const struct {
        const char *set, *says;
    } cases[] = {
        {"cluster.device.interference=2",
         "#/device/interference (--set): is 2; expected 0 to 1"},
        {"cluster.device.power.busy=0W", "#/device/power/busy (--set): is 0 W; expected more"},
        {"cluster.device.power.idle=561W",
         "#/device/power/idle (--set): is 561 W; expected at most the 560 W"},
        {"cluster.device.power.communicating=10W",
         "#/device/power/communicating (--set): is 10 W; expected at least the"},
        {"cluster.device.gemm.fp32.half_dim=-1",
         "#/device/gemm/fp32/half_dim (--set): is -1; expected 0 to"},
        {"cluster.levels.2.shared_by=9",
         "#/levels/2/shared_by (--set): is 9; expected 1 to 8, the ranks of level \"node\""},
        {"cluster.levels.0.shared_by=9", "#/levels/0/shared_by (--set): is 9; expected 1 to 2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[512];
        snprintf(line, sizeof line, "%s --set %s", predict, cases[i].set);
        fr_test_expect(line, 3, NULL, cases[i].says);
    }
    fr_test_expect(
        "forerun predict --cluster frontier --model ffn-4096 --set tp=4 --set "
        "cluster.levels.2.shared_by=8 --set cluster.device.interference=1 --set "
        "cluster.device.power.communicating=560W --set cluster.device.power.idle=560W --all",
        0, "iteration time", NULL);
}

/* The same of models, and of products as tiles. */
static void impossible_models_are_refused(void **state) {
    static const char predict[] =
        "forerun predict --cluster dgx-h100 --model mixtral-8x7b --set "
        "tp=4 --set dp=4 --set ep=4 --set global_batch=64";
    static const struct {
        const char *set, *says;
    } cases[] = {
        {"model.imbalance=0.5", "#/imbalance (--set): is 0.5; expected 1 to"},
        {"model.capacity=0", "#/capacity (--set): is 0; expected 1 to"},
        {"model.capacity=-1", "#/capacity (--set): is -1; expected 1 to"},
        {"model.kv_heads=64", "#/kv_heads (--set): must divide heads = 32"},
        {"model.experts_per_token=9", "#/experts_per_token (--set): "},
        {"cluster.device.gemm.fp16.efficiency=1.2",
         "#/device/gemm/fp16/efficiency (--set): is 1.2; expected 1e-06 to 1"},
        {"cluster.device.attention.flash=2",
         "#/device/attention/flash (--set): is 2; expected 1e-06 to 1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[512];
        snprintf(line, sizeof line, "%s --set %s", predict, cases[i].set);
        fr_test_expect(line, 3, NULL, cases[i].says);
    }
}

/* A note beside a line may be long: peaks that were fitted, so that no share is known, and peaks so small that the
 * share is long. */
static void notes_of_any_length(void **state) {
    static const char *const words[] = {"none", "selective", "full"}, *const dtypes[] = {
                                                                          "bf16", "fp16",
                                                                          "fp32"};
    static const char *const peaks[] = {"residuals={\"median\":0.02,\"p90\":0.1,\"points\":44}",
                                        "nominal_peak=1FLOP/s"};
    (void)state;
    for (int i = 0; i < 3 * 3 * 2; i++) {
        char line[512];
        bool again = i % 3 > 0, fitted = i / 9 == 0;
        snprintf(line, sizeof line,
                 "forerun predict --cluster dgx-a100 --model gpt-8.3b --set model.dtype=%s "
                 "--set recompute=%s "
                 "--set cluster.device.gemm.%s.%s --all",
                 dtypes[i / 3 % 3], words[i % 3], dtypes[i / 3 % 3], peaks[i / 9]);
        struct output o = fr_test_run(line);
        FR_TRUE(o.exit_code == 0 || o.exit_code == 4, "%s: exit %d: %s", line, o.exit_code,
                o.err);
        FR_TRUE(fr_test_says(o.out, fitted ? "no MFU: no nominal_peak" : "MFU "), "%s: %s",
                line, o.out);
        FR_TRUE(!again || fr_test_says(o.out, "recomputation counted"), "%s: %s", line, o.out);
        fr_test_output_free(&o);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impossible_machines_are_refused),
        cmocka_unit_test(impossible_models_are_refused),
        cmocka_unit_test(every_key_and_every_nonsense),
        cmocka_unit_test(notes_of_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
