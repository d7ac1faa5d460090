#include "studies/training/mlperf.h"

#include <math.h>

#include "base/data.h"
#include "trust/runs/row/machine.h"

const char fr_mlperf_file[] = "mlperf/time_pretraining.csv",
           fr_mlperf_lora_file[] = "mlperf/time_lora.csv";

const char *fr_mlperf_preset(const struct fr_run *run) {
    return fr_machine_of_device(fr_run_row_get(run->row, "note.device"));
}

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
