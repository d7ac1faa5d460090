#include "app/papers/training/mlperf.h"

const char fr_mlperf_file[] = "mlperf/time_pretraining.csv";

/* The longer name of a device first: "GB200" holds "B200". */
static const struct {
    const char *device, *cluster;
} machines[] = {{"H100", "dgx-h100"}, {"GB200", "gb200-nvl72"}, {"B200", "dgx-b200"}};

enum { MACHINES = sizeof machines / sizeof *machines };

const char *fr_mlperf_preset(const struct fr_run *run) {
    const char *device = fr_run_row_get(run->row, "note.device");
    for (int i = 0; device && i < MACHINES; i++)
        if (fr_run_mentions(device, machines[i].device)) return machines[i].cluster;
    return NULL;
}

const char *fr_mlperf_machine(int i) { return i < MACHINES ? machines[i].cluster : NULL; }
