#include "app/papers/training/mlperf.h"

#include <math.h>

#include "base/data.h"

const char fr_mlperf_file[] = "mlperf/time_pretraining.csv",
           fr_mlperf_lora_file[] = "mlperf/time_lora.csv";

/* The longer name of a device first: "GB200" holds "B200".  Rounds from v3.0 on name these, where presets are. */
static const struct {
    const char *device, *cluster;
} machines[] = {{"H100", "dgx-h100"},        {"GH200", "gh200"},       {"H200", "dgx-h200"},
                {"GB200", "gb200-nvl72"},    {"GB300", "gb300-nvl72"}, {"B200", "dgx-b200"},
                {"B300", "dgx-b300"},        {"MI355X", "mi355x"},     {"MI325X", "mi325x"},
                {"MI300X", "mi300x"},        {"A100", "dgx-a100"},     {"v5p", "tpu-v5p"},
                {"Trillium", "tpu-trillium"}};

enum { MACHINES = sizeof machines / sizeof *machines };

const char *fr_mlperf_preset(const struct fr_run *run) {
    const char *device = fr_run_row_get(run->row, "note.device");
    for (int i = 0; device && i < MACHINES; i++)
        if (fr_run_mentions(device, machines[i].device)) return machines[i].cluster;
    return NULL;
}

const char *fr_mlperf_machine(int i) { return i < MACHINES ? machines[i].cluster : NULL; }

fr_status fr_mlperf_study(struct fr_reproduction *r, const char *file,
                          fr_status (*study)(struct fr_reproduction *r,
                                             const struct fr_table_set *set,
                                             struct fr_error *err),
                          struct fr_error *err) {
    struct fr_table_set set = {0};
    char path[512];
    if (!fr_data_find(file, path, sizeof path)) {
        fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, NAN, NAN, "", 0,
                         "skipped: no shared/data above this folder and none in FORERUN_DATA",
                         "skipped");
        return FR_OK;
    }
    fr_status status = fr_table_read(file, &set, err);
    if (status == FR_OK) {
        fr_table_left_out(r, file, &set.runs);
        status = study(r, &set, err);
    }
    fr_table_free(&set);
    return status;
}
