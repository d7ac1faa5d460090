/* Published runs ran: none of them may be called infeasible on the preset of its machine, and where a file says
 * how much memory was allocated ours must be near. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/data.h"
#include "base/describe/expression.h"
#include "models/outcome/cost.h"
#include "studies/training/table.h"
#include "tests/cmocka.h"
#include "trust/runs/runs.h"

static const struct machine {
    const char *file, *device, *preset; /* device: of the rows to take, NULL: all */
} machines[] = {
    {"training/vtrain_single_node.csv", NULL, "dgx-a100"},
    {"training/vtrain_multi_node.csv", NULL, "dgx-a100"},
    {"training/megatron_sc21_table1.csv", NULL, "dgx-a100"},
    {"training/megatron_seqsel_table5.csv", NULL, "dgx-a100"},
    {"training/bigscience_bloom_a100.csv", NULL, "a100-opa"},
    {"training/bloom_production_logs.csv", NULL, "a100-opa"},
    {"training/dgxc_benchmarking.csv", "H100", "dgx-h100"},
    {"training/dgxc_benchmarking.csv", "GB200", "gb200-nvl72"},
    {"training/megatron_bridge.csv", "H100", "dgx-h100"},
    {"training/megatron_bridge.csv", "DGX-B200", "dgx-b200"},
    {"training/megatron_bridge.csv", "DGX-B300", "dgx-b300"},
    {"training/megatron_bridge.csv", "GB200", "gb200-nvl72"},
    {"training/megatron_bridge.csv", "GB300", "gb300-nvl72"},
    {"training/llmfoundry_mpt_fsdp.csv", "a100_80gb", "dgx-a100"},
    {"training/llmfoundry_mpt_fsdp.csv", "h100", "dgx-h100"},
    {"training/bigscience_1b3_v100.csv", "V100-32GB", "dgx-v100"},
    {"training/mi325x_megatron_logs.csv", NULL, "mi325x"},
    {"training/simumax_b200.csv", NULL, "dgx-b200"},
    {"training/torchtitan.csv", NULL, "dgx-h100"},
    {"mlperf/time_pretraining.csv", "H100", "dgx-h100"},
    {"mlperf/time_pretraining.csv", "GB200", "gb200-nvl72"},
    {"mlperf/time_pretraining.csv", "B200", "dgx-b200"}, /* and GB200, of as much memory */
    {"mlperf/time_lora.csv", "H100", "dgx-h100"},
    {"mlperf/time_lora.csv", "GB200", "gb200-nvl72"},
    {"mlperf/time_lora.csv", "B200", "dgx-b200"},
    {"mlperf/time_lora.csv", "MI300X", "mi300x"},
    {"mlperf/time_lora.csv", "MI325X", "mi325x"},
};

/* As the software of @p run has it; kept while that stays the same. */
static void cluster_of(const char *preset, const struct fr_run *run, char saved[128],
                       struct fr_cluster *cluster) {
    const char *software = fr_run_row_get(run->row, "runtime");
    char name[128];
    struct fr_error err = {0};
    snprintf(name, sizeof name, "%s %s", preset, software ? software : "");
    if (strcmp(name, saved) == 0) return;
    fr_cluster_free(cluster);
    if (fr_table_cluster_of(preset, software, cluster, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    snprintf(saved, 128, "%s", name);
}

static bool of_machine(const struct fr_run *run, const struct machine *m) {
    const char *device = fr_run_row_get(run->row, "note.device");
    return !m->device || (device && fr_text_mentions(device, m->device));
}

static void cost(const struct fr_cluster *cluster, const struct fr_run *run,
                 struct fr_outcome *out) {
    struct fr_job job = {.cluster = *cluster, .workload = run->workload, .plan = run->plan};
    fr_cost(&job, &job.plan, out);
}

static void none_is_called_infeasible(void **state) {
    (void)state;
    char path[512];
    int n = 0;
    if (!fr_data_find("training/simumax_b200.csv", path, sizeof path)) skip();
    for (size_t k = 0; k < sizeof machines / sizeof *machines; k++) {
        const struct machine *m = &machines[k];
        struct fr_cluster cluster = {0};
        struct fr_runs runs = {0};
        char saved[128] = "";
        struct fr_error err = {0};
        if (!fr_data_find(m->file, path, sizeof path)) fail_msg("%s is not there", m->file);
        if (fr_runs_read(path, &runs, &err) != FR_OK) fail_msg("%s", err.detail);
        for (int i = 0; i < runs.count; i++) {
            struct fr_outcome out;
            if (!of_machine(&runs.items[i], m)) continue;
            cluster_of(m->preset, &runs.items[i], saved, &cluster);
            cost(&cluster, &runs.items[i], &out);
            n++;
            if (out.reasons)
                fail_msg("%s on %s: reasons %#x, %.4g GB on the fullest rank",
                         fr_run_row_get(runs.items[i].row, "id"), m->preset,
                         (unsigned)out.reasons, out.memory_peak_B / 1e9);
        }
        fr_runs_free(&runs);
        fr_cluster_free(&cluster);
    }
    FR_TRUE(n > 1300, "%d runs", n);
}

/* SimuMax's, whose peak was read from the allocator: within half a percent. */
static void memory_is_near_what_was_allocated(void **state) {
    (void)state;
    char path[512];
    struct fr_cluster cluster = {0};
    char saved[128] = "";
    struct fr_runs runs = {0};
    struct fr_csv csv = {0};
    struct fr_error err = {0};
    int n = 0;
    if (!fr_data_find("training/simumax_b200.csv", path, sizeof path)) skip();
    if (fr_runs_read(path, &runs, &err) != FR_OK) fail_msg("%s", err.detail);
    if (fr_csv_read(path, &csv, &err) != FR_OK) fail_msg("%s", err.detail);
    for (int i = 0; i < runs.count; i++) {
        const char *id = fr_run_row_get(runs.items[i].row, "id");
        struct fr_outcome out;
        double measured_B = 0;
        for (int row = 0; row < csv.n_rows; row++)
            if (strcmp(fr_csv_get(&csv, row, "row_id"), id) == 0)
                measured_B = atof(fr_csv_get(&csv, row, "measured_peak_alloc_gib")) * 0x1p30;
        cluster_of("dgx-b200", &runs.items[i], saved, &cluster);
        cost(&cluster, &runs.items[i], &out);
        FR_TRUE(fabs(out.memory_peak_B / measured_B - 1) < 0.005, "%s: %.4g GB, measured %.4g",
                id, out.memory_peak_B / 1e9, measured_B / 1e9);
        n += measured_B > 0;
    }
    FR_TRUE(n == 28, "%d runs", n);
    fr_csv_free(&csv);
    fr_runs_free(&runs);
    fr_cluster_free(&cluster);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(none_is_called_infeasible),
                                       cmocka_unit_test(memory_is_near_what_was_allocated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
